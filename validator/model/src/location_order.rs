//! Location-ordered, with the availability and visibility chains that it rests on.
//!
//! Implements "Availability and Visibility Semantics", "Availability, Visibility, and Domain
//! Operations" and "Location-Ordered" of the Vulkan memory model.

use std::sync::Arc;

use smallvec::SmallVec;

use super::graph::{Event, EventId, Graph, Kind, Unit};
use super::relation::{has, Relation};
use super::vulkan::{Location, Variant};
use crate::event::Scope;

/// Memory domains by width: subgroup 1, workgroup 2, queue family 3, shader 4.
pub const DOMAINS: [Scope; 4] = [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device];

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

/// The operations at which an availability chain of a write ends, or a visibility chain of a read starts,
/// with the domains that they reach; a bit per domain.
type Chains = SmallVec<[(usize, u8); 16]>;

/// Derives location-ordered of a graph with all its operations.
pub(super) struct LocationOrderer<'a> {
    graph: &'a Graph,
    hb: &'a Relation,
    ssw: Option<&'a Relation>,
    variant: Variant,
    instances: &'a Instances,
}

/// The operations of each instance of each domain, and those that chains consist of.
#[derive(Clone, Debug, Default)]
pub(super) struct Instances {
    /// Per agent and domain, the row of `members`.
    row_of: Arc<[[usize; DOMAINS.len()]]>,
    /// Per instance, its operations, as words of bits.
    members: Vec<u64>,
    rows: usize,
    words: usize,
    len: usize,
    /// Operations that perform an availability operation.
    available: Vec<EventId>,
    /// Operations that perform a visibility operation.
    visible: Vec<EventId>,
    has_device_availability: bool,
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
        Instances { row_of: row_of.into(), rows, ..Instances::default() }
    }

    /// Those of a graph with all its operations.
    pub(super) fn of(graph: &Graph) -> Self {
        let mut instances = Instances::new(graph);
        graph.events.iter().for_each(|operation| instances.push(operation));
        instances
    }

    /// Number of operations.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds the next operation.
    pub(super) fn push(&mut self, operation: &Event) {
        let id = self.len;
        if operation.available.is_some() || operation.kind == Kind::Availability {
            self.available.push(id as EventId);
        }
        self.has_device_availability |= operation.kind == Kind::DeviceAvailability;
        if operation.visible.is_some() || operation.kind == Kind::Visibility {
            self.visible.push(id as EventId);
        }
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
        for row in self.row_of[operation.agent as usize] {
            self.members[row * self.words + id / 64] |= 1 << (id % 64);
        }
    }

    fn of_agent(&self, agent: u32, domain: usize) -> &[u64] {
        let row = self.row_of[agent as usize][domain];
        &self.members[row * self.words..(row + 1) * self.words]
    }
}

impl<'a> LocationOrderer<'a> {
    /// `graph` with all its operations, and happens-before of the first of them (all that count).
    pub(super) fn new(
        graph: &'a Graph,
        hb: &'a Relation,
        ssw: Option<&'a Relation>,
        instances: &'a Instances,
        variant: Variant,
    ) -> Self {
        LocationOrderer { graph, hb, ssw, variant, instances }
    }

    /// Those of these domains (a bit each) of which the agents of both operations are in the same instance.
    fn common_domains(&self, a: usize, b: usize, domains: u8) -> u8 {
        let agent = self.graph.events[a].agent;
        let is_common =
            |domain: &usize| domains >> domain & 1 == 1 && has(self.instances.of_agent(agent, *domain), b);
        (0..DOMAINS.len()).filter(is_common).fold(0, |common, domain| common | 1 << domain)
    }

    /// The indices of those of `events`, all of `unit`, that are location-ordered before `y`.
    pub(super) fn ordered_before(&self, y: usize, unit: Unit, events: &[EventId]) -> SmallVec<[usize; 8]> {
        let mut visibility = None;
        let is_before = |i: &usize| {
            let x = events[*i] as usize;
            self.is_ordered(x, y)
                || self.may_be_published(x, y) && {
                    let visibility = visibility.get_or_insert_with(|| match self.graph.events[y].reads() {
                        true => self.visibility_chains(y, unit),
                        false => Chains::new(),
                    });
                    (self.graph.events[y].writes() || !visibility.is_empty())
                        && self.is_published(y, &self.availability_chains(x, unit), visibility)
                }
        };
        (0..events.len()).filter(is_before).collect()
    }

    /// One entry for every unit that some event accesses, ascending by unit; `None` where that is not done when time is
    /// over.
    pub(super) fn locations(&self, is_over: &dyn Fn() -> bool) -> Option<Vec<Location>> {
        let mut units: Vec<(Unit, EventId)> = Vec::new();
        for (id, event) in self.graph.events.iter().enumerate() {
            units.extend(event.units.iter().map(|unit| (*unit, id as EventId)));
        }
        units.sort_unstable();
        let mut locations: Vec<Location> = Vec::new();
        for group in units.chunk_by(|a, b| a.0 == b.0) {
            let unit = group[0].0;
            let events: Vec<EventId> = group.iter().map(|(_, event)| *event).collect();
            let location_ordered = self.location_ordered(unit, &events, is_over)?;
            locations.push(Location { unit, events, location_ordered });
        }
        Some(locations)
    }

    /// Location-ordered for one unit.
    fn location_ordered(
        &self,
        unit: Unit,
        events: &[EventId],
        is_over: &dyn Fn() -> bool,
    ) -> Option<Relation> {
        let mut relation = Relation::new(events.len());
        let all = &self.graph.events;
        let visibility: Vec<Chains> = events
            .iter()
            .map(|y| match all[*y as usize].reads() {
                true => self.visibility_chains(*y as usize, unit),
                false => Chains::new(),
            })
            .collect();
        for (i, x) in events.iter().enumerate() {
            if is_over() {
                return None;
            }
            let x = *x as usize;
            let availability =
                if all[x].writes() { self.availability_chains(x, unit) } else { Chains::new() };
            for (j, y) in events.iter().enumerate() {
                let y = *y as usize;
                let ordered = || {
                    self.is_ordered(x, y)
                        || self.may_be_published(x, y) && self.is_published(y, &availability, &visibility[j])
                };
                if i != j && ordered() {
                    relation.insert(i, j);
                }
            }
        }
        Some(relation)
    }

    /// The bullets of "Location-Ordered" that rest on no chains.
    fn is_ordered(&self, x: usize, y: usize) -> bool {
        let (a, b) = (&self.graph.events[x], &self.graph.events[y]);
        let happens_before = self.hb.contains(x, y);
        if happens_before && a.agent == b.agent && a.reference == b.reference {
            return true;
        }
        if a.reads()
            && (happens_before && a.non_private && b.non_private
                || self.ssw.is_some_and(|ssw| ssw.contains(x, y)))
        {
            return true;
        }
        self.instances.has_device_availability
            && a.writes()
            && (b.writes() && self.through_device_domain(x, y, false)
                || b.reads() && self.through_device_domain(x, y, true))
    }

    /// Whether chains can order the two.
    fn may_be_published(&self, x: usize, y: usize) -> bool {
        let (a, b) = (&self.graph.events[x], &self.graph.events[y]);
        a.writes() && a.reference == b.reference && a.non_private && b.non_private
    }

    /// The bullets of "Location-Ordered" with the availability chains of a write and the visibility chains of `y`.
    fn is_published(&self, y: usize, availability: &Chains, visibility: &Chains) -> bool {
        let event = &self.graph.events[y];
        // X →rcpo AVC → Y.
        let before = |(last, domains): &(usize, u8)| {
            self.hb.contains(*last, y) && self.common_domains(*last, y, *domains) != 0
        };
        // X →rcpo AVC → VISC →rcpo Y.
        let meets = |(last, domains): &(usize, u8)| {
            visibility.iter().any(|(first, others)| {
                self.hb.contains(*last, *first) && self.common_domains(*last, *first, domains & others) != 0
            })
        };
        event.writes() && availability.iter().any(before) || event.reads() && availability.iter().any(meets)
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

    /// The availability chains AVC(agent, reference, D, unit) of write `x`: their last elements, with those of
    /// the domains that these reach that the writer accesses, too.
    fn availability_chains(&self, x: usize, unit: Unit) -> Chains {
        let events = &self.graph.events;
        let write = &events[x];
        let operation = |id: usize| availability_operation(&events[id], write, unit);
        let is_first = |id: usize| id >= x && events[id].agent == write.agent;
        let precedes = |end: usize, next: usize| self.hb.contains(end, next);
        self.chains(x, &self.instances.available, operation, is_first, precedes)
    }

    /// The visibility chains VISC(agent, reference, D, unit) to read `y`: their first elements, with those of
    /// the domains that these reach that the reader accesses, too.
    fn visibility_chains(&self, y: usize, unit: Unit) -> Chains {
        let events = &self.graph.events;
        let read = &events[y];
        let operation = |id: usize| visibility_operation(&events[id], read, unit);
        let is_last = |id: usize| id <= y && events[id].agent == read.agent;
        let follows = |start: usize, next: usize| self.hb.contains(next, start);
        self.chains(y, &self.instances.visible, operation, is_last, follows)
    }

    /// Chains from an access: the operations of its own agent, and then those with broader domains, performed in
    /// the dual scope instance of a domain that the chain reaches already, and `next_to` its end.
    fn chains(
        &self,
        access: usize,
        candidates: &[EventId],
        operation: impl Fn(usize) -> u8,
        is_own: impl Fn(usize) -> bool,
        next_to: impl Fn(usize, usize) -> bool,
    ) -> Chains {
        let candidates = candidates.iter().map(|id| *id as usize).filter(|id| *id < self.hb.len());
        let operations: Chains =
            candidates.map(|id| (id, operation(id))).filter(|(_, domains)| *domains != 0).collect();
        let mut chain: Chains = operations.iter().copied().filter(|(id, _)| is_own(*id)).collect();
        if self.variant.chains && !chain.is_empty() {
            let own = |(id, domains): &(usize, u8)| if is_own(*id) { *domains } else { 0 };
            let mut known: SmallVec<[u8; 16]> = operations.iter().map(own).collect();
            let mut next = 0;
            while next < chain.len() {
                let (end, reached) = chain[next];
                next += 1;
                for ((id, domains), known) in operations.iter().zip(&mut known) {
                    // The narrowest domain that both are in is broader than none that the operation reaches.
                    let is_broader =
                        |common: u8| common != 0 && domains >> (common.trailing_zeros() + 1) != 0;
                    if *id != end
                        && *known & domains != *domains
                        && next_to(end, *id)
                        && is_broader(self.common_domains(end, *id, reached))
                    {
                        *known |= domains;
                        chain.push((*id, *domains));
                    }
                }
            }
        }
        for (id, domains) in &mut chain {
            *domains = self.common_domains(*id, access, *domains);
        }
        chain.retain(|(_, domains)| *domains != 0);
        chain
    }
}

/// The domains of `event`'s availability operation if its source scope includes the reference and
/// unit of `write`; 0 if it performs none that does.
pub fn availability_operation(event: &Event, write: &Event, unit: Unit) -> u8 {
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
pub fn visibility_operation(event: &Event, read: &Event, unit: Unit) -> u8 {
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

#[cfg(test)]
mod tests;
