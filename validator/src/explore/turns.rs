//! What invocations do next, tried out one at a time.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::found::Found;
use super::memory::Touch;
use super::merging::Merging;
use super::resolve::Reader;
use super::search::Search;
use super::state::{self, State, UnitSpans};
use crate::event::{Access, Atomicity};
use crate::interp::{Invocation, Stop};
use crate::model::graph::{Kind, Source, Unit};
use crate::value::Byte;

/// Stops of a run before it is given up.
const MAX_STOPS: usize = 64;

/// An atomic that may write, to which an invocation comes.
pub(super) struct Next {
    pub(super) state: State,
    pub(super) invocation: Arc<Invocation>,
    pub(super) access: Access,
    pub(super) atomicity: Atomicity,
}

impl Next {
    /// How it is performed, if it is of the same place as a read before it.
    pub(super) fn exchanges(&self, reader: &Reader) -> Option<&Atomicity> {
        let scope = reader.atomic?.scope;
        let is_same = (reader.access.object, &reader.access.ranges)
            == (self.access.object, &self.access.ranges)
            && self.atomicity.scope == scope
            && !self.access.volatile;
        is_same.then_some(&self.atomicity)
    }
}

/// How an invocation goes on behind a read.
#[derive(Clone, Copy)]
struct Turn {
    /// What it does next that others may notice, and what memory then holds; `None` where it does more than read.
    number: Option<u128>,
    /// It ends.
    ends: bool,
}

/// How invocations go on, by what that depends on.
#[derive(Default)]
pub(super) struct Turns(Mutex<FxHashMap<u128, Option<Turn>>>);

impl Turns {
    /// What is known; nothing where that hangs on memory, too.
    fn get(&self, number: u128) -> Option<Option<Turn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&number).copied()
    }

    fn insert(&self, number: u128, turn: Option<Turn>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, turn);
    }
}

impl Search<'_> {
    /// The atomic that may write to which an invocation comes from a read of these bytes, if it does nothing else before.
    pub(super) fn next_atomic(&self, state: &State, index: usize, bytes: &[Byte]) -> Option<Next> {
        let mut simulation = state.without_graph();
        let invocation = Arc::make_mut(&mut simulation.threads[index].invocation);
        if invocation.supply_atomic(self.context.program, bytes).is_some() {
            return None;
        }
        let changes = state.threads[index].changes;
        for _ in 0..MAX_STOPS {
            match self.run_invocation(&mut simulation, index, &mut Found::default()) {
                Stop::LoopEntry { .. } | Stop::Iteration { .. } => {}
                Stop::AtomicRead { access, atomicity, may_write: true }
                    if simulation.threads[index].changes == changes =>
                {
                    let invocation = simulation.threads[index].invocation.clone();
                    return Some(Next { state: simulation, invocation, access, atomicity });
                }
                _ => return None,
            }
        }
        None
    }

    /// What an invocation does next that others may notice, and what memory then holds, once it reads these bytes and
    /// writes nothing; as a number. `None` where it does more than read.
    pub(super) fn comes_to(
        &self,
        state: &State,
        index: usize,
        at: &Arc<Invocation>,
        bytes: &[Byte],
    ) -> Option<u128> {
        self.turn(state, index, at, bytes)?.number
    }

    /// That an invocation stands at an atomic read, and has touched nothing, as [`Search::comes_to`] says it.
    pub(super) fn stands_at(
        &self,
        invocation: &Invocation,
        access: &Access,
        (atomicity, may_write): (&Atomicity, bool),
    ) -> Option<u128> {
        let merging = self.merging.as_ref()?;
        let mut hasher = SipHasher13::new();
        (1, access, atomicity, may_write).hash(&mut hasher);
        let is_told = merging.hash_invocation(invocation, &mut hasher);
        is_told.then(|| hasher.finish128().as_u128())
    }

    /// How an invocation goes on that reads these bytes.
    fn turn(&self, state: &State, index: usize, at: &Arc<Invocation>, bytes: &[Byte]) -> Option<Turn> {
        let merging = self.merging.as_ref()?;
        let mut hasher = SipHasher13::new();
        if !merging.hash_invocation(at, &mut hasher) {
            return None;
        }
        (index, bytes).hash(&mut hasher);
        let number = hasher.finish128().as_u128();
        if let Some(known) = self.turns.get(number) {
            if let Some(turn) = known {
                return Some(turn);
            }
            state.contents.hash_future(&mut hasher);
            let number = hasher.finish128().as_u128();
            if let Some(turn) = self.turns.get(number) {
                return turn;
            }
            let (turn, _) = self.follow_turn(merging, state, index, at, bytes);
            self.turns.insert(number, Some(turn));
            return Some(turn);
        }
        let (turn, reads) = self.follow_turn(merging, state, index, at, bytes);
        self.turns.insert(number, (!reads).then_some(turn));
        Some(turn)
    }

    /// Follows a turn; whether it reads memory without events that somebody may write, too.
    fn follow_turn(
        &self,
        merging: &Merging,
        state: &State,
        index: usize,
        at: &Arc<Invocation>,
        bytes: &[Byte],
    ) -> (Turn, bool) {
        const UNKNOWN: Turn = Turn { number: None, ends: false };
        let mut simulation = state.without_graph();
        simulation.threads[index].invocation = at.clone();
        let invocation = Arc::make_mut(&mut simulation.threads[index].invocation);
        // An undefined comparison goes both ways, and writes in one of them.
        if invocation.atomic_ways(self.context.program, bytes) != 1
            || invocation.supply_atomic(self.context.program, bytes).is_some()
        {
            return (UNKNOWN, false);
        }
        simulation.contents.note_touches();
        let mut hasher = SipHasher13::new();
        for _ in 0..MAX_STOPS {
            // Whatever it touches, it does so on a path that reads these bytes at once, too.
            let mut ends = false;
            match self.run_invocation(&mut simulation, index, &mut Found::default()) {
                Stop::LoopEntry { .. } | Stop::Iteration { .. } => continue,
                Stop::Read(access) => (0, access).hash(&mut hasher),
                Stop::AtomicRead { access, atomicity, may_write } => {
                    (1, access, atomicity, may_write).hash(&mut hasher);
                }
                Stop::Finished => ends = true,
                Stop::Write(..)
                | Stop::AtomicWrite { .. }
                | Stop::Fence(_)
                | Stop::Device(..)
                | Stop::Barrier { .. }
                | Stop::Subgroup { .. }
                | Stop::Choose { .. }
                | Stop::Discarded
                | Stop::Fault(_)
                | Stop::OutOfFuel
                | Stop::Unsupported { .. }
                | Stop::Forever { .. } => break,
            }
            let touches = simulation.contents.touches();
            for Touch { memory, word, writes } in &touches {
                (memory, word, writes).hash(&mut hasher);
                (*word..word + 4).for_each(|byte| simulation.contents.byte(*memory, byte).hash(&mut hasher));
            }
            let invocation = &simulation.threads[index].invocation;
            let is_told = merging.hash_invocation(invocation, &mut hasher);
            let turn = Turn { number: is_told.then(|| hasher.finish128().as_u128()), ends };
            return (turn, self.reads_more_than_constants(&touches));
        }
        (UNKNOWN, true)
    }

    fn reads_more_than_constants(&self, touches: &[Touch]) -> bool {
        let mut reads = touches.iter().filter(|touch| !touch.writes);
        reads.any(|touch| {
            let objects = &self.context.dispatch.objects;
            objects.iter().any(|object| object.memory == touch.memory && !object.constant)
        })
    }

    /// Whether nobody writes any more while a reader of one unit waits: whatever the others read of what is there, they
    /// end, or only find out that it is stale. None of them waits for what is still to come: at the reader's own unit program
    /// order is location order, another unit nobody else may write.
    pub(super) fn others_only_end(
        &self,
        state: &State,
        reader: &Reader,
        spans: &UnitSpans,
        found: &mut Found,
    ) -> bool {
        let (Some(growing), [(read, _)]) = (&state.growing, &spans[..]) else { return false };
        if self.merging.is_none() || !state.pending.is_empty() || !self.has_one_reference(reader.memory) {
            return false;
        }
        let may_be_given = |index: usize, unit: Unit| {
            let mut others = (0..state.threads.len()).filter(|other| *other != index);
            others.any(|other| {
                self.may_write(state, other, unit, None)
                    || self.unseen_writers(state, other, unit).next().is_some()
            })
        };
        let mut others = (0..state.threads.len()).filter(|index| *index != reader.index);
        others.all(|index| {
            if state.threads[index].status.is_over() {
                return true;
            }
            let Some(other) = self.reader(state, index).filter(|other| other.atomic.is_some()) else {
                return false;
            };
            let spans = state::units_of(other.access, other.memory, self.knowledge, |_| {});
            let Some(spans) = spans.filter(|spans| spans.len() == 1 && !other.access.volatile) else {
                return false;
            };
            let [(unit, indices)] = &spans[..] else { return false };
            if unit != read && may_be_given(index, *unit) {
                return false;
            }
            let event = other.event(Kind::Read, &spans);
            let admission = growing.admission(&state.graph, &event, *unit);
            let declined = state.threads[index].waits_since.unwrap_or(0);
            let writes = (0..).zip(&state.graph.events).skip(declined as usize);
            let writes = writes.filter(|(_, event)| event.written_to(*unit).is_some());
            let initial = (declined == 0).then_some(Source::Initial);
            let mut sources = initial.into_iter().chain(writes.map(|(id, _)| Source::Event(id)));
            sources.all(|source| {
                let bytes = state::source_bytes(state, self.knowledge, *unit, indices.len(), source);
                !admission.admits(source)
                    || self
                        .turn(state, index, &state.threads[index].invocation, &bytes)
                        .is_some_and(|turn| turn.ends)
                    || !admission.admits_update(source)
                        && self.is_dead_end(state, &other, &spans, (source, &bytes), found)
            })
        })
    }
}
