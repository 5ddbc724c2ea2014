//! Executions as witnesses of what a search found, and their events in the field's words.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::behaviour::ALLOCATION;
use crate::event::Order;
use crate::ir::Line;
use crate::model::graph::{Event, EventId, Graph, Kind, Source, UnitBytes};
use crate::model::memory_model::{Extent, MemoryModel, Model, Relations};
use crate::model::relation::Relation;
use crate::value::Byte;

/// One execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// Executions with the outcome that this one is the first of.
    pub executions: u64,
    /// What happens in it.
    pub execution: Execution,
    /// For each unit of the graph, its memory (of the dispatch) and first byte.
    pub units: Arc<[(u32, u32)]>,
    /// What judged it.
    pub model: Model,
    /// Synchronizes-with, where the graph alone does not tell it: where release sequences depend on scoped
    /// modification order.
    pub synchronizes_with: Option<Box<Relation>>,
}

/// The graph of an execution, or where it is put together from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    /// The graph itself.
    Whole(Graph),
    /// One of those in which invocations end independently of each other: `index` names one end of each, as a
    /// number whose digits, the last invocation's last, have the numbers of ends as their bases.
    Suffixes {
        /// The ends of the invocations, which the execution has one of each from.
        ends: Arc<Ends>,
        /// Which end of each.
        index: u64,
    },
    /// One of each of several groups of invocations that do not communicate.
    Together(Vec<Arc<Execution>>),
    /// The one in which what each agent of another does is done by whom `agents` says.
    Renamed {
        /// The execution that is like it.
        execution: Arc<Execution>,
        /// For each agent of the other execution, the agent that does the same here.
        agents: Box<[u32]>,
        /// What depends on who does it.
        values: Option<Values>,
    },
}

/// What some events write, and others read from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// The events, ascending.
    pub events: Arc<[EventId]>,
    /// Of one after the other, as many bytes as it writes.
    pub written: Box<[Byte]>,
}

/// Executions that begin alike, and in which some invocations then end independently of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// How all of them begin.
    pub begun: Graph,
    /// For each of these invocations, the events of each of its ends. They read from events of `begun`.
    pub ends: Vec<Vec<Vec<Arc<Event>>>>,
}

impl Default for Execution {
    fn default() -> Self {
        Execution::Whole(Graph::default())
    }
}

impl Execution {
    /// Its graph.
    pub(crate) fn graph(&self) -> Cow<'_, Graph> {
        match self {
            Execution::Whole(graph) => Cow::Borrowed(graph),
            Execution::Suffixes { ends, index } => Cow::Owned(ends.graph(*index)),
            Execution::Together(groups) => {
                let mut whole = Graph::default();
                groups.iter().for_each(|group| whole.append(&group.graph()));
                Cow::Owned(whole)
            }
            Execution::Renamed { execution, agents, values } => {
                let mut graph = execution.graph().into_owned();
                for event in graph.events.iter_mut().map(Arc::make_mut) {
                    event.agent = agents[event.agent as usize];
                }
                values.iter().for_each(|values| values.give(&mut graph));
                Cow::Owned(graph)
            }
        }
    }

    /// About how many bytes it has that others do not share.
    pub(crate) fn own_bytes(&self) -> usize {
        match self {
            // Graphs of one search have most events in common.
            Execution::Whole(graph) => size_of_val(&graph.events[..]) + 2 * size_of::<Event>(),
            Execution::Suffixes { .. } => 0,
            Execution::Together(groups) => ALLOCATION + size_of_val(&groups[..]),
            Execution::Renamed { agents, values, .. } => {
                let written =
                    values.as_ref().map_or(0, |values| ALLOCATION + size_of_val(&values.written[..]));
                ALLOCATION + size_of_val(&agents[..]) + written
            }
        }
    }

    fn relocate(
        &mut self,
        known: &mut FxHashMap<*const Ends, [Arc<Ends>; 2]>,
        groups: &mut FxHashMap<*const Execution, [Arc<Execution>; 2]>,
        line: &impl Fn(Line) -> Line,
    ) {
        match self {
            Execution::Whole(graph) => set_lines(graph.events.iter_mut(), line),
            Execution::Suffixes { ends, .. } => {
                let new = || [ends.clone(), Arc::new(ends.with_lines(line))];
                let [_, new] = known.entry(Arc::as_ptr(ends)).or_insert_with(new);
                *ends = new.clone();
            }
            Execution::Together(parts) => relocate_shared(parts, known, groups, line),
            Execution::Renamed { execution, .. } => {
                relocate_shared(std::slice::from_mut(execution), known, groups, line);
            }
        }
    }
}

impl Values {
    /// Gives them to the events of a graph.
    fn give(&self, graph: &mut Graph) {
        let mut bytes = self.written.iter().copied();
        for id in self.events.iter() {
            let event = Arc::make_mut(&mut graph.events[*id as usize]);
            event.written.iter_mut().flatten().zip(&mut bytes).for_each(|(byte, given)| *byte = given);
        }
        for id in 0..graph.events.len() {
            let event = &graph.events[id];
            let read =
                event.sources.iter().zip(&event.units).zip(&event.read).map(|((source, unit), read)| {
                    let written = match source {
                        Source::Event(write) => graph.events[*write as usize].written_to(*unit),
                        Source::Initial | Source::Pending => None,
                    };
                    written.unwrap_or(read).clone()
                });
            let read = read.collect();
            Arc::make_mut(&mut graph.events[id]).read = read;
        }
    }
}

impl Ends {
    /// The graph with the ends that `index` names.
    pub fn graph(&self, index: u64) -> Graph {
        let mut rest = index;
        let mut chosen: Vec<&Vec<Arc<Event>>> = Vec::new();
        for ends in self.ends.iter().rev() {
            let count = ends.len().max(1) as u64;
            chosen.extend(ends.get((rest % count) as usize));
            rest /= count;
        }
        let mut graph = self.begun.clone();
        graph.events.extend(chosen.into_iter().rev().flatten().cloned());
        graph
    }

    fn with_lines(&self, line: &impl Fn(Line) -> Line) -> Self {
        let mut own = self.clone();
        let ends = own.ends.iter_mut().flatten().flatten();
        set_lines(own.begun.events.iter_mut().chain(ends), line);
        own
    }
}

fn relocate_shared(
    parts: &mut [Arc<Execution>],
    known: &mut FxHashMap<*const Ends, [Arc<Ends>; 2]>,
    shared: &mut FxHashMap<*const Execution, [Arc<Execution>; 2]>,
    line: &impl Fn(Line) -> Line,
) {
    for part in parts {
        if !shared.contains_key(&Arc::as_ptr(part)) {
            let mut own = Execution::clone(part);
            own.relocate(known, shared, line);
            shared.insert(Arc::as_ptr(part), [part.clone(), Arc::new(own)]);
        }
        if let Some([_, new]) = shared.get(&Arc::as_ptr(part)) {
            *part = new.clone();
        }
    }
}

fn set_lines<'a>(events: impl Iterator<Item = &'a mut Arc<Event>>, line: &impl Fn(Line) -> Line) {
    for event in events.map(Arc::make_mut) {
        event.line = line(event.line);
    }
}

/// Gives the events of witnesses other lines.
pub(crate) fn relocate<'a>(witnesses: impl Iterator<Item = &'a mut Witness>, line: impl Fn(Line) -> Line) {
    // With those before, so that no other ones come to lie where they are.
    let mut known: FxHashMap<*const Ends, [Arc<Ends>; 2]> = FxHashMap::default();
    let mut groups = FxHashMap::default();
    for witness in witnesses {
        witness.execution.relocate(&mut known, &mut groups, &line);
    }
}

/// An event of a witness, told for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessEvent {
    /// The invocation that executes it, in dispatch order; for a litmus test, the thread.
    pub invocation: u32,
    /// The line of its instruction, 1-based; 0 where it is not known.
    pub line: Line,
    /// "read", "write", "read-modify-write", "memory barrier", "control barrier", with qualifiers.
    pub what: String,
    /// Object and byte offset, for accesses.
    pub location: Option<(u32, u32)>,
    /// The bytes that it reads, for reads.
    pub read: Option<Vec<Byte>>,
    /// The bytes that it writes, for writes.
    pub written: Option<Vec<Byte>>,
    /// Indices of the events that this one reads from (`None` in the list: the initial value).
    pub reads_from: Vec<Option<usize>>,
    /// Indices of events that synchronize with this one.
    pub synchronized_by: Vec<usize>,
}

impl Witness {
    /// The graph of the execution.
    pub fn graph(&self) -> Cow<'_, Graph> {
        self.execution.graph()
    }

    /// A graph that is told as a witness is.
    pub(crate) fn of_graph(graph: Graph, model: Model) -> Witness {
        Witness { executions: 1, execution: Execution::Whole(graph), model, ..Witness::default() }
    }

    /// The relations of `graph`, which is that of the execution. Where they depend on the order of writes, those that the
    /// execution was found with.
    pub(crate) fn relations(&self, graph: &Graph) -> Relations {
        let known = self.synchronizes_with.as_ref().and_then(|given| {
            let executions = self.model.executions(graph)?;
            executions.into_iter().find(|relations| relations.synchronizes_with == **given)
        });
        known.unwrap_or_else(|| self.model.relations(graph, Extent::Complete))
    }

    /// The events of the graph, in its order, with what they read and who synchronizes with them.
    pub fn events(&self) -> Vec<WitnessEvent> {
        let derived;
        let graph = self.graph();
        let synchronizes_with = match &self.synchronizes_with {
            Some(given) => given,
            None => {
                derived = self.model.relations(&graph, Extent::Complete).synchronizes_with;
                &derived
            }
        };
        self.events_of(&graph, synchronizes_with)
    }

    /// The same of `graph`, which is that of the execution, with its synchronizes-with.
    pub(crate) fn events_of(&self, graph: &Graph, synchronizes_with: &Relation) -> Vec<WitnessEvent> {
        let events = graph.events.iter().enumerate();
        events.map(|(id, event)| tell(id, event, &*self.model, synchronizes_with)).collect()
    }
}

fn tell(id: usize, event: &Event, model: &dyn MemoryModel, synchronizes_with: &Relation) -> WitnessEvent {
    let source = |source: &Source| match source {
        Source::Event(write) => Some(*write as usize),
        Source::Initial | Source::Pending => None,
    };
    let mut reads_from: Vec<Option<usize>> = event.sources.iter().map(source).collect();
    reads_from.dedup();
    let concat = |units: &[UnitBytes]| units.iter().flatten().copied().collect::<Vec<_>>();
    WitnessEvent {
        invocation: event.agent,
        line: event.line,
        what: describe(event, model),
        location: event.place,
        read: event.reads().then(|| concat(&event.read)),
        written: event.writes().then(|| concat(&event.written)),
        reads_from,
        synchronized_by: (0..synchronizes_with.len())
            .filter(|other| synchronizes_with.contains(*other, id))
            .collect(),
    }
}

/// An event in the field's words.
pub(crate) fn describe(event: &Event, model: &dyn MemoryModel) -> String {
    let mut words: Vec<&str> = Vec::new();
    if event.volatile {
        words.push("volatile");
    }
    if event.atomic {
        words.push("atomic");
    } else if event.accesses() {
        words.push(model.plain_name(event));
    }
    words.push(match event.order {
        Order::Relaxed if event.atomic => "relaxed",
        Order::Relaxed => "",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcquireRelease => "acquire-release",
        Order::SequentiallyConsistent => "sequentially consistent",
    });
    words.push(match event.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Update => "read-modify-write",
        Kind::Fence => "memory barrier",
        Kind::Barrier { .. } => "control barrier",
        Kind::Availability => "availability operation",
        Kind::Visibility => "visibility operation",
        Kind::DeviceAvailability => "availability operation to the device domain",
        Kind::DeviceVisibility => "visibility operation from the device domain",
    });
    words.retain(|word| !word.is_empty());
    let mut text = words.join(" ");
    if event.atomic || event.is_fence() && event.order != Order::Relaxed {
        text.push_str(" at ");
        text.push_str(event.scope.name());
        text.push_str(" scope");
    }
    if let Kind::Barrier { execution, .. } = event.kind {
        if execution != event.scope {
            text.push_str(&format!(" with execution scope {}", execution.name()));
        }
    }
    text
}
