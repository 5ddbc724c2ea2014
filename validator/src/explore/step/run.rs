//! Runs invocations until each stands at a read, at a barrier or at its end. Their writes, fences and barriers become
//! events.

use std::sync::Arc;

use crate::behaviour::{Bound, PathEnd, Undecided, Undefined};
use crate::event::{Access, Atomicity, Fault, Order, Wait};
use crate::explore::outcomes::record;
use crate::explore::reductions::commuting_updates;
use crate::explore::reductions::components::contact;
use crate::explore::reductions::early_races::notes::{self, PlainAccesses};
use crate::explore::state::arrivals::{Arrived, Gathered};
use crate::explore::state::{accesses, Advanced, By, Found, Round, State, Status};
use crate::explore::step::barrier_instances;
use crate::explore::step::descriptors;
use crate::explore::step::fulfilment;
use crate::explore::step::loops::arrivals::{self, Turn};
use crate::explore::step::loops::exits;
use crate::explore::step::noted_writes;
use crate::explore::step::view::{self, View};
use crate::explore::{events, oracle};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{Invocation, Stop};
use crate::model::graph::Kind;
use crate::value::Byte;

/// The number of instructions that an invocation runs before the budgets are checked.
const TURN: u64 = 1 << 20;

/// Charges the instructions of a path that ends to the budgets.
pub(crate) fn charge_path(round: &Round, state: &State) {
    round.context.budget.charge(0, round.context.settings.max_instructions.saturating_sub(state.fuel));
}

/// Runs every invocation until it must wait for others.
pub(crate) fn advance(round: &Round, state: &mut State, found: &mut Found) -> Advanced {
    for index in 0..state.threads.len() {
        if !matches!(state.threads[index].status, Status::Running) {
            continue;
        }
        let events = state.graph.events.len();
        let mut advancing = Advancing { round, state, index, events, found };
        match runner::drive(round.context.program, &mut advancing, Decision::GoOn) {
            Advanced::Quiet => {}
            other => return other,
        }
    }
    Advanced::Quiet
}

/// An invocation that runs until it must wait for others.
struct Advancing<'s, 'a> {
    round: &'s Round<'a>,
    state: &'s mut State,
    index: usize,
    /// The number of events before the last stop.
    events: usize,
    found: &'s mut Found,
}

impl Driver for Advancing<'_, '_> {
    type End = Advanced;

    fn run(&mut self) -> Stop {
        self.events = self.state.graph.events.len();
        run_invocation(self.round, self.state, self.index, self.found)
    }

    fn invocation(&mut self) -> &mut Invocation {
        Arc::make_mut(&mut self.state.threads[self.index].invocation)
    }

    fn decide(&mut self, stop: Stop) -> Decision<Advanced> {
        let Advancing { round, state, index, events, found } = self;
        if notes::has_early_race(round, state, *events, found) {
            return Decision::End(Advanced::Branch(Vec::new()));
        }
        match handle(round, state, *index, stop, found) {
            Advanced::Quiet if matches!(state.threads[*index].status, Status::Running) => Decision::GoOn,
            end => Decision::End(end),
        }
    }

    /// The invocation waits at atomic instructions, so that the search resolves them.
    fn updated(&mut self, _: &[Byte], _: Vec<Byte>) -> Option<Advanced> {
        Some(Advanced::Quiet)
    }
}

pub(crate) fn run_invocation(round: &Round, state: &mut State, index: usize, found: &mut Found) -> Stop {
    let known = (found.discoveries.shared.len(), found.discoveries.split.len());
    let noted = descriptors::noted_descriptors(state, index);
    let thread = &mut state.threads[index];
    let mut view = View {
        dispatch: round.context.dispatch,
        knowledge: round.knowledge,
        contents: &mut state.contents,
        found: &mut found.discoveries,
        changes: &mut thread.changes,
        epochs: &state.epochs,
        agent: index as u32,
        updates_commute: commuting_updates::may_stay_unordered(round),
        in_group: round.in_group,
        plain_speculates: round.context.settings.plain_reads_speculate(),
        notes: round
            .knowledge
            .race_candidate
            .map(|race_candidate| PlainAccesses { race_candidate, graph: &mut state.graph }),
        fault: None,
    };
    let invocation = Arc::make_mut(&mut thread.invocation);
    let mut stop = loop {
        let mut turn = state.fuel.min(TURN);
        let left = state.fuel - turn;
        let stop = invocation.run(round.context.program, round.context.dispatch, &mut view, &mut turn);
        state.fuel = left + turn;
        if !matches!(stop, Stop::OutOfFuel) || state.fuel == 0 || round.context.budget.step() {
            break stop;
        }
    };
    found.inexact.extend(invocation.take_inexact());
    if let Some(fault) = view.fault {
        stop = Stop::Fault(fault);
    }
    if let Some(fault) = descriptors::differing_descriptor(round, state, index, noted) {
        stop = Stop::Fault(fault);
    }
    if round.in_group || round.scouts {
        contact::note_contact(round, index, &stop, found);
    }
    state.dirty |= known != (found.discoveries.shared.len(), found.discoveries.split.len());
    stop
}

fn handle(round: &Round, state: &mut State, index: usize, stop: Stop, found: &mut Found) -> Advanced {
    let agent = index as u32;
    // Behind a barrier even memory without events has values that depend on the decisions of other invocations.
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
        Stop::Write(access, bytes) => return write(round, state, index, &access, None, &bytes, found),
        Stop::AtomicWrite { access, atomicity, bytes } => {
            return write(round, state, index, &access, Some(&atomicity), &bytes, found)
        }
        Stop::Fence(fence) => {
            if fence.semantics.order != Order::Relaxed && round.knowledge.has_units() {
                state.push(events::fence_event(agent, Kind::Fence, &fence));
            }
        }
        Stop::Device(operation, fence) => {
            if round.knowledge.has_units() {
                state.push(events::device_event(agent, operation, &fence));
            }
        }
        Stop::Barrier { execution, fence, waits: Wait::Nobody(instance), .. } => {
            if round.knowledge.has_units() {
                let kind = Kind::Barrier { instance, execution };
                state.push(events::fence_event(agent, kind, &fence));
            }
        }
        Stop::Barrier { execution, fence, mut name, waits, line, .. } => {
            if matches!(waits, Wait::Users | Wait::Quorum(_)) {
                barrier_instances::count_arrival(&mut state.threads[index], &mut name);
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
        Stop::LoopEntry { function_depth, loop_id } => {
            arrivals::enter(round, state, index, function_depth, loop_id)
        }
        Stop::Iteration { function_depth, loop_id, .. } => {
            match arrivals::arrive(round, state, index, function_depth, loop_id, found) {
                Turn::GoesOn => {}
                Turn::Ends(end) => return Advanced::Ended(end),
                Turn::Races(race) => {
                    record::record_race(round, state, race, found);
                    return Advanced::Branch(Vec::new());
                }
                Turn::Endless { has_effects } => {
                    let endless = (function_depth, loop_id);
                    return exits::never_ends(round, state, index, endless, has_effects, found);
                }
            }
        }
        Stop::Finished => state.threads[index].status = Status::Finished,
        Stop::Fault(fault) => note_fault(round, state, index, fault),
        Stop::Forever { function_depth, loop_id, line: _, has_effects } => {
            let endless = (function_depth, loop_id);
            return exits::never_ends(round, state, index, endless, has_effects, found);
        }
        // A budget ended the run before its instructions were used up.
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
    round: &Round,
    state: &mut State,
    index: usize,
    access: &Access,
    atomic: Option<&Atomicity>,
    bytes: &[Byte],
    found: &mut Found,
) -> Advanced {
    let agent = index as u32;
    let object = &round.context.dispatch.objects[access.object as usize];
    let memory = object.memory;
    let spans = accesses::units_of(access, memory, round.knowledge, |word| {
        found.discoveries.split.insert((memory, word));
    });
    if let Some(fault) = state.contents.declare(access, memory, true) {
        // The store itself is undefined behaviour and may do anything.
        state.threads[index].fault.get_or_insert_with(|| Arc::new(fault));
        if state.promises.is_empty() {
            state.threads[index].status = Status::Faulted;
            return Advanced::Quiet;
        }
    }
    let by = by(round, index, atomic.is_some());
    state.write_unshared(access, memory, by, &mut found.discoveries, bytes);
    if access.volatile {
        let entry = view::volatile_access(access, true, atomic.is_some(), bytes);
        Arc::make_mut(&mut state.threads[index].trace).push(entry);
    }
    let Some(spans) = spans else {
        state.dirty = true;
        return Advanced::Quiet;
    };
    let units = spans.iter().map(|(unit, _)| *unit);
    let mut event = events::access_event(agent, Kind::Write, access, atomic, object.reference, units);
    event.written = accesses::split_bytes(&spans, bytes).collect();
    let id = state.push(event);
    noted_writes::note_writer(round, state, id, found);
    match fulfilment::fulfil(round, state, id, found) {
        Some(children) => Advanced::Branch(children),
        None => Advanced::Quiet,
    }
}

pub(crate) fn by<'a>(round: &Round<'a>, index: usize, atomic: bool) -> By<'a> {
    By { agent: index as u32, dispatch: round.context.dispatch, knowledge: round.knowledge, atomic }
}

/// Notes that an invocation ran into undefined behaviour. It may do anything from here on. While reads speculate, the
/// invocation continues with an undefined result, so that what it writes later may close their cycles. (If those writes
/// fulfil no promise, the path up to here is an execution already.)
fn note_fault(round: &Round, state: &mut State, index: usize, fault: Fault) {
    let speculates = !state.promises.is_empty();
    let thread = &mut state.threads[index];
    thread.fault.get_or_insert_with(|| Arc::new(fault));
    if !speculates || !Arc::make_mut(&mut thread.invocation).pass_fault(round.context.program) {
        thread.status = Status::Faulted;
    }
}

/// Records the undefined behaviour that an invocation ran into, once the path is known to be an execution.
pub(crate) fn end_at_fault(round: &Round, state: &mut State, found: &mut Found) -> bool {
    if state.dirty || !state.promises.is_empty() {
        return false;
    }
    let fault = state.threads.iter().find_map(|thread| thread.fault.clone());
    let Some(fault) = fault else { return false };
    if round.knowledge.orders_matter && oracle::executions(round, state, found).is_err() {
        return false;
    }
    record::record_undefined(round, state, Undefined::from(Fault::clone(&fault)), found);
    true
}
