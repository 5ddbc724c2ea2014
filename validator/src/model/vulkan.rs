//! The Vulkan memory model: the relations of the specification's appendix, each under its name.
//!
//! Implements the appendix "Memory Model" of the Vulkan specification, revisions 2024 and 2025,
//! for device agents (shader invocations) plus system-synchronizes-with edges and device-domain
//! operations. Location order, reads-from and from-reads are per memory unit, a unit being bytes
//! that no access splits. Neither more nor fewer behaviours than the text allows, except: later
//! elements of an availability (visibility) chain must include the reference's storage class or the
//! reference itself; the text only says so of the operation as such.

use smallvec::SmallVec;

use super::graph::{Event, EventId, Graph, Kind, Source, Unit};
use super::relation::{EventSet, Relation};
use super::release_sequence::{self, Sequences};
use crate::event::{ClassSet, Scope};

/// Revision of the model's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Revision {
    /// From-reads follows scoped modification order only.
    R2024,
    /// From-reads follows scoped modification order or location order.
    #[default]
    R2025,
}

/// The model's variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    pub revision: Revision,
    /// Availability and visibility chains of more than one element (a device feature).
    pub chains: bool,
}

impl Default for Variant {
    fn default() -> Self {
        Variant { revision: Revision::R2025, chains: true }
    }
}

/// What the model derives from a graph.
#[derive(Clone, Debug)]
pub struct Relations {
    pub synchronizes_with: Relation,
    pub happens_before: Relation,
    /// One entry for every unit that some event accesses, ascending by unit.
    pub locations: Vec<Location>,
    /// The part of scoped modification order that these relations rest on.
    pub modification_order: Option<Relation>,
}

/// The accesses of one unit and their order.
#[derive(Clone, Debug)]
pub struct Location {
    pub unit: Unit,
    /// Events that access the unit, ascending.
    pub events: Vec<EventId>,
    /// Location-ordered, over indices into `events`.
    pub location_ordered: Relation,
}

/// Derives the relations of `graph`. Where they depend on scoped modification order
/// ([`release_sequence::depend_on_order`]), release sequences are those of the reads-from edges.
pub fn relations(graph: &Graph, variant: Variant) -> Relations {
    relations_with(graph, variant, Sequences::ReadsFrom)
}

/// Derives the relations of `graph`, with release sequences told in a given way.
pub fn relations_with(graph: &Graph, variant: Variant, sequences: Sequences) -> Relations {
    let synchronizes_with = synchronizes_with(graph, sequences);
    let happens_before = happens_before(graph, &synchronizes_with);
    let ssw = system_synchronizes_with(graph);
    let locations = LocationOrderer::new(graph, &happens_before, &ssw, variant).locations();
    let modification_order = match sequences {
        Sequences::Ordered(order) => Some(order.clone()),
        Sequences::ReadsFrom | Sequences::Certain => None,
    };
    Relations { synchronizes_with, happens_before, locations, modification_order }
}

/// System-synchronizes-with, transitively.
pub(crate) fn system_synchronizes_with(graph: &Graph) -> Relation {
    let mut relation = Relation::new(graph.events.len());
    for (a, b) in &graph.system_synchronizes_with {
        relation.insert(*a as usize, *b as usize);
    }
    if !graph.system_synchronizes_with.is_empty() {
        relation.close();
    }
    relation
}

/// Synchronizes-with, in all its shapes.
fn synchronizes_with(graph: &Graph, sequences: Sequences) -> Relation {
    let events = &graph.events;
    let mut relation = Relation::new(events.len());
    for (y, read) in events.iter().enumerate() {
        if !(read.atomic && read.reads()) {
            continue;
        }
        for x in observed_heads(graph, read, sequences) {
            if graph.mutually_ordered(x, y) {
                synchronize_through(graph, x, y, &mut relation);
            }
        }
    }
    synchronize_through_barriers(graph, &mut relation);
    relation
}

/// The heads of all release sequences that an atomic read takes a value from.
fn observed_heads(graph: &Graph, read: &Event, sequences: Sequences) -> SmallVec<[usize; 4]> {
    let mut heads: SmallVec<[usize; 4]> = SmallVec::new();
    let mut last = None;
    for source in &read.sources {
        if let Source::Event(write) = source {
            if last == Some(*write) {
                continue;
            }
            last = Some(*write);
            let members = release_sequence::heads(graph, *write, sequences);
            heads.extend(members.into_iter().map(|head| head as usize));
        }
    }
    heads
}

/// The four shapes with atomics: `x` heads a release sequence that `y` reads from.
fn synchronize_through(graph: &Graph, x: usize, y: usize, relation: &mut Relation) {
    let events = &graph.events;
    let (write, read) = (&events[x], &events[y]);
    let release_barriers = events[..x].iter().enumerate().filter(|(_, a)| {
        a.agent == write.agent && a.is_fence() && a.releases() && a.semantics.contains(write.class)
    });
    let mut releases: SmallVec<[usize; 8]> = release_barriers.map(|(a, _)| a).collect();
    if write.releases() {
        releases.push(x);
    }
    let acquire_barriers = events[y + 1..].iter().enumerate().filter(|(_, b)| {
        b.agent == read.agent && b.is_fence() && b.acquires() && b.semantics.contains(read.class)
    });
    let mut acquires: SmallVec<[usize; 8]> = acquire_barriers.map(|(b, _)| y + 1 + b).collect();
    if read.acquires() {
        acquires.push(y);
    }
    for a in &releases {
        for b in &acquires {
            // Two atomics are in each other's scope because they are mutually ordered.
            if (*a == x && *b == y) || graph.in_each_others_scope(&events[*a], &events[*b]) {
                relation.insert(*a, *b);
            }
        }
    }
}

/// Release barrier, control barrier, acquire barrier.
fn synchronize_through_barriers(graph: &Graph, relation: &mut Relation) {
    let events = &graph.events;
    let mut barriers: Vec<(u32, usize, Scope)> = Vec::new();
    for (id, event) in events.iter().enumerate() {
        if let Kind::Barrier { instance, execution } = event.kind {
            barriers.push((instance, id, execution));
        }
    }
    barriers.sort_unstable_by_key(|(instance, id, _)| (*instance, *id));
    for group in barriers.chunk_by(|a, b| a.0 == b.0) {
        let sides: Vec<_> =
            group.iter().map(|(_, id, _)| (releases_up_to(graph, *id), acquires_from(graph, *id))).collect();
        for ((_, i, execution), (releases, _)) in group.iter().zip(&sides) {
            for ((_, j, _), (_, acquires)) in group.iter().zip(&sides) {
                let (c, d) = (&events[*i], &events[*j]);
                if c.agent == d.agent || !graph.in_scope_instance(c.agent, *execution, d.agent) {
                    continue;
                }
                for a in releases {
                    for b in acquires {
                        if graph.in_each_others_scope(&events[*a], &events[*b]) {
                            relation.insert(*a, *b);
                        }
                    }
                }
            }
        }
    }
}

/// Release barriers at or before a control barrier. Where the control barrier itself releases at
/// least as much, earlier ones add nothing: each inter-thread-happens-before it.
fn releases_up_to(graph: &Graph, barrier: usize) -> SmallVec<[usize; 4]> {
    let c = &graph.events[barrier];
    let candidates = graph.events[..=barrier].iter().enumerate().filter(|(id, a)| {
        let covered = *id != barrier && c.releases() && covers(c, a);
        a.agent == c.agent && a.is_fence() && a.releases() && !covered
    });
    candidates.map(|(id, _)| id).collect()
}

/// Acquire barriers at or after a control barrier; see [`releases_up_to`].
fn acquires_from(graph: &Graph, barrier: usize) -> SmallVec<[usize; 4]> {
    let c = &graph.events[barrier];
    let candidates = graph.events.iter().enumerate().skip(barrier).filter(|(id, b)| {
        let covered = *id != barrier && c.acquires() && covers(c, b);
        b.agent == c.agent && b.is_fence() && b.acquires() && !covered
    });
    candidates.map(|(id, _)| id).collect()
}

/// Whether the barrier orders all that the other one does, for at least as many invocations.
fn covers(barrier: &Event, other: &Event) -> bool {
    barrier.scope >= other.scope && barrier.semantics.contains(other.semantics)
}

/// The storage-class sets SC that inter-thread-happens-before must be computed for. All conditions on
/// semantics ask for those that have all of SC, so of the sets with the same operations the largest is
/// enough: what semantics have in common, of operations that synchronize and of any others.
pub(crate) fn storage_class_sets(graph: &Graph, sw: &Relation) -> SmallVec<[ClassSet; 8]> {
    let mut sets: SmallVec<[ClassSet; 8]> = SmallVec::new();
    let add = |sets: &mut SmallVec<[ClassSet; 8]>, a: ClassSet, b: ClassSet| {
        let common = ClassSet(a.0 & b.0);
        if !common.is_empty() && !sets.contains(&common) {
            sets.push(common);
        }
    };
    for a in 0..graph.events.len() {
        for b in sw.row(a) {
            add(&mut sets, graph.events[a].semantics, graph.events[b].semantics);
        }
    }
    let mut next = 0;
    while let Some(set) = sets.get(next).copied() {
        next += 1;
        for event in &graph.events {
            add(&mut sets, set, event.semantics);
        }
    }
    if sets.is_empty() && !graph.system_synchronizes_with.is_empty() {
        sets.push(ClassSet::ALL);
    }
    sets
}

/// The events of each agent.
pub(crate) fn events_of_agents(graph: &Graph) -> Vec<EventSet> {
    let mut agents = vec![EventSet::new(graph.events.len()); graph.agents.len()];
    for (id, event) in graph.events.iter().enumerate() {
        agents[event.agent as usize].insert(id);
    }
    agents
}

/// Inter-thread-happens-before for the storage-class set `classes`, without its last bullet: the
/// relation itself is the transitive closure.
pub(crate) fn inter_thread_steps(
    graph: &Graph,
    sw: &Relation,
    agents: &[EventSet],
    classes: ClassSet,
) -> Relation {
    let events = &graph.events;
    let len = events.len();
    let mut relation = Relation::new(len);
    for (a, b) in &graph.system_synchronizes_with {
        relation.insert(*a as usize, *b as usize);
    }
    let has_all = EventSet::with(len, |event| events[event].semantics.contains(classes));
    let ordered = EventSet::with(len, |event| is_ordered_by(&events[event], classes));
    let releases = EventSet::with(len, |event| events[event].releases() && has_all.contains(event));
    for (a, x) in events.iter().enumerate() {
        if has_all.contains(a) {
            for b in sw.row(a).filter(|b| has_all.contains(*b)) {
                relation.insert(a, b);
            }
        }
        if ordered.contains(a) {
            let later = &agents[x.agent as usize];
            relation.insert_later(a, later, &releases);
            if x.acquires() && has_all.contains(a) {
                relation.insert_later(a, later, &ordered);
            }
        }
    }
    relation
}

/// An operation on memory in a storage class of `classes`, or with all of it in its semantics.
fn is_ordered_by(event: &Event, classes: ClassSet) -> bool {
    event.accesses() && classes.intersects(event.class) || event.semantics.contains(classes)
}

/// Happens-before: program order, or inter-thread-happens-before for some storage-class set.
/// Not transitive.
fn happens_before(graph: &Graph, sw: &Relation) -> Relation {
    let len = graph.events.len();
    let agents = events_of_agents(graph);
    let mut relation = Relation::new(len);
    for (a, x) in graph.events.iter().enumerate() {
        let own = &agents[x.agent as usize];
        relation.insert_later(a, own, own);
    }
    for classes in storage_class_sets(graph, sw) {
        let mut inter_thread_happens_before = inter_thread_steps(graph, sw, &agents, classes);
        inter_thread_happens_before.close();
        relation.unite(&inter_thread_happens_before);
    }
    relation
}

/// Memory domains by width: subgroup 1, workgroup 2, queue family 3, shader 4.
pub(crate) const DOMAINS: [Scope; 4] = [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device];

/// The narrowest `level` domains that an operation of this scope selects; a bit per domain.
fn domains_of(scope: Scope) -> u8 {
    match scope {
        Scope::Invocation => 0b0000,
        Scope::Subgroup => 0b0001,
        Scope::Workgroup => 0b0011,
        Scope::QueueFamily => 0b0111,
        Scope::Device | Scope::CrossDevice => 0b1111,
    }
}

/// Per domain, the events at which an availability chain of a write ends, or a visibility chain of
/// a read starts.
type Chains = [EventSet; DOMAINS.len()];

struct LocationOrderer<'a> {
    graph: &'a Graph,
    hb: &'a Relation,
    happens_after: Relation,
    ssw: &'a Relation,
    variant: Variant,
    /// Per domain and event, the events of agents in the same instance.
    instances: Vec<Vec<EventSet>>,
    /// Per agent and domain, the index into `instances`.
    instance_of: Vec<[usize; DOMAINS.len()]>,
    domain_operations: bool,
}

impl<'a> LocationOrderer<'a> {
    fn new(graph: &'a Graph, hb: &'a Relation, ssw: &'a Relation, variant: Variant) -> Self {
        let len = graph.events.len();
        let mut instances: Vec<Vec<EventSet>> = vec![Vec::new(); DOMAINS.len()];
        let mut instance_of = vec![[0; DOMAINS.len()]; graph.agents.len()];
        for (domain, scope) in DOMAINS.iter().enumerate() {
            let mut first: SmallVec<[u32; 8]> = SmallVec::new();
            for (agent, slot) in instance_of.iter_mut().enumerate() {
                let agent = agent as u32;
                let known = first.iter().position(|other| graph.in_scope_instance(*other, *scope, agent));
                slot[domain] = known.unwrap_or(first.len());
                if known.is_none() {
                    first.push(agent);
                    instances[domain].push(EventSet::new(len));
                }
            }
            for (id, event) in graph.events.iter().enumerate() {
                instances[domain][instance_of[event.agent as usize][domain]].insert(id);
            }
        }
        let is_device = |event: &Event| event.kind == Kind::DeviceAvailability;
        LocationOrderer {
            graph,
            hb,
            happens_after: hb.inverse(),
            ssw,
            variant,
            instances,
            instance_of,
            domain_operations: graph.events.iter().any(is_device),
        }
    }

    /// The events of agents in the same instance of a domain as this event's.
    fn instance(&self, event: usize, domain: usize) -> &EventSet {
        &self.instances[domain][self.instance_of[self.graph.events[event].agent as usize][domain]]
    }

    fn locations(&self) -> Vec<Location> {
        let mut units: Vec<(Unit, EventId)> = Vec::new();
        for (id, event) in self.graph.events.iter().enumerate() {
            units.extend(event.units.iter().map(|unit| (*unit, id as EventId)));
        }
        units.sort_unstable();
        let mut locations: Vec<Location> = Vec::new();
        for group in units.chunk_by(|a, b| a.0 == b.0) {
            let unit = group[0].0;
            let events: Vec<EventId> = group.iter().map(|(_, event)| *event).collect();
            let location_ordered = self.location_ordered(unit, &events);
            locations.push(Location { unit, events, location_ordered });
        }
        locations
    }

    /// Location-ordered for one unit.
    fn location_ordered(&self, unit: Unit, events: &[EventId]) -> Relation {
        let mut relation = Relation::new(events.len());
        let all = &self.graph.events;
        let none = || std::array::from_fn(|_| EventSet::default());
        let visibility: Vec<Chains> = events
            .iter()
            .map(|y| match all[*y as usize].reads() && all[*y as usize].non_private {
                true => self.visibility_chains(*y as usize, unit),
                false => none(),
            })
            .collect();
        for (i, x) in events.iter().enumerate() {
            let write = all[*x as usize].writes() && all[*x as usize].non_private;
            let published = if write { self.published(*x as usize, unit) } else { none() };
            for (j, y) in events.iter().enumerate() {
                if i != j && self.ordered(*x as usize, *y as usize, &published, &visibility[j]) {
                    relation.insert(i, j);
                }
            }
        }
        relation
    }

    /// Per domain D that the agent of write `x` accesses, the events that happen after
    /// AVC(agent, reference, D, unit), by agents in the instance of D.
    fn published(&self, x: usize, unit: Unit) -> Chains {
        let len = self.graph.events.len();
        let mut published: Chains = std::array::from_fn(|_| EventSet::new(len));
        for (last, domains) in self.availability_chains(x, unit) {
            for (domain, set) in published.iter_mut().enumerate() {
                // The domain must be one that the writer accesses, too.
                let instance = self.instance(last, domain);
                if domains >> domain & 1 == 1 && instance.contains(x) {
                    set.unite_both(self.hb.words(last), instance);
                }
            }
        }
        published
    }

    /// The bullets of "Location-Ordered", in order.
    fn ordered(&self, x: usize, y: usize, published: &Chains, visibility: &Chains) -> bool {
        let (a, b) = (&self.graph.events[x], &self.graph.events[y]);
        let same_agent_and_reference = a.agent == b.agent && a.reference == b.reference;
        if same_agent_and_reference && self.hb.contains(x, y) {
            return true;
        }
        if a.reads() {
            if a.non_private && b.non_private && self.hb.contains(x, y) {
                return true;
            }
            if self.ssw.contains(x, y) {
                return true;
            }
        }
        if !a.writes() {
            return false;
        }
        if a.reference == b.reference && a.non_private && b.non_private {
            // X →rcpo AVC → Y.
            if b.writes() && published.iter().any(|after| after.contains(y)) {
                return true;
            }
            // X →rcpo AVC → VISC →rcpo Y.
            if b.reads() && published.iter().zip(visibility).any(|(after, first)| after.intersects(first)) {
                return true;
            }
        }
        self.domain_operations
            && (b.writes() && self.through_device_domain(x, y, false)
                || b.reads() && self.through_device_domain(x, y, true))
    }

    /// X → AV(device) → Y for a write, X → AV(device) → VIS(device) → Y for a read.
    fn through_device_domain(&self, x: usize, y: usize, visibility: bool) -> bool {
        let events = &self.graph.events;
        events.iter().enumerate().any(|(av, event)| {
            event.kind == Kind::DeviceAvailability
                && self.hb.contains(x, av)
                && if visibility {
                    events.iter().enumerate().any(|(vis, event)| {
                        event.kind == Kind::DeviceVisibility
                            && self.hb.contains(av, vis)
                            && self.hb.contains(vis, y)
                    })
                } else {
                    self.hb.contains(av, y)
                }
        })
    }

    /// The availability chains AVC(agent, reference, D, unit) of write `x`: their last elements
    /// with the domains that these reach.
    fn availability_chains(&self, x: usize, unit: Unit) -> Vec<(usize, u8)> {
        let events = &self.graph.events;
        let write = &events[x];
        let operation = |id: usize| availability_operation(&events[id], write, unit, id == x);
        let own = (x..events.len()).filter(|id| events[*id].agent == write.agent);
        let first: Vec<_> = own.map(|id| (id, operation(id))).filter(|(_, domains)| *domains != 0).collect();
        self.extend(first, self.hb, operation)
    }

    /// The visibility chains VISC(agent, reference, D, unit) to read `y`: per domain that its agent
    /// accesses, their first elements.
    fn visibility_chains(&self, y: usize, unit: Unit) -> Chains {
        let events = &self.graph.events;
        let read = &events[y];
        let operation = |id: usize| visibility_operation(&events[id], read, unit, id == y);
        let own = (0..=y).filter(|id| events[*id].agent == read.agent);
        let last: Vec<_> = own.map(|id| (id, operation(id))).filter(|(_, domains)| *domains != 0).collect();
        let mut chains: Chains = std::array::from_fn(|_| EventSet::new(events.len()));
        for (first, domains) in self.extend(last, &self.happens_after, operation) {
            for (domain, set) in chains.iter_mut().enumerate() {
                if domains >> domain & 1 == 1 && self.instance(first, domain).contains(y) {
                    set.insert(first);
                }
            }
        }
        chains
    }

    /// Adds elements with broader domains, performed in the dual scope instance of a domain that
    /// the chain reaches already, and next to its end by `order`.
    fn extend(
        &self,
        mut chain: Vec<(usize, u8)>,
        order: &Relation,
        operation: impl Fn(usize) -> u8,
    ) -> Vec<(usize, u8)> {
        if !self.variant.chains || chain.is_empty() {
            return chain;
        }
        let len = self.graph.events.len();
        let operations: SmallVec<[u8; 64]> = (0..len).map(operation).collect();
        // Per domain, the operations that reach a broader one.
        let mut broader: Chains = std::array::from_fn(|_| EventSet::new(len));
        for (id, domains) in operations.iter().enumerate().filter(|(_, domains)| **domains != 0) {
            for (domain, set) in broader.iter_mut().enumerate() {
                if domains >> (domain + 1) != 0 {
                    set.insert(id);
                }
            }
        }
        let mut known: SmallVec<[u8; 64]> = SmallVec::from_elem(0, len);
        chain.iter().for_each(|(id, domains)| known[*id] = *domains);
        let mut next = 0;
        while next < chain.len() {
            let (end, reached) = chain[next];
            next += 1;
            for domain in (0..DOMAINS.len()).filter(|domain| reached >> domain & 1 == 1) {
                for id in broader[domain].common(order.words(end), self.instance(end, domain)) {
                    let domains = operations[id];
                    if id != end && known[id] & domains != domains {
                        known[id] |= domains;
                        chain.push((id, domains));
                    }
                }
            }
        }
        chain
    }
}

/// The domains of `event`'s availability operation if its source scope includes the reference and
/// unit of `write`; 0 if it performs none that does.
pub(crate) fn availability_operation(event: &Event, write: &Event, unit: Unit, same: bool) -> u8 {
    let mut domains = 0;
    if let Some(scope) = event.available {
        if event.writes() && event.reference == write.reference && event.units.contains(&unit) {
            domains |= domains_of(scope);
        }
    }
    // The operation of the semantics comes before the atomic's own write.
    if !same && event.make_available && event.releases() && event.semantics.contains(write.class) {
        domains |= domains_of(event.scope);
    }
    domains
}

/// The domains of `event`'s visibility operation if its destination scope includes the reference
/// and unit of `read`; 0 if it performs none that does.
pub(crate) fn visibility_operation(event: &Event, read: &Event, unit: Unit, same: bool) -> u8 {
    let mut domains = 0;
    if let Some(scope) = event.visible {
        if event.reads() && event.reference == read.reference && event.units.contains(&unit) {
            domains |= domains_of(scope);
        }
    }
    // The operation of the semantics comes after the atomic's own read.
    if !same && event.make_visible && event.acquires() && event.semantics.contains(read.class) {
        domains |= domains_of(event.scope);
    }
    domains
}
