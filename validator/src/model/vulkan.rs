//! The Vulkan memory model: the relations of the specification's appendix, each under its name.
//!
//! Implements the appendix "Memory Model" of the Vulkan specification, revisions 2024 and 2025,
//! for device agents (shader invocations) plus system-synchronizes-with edges and device-domain
//! operations. Location order, reads-from and from-reads are per memory unit, a unit being bytes
//! that no access splits. Neither more nor fewer behaviours than the text allows, except:
//! - A release sequence is followed through the reads-from edges of its read-modify-writes. Where
//!   every member is mutually ordered with the others, that is the sequence in scoped modification
//!   order, because a write in between would be a from-reads cycle.
//! - Later elements of an availability (visibility) chain must include the reference's storage
//!   class or the reference itself; the text only says so of the operation as such.

use smallvec::SmallVec;

use super::graph::{Event, EventId, Graph, Kind, Source, Unit};
use super::relation::Relation;
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

/// Derives the relations of `graph`.
pub fn relations(graph: &Graph, variant: Variant) -> Relations {
    let synchronizes_with = synchronizes_with(graph);
    let happens_before = happens_before(graph, &synchronizes_with);
    let ssw = system_synchronizes_with(graph);
    let orderer = LocationOrderer { graph, hb: &happens_before, ssw: &ssw, variant };
    let locations = orderer.locations();
    Relations { synchronizes_with, happens_before, locations }
}

/// System-synchronizes-with, transitively.
fn system_synchronizes_with(graph: &Graph) -> Relation {
    let mut relation = Relation::new(graph.events.len());
    for (a, b) in &graph.system_synchronizes_with {
        relation.insert(*a as usize, *b as usize);
    }
    if !graph.system_synchronizes_with.is_empty() {
        relation.close();
    }
    relation
}

/// The atomic writes that head a release sequence (a hypothetical one where the head is not a
/// release) with `member` in it, `member` itself first.
fn release_sequence_heads(graph: &Graph, member: EventId) -> SmallVec<[EventId; 4]> {
    let mut heads = SmallVec::new();
    if !graph.events[member as usize].atomic {
        return heads;
    }
    heads.push(member);
    let mut current = member;
    while graph.events[current as usize].kind == Kind::Update {
        let Some(Source::Event(previous)) = graph.events[current as usize].sources.first().copied() else {
            break;
        };
        let mutually_ordered = graph.mutually_ordered(previous as usize, current as usize);
        // A speculated read may close the chain into a circle.
        if !mutually_ordered || heads.contains(&previous) {
            break;
        }
        heads.push(previous);
        current = previous;
    }
    heads.retain(|head| *head == member || graph.mutually_ordered(*head as usize, member as usize));
    heads
}

/// Synchronizes-with, in all its shapes.
fn synchronizes_with(graph: &Graph) -> Relation {
    let events = &graph.events;
    let mut relation = Relation::new(events.len());
    for (y, read) in events.iter().enumerate() {
        if !(read.atomic && read.reads()) {
            continue;
        }
        for x in observed_heads(graph, read) {
            if graph.mutually_ordered(x, y) {
                synchronize_through(graph, x, y, &mut relation);
            }
        }
    }
    synchronize_through_barriers(graph, &mut relation);
    relation
}

/// The heads of all release sequences that an atomic read takes a value from.
fn observed_heads(graph: &Graph, read: &Event) -> SmallVec<[usize; 4]> {
    let mut heads: SmallVec<[usize; 4]> = SmallVec::new();
    let mut last = None;
    for source in &read.sources {
        if let Source::Event(write) = source {
            if last == Some(*write) {
                continue;
            }
            last = Some(*write);
            heads.extend(release_sequence_heads(graph, *write).into_iter().map(|head| head as usize));
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
    for (i, c) in events.iter().enumerate() {
        let Kind::Barrier { instance, execution } = c.kind else { continue };
        for (j, d) in events.iter().enumerate() {
            let same = matches!(d.kind, Kind::Barrier { instance: other, .. } if other == instance);
            if !same || c.agent == d.agent || !graph.in_scope_instance(c.agent, execution, d.agent) {
                continue;
            }
            for (a, release) in events[..=i].iter().enumerate() {
                if release.agent != c.agent || !release.is_fence() || !release.releases() {
                    continue;
                }
                for (b, acquire) in events.iter().enumerate().skip(j) {
                    if acquire.agent == d.agent
                        && acquire.is_fence()
                        && acquire.acquires()
                        && graph.in_each_others_scope(release, acquire)
                    {
                        relation.insert(a, b);
                    }
                }
            }
        }
    }
}

/// The storage-class sets SC that inter-thread-happens-before must be computed for: chains of
/// synchronizes-with whose semantics have SC in common gain nothing from a smaller set, so the
/// intersections of the semantics that occur are enough.
fn storage_class_sets(graph: &Graph, sw: &Relation) -> SmallVec<[ClassSet; 8]> {
    let mut sets: SmallVec<[ClassSet; 8]> = SmallVec::new();
    for a in 0..graph.events.len() {
        for b in sw.row(a) {
            let common = ClassSet(graph.events[a].semantics.0 & graph.events[b].semantics.0);
            if !common.is_empty() && !sets.contains(&common) {
                sets.push(common);
            }
        }
    }
    let mut next = 0;
    while next < sets.len() {
        for other in 0..next {
            let common = ClassSet(sets[next].0 & sets[other].0);
            if !common.is_empty() && !sets.contains(&common) {
                sets.push(common);
            }
        }
        next += 1;
    }
    if sets.is_empty() && !graph.system_synchronizes_with.is_empty() {
        sets.push(ClassSet::ALL);
    }
    sets
}

/// Inter-thread-happens-before for the storage-class set `classes`.
fn inter_thread_happens_before(graph: &Graph, sw: &Relation, classes: ClassSet) -> Relation {
    let events = &graph.events;
    let mut relation = Relation::new(events.len());
    for (a, b) in &graph.system_synchronizes_with {
        relation.insert(*a as usize, *b as usize);
    }
    for (a, x) in events.iter().enumerate() {
        if x.semantics.contains(classes) {
            for b in sw.row(a) {
                if events[b].semantics.contains(classes) {
                    relation.insert(a, b);
                }
            }
        }
        let a_is_ordered = is_ordered_by(x, classes);
        let a_acquires = x.acquires() && x.semantics.contains(classes);
        if !a_is_ordered {
            continue;
        }
        for (b, y) in events.iter().enumerate().skip(a + 1) {
            if y.agent != x.agent {
                continue;
            }
            let b_releases = y.releases() && y.semantics.contains(classes);
            if b_releases || a_acquires && is_ordered_by(y, classes) {
                relation.insert(a, b);
            }
        }
    }
    relation.close();
    relation
}

/// An operation on memory in a storage class of `classes`, or with all of it in its semantics.
fn is_ordered_by(event: &Event, classes: ClassSet) -> bool {
    event.accesses() && classes.intersects(event.class) || event.semantics.contains(classes)
}

/// Happens-before: program order, or inter-thread-happens-before for some storage-class set.
/// Not transitive.
fn happens_before(graph: &Graph, sw: &Relation) -> Relation {
    let mut relation = Relation::new(graph.events.len());
    for (a, x) in graph.events.iter().enumerate() {
        for (b, y) in graph.events.iter().enumerate().skip(a + 1) {
            if x.agent == y.agent {
                relation.insert(a, b);
            }
        }
    }
    for classes in storage_class_sets(graph, sw) {
        relation.unite(&inter_thread_happens_before(graph, sw, classes));
    }
    relation
}

/// Memory domains by width: subgroup 1, workgroup 2, queue family 3, shader 4.
const DOMAINS: [Scope; 4] = [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device];

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

/// Events with the domains that a chain ending (starting) there reaches.
type Chain = SmallVec<[(usize, u8); 4]>;

struct LocationOrderer<'a> {
    graph: &'a Graph,
    hb: &'a Relation,
    ssw: &'a Relation,
    variant: Variant,
}

impl LocationOrderer<'_> {
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
        let availability: Vec<Chain> = events
            .iter()
            .map(|x| match all[*x as usize].writes() && all[*x as usize].non_private {
                true => self.availability_chains(*x as usize, unit),
                false => Chain::new(),
            })
            .collect();
        let visibility: Vec<Chain> = events
            .iter()
            .map(|y| match all[*y as usize].reads() && all[*y as usize].non_private {
                true => self.visibility_chains(*y as usize, unit),
                false => Chain::new(),
            })
            .collect();
        for (i, x) in events.iter().enumerate() {
            for (j, y) in events.iter().enumerate() {
                if i != j && self.ordered(*x as usize, *y as usize, &availability[i], &visibility[j]) {
                    relation.insert(i, j);
                }
            }
        }
        relation
    }

    /// The bullets of "Location-Ordered", in order.
    fn ordered(&self, x: usize, y: usize, availability: &Chain, visibility: &Chain) -> bool {
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
            if b.writes() && self.available_before(availability, y) {
                return true;
            }
            if b.reads() && self.visible_through(availability, visibility) {
                return true;
            }
        }
        b.writes() && self.through_device_domain(x, y, false)
            || b.reads() && self.through_device_domain(x, y, true)
    }

    /// X →rcpo AVC → Y through a domain that both agents access.
    fn available_before(&self, availability: &Chain, y: usize) -> bool {
        availability.iter().any(|(last, domains)| {
            self.hb.contains(*last, y) && self.shared_domain(*last, y, *domains, 0b1111).is_some()
        })
    }

    /// AVC → VISC through one domain.
    fn visible_through(&self, availability: &Chain, visibility: &Chain) -> bool {
        availability.iter().any(|(last, available)| {
            visibility.iter().any(|(first, visible)| {
                self.hb.contains(*last, *first)
                    && self.shared_domain(*last, *first, *available, *visible).is_some()
            })
        })
    }

    /// The narrowest domain of both sets that the agents of both events access.
    fn shared_domain(&self, a: usize, b: usize, left: u8, right: u8) -> Option<usize> {
        let (x, y) = (self.graph.events[a].agent, self.graph.events[b].agent);
        (0..DOMAINS.len()).find(|level| {
            (left & right) >> level & 1 == 1 && self.graph.in_scope_instance(x, DOMAINS[*level], y)
        })
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

    /// The availability chains AVC(agent, reference, D, unit) of write `x`.
    fn availability_chains(&self, x: usize, unit: Unit) -> Chain {
        let events = &self.graph.events;
        let write = &events[x];
        let mut chain = Chain::new();
        for (id, event) in events.iter().enumerate().skip(x) {
            if event.agent == write.agent {
                let domains = availability_operation(event, write, unit, id == x);
                if domains != 0 {
                    chain.push((id, domains));
                }
            }
        }
        if self.variant.chains {
            self.extend(&mut chain, |last, id| {
                (self.hb.contains(last, id))
                    .then(|| availability_operation(&events[id], write, unit, id == x))
            });
        }
        chain
    }

    /// The visibility chains VISC(agent, reference, D, unit) to read `y`, by their first elements.
    fn visibility_chains(&self, y: usize, unit: Unit) -> Chain {
        let events = &self.graph.events;
        let read = &events[y];
        let mut chain = Chain::new();
        for (id, event) in events[..=y].iter().enumerate() {
            if event.agent == read.agent {
                let domains = visibility_operation(event, read, unit, id == y);
                if domains != 0 {
                    chain.push((id, domains));
                }
            }
        }
        if self.variant.chains {
            self.extend(&mut chain, |first, id| {
                (self.hb.contains(id, first)).then(|| visibility_operation(&events[id], read, unit, id == y))
            });
        }
        chain
    }

    /// Adds elements with broader domains, performed in the dual scope instance of a domain that
    /// the chain reaches already; `operation(end, candidate)` gives the candidate's domains if it
    /// is ordered next to that end.
    fn extend(&self, chain: &mut Chain, operation: impl Fn(usize, usize) -> Option<u8>) {
        let mut next = 0;
        while next < chain.len() {
            let (end, reached) = chain[next];
            next += 1;
            for id in 0..self.graph.events.len() {
                if id == end {
                    continue;
                }
                let Some(domains) = operation(end, id).filter(|domains| *domains != 0) else { continue };
                let Some(link) = self.shared_domain(end, id, reached, 0b1111) else { continue };
                let broader = domains >> (link + 1) != 0;
                if broader && !chain.iter().any(|(known, have)| *known == id && have & domains == domains) {
                    chain.push((id, domains));
                }
            }
        }
    }
}

/// The domains of `event`'s availability operation if its source scope includes the reference and
/// unit of `write`; 0 if it performs none that does.
fn availability_operation(event: &Event, write: &Event, unit: Unit, same: bool) -> u8 {
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
fn visibility_operation(event: &Event, read: &Event, unit: Unit, same: bool) -> u8 {
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
