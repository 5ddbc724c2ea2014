//! The Vulkan memory model as plain sets of pairs, rule by rule under the names of the appendix
//! "Memory Model" of the Vulkan specification (2024, with the from-reads of 2025 as an option).
//! Written from the text alone, for being obviously right; nothing here is fast. Every rule can be
//! broken on purpose (`rule.rs`), so that `tests/rules.rs` can show that tests notice it.
//!
//! Readings that the text leaves open:
//! - The availability (visibility) operation of one write (read) is that access itself: this is what
//!   the reflexive closure of program order in "location-ordered" is for. The operations that
//!   MakeAvailable and MakeVisible add are operations of their own, right before and right after.
//! - Every later element of a chain must include the storage class, or the reference and location, of
//!   the write; but not its agent.
//! - Broader destination (source) scopes include the narrower domains; so an element of a chain may be
//!   taken at any of its domains, as long as these grow from element to element.
//! - The device domain is the dual of no scope. So operations on it are part of no chain, and include
//!   none of the domains of shaders.
//! - Mutually-ordered atomics do not tear: reads-from and from-reads between them hold at every
//!   location if they hold at one.

use std::collections::BTreeSet;

use super::relation::Relation;
use super::rule::{Broken, How, Rule};

/// Scopes, and the memory domains that are their duals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Invocation,
    Subgroup,
    Workgroup,
    QueueFamily,
    Device,
}

impl Scope {
    pub const DOMAINS: [Scope; 4] = [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device];
}

/// A set of storage classes: a bit each.
pub type Classes = u8;

/// Where an invocation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    pub subgroup: usize,
    pub workgroup: usize,
    pub queue_family: usize,
}

/// Memory semantics of an atomic or a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Semantics {
    pub acquire: bool,
    pub release: bool,
    pub classes: Classes,
    pub make_available: bool,
    pub make_visible: bool,
}

/// An access of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub reads: bool,
    pub writes: bool,
    pub atomic: bool,
    pub non_private: bool,
    /// The bit of its storage class.
    pub class: Classes,
    pub reference: usize,
    pub locations: Vec<usize>,
    /// Scopes of the availability and visibility operations of this access.
    pub available: Option<Scope>,
    pub visible: Option<Scope>,
}

/// What an operation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Access(Access),
    /// A memory barrier; with `control`, a control barrier: its instance and execution scope.
    Barrier {
        control: Option<(usize, Scope)>,
    },
    /// What MakeAvailable adds before its instruction.
    SemanticAvailability,
    /// What MakeVisible adds after its instruction.
    SemanticVisibility,
    /// An availability operation to the device domain, of all writes.
    DeviceAvailability,
    /// A visibility operation from the device domain, to everybody.
    DeviceVisibility,
}

/// An operation: element of all relations.
#[derive(Clone, Debug)]
pub struct Operation {
    pub agent: usize,
    pub action: Action,
    /// Memory scope of an atomic or a barrier.
    pub scope: Scope,
    pub semantics: Semantics,
}

impl Operation {
    pub fn access(&self) -> Option<&Access> {
        match &self.action {
            Action::Access(access) => Some(access),
            _ => None,
        }
    }

    pub fn accesses(&self, location: usize) -> bool {
        self.access().is_some_and(|access| access.locations.contains(&location))
    }

    pub fn reads(&self) -> bool {
        self.access().is_some_and(|access| access.reads)
    }

    pub fn writes(&self) -> bool {
        self.access().is_some_and(|access| access.writes)
    }

    pub fn is_atomic(&self) -> bool {
        self.access().is_some_and(|access| access.atomic)
    }

    pub fn is_barrier(&self) -> bool {
        matches!(self.action, Action::Barrier { .. })
    }

    pub fn control(&self) -> Option<(usize, Scope)> {
        match self.action {
            Action::Barrier { control } => control,
            _ => None,
        }
    }

    /// "A memory write with this semantic performs a release operation."
    pub fn performs_release(&self) -> bool {
        self.is_atomic() && self.writes() && self.semantics.release
    }

    /// "A memory read with this semantic performs an acquire operation."
    pub fn performs_acquire(&self) -> bool {
        self.is_atomic() && self.reads() && self.semantics.acquire
    }

    /// The storage classes of the memory that it operates on. Availability and visibility operations
    /// are treated like other non-atomic accesses.
    pub fn memory_classes(&self) -> Classes {
        match &self.action {
            Action::Access(access) => access.class,
            Action::SemanticAvailability | Action::SemanticVisibility => self.semantics.classes,
            Action::DeviceAvailability | Action::DeviceVisibility | Action::Barrier { .. } => 0,
        }
    }

    /// The storage class semantics of an atomic or a barrier.
    pub fn semantic_classes(&self) -> Classes {
        match &self.action {
            Action::Access(access) if access.atomic => self.semantics.classes,
            Action::Barrier { .. } => self.semantics.classes,
            _ => 0,
        }
    }

    pub fn is_release(&self) -> bool {
        self.performs_release() || (self.is_barrier() && self.semantics.release)
    }

    pub fn is_acquire(&self) -> bool {
        self.performs_acquire() || (self.is_barrier() && self.semantics.acquire)
    }
}

/// Where a read takes the value of one location from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    Initial,
    Write(usize),
}

/// Reads-from of one execution: a source for each (read, location).
pub type ReadsFrom = std::collections::BTreeMap<(usize, usize), Source>;

/// Which revision of the text, and of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// From-reads follows location order too (2025), or scoped modification order only (2024).
    pub from_reads_by_location_order: bool,
    /// vulkanMemoryModelAvailabilityVisibilityChains.
    pub chains: bool,
    /// A rule that does not hold.
    pub broken: Option<Broken>,
}

impl Variant {
    pub const NEWEST: Variant = Variant { from_reads_by_location_order: true, chains: true, broken: None };
}

/// The operations of an execution, and what does not depend on reads-from.
#[derive(Clone, Debug)]
pub struct Execution {
    pub agents: Vec<Agent>,
    pub operations: Vec<Operation>,
    pub program_order: Relation,
    pub system_synchronizes_with: Relation,
    pub variant: Variant,
}

/// The derived relations of a candidate execution.
pub struct Derived {
    pub synchronizes_with: Relation,
    /// For each location.
    pub location_ordered: Vec<Relation>,
}

impl Execution {
    pub fn size(&self) -> usize {
        self.operations.len()
    }

    pub fn relation(&self, holds: impl Fn(usize, &Operation, usize, &Operation) -> bool) -> Relation {
        Relation::of(self.size(), |a, b| holds(a, &self.operations[a], b, &self.operations[b]))
    }

    pub fn location_count(&self) -> usize {
        let locations = self.operations.iter().filter_map(Operation::access).flat_map(|a| &a.locations);
        locations.max().map_or(0, |last| last + 1)
    }

    pub fn writes_of(&self, location: usize) -> Vec<usize> {
        let writes = |id: &usize| self.operations[*id].writes() && self.operations[*id].accesses(location);
        (0..self.size()).filter(writes).collect()
    }

    /// A condition of a rule.
    pub fn when(&self, rule: Rule, condition: bool) -> bool {
        match self.broken(rule) {
            Some(How::Dropped) => true,
            Some(How::Inverted) => !condition,
            Some(How::Altered) | None => condition,
        }
    }

    /// A clause of a rule that suffices.
    pub fn either(&self, rule: Rule, clause: bool) -> bool {
        match self.broken(rule) {
            Some(How::Dropped) => false,
            Some(How::Inverted) => !clause,
            Some(How::Altered) | None => clause,
        }
    }

    /// A clause of a rule that suffices to relate `a` to `b`.
    pub fn relates(&self, rule: Rule, a: usize, b: usize, clause: impl Fn(usize, usize) -> bool) -> bool {
        match self.broken(rule) {
            Some(How::Dropped) => false,
            Some(How::Inverted) => clause(b, a),
            Some(How::Altered) | None => clause(a, b),
        }
    }

    /// How a rule is broken.
    pub fn broken(&self, rule: Rule) -> Option<How> {
        self.variant.broken.filter(|broken| broken.rule == rule).map(|broken| broken.how)
    }

    pub fn is_altered(&self, rule: Rule) -> bool {
        self.broken(rule) == Some(How::Altered)
    }

    pub fn is_dropped(&self, rule: Rule) -> bool {
        self.broken(rule) == Some(How::Dropped)
    }

    pub fn program_ordered(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.place(a), self.place(b));
        let across = self.is_altered(Rule::ProgramOrder) && a < b;
        across || self.relates(Rule::ProgramOrder, a, b, |a, b| self.program_order.contains(a, b))
    }

    /// Where an operation stands: what MakeAvailable adds right before its instruction, what MakeVisible
    /// adds right after.
    fn place(&self, id: usize) -> usize {
        let is = |at: Option<usize>, action| {
            at.and_then(|at| self.operations.get(at)).is_some_and(|operation| operation.action == action)
        };
        // The first of the two that have changed places, if this is one of them.
        let first = if self.is_dropped(Rule::MakeAvailableBefore) {
            let first_is = |at| is(at, Action::SemanticAvailability);
            [Some(id), id.checked_sub(1)].into_iter().find(|at| first_is(*at))
        } else if self.is_dropped(Rule::MakeVisibleAfter) {
            let second_is = |at: Option<usize>| is(at.map(|at| at + 1), Action::SemanticVisibility);
            [Some(id), id.checked_sub(1)].into_iter().find(|at| second_is(*at))
        } else {
            None
        };
        match first.flatten() {
            Some(first) => 2 * first + 1 - id,
            None => id,
        }
    }

    /// Whether two agents are in one instance of a scope.
    pub fn same_instance(&self, scope: Scope, a: usize, b: usize) -> bool {
        let (x, y) = (self.agents[a], self.agents[b]);
        match scope {
            Scope::Invocation => a == b,
            Scope::Subgroup => self.when(Rule::ScopeSubgroup, x.subgroup == y.subgroup),
            Scope::Workgroup => self.when(Rule::ScopeWorkgroup, x.workgroup == y.workgroup),
            Scope::QueueFamily => self.when(Rule::ScopeQueueFamily, x.queue_family == y.queue_family),
            Scope::Device => self.when(Rule::ScopeDevice, true),
        }
    }

    /// "A and B are in the instance of each other's memory scopes": rules for A and for B.
    pub fn in_each_others_scopes(&self, [first, second]: [Rule; 2], a: &Operation, b: &Operation) -> bool {
        self.when(first, self.same_instance(b.scope, b.agent, a.agent))
            && self.when(second, self.same_instance(a.scope, a.agent, b.agent))
    }

    /// Potentially-mutually-ordered; on one device, this is mutually-ordered.
    pub fn mutually_ordered(&self) -> Relation {
        self.relation(|i, a, j, b| {
            let (Some(x), Some(y)) = (a.access(), b.access()) else { return false };
            let locations = |access: &Access| access.locations.iter().copied().collect::<BTreeSet<_>>();
            let (of_x, of_y) = (locations(x), locations(y));
            let same_locations = match self.is_altered(Rule::MutuallyOrderedSameLocations) {
                true => !of_x.is_disjoint(&of_y),
                false => of_x == of_y,
            };
            self.when(Rule::MutuallyOrderedIrreflexive, i != j)
                && self.when(Rule::MutuallyOrderedAtomics, x.atomic && y.atomic)
                && self.when(Rule::MutuallyOrderedSameLocations, same_locations)
                && self.when(Rule::MutuallyOrderedSameReference, x.reference == y.reference)
                && self.in_each_others_scopes(
                    [Rule::MutuallyOrderedFirstInScope, Rule::MutuallyOrderedSecondInScope],
                    a,
                    b,
                )
        })
    }

    /// Everything that reads-from and scoped modification order (an orientation of all pairs of
    /// mutually-ordered writes) give.
    pub fn derive(&self, reads_from: &ReadsFrom, order: &Relation) -> Derived {
        let mutual = self.mutually_ordered();
        self.derive_from(self.synchronizes_with(reads_from, &mutual, order))
    }

    /// What synchronizes-with gives: nothing else depends on the candidate.
    pub fn derive_from(&self, synchronizes_with: Relation) -> Derived {
        let happens_before = self.happens_before(&synchronizes_with);
        let location_ordered = (0..self.location_count())
            .map(|location| self.location_ordered(location, &happens_before))
            .collect();
        Derived { synchronizes_with, location_ordered }
    }
}
