//! The relations of a graph to which events are added at its end.
//!
//! What synchronizes with an event, happens before it or is location-ordered before it is settled when the
//! event is added: no later event changes it, as long as every synchronizes-with edge leads to a later event,
//! or joins the control barriers of one instance, which are added together. So a new event costs a row of
//! bits in each relation, where [`vulkan::relations`] derives them all again. Graphs
//! for which that does not hold (speculated reads, operations on the device domain, atomics of several units,
//! system-synchronizes-with) are left to it.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::coherence::Coherence;
use super::consistency::{DataRace, FinalValues, LastWrites};
use super::fences::Fences;
use super::graph::{Event, EventId, Graph, Kind, Source, Unit, UnitBytes};
use super::location_order::{Instances, LocationOrderer};
use super::memory_model::visible_at;
use super::operations::{implied, makes_available, makes_visible};
use super::relation::{EventSet, Relation};
use super::release_sequence::{self, Sequences};
use super::vulkan::{self, Revision, Variant};
use crate::event::{ClassSet, Scope};

/// The relations of a graph so far.
#[derive(Clone, Debug)]
pub struct Growing {
    variant: Variant,
    /// Number of events of the graph that are in the relations.
    len: usize,
    /// Number of events whose operations are in happens-before.
    ordered: usize,
    /// The graph with its implicit operations, once it has some.
    expanded: Option<Graph>,
    /// For each operation its event, for each event its operation; empty without implicit ones.
    event_of: Vec<EventId>,
    operation_of: Vec<EventId>,
    /// Synchronizes-with.
    synchronizes_with: Vec<(EventId, EventId)>,
    /// The release operations that an acquire operation at (or an acquire barrier after) an atomic read
    /// synchronizes with, and whether it heads the release sequence itself: (read, release, head).
    observed: Vec<(EventId, EventId, bool)>,
    /// The memory barriers among them.
    fences: Fences,
    /// The control barriers, by instance.
    barriers: Vec<Arc<[Arrival]>>,
    /// Per agent, whether something synchronizes with one of its events.
    synchronized: Vec<bool>,
    /// Some operation releases.
    releases: bool,
    /// All semantics that occur.
    semantics: SmallVec<[ClassSet; 4]>,
    /// Inter-thread-happens-before of each storage-class set; rows hold what comes before.
    inter_thread: SmallVec<[(ClassSet, Relation); 2]>,
    /// Happens-before over operations and its inverse.
    hb: Relation,
    happens_after: Relation,
    instances: Instances,
    /// Ascending by unit.
    locations: Vec<Arc<Coherence>>,
    race: Option<DataRace>,
}

/// An invocation's event at a control barrier, with the release barriers at or before it.
#[derive(Clone, Debug)]
struct Arrival {
    event: usize,
    execution: Scope,
    releases: SmallVec<[usize; 4]>,
}

impl Arrival {
    fn of(graph: &Graph, fences: &Fences, event: usize) -> Option<Self> {
        let Kind::Barrier { execution, .. } = graph.events[event].kind else { return None };
        Some(Arrival { event, execution, releases: vulkan::releases_up_to(graph, fences, event) })
    }
}

impl Growing {
    /// Those of the empty graph with the agents of `graph`.
    pub fn new(graph: &Graph, variant: Variant) -> Self {
        Growing {
            variant,
            len: 0,
            ordered: 0,
            expanded: None,
            event_of: Vec::new(),
            operation_of: Vec::new(),
            synchronizes_with: Vec::new(),
            observed: Vec::new(),
            fences: Fences::new(graph),
            barriers: Vec::new(),
            synchronized: vec![false; graph.agents.len()],
            releases: false,
            semantics: SmallVec::new(),
            inter_thread: SmallVec::new(),
            hb: Relation::default(),
            happens_after: Relation::default(),
            instances: Instances::new(graph),
            locations: Vec::new(),
            race: None,
        }
    }

    /// The same relations with memory of their own.
    pub fn unshared(&self) -> Self {
        let mut own = self.clone();
        own.expanded.iter_mut().for_each(Graph::unshare);
        own.barriers.iter_mut().for_each(|barrier| *barrier = barrier.iter().cloned().collect());
        own.locations.iter_mut().for_each(|location| *location = Arc::new(Coherence::clone(location)));
        own
    }

    /// Takes in the events that `graph` has more; false where it is none of the graphs that this is for.
    pub fn extend(&mut self, graph: &Graph) -> bool {
        if !graph.system_synchronizes_with.is_empty() {
            return false;
        }
        while self.len < graph.events.len() {
            let first = self.len;
            let Some(last) = batch_from(graph, first) else { return false };
            if graph.events[first..last].iter().any(|event| !is_plain(event)) {
                return false;
            }
            self.append(graph, last);
            for id in first..last {
                self.judge(graph, id);
            }
        }
        true
    }

    /// Whether it has all events of a graph.
    pub fn covers(&self, graph: &Graph) -> bool {
        self.len == graph.events.len()
    }

    /// Whether the graph so far is an execution.
    pub fn is_consistent(&mut self) -> bool {
        // Asking may settle an orientation, which is worth keeping.
        self.locations
            .iter_mut()
            .all(|location| location.is_settled() || Arc::make_mut(location).is_consistent())
    }

    /// The first data race among the events that were added.
    pub fn data_race(&self) -> Option<DataRace> {
        self.race
    }

    /// Adds the events up to `last`, with what happens before them. While nothing synchronizes, that is program
    /// order, and needs no relation.
    fn append(&mut self, graph: &Graph, last: usize) {
        let first_pair = self.synchronizes_with.len();
        (self.len..last).for_each(|id| self.fences.push(graph, id));
        if matches!(graph.events[self.len].kind, Kind::Barrier { .. }) {
            let arrivals = (self.len..last).filter_map(|id| Arrival::of(graph, &self.fences, id));
            self.barriers.push(arrivals.collect());
        }
        self.releases |= graph.events[self.len..last].iter().any(|event| event.releases());
        if self.releases {
            for id in self.len..last {
                self.synchronize(graph, id);
            }
        }
        self.len = last;
        if self.synchronizes_with.is_empty() {
            return;
        }
        let first = self.ordered;
        let first_operation = self.instances.len();
        for id in first..last {
            self.add_operations(graph, id);
        }
        self.ordered = last;
        let operations = self.instances.len();
        for relation in [&mut self.hb, &mut self.happens_after] {
            relation.grow(operations);
        }
        let new_sets = self.new_storage_class_sets(graph, first, first_pair);
        let expanded = self.expanded.as_ref().unwrap_or(graph);
        for (classes, relation) in &mut self.inter_thread {
            relation.grow(operations);
            let is_new = new_sets.contains(classes);
            let from = if is_new { 0 } else { first_operation };
            let pairs = &self.synchronizes_with[if is_new { 0 } else { first_pair }..];
            close_inter_thread(expanded, &self.operation_of, pairs, *classes, from, relation);
        }
        for b in first_operation..operations {
            let agent = expanded.events[b].agent;
            for a in (0..b).filter(|a| expanded.events[*a].agent == agent) {
                self.happens_after.insert(b, a);
            }
            for (_, relation) in &self.inter_thread {
                self.happens_after.unite_words(b, relation.words(b));
            }
            for a in self.happens_after.row(b) {
                self.hb.insert(a, b);
            }
        }
    }

    /// Adds an event, with its implicit operations.
    fn add_operations(&mut self, graph: &Graph, id: usize) {
        let event = &graph.events[id];
        let (available, visible) = (makes_available(event), makes_visible(event));
        if self.expanded.is_none() && (available || visible) {
            let events = graph.events[..id].to_vec();
            self.event_of = (0..id as EventId).collect();
            self.operation_of = self.event_of.clone();
            self.expanded = Some(Graph { events, agents: graph.agents.clone(), ..Graph::default() });
        }
        let Some(expanded) = &mut self.expanded else {
            self.instances.push(event);
            return;
        };
        if available {
            expanded.events.push(Arc::new(implied(event, Kind::Availability)));
        }
        self.operation_of.push(expanded.events.len() as EventId);
        expanded.events.push(event.clone());
        if visible {
            expanded.events.push(Arc::new(implied(event, Kind::Visibility)));
        }
        for operation in &expanded.events[self.event_of.len()..] {
            self.instances.push(operation);
            self.event_of.push(id as EventId);
        }
    }

    fn operation_of(&self, event: usize) -> usize {
        self.operation_of.get(event).map_or(event, |operation| *operation as usize)
    }

    /// Adds what synchronizes with an event.
    fn synchronize(&mut self, graph: &Graph, id: usize) {
        let event = &graph.events[id];
        let first = self.synchronizes_with.len();
        let mut add = |release: EventId| {
            if !self.synchronizes_with[first..].iter().any(|(known, _)| *known == release) {
                self.synchronizes_with.push((release, id as EventId));
            }
        };
        if event.atomic && event.reads() {
            for head in vulkan::observed_heads(graph, event, Sequences::ReadsFrom) {
                if !graph.mutually_ordered(head, id) {
                    continue;
                }
                for release in vulkan::releases_before(graph, &self.fences, head) {
                    let is_head = release == head;
                    self.observed.push((id as EventId, release as EventId, is_head));
                    if event.acquires()
                        && (is_head || graph.in_each_others_scope(&graph.events[release], event))
                    {
                        add(release as EventId);
                    }
                }
            }
        }
        if event.is_fence() && event.acquires() {
            for (read, release, _) in &self.observed {
                let read = &graph.events[*read as usize];
                if read.agent == event.agent
                    && event.semantics.contains(read.class)
                    && graph.in_each_others_scope(&graph.events[*release as usize], event)
                {
                    add(*release);
                }
            }
            let own = |arrival: &&Arrival| {
                let d = &graph.events[arrival.event];
                let covered = arrival.event != id && d.acquires() && vulkan::covers(d, event);
                d.agent == event.agent && !covered
            };
            for (instance, d) in self.barriers.iter().filter_map(|all| Some((all, all.iter().find(own)?))) {
                for c in instance.iter().filter(|c| c.event != d.event) {
                    let other = &graph.events[c.event];
                    if other.agent == event.agent
                        || !graph.in_scope_instance(other.agent, c.execution, event.agent)
                    {
                        continue;
                    }
                    for release in &c.releases {
                        if graph.in_each_others_scope(&graph.events[*release], event) {
                            add(*release as EventId);
                        }
                    }
                }
            }
        }
        if self.synchronizes_with.len() > first {
            self.synchronized[event.agent as usize] = true;
        }
    }

    /// Adds the storage-class sets that new events bring, and returns them.
    fn new_storage_class_sets(
        &mut self,
        graph: &Graph,
        first: usize,
        first_pair: usize,
    ) -> SmallVec<[ClassSet; 2]> {
        let mut found: SmallVec<[ClassSet; 2]> = SmallVec::new();
        let mut add = |sets: &mut SmallVec<[(ClassSet, Relation); 2]>, a: ClassSet, b: ClassSet| {
            let common = ClassSet(a.0 & b.0);
            if !common.is_empty() && !sets.iter().any(|(known, _)| *known == common) {
                sets.push((common, Relation::default()));
                found.push(common);
            }
        };
        let sets = &mut self.inter_thread;
        for (a, b) in &self.synchronizes_with[first_pair..] {
            add(sets, graph.events[*a as usize].semantics, graph.events[*b as usize].semantics);
        }
        for event in &graph.events[first..self.len] {
            if !self.semantics.contains(&event.semantics) {
                self.semantics.push(event.semantics);
            }
        }
        if sets.is_empty() {
            return found;
        }
        let mut next = 0;
        while let Some(set) = sets.get(next).map(|(set, _)| *set) {
            next += 1;
            for semantics in &self.semantics {
                add(sets, set, *semantics);
            }
        }
        found
    }

    /// Judges an access that was just added: coherence and races.
    fn judge(&mut self, graph: &Graph, id: usize) {
        let event = &graph.events[id];
        for unit in &event.units {
            let at = match self.locations.binary_search_by_key(unit, |location| location.unit) {
                Ok(at) => at,
                Err(at) => {
                    self.locations.insert(at, Arc::new(Coherence::new(*unit)));
                    at
                }
            };
            let before = self.ordered_before(graph, id, *unit, &self.locations[at].events);
            let location = Arc::make_mut(&mut self.locations[at]);
            let mut ordered = before.iter().peekable();
            for (index, other) in location.events.iter().enumerate() {
                if ordered.next_if(|next| **next == index).is_some() {
                    continue;
                }
                let earlier = &graph.events[*other as usize];
                if (earlier.writes() || event.writes()) && !graph.mutually_ordered(*other as usize, id) {
                    let race = DataRace { first: *other, second: id as EventId, unit: *unit };
                    self.race = Some(self.race.map_or(race, |known| known.min(race)));
                }
            }
            location.push(graph, id as EventId, &before, self.variant.revision);
        }
    }

    /// The indices of those of `events`, all of `unit`, that are location-ordered before an event whose
    /// operations are there.
    fn ordered_before(
        &self,
        graph: &Graph,
        id: usize,
        unit: Unit,
        events: &[EventId],
    ) -> SmallVec<[usize; 8]> {
        let event = &graph.events[id];
        if !self.synchronized[event.agent as usize] {
            // Only what its own agent did happens before it.
            let own = events.iter().enumerate();
            let own = own.filter(|(_, other)| follows_own(&graph.events[**other as usize], event));
            return own.map(|(index, _)| index).collect();
        }
        let operations: SmallVec<[EventId; 16]> =
            events.iter().map(|event| self.operation_of(*event as usize) as EventId).collect();
        let expanded = self.expanded.as_ref().unwrap_or(graph);
        let orderer = LocationOrderer::new(expanded, &self.hb, None, &self.instances, self.variant);
        orderer.ordered_before(self.operation_of(id), unit, &operations)
    }

    /// Per unit of a plain read that `graph` ends with, and that the relations do not have yet, what it may
    /// see: what is visible to it and the writes that it races with. `None` where the graph is none of those
    /// that this is for.
    pub fn visible_sources(&self, graph: &Graph) -> Option<Vec<Vec<Source>>> {
        let id = graph.events.len() - 1;
        let mut preview = self.clone();
        if preview.len != id {
            let earlier = Graph {
                events: graph.events[..id].to_vec(),
                agents: graph.agents.clone(),
                ..Graph::default()
            };
            if !graph.system_synchronizes_with.is_empty() || !preview.extend(&earlier) {
                return None;
            }
        }
        preview.append(graph, id + 1);
        let visible = |unit: &Unit| {
            let Ok(at) = preview.locations.binary_search_by_key(unit, |location| location.unit) else {
                return vec![Source::Initial];
            };
            let location = &preview.locations[at];
            let before = preview.ordered_before(graph, id, *unit, &location.events);
            visible_at(graph, &location.events, &location.location_ordered, |index| before.contains(&index))
        };
        Some(graph.events[id].units.iter().map(visible).collect())
    }

    /// What the relations tell beforehand about where the next event of an agent, with the accesses that
    /// `event` has, may read `unit` from.
    pub fn admission<'a>(&'a self, graph: &'a Graph, event: &'a Event, unit: Unit) -> Admission<'a> {
        let at = self.locations.binary_search_by_key(&unit, |location| location.unit);
        let location = at.ok().map(|at| self.locations[at].as_ref());
        let events = location.map_or(&[][..], |location| &location.events).iter().enumerate();
        let own = events
            .filter(|(_, other)| follows_own(&graph.events[**other as usize], event))
            .map(|(index, _)| index)
            .collect();
        Admission { graph, event, location, own, revision: self.variant.revision }
    }

    /// Writes to a unit that an invocation that keeps reading will see in the end, as
    /// [`Judge::latest_writes`](super::consistency::Judge::latest_writes).
    pub fn latest_writes(&self, unit: Unit) -> Vec<EventId> {
        let Ok(at) = self.locations.binary_search_by_key(&unit, |location| location.unit) else {
            return Vec::new();
        };
        let location = &self.locations[at];
        location.last_writes().map(|index| location.events[index]).collect()
    }

    pub(super) fn locations(&self) -> impl Iterator<Item = &Coherence> {
        self.locations.iter().map(Arc::as_ref)
    }

    pub(super) fn location(&self, unit: Unit) -> Option<&Coherence> {
        let at = self.locations.binary_search_by_key(&unit, |location| location.unit).ok()?;
        Some(&self.locations[at])
    }

    /// The release operations that an acquire operation at (or an acquire barrier after) an atomic read may synchronize
    /// with: (read, release).
    pub(super) fn observed(&self) -> impl Iterator<Item = (EventId, EventId)> + '_ {
        self.observed.iter().map(|(read, release, _)| (*read, *release))
    }

    /// The release operations that a read of a write may synchronize with.
    pub(super) fn releases_of(&self, graph: &Graph, write: EventId) -> SmallVec<[usize; 8]> {
        let heads = release_sequence::heads(graph, write, Sequences::ReadsFrom);
        let releases = |head: EventId| vulkan::releases_before(graph, &self.fences, head as usize);
        heads.into_iter().flat_map(releases).collect()
    }

    /// Adds the events that happen before an event.
    pub(super) fn happening_before(&self, graph: &Graph, event: usize, into: &mut EventSet) {
        let agent = graph.events[event].agent;
        let synchronized = !self.synchronizes_with.is_empty();
        let operation = self.operation_of(event);
        for earlier in 0..graph.events.len() {
            let is_own = earlier < event && graph.events[earlier].agent == agent;
            if is_own || synchronized && self.happens_after.contains(operation, self.operation_of(earlier)) {
                into.insert(earlier);
            }
        }
    }

    /// Whether any two writes to a unit are ordered.
    pub fn writes_are_ordered(&self, unit: Unit) -> bool {
        let at = self.locations.binary_search_by_key(&unit, |location| location.unit);
        at.map_or(true, |at| self.locations[at].writes_are_ordered())
    }

    /// What a host read after the dispatch may see, as
    /// [`Judge::final_values`](super::consistency::Judge::final_values).
    pub fn final_values(&self, graph: &Graph, observed: &dyn Fn(Unit) -> bool) -> Vec<FinalValues> {
        let written = |location: &&Arc<Coherence>| location.is_written() && observed(location.unit);
        let finals = |location: &Arc<Coherence>| {
            let mut values: SmallVec<[&UnitBytes; 4]> = SmallVec::new();
            let mut last_writes = SmallVec::new();
            for index in location.last_writes() {
                let write = location.events[index];
                let Some(left) = graph.events[write as usize].written_to(location.unit) else { continue };
                if !values.contains(&left) {
                    values.push(left);
                    last_writes.push(LastWrites::from_slice(&[write]));
                }
            }
            FinalValues { units: SmallVec::from_slice(&[location.unit]), last_writes }
        };
        self.locations.iter().filter(written).map(finals).collect()
    }
}

/// Where a read may take the value of a unit from, as far as that is known before it has one.
pub struct Admission<'a> {
    graph: &'a Graph,
    event: &'a Event,
    location: Option<&'a Coherence>,
    /// The accesses of its own agent that are location-ordered before it, by index.
    own: SmallVec<[usize; 8]>,
    revision: Revision,
}

impl Admission<'_> {
    /// Whether it may read from `source`, which may be a write that the relations do not have yet.
    pub fn admits(&self, source: Source) -> bool {
        self.location.is_none_or(|location| location.admits(&self.own, source, self.revision))
    }

    /// Writes that it may not read from if it writes, too: other read-modify-writes did, and are ordered with it.
    pub fn taken(&self) -> FxHashSet<Source> {
        let Some(location) = self.location else { return FxHashSet::default() };
        let updates = location.events.iter().map(|event| &self.graph.events[*event as usize]);
        let ordered = updates
            .filter(|other| other.kind == Kind::Update && self.graph.order_mutually(other, self.event));
        ordered.filter_map(|update| update.source(location.unit)).collect()
    }

    /// Whether it may, if it writes, too: two read-modify-writes never read from the same write.
    pub fn admits_update(&self, source: Source) -> bool {
        let excludes = |read: EventId| {
            let read = &self.graph.events[read as usize];
            read.kind == Kind::Update && self.graph.order_mutually(read, self.event)
        };
        self.location.is_none_or(|location| !location.readers_of(source).any(excludes))
    }
}

/// Whether an earlier access of an event's own agent is location-ordered before it: where they go through one
/// reference, or both are non-private and the earlier one reads.
fn follows_own(earlier: &Event, event: &Event) -> bool {
    earlier.agent == event.agent
        && (earlier.reference == event.reference
            || earlier.reads() && earlier.non_private && event.non_private)
}

/// Whether the relations of a graph with such an event are settled as it grows.
fn is_plain(event: &Event) -> bool {
    let is_wide = event.atomic && event.units.len() > 1;
    let is_device = matches!(event.kind, Kind::DeviceAvailability | Kind::DeviceVisibility);
    !is_wide && !is_device && !event.sources.contains(&Source::Pending)
}

/// The end of the events that must be added together with the event `first`: those of one control barrier.
/// `None` where the instance has others, elsewhere in the graph.
fn batch_from(graph: &Graph, first: usize) -> Option<usize> {
    let instance = |event: &Event| match event.kind {
        Kind::Barrier { instance, .. } => Some(instance),
        _ => None,
    };
    let Some(own) = instance(&graph.events[first]) else { return Some(first + 1) };
    let is_own = |event: &&Arc<Event>| instance(event) == Some(own);
    let count = graph.events[first..].iter().take_while(is_own).count();
    (graph.events.iter().filter(is_own).count() == count).then_some(first + count)
}

/// Computes the rows of the operations from `first` on of inter-thread-happens-before for `classes`.
fn close_inter_thread(
    expanded: &Graph,
    operation_of: &[EventId],
    pairs: &[(EventId, EventId)],
    classes: ClassSet,
    first: usize,
    relation: &mut Relation,
) {
    let events = &expanded.events;
    let operation = |event: EventId| operation_of.get(event as usize).map_or(event, |own| *own) as usize;
    let has_all = |id: usize| events[id].semantics.contains(classes);
    let mut steps: SmallVec<[(usize, usize); 32]> = SmallVec::new();
    for (a, b) in pairs {
        let (a, b) = (operation(*a), operation(*b));
        if has_all(a) && has_all(b) {
            steps.push((a, b));
        }
    }
    for b in first..relation.len() {
        let event = &events[b];
        let ordered = vulkan::is_ordered_by(event, classes);
        let releases = event.releases() && has_all(b);
        if !ordered && !releases {
            continue;
        }
        for (a, earlier) in events[..b].iter().enumerate() {
            if earlier.agent == event.agent
                && vulkan::is_ordered_by(earlier, classes)
                && (releases || ordered && earlier.acquires() && has_all(a))
            {
                steps.push((a, b));
            }
        }
    }
    // In order of the operations, once is enough, except where control barriers synchronize both ways.
    steps.sort_unstable_by_key(|(a, b)| (*b, *a));
    loop {
        let mut changed = false;
        for (a, b) in &steps {
            changed |= relation.absorb(*b, *a);
        }
        if !changed {
            return;
        }
    }
}

mod dynamic;

#[cfg(test)]
mod tests;
