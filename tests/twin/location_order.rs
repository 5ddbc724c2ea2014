//! Availability and visibility operations, chains of them, and location-ordered.

use std::collections::BTreeSet;

use super::model::{Access, Action, Execution, Operation, Scope};
use super::relation::Relation;
use super::rule::{How, Rule};

/// The two directions in which chains grow, and the rules of each.
struct Chain {
    domains: fn(&Execution, &Operation) -> Option<Scope>,
    nested: Rule,
    agent: Rule,
    program_order: Rule,
    itself: Rule,
    broader: Rule,
    instance: Rule,
    happens_before: Rule,
    includes: Rule,
    feature: Rule,
    reference: Rule,
    location: Rule,
    class: Rule,
}

/// From a write on.
const AVAILABILITY: Chain = Chain {
    domains: Execution::availability,
    nested: Rule::AvailabilityNested,
    agent: Rule::AvailabilityChainAgent,
    program_order: Rule::AvailabilityChainProgramOrder,
    itself: Rule::InstructionAvailabilityItself,
    broader: Rule::AvailabilityChainBroader,
    instance: Rule::AvailabilityChainInstance,
    happens_before: Rule::AvailabilityChainHappensBefore,
    includes: Rule::AvailabilityChainIncludes,
    feature: Rule::AvailabilityChainFeature,
    reference: Rule::InstructionAvailabilityReference,
    location: Rule::InstructionAvailabilityLocation,
    class: Rule::MakeAvailableClass,
};

/// From a read back.
const VISIBILITY: Chain = Chain {
    domains: Execution::visibility,
    nested: Rule::VisibilityNested,
    agent: Rule::VisibilityChainAgent,
    program_order: Rule::VisibilityChainProgramOrder,
    itself: Rule::InstructionVisibilityItself,
    broader: Rule::VisibilityChainBroader,
    instance: Rule::VisibilityChainInstance,
    happens_before: Rule::VisibilityChainHappensBefore,
    includes: Rule::VisibilityChainIncludes,
    feature: Rule::VisibilityChainFeature,
    reference: Rule::InstructionVisibilityReference,
    location: Rule::InstructionVisibilityLocation,
    class: Rule::MakeVisibleClass,
};

/// An operation at the far end of a chain, and a scope to whose domain around the operation's agent (or
/// from which) the chain goes.
type End = (usize, Scope);

impl Execution {
    /// The domain that a scope selects, which is the broadest of the operation.
    fn domain(&self, scope: Scope) -> Option<Scope> {
        let (rule, altered) = match scope {
            Scope::Invocation => (Rule::DomainInvocation, Scope::Subgroup),
            Scope::Subgroup => (Rule::DomainSubgroup, Scope::Workgroup),
            Scope::Workgroup => (Rule::DomainWorkgroup, Scope::QueueFamily),
            Scope::QueueFamily => (Rule::DomainQueueFamily, Scope::Device),
            Scope::Device => (Rule::DomainDevice, Scope::QueueFamily),
        };
        match self.broken(rule) {
            Some(How::Altered) => Some(altered),
            Some(_) => None,
            None => (scope != Scope::Invocation).then_some(scope),
        }
    }

    /// The broadest domain of the availability operation that it performs, if any.
    fn availability(&self, operation: &Operation) -> Option<Scope> {
        match &operation.action {
            Action::Access(access) => {
                let rule = match access.atomic {
                    true => Rule::AtomicAvailability,
                    false => Rule::InstructionAvailability,
                };
                self.domain(access.available?).filter(|_| self.either(rule, true))
            }
            Action::SemanticAvailability => {
                self.domain(operation.scope).filter(|_| self.either(Rule::MakeAvailable, true))
            }
            Action::DeviceAvailability => {
                self.is_dropped(Rule::DeviceDomainIsNoScope).then_some(Scope::Device)
            }
            Action::SemanticVisibility | Action::DeviceVisibility | Action::Barrier { .. } => None,
        }
    }

    /// The broadest domain of the visibility operation that it performs, if any.
    fn visibility(&self, operation: &Operation) -> Option<Scope> {
        match &operation.action {
            Action::Access(access) => {
                let rule = match access.atomic {
                    true => Rule::AtomicVisibility,
                    false => Rule::InstructionVisibility,
                };
                self.domain(access.visible?).filter(|_| self.either(rule, true))
            }
            Action::SemanticVisibility => {
                self.domain(operation.scope).filter(|_| self.either(Rule::MakeVisible, true))
            }
            Action::DeviceVisibility => self.is_dropped(Rule::DeviceDomainIsNoScope).then_some(Scope::Device),
            Action::SemanticAvailability | Action::DeviceAvailability | Action::Barrier { .. } => None,
        }
    }

    /// Whether the availability or visibility operation includes `location` accessed as `access` does,
    /// whoever the agent is.
    fn includes(&self, chain: &Chain, operation: &Operation, access: &Access, location: usize) -> bool {
        match &operation.action {
            Action::Access(own) => {
                self.when(chain.reference, own.reference == access.reference)
                    && self.when(chain.location, own.locations.contains(&location))
            }
            Action::SemanticAvailability | Action::SemanticVisibility => {
                self.when(chain.class, operation.semantics.classes & access.class != 0)
            }
            Action::DeviceAvailability | Action::DeviceVisibility => true,
            Action::Barrier { .. } => false,
        }
    }

    /// The domains of an operation: of the broadest scope, and of those within.
    fn domains(&self, chain: &Chain, operation: &Operation) -> Vec<Scope> {
        let broadest = (chain.domains)(self, operation);
        let has = |domain: &Scope| {
            Some(*domain) == broadest || Some(*domain) < broadest && self.either(chain.nested, true)
        };
        Scope::DOMAINS.into_iter().filter(has).collect()
    }

    /// The ends of all chains for what `access` writes to (or reads from) `location`. `before` orders a
    /// chain from the access on.
    fn chains(
        &self,
        chain: &Chain,
        access_id: usize,
        location: usize,
        program_ordered: impl Fn(usize, usize) -> bool,
        happens_before: impl Fn(usize, usize) -> bool,
    ) -> BTreeSet<End> {
        let Some(access) = self.operations[access_id].access() else { return BTreeSet::new() };
        let agent = self.operations[access_id].agent;
        let mut ends = BTreeSet::new();
        let mut pending = Vec::new();
        for (id, operation) in self.operations.iter().enumerate() {
            // An operation of another agent is after the access by happens-before only.
            let after = program_ordered(access_id, id)
                || self.is_dropped(chain.agent) && happens_before(access_id, id);
            if self.when(chain.agent, operation.agent == agent)
                && self.includes(chain, operation, access, location)
                && (id != access_id && self.when(chain.program_order, after)
                    || self.either(chain.itself, id == access_id))
            {
                pending.extend(self.domains(chain, operation).into_iter().map(|domain| (id, domain)));
            }
        }
        let longer = self.when(chain.feature, self.variant.chains);
        while let Some(element) = pending.pop() {
            if !ends.insert(element) || !longer {
                continue;
            }
            let (id, domain) = element;
            for (next, operation) in self.operations.iter().enumerate() {
                let dual = self.same_instance(domain, self.operations[id].agent, operation.agent);
                if self.when(chain.happens_before, happens_before(id, next))
                    && self.when(chain.instance, dual)
                    && self.when(chain.includes, self.includes(chain, operation, access, location))
                {
                    let broader = self.domains(chain, operation).into_iter();
                    let broader = broader.filter(|&wider| self.when(chain.broader, wider > domain));
                    pending.extend(broader.map(|wider| (next, wider)));
                }
            }
        }
        // At the far end, all domains are in the scope of the operation, whatever the chain grew to.
        let last: BTreeSet<usize> = ends.into_iter().map(|(id, _)| id).collect();
        let ends = |id: usize| self.domains(chain, &self.operations[id]).into_iter().map(move |d| (id, d));
        last.into_iter().flat_map(ends).collect()
    }

    fn availability_chains(&self, write: usize, location: usize, hb: &Relation) -> BTreeSet<End> {
        let program_ordered = |a, b| self.program_ordered(a, b);
        self.chains(&AVAILABILITY, write, location, program_ordered, |a, b| hb.contains(a, b))
    }

    fn visibility_chains(&self, read: usize, location: usize, hb: &Relation) -> BTreeSet<End> {
        let program_ordered = |a, b| self.program_ordered(b, a);
        self.chains(&VISIBILITY, read, location, program_ordered, |a, b| hb.contains(b, a))
    }

    /// Location-ordered, for one location.
    pub fn location_ordered(&self, location: usize, hb: &Relation) -> Relation {
        let order = LocationOrder {
            execution: self,
            hb,
            available: (0..self.size())
                .map(|x| match self.operations[x].writes() && self.operations[x].accesses(location) {
                    true => self.availability_chains(x, location, hb),
                    false => BTreeSet::new(),
                })
                .collect(),
            visible: (0..self.size())
                .map(|y| match self.operations[y].reads() && self.operations[y].accesses(location) {
                    true => self.visibility_chains(y, location, hb),
                    false => BTreeSet::new(),
                })
                .collect(),
            system: match self.is_dropped(Rule::ReadFirstSystemTransitive) {
                true => self.system_synchronizes_with.clone(),
                false => self.system_synchronizes_with.clone().transitive_closure(),
            },
        };
        self.relation(|i, a, j, b| {
            self.when(Rule::LocationOrderIrreflexive, i != j)
                && a.accesses(location)
                && b.accesses(location)
                && order.contains(i, j)
        })
    }
}

/// The bullets of location-ordered.
struct LocationOrder<'e> {
    execution: &'e Execution,
    hb: &'e Relation,
    available: Vec<BTreeSet<End>>,
    visible: Vec<BTreeSet<End>>,
    system: Relation,
}

impl LocationOrder<'_> {
    fn contains(&self, i: usize, j: usize) -> bool {
        let model = self.execution;
        model.relates(Rule::SameAgent, i, j, |x, y| self.same_agent(x, y))
            || model.relates(Rule::ReadFirst, i, j, |x, y| self.read_first(x, y))
            || model.relates(Rule::ReadFirstSystem, i, j, |x, y| self.read_first_system(x, y))
            || model.relates(Rule::WriteWrite, i, j, |x, y| self.write_write(x, y))
            || model.relates(Rule::WriteRead, i, j, |x, y| self.write_read(x, y))
            || model.relates(Rule::DeviceWriteWrite, i, j, |x, y| self.device_write_write(x, y))
            || model.relates(Rule::DeviceWriteRead, i, j, |x, y| self.device_write_read(x, y))
    }

    fn access(&self, id: usize) -> Option<&Access> {
        self.execution.operations[id].access()
    }

    fn reads(&self, id: usize) -> bool {
        self.execution.operations[id].reads()
    }

    fn writes(&self, id: usize) -> bool {
        self.execution.operations[id].writes()
    }

    fn agent(&self, id: usize) -> usize {
        self.execution.operations[id].agent
    }

    fn same_reference(&self, x: usize, y: usize) -> bool {
        let reference = |id: usize| self.access(id).map(|access| access.reference);
        reference(x) == reference(y)
    }

    /// Atomics are non-private, others where they say so.
    fn is_non_private(&self, id: usize) -> bool {
        self.access(id).is_some_and(|access| match access.atomic {
            true => self.execution.either(Rule::AtomicsAreNonPrivate, true),
            false => access.non_private,
        })
    }

    fn same_agent(&self, x: usize, y: usize) -> bool {
        let model = self.execution;
        model.when(Rule::SameAgentAgent, self.agent(x) == self.agent(y))
            && model.when(Rule::SameAgentReference, self.same_reference(x, y))
            && model.when(Rule::SameAgentHappensBefore, self.hb.contains(x, y))
    }

    fn read_first(&self, x: usize, y: usize) -> bool {
        let model = self.execution;
        model.when(Rule::ReadFirstReads, self.reads(x))
            && model.when(Rule::ReadFirstFirstNonPrivate, self.is_non_private(x))
            && model.when(Rule::ReadFirstSecondNonPrivate, self.is_non_private(y))
            && model.when(Rule::ReadFirstHappensBefore, self.hb.contains(x, y))
    }

    fn read_first_system(&self, x: usize, y: usize) -> bool {
        self.execution.when(Rule::ReadFirstSystemReads, self.reads(x)) && self.system.contains(x, y)
    }

    /// Whether an operation has a domain in common with the accesses: rules for these two.
    fn in_common(&self, [first, second]: [Rule; 2], (id, domain): End, x: usize, y: usize) -> bool {
        let model = self.execution;
        let agent = self.agent(id);
        model.when(first, model.same_instance(domain, agent, self.agent(x)))
            && model.when(second, model.same_instance(domain, agent, self.agent(y)))
    }

    /// The given ends of chains; where none are asked for, the access itself at all domains.
    fn ends(&self, rule: Rule, given: &BTreeSet<End>, access: usize) -> BTreeSet<End> {
        match self.execution.is_dropped(rule) {
            true => Scope::DOMAINS.into_iter().map(|domain| (access, domain)).collect(),
            false => given.clone(),
        }
    }

    /// X →rcpo AVC → Y.
    fn write_write(&self, x: usize, y: usize) -> bool {
        let model = self.execution;
        let domains = [Rule::WriteWriteFirstInDomain, Rule::WriteWriteSecondInDomain];
        self.writes(x)
            && self.writes(y)
            && model.when(Rule::WriteWriteReference, self.same_reference(x, y))
            && model.when(Rule::WriteWriteFirstNonPrivate, self.is_non_private(x))
            && model.when(Rule::WriteWriteSecondNonPrivate, self.is_non_private(y))
            && self.ends(Rule::WriteWriteAvailable, &self.available[x], x).into_iter().any(|last| {
                self.in_common(domains, last, x, y)
                    && model.when(Rule::WriteWriteHappensBefore, self.hb.contains(last.0, y))
            })
    }

    /// X →rcpo AVC → VISC →rcpo Y.
    fn write_read(&self, x: usize, y: usize) -> bool {
        let model = self.execution;
        let domains = [Rule::WriteReadFirstInDomain, Rule::WriteReadSecondInDomain];
        let available = self.ends(Rule::WriteReadAvailable, &self.available[x], x);
        let visible = self.ends(Rule::WriteReadVisible, &self.visible[y], y);
        self.writes(x)
            && self.reads(y)
            && model.when(Rule::WriteReadReference, self.same_reference(x, y))
            && model.when(Rule::WriteReadFirstNonPrivate, self.is_non_private(x))
            && model.when(Rule::WriteReadSecondNonPrivate, self.is_non_private(y))
            && available.into_iter().any(|last| {
                self.in_common(domains, last, x, y)
                    && visible.iter().any(|&first| {
                        model.when(Rule::WriteReadSameDomain, last.1 == first.1)
                            && self.in_common(domains, first, x, y)
                            && model.when(Rule::WriteReadHappensBefore, self.hb.contains(last.0, first.0))
                    })
            })
    }

    fn all(&self, action: Action) -> impl Iterator<Item = usize> + '_ {
        (0..self.execution.size()).filter(move |&id| self.execution.operations[id].action == action)
    }

    /// X → AV → Y, with an availability operation to the device domain.
    fn device_write_write(&self, x: usize, y: usize) -> bool {
        let model = self.execution;
        self.writes(x)
            && self.writes(y)
            && self.all(Action::DeviceAvailability).any(|av| {
                model.when(Rule::DeviceWriteWriteAfterFirst, self.hb.contains(x, av))
                    && model.when(Rule::DeviceWriteWriteBeforeSecond, self.hb.contains(av, y))
            })
    }

    /// X → AV → VIS → Y, with a visibility operation from the device domain, too.
    fn device_write_read(&self, x: usize, y: usize) -> bool {
        let model = self.execution;
        self.writes(x)
            && self.reads(y)
            && self.all(Action::DeviceAvailability).any(|av| {
                model.when(Rule::DeviceWriteReadAfterFirst, self.hb.contains(x, av))
                    && self.all(Action::DeviceVisibility).any(|vis| {
                        model.when(Rule::DeviceWriteReadInOrder, self.hb.contains(av, vis))
                            && model.when(Rule::DeviceWriteReadBeforeSecond, self.hb.contains(vis, y))
                    })
            })
    }
}
