//! What a memory model says of execution graphs: the only thing that searches, explanations and reports know
//! of one. `docs/model.md` ("Another model") says what a new model implements.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::explain::{self, Explainer, Explanation, Names, Plain, Telling, Violation};
use super::future::{Future, Onlookers};
use super::graph::{Event, EventId, Graph, Source, Unit};
use super::relation::Relation;
use super::vulkan::Variant;

/// A memory model.
pub trait MemoryModel: fmt::Debug + Send + Sync {
    /// Its name in reports and choices.
    fn name(&self) -> &'static str;

    /// The same for people, with what distinguishes the variant.
    fn title(&self) -> String;

    /// What distinguishes the variant, as reports list it behind the name.
    fn parameters(&self) -> Vec<(&'static str, Parameter)> {
        Vec::new()
    }

    /// Whether program order and reads-from may form a cycle. Where they may not, no read speculates. Where they may,
    /// searches take for granted that a release whose write an acquire of the same location reads synchronizes with it,
    /// and that no such cycle goes through one location alone.
    fn permits_load_buffering(&self) -> bool;

    /// Whether every axiom is about one location, once happens-before is known. Then accesses of different
    /// locations, and reads of different agents, restrict each other by happens-before alone, and searches may
    /// combine what they found of them.
    fn is_local(&self) -> bool;

    /// Whether accesses of memory that one invocation alone touches, or that nobody writes, restrict executions. Then
    /// they are events, unless the memory is read-only; else searches leave them out.
    fn depends_on_unshared(&self) -> bool {
        false
    }

    /// Whether a control barrier of a whole workgroup orders the accesses before it before those behind it, where it
    /// acquires and releases their storage class, and it or they make the accesses available and visible. Then searches
    /// leave out what such barriers order.
    fn orders_by_barriers(&self) -> bool {
        false
    }

    /// Whether what [`MemoryModel::relations`] derives from this graph depends on how its writes are ordered.
    /// Then [`MemoryModel::executions`] may give several relations for it.
    fn depends_on_order(&self, _graph: &Graph) -> bool {
        false
    }

    /// Whether nothing but what a later read may synchronize with depends on that order: the growing relations hold for every
    /// order, and where they make the graph no execution, none does.
    fn depends_for_later_reads(&self, _graph: &Graph) -> bool {
        false
    }

    /// The relations of a graph.
    fn relations(&self, graph: &Graph, extent: Extent) -> Relations;

    /// The relations of a complete graph; `None` where they are not derived when time is over.
    fn relations_in_time(&self, graph: &Graph, is_over: &dyn Fn() -> bool) -> Option<Relations> {
        let relations = self.relations(graph, Extent::Complete);
        (!is_over()).then_some(relations)
    }

    /// Whether these relations satisfy the axioms, for some order of writes.
    fn is_consistent(&self, graph: &Graph, relations: &Relations) -> bool;

    /// All data races, ascending.
    fn data_races(&self, graph: &Graph, relations: &Relations) -> Vec<DataRace>;

    /// The relations of a complete graph, one for every order of writes that they depend on and that makes it an
    /// execution; none where it is no execution. `None` where there are too many.
    fn executions(&self, graph: &Graph) -> Option<Vec<Relations>> {
        let relations = self.relations(graph, Extent::Complete);
        Some(if self.is_consistent(graph, &relations) { vec![relations] } else { Vec::new() })
    }

    /// What a read of the host may see after the dispatch, of the units that somebody observes. Units of one entry
    /// depend on each other; those of different entries do not.
    fn final_values(
        &self,
        graph: &Graph,
        relations: &Relations,
        observed: &dyn Fn(Unit) -> bool,
    ) -> Vec<FinalValues>;

    /// The writes to a unit that an invocation that keeps reading sees in the end.
    fn latest_writes(&self, graph: &Graph, relations: &Relations, unit: Unit) -> Vec<EventId>;

    /// The relations of the empty graph with these agents, as they grow with it. `None`: every graph is judged as
    /// a whole.
    fn growing(&self, _graph: &Graph) -> Option<Arc<dyn GrowingRelations>> {
        None
    }

    /// Number of pairs of a release operation and a member of its release sequence.
    fn release_sequence_members(&self, _graph: &Graph, _modification_order: Option<&Relation>) -> usize {
        0
    }

    /// The model without availability and visibility chains of several elements, where it has these.
    fn without_chains(&self) -> Option<Model> {
        None
    }

    /// What an event is, in few words.
    fn kind_name(&self, event: &Event) -> &'static str {
        explain::ordered_kind_name(event)
    }

    /// What reports call an access that is not atomic.
    fn plain_name(&self, _event: &Event) -> &'static str {
        "plain"
    }

    /// What `event` has that orders it, and its match in another module, `other`, does not; as predicates of `other`.
    fn lacks(&self, event: &Event, other: &Event, _names: &dyn Names) -> Vec<String> {
        explain::other_order(event, other).into_iter().collect()
    }

    /// From-reads: pairs of a read and a write that comes behind what it reads, ascending, as far as these relations order the writes.
    fn reads_before(&self, graph: &Graph, relations: &Relations) -> Vec<(usize, usize)> {
        explain::from_reads(graph, relations, true)
    }

    /// The axiom that a graph violates, with a cycle that shows it. `None` if it violates none.
    fn violation(&self, graph: &Graph, relations: &Relations) -> Option<Violation>;

    /// Why the axioms allow no execution with this graph; `None` if they do.
    fn forbidden(&self, graph: &Graph, names: &dyn Names) -> Option<Explanation> {
        let relations = self.relations(graph, Extent::Complete);
        let violation = self.violation(graph, &relations)?;
        let (long, short) = explain::tellers(graph, names);
        Some(explain::violated(&violation, &Telling { long: &long, short: &short, names }))
    }

    /// Why two accesses race, and what would order them. The same for every graph.
    fn race(&self, graph: &Graph, race: DataRace, names: &dyn Names) -> Explanation {
        explain::unordered(graph, race, names)
    }

    /// Explains the orderings of one graph.
    fn explainer<'a>(
        &'a self,
        graph: &'a Graph,
        relations: &'a Relations,
        telling: Telling<'a>,
    ) -> Box<dyn Explainer + 'a> {
        Box::new(Plain { model: self, graph, relations, telling })
    }
}

/// How much of an execution a graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it, or as if no later write mattered.
    Complete,
    /// Its beginning: only what no later write can take away is derived.
    Beginning,
}

/// What distinguishes a variant of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A choice among named ones; an option of the same name takes it.
    Text(String),
    /// A part of the model that is there or not; an option `--no-NAME` removes it.
    Flag(bool),
}

/// What a model derives from a graph.
#[derive(Clone, Debug, Default)]
pub struct Relations {
    /// "Synchronizes-With", over the events of the graph.
    pub synchronizes_with: Relation,
    /// "Happens-Before", over the events of the graph. It need not be transitive.
    pub happens_before: Relation,
    /// One entry for every unit that some event accesses, ascending by unit.
    pub locations: Vec<Location>,
    /// The part of the order of writes that these relations rest on.
    pub modification_order: Option<Relation>,
}

/// The accesses of one unit and their order.
#[derive(Clone, Debug)]
pub struct Location {
    /// The unit.
    pub unit: Unit,
    /// Events that access the unit, ascending.
    pub events: Vec<EventId>,
    /// How the relations order them, over indices into `events`.
    pub location_ordered: Relation,
}

impl Location {
    /// Where an event stands among those of the location.
    pub fn index(&self, event: usize) -> Option<usize> {
        self.events.binary_search(&(event as EventId)).ok()
    }
}

impl Relations {
    /// The accesses of a unit.
    pub fn location(&self, unit: Unit) -> Option<&Location> {
        self.locations.iter().find(|location| location.unit == unit)
    }

    /// The units at which `a` is ordered before `b`.
    pub fn ordered_units(&self, a: usize, b: usize) -> impl Iterator<Item = Unit> + '_ {
        self.locations.iter().filter_map(move |location| match (location.index(a), location.index(b)) {
            (Some(i), Some(j)) if location.location_ordered.contains(i, j) => Some(location.unit),
            _ => None,
        })
    }
}

/// What a plain read of one location may see, given its other accesses with location-ordered among them, and
/// which of these are before the read.
pub fn visible_at(
    graph: &Graph,
    events: &[EventId],
    location_ordered: &Relation,
    before: impl Fn(usize) -> bool,
) -> Vec<Source> {
    let writes = |index: usize| graph.events[events[index] as usize].writes();
    let is_before = |index: usize| index < events.len() && writes(index) && before(index);
    let shadowed = |index: usize| location_ordered.row(index).any(is_before);
    let is_seen = |index: &usize| writes(*index) && !(is_before(*index) && shadowed(*index));
    let initial = (!(0..events.len()).any(is_before)).then_some(Source::Initial);
    let seen = (0..events.len()).filter(is_seen).map(|index| Source::Event(events[index]));
    initial.into_iter().chain(seen).collect()
}

/// A data race: two accesses of one unit that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataRace {
    /// The access that comes first in the graph.
    pub first: EventId,
    /// The access that comes later in the graph; neither is ordered before the other.
    pub second: EventId,
    /// The unit that both access, and that at least one of them writes.
    pub unit: Unit,
}

/// Units whose last writes depend on each other, and the choices of last writes (one a unit)
/// that are consistent, distinct by the values that they leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalValues {
    /// The units, ascending: more than one where an atomic write spans several.
    pub units: SmallVec<[Unit; 2]>,
    /// Every way in which the units may be left: for each unit the write that is last.
    pub last_writes: SmallVec<[LastWrites; 1]>,
}

/// One write a unit.
pub type LastWrites = SmallVec<[EventId; 2]>;

/// The relations of a graph that grows at its end, kept from one event to the next.
pub trait GrowingRelations: fmt::Debug + Send + Sync {
    /// Takes in the events that `graph` has more; false where it is none of the graphs that this is for.
    fn extend(&mut self, graph: &Graph) -> bool;

    /// Whether it has all events of a graph.
    fn covers(&self, graph: &Graph) -> bool;

    /// Whether the graph so far is an execution.
    fn is_consistent(&mut self) -> bool;

    /// The first data race among the events that were added.
    fn data_race(&self) -> Option<DataRace>;

    /// Per unit of a plain read that `graph` ends with, and that the relations do not have yet, what it may see:
    /// what is visible to it and the writes that it races with. `None` where the graph is none of those that this
    /// is for.
    fn visible_sources(&self, graph: &Graph) -> Option<Vec<Vec<Source>>>;

    /// What is known beforehand about where the next event of an agent, with the accesses that `event` has, may
    /// read `unit` from.
    fn admission<'a>(&'a self, graph: &'a Graph, event: &'a Event, unit: Unit) -> Box<dyn Admission + 'a>;

    /// As [`MemoryModel::latest_writes`].
    fn latest_writes(&self, unit: Unit) -> Vec<EventId>;

    /// Whether any two writes to a unit are ordered.
    fn writes_are_ordered(&self, unit: Unit) -> bool;

    /// As [`MemoryModel::final_values`].
    fn final_values(&self, graph: &Graph, observed: &dyn Fn(Unit) -> bool) -> Vec<FinalValues>;

    /// What the future of a graph, whose events it has, depends on: graphs with the same have the same. `None`:
    /// not known, so that its state is never merged with another.
    fn future(&self, _graph: &Graph, _onlookers: &Onlookers) -> Option<Future> {
        None
    }

    /// A copy that shares memory with this one.
    fn copied(&self) -> Arc<dyn GrowingRelations>;

    /// A copy with memory of its own.
    fn unshared(&self) -> Arc<dyn GrowingRelations>;
}

/// Growing relations that nobody else sees: a copy, where they are shared.
pub fn own(relations: &mut Arc<dyn GrowingRelations>) -> &mut dyn GrowingRelations {
    if Arc::get_mut(relations).is_none() {
        *relations = relations.copied();
    }
    Arc::get_mut(relations).expect("a copy has one owner")
}

/// Where a read may take the value of a unit from, as far as that is known before it has one.
pub trait Admission {
    /// Whether it may read from `source`, which may be a write that the relations do not have yet.
    fn admits(&self, source: Source) -> bool;

    /// Writes that it may not read from if it writes, too.
    fn taken(&self) -> rustc_hash::FxHashSet<Source>;

    /// Whether it may, if it writes, too.
    fn admits_update(&self, source: Source) -> bool;
}

/// A memory model that is shared. Two are equal if they have the same name and parameters.
#[derive(Clone, Debug)]
pub struct Model(Arc<Box<dyn MemoryModel>>);

impl Model {
    /// Shares a model.
    pub fn new(model: impl MemoryModel + 'static) -> Model {
        Model(Arc::new(Box::new(model)))
    }
}

impl Deref for Model {
    type Target = dyn MemoryModel;

    fn deref(&self) -> &Self::Target {
        &**self.0
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.name() == other.name() && self.parameters() == other.parameters()
    }
}

impl Eq for Model {}

/// The Vulkan model.
impl Default for Model {
    fn default() -> Model {
        static VULKAN: OnceLock<Model> = OnceLock::new();
        VULKAN.get_or_init(|| Model::new(Variant::default())).clone()
    }
}
