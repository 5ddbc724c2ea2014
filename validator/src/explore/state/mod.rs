//! The types that a search works on: what a round takes for given ([`Round`]), a point of the search ([`State`]) with its
//! invocations, and what was found ([`Found`]).

pub(crate) mod accesses;
pub(crate) mod arrivals;
pub(crate) mod first;
pub(crate) mod found;
pub(crate) mod memory;
pub(crate) mod outcomes;
pub(crate) mod outlooks;
pub(crate) mod reader;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Index, IndexMut};
use std::sync::{Arc, OnceLock};

use rayon::ThreadPool;
use smallvec::SmallVec;

use crate::behaviour::{
    Bound, Count, Outcome, PathEnd, Paths, Product, Undecided, Undefined, VolatileAccess,
};
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Fault, Scope};
use crate::explore::budget::Budget;
use crate::explore::facts::discoveries::Discoveries;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::program::barrier_numbers::BarrierNumbers;
use crate::explore::program::instance_order::InstanceOrder;
use crate::explore::program::may_write::MayWrite;
use crate::explore::program::reach::Reach;
use crate::explore::reductions::barrier_epochs::epoch::Epoch;
use crate::explore::reductions::components::factors::Factor;
use crate::explore::reductions::merging::known::Comparison;
use crate::explore::reductions::names::{ReductionName, Reductions};
use crate::explore::reductions::stale_reads::known_retries::{IdleTurns, Turns};
use crate::explore::reductions::symmetry::classes::Symmetry;
use crate::explore::reductions::symmetry::factored_form::Factored;
use crate::explore::settings::Settings;
use crate::explore::state::arrivals::{Arrived, Gathered, Meeting};
use crate::explore::state::memory::{Accessor, Contents};
use crate::explore::state::outcomes::Outcomes;
use crate::explore::state::outlooks::Outlooks;
use crate::interp::{Invocation, Pauses};
use crate::ir::{Inexact, InstId, Line, LoopId, Program};
use crate::model::graph::{Event, EventId, Graph, Unit, UnitBytes};
use crate::model::memory_model::{GrowingRelations, Relations};
use crate::value::Byte;
use crate::witness::Witness;

/// What stays the same over all rounds.
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) settings: &'a Settings,
    pub(crate) reach: Reach,
    pub(crate) writers: MayWrite,
    /// What may access shared memory without being atomic, and what may read it without writing it.
    pub(crate) plain: MayWrite,
    pub(crate) looking: MayWrite,
    /// The instructions at which invocations wait for each other.
    pub(crate) meetings: Vec<InstId>,
    pub(crate) numbers: BarrierNumbers,
    /// The invocations of each subgroup.
    pub(crate) subgroups: Vec<Vec<usize>>,
    pub(crate) workgroups: Vec<Vec<usize>>,
    pub(crate) order: InstanceOrder<'a>,
    /// Something beside barriers of workgroups makes atomics synchronise.
    pub(crate) has_fences: bool,
    pub(crate) has_compare_exchanges: bool,
    /// Invocations may be symmetric.
    pub(crate) has_first_updates: bool,
    /// There may be no execution.
    pub(crate) may_discard: bool,
    /// The narrowest scope that has everybody in it.
    pub(crate) everybody: Scope,
    pub(crate) budget: Budget<'a>,
    pub(crate) pauses: Pauses<'a>,
    /// Where the searches of groups begin, once there are some.
    pub(crate) shared_first: OnceLock<State>,
    /// Threads for large searches, once there is one.
    pub(crate) pool: OnceLock<Option<ThreadPool>>,
    /// An outcome of these ends the search.
    pub(crate) target: Option<Target<'a>>,
    /// Those that are applicable, and not switched off.
    pub(crate) reductions: Reductions,
}

impl Context<'_> {
    /// Whether the search uses a reduction.
    pub(crate) fn uses(&self, reduction: ReductionName) -> bool {
        self.reductions.contains(reduction)
    }
}

/// Names outcomes.
pub(crate) type Target<'a> = &'a (dyn Fn(&Outcome) -> bool + Sync);

/// What a search found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) outcomes: Outcomes,
    pub(crate) undefined: BTreeMap<Undefined, Witness>,
    /// Outcomes in factored form.
    pub(crate) factored: Factored,
    pub(crate) executions: Count,
    pub(crate) explored: u64,
    pub(crate) paths: Paths,
    /// Graphs with speculated reads that were judged.
    pub(crate) judged_anew: u64,
    /// Too many of them: the next round has fewer reads that speculate.
    pub(crate) overfed: bool,
    pub(crate) bounded: Option<Bound>,
    pub(crate) undecided: BTreeSet<Undecided>,
    pub(crate) inexact: BTreeSet<Inexact>,
    pub(crate) discoveries: Discoveries,
    /// What groups of invocations found that were explored apart, and that put together.
    pub(crate) factors: Vec<Factor>,
    pub(crate) product: Option<Arc<Product>>,
    /// Nothing after this in search order counts.
    pub(crate) stop: bool,
    /// It is an outcome that the search was to find.
    pub(crate) at_target: bool,
    /// Where invocations first came to what is not their own to decide, by their call stacks: up to there each does the
    /// same in every execution.
    pub(crate) first_decisions: BTreeMap<u32, SmallVec<[InstId; 4]>>,
    /// The branches that a scout left out, each with its share of the whole tree, the next one last.
    pub(crate) left: Vec<(State, f64)>,
    /// The whole round does not go on from there: it finds ends apart on that path, or more was left out than is kept.
    pub(crate) strayed: bool,
}

/// Where everybody stood when it was supposed that they wait for ever.
#[derive(Clone)]
pub(crate) struct Closing {
    /// The events from here on are those of the turn that closes the run.
    pub(crate) events: EventId,
    pub(crate) threads: Vec<Start>,
}

#[derive(Clone)]
pub(crate) struct Start {
    /// Where it waits; `None` where it is over.
    pub(crate) at: Option<InstId>,
    /// It waits for a write that is not its loop's to go without.
    pub(crate) is_blocked: bool,
    pub(crate) trace: Arc<Vec<VolatileAccess>>,
    /// How often it came to the header of its loop since then, and how many of these turns were whole: without accesses
    /// before.
    pub(crate) rounds: u32,
    pub(crate) whole: u32,
    pub(crate) passes: u64,
}

/// Where a search is: what the future depends on, but for how old the writes are that are still to be seen.
#[derive(Clone)]
pub(crate) struct Configuration {
    pub(crate) events: u32,
    /// The reads that speculate: who does which of what value. How often hangs on the turns.
    pub(crate) owed: BTreeSet<(u32, InstId, Unit, UnitBytes)>,
    pub(crate) threads: Threads,
    pub(crate) latest: Vec<SmallVec<[UnitBytes; 1]>>,
    pub(crate) memory: Vec<Arc<Vec<Byte>>>,
}

/// Where an invocation parts from others of its class.
#[derive(Clone, Copy)]
pub(crate) struct Parting {
    /// What it had read.
    pub(crate) history: u32,
    /// What it reads then.
    pub(crate) read: EventId,
}

/// How far [`advance`](crate::explore::step::run::advance) came.
pub(crate) enum Advanced {
    /// Every invocation stands at a read, a barrier or its end.
    Quiet,
    /// The path ends before everybody has come to a stop.
    Ended(PathEnd),
    /// With nothing to go on with, the path has ended and was counted.
    Branch(Vec<State>),
}

/// One round.
pub(crate) struct Round<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) knowledge: &'a Knowledge,
    /// Follow the first of all branches only, for what can be learned there.
    pub(crate) scouts: bool,
    /// These invocations are not all that there are.
    pub(crate) in_group: bool,
    pub(crate) symmetry: Option<Symmetry>,
    pub(crate) merging: Option<Comparison<'a>>,
    pub(crate) outlooks: Outlooks,
    pub(crate) turns: Turns,
    pub(crate) idle_turns: IdleTurns,
}

/// What invocations do again and again, writes among it.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) members: Arc<[usize]>,
    /// The events of the members in this range are those of one turn.
    pub(crate) start: EventId,
    pub(crate) end: EventId,
    /// How the members stand, to go on from there.
    pub(crate) statuses: Arc<[Status]>,
}

/// An atomic read that did not write, before it had its value.
#[derive(Clone)]
pub(crate) struct Look {
    pub(crate) invocation: Arc<Invocation>,
    pub(crate) event: EventId,
    pub(crate) access: Arc<Access>,
    pub(crate) atomicity: Atomicity,
    pub(crate) may_write: bool,
    /// How often its invocation had changed memory without an event.
    pub(crate) changes: u64,
}

/// Events of a graph from which on each more costs instructions, half as many as there are too many.
const EVENTS_FREELY: u64 = 1_024;

/// One point of the search.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) threads: Threads,
    pub(crate) graph: Graph,
    /// Pairs of invocations.
    pub(crate) system_synchronizes_with: Arc<[(u32, u32)]>,
    pub(crate) contents: Contents,
    /// Speculated reads whose write is still to come.
    pub(crate) pending: Vec<Promise>,
    /// How often a read speculated on the way here.
    pub(crate) speculated: u32,
    /// What read-modify-writes would have given units, had they read other values.
    pub(crate) attempted: Arc<BTreeSet<(Unit, UnitBytes)>>,
    /// Barriers passed, by workgroup.
    pub(crate) phases: Arc<Vec<Epoch>>,
    /// Numbered barriers that invocations passed.
    pub(crate) meetings: Vec<Meeting>,
    /// Number of control barrier instances so far.
    pub(crate) instances: u32,
    pub(crate) fuel: u64,
    /// Where invocations went on together that need not have reconverged.
    pub(crate) diverged: Option<Line>,
    /// The relations of the graph as it was judged last, with its number of events.
    pub(crate) judged: Option<(usize, Arc<Relations>)>,
    /// The relations of the graph as it grows, while it is one of those that they are for.
    pub(crate) growing: Option<Arc<dyn GrowingRelations>>,
    /// Those who still run do not end apart from each other, or it is not certain that they do.
    pub(crate) together: bool,
    /// Where everybody who waits stood when it was supposed that they wait for ever.
    pub(crate) closing: Option<Closing>,
    /// What invocations that will never end repeat, writes among it.
    pub(crate) segments: Vec<Segment>,
    /// Somebody left an endless loop: undefined behaviour from here on is nobody's.
    pub(crate) excused: bool,
    /// What the future of the last state on the path that was compared depends on.
    pub(crate) future: Option<u128>,
    /// This path noticed that the round's assumptions were wrong: only what it notices counts.
    pub(crate) dirty: bool,
}

/// The invocations, copied on write.
#[derive(Clone)]
pub(crate) struct Threads(Vec<Arc<Thread>>);

impl Threads {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Thread> + Clone {
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
pub(crate) struct Thread {
    pub(crate) invocation: Arc<Invocation>,
    pub(crate) status: Status,
    /// A waiting read does not take its value from events before this one alone.
    pub(crate) waits_since: Option<EventId>,
    /// A waiting read in whose stead another speculated, when the graph had so many events: from later
    /// ones it takes a value that nobody speculates.
    pub(crate) reads_unknown: Option<EventId>,
    /// It came to what is not its own to decide.
    pub(crate) has_decided: bool,
    /// What it read so far, as its class knows it ([`symmetry`](crate::explore::reductions::symmetry)).
    pub(crate) history: u32,
    /// Where it ceased to do the same as others of its class
    /// ([`relabelling`](crate::explore::reductions::symmetry::relabelling)).
    pub(crate) parting: Option<Parting>,
    /// Volatile accesses so far.
    pub(crate) trace: Arc<Vec<VolatileAccess>>,
    /// The first undefined behaviour that it ran into.
    pub(crate) fault: Option<Arc<Fault>>,
    /// How often the invocation changed memory without an event.
    pub(crate) changes: u64,
    /// How often it passed a barrier or a subgroup operation.
    pub(crate) passes: u64,
    /// It has just been round a loop with others, and nothing changed.
    pub(crate) idle: Option<Idle>,
    /// How often it came to each numbered barrier: by number and resource.
    pub(crate) arrivals: Arc<BTreeMap<(u32, u32), u32>>,
    /// Loops that the invocation is in, with its state at the last arrival at their headers.
    pub(crate) loops: Vec<Arrival>,
    /// Its last atomic read that did not write.
    pub(crate) look: Option<Look>,
    /// What its own future depends on, once somebody asked since it changed.
    pub(crate) future: OnceLock<Option<u128>>,
    /// The same of its invocation alone, without the iterations that it is in.
    pub(crate) at: OnceLock<Option<u128>>,
}

/// The last arrival of an invocation at a loop header.
#[derive(Clone)]
pub(crate) struct Arrival {
    pub(crate) depth: u32,
    pub(crate) loop_id: LoopId,
    pub(crate) invocation: Arc<Invocation>,
    /// Number of events in the graph at that time.
    pub(crate) events: u32,
    /// [`Thread::changes`] and [`Thread::passes`] at that time.
    pub(crate) changes: u64,
    pub(crate) passes: u64,
    /// Length of the volatile trace at that time.
    pub(crate) traced: usize,
    /// With whom the invocation passed barriers and subgroup operations since then.
    pub(crate) met: SmallVec<[Arc<[usize]>; 1]>,
    /// Turns in a row that came back to the same state of the invocation, but wrote.
    pub(crate) restless: u32,
    /// Of the search, after each of these.
    pub(crate) configurations: Vec<Arc<Configuration>>,
}

/// The end of a turn, with others, that changed nothing.
#[derive(Clone, Copy)]
pub(crate) struct Idle {
    /// Number of events in the graph at that time.
    pub(crate) events: u32,
    /// [`Thread::changes`] at that time.
    pub(crate) changes: u64,
    /// The turn read what others may write.
    pub(crate) decided: bool,
}

/// What an invocation is about to do.
#[derive(Clone)]
pub(crate) enum Status {
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

/// A speculated read of one unit.
#[derive(Clone)]
pub(crate) struct Promise {
    pub(crate) event: EventId,
    pub(crate) unit: Unit,
    pub(crate) value: UnitBytes,
}

impl State {
    /// A copy to run one invocation on, without what the others did.
    pub(crate) fn without_graph(&self) -> State {
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
    pub(crate) fn only(&self, members: &[usize]) -> State {
        let mut state = self.clone();
        state.threads.keep(members);
        state
    }

    /// The same state with memory of its own: threads that count references to the same memory slow each other
    /// down.
    pub(crate) fn unshared(mut self) -> State {
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
        self.growing = self.growing.map(|growing| growing.unshared());
        self
    }

    /// Reads the bytes of an access that are no event.
    pub(crate) fn read_unshared(
        &mut self,
        access: &Access,
        memory: u32,
        by: By,
        found: &mut Discoveries,
        out: &mut [Byte],
    ) {
        if memory::is_all_shared(access, memory, by.knowledge) {
            return;
        }
        self.contents.read(access, memory, by.accessor(&self.phases), found, out);
    }

    /// Writes the bytes of an access that are no event.
    pub(crate) fn write_unshared(
        &mut self,
        access: &Access,
        memory: u32,
        by: By,
        found: &mut Discoveries,
        bytes: &[Byte],
    ) {
        if memory::is_all_shared(access, memory, by.knowledge) {
            return;
        }
        let agent = by.agent as usize;
        let changed = self.contents.write(access, memory, by.accessor(&self.phases), found, bytes);
        self.threads[agent].changes += u64::from(changed);
    }

    /// Whether an invocation parted from others of its class.
    pub(crate) fn has_parted(&self) -> bool {
        self.threads.iter().any(|thread| thread.parting.is_some())
    }

    /// Adds an event; returns its number.
    pub(crate) fn push(&mut self, event: Event) -> EventId {
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
pub(crate) struct By<'a> {
    pub(crate) agent: u32,
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) knowledge: &'a Knowledge,
    pub(crate) atomic: bool,
}

impl<'a> By<'a> {
    fn accessor(self, phases: &'a [Epoch]) -> Accessor<'a> {
        let By { agent, dispatch, knowledge, atomic } = self;
        Accessor { agent, dispatch, knowledge, phases, atomic, update: None }
    }
}

impl Status {
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Status::Finished | Status::Faulted | Status::Forever => true,
            Status::Running | Status::Reading { .. } | Status::Barrier(_) | Status::Subgroup(_) => false,
        }
    }
}
