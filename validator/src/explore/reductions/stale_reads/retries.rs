//! What an invocation does after a read, tried on a copy of the invocation.

use std::hash::Hash;
use std::sync::Arc;

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::event::{Access, Atomicity};
use crate::explore::reductions::merging::known::Comparison;
use crate::explore::reductions::stale_reads::known_retries::Turn;
use crate::explore::state::memory::Touch;
use crate::explore::state::reader::Reader;
use crate::explore::state::{Found, Round, State};
use crate::explore::step::run;
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{Invocation, Stop};
use crate::value::Byte;

/// The number of stops of a run before the run is given up.
const MAX_STOPS: usize = 64;

/// An atomic that may write, at which an invocation arrives.
pub(crate) struct Next {
    pub(crate) state: State,
    pub(crate) invocation: Arc<Invocation>,
    access: Access,
    atomicity: Atomicity,
}

impl Next {
    /// How the atomic is performed, if it accesses the same location as a read before it.
    pub(crate) fn exchanges(&self, reader: &Reader) -> Option<&Atomicity> {
        let scope = reader.atomic?.scope;
        let is_same = (reader.access.object, &reader.access.ranges)
            == (self.access.object, &self.access.ranges)
            && self.atomicity.scope == scope
            && !self.access.volatile;
        is_same.then_some(&self.atomicity)
    }
}

/// The atomic that may write at which an invocation arrives after a read of these bytes, if it does nothing else
/// before.
pub(crate) fn next_atomic(round: &Round, state: &State, index: usize, bytes: &[Byte]) -> Option<Next> {
    let changes = state.threads[index].changes;
    let run = Retry { round, simulation: state.without_graph(), index, stops: 0 };
    let (stop, simulation) = run.next(bytes)?;
    match stop {
        Stop::AtomicRead { access, atomicity, may_write: true }
            if simulation.threads[index].changes == changes =>
        {
            let invocation = simulation.threads[index].invocation.clone();
            Some(Next { state: simulation, invocation, access, atomicity })
        }
        _ => None,
    }
}

/// An invocation after an atomic read.
struct Retry<'s, 'a> {
    round: &'s Round<'a>,
    simulation: State,
    index: usize,
    stops: usize,
}

impl Retry<'_, '_> {
    /// Its next stop except for headers of loops, and the state there. It is `None` if the read writes.
    fn next(mut self, bytes: &[Byte]) -> Option<(Stop, State)> {
        let first = Decision::AtomicRead { bytes: bytes.to_vec(), way: None };
        let stop = runner::drive(self.round.context.program, &mut self, first)?;
        Some((stop, self.simulation))
    }
}

impl Driver for Retry<'_, '_> {
    type End = Option<Stop>;

    fn run(&mut self) -> Stop {
        if self.stops == MAX_STOPS {
            return Stop::OutOfFuel;
        }
        self.stops += 1;
        // The run need not note what it touches: a path that reads these bytes directly touches the same.
        run::run_invocation(self.round, &mut self.simulation, self.index, &mut Found::default())
    }

    fn invocation(&mut self) -> &mut Invocation {
        Arc::make_mut(&mut self.simulation.threads[self.index].invocation)
    }

    fn decide(&mut self, stop: Stop) -> Decision<Option<Stop>> {
        match stop {
            Stop::LoopEntry { .. } | Stop::Iteration { .. } => Decision::GoOn,
            stop => Decision::End(Some(stop)),
        }
    }

    fn updated(&mut self, _: &[Byte], _: Vec<Byte>) -> Option<Option<Stop>> {
        Some(None)
    }
}

/// A number for what an invocation does next that others may notice, and for what memory then holds, if it reads these
/// bytes and writes nothing. It is `None` if the invocation does more than read.
pub(crate) fn next_action(
    round: &Round,
    state: &State,
    index: usize,
    at: &Arc<Invocation>,
    bytes: &[Byte],
) -> Option<u128> {
    turn(round, state, index, at, bytes)?.number
}

/// A number for the state in which an invocation stands at an atomic read and has touched nothing. It can be compared
/// with those of [`next_action`].
pub(crate) fn stands_at(
    round: &Round,
    invocation: &Invocation,
    access: &Access,
    (atomicity, may_write): (&Atomicity, bool),
) -> Option<u128> {
    let merging = round.merging.as_ref()?;
    let mut hasher = SipHasher13::new();
    (1, access, atomicity, may_write).hash(&mut hasher);
    let is_comparable = merging.hash_invocation(invocation, &mut hasher);
    is_comparable.then(|| hasher.finish128().as_u128())
}

/// How an invocation continues after it reads these bytes.
pub(crate) fn turn(
    round: &Round,
    state: &State,
    index: usize,
    at: &Arc<Invocation>,
    bytes: &[Byte],
) -> Option<Turn> {
    let merging = round.merging.as_ref()?;
    let mut hasher = SipHasher13::new();
    if !merging.hash_invocation(at, &mut hasher) {
        return None;
    }
    (index, bytes).hash(&mut hasher);
    let number = hasher.finish128().as_u128();
    if let Some(known) = round.turns.get(number) {
        if let Some(turn) = known {
            return Some(turn);
        }
        state.contents.hash_future(&mut hasher);
        let number = hasher.finish128().as_u128();
        if let Some(turn) = round.turns.get(number) {
            return turn;
        }
        let (turn, _) = follow_turn(round, merging, state, index, at, bytes);
        round.turns.insert(number, Some(turn));
        return Some(turn);
    }
    let (turn, reads) = follow_turn(round, merging, state, index, at, bytes);
    round.turns.insert(number, (!reads).then_some(turn));
    Some(turn)
}

/// Follows a turn. The second result says whether the turn reads memory without events that another invocation may
/// write, too.
fn follow_turn(
    round: &Round,
    merging: &Comparison,
    state: &State,
    index: usize,
    at: &Arc<Invocation>,
    bytes: &[Byte],
) -> (Turn, bool) {
    const UNKNOWN: Turn = Turn { number: None, ends: false };
    let mut simulation = state.without_graph();
    simulation.threads[index].invocation = at.clone();
    // An undefined comparison goes both ways, and one of these writes.
    if at.atomic_ways(round.context.program, bytes) != 1 {
        return (UNKNOWN, false);
    }
    simulation.contents.note_touches();
    let Some((stop, simulation)) = (Retry { round, simulation, index, stops: 0 }).next(bytes) else {
        return (UNKNOWN, false);
    };
    let mut hasher = SipHasher13::new();
    let mut ends = false;
    match stop {
        Stop::Read(access) => (0, access).hash(&mut hasher),
        Stop::AtomicRead { access, atomicity, may_write } => {
            (1, access, atomicity, may_write).hash(&mut hasher);
        }
        Stop::Finished => ends = true,
        // It does more than read.
        _ => return (UNKNOWN, true),
    }
    let touches = simulation.contents.touches();
    for Touch { memory, word, writes } in &touches {
        (memory, word, writes).hash(&mut hasher);
        (*word..word + 4).for_each(|byte| simulation.contents.byte(*memory, byte).hash(&mut hasher));
    }
    let invocation = &simulation.threads[index].invocation;
    let is_comparable = merging.hash_invocation(invocation, &mut hasher);
    let turn = Turn { number: is_comparable.then(|| hasher.finish128().as_u128()), ends };
    (turn, reads_more_than_constants(round, &touches))
}

fn reads_more_than_constants(round: &Round, touches: &[Touch]) -> bool {
    let mut reads = touches.iter().filter(|touch| !touch.writes);
    reads.any(|touch| {
        let objects = &round.context.dispatch.objects;
        objects.iter().any(|object| object.memory == touch.memory && !object.constant)
    })
}
