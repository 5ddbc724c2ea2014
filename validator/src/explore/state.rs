//! The state of a search: invocations, the graph that they made, and what is still owed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Index, IndexMut};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::barriers::Meeting;
use super::knowledge::{Discoveries, Knowledge, Word};
use super::lasso::{Closing, Configuration};
use super::memory::{words_of, Accessor, Contents};
use super::phases::Phase;
use super::recast::Parting;
use super::segment::Segment;
use super::stale::Look;
use super::symmetry::NOTHING;
use super::tangles::Gathered;
use super::Settings;
use crate::behaviour::VolatileAccess;
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Fault, Fence, InstanceName, Scope, Wait};
use crate::interp::Invocation;
use crate::ir::{Line, LoopId, Program};
use crate::model::graph::{Agent, Event, EventId, Graph, Source, Unit, UnitBytes};
use crate::model::growing::Growing;
use crate::model::vulkan::Relations;
use crate::value::Byte;

/// Events of a graph from which on each more costs instructions, half as many as there are too many.
const EVENTS_FREELY: u64 = 1_024;

/// One point of the search.
#[derive(Clone)]
pub(super) struct State {
    pub(super) threads: Threads,
    pub(super) graph: Graph,
    /// Pairs of invocations.
    pub(super) system_synchronizes_with: Arc<[(u32, u32)]>,
    pub(super) contents: Contents,
    /// Speculated reads whose write is still to come.
    pub(super) pending: Vec<Pending>,
    /// How often a read speculated on the way here.
    pub(super) speculated: u32,
    /// What read-modify-writes would have given units, had they read other values.
    pub(super) attempted: Arc<BTreeSet<(Unit, UnitBytes)>>,
    /// Barriers passed, by workgroup.
    pub(super) phases: Arc<Vec<Phase>>,
    /// Numbered barriers that invocations passed.
    pub(super) meetings: Vec<Meeting>,
    /// Number of control barrier instances so far.
    pub(super) instances: u32,
    pub(super) fuel: u64,
    /// Where invocations went on together that need not have reconverged.
    pub(super) diverged: Option<Line>,
    /// The relations of the graph as it was judged last, with its number of events.
    pub(super) judged: Option<(usize, Arc<Relations>)>,
    /// The relations of the graph as it grows, while it is one of those that they are for.
    pub(super) growing: Option<Arc<Growing>>,
    /// Those who still run do not end apart from each other, or it is not certain that they do.
    pub(super) together: bool,
    /// Where everybody who waits stood when it was supposed that they wait for ever.
    pub(super) closing: Option<Closing>,
    /// What invocations that will never end repeat, writes among it.
    pub(super) segments: Vec<Segment>,
    /// Somebody left an endless loop: undefined behaviour from here on is nobody's.
    pub(super) excused: bool,
    /// What the future of the last state on the path that was compared depends on.
    pub(super) future: Option<u128>,
    /// This path noticed that the round's assumptions were wrong: only what it notices counts.
    pub(super) dirty: bool,
}

/// The graph of no event yet.
pub(super) fn empty_graph(dispatch: &Dispatch) -> Graph {
    let agents = dispatch.places.iter().map(|place| Agent {
        subgroup: place.subgroup,
        workgroup: place.workgroup,
        queue_family: place.queue_family,
    });
    Graph { agents: agents.collect(), ..Graph::default() }
}

/// The invocations, copied on write.
#[derive(Clone)]
pub(super) struct Threads(Vec<Arc<Thread>>);

impl Threads {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Thread> + Clone {
        self.0.iter().map(Arc::as_ref)
    }

    /// Ends all but these, which are ascending.
    fn keep(&mut self, members: &[usize]) {
        let Some(first) = self.0.first() else { return };
        let idle = Arc::new(Thread { status: Status::Finished, ..Thread::clone(first) });
        let mut members = members.iter().peekable();
        for (index, thread) in self.0.iter_mut().enumerate() {
            if members.next_if_eq(&&index).is_none() {
                *thread = idle.clone();
            }
        }
    }
}

impl Index<usize> for Threads {
    type Output = Thread;

    fn index(&self, index: usize) -> &Thread {
        &self.0[index]
    }
}

impl IndexMut<usize> for Threads {
    fn index_mut(&mut self, index: usize) -> &mut Thread {
        let thread = Arc::make_mut(&mut self.0[index]);
        thread.future.take();
        thread.at.take();
        thread
    }
}

/// One invocation.
#[derive(Clone)]
pub(super) struct Thread {
    pub(super) invocation: Arc<Invocation>,
    pub(super) status: Status,
    /// A waiting read does not take its value from events before this one alone.
    pub(super) waits_since: Option<EventId>,
    /// A waiting read in whose stead another speculated, when the graph had so many events: from later
    /// ones it takes a value that nobody speculates.
    pub(super) reads_unknown: Option<EventId>,
    /// It came to what is not its own to decide.
    pub(super) has_decided: bool,
    /// What it read so far, as its class knows it ([`symmetry`](super::symmetry)).
    pub(super) history: u32,
    /// Where it ceased to do the same as others of its class ([`recast`](super::recast)).
    pub(super) parting: Option<Parting>,
    /// Volatile accesses so far.
    pub(super) trace: Arc<Vec<VolatileAccess>>,
    /// The first undefined behaviour that it ran into.
    pub(super) fault: Option<Arc<Fault>>,
    /// How often the invocation changed memory without an event.
    pub(super) changes: u64,
    /// How often it passed a barrier or a subgroup operation.
    pub(super) passes: u64,
    /// It has just been round a loop with others, and nothing changed.
    pub(super) idle: Option<Idle>,
    /// How often it came to each numbered barrier: by number and resource.
    pub(super) arrivals: Arc<BTreeMap<(u32, u32), u32>>,
    /// Loops that the invocation is in, with its state at the last arrival at their headers.
    pub(super) loops: Vec<Arrival>,
    /// Its last atomic read that did not write.
    pub(super) look: Option<Look>,
    /// What its own future depends on, once somebody asked since it changed.
    pub(super) future: OnceLock<Option<u128>>,
    /// The same of its invocation alone, without the iterations that it is in.
    pub(super) at: OnceLock<Option<u128>>,
}

/// The last arrival of an invocation at a loop header.
#[derive(Clone)]
pub(super) struct Arrival {
    pub(super) depth: u32,
    pub(super) loop_id: LoopId,
    pub(super) invocation: Arc<Invocation>,
    /// Number of events in the graph at that time.
    pub(super) events: u32,
    /// [`Thread::changes`] and [`Thread::passes`] at that time.
    pub(super) changes: u64,
    pub(super) passes: u64,
    /// Length of the volatile trace at that time.
    pub(super) traced: usize,
    /// With whom the invocation passed barriers and subgroup operations since then.
    pub(super) met: SmallVec<[Arc<[usize]>; 1]>,
    /// Turns in a row that came back to the same state of the invocation, but wrote.
    pub(super) restless: u32,
    /// Of the search, after each of these.
    pub(super) configurations: Vec<Arc<Configuration>>,
}

/// The end of a turn, with others, that changed nothing.
#[derive(Clone, Copy)]
pub(super) struct Idle {
    /// Number of events in the graph at that time.
    pub(super) events: u32,
    /// [`Thread::changes`] at that time.
    pub(super) changes: u64,
    /// The turn read what others may write.
    pub(super) decided: bool,
}

/// What an invocation is about to do.
#[derive(Clone)]
pub(super) enum Status {
    Running,
    /// At a read; an atomic one may write too.
    Reading {
        access: Arc<Access>,
        atomic: Option<Atomicity>,
        may_write: bool,
    },
    Barrier(Arc<Arrived>),
    Subgroup(Arc<Gathered>),
    Finished,
    Faulted,
    /// In a loop that never ends.
    Forever,
}

/// An invocation at a control barrier.
pub(super) struct Arrived {
    pub(super) execution: Scope,
    pub(super) fence: Fence,
    pub(super) name: InstanceName,
    pub(super) waits: Wait,
    pub(super) line: Line,
}

/// A speculated read of one unit.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) event: EventId,
    pub(super) unit: Unit,
    pub(super) value: UnitBytes,
}

impl State {
    pub(super) fn new(program: &Program, dispatch: &Dispatch, settings: &Settings) -> Self {
        let threads = Invocation::all(program, dispatch, 0..dispatch.places.len() as u32)
            .into_iter()
            .map(|invocation| {
                Arc::new(Thread {
                    invocation: Arc::new(invocation),
                    status: Status::Running,
                    waits_since: None,
                    has_decided: false,
                    reads_unknown: None,
                    history: NOTHING,
                    parting: None,
                    trace: Arc::default(),
                    fault: None,
                    changes: 0,
                    passes: 0,
                    idle: None,
                    arrivals: Arc::default(),
                    loops: Vec::new(),
                    look: None,
                    future: OnceLock::new(),
                    at: OnceLock::new(),
                })
            })
            .collect();
        let graph = empty_graph(dispatch);
        let grows = settings.axioms && settings.shortcuts && dispatch.system_synchronizes_with.is_empty();
        let growing = grows.then(|| Arc::new(Growing::new(&graph, settings.variant)));
        let workgroups = dispatch.places.iter().map(|place| place.workgroup + 1).max().unwrap_or(0);
        State {
            threads: Threads(threads),
            graph,
            system_synchronizes_with: dispatch.system_synchronizes_with.as_slice().into(),
            contents: Contents::new(dispatch),
            pending: Vec::new(),
            speculated: 0,
            attempted: Arc::default(),
            phases: Arc::new(vec![Phase::default(); workgroups as usize]),
            meetings: Vec::new(),
            instances: 0,
            fuel: settings.max_instructions,
            diverged: None,
            judged: None,
            growing,
            together: false,
            closing: None,
            segments: Vec::new(),
            excused: false,
            future: None,
            dirty: false,
        }
    }

    /// A copy to run one invocation on, without what the others did.
    pub(super) fn without_graph(&self) -> State {
        State {
            threads: self.threads.clone(),
            graph: Graph { agents: self.graph.agents.clone(), ..Graph::default() },
            system_synchronizes_with: self.system_synchronizes_with.clone(),
            contents: self.contents.clone(),
            pending: Vec::new(),
            speculated: self.speculated,
            attempted: Arc::default(),
            phases: self.phases.clone(),
            meetings: Vec::new(),
            instances: self.instances,
            fuel: self.fuel,
            diverged: self.diverged,
            judged: None,
            growing: None,
            together: self.together,
            closing: None,
            segments: self.segments.clone(),
            excused: self.excused,
            future: None,
            dirty: self.dirty,
        }
    }

    /// The same state where these invocations, ascending, are alone.
    pub(super) fn only(&self, members: &[usize]) -> State {
        let mut state = self.clone();
        state.threads.keep(members);
        state
    }

    /// The same state with memory of its own: threads that count references to the same memory slow each other
    /// down.
    pub(super) fn unshared(mut self) -> State {
        for thread in &mut self.threads.0 {
            let mut own = Thread::clone(thread);
            own.invocation = Arc::new(Invocation::clone(&own.invocation));
            own.trace = Arc::new(own.trace.to_vec());
            own.arrivals = Arc::new(BTreeMap::clone(&own.arrivals));
            for arrival in &mut own.loops {
                arrival.invocation = Arc::new(Invocation::clone(&arrival.invocation));
            }
            if let Status::Reading { access, .. } = &mut own.status {
                *access = Arc::new(Access::clone(access));
            }
            *thread = Arc::new(own);
        }
        self.graph.unshare();
        self.system_synchronizes_with = self.system_synchronizes_with.to_vec().into();
        self.contents.unshare();
        self.phases = Arc::new(self.phases.to_vec());
        self.attempted = Arc::new(BTreeSet::clone(&self.attempted));
        self.growing = self.growing.map(|growing| Arc::new(growing.unshared()));
        self
    }

    /// Reads the bytes of an access that are no event.
    pub(super) fn read_unshared(
        &mut self,
        access: &Access,
        memory: u32,
        by: By,
        found: &mut Discoveries,
        out: &mut [Byte],
    ) {
        if is_all_shared(access, memory, by.knowledge) {
            return;
        }
        self.contents.read(access, memory, by.accessor(&self.phases), found, out);
    }

    /// Writes the bytes of an access that are no event.
    pub(super) fn write_unshared(
        &mut self,
        access: &Access,
        memory: u32,
        by: By,
        found: &mut Discoveries,
        bytes: &[Byte],
    ) {
        if is_all_shared(access, memory, by.knowledge) {
            return;
        }
        let agent = by.agent as usize;
        let changed = self.contents.write(access, memory, by.accessor(&self.phases), found, bytes);
        self.threads[agent].changes += u64::from(changed);
    }

    /// Whether an invocation parted from others of its class.
    pub(super) fn has_parted(&self) -> bool {
        self.threads.iter().any(|thread| thread.parting.is_some())
    }

    /// Adds an event; returns its number.
    pub(super) fn push(&mut self, event: Event) -> EventId {
        let id = self.graph.events.len() as EventId;
        // Its row in the relations of the graph costs something, too.
        self.fuel = self.fuel.saturating_sub(u64::from(id).saturating_sub(EVENTS_FREELY) / 2);
        let Graph { events, system_synchronizes_with, .. } = &mut self.graph;
        for (first, second) in self.system_synchronizes_with.iter() {
            for (other, earlier) in (0..id).zip(events.iter()) {
                if (earlier.agent, event.agent) == (*first, *second) {
                    system_synchronizes_with.push((other, id));
                }
                if (event.agent, earlier.agent) == (*first, *second) {
                    system_synchronizes_with.push((id, other));
                }
            }
        }
        self.graph.events.push(Arc::new(event));
        id
    }
}

/// Who accesses memory.
#[derive(Clone, Copy)]
pub(super) struct By<'a> {
    pub(super) agent: u32,
    pub(super) dispatch: &'a Dispatch,
    pub(super) knowledge: &'a Knowledge,
    pub(super) atomic: bool,
}

impl<'a> By<'a> {
    fn accessor(self, phases: &'a [Phase]) -> Accessor<'a> {
        let By { agent, dispatch, knowledge, atomic } = self;
        Accessor { agent, dispatch, knowledge, phases, atomic, update: None }
    }
}

impl Status {
    pub(super) fn is_over(&self) -> bool {
        match self {
            Status::Finished | Status::Faulted | Status::Forever => true,
            Status::Running | Status::Reading { .. } | Status::Barrier(_) | Status::Subgroup(_) => false,
        }
    }
}

/// Whether an access is an event and nothing else: memory without events need not be copied for it.
fn is_all_shared(access: &Access, memory: u32, knowledge: &Knowledge) -> bool {
    knowledge.has_units() && words_of(access).all(|word| knowledge.word(memory, word) != Word::Unshared)
}

/// The units of an access, ascending, each with the indices of its bytes in the access.
pub(super) type UnitSpans = SmallVec<[(Unit, SmallVec<[u32; 4]>); 4]>;

/// The shared units that an access covers. `None` where it covers only part of one: the word must
/// be split first, and `split` gets it.
pub(super) fn units_of(
    access: &Access,
    memory: u32,
    knowledge: &Knowledge,
    mut split: impl FnMut(u32),
) -> Option<UnitSpans> {
    let mut spans = UnitSpans::new();
    let mut whole = true;
    let mut index = 0;
    for (offset, len) in &access.ranges {
        for byte in *offset..offset + len {
            let unit = match knowledge.word(memory, byte) {
                Word::Unshared => None,
                Word::Whole(unit) => Some(unit),
                Word::Bytes(first) => Some(first + byte % 4),
            };
            if let Some(unit) = unit {
                match spans.last_mut() {
                    Some((last, bytes)) if *last == unit => bytes.push(index),
                    _ => spans.push((unit, SmallVec::from_slice(&[index]))),
                }
                let is_whole = matches!(knowledge.word(memory, byte), Word::Whole(_));
                let starts = byte % 4 == 0 || byte > *offset;
                let ends = byte % 4 == 3 || byte + 1 < offset + len;
                if is_whole && !(starts && ends) {
                    whole = false;
                    split(byte / 4 * 4);
                }
            }
            index += 1;
        }
    }
    spans.sort_unstable_by_key(|(unit, _)| *unit);
    whole.then_some(spans)
}

/// The bytes of each unit, out of those of the whole access.
pub(super) fn split_bytes<'a>(
    spans: &'a UnitSpans,
    bytes: &'a [Byte],
) -> impl Iterator<Item = UnitBytes> + 'a {
    spans.iter().map(move |(_, indices)| {
        indices.iter().map(|index| bytes.get(*index as usize).copied().unwrap_or(Byte::Undef)).collect()
    })
}

/// Where a write of a graph stands as a source: an event of the graph or the initial value.
pub(super) fn source_bytes(
    state: &State,
    knowledge: &Knowledge,
    unit: Unit,
    len: usize,
    source: Source,
) -> UnitBytes {
    let initial = || {
        let (memory, offset) = knowledge.key(unit);
        (0..len as u32).map(|byte| state.contents.byte(memory, offset + byte)).collect()
    };
    match source {
        Source::Initial | Source::Pending => initial(),
        Source::Event(write) => {
            let event = state.graph.events.get(write as usize);
            event.and_then(|event| event.written_to(unit)).cloned().unwrap_or_else(initial)
        }
    }
}
