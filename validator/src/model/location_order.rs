//! Location-ordered, with the availability and visibility chains that it rests on.
//!
//! Implements "Availability and Visibility Semantics", "Availability, Visibility, and Domain
//! Operations" and "Location-Ordered" of the Vulkan memory model.

use std::sync::Arc;

use smallvec::SmallVec;

use super::graph::{Event, EventId, Graph, Kind, Unit};
use super::relation::{has, EventSet, Relation};
use super::vulkan::{Location, Variant};
use crate::event::Scope;

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

/// Derives location-ordered of a graph with all its operations.
pub(super) struct LocationOrderer<'a> {
    graph: &'a Graph,
    hb: &'a Relation,
    happens_after: &'a Relation,
    ssw: Option<&'a Relation>,
    variant: Variant,
    instances: &'a Instances,
    domain_operations: bool,
}

/// The operations of each instance of each domain.
#[derive(Clone, Debug, Default)]
pub(super) struct Instances {
    /// Per agent and domain, the row of `members`.
    row_of: Arc<[[usize; DOMAINS.len()]]>,
    /// Per instance, its operations, as words of bits.
    members: Vec<u64>,
    rows: usize,
    words: usize,
    len: usize,
}

impl Instances {
    /// Those of these agents, without operations.
    pub(super) fn new(graph: &Graph) -> Self {
        let mut row_of = vec![[0; DOMAINS.len()]; graph.agents.len()];
        let mut rows = 0;
        for (domain, scope) in DOMAINS.iter().enumerate() {
            let mut first: SmallVec<[(u32, usize); 8]> = SmallVec::new();
            for (agent, slot) in row_of.iter_mut().enumerate() {
                let agent = agent as u32;
                let known = first.iter().find(|(other, _)| graph.in_scope_instance(*other, *scope, agent));
                slot[domain] = known.map_or(rows, |(_, row)| *row);
                if known.is_none() {
                    first.push((agent, rows));
                    rows += 1;
                }
            }
        }
        Instances { row_of: row_of.into(), members: Vec::new(), rows, words: 0, len: 0 }
    }

    /// Those of a graph with all its operations.
    pub(super) fn of(graph: &Graph) -> Self {
        let mut instances = Instances::new(graph);
        graph.events.iter().for_each(|operation| instances.push(operation.agent));
        instances
    }

    /// Number of operations.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds the next operation.
    pub(super) fn push(&mut self, agent: u32) {
        let id = self.len;
        self.len += 1;
        if self.len > self.words * 64 {
            let mut members = vec![0; self.rows * (self.words + 1)];
            for (row, old) in
                members.chunks_exact_mut(self.words + 1).zip(self.members.chunks(self.words.max(1)))
            {
                row[..self.words].copy_from_slice(old);
            }
            self.members = members;
            self.words += 1;
        }
        for row in self.row_of[agent as usize] {
            self.members[row * self.words + id / 64] |= 1 << (id % 64);
        }
    }

    fn of_agent(&self, agent: u32, domain: usize) -> &[u64] {
        let row = self.row_of[agent as usize][domain];
        &self.members[row * self.words..(row + 1) * self.words]
    }
}

impl<'a> LocationOrderer<'a> {
    /// `graph` with all its operations, happens-before of the first of them (all that count) and its inverse.
    pub(super) fn new(
        graph: &'a Graph,
        (hb, happens_after): (&'a Relation, &'a Relation),
        ssw: Option<&'a Relation>,
        instances: &'a Instances,
        variant: Variant,
    ) -> Self {
        let is_device = |event: &Arc<Event>| event.kind == Kind::DeviceAvailability;
        let domain_operations = graph.events.iter().any(is_device);
        LocationOrderer { graph, hb, happens_after, ssw, variant, instances, domain_operations }
    }

    /// The operations of agents in the same instance of a domain as this one's.
    fn instance(&self, operation: usize, domain: usize) -> &[u64] {
        self.instances.of_agent(self.graph.events[operation].agent, domain)
    }

    /// The indices of those of `events`, all of `unit`, that are location-ordered before `y`.
    pub(super) fn ordered_before(&self, y: usize, unit: Unit, events: &[EventId]) -> SmallVec<[usize; 8]> {
        let read = &self.graph.events[y];
        let visibility = match read.reads() && read.non_private {
            true => self.visibility_chains(y, unit),
            false => std::array::from_fn(|_| EventSet::default()),
        };
        let is_before = |x: usize| {
            let write = &self.graph.events[x];
            let published = match write.writes() && write.non_private {
                true => self.published(x, unit),
                false => std::array::from_fn(|_| EventSet::default()),
            };
            self.ordered(x, y, &published, &visibility)
        };
        (0..events.len()).filter(|i| is_before(events[*i] as usize)).collect()
    }

    /// One entry for every unit that some event accesses, ascending by unit.
    pub(super) fn locations(&self) -> Vec<Location> {
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
        let len = self.hb.len();
        let mut published: Chains = std::array::from_fn(|_| EventSet::new(len));
        for (last, domains) in self.availability_chains(x, unit) {
            for (domain, set) in published.iter_mut().enumerate() {
                // The domain must be one that the writer accesses, too.
                let instance = self.instance(last, domain);
                if domains >> domain & 1 == 1 && has(instance, x) {
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
            if self.ssw.is_some_and(|ssw| ssw.contains(x, y)) {
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
        let operation = |id: usize| availability_operation(&events[id], write, unit);
        let own = (x..self.hb.len()).filter(|id| events[*id].agent == write.agent);
        let first: Vec<_> = own.map(|id| (id, operation(id))).filter(|(_, domains)| *domains != 0).collect();
        self.extend(first, self.hb, operation)
    }

    /// The visibility chains VISC(agent, reference, D, unit) to read `y`: per domain that its agent
    /// accesses, their first elements.
    fn visibility_chains(&self, y: usize, unit: Unit) -> Chains {
        let events = &self.graph.events;
        let read = &events[y];
        let operation = |id: usize| visibility_operation(&events[id], read, unit);
        let own = (0..=y).filter(|id| events[*id].agent == read.agent);
        let last: Vec<_> = own.map(|id| (id, operation(id))).filter(|(_, domains)| *domains != 0).collect();
        let mut chains: Chains = std::array::from_fn(|_| EventSet::new(self.hb.len()));
        for (first, domains) in self.extend(last, self.happens_after, operation) {
            for (domain, set) in chains.iter_mut().enumerate() {
                if domains >> domain & 1 == 1 && has(self.instance(first, domain), y) {
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
        let len = self.hb.len();
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
pub(crate) fn availability_operation(event: &Event, write: &Event, unit: Unit) -> u8 {
    let mut domains = 0;
    if let Some(scope) = event.available {
        if event.writes() && event.reference == write.reference && event.units.contains(&unit) {
            domains |= domains_of(scope);
        }
    }
    if event.kind == Kind::Availability && event.class.contains(write.class) {
        domains |= domains_of(event.scope);
    }
    domains
}

/// The domains of `event`'s visibility operation if its destination scope includes the reference
/// and unit of `read`; 0 if it performs none that does.
pub(crate) fn visibility_operation(event: &Event, read: &Event, unit: Unit) -> u8 {
    let mut domains = 0;
    if let Some(scope) = event.visible {
        if event.reads() && event.reference == read.reference && event.units.contains(&unit) {
            domains |= domains_of(scope);
        }
    }
    if event.kind == Kind::Visibility && event.class.contains(read.class) {
        domains |= domains_of(event.scope);
    }
    domains
}
