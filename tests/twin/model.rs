//! The Vulkan memory model as plain sets of pairs, rule by rule under the names of the appendix
//! "Memory Model" of the Vulkan specification (2024, with the from-reads of 2025 as an option).
//! Written from the text alone, for being obviously right; nothing here is fast.
//!
//! Readings that the text leaves open:
//! - The availability (visibility) operation of one write (read) is that access itself: this is what
//!   the reflexive closure of program order in "location-ordered" is for. The operations that
//!   MakeAvailable and MakeVisible add are operations of their own, right before and right after.
//! - Every later element of a chain must include the storage class, or the reference and location, of
//!   the write; but not its agent.
//! - Broader destination (source) scopes include the narrower domains; so an element of a chain may be
//!   taken at any of its domains, as long as these grow from element to element.
//! - Mutually-ordered atomics do not tear: reads-from and from-reads between them hold at every
//!   location if they hold at one.

use std::collections::BTreeSet;

use super::relation::Relation;

/// Scopes, and the memory domains that are their duals; `System` has the device domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Invocation,
    Subgroup,
    Workgroup,
    QueueFamily,
    Device,
    System,
}

impl Scope {
    pub const DOMAINS: [Scope; 5] =
        [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device, Scope::System];
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
    fn access(&self) -> Option<&Access> {
        match &self.action {
            Action::Access(access) => Some(access),
            _ => None,
        }
    }

    fn accesses(&self, location: usize) -> bool {
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

    fn is_barrier(&self) -> bool {
        matches!(self.action, Action::Barrier { .. })
    }

    fn control(&self) -> Option<(usize, Scope)> {
        match self.action {
            Action::Barrier { control } => control,
            _ => None,
        }
    }

    /// "A memory write with this semantic performs a release operation."
    fn performs_release(&self) -> bool {
        self.is_atomic() && self.writes() && self.semantics.release
    }

    /// "A memory read with this semantic performs an acquire operation."
    fn performs_acquire(&self) -> bool {
        self.is_atomic() && self.reads() && self.semantics.acquire
    }

    /// The storage classes of the memory that it operates on. Availability and visibility operations
    /// are treated like other non-atomic accesses.
    fn memory_classes(&self) -> Classes {
        match &self.action {
            Action::Access(access) => access.class,
            Action::SemanticAvailability | Action::SemanticVisibility => self.semantics.classes,
            Action::DeviceAvailability | Action::DeviceVisibility | Action::Barrier { .. } => 0,
        }
    }

    /// The storage class semantics of an atomic or a barrier.
    fn semantic_classes(&self) -> Classes {
        match &self.action {
            Action::Access(access) if access.atomic => self.semantics.classes,
            Action::Barrier { .. } => self.semantics.classes,
            _ => 0,
        }
    }

    /// "An operation on memory in a storage class in SC or that has all of SC in its semantics."
    fn concerns(&self, classes: Classes) -> bool {
        self.memory_classes() & classes != 0 || self.semantic_classes() & classes == classes
    }

    fn is_release(&self) -> bool {
        self.performs_release() || (self.is_barrier() && self.semantics.release)
    }

    fn is_acquire(&self) -> bool {
        self.performs_acquire() || (self.is_barrier() && self.semantics.acquire)
    }

    /// The broadest domain of the availability operation that it performs, if any.
    fn availability(&self) -> Option<Scope> {
        let scope = match &self.action {
            Action::Access(access) => access.available?,
            Action::SemanticAvailability => self.scope,
            Action::DeviceAvailability => Scope::System,
            _ => return None,
        };
        (scope > Scope::Invocation).then_some(scope)
    }

    /// The broadest domain of the visibility operation that it performs, if any.
    fn visibility(&self) -> Option<Scope> {
        let scope = match &self.action {
            Action::Access(access) => access.visible?,
            Action::SemanticVisibility => self.scope,
            Action::DeviceVisibility => Scope::System,
            _ => return None,
        };
        (scope > Scope::Invocation).then_some(scope)
    }

    /// Whether its availability or visibility operation includes `location` accessed as `access` does,
    /// whoever the agent is.
    fn covers(&self, access: &Access, location: usize) -> bool {
        match &self.action {
            Action::Access(own) => own.reference == access.reference && own.locations.contains(&location),
            Action::SemanticAvailability | Action::SemanticVisibility => {
                self.semantics.classes & access.class != 0
            }
            Action::DeviceAvailability | Action::DeviceVisibility => true,
            Action::Barrier { .. } => false,
        }
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
    fn size(&self) -> usize {
        self.operations.len()
    }

    fn relation(&self, holds: impl Fn(usize, &Operation, usize, &Operation) -> bool) -> Relation {
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

    /// Whether two agents are in one instance of a scope.
    fn same_instance(&self, scope: Scope, a: usize, b: usize) -> bool {
        let (x, y) = (self.agents[a], self.agents[b]);
        match scope {
            Scope::Invocation => a == b,
            Scope::Subgroup => x.subgroup == y.subgroup,
            Scope::Workgroup => x.workgroup == y.workgroup,
            Scope::QueueFamily => x.queue_family == y.queue_family,
            Scope::Device | Scope::System => true,
        }
    }

    /// "A and B are in the instance of each other's memory scopes."
    fn in_each_others_scopes(&self, a: &Operation, b: &Operation) -> bool {
        self.same_instance(a.scope, a.agent, b.agent) && self.same_instance(b.scope, a.agent, b.agent)
    }

    /// Potentially-mutually-ordered; on one device, this is mutually-ordered.
    pub fn mutually_ordered(&self) -> Relation {
        self.relation(|i, a, j, b| {
            let (Some(x), Some(y)) = (a.access(), b.access()) else { return false };
            let set = |access: &Access| access.locations.iter().copied().collect::<BTreeSet<_>>();
            i != j
                && x.atomic
                && y.atomic
                && set(x) == set(y)
                && x.reference == y.reference
                && self.in_each_others_scopes(a, b)
        })
    }

    /// The release sequence headed by `head`: the longest continuous subsequence of its scoped
    /// modification order of it and of read-modify-writes after it.
    fn release_sequence(&self, head: usize, mutual: &Relation, order: &Relation) -> BTreeSet<usize> {
        let later: Vec<usize> = (0..self.size())
            .filter(|&write| {
                self.operations[write].writes() && mutual.contains(head, write) && order.contains(head, write)
            })
            .collect();
        let mut sequence: BTreeSet<usize> =
            later.iter().copied().filter(|&write| self.operations[write].reads()).collect();
        // Drop what is not joined to the head without a gap, until nothing is left to drop.
        while let Some(&cut) = sequence.iter().find(|&&member| {
            later.iter().any(|&between| order.contains(between, member) && !sequence.contains(&between))
        }) {
            sequence.remove(&cut);
        }
        sequence.insert(head);
        sequence
    }

    /// Synchronizes-with: five shapes.
    fn synchronizes_with(&self, reads_from: &ReadsFrom, mutual: &Relation, order: &Relation) -> Relation {
        let size = self.size();
        let sequences: Vec<BTreeSet<usize>> = (0..size)
            .map(|head| {
                let operation = &self.operations[head];
                if operation.is_atomic() && operation.writes() {
                    self.release_sequence(head, mutual, order)
                } else {
                    BTreeSet::new()
                }
            })
            .collect();
        // X (atomic write) and Y (atomic read) are mutually ordered, and Y reads a value written by X
        // or by an operation in the release sequence headed by X.
        let mut reads_sequence = Relation::empty(size);
        for (&(read, _), source) in reads_from {
            let Source::Write(write) = *source else { continue };
            for (head, sequence) in sequences.iter().enumerate() {
                if sequence.contains(&write)
                    && mutual.contains(head, read)
                    && self.operations[read].is_atomic()
                {
                    reads_sequence.insert(head, read);
                }
            }
        }
        let po = &self.program_order;
        self.relation(|i, a, j, b| {
            let release_barrier = a.is_barrier() && a.semantics.release;
            let acquire_barrier = b.is_barrier() && b.semantics.acquire;
            let scopes = self.in_each_others_scopes(a, b);
            let in_semantics = |x: usize, barrier: &Operation| {
                let class = self.operations[x].memory_classes();
                barrier.semantics.classes & class == class
            };
            let atomic_atomic = a.performs_release() && b.performs_acquire() && reads_sequence.contains(i, j);
            let barrier_atomic = release_barrier
                && b.performs_acquire()
                && scopes
                && (0..size)
                    .any(|x| po.contains(i, x) && reads_sequence.contains(x, j) && in_semantics(x, a));
            let atomic_barrier = a.performs_release()
                && acquire_barrier
                && scopes
                && (0..size)
                    .any(|x| po.contains(x, j) && reads_sequence.contains(i, x) && in_semantics(x, b));
            let barrier_barrier = release_barrier
                && acquire_barrier
                && scopes
                && (0..size).any(|x| {
                    po.contains(i, x)
                        && in_semantics(x, a)
                        && (0..size)
                            .any(|y| po.contains(y, j) && reads_sequence.contains(x, y) && in_semantics(y, b))
                });
            let control_barrier = release_barrier
                && acquire_barrier
                && scopes
                && (0..size).any(|c| {
                    let Some((instance, execution)) = self.operations[c].control() else { return false };
                    (i == c || po.contains(i, c))
                        && (0..size).any(|d| {
                            self.operations[d].control().is_some_and(|(other, _)| other == instance)
                                && (d == j || po.contains(d, j))
                        })
                        && self.same_instance(execution, a.agent, b.agent)
                });
            atomic_atomic || barrier_atomic || atomic_barrier || barrier_barrier || control_barrier
        })
    }

    /// Inter-thread-happens-before for one set of storage classes.
    fn inter_thread_happens_before(&self, classes: Classes, synchronizes_with: &Relation) -> Relation {
        let has_all = |operation: &Operation| operation.semantic_classes() & classes == classes;
        self.relation(|i, a, j, b| {
            let po = self.program_order.contains(i, j);
            self.system_synchronizes_with.contains(i, j)
                || (synchronizes_with.contains(i, j) && has_all(a) && has_all(b))
                || (a.concerns(classes) && b.is_release() && has_all(b) && po)
                || (a.is_acquire() && has_all(a) && b.concerns(classes) && po)
        })
        .transitive_closure()
    }

    /// Happens-before: program order, or inter-thread-happens-before for some set of classes.
    fn happens_before(&self, synchronizes_with: &Relation) -> Relation {
        let all: Classes =
            self.operations.iter().map(|o| o.memory_classes() | o.semantic_classes()).fold(0, |a, b| a | b);
        let mut before = self.program_order.clone();
        for classes in (1..=Classes::MAX).filter(|classes| classes & !all == 0) {
            before = before.union(&self.inter_thread_happens_before(classes, synchronizes_with));
        }
        if all == 0 {
            before = before.union(&self.system_synchronizes_with.clone().transitive_closure());
        }
        before
    }

    /// The last elements of the availability chains for what `write` writes to `location`, each with the
    /// scope whose domain (around the element's agent) the write becomes available to.
    fn availability_chains(&self, write: usize, location: usize, hb: &Relation) -> BTreeSet<(usize, Scope)> {
        let Some(access) = self.operations[write].access() else { return BTreeSet::new() };
        let agent = self.operations[write].agent;
        let mut links = BTreeSet::new();
        let mut pending = Vec::new();
        for (id, operation) in self.operations.iter().enumerate() {
            let Some(broadest) = operation.availability() else { continue };
            let includes = operation.agent == agent && operation.covers(access, location);
            if includes && (id == write || self.program_order.contains(write, id)) {
                pending.extend(Scope::DOMAINS.iter().filter(|&&d| d <= broadest).map(|&d| (id, d)));
            }
        }
        while let Some(element) = pending.pop() {
            if !links.insert(element) || !self.variant.chains {
                continue;
            }
            let (id, domain) = element;
            for (next, operation) in self.operations.iter().enumerate() {
                let Some(broadest) = operation.availability() else { continue };
                if hb.contains(id, next)
                    && operation.covers(access, location)
                    && self.same_instance(domain, self.operations[id].agent, operation.agent)
                {
                    let broader = Scope::DOMAINS.iter().filter(|&&d| d > domain && d <= broadest);
                    pending.extend(broader.map(|&d| (next, d)));
                }
            }
        }
        self.domains_of(links, Operation::availability)
    }

    /// The first elements of the visibility chains to what `read` reads from `location`, each with the
    /// scope of its source domain.
    fn visibility_chains(&self, read: usize, location: usize, hb: &Relation) -> BTreeSet<(usize, Scope)> {
        let Some(access) = self.operations[read].access() else { return BTreeSet::new() };
        let agent = self.operations[read].agent;
        let mut links = BTreeSet::new();
        let mut pending = Vec::new();
        for (id, operation) in self.operations.iter().enumerate() {
            let Some(broadest) = operation.visibility() else { continue };
            let includes = operation.agent == agent && operation.covers(access, location);
            if includes && (id == read || self.program_order.contains(id, read)) {
                pending.extend(Scope::DOMAINS.iter().filter(|&&d| d <= broadest).map(|&d| (id, d)));
            }
        }
        while let Some(element) = pending.pop() {
            if !links.insert(element) || !self.variant.chains {
                continue;
            }
            let (id, domain) = element;
            for (before, operation) in self.operations.iter().enumerate() {
                let Some(broadest) = operation.visibility() else { continue };
                if hb.contains(before, id)
                    && operation.covers(access, location)
                    && self.same_instance(domain, self.operations[id].agent, operation.agent)
                {
                    let broader = Scope::DOMAINS.iter().filter(|&&d| d > domain && d <= broadest);
                    pending.extend(broader.map(|&d| (before, d)));
                }
            }
        }
        self.domains_of(links, Operation::visibility)
    }

    /// The elements at the far ends of chains with all domains in their scopes, whatever domain the
    /// chain grew to.
    fn domains_of(
        &self,
        links: BTreeSet<(usize, Scope)>,
        broadest: fn(&Operation) -> Option<Scope>,
    ) -> BTreeSet<(usize, Scope)> {
        let ends: BTreeSet<usize> = links.into_iter().map(|(id, _)| id).collect();
        let domains = |id: usize| {
            let broadest = broadest(&self.operations[id]);
            Scope::DOMAINS.into_iter().filter(move |&domain| Some(domain) <= broadest)
        };
        ends.into_iter().flat_map(|id| domains(id).map(move |domain| (id, domain))).collect()
    }

    /// Location-ordered, for one location.
    fn location_ordered(&self, location: usize, hb: &Relation) -> Relation {
        let size = self.size();
        let available: Vec<_> = (0..size)
            .map(|x| match self.operations[x].writes() && self.operations[x].accesses(location) {
                true => self.availability_chains(x, location, hb),
                false => BTreeSet::new(),
            })
            .collect();
        let visible: Vec<_> = (0..size)
            .map(|y| match self.operations[y].reads() && self.operations[y].accesses(location) {
                true => self.visibility_chains(y, location, hb),
                false => BTreeSet::new(),
            })
            .collect();
        let system = self.system_synchronizes_with.clone().transitive_closure();
        self.relation(|i, a, j, b| {
            let (Some(x), Some(y)) = (a.access(), b.access()) else { return false };
            if i == j || !a.accesses(location) || !b.accesses(location) {
                return false;
            }
            let same_reference = x.reference == y.reference;
            let non_private = x.non_private && y.non_private;
            let same_agent_and_reference = a.agent == b.agent && same_reference && hb.contains(i, j);
            let read_first = x.reads && non_private && hb.contains(i, j);
            let read_first_by_system = x.reads && system.contains(i, j);
            // A domain that both agents access: the same instance around the chain's last element.
            let common = |domain: Scope, element: usize| {
                let agent = self.operations[element].agent;
                self.same_instance(domain, agent, a.agent) && self.same_instance(domain, agent, b.agent)
            };
            let shader = |domain: Scope| domain <= Scope::Device;
            let write_write = x.writes
                && y.writes
                && same_reference
                && non_private
                && available[i].iter().any(|&(last, d)| shader(d) && common(d, last) && hb.contains(last, j));
            let write_read = x.writes
                && y.reads
                && same_reference
                && non_private
                && available[i].iter().any(|&(last, d)| {
                    shader(d)
                        && common(d, last)
                        && visible[j]
                            .iter()
                            .any(|&(first, e)| d == e && common(e, first) && hb.contains(last, first))
                });
            let system_operations =
                |made: fn(&Action) -> bool| (0..size).filter(move |&id| made(&self.operations[id].action));
            let mut to_device = system_operations(|action| *action == Action::DeviceAvailability);
            let device_write_write =
                x.writes && y.writes && to_device.any(|av| hb.contains(i, av) && hb.contains(av, j));
            let mut to_device = system_operations(|action| *action == Action::DeviceAvailability);
            let device_write_read = x.writes
                && y.reads
                && to_device.any(|av| {
                    hb.contains(i, av)
                        && system_operations(|action| *action == Action::DeviceVisibility)
                            .any(|vis| hb.contains(av, vis) && hb.contains(vis, j))
                });
            same_agent_and_reference
                || read_first
                || read_first_by_system
                || write_write
                || write_read
                || device_write_write
                || device_write_read
        })
    }

    /// Everything that reads-from and scoped modification order (an orientation of all pairs of
    /// mutually-ordered writes) give.
    pub fn derive(&self, reads_from: &ReadsFrom, order: &Relation) -> Derived {
        let mutual = self.mutually_ordered();
        let synchronizes_with = self.synchronizes_with(reads_from, &mutual, order);
        let happens_before = self.happens_before(&synchronizes_with);
        let location_ordered = (0..self.location_count())
            .map(|location| self.location_ordered(location, &happens_before))
            .collect();
        Derived { synchronizes_with, location_ordered }
    }

    /// From-reads at one location.
    fn derive_from_reads(
        &self,
        location: usize,
        reads_from: &ReadsFrom,
        order: &Relation,
        location_ordered: &Relation,
    ) -> Relation {
        let mut from_reads = Relation::empty(self.size());
        for (&(read, at), source) in reads_from {
            if at != location {
                continue;
            }
            for (write, operation) in self.operations.iter().enumerate() {
                if write == read || !operation.writes() || !operation.accesses(location) {
                    continue;
                }
                let later = match *source {
                    Source::Initial => true,
                    Source::Write(earlier) => {
                        order.contains(earlier, write)
                            || (self.variant.from_reads_by_location_order
                                && location_ordered.contains(earlier, write))
                    }
                };
                if later {
                    from_reads.insert(read, write);
                }
            }
        }
        from_reads
    }

    /// Acyclicity, at each location; and no read of a write that is overwritten in location order before
    /// the read ("visible-to"; with the from-reads of 2025 that is a cycle already).
    pub fn is_consistent(&self, reads_from: &ReadsFrom, order: &Relation, derived: &Derived) -> bool {
        let mutual = self.mutually_ordered();
        let mut edges = Vec::new();
        for (location, ordered) in derived.location_ordered.iter().enumerate() {
            let mut union = ordered.union(&self.derive_from_reads(location, reads_from, order, ordered));
            for (&(read, at), source) in reads_from {
                if let (true, Source::Write(write)) = (at == location, *source) {
                    union.insert(write, read);
                }
            }
            edges.push(union);
        }
        // Atomics that are mutually ordered do not tear.
        let whole: Vec<(usize, usize)> = edges
            .iter()
            .flat_map(Relation::pairs)
            .chain(order.pairs())
            .filter(|&(a, b)| mutual.contains(a, b))
            .collect();
        edges.iter_mut().enumerate().all(|(location, union)| {
            for &(a, b) in whole.iter().filter(|&&(a, _)| self.operations[a].accesses(location)) {
                union.insert(a, b);
            }
            union.is_acyclic()
        }) && !reads_from.iter().any(|(&(read, location), source)| {
            let ordered = &derived.location_ordered[location];
            (0..self.size()).any(|between| {
                self.operations[between].writes()
                    && ordered.contains(between, read)
                    && match *source {
                        Source::Initial => true,
                        Source::Write(write) => ordered.contains(write, between),
                    }
            })
        })
    }

    /// Data races: pairs of operations and a location at which they are not ordered.
    pub fn data_races(&self, derived: &Derived) -> Vec<(usize, usize, usize)> {
        let mutual = self.mutually_ordered();
        let mut races = Vec::new();
        for (location, ordered) in derived.location_ordered.iter().enumerate() {
            for i in 0..self.size() {
                for j in i + 1..self.size() {
                    let (a, b) = (&self.operations[i], &self.operations[j]);
                    if a.accesses(location)
                        && b.accesses(location)
                        && (a.writes() || b.writes())
                        && !mutual.contains(i, j)
                        && !ordered.contains(i, j)
                        && !ordered.contains(j, i)
                    {
                        races.push((i, j, location));
                    }
                }
            }
        }
        races
    }

    /// The writes of a location that a host read after the whole dispatch can see: nothing overwrites
    /// them in scoped modification order or location order.
    pub fn final_sources(&self, location: usize, order: &Relation, derived: &Derived) -> Vec<Source> {
        let writes = self.writes_of(location);
        if writes.is_empty() {
            return vec![Source::Initial];
        }
        let overwritten = |write: usize| {
            writes.iter().any(|&later| {
                order.contains(write, later) || derived.location_ordered[location].contains(write, later)
            })
        };
        writes.iter().copied().filter(|&write| !overwritten(write)).map(Source::Write).collect()
    }
}
