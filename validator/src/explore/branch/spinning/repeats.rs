//! Whether a turn of a spin loop repeats if its read takes a given write, tried on a copy of the invocation.

use std::sync::Arc;

use crate::explore::branch::writers;
use crate::explore::state::reader;
use crate::explore::state::reader::Reader;
use crate::explore::state::{accesses, Found, Round, State, Status};
use crate::explore::step::loops::arrivals::MAX_STOPS;
use crate::explore::step::loops::turns;
use crate::explore::step::run;
use crate::interp::Stop;
use crate::model::graph::{EventId, Source, Unit};
use crate::value::Byte;

/// Whether a spinning read may spin for ever if nobody writes any more.
pub(crate) fn may_spin_for_ever(round: &Round, state: &State, reader: &Reader, found: &mut Found) -> bool {
    if others_may_write_in_turn(round, state, reader, found) {
        return true;
    }
    let latest = turns::latest_writes(round, state);
    if polled_beside(round, reader).any(|unit| latest(unit).len() > 1) {
        return true;
    }
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {});
    let ways = spans.into_iter().flatten().map(|(unit, _)| latest(unit).len()).max().unwrap_or(0);
    (0..ways.max(1)).any(|choice| spins_on(round, state, reader.index, choice, &latest, found) != Some(false))
}

/// Whether a spinning read, the only one of its turns, leaves its loop whichever latest write it sees.
pub(crate) fn leaves_with_latest(round: &Round, state: &State, index: usize, found: &mut Found) -> bool {
    let Some(reader) = reader::reader(round, state, index) else { return false };
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {});
    let Some([(unit, _)]) = spans.as_deref() else { return false };
    if polled_beside(round, &reader).next().is_some() {
        return false;
    }
    let latest = turns::latest_writes(round, state);
    let ways = latest(*unit).len();
    (0..ways.max(1)).all(|choice| spins_on(round, state, index, choice, &latest, found) == Some(false))
}

/// Whether others may still write where the turns of a spinning read look beside its own place.
fn others_may_write_in_turn(round: &Round, state: &State, reader: &Reader, found: &mut Found) -> bool {
    polled_beside(round, reader).any(|unit| {
        found.discoveries.wanted_writers.insert(round.knowledge.key(unit));
        let mut others = (0..state.threads.len()).filter(|other| *other != reader.index);
        others.any(|other| writers::may_write(round, state, other, unit, None))
    })
}

/// Where the turns of a spinning read look, if that is more than its own place.
fn polled_beside<'a>(round: &'a Round, reader: &Reader) -> impl Iterator<Item = Unit> + 'a {
    let polled = round.knowledge.spin_units.get(&(reader.index as u32, reader.access.inst));
    let units = (0..).zip(round.knowledge.units().iter());
    polled
        .into_iter()
        .filter(|polled| polled.len() > 1)
        .flat_map(move |polled| units.clone().filter(|(_, key)| polled.contains(key)).map(|(unit, _)| unit))
}

/// Whether a spinning read goes on spinning when it sees the latest write of this number of each unit.
fn spins_on(
    round: &Round,
    state: &State,
    index: usize,
    choice: usize,
    latest: &dyn Fn(Unit) -> Vec<EventId>,
    found: &mut Found,
) -> Option<bool> {
    let pick = |unit| {
        let writes = latest(unit);
        writes.get(choice).or(writes.last()).copied()
    };
    let answer = &mut |simulation: &mut State, found: &mut Found| {
        answer_with_latest(round, state, simulation, index, &pick, found)
    };
    repeats(round, state, index, answer, found)
}

/// Whether the iteration of a spinning read, the only one in it, changes nothing if it reads these bytes.
pub(crate) fn repeats_with(
    round: &Round,
    state: &State,
    index: usize,
    bytes: &[Byte],
    found: &mut Found,
) -> bool {
    let mut answered = false;
    let answer = &mut |simulation: &mut State, _: &mut Found| {
        !std::mem::replace(&mut answered, true) && supply_again(round, simulation, index, bytes)
    };
    repeats(round, state, index, answer, found) == Some(true)
}

/// Whether an iteration whose reads `answer` supplies comes back to where it started, and changes nothing;
/// `None` where that hangs on more than its reads, or is not told for want of instructions. `answer` says whether it is still possible.
fn repeats(
    round: &Round,
    state: &State,
    index: usize,
    answer: &mut dyn FnMut(&mut State, &mut Found) -> bool,
    found: &mut Found,
) -> Option<bool> {
    let mut simulation = state.without_graph();
    for _ in 0..MAX_STOPS {
        let answered = match &simulation.threads[index].status {
            Status::Reading { .. } => answer(&mut simulation, found),
            _ => true,
        };
        if !answered {
            return Some(false);
        }
        match run::run_invocation(round, &mut simulation, index, found) {
            Stop::Read(access) => {
                simulation.threads[index].status =
                    Status::Reading { access: Arc::new(access), atomic: None, may_write: false };
            }
            Stop::AtomicRead { access, atomicity, may_write } => {
                simulation.threads[index].status =
                    Status::Reading { access: Arc::new(access), atomic: Some(atomicity), may_write };
            }
            Stop::Fence(_) | Stop::Device(..) | Stop::LoopEntry { .. } => {}
            Stop::Iteration { function_depth, loop_id, .. } => {
                let arrival = turns::arrivals_without_accesses(state, index)
                    .find(|arrival| (arrival.depth, arrival.loop_id) == (function_depth, loop_id));
                if let Some(arrival) = arrival {
                    let thread = &simulation.threads[index];
                    let is_same = thread.changes == arrival.changes
                        && thread.invocation.same_state(&arrival.invocation, round.context.program);
                    // Others need it at the barriers of the turn.
                    let is_alone = thread.passes == arrival.passes;
                    return (is_alone || !is_same).then_some(is_same);
                }
            }
            Stop::Write(..)
            | Stop::AtomicWrite { .. }
            | Stop::Finished
            | Stop::Fault(_)
            | Stop::Discarded
            | Stop::Forever { .. } => return Some(false),
            Stop::Barrier { .. }
            | Stop::Subgroup { .. }
            | Stop::Choose { .. }
            | Stop::OutOfFuel
            | Stop::Unsupported { .. } => return None,
        }
    }
    None
}

/// Answers a read of a simulation with the latest writes of a state. False where a read-modify-write changes
/// something.
fn answer_with_latest(
    round: &Round,
    state: &State,
    simulation: &mut State,
    index: usize,
    latest: &dyn Fn(Unit) -> Option<EventId>,
    found: &mut Found,
) -> bool {
    let Some(reader) = reader::reader(round, simulation, index) else { return false };
    let Some(spans) = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {}) else {
        return false;
    };
    let len: u32 = reader.access.ranges.iter().map(|(_, len)| len).sum();
    let mut bytes = vec![Byte::Undef; len as usize];
    let access = reader.access.clone();
    let memory = reader.memory;
    let by = run::by(round, index, reader.atomic.is_some());
    simulation.read_unshared(&access, memory, by, &mut found.discoveries, &mut bytes);
    for (unit, indices) in &spans {
        let source = latest(*unit).map_or(Source::Initial, Source::Event);
        let value = accesses::source_bytes(state, round.knowledge, *unit, indices.len(), source);
        for (position, byte) in indices.iter().zip(value) {
            bytes[*position as usize] = byte;
        }
    }
    supply_again(round, simulation, index, &bytes)
}

/// Answers a read with bytes. False where a read-modify-write changes something.
fn supply_again(round: &Round, state: &mut State, index: usize, bytes: &[Byte]) -> bool {
    let program = round.context.program;
    let thread = &mut state.threads[index];
    let is_atomic = matches!(thread.status, Status::Reading { atomic: Some(_), .. });
    thread.status = Status::Running;
    let invocation = Arc::make_mut(&mut thread.invocation);
    if !is_atomic {
        invocation.supply(program, bytes);
        return true;
    }
    if invocation.atomic_ways(program, bytes) > 1 {
        return false;
    }
    invocation.supply_atomic(program, bytes).is_none_or(|written| written == bytes)
}
