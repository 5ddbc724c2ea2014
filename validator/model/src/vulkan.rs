//! The Vulkan memory model: the relations of the specification's appendix, each under its name.
//!
//! Implements the appendix "Memory Model" of the Vulkan specification, revisions 2024 and 2025,
//! for device agents (shader invocations) plus system-synchronizes-with edges and device-domain
//! operations. Location order, reads-from and from-reads are per memory unit, a unit being bytes
//! that no access splits. Neither more nor fewer behaviours than the text allows, except: later
//! elements of an availability (visibility) chain must include the reference's storage class or the
//! reference itself; the text only says so of the operation as such (docs/semantics.md, section 7.4).
//! Rule by rule: docs/model.md.

use std::sync::Arc;

use smallvec::SmallVec;

use super::consistency::{self, Judge};
use super::explain::{self, Explainer, Explanation, Names, Telling, Violation};
use super::fences::Fences;
use super::graph::{Event, EventId, Graph, Kind, Source, Unit};
use super::growing::Growing;
use super::location_order::{Instances, LocationOrderer};
use super::memory_model::{DataRace, Extent, FinalValues, GrowingRelations, MemoryModel, Model, Parameter};
use super::operations::Operations;
use super::relation::{EventSet, Relation};
use super::release_sequence::{self, Sequences};
use crate::event::{ClassSet, Scope};

pub use super::memory_model::{Location, Relations};

/// Revision of the model's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Revision {
    /// From-reads follows scoped modification order only.
    R2024,
    /// From-reads follows scoped modification order or location order.
    #[default]
    R2025,
}

impl Revision {
    /// Its name in reports and for `--revision`.
    pub const fn name(self) -> &'static str {
        match self {
            Revision::R2024 => "2024",
            Revision::R2025 => "2025",
        }
    }

    /// Whether from-reads follows location order, too.
    pub const fn from_reads_by_location_order(self) -> bool {
        match self {
            Revision::R2024 => false,
            Revision::R2025 => true,
        }
    }
}

/// The model's variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The revision of the text.
    pub revision: Revision,
    /// Availability and visibility chains of more than one element (a device feature).
    pub chains: bool,
}

impl Default for Variant {
    fn default() -> Self {
        Variant { revision: Revision::R2025, chains: true }
    }
}

impl From<Variant> for Model {
    fn from(variant: Variant) -> Model {
        Model::new(variant)
    }
}

impl Variant {
    fn judge<'a>(&self, graph: &'a Graph, relations: &'a Relations) -> Judge<'a> {
        Judge { graph, relations, variant: *self }
    }
}

impl MemoryModel for Variant {
    fn name(&self) -> &'static str {
        "vulkan"
    }

    fn title(&self) -> String {
        let chains = if self.chains { "" } else { ", without chains" };
        format!("Vulkan memory model, revision {}{chains}", self.revision.name())
    }

    fn parameters(&self) -> Vec<(&'static str, Parameter)> {
        let revision = Parameter::Text(self.revision.name().to_owned());
        vec![("revision", revision), ("chains", Parameter::Flag(self.chains))]
    }

    fn permits_load_buffering(&self) -> bool {
        true
    }

    fn is_local(&self) -> bool {
        true
    }

    fn depends_on_order(&self, graph: &Graph) -> bool {
        release_sequence::depend_on_order(graph)
    }

    fn depends_for_later_reads(&self, graph: &Graph) -> bool {
        release_sequence::depend_on_plain_sources(graph)
    }

    fn relations(&self, graph: &Graph, extent: Extent) -> Relations {
        let sequences = match extent {
            Extent::Complete => Sequences::ReadsFrom,
            Extent::Beginning => Sequences::Certain,
        };
        relations_with(graph, *self, sequences)
    }

    fn relations_in_time(&self, graph: &Graph, is_over: &dyn Fn() -> bool) -> Option<Relations> {
        relations_until(graph, *self, Sequences::ReadsFrom, is_over)
    }

    fn is_consistent(&self, graph: &Graph, relations: &Relations) -> bool {
        self.judge(graph, relations).is_consistent()
    }

    fn data_races(&self, graph: &Graph, relations: &Relations) -> Vec<DataRace> {
        self.judge(graph, relations).data_races()
    }

    fn executions(&self, graph: &Graph) -> Option<Vec<Relations>> {
        consistency::executions(graph, *self)
    }

    fn final_values(
        &self,
        graph: &Graph,
        relations: &Relations,
        observed: &dyn Fn(Unit) -> bool,
    ) -> Vec<FinalValues> {
        self.judge(graph, relations).final_values(observed)
    }

    fn latest_writes(&self, graph: &Graph, relations: &Relations, unit: Unit) -> Vec<EventId> {
        self.judge(graph, relations).latest_writes(unit)
    }

    fn growing(&self, graph: &Graph) -> Option<Arc<dyn GrowingRelations>> {
        Some(Arc::new(Growing::new(graph, *self)))
    }

    fn release_sequence_members(&self, graph: &Graph, modification_order: Option<&Relation>) -> usize {
        release_sequence::count_members(graph, Sequences::of(modification_order))
    }

    fn without_chains(&self) -> Option<Model> {
        self.chains.then(|| Variant { chains: false, ..*self }.into())
    }

    fn orders_by_barriers(&self) -> bool {
        true
    }

    fn kind_name(&self, event: &Event) -> &'static str {
        explain::kind_name(event)
    }

    fn plain_name(&self, event: &Event) -> &'static str {
        if event.non_private {
            "NonPrivate"
        } else {
            // Not to be taken for the storage class Private.
            "private (not NonPrivate)"
        }
    }

    fn lacks(&self, event: &Event, other: &Event, names: &dyn Names) -> Vec<String> {
        explain::vulkan::lacks(event, other, names)
    }

    fn reads_before(&self, graph: &Graph, relations: &Relations) -> Vec<(usize, usize)> {
        explain::from_reads(graph, relations, self.revision.from_reads_by_location_order())
    }

    fn violation(&self, graph: &Graph, relations: &Relations) -> Option<Violation> {
        explain::vulkan::violation(&self.judge(graph, relations))
    }

    fn forbidden(&self, graph: &Graph, names: &dyn Names) -> Option<Explanation> {
        explain::vulkan::forbidden(graph, *self, names)
    }

    fn race(&self, graph: &Graph, race: DataRace, names: &dyn Names) -> Explanation {
        explain::vulkan::race(graph, race, *self, names)
    }

    fn explainer<'a>(
        &'a self,
        graph: &'a Graph,
        relations: &'a Relations,
        telling: Telling<'a>,
    ) -> Box<dyn Explainer + 'a> {
        Box::new(explain::vulkan::Vulkan::new(graph, relations, *self, telling))
    }
}

/// Derives the relations of `graph`. Where they depend on scoped modification order
/// ([`release_sequence::depend_on_order`]), release sequences are those of the reads-from edges.
pub fn relations(graph: &Graph, variant: Variant) -> Relations {
    relations_with(graph, variant, Sequences::ReadsFrom)
}

/// Derives the relations of `graph`, with release sequences told in a given way.
pub fn relations_with(graph: &Graph, variant: Variant, sequences: Sequences) -> Relations {
    // Without an end of time they are always derived.
    relations_until(graph, variant, sequences, &|| false).unwrap_or_default()
}

/// The same, or `None` where that is not done when time is over.
fn relations_until(
    graph: &Graph,
    variant: Variant,
    sequences: Sequences,
    is_over: &dyn Fn() -> bool,
) -> Option<Relations> {
    let synchronizes_with = synchronizes_with(graph, sequences);
    let operations = Operations::of(graph);
    let happens_before = happens_before(&operations.graph, &operations.expand(&synchronizes_with));
    if is_over() {
        return None;
    }
    let ssw = system_synchronizes_with(&operations.graph);
    let instances = Instances::of(&operations.graph);
    let orderer = LocationOrderer::new(&operations.graph, &happens_before, Some(&ssw), &instances, variant);
    let mut locations = orderer.locations(is_over)?;
    let events = locations.iter_mut().flat_map(|location| &mut location.events);
    events.for_each(|event| *event = operations.event_of[*event as usize]);
    let happens_before = operations.project(happens_before);
    let modification_order = match sequences {
        Sequences::Ordered(order) => Some(order.clone()),
        Sequences::ReadsFrom | Sequences::Certain => None,
    };
    Some(Relations { synchronizes_with, happens_before, locations, modification_order })
}

/// System-synchronizes-with, transitively.
pub fn system_synchronizes_with(graph: &Graph) -> Relation {
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
    let fences = Fences::of(graph);
    for (y, read) in events.iter().enumerate() {
        if !(read.atomic && read.reads()) {
            continue;
        }
        for x in observed_heads(graph, read, sequences) {
            if graph.mutually_ordered(x, y) {
                synchronize_through(graph, &fences, (x, y), &mut relation);
            }
        }
    }
    synchronize_through_barriers(graph, &fences, &mut relation);
    relation
}

/// The heads of all release sequences that an atomic read takes a value from.
pub(super) fn observed_heads(graph: &Graph, read: &Event, sequences: Sequences) -> SmallVec<[usize; 4]> {
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
fn synchronize_through(graph: &Graph, fences: &Fences, (x, y): (usize, usize), relation: &mut Relation) {
    let events = &graph.events;
    let read = &events[y];
    let releases = releases_before(graph, fences, x);
    let behind = fences.of_agent(read.agent).take_while(|b| *b > y);
    let acquire_barriers = behind.filter(|b| {
        let b = &events[*b];
        b.acquires() && b.semantics.contains(read.class)
    });
    let mut acquires: SmallVec<[usize; 8]> = acquire_barriers.collect();
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

/// The release barriers before atomic write `x` that are about its storage class, and itself if it releases.
pub(super) fn releases_before(graph: &Graph, fences: &Fences, x: usize) -> SmallVec<[usize; 8]> {
    let write = &graph.events[x];
    let before = fences.of_agent(write.agent).skip_while(|a| *a >= x);
    let release_barriers = before.filter(|a| {
        let a = &graph.events[*a];
        a.releases() && a.semantics.contains(write.class)
    });
    let mut releases: SmallVec<[usize; 8]> = release_barriers.collect();
    releases.reverse();
    if write.releases() {
        releases.push(x);
    }
    releases
}

/// Release barrier, control barrier, acquire barrier.
fn synchronize_through_barriers(graph: &Graph, fences: &Fences, relation: &mut Relation) {
    let events = &graph.events;
    let mut barriers: Vec<(u32, usize, Scope)> = Vec::new();
    for (id, event) in events.iter().enumerate() {
        if let Kind::Barrier { instance, execution } = event.kind {
            barriers.push((instance, id, execution));
        }
    }
    barriers.sort_unstable_by_key(|(instance, id, _)| (*instance, *id));
    for group in barriers.chunk_by(|a, b| a.0 == b.0) {
        let sides = group
            .iter()
            .map(|(_, id, _)| (releases_up_to(graph, fences, *id), acquires_from(graph, fences, *id)));
        let sides: Vec<_> = sides.collect();
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
pub(super) fn releases_up_to(graph: &Graph, fences: &Fences, barrier: usize) -> SmallVec<[usize; 4]> {
    let c = &graph.events[barrier];
    let candidates = fences.of_agent(c.agent).skip_while(|id| *id > barrier).filter(|id| {
        let a = &graph.events[*id];
        let covered = *id != barrier && c.releases() && covers(c, a);
        a.releases() && !covered
    });
    let mut releases: SmallVec<[usize; 4]> = candidates.collect();
    releases.reverse();
    releases
}

/// Acquire barriers at or after a control barrier; see [`releases_up_to`].
fn acquires_from(graph: &Graph, fences: &Fences, barrier: usize) -> SmallVec<[usize; 4]> {
    let c = &graph.events[barrier];
    let candidates = fences.of_agent(c.agent).take_while(|id| *id >= barrier).filter(|id| {
        let b = &graph.events[*id];
        let covered = *id != barrier && c.acquires() && covers(c, b);
        b.acquires() && !covered
    });
    candidates.collect()
}

/// Whether the barrier orders all that the other one does, for at least as many invocations.
pub(super) fn covers(barrier: &Event, other: &Event) -> bool {
    barrier.scope >= other.scope && barrier.semantics.contains(other.semantics)
}

/// The storage-class sets SC that inter-thread-happens-before must be computed for. All conditions on
/// semantics ask for those that have all of SC, so of the sets with the same operations the largest is
/// enough: what semantics have in common, of operations that synchronize and of any others.
pub fn storage_class_sets(graph: &Graph, sw: &Relation) -> SmallVec<[ClassSet; 8]> {
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
pub fn events_of_agents(graph: &Graph) -> Vec<EventSet> {
    let mut agents = vec![EventSet::new(graph.events.len()); graph.agents.len()];
    for (id, event) in graph.events.iter().enumerate() {
        agents[event.agent as usize].insert(id);
    }
    agents
}

/// Inter-thread-happens-before for the storage-class set `classes`, without its last bullet: the
/// relation itself is the transitive closure.
pub fn inter_thread_steps(graph: &Graph, sw: &Relation, agents: &[EventSet], classes: ClassSet) -> Relation {
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
pub(super) fn is_ordered_by(event: &Event, classes: ClassSet) -> bool {
    event.operates_on_memory() && classes.intersects(event.class) || event.semantics.contains(classes)
}

/// Happens-before: program order, or inter-thread-happens-before for some storage-class set.
/// Not transitive.
pub fn happens_before(graph: &Graph, sw: &Relation) -> Relation {
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
