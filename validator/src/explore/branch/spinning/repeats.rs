//! Whether a turn of a spin loop repeats if its read takes a given write. This is tried on a copy of the invocation.
//!
//! For example, in `while (load(flag) == 0) {}` the turn repeats if the load takes the write of 0, so that source needs
//! no visit.

use std::sync::Arc;

use crate::explore::branch::writers;
use crate::explore::state::reader::{self, Reader};
use crate::explore::state::{accesses, Found, Round, State, Status};
use crate::explore::step::loops::arrivals::MAX_STOPS;
use crate::explore::step::loops::turns;
use crate::explore::step::run;
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{Invocation, Stop};
use crate::ir::LoopId;
use crate::model::graph::{EventId, Source, Unit};
use crate::value::Byte;

/// Whether a spinning read may spin for ever if no invocation writes any more.
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

/// Whether others may still write what the turns of a spinning read also read, beside its own location.
fn others_may_write_in_turn(round: &Round, state: &State, reader: &Reader, found: &mut Found) -> bool {
    polled_beside(round, reader).any(|unit| {
        found.discoveries.wanted_writers.insert(round.knowledge.key(unit));
        let mut others = (0..state.threads.len()).filter(|other| *other != reader.index);
        others.any(|other| writers::may_write(round, state, other, unit, None))
    })
}

/// What the turns of a spinning read also read, beside its own location.
fn polled_beside<'a>(round: &'a Round, reader: &Reader) -> impl Iterator<Item = Unit> + 'a {
    let polled = round.knowledge.spin_units.get(&(reader.index as u32, reader.access.inst));
    let units = (0..).zip(round.knowledge.units().iter());
    polled
        .into_iter()
        .filter(|polled| polled.len() > 1)
        .flat_map(move |polled| units.clone().filter(|(_, key)| polled.contains(key)).map(|(unit, _)| unit))
}

/// Whether a spinning read spins on if it sees, of each unit, the latest write of this number.
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
    let answer = |simulation: &mut State, found: &mut Found| {
        latest_bytes(round, state, simulation, index, &pick, found)
    };
    repeats(round, state, index, answer, found)
}

/// Whether the turn of a spinning read, the only one in it, changes nothing if it reads these bytes.
pub(crate) fn repeats_with(
    round: &Round,
    state: &State,
    index: usize,
    bytes: &[Byte],
    found: &mut Found,
) -> bool {
    let mut answer = Some(bytes.to_vec());
    let answer = |_: &mut State, _: &mut Found| answer.take();
    repeats(round, state, index, answer, found) == Some(true)
}

/// Whether a turn whose reads `answer` supplies returns to where it began and changes nothing. It is `None` if this
/// depends on more than its reads, or if there are not enough instructions to determine it. A read that `answer` does
/// not supply leads elsewhere.
fn repeats(
    round: &Round,
    state: &State,
    index: usize,
    answer: impl FnMut(&mut State, &mut Found) -> Option<Vec<Byte>>,
    found: &mut Found,
) -> Option<bool> {
    let simulation = state.without_graph();
    let mut turn = Repetition { round, state, simulation, index, answer, found, stops: 0 };
    let first = match &turn.simulation.threads[index].status {
        Status::Reading { .. } => turn.answered(),
        _ => Decision::GoOn,
    };
    runner::drive(round.context.program, &mut turn, first)
}

/// A turn of a spin loop, on a copy of the invocation.
struct Repetition<'s, 'a, A> {
    round: &'s Round<'a>,
    state: &'s State,
    simulation: State,
    index: usize,
    answer: A,
    found: &'s mut Found,
    stops: usize,
}

impl<A: FnMut(&mut State, &mut Found) -> Option<Vec<Byte>>> Repetition<'_, '_, A> {
    /// Answers the read at which the copy stands.
    fn answered(&mut self) -> Decision<Option<bool>> {
        let bytes = (self.answer)(&mut self.simulation, self.found);
        let Some(bytes) = bytes else { return Decision::End(Some(false)) };
        let thread = &mut self.simulation.threads[self.index];
        let status = std::mem::replace(&mut thread.status, Status::Running);
        match status {
            Status::Reading { atomic: None, .. } => Decision::Read(bytes),
            _ if thread.invocation.atomic_ways(self.round.context.program, &bytes) > 1 => {
                Decision::End(Some(false))
            }
            _ => Decision::AtomicRead { bytes, way: None },
        }
    }

    /// What the turn reaches at a loop header.
    fn arrives(&self, depth: u32, loop_id: LoopId) -> Decision<Option<bool>> {
        let Repetition { round, state, simulation, index, .. } = self;
        let mut arrivals = turns::arrivals_without_accesses(state, *index);
        let Some(arrival) = arrivals.find(|it| (it.depth, it.loop_id) == (depth, loop_id)) else {
            return Decision::GoOn;
        };
        let thread = &simulation.threads[*index];
        let is_same = thread.changes == arrival.changes
            && thread.invocation.same_state(&arrival.invocation, round.context.program);
        // Other invocations need it at the barriers of the turn.
        let is_alone = thread.passes == arrival.passes;
        Decision::End((is_alone || !is_same).then_some(is_same))
    }
}

impl<A: FnMut(&mut State, &mut Found) -> Option<Vec<Byte>>> Driver for Repetition<'_, '_, A> {
    type End = Option<bool>;

    fn run(&mut self) -> Stop {
        if self.stops == MAX_STOPS {
            return Stop::OutOfFuel;
        }
        self.stops += 1;
        run::run_invocation(self.round, &mut self.simulation, self.index, self.found)
    }

    fn invocation(&mut self) -> &mut Invocation {
        Arc::make_mut(&mut self.simulation.threads[self.index].invocation)
    }

    fn decide(&mut self, stop: Stop) -> Decision<Option<bool>> {
        let status = match stop {
            Stop::Read(access) => {
                Status::Reading { access: Arc::new(access), atomic: None, may_write: false }
            }
            Stop::AtomicRead { access, atomicity, may_write } => {
                Status::Reading { access: Arc::new(access), atomic: Some(atomicity), may_write }
            }
            Stop::Fence(_) | Stop::Device(..) | Stop::LoopEntry { .. } => return Decision::GoOn,
            Stop::Iteration { function_depth, loop_id, .. } => return self.arrives(function_depth, loop_id),
            Stop::Write(..)
            | Stop::AtomicWrite { .. }
            | Stop::Finished
            | Stop::Fault(_)
            | Stop::Discarded
            | Stop::Forever { .. } => return Decision::End(Some(false)),
            // More than its reads decides how it goes on.
            _ => return Decision::End(None),
        };
        self.simulation.threads[self.index].status = status;
        self.answered()
    }

    /// A read-modify-write that changes something leads elsewhere.
    fn updated(&mut self, read: &[Byte], written: Vec<Byte>) -> Option<Option<bool>> {
        (written != read).then_some(Some(false))
    }
}

/// The bytes that a read of a simulation takes from the latest writes of a state.
fn latest_bytes(
    round: &Round,
    state: &State,
    simulation: &mut State,
    index: usize,
    latest: &dyn Fn(Unit) -> Option<EventId>,
    found: &mut Found,
) -> Option<Vec<Byte>> {
    let reader = reader::reader(round, simulation, index)?;
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {})?;
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
    Some(bytes)
}
