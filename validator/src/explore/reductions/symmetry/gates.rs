//! The effect of symmetry on a search: it holds invocations back, follows their histories, and ends the path where the
//! symmetry does not hold.
//!
//! For example, invocation 2 of a class stands at its first `atomicAdd`. It is gated, that is, not resolved, until
//! invocations 0 and 1 have done theirs.

use crate::explore::program::updates;
use crate::explore::reductions::symmetry;
use crate::explore::reductions::symmetry::classes::{Class, Next, Symmetry, MAX_VARIED, NOTHING, PARTED};
use crate::explore::state::accesses::UnitSpans;
use crate::explore::state::reader::Reader;
use crate::explore::state::{Found, Parting, Round, State};
use crate::ir::{AtomicKind, InstId};
use crate::model::graph::{Event, EventId, Kind, Source, Unit};
use crate::value::Byte;

/// Notes that the members of a class are not alike. The rest of the round does not count.
pub(crate) fn break_symmetry(class: &Class, found: &mut Found) {
    found.discoveries.asymmetric.extend(&class.members);
    found.stop = true;
}

/// The same for all classes, if there are any.
pub(crate) fn break_symmetries(round: &Round, found: &mut Found) {
    for class in round.symmetry.iter().flat_map(|symmetry| &symmetry.classes) {
        break_symmetry(class, found);
    }
}

/// Notes that what these instructions write depends on the places of the invocations in a class.
pub(crate) fn learn_varied(round: &Round, instructions: &[InstId], found: &mut Found) {
    if round.knowledge.varied.len() >= MAX_VARIED {
        return break_symmetries(round, found);
    }
    found.discoveries.varied.extend(instructions);
    found.stop = true;
}

/// Notes that an invocation reads these bytes in this event.
pub(crate) fn note_history(
    round: &Round,
    state: &mut State,
    index: usize,
    read: EventId,
    bytes: &[Byte],
    found: &mut Found,
) {
    let Some(symmetry) = &round.symmetry else { return };
    let events = &state.graph.events;
    let event = &events[read as usize];
    let is_varied = |source: &Source| match source {
        Source::Event(write) => is_varied(round, symmetry, &events[*write as usize]),
        Source::Initial | Source::Pending => false,
    };
    let reads_varied = event.sources.iter().any(is_varied);
    let Some((class, _)) = symmetry.place(index) else {
        if reads_varied {
            break_symmetries(round, found);
        }
        return;
    };
    let history = state.threads[index].history;
    let next = if reads_varied || history == PARTED {
        let kind = updates::atomic(round.context.program, event.inst);
        if matches!(kind, Some(AtomicKind::CompareExchange { .. })) {
            // Whether it writes may depend on the places of the invocations.
            return break_symmetry(class, found);
        }
        PARTED
    } else {
        match class.next(&symmetry::ground(round, symmetry), history, bytes) {
            Next::Same(next) => {
                state.threads[index].history = next;
                return;
            }
            Next::Varied(next) => next,
            Next::Unknown(instructions) => return learn_varied(round, &instructions, found),
            Next::Different => return break_symmetry(class, found),
        }
    };
    let thread = &mut state.threads[index];
    thread.history = next;
    thread.parting.get_or_insert(Parting { history, read });
}

/// Whether what an event writes depends on the places of the invocations in a class.
fn is_varied(round: &Round, symmetry: &Symmetry, event: &Event) -> bool {
    round.knowledge.varied.contains(&event.inst) && symmetry.places[event.agent as usize].is_some()
}

/// Notes that a turn is left out in which an invocation reads these bytes.
pub(crate) fn note_left_out(round: &Round, state: &State, index: usize, bytes: &[Byte], found: &mut Found) {
    let Some(symmetry) = &round.symmetry else { return };
    let Some((class, _)) = symmetry.place(index) else { return };
    let history = state.threads[index].history;
    let spins = history != PARTED
        && match class.next(&symmetry::ground(round, symmetry), history, bytes) {
            Next::Same(next) => class.spins(next),
            Next::Varied(_) | Next::Unknown(_) | Next::Different => false,
        };
    if !spins {
        break_symmetry(class, found);
    }
}

/// Checks a spinning read: whether it spins on must not depend on the places of the invocations.
pub(crate) fn check_spin(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    found: &mut Found,
) {
    let Some(symmetry) = round.symmetry.as_ref().filter(|_| !round.knowledge.varied.is_empty()) else {
        return;
    };
    let of_unit = |event: &Event| spans.iter().any(|(unit, _)| event.units.contains(unit));
    let mut writes = state.graph.events.iter().filter(|event| event.writes() && of_unit(event));
    if has_parted(state, reader.index) || writes.any(|write| is_varied(round, symmetry, write)) {
        break_symmetries(round, found);
    }
}

/// Whether an invocation has read something that depends on the places of the invocations.
fn has_parted(state: &State, index: usize) -> bool {
    state.threads[index].history == PARTED
}

/// Checks that the write of a new event does not leave the order of the first read-modify-writes of a class open.
pub(crate) fn check_first_order(round: &Round, state: &State, id: EventId, found: &mut Found) {
    let Some(symmetry) = &round.symmetry else { return };
    let events = &state.graph.events;
    let event = &events[id as usize];
    for class in symmetry.classes.iter().filter(|class| event.units.contains(&class.unit)) {
        let mut others = events[..id as usize].iter().filter(|other| other.units.contains(&class.unit));
        let is_ordered = event.kind == Kind::Update
            && others.all(|other| !other.writes() || state.graph.order_mutually(other, event));
        if !is_ordered {
            break_symmetry(class, found);
        }
    }
}

/// Whether a read must wait for the first reads of other members of its class.
pub(crate) fn is_gated(round: &Round, state: &State, index: usize) -> bool {
    let Some((class, number)) = round.symmetry.as_ref().and_then(|symmetry| symmetry.place(index)) else {
        return false;
    };
    let has_begun = |member: u32| state.threads[member as usize].history != NOTHING;
    number > 0 && !has_begun(index as u32) && !has_begun(class.members[number - 1])
}

/// Whether everything that `later` will do to the unit of its first read comes after the first read of `index`.
pub(crate) fn follows(round: &Round, state: &State, later: usize, index: usize) -> bool {
    let Some(symmetry) = &round.symmetry else { return false };
    let has_begun = |index: usize| state.threads[index].history != NOTHING;
    let (Some((class, number)), Some((other, last))) = (symmetry.places[index], symmetry.places[later])
    else {
        return false;
    };
    class == other && number < last && !has_begun(index)
}

/// The invocation for whose first read a gated one waits, and the unit of that read.
pub(crate) fn gate(round: &Round, state: &State, index: usize) -> Option<(usize, Unit)> {
    let (class, _) = round.symmetry.as_ref()?.place(index)?;
    let first = class.members.iter().find(|member| state.threads[**member as usize].history == NOTHING)?;
    is_gated(round, state, index).then_some((*first as usize, class.unit))
}
