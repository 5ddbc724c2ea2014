//! The search itself: run every invocation as far as it goes, then branch.

use std::sync::Arc;

use super::barriers;
use super::context::Context;
use super::events;
use super::foresight::IdleTurns;
use super::found::Found;
use super::knowledge::Knowledge;
use super::memory::{volatile_access, View};
use super::merging::{Merging, Trail};
use super::outlook::Outlooks;
use super::sharing::{Place, FIRST_ALONE};
use super::spin::Turn;
use super::state::{self, Arrived, By, State, Status};
use super::suspects::Notes;
use super::symmetry::Symmetry;
use super::tangles::{Gathered, Released};
use super::turns::Turns;
use super::witness;
use crate::behaviour::{Bound, PathEnd, Undecided, Undefined};
use crate::event::{Access, Atomicity, Fault, Order, UndefinedKind, Wait};
use crate::interp::Stop;
use crate::model::consistency::DataRace;
use crate::model::graph::Kind;
use crate::value::Byte;
use crate::witness::Execution;

/// Branches that a scout leaves out and keeps.
const MAX_LEFT: usize = 256;

/// Instructions of an invocation until somebody looks at the budgets.
const TURN: u64 = 1 << 20;

/// How far [`Search::advance`] came.
pub(super) enum Advanced {
    /// Every invocation stands at a read, a barrier or its end.
    Quiet,
    /// The path ends before everybody has come to a stop.
    Ended(PathEnd),
    /// With nothing to go on with, the path has ended and was counted.
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
    pub(super) merging: Option<Merging<'a>>,
    pub(super) outlooks: Outlooks,
    pub(super) turns: Turns,
    pub(super) idle_turns: IdleTurns,
}

impl<'a> Search<'a> {
    pub(super) fn new(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Self {
        let symmetry = Symmetry::find(context, knowledge, None);
        let merging = Merging::new(context, knowledge);
        Search { symmetry, merging, ..Search::plain(context, knowledge) }
    }

    fn plain(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Self {
        Search {
            context,
            knowledge,
            scouts: false,
            in_group: false,
            symmetry: None,
            merging: None,
            outlooks: Outlooks::default(),
            turns: Turns::default(),
            idle_turns: IdleTurns::default(),
        }
    }

    /// A search of one path.
    pub(super) fn scout(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Self {
        Search { scouts: true, ..Search::plain(context, knowledge) }
    }

    /// A search of a group of invocations, apart from the others.
    pub(super) fn of_group(context: &'a Context<'a>, knowledge: &'a Knowledge, members: &[usize]) -> Self {
        let symmetry = Symmetry::find(context, knowledge, Some(members));
        let merging = Merging::new(context, knowledge);
        Search { in_group: true, symmetry, merging, ..Search::plain(context, knowledge) }
    }

    pub(super) fn run(&self) -> Found {
        self.run_from(self.context.first(), 1.0)
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
        found.paths.start();
        found.inexact.extend(self.context.program.modes.floats.always_inexact);
        self.explore(vec![(first, share)], FIRST_ALONE, None, &mut found);
        found.discoveries.touched.merge(self.outlooks.touched());
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
        if self.merging.is_some() {
            return self.explore_futures(rest, found);
        }
        // Large launches branch thousands of times on one path: too often for recursion.
        let mut visited = 0;
        while let Some((state, share)) = rest.pop() {
            let children = self.follow(state, share, place, None, found);
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
        mut trail: Option<&mut Trail>,
        found: &mut Found,
    ) -> Vec<State> {
        loop {
            found.overfed |= found.judged_anew > self.knowledge.most_judged_anew();
            found.stop |= found.overfed;
            if found.stop || self.context.budget.step() {
                return Vec::new();
            }
            let mut children = match self.advance(&mut state, found) {
                Advanced::Ended(end) => {
                    found.stop |= state.dirty;
                    found.paths.end(end);
                    self.charge_path(&state);
                    Vec::new()
                }
                Advanced::Branch(children) => children,
                Advanced::Quiet if self.end_at_fault(&mut state, found) => Vec::new(),
                Advanced::Quiet if self.owes_for_ever(&state) => {
                    found.paths.end(PathEnd::OutOfThinAir);
                    Vec::new()
                }
                Advanced::Quiet => match self.release_barrier(&mut state, found) {
                    Released::Some if !self.is_hopeless(&state) => continue,
                    Released::Some => {
                        found.paths.end(PathEnd::OutOfThinAir);
                        Vec::new()
                    }
                    Released::Ended(end) => {
                        found.paths.end(end);
                        Vec::new()
                    }
                    Released::Nobody
                        if trail.take().is_some_and(|trail| self.was_there(&mut state, trail, found)) =>
                    {
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
        let noted = self.noted_descriptors(state, index);
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
        let mut stop = loop {
            let mut turn = state.fuel.min(TURN);
            let left = state.fuel - turn;
            let stop = invocation.run(self.context.program, self.context.dispatch, &mut view, &mut turn);
            state.fuel = left + turn;
            if !matches!(stop, Stop::OutOfFuel) || state.fuel == 0 || self.context.budget.step() {
                break stop;
            }
        };
        found.inexact.extend(invocation.take_inexact());
        if let Some(fault) = view.fault {
            stop = Stop::Fault(fault);
        }
        if let Some(fault) = self.differing_descriptor(state, index, noted) {
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
                if matches!(waits, Wait::Users | Wait::Quorum(_)) {
                    barriers::count_arrival(&mut state.threads[index], &mut name);
                }
                state.threads[index].status =
                    Status::Barrier(Arc::new(Arrived { execution, fence, name, waits, line }));
            }
            Stop::Subgroup { name, scope, line } => {
                state.threads[index].status = Status::Subgroup(Arc::new(Gathered { name, scope, line }));
            }
            Stop::Discarded => return Advanced::Ended(PathEnd::Discarded),
            Stop::Choose { ways, line: _ } => {
                found.paths.branch(ways as usize);
                let children = (0..ways).map(|way| {
                    let mut child = state.clone();
                    Arc::make_mut(&mut child.threads[index].invocation).choose(way);
                    child
                });
                return Advanced::Branch(children.collect());
            }
            Stop::LoopEntry { function_depth, loop_id } => self.enter(state, index, function_depth, loop_id),
            Stop::Iteration { function_depth, loop_id, .. } => {
                match self.arrive(state, index, function_depth, loop_id, found) {
                    Turn::GoesOn => {}
                    Turn::Ends(end) => return Advanced::Ended(end),
                    Turn::Races(race) => {
                        self.record_race(state, race, found);
                        return Advanced::Branch(Vec::new());
                    }
                    Turn::Endless { has_effects } => {
                        let endless = (function_depth, loop_id);
                        return self.never_ends(state, index, endless, has_effects, found);
                    }
                }
            }
            Stop::Finished => state.threads[index].status = Status::Finished,
            Stop::Fault(fault) => self.note_fault(state, index, fault),
            Stop::Forever { function_depth, loop_id, line: _, has_effects } => {
                let endless = (function_depth, loop_id);
                return self.never_ends(state, index, endless, has_effects, found);
            }
            // A budget ended it within its instructions.
            Stop::OutOfFuel if state.fuel > 0 => return Advanced::Ended(PathEnd::Budget),
            Stop::OutOfFuel => {
                found.bounded.get_or_insert(Bound::MaxInstructions);
                return Advanced::Ended(PathEnd::MaxInstructions);
            }
            Stop::Unsupported { line, what } => {
                found.undecided.insert(Undecided::Unsupported { line, what });
                return Advanced::Ended(PathEnd::Unsupported);
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
        let object = &self.context.dispatch.objects[access.object as usize];
        let memory = object.memory;
        let spans = state::units_of(access, memory, self.knowledge, |word| {
            found.discoveries.split.insert((memory, word));
        });
        if let Some(fault) = state.contents.declare(access, memory, true) {
            // The store itself may do anything.
            state.threads[index].fault.get_or_insert_with(|| Arc::new(fault));
            if state.pending.is_empty() {
                state.threads[index].status = Status::Faulted;
                return Advanced::Quiet;
            }
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

    /// An invocation runs into undefined behaviour. It may do anything from here on: while reads speculate, it goes on,
    /// with an undefined result, so that what it writes later may close their cycles. (Everything that those
    /// writes do not justify is an execution up to here already.)
    fn note_fault(&self, state: &mut State, index: usize, fault: Fault) {
        let speculates = !state.pending.is_empty();
        let thread = &mut state.threads[index];
        thread.fault.get_or_insert_with(|| Arc::new(fault));
        if !speculates || !Arc::make_mut(&mut thread.invocation).pass_fault(self.context.program) {
            thread.status = Status::Faulted;
        }
    }

    /// Records an undefined behaviour that an invocation ran into, once the path is known to be
    /// an execution.
    pub(super) fn end_at_fault(&self, state: &mut State, found: &mut Found) -> bool {
        if state.dirty || !state.pending.is_empty() {
            return false;
        }
        let fault = state.threads.iter().find_map(|thread| thread.fault.clone());
        let Some(fault) = fault else { return false };
        if self.knowledge.orders_matter && self.executions(state, found).is_err() {
            return false;
        }
        self.record_undefined(state, Undefined::from(Fault::clone(&fault)), found);
        true
    }

    pub(super) fn record_undefined(&self, state: &State, undefined: Undefined, found: &mut Found) {
        if self.drop_excused(state, found) {
            return;
        }
        found.explored += 1;
        if self.rests_on_reconvergence(state, found) {
            return found.paths.end(PathEnd::Reconvergence);
        }
        found.paths.end(PathEnd::Undefined);
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
