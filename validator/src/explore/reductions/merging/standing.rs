//! Foresight: what an invocation will see anyway, because it stands at an acquiring read
//! ([`future`](crate::model::future)).
//!
//! An acquiring read adds the message of the write that it takes to what its invocation sees. The write may be one of
//! the graph that the read may take, except for those with which its turn of a spin loop is idle, or it may be a write
//! to come. What all these messages have in common is treated as seen, so states that differ only in that are merged.
//!
//! For example, an invocation waits for a lock. Whichever release of the lock it reads, it then sees everything that
//! the critical sections so far wrote.
//!
//! An invocation that leaves an endless loop (`--hang lenient`) has read nothing there. If one does, the round is
//! repeated without foresight.

use std::hash::Hash;
use std::sync::PoisonError;

use siphasher::sip128::{Hasher128, SipHasher13};
use smallvec::SmallVec;

use crate::event::{Atomicity, Semantics};
use crate::explore::branch::spinning::repeats;
use crate::explore::branch::writers;
use crate::explore::program::updates;
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::reader::{self, Reader};
use crate::explore::state::{Found, Round, State};
use crate::explore::step::loops::turns;
use crate::model::future::Standing;
use crate::model::graph::{EventId, Kind, Source, Unit};
use crate::value::Byte;

/// The acquiring read at which an invocation stands, if it is known which messages it may take. Only `agents` may
/// continue.
pub(crate) fn standing(
    round: &Round,
    state: &State,
    index: usize,
    agents: &[u32],
    found: &mut Found,
) -> Option<Standing> {
    if round.knowledge.has_hidden_writers || round.knowledge.leaves_loops {
        return None;
    }
    let reader = reader::reader(round, state, index)?;
    let atomicity = reader.atomic.filter(|atomicity| acquires(round, atomicity, reader.may_write))?;
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {})?;
    let [(unit, _)] = spans[..] else { return None };
    let mut publishes = publishes(atomicity, reader.may_write);
    let writers = releasing(round, state, index, unit, agents, (atomicity.semantics, &mut publishes))?;
    found.discoveries.wanted_writers.insert(round.knowledge.key(unit));
    let sources = message_sources(round, state, &reader, &spans, unit)?;
    Some(Standing { sources, writers, classes: atomicity.semantics.classes, publishes })
}

/// Whether an atomic synchronizes with every write that releases, whether the atomic writes or not.
fn acquires(round: &Round, atomicity: &Atomicity, may_write: bool) -> bool {
    let Atomicity { scope, semantics, unequal, .. } = *atomicity;
    let fails_alike = unequal.order.acquires() && unequal.classes == semantics.classes;
    scope >= round.context.widest_scope && semantics.order.acquires() && (!may_write || fails_alike)
}

/// The positions among `agents` of invocations that may still write a unit. It is `None` if one of them may write it
/// without releasing all that it sees, for the storage classes of `semantics`. `publishes` becomes false unless all of
/// them make that available.
fn releasing(
    round: &Round,
    state: &State,
    index: usize,
    unit: Unit,
    agents: &[u32],
    (semantics, publishes): (Semantics, &mut bool),
) -> Option<SmallVec<[usize; 8]>> {
    let mut writers = SmallVec::new();
    for (position, agent) in agents.iter().enumerate().filter(|(_, agent)| **agent as usize != index) {
        let insts = writers::writers_to_come(round, state, *agent as usize, unit, None, usize::MAX);
        for inst in &insts {
            let op = reader::atomic(round, *inst)?;
            let scope = round.context.program.memory_model.memory_scope(op.scope);
            let releases = op.semantics.order.releases() && op.semantics.classes == semantics.classes;
            if !releases || scope < round.context.widest_scope {
                return None;
            }
            *publishes &= op.semantics.make_available;
        }
        if !insts.is_empty() {
            writers.push(position);
        }
    }
    Some(writers)
}

/// The writes that a read may take and with which it is not idle. It is `None` if the initial value is such a source.
fn message_sources(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    unit: Unit,
) -> Option<SmallVec<[EventId; 4]>> {
    let growing = state.growing.as_ref()?;
    let event = reader.event(Kind::Read, spans);
    let admission = growing.admission(&state.graph, &event, unit);
    let taken = updates::always_updates(round.context.program, reader.access.inst).then(|| admission.taken());
    let writes = (0..).zip(&state.graph.events).filter(|(_, event)| event.written_to(unit).is_some());
    let sources = std::iter::once(Source::Initial).chain(writes.map(|(id, _)| Source::Event(id)));
    let spins = turns::is_spinning(round, state, reader) && writers::is_unraced(round, state, reader, &event);
    let mut telling = SmallVec::new();
    for source in sources {
        let is_taken = taken.as_ref().is_some_and(|taken| taken.contains(&source));
        if is_taken || !admission.admits(source) {
            continue;
        }
        let len = round.knowledge.unit_len(unit) as usize;
        let bytes = accesses::source_bytes(state, round.knowledge, unit, len, source);
        if spins && is_idle_with(round, state, reader.index, &bytes) {
            continue;
        }
        match source {
            Source::Event(write) => telling.push(write),
            Source::Initial | Source::Pending => return None,
        }
    }
    Some(telling)
}

/// Whether a turn of a spin loop is idle if its only read, at which an invocation stands, reads these bytes.
fn is_idle_with(round: &Round, state: &State, index: usize, bytes: &[Byte]) -> bool {
    let future = state.threads[index].future.get().copied().flatten();
    let Some(future) = future else { return false };
    let mut hasher = SipHasher13::new();
    (index, future, bytes).hash(&mut hasher);
    state.contents.hash_future(&mut hasher);
    let number = hasher.finish128().as_u128();
    let known = || round.idle_turns.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(is_idle) = known().get(&number) {
        return *is_idle;
    }
    let is_idle = repeats::repeats_with(round, state, index, bytes, &mut Found::default());
    known().insert(number, is_idle);
    is_idle
}

/// Whether an atomic that acquires makes visible, whether it writes or not.
fn publishes(atomicity: &Atomicity, may_write: bool) -> bool {
    atomicity.semantics.make_visible && (!may_write || atomicity.unequal.make_visible)
}
