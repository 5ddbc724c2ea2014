//! The search itself: run every invocation as far as it goes, then branch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};
use smallvec::SmallVec;

use super::apart;
use super::barriers::{self, BarrierNumbers};
use super::budget::Budget;
use super::events;
use super::knowledge::{Discoveries, Knowledge};
use super::memory::{volatile_access, View};
use super::outcomes::Outcomes;
use super::product::Factor;
use super::reach::Reach;
use super::sharing::{Place, FIRST_ALONE};
use super::state::{self, Arrived, By, State, Status};
use super::suspects::Notes;
use super::symmetry::{self, Symmetry};
use super::tangles::{self, Gathered, InstanceOrder, Released};
use super::unseen::Writers;
use super::{witness, Settings};
use crate::behaviour::{Behaviours, Outcome, Product, Undefined};
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Fault, Order, Scope, UndefinedKind, Wait};
use crate::interp::Stop;
use crate::ir::{BarrierOp, Inexact, InstId, Line, Op, Program};
use crate::model::consistency::DataRace;
use crate::model::graph::Kind;
use crate::value::Byte;
use crate::witness::{Execution, Witness};

/// What stays the same over all rounds.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) dispatch: &'a Dispatch,
    pub(super) settings: &'a Settings,
    pub(super) reach: Reach,
    pub(super) writers: Writers,
    /// The instructions at which invocations wait for each other.
    pub(super) meetings: Vec<InstId>,
    pub(super) numbers: BarrierNumbers,
    /// The invocations of each subgroup.
    pub(super) subgroups: Vec<Vec<usize>>,
    pub(super) workgroups: Vec<Vec<usize>>,
    pub(super) order: InstanceOrder<'a>,
    /// Something beside barriers of workgroups makes atomics synchronise.
    pub(super) has_fences: bool,
    /// Invocations may be symmetric.
    pub(super) has_first_updates: bool,
    pub(super) budget: Budget<'a>,
    /// Where every search begins.
    pub(super) first: State,
    /// Threads for large searches, once there is one.
    pool: OnceLock<Option<ThreadPool>>,
    /// An outcome of these ends the search.
    pub(super) target: Option<Target<'a>>,
}

/// Names outcomes.
pub(super) type Target<'a> = &'a (dyn Fn(&Outcome) -> bool + Sync);

impl<'a> Context<'a> {
    pub(super) fn new(
        program: &'a Program,
        dispatch: &'a Dispatch,
        settings: &'a Settings,
        target: Option<Target<'a>>,
    ) -> Self {
        Context {
            program,
            dispatch,
            settings,
            reach: Reach::new(program),
            writers: Writers::of(program),
            meetings: apart::meetings(program),
            numbers: BarrierNumbers::new(program, dispatch),
            subgroups: tangles::subgroups(dispatch),
            workgroups: tangles::workgroups(dispatch),
            order: InstanceOrder::new(program),
            has_fences: has_fences(program),
            has_first_updates: symmetry::has_first_updates(program),
            budget: Budget::new(settings),
            first: State::new(program, dispatch, settings),
            pool: OnceLock::new(),
            target,
        }
    }
}

/// Whether the program has barriers that may make atomics of several workgroups synchronise, or those of
/// invocations that wait for nobody.
fn has_fences(program: &Program) -> bool {
    let code = program.functions.iter().flat_map(|function| &function.code);
    let mut barriers = code.filter_map(|inst| match &inst.op {
        Op::Barrier(barrier) => Some(barrier),
        _ => None,
    });
    barriers.any(|barrier| match barrier {
        BarrierOp::Control { execution, memory, semantics } => {
            semantics.order != Order::Relaxed && (*execution < Scope::Workgroup || *memory > Scope::Workgroup)
        }
        BarrierOp::Memory { semantics, .. } => semantics.order != Order::Relaxed,
        BarrierOp::Numbered(_) | BarrierOp::Device(_) => true,
    })
}

impl Context<'_> {
    /// The threads that were asked for; `None` for those that everybody shares.
    pub(super) fn pool(&self) -> Option<&ThreadPool> {
        let build = || match self.settings.jobs {
            0 => None,
            jobs => ThreadPoolBuilder::new().num_threads(jobs).build().ok(),
        };
        self.pool.get_or_init(build).as_ref()
    }

    /// Whether there may be no execution: the program says of some that they do not count, or what
    /// synchronizes on the host's word contradicts what does by barriers.
    pub(super) fn may_discard(&self) -> bool {
        if !self.dispatch.system_synchronizes_with.is_empty() {
            return true;
        }
        let mut code = self.program.functions.iter().flat_map(|function| &function.code);
        code.any(|inst| matches!(inst.op, Op::Require { .. }))
    }
}

/// What a search found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) outcomes: Outcomes,
    pub(super) undefined: BTreeMap<Undefined, Witness>,
    pub(super) executions: u64,
    pub(super) explored: u64,
    pub(super) blocked: u64,
    pub(super) discarded: u64,
    pub(super) bounded: Option<String>,
    pub(super) undecided: BTreeSet<String>,
    pub(super) removable_hang: Option<Line>,
    pub(super) inexact: BTreeSet<Inexact>,
    pub(super) discoveries: Discoveries,
    /// What groups of invocations found that were explored apart, and that put together.
    pub(super) factors: Vec<Factor>,
    pub(super) product: Option<Arc<Product>>,
    /// Nothing after this in search order counts.
    pub(super) stop: bool,
    /// It is an outcome that the search was to find.
    pub(super) at_target: bool,
    /// Where invocations first came to what is not their own to decide, by their call stacks: up to there each does the
    /// same in every execution.
    pub(super) first_decisions: BTreeMap<u32, SmallVec<[InstId; 4]>>,
    /// The branches that a scout left out, each with its share of the whole tree, the next one last.
    pub(super) left: Vec<(State, f64)>,
    /// The whole round does not go on from there: it finds ends apart on that path, or more was left out than is kept.
    pub(super) strayed: bool,
}

impl Found {
    pub(super) fn merge(&mut self, other: Found) {
        self.outcomes.append(other.outcomes);
        for (undefined, witness) in other.undefined {
            self.undefined.entry(undefined).or_insert(witness);
        }
        self.executions = self.executions.saturating_add(other.executions);
        self.explored += other.explored;
        self.blocked += other.blocked;
        self.discarded += other.discarded;
        self.bounded = self.bounded.take().or(other.bounded);
        self.undecided.extend(other.undecided);
        self.removable_hang = self.removable_hang.or(other.removable_hang);
        self.inexact.extend(other.inexact);
        self.discoveries.merge(other.discoveries);
        for (invocation, position) in other.first_decisions {
            self.first_decisions.entry(invocation).or_insert(position);
        }
        self.stop |= other.stop;
        self.at_target |= other.at_target;
    }

    /// Notes that the fast path and the declared relations differ.
    pub(super) fn disagree(&mut self, about: &str) {
        self.undecided
            .insert(format!("the engine disagrees with the model about {about} (a bug of spirv-tv)"));
    }

    pub(super) fn into_behaviours(self, context: &Context, knowledge: &Knowledge) -> Behaviours {
        let capped = knowledge.capped.then(|| "values that load buffering speculates".to_owned());
        // Where threads were started for the search.
        let outcomes = match context.pool.get() {
            None => self.outcomes.into_sorted(false),
            Some(None) => self.outcomes.into_sorted(true),
            Some(Some(pool)) => pool.install(|| self.outcomes.into_sorted(true)),
        };
        Behaviours {
            outcomes,
            undefined: self.undefined.into_iter().collect(),
            product: self.product,
            executions: self.executions,
            explored: self.explored,
            blocked: self.blocked,
            discarded: self.discarded,
            bounded: self.bounded.or(capped),
            undecided: self.undecided.into_iter().collect(),
            removable_hang: self.removable_hang,
            inexact: self.inexact,
            produced: knowledge.produced_values(context.dispatch),
            ends_at_target: self.at_target,
            speculates: !self.discoveries.wanted_values.is_empty(),
            ..Behaviours::default()
        }
    }
}

/// Branches that a scout leaves out and keeps.
const MAX_LEFT: usize = 256;

/// How far [`Search::advance`] came.
pub(super) enum Advanced {
    /// Every invocation stands at a read, a barrier or its end.
    Quiet,
    /// The path is no execution, or one that another path stands for.
    Dead,
    Branch(Vec<State>),
}

/// One round.
pub(super) struct Search<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) knowledge: &'a Knowledge,
    /// Follow the first of all branches only, for what can be learned there.
    pub(super) scouts: bool,
    /// These invocations are not all that there are.
    pub(super) in_group: bool,
    pub(super) symmetry: Option<Symmetry>,
}

impl<'a> Search<'a> {
    pub(super) fn new(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Self {
        let symmetry = Symmetry::find(context, knowledge);
        Search { context, knowledge, scouts: false, in_group: false, symmetry }
    }

    /// A search of one path.
    pub(super) fn scout(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Self {
        Search { context, knowledge, scouts: true, in_group: false, symmetry: None }
    }

    /// A search of a group of invocations, apart from the others.
    pub(super) fn of_group(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Self {
        Search { context, knowledge, scouts: false, in_group: true, symmetry: None }
    }

    pub(super) fn run(&self) -> Found {
        self.run_from(self.context.first.clone(), 1.0)
    }

    /// The round whose first path a scout has `begun`, knowing the same.
    pub(super) fn go_on(&self, mut begun: Found) -> Found {
        if self.symmetry.is_some() || begun.strayed {
            self.context.budget.start_round();
            return self.run();
        }
        let left = std::mem::take(&mut begun.left);
        if !begun.stop {
            self.explore(left, FIRST_ALONE, None, &mut begun);
        }
        begun
    }

    /// Explores what follows from a first state, which makes out `share` of the whole.
    pub(super) fn run_from(&self, first: State, share: f64) -> Found {
        let mut found = Found::default();
        found.inexact.extend(self.context.program.modes.floats.always_inexact);
        self.explore(vec![(first, share)], FIRST_ALONE, None, &mut found);
        if found.bounded.is_some() || !found.undecided.is_empty() {
            self.break_symmetries(&mut found);
        }
        found
    }

    /// Explores what follows states, the first one last, each with its share of the whole tree, where each branch
    /// counts as much as the others. After so many nodes `alone`, other threads help.
    pub(super) fn explore(
        &self,
        mut rest: Vec<(State, f64)>,
        alone: u64,
        place: Option<&Place>,
        found: &mut Found,
    ) {
        // Large launches branch thousands of times on one path: too often for recursion.
        let mut visited = 0;
        while let Some((state, share)) = rest.pop() {
            let children = self.follow(state, share, place, found);
            let ends = children.is_empty();
            let share = share / children.len() as f64;
            rest.extend(children.into_iter().rev().map(|child| (child, share)));
            if self.scouts && (ends || found.stop) {
                found.left = rest;
                return;
            }
            if self.scouts && rest.len() > MAX_LEFT {
                rest.drain(1..rest.len() - 1);
                found.strayed = true;
            }
            if found.stop || Self::is_superseded(place) {
                return;
            }
            visited += 1;
            if visited >= alone && rest.len() > 1 && self.context.settings.jobs != 1 && !self.scouts {
                rest.reverse();
                return self.share_out(rest, place, found);
            }
        }
    }

    /// Follows a path to its end or to where it branches; the branches in search order. `share` of the tree is
    /// done if there are none.
    pub(super) fn follow(
        &self,
        mut state: State,
        share: f64,
        place: Option<&Place>,
        found: &mut Found,
    ) -> Vec<State> {
        loop {
            if found.stop || self.context.budget.step() {
                return Vec::new();
            }
            let mut children = match self.advance(&mut state, found) {
                Advanced::Dead => {
                    found.stop |= state.dirty;
                    found.blocked += 1;
                    self.charge_path(&state);
                    Vec::new()
                }
                Advanced::Branch(children) => children,
                Advanced::Quiet if self.end_at_fault(&mut state, found) => Vec::new(),
                Advanced::Quiet if self.owes_for_ever(&state) => {
                    found.blocked += 1;
                    Vec::new()
                }
                Advanced::Quiet => match self.release_barrier(&mut state, found) {
                    Released::Some if !self.is_hopeless(&state) => continue,
                    Released::Some | Released::Dead => {
                        found.blocked += 1;
                        Vec::new()
                    }
                    Released::Nobody if self.end_apart(&mut state, share, place, found) => return Vec::new(),
                    Released::Nobody => match self.next_reader(&mut state, found) {
                        Some(reader) => self.resolve(state, reader, found),
                        None => self.stuck(&mut state, found),
                    },
                },
            };
            match children.pop() {
                Some(only) if children.is_empty() => state = only,
                Some(last) => {
                    children.push(last);
                    return children;
                }
                None => {
                    self.context.budget.path_ended(share);
                    return Vec::new();
                }
            }
        }
    }

    /// Counts the instructions of a path that ends.
    pub(super) fn charge_path(&self, state: &State) {
        self.context.budget.charge(0, self.context.settings.max_instructions.saturating_sub(state.fuel));
    }

    /// Runs every invocation until it must wait for others.
    pub(super) fn advance(&self, state: &mut State, found: &mut Found) -> Advanced {
        for index in 0..state.threads.len() {
            while matches!(state.threads[index].status, Status::Running) {
                let events = state.graph.events.len();
                let stop = self.run_invocation(state, index, found);
                if self.is_convicted(state, events, found) {
                    return Advanced::Branch(Vec::new());
                }
                match self.handle(state, index, stop, found) {
                    Advanced::Quiet => {}
                    other => return other,
                }
            }
        }
        Advanced::Quiet
    }

    pub(super) fn run_invocation(&self, state: &mut State, index: usize, found: &mut Found) -> Stop {
        let known = (found.discoveries.shared.len(), found.discoveries.split.len());
        let thread = &mut state.threads[index];
        let mut view = View {
            dispatch: self.context.dispatch,
            knowledge: self.knowledge,
            contents: &mut state.contents,
            found: &mut found.discoveries,
            changes: &mut thread.changes,
            phases: &state.phases,
            agent: index as u32,
            updates_commute: !self.knowledge.has_units() || !self.context.has_fences,
            in_group: self.in_group,
            plain_speculates: self.context.settings.plain_reads_speculate(),
            notes: self.knowledge.suspect.map(|suspect| Notes { suspect, graph: &mut state.graph }),
            fault: None,
        };
        let invocation = Arc::make_mut(&mut thread.invocation);
        let mut stop =
            invocation.run(self.context.program, self.context.dispatch, &mut view, &mut state.fuel);
        found.inexact.append(&mut invocation.take_inexact());
        if let Some(fault) = view.fault {
            stop = Stop::Fault(fault);
        }
        if self.in_group || self.scouts {
            self.note_contact(index, &stop, found);
        }
        state.dirty |= known != (found.discoveries.shared.len(), found.discoveries.split.len());
        stop
    }

    fn handle(&self, state: &mut State, index: usize, stop: Stop, found: &mut Found) -> Advanced {
        let agent = index as u32;
        // Behind a barrier even memory without events has what others decided.
        let decides = matches!(
            stop,
            Stop::Read(_)
                | Stop::AtomicRead { .. }
                | Stop::Choose { .. }
                | Stop::Subgroup { .. }
                | Stop::Barrier { .. }
        );
        if decides && !state.threads[index].has_decided {
            let thread = &mut state.threads[index];
            thread.has_decided = true;
            found.first_decisions.entry(agent).or_insert_with(|| thread.invocation.position());
        }
        match stop {
            Stop::Read(access) => {
                state.threads[index].status =
                    Status::Reading { access: Arc::new(access), atomic: None, may_write: false };
            }
            Stop::AtomicRead { access, atomicity, may_write } => {
                state.threads[index].status =
                    Status::Reading { access: Arc::new(access), atomic: Some(atomicity), may_write };
            }
            Stop::Write(access, bytes) => return self.write(state, index, &access, None, &bytes, found),
            Stop::AtomicWrite { access, atomicity, bytes } => {
                return self.write(state, index, &access, Some(&atomicity), &bytes, found)
            }
            Stop::Fence(fence) => {
                if fence.semantics.order != Order::Relaxed && self.knowledge.has_units() {
                    state.push(events::fence_event(agent, Kind::Fence, &fence));
                }
            }
            Stop::Device(operation, fence) => {
                if self.knowledge.has_units() {
                    state.push(events::device_event(agent, operation, &fence));
                }
            }
            Stop::Barrier { execution, fence, waits: Wait::Nobody(instance), .. } => {
                if self.knowledge.has_units() {
                    let kind = Kind::Barrier { instance, execution };
                    state.push(events::fence_event(agent, kind, &fence));
                }
            }
            Stop::Barrier { execution, fence, mut name, waits, line, .. } => {
                if waits == Wait::Users {
                    barriers::count_arrival(&mut state.threads[index], &mut name);
                }
                state.threads[index].status =
                    Status::Barrier(Arc::new(Arrived { execution, fence, name, waits, line }));
            }
            Stop::Subgroup { name, scope, line } => {
                state.threads[index].status = Status::Subgroup(Arc::new(Gathered { name, scope, line }));
            }
            Stop::Discarded => return Advanced::Dead,
            Stop::Choose { ways, line: _ } => {
                let children = (0..ways).map(|way| {
                    let mut child = state.clone();
                    Arc::make_mut(&mut child.threads[index].invocation).choose(way);
                    child
                });
                return Advanced::Branch(children.collect());
            }
            Stop::LoopEntry { function_depth, loop_id } => self.enter(state, index, function_depth, loop_id),
            Stop::Iteration { function_depth, loop_id, chosen, .. } => {
                return match self.arrive(state, index, function_depth, loop_id, chosen, found) {
                    true => Advanced::Quiet,
                    false => Advanced::Dead,
                }
            }
            Stop::Finished => state.threads[index].status = Status::Finished,
            Stop::Fault(fault) => state.threads[index].status = Status::Faulted(Arc::new(fault)),
            Stop::Forever { line, has_effects } => {
                state.threads[index].status = Status::Forever { line, has_effects }
            }
            Stop::OutOfFuel => {
                found.bounded.get_or_insert_with(|| "--max-instructions".to_owned());
                return Advanced::Dead;
            }
            Stop::Unsupported { line, what } => {
                found.undecided.insert(format!("{what} (line {line})"));
                return Advanced::Dead;
            }
        }
        Advanced::Quiet
    }

    /// A write that does not read.
    fn write(
        &self,
        state: &mut State,
        index: usize,
        access: &Access,
        atomic: Option<&Atomicity>,
        bytes: &[Byte],
        found: &mut Found,
    ) -> Advanced {
        let agent = index as u32;
        let Some(object) = self.context.dispatch.objects.get(access.object as usize) else {
            return Advanced::Dead;
        };
        let memory = object.memory;
        let spans = state::units_of(access, memory, self.knowledge, |word| {
            found.discoveries.split.insert((memory, word));
        });
        if let Some(fault) = state.contents.declare(access, memory, true) {
            state.threads[index].status = Status::Faulted(Arc::new(fault));
            return Advanced::Quiet;
        }
        let by = self.by(index, atomic.is_some());
        state.write_unshared(access, memory, by, &mut found.discoveries, bytes);
        if access.volatile {
            let entry = volatile_access(access, true, atomic.is_some(), bytes);
            Arc::make_mut(&mut state.threads[index].trace).push(entry);
        }
        let Some(spans) = spans else {
            state.dirty = true;
            return Advanced::Quiet;
        };
        let units = spans.iter().map(|(unit, _)| *unit);
        let mut event = events::access_event(agent, Kind::Write, access, atomic, object.reference, units);
        event.written = state::split_bytes(&spans, bytes).collect();
        let id = state.push(event);
        self.note_writer(state, id, found);
        match self.match_pending(state, id, found) {
            Some(children) => Advanced::Branch(children),
            None => Advanced::Quiet,
        }
    }

    pub(super) fn by(&self, index: usize, atomic: bool) -> By<'_> {
        By { agent: index as u32, dispatch: self.context.dispatch, knowledge: self.knowledge, atomic }
    }

    /// Records an undefined behaviour that an invocation ran into, once the path is known to be
    /// an execution.
    pub(super) fn end_at_fault(&self, state: &mut State, found: &mut Found) -> bool {
        if state.dirty || !state.pending.is_empty() {
            return false;
        }
        let fault = state.threads.iter().find_map(|thread| match &thread.status {
            Status::Faulted(fault) => Some(fault.clone()),
            _ => None,
        });
        let Some(fault) = fault else { return false };
        if self.knowledge.orders_matter && self.executions(state, found).is_empty() {
            return false;
        }
        self.record_undefined(state, Undefined::from(Fault::clone(&fault)), found);
        true
    }

    pub(super) fn record_undefined(&self, state: &State, undefined: Undefined, found: &mut Found) {
        found.explored += 1;
        if self.rests_on_reconvergence(state, found) {
            return;
        }
        if state.has_parted() {
            self.break_symmetries(found);
        }
        let graph = &state.graph;
        found
            .undefined
            .entry(undefined)
            .or_insert_with(|| self.witness(Execution::Whole(graph.clone()), None));
        found.stop |= self.context.settings.stop_at_undefined;
        self.context.budget.execution(0);
    }

    pub(super) fn record_race(&self, state: &State, race: DataRace, found: &mut Found) {
        let graph = &state.graph;
        let line = |event: u32| graph.events[event as usize].line;
        let mut lines = vec![line(race.first), line(race.second)];
        lines.sort_unstable();
        let detail = witness::race_detail(graph, race);
        self.record_undefined(state, Undefined { kind: UndefinedKind::DataRace, lines, detail }, found);
    }
}
