//! The types on which a search works: what stays the same over a search ([`Context`]) and over a round ([`Round`]), a
//! point of the search ([`State`]) with its invocations ([`Thread`]), and what was found ([`Found`]).
//!
//! A state has an execution graph that grows, as in TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly
//! stateless, optimal dynamic partial order reduction", POPL 2022). In contrast to TruSt a read is not revisited when a
//! write is added: it waits for the write in a branch of its own ([`Thread::waits_since`]).

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
    /// The instructions that may access shared memory without being atomic; `looking` has those that may read it
    /// without writing it.
    pub(crate) plain: MayWrite,
    pub(crate) looking: MayWrite,
    /// The instructions at which invocations wait for each other.
    pub(crate) meetings: Vec<InstId>,
    pub(crate) numbers: BarrierNumbers,
    /// The invocations of each subgroup.
    pub(crate) subgroups: Vec<Vec<usize>>,
    pub(crate) workgroups: Vec<Vec<usize>>,
    pub(crate) order: InstanceOrder<'a>,
    /// Whether something beside barriers of workgroups makes atomics synchronize.
    pub(crate) has_fences: bool,
    pub(crate) has_compare_exchanges: bool,
    /// Whether invocations may be symmetric.
    pub(crate) has_first_updates: bool,
    /// Whether the dispatch may have no execution.
    pub(crate) may_discard: bool,
    /// The narrowest scope that contains all invocations.
    pub(crate) widest_scope: Scope,
    pub(crate) budget: Budget<'a>,
    pub(crate) pauses: Pauses<'a>,
    /// The state in which the searches of groups begin, once it is needed.
    pub(crate) shared_first: OnceLock<State>,
    /// The threads for large searches, once they are needed.
    pub(crate) pool: OnceLock<Option<ThreadPool>>,
    /// An outcome for which this is true ends the search.
    pub(crate) target: Option<Target<'a>>,
    /// The reductions that are applicable and not switched off.
    pub(crate) reductions: Reductions,
}

impl Context<'_> {
    /// Whether the search uses a reduction.
    pub(crate) fn uses(&self, reduction: ReductionName) -> bool {
        self.reductions.contains(reduction)
    }
}

/// A function that recognises the outcomes which a search looks for.
pub(crate) type Target<'a> = &'a (dyn Fn(&Outcome) -> bool + Sync);

/// What a search found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) outcomes: Outcomes,
    pub(crate) undefined: BTreeMap<Undefined, Witness>,
    /// The outcomes in factored form.
    pub(crate) factored: Factored,
    pub(crate) executions: Count,
    pub(crate) explored: u64,
    pub(crate) paths: Paths,
    /// The number of graphs with speculated reads that were judged.
    pub(crate) judged_anew: u64,
    /// Whether there were too many of them. Then the next round has fewer reads that speculate.
    pub(crate) overfed: bool,
    pub(crate) bounded: Option<Bound>,
    pub(crate) undecided: BTreeSet<Undecided>,
    pub(crate) inexact: BTreeSet<Inexact>,
    pub(crate) discoveries: Discoveries,
    /// What the groups found that were explored one by one. `product` combines this.
    pub(crate) factors: Vec<Factor>,
    pub(crate) product: Option<Arc<Product>>,
    /// Whether nothing after this in search order counts.
    pub(crate) stop: bool,
    /// Whether the search stopped at an outcome that it was to find.
    pub(crate) at_target: bool,
    /// Where invocations first reached a decision that is not their own, by their call stacks. Up to there each
    /// invocation does the same in every execution.
    pub(crate) first_decisions: BTreeMap<u32, SmallVec<[InstId; 4]>>,
    /// The branches that a scout left out, each with its share of the whole tree. The next one is the last of the list.
    pub(crate) left: Vec<(State, f64)>,
    /// Whether the whole round cannot continue from `left`: independent suffixes were found on that path, or more was
    /// left out than is kept.
    pub(crate) must_restart: bool,
}

/// Where all invocations stood when it was assumed that those which wait do so for ever.
#[derive(Clone)]
pub(crate) struct Closing {
    /// The events from here on belong to the turn that closes the run.
    pub(crate) events: EventId,
    pub(crate) threads: Vec<Start>,
}

#[derive(Clone)]
pub(crate) struct Start {
    /// The instruction at which it waits. It is `None` if the invocation is over.
    pub(crate) at: Option<InstId>,
    /// Whether it waits at a read that does not belong to a spin loop.
    pub(crate) is_blocked: bool,
    pub(crate) trace: Arc<Vec<VolatileAccess>>,
    /// How often it reached the header of its loop since then, and how many of these turns were whole, that is, began
    /// without accesses before them.
    pub(crate) rounds: u32,
    pub(crate) whole: u32,
    pub(crate) passes: u64,
}

/// A configuration of a search: what the future depends on, except for the age of the writes that may still be read.
#[derive(Clone)]
pub(crate) struct Configuration {
    pub(crate) events: u32,
    /// The reads that speculate: invocation, instruction, unit and value of each. How often there is the same one
    /// depends on the number of turns.
    pub(crate) promises: BTreeSet<(u32, InstId, Unit, UnitBytes)>,
    pub(crate) threads: Threads,
    pub(crate) latest: Vec<SmallVec<[UnitBytes; 1]>>,
    pub(crate) memory: Vec<Arc<Vec<Byte>>>,
}

/// Where an invocation ceases to do the same as other members of its class.
#[derive(Clone, Copy)]
pub(crate) struct Parting {
    /// What it had read until then.
    pub(crate) history: u32,
    /// The read that makes the difference.
    pub(crate) read: EventId,
}

/// How far [`advance`](crate::explore::step::run::advance) came.
pub(crate) enum Advanced {
    /// Every invocation stands at a read or a barrier, or has ended.
    Quiet,
    /// The path ends before all invocations have stopped.
    Ended(PathEnd),
    /// The path branches. If there is no state to continue with, the path has ended and was counted.
    Branch(Vec<State>),
}

/// One round.
pub(crate) struct Round<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) knowledge: &'a Knowledge,
    /// Whether the round follows only the first of all branches, for what can be learned there.
    pub(crate) scouts: bool,
    /// Whether these invocations are only some of those that there are.
    pub(crate) in_group: bool,
    pub(crate) symmetry: Option<Symmetry>,
    pub(crate) merging: Option<Comparison<'a>>,
    pub(crate) outlooks: Outlooks,
    pub(crate) turns: Turns,
    pub(crate) idle_turns: IdleTurns,
}

/// What invocations repeat, with writes in it.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) members: Arc<[usize]>,
    /// The events of the members in this range are those of one turn.
    pub(crate) start: EventId,
    pub(crate) end: EventId,
    /// Where the members stand at the end of the turn, to continue from there.
    pub(crate) statuses: Arc<[Status]>,
}

/// An atomic read that did not write, and its invocation before it had the value.
#[derive(Clone)]
pub(crate) struct Look {
    pub(crate) invocation: Arc<Invocation>,
    pub(crate) event: EventId,
    pub(crate) access: Arc<Access>,
    pub(crate) atomicity: Atomicity,
    pub(crate) may_write: bool,
    /// How often its invocation had changed memory without an event before.
    pub(crate) changes: u64,
}

/// The number of events of a graph up to which an event costs no instructions. Each further event costs half as many
/// instructions as there are events above this number.
const EVENTS_FREELY: u64 = 1_024;

/// One point of the search.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) threads: Threads,
    pub(crate) graph: Graph,
    /// Pairs of invocations whose events synchronize on the system's side.
    pub(crate) system_synchronizes_with: Arc<[(u32, u32)]>,
    pub(crate) contents: Contents,
    /// The promises that are not fulfilled yet: speculated reads whose write is still to come.
    pub(crate) promises: Vec<Promise>,
    /// How often a read speculated on the path to here.
    pub(crate) speculated: u32,
    /// What read-modify-writes would have given units, had they read other values.
    pub(crate) attempted: Arc<BTreeSet<(Unit, UnitBytes)>>,
    /// For each workgroup, the barriers that it has passed.
    pub(crate) epochs: Arc<Vec<Epoch>>,
    /// The numbered barriers that invocations passed.
    pub(crate) meetings: Vec<Meeting>,
    /// The number of instances of control barriers so far.
    pub(crate) instances: u32,
    pub(crate) fuel: u64,
    /// Where invocations continued together that need not have reconverged.
    pub(crate) diverged: Option<Line>,
    /// The relations of the graph when it was judged last, and its number of events then.
    pub(crate) judged: Option<(usize, Arc<Relations>)>,
    /// The relations of the graph as it grows, while the graph is of the kind for which they are.
    pub(crate) growing: Option<Arc<dyn GrowingRelations>>,
    /// Whether the invocations that still run have no independent suffixes, or it is not certain that they have.
    pub(crate) suffixes_depend: bool,
    /// Where all invocations that wait stood when it was assumed that they wait for ever.
    pub(crate) closing: Option<Closing>,
    /// What invocations that will never end repeat, with writes in it.
    pub(crate) segments: Vec<Segment>,
    /// Whether an invocation left an endless loop. Undefined behaviour from here on does not count.
    pub(crate) excused: bool,
    /// A number for the future of the last state on the path that was compared with others.
    pub(crate) future: Option<u128>,
    /// Whether the path noticed that an assumption of the round was wrong. Then only what the path notices counts.
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

    /// Ends all invocations but these, which are ascending.
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
    /// If a read waits: the number of events of the graph when it began to wait. It takes its value, in one unit at
    /// least, from a later event.
    pub(crate) waits_since: Option<EventId>,
    /// If another read speculated in place of this waiting one: the number of events of the graph at that time. From
    /// later events this read takes only values that no read could have speculated.
    pub(crate) reads_unknown: Option<EventId>,
    /// Whether it has reached a decision that is not its own.
    pub(crate) has_decided: bool,
    /// What it has read so far, as a history of its class ([`symmetry`](crate::explore::reductions::symmetry)).
    pub(crate) history: u32,
    /// Where it ceased to do the same as other members of its class
    /// ([`relabelling`](crate::explore::reductions::symmetry::relabelling)).
    pub(crate) parting: Option<Parting>,
    /// Its volatile accesses so far.
    pub(crate) trace: Arc<Vec<VolatileAccess>>,
    /// The first undefined behaviour that it ran into.
    pub(crate) fault: Option<Arc<Fault>>,
    /// How often the invocation changed memory without an event.
    pub(crate) changes: u64,
    /// How often it passed a barrier or a subgroup operation.
    pub(crate) passes: u64,
    /// The last turn of a loop that it made with other invocations, if nothing changed in it.
    pub(crate) idle: Option<Idle>,
    /// How often it arrived at each numbered barrier, by number and resource.
    pub(crate) arrivals: Arc<BTreeMap<(u32, u32), u32>>,
    /// The loops that the invocation is in, with its state at the last arrival at their headers.
    pub(crate) loops: Vec<Arrival>,
    /// Its last atomic read that did not write.
    pub(crate) look: Option<Look>,
    /// A number for what its own future depends on, if it was needed since the invocation changed.
    pub(crate) future: OnceLock<Option<u128>>,
    /// The same for its invocation alone, without the iterations that it is in.
    pub(crate) at: OnceLock<Option<u128>>,
}

/// The last arrival of an invocation at a loop header.
#[derive(Clone)]
pub(crate) struct Arrival {
    pub(crate) depth: u32,
    pub(crate) loop_id: LoopId,
    pub(crate) invocation: Arc<Invocation>,
    /// The number of events in the graph at that time.
    pub(crate) events: u32,
    /// [`Thread::changes`] and [`Thread::passes`] at that time.
    pub(crate) changes: u64,
    pub(crate) passes: u64,
    /// The length of the volatile trace at that time.
    pub(crate) traced: usize,
    /// The invocations with which this one passed barriers and subgroup operations since then.
    pub(crate) met: SmallVec<[Arc<[usize]>; 1]>,
    /// The number of turns in a row that returned to the same state of the invocation but wrote.
    pub(crate) restless: u32,
    /// The configurations of the search after each of these turns.
    pub(crate) configurations: Vec<Arc<Configuration>>,
}

/// The end of a turn with other invocations that changed nothing.
#[derive(Clone, Copy)]
pub(crate) struct Idle {
    /// The number of events in the graph at that time.
    pub(crate) events: u32,
    /// [`Thread::changes`] at that time.
    pub(crate) changes: u64,
    /// Whether the turn read what others may write.
    pub(crate) decided: bool,
}

/// What an invocation is about to do.
#[derive(Clone)]
pub(crate) enum Status {
    Running,
    /// The invocation stands at a read. An atomic one may write, too.
    Reading {
        access: Arc<Access>,
        atomic: Option<Atomicity>,
        may_write: bool,
    },
    Barrier(Arc<Arrived>),
    Subgroup(Arc<Gathered>),
    Finished,
    Faulted,
    /// The invocation repeats a loop for ever.
    Forever,
}

/// A speculated read of one unit, and the value that it took.
#[derive(Clone)]
pub(crate) struct Promise {
    pub(crate) event: EventId,
    pub(crate) unit: Unit,
    pub(crate) value: UnitBytes,
}

impl State {
    /// A copy on which one invocation can run, without what the others did.
    pub(crate) fn without_graph(&self) -> State {
        State {
            threads: self.threads.clone(),
            graph: Graph { agents: self.graph.agents.clone(), ..Graph::default() },
            system_synchronizes_with: self.system_synchronizes_with.clone(),
            contents: self.contents.clone(),
            promises: Vec::new(),
            speculated: self.speculated,
            attempted: Arc::default(),
            epochs: self.epochs.clone(),
            meetings: Vec::new(),
            instances: self.instances,
            fuel: self.fuel,
            diverged: self.diverged,
            judged: None,
            growing: None,
            suffixes_depend: self.suffixes_depend,
            closing: None,
            segments: self.segments.clone(),
            excused: self.excused,
            future: None,
            dirty: self.dirty,
        }
    }

    /// The same state in which only these invocations, ascending, exist.
    pub(crate) fn only(&self, members: &[usize]) -> State {
        let mut state = self.clone();
        state.threads.keep(members);
        state
    }

    /// The same state with memory of its own. Threads that count references to the same memory slow each other down.
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
        self.epochs = Arc::new(self.epochs.to_vec());
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
        self.contents.read(access, memory, by.accessor(&self.epochs), found, out);
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
        let changed = self.contents.write(access, memory, by.accessor(&self.epochs), found, bytes);
        self.threads[agent].changes += u64::from(changed);
    }

    /// Whether an invocation ceased to do the same as other members of its class.
    pub(crate) fn has_parted(&self) -> bool {
        self.threads.iter().any(|thread| thread.parting.is_some())
    }

    /// Adds an event and returns its number.
    pub(crate) fn push(&mut self, event: Event) -> EventId {
        let id = self.graph.events.len() as EventId;
        // The relations of the graph get a row for the event, which costs time, too.
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

/// An invocation that accesses memory.
#[derive(Clone, Copy)]
pub(crate) struct By<'a> {
    pub(crate) agent: u32,
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) knowledge: &'a Knowledge,
    pub(crate) atomic: bool,
}

impl<'a> By<'a> {
    fn accessor(self, epochs: &'a [Epoch]) -> Accessor<'a> {
        let By { agent, dispatch, knowledge, atomic } = self;
        Accessor { agent, dispatch, knowledge, epochs, atomic, update: None }
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
