//! Stale reads: turns of retry loops that only find out that a value is stale are left out.
//!
//! A compare-exchange that fails because of what came after the read before it gives its invocation what that read could
//! have given: `loop { old = load(x); if (compare_exchange(x, old, f(old)) == old) break; }` with the value found taken over,
//! or another round. Where the invocation then is where it would be had that read taken the same write, the executions with
//! both reads have the outcomes of those with the one: without the first, what synchronizes is less or the same, and
//! nothing else can tell. The same holds for one that succeeds, with the value that was read, but from another write. So a
//! compare-exchange does not read such a write, nor does it wait for one: where it waits, its own read before could have
//! waited. Where it stands at the read once more, since the loop loads again instead of taking over what was found, it has
//! been round for nothing, and could do without both. (Kokologiannakis, Ren, Vafeiadis, "Dynamic partial order reductions
//! for spinloops", FMCAD 2021, leaves out such turns where the program shows them; here they are tried.)
//!
//! Which values may come is what the rounds so far saw written; where that was not all, there is another round.
//!
//! For example, the loop above in two invocations: the first one's update makes the second one's compare-exchange fail,
//! which only executions show in which its load could have read that update as well.
//!
//! A search offers a read fewer sources, and does not wait with it. A witness is an execution that was visited, as it is.

pub(crate) mod known_retries;
pub(crate) mod retries;

use crate::event::{Atomicity, Semantics};
use crate::explore::branch::writers;
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::Reduction;
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::reader;
use crate::explore::state::reader::Reader;
use crate::explore::state::{Context, Found, Look, Round, State, Status};
use crate::explore::step::loops::turns;
use crate::interp::Invocation;
use crate::model::graph::{EventId, Kind, Source, Unit, UnitBytes};
use crate::value::Byte;

/// The reduction.
pub(crate) struct StaleReads;

impl Reduction for StaleReads {
    fn name(&self) -> ReductionName {
        ReductionName::StaleReads
    }

    /// Where the axioms are not local, other locations may depend on where a read stood.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.model.is_local()
    }
}

/// A read that an invocation stands at.
pub(crate) fn look(state: &State, index: usize, event: EventId) -> Option<Look> {
    let thread = &state.threads[index];
    let Status::Reading { access, atomic: Some(atomicity), may_write } = &thread.status else {
        return None;
    };
    Some(Look {
        invocation: thread.invocation.clone(),
        event,
        access: access.clone(),
        atomicity: *atomicity,
        may_write: *may_write,
        changes: thread.changes,
    })
}

/// Its semantics where it does not write.
fn semantics_of(look: &Look) -> Semantics {
    if look.may_write {
        look.atomicity.unequal
    } else {
        look.atomicity.semantics
    }
}

/// Whether an atomic with these semantics synchronizes with whatever one with those does.
fn acquires_as_much(semantics: Semantics, other: Semantics) -> bool {
    let acquires = |one: Semantics| one.order.acquires();
    !acquires(other)
        || acquires(semantics)
            && semantics.classes == other.classes
            && (semantics.make_visible || !other.make_visible)
}

/// Whether a compare-exchange that reads these bytes from there is one that its invocation could do without the read
/// before: that could have read the same write.
pub(crate) fn is_stale(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    (source, bytes): (Source, &UnitBytes),
) -> bool {
    let Some((look, atomicity)) = look_before(round, state, reader, spans) else { return false };
    let read = &state.graph.events[look.event as usize];
    if read.sources.first() == Some(&source) {
        return false;
    }
    let program = round.context.program;
    let invocation = &state.threads[reader.index].invocation;
    if invocation.atomic_ways(program, bytes) != 1 || look.invocation.atomic_ways(program, bytes) != 1 {
        return false;
    }
    let writes = Invocation::clone(invocation).supply_atomic(program, bytes).is_some();
    let semantics = if writes { atomicity.semantics } else { atomicity.unequal };
    if !acquires_as_much(semantics, semantics_of(look)) {
        return false;
    }
    read.read.first() == Some(bytes)
        || !writes && {
            let here = retries::comes_to(round, state, reader.index, invocation, bytes);
            here.is_some() && leads_to(round, state, reader, look, bytes, here)
        }
}

/// Whether whatever else a compare-exchange could wait for would only tell it that what it read before is stale.
pub(crate) fn waits_for_stale(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    found: &mut Found,
) -> bool {
    // What hidden writers give was not seen.
    if round.knowledge.has_hidden_writers || look_before(round, state, reader, spans).is_none() {
        return false;
    }
    let [(unit, _)] = spans[..] else { return false };
    let is_stale = round
        .knowledge
        .seen(unit)
        .iter()
        .all(|bytes| is_stale(round, state, reader, spans, (Source::Pending, bytes)));
    if is_stale {
        found.discoveries.relied.insert(round.knowledge.key(unit));
    }
    is_stale
}

/// Whether an invocation stands at a compare-exchange that is not worth waiting with.
pub(crate) fn is_committed(round: &Round, state: &State, index: usize, found: &mut Found) -> bool {
    let thread = &state.threads[index];
    if thread.look.is_none() || thread.waits_since.is_some() {
        return false;
    }
    let Some(reader) = reader::reader(round, state, index) else { return false };
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {});
    spans.is_some_and(|spans| waits_for_stale(round, state, &reader, &spans, found))
}

/// Whether an invocation stands there if a read takes these bytes, or stands there at the read: it is about to read
/// once more, and has been round for nothing.
fn leads_to(
    round: &Round,
    state: &State,
    reader: &Reader,
    look: &Look,
    bytes: &[Byte],
    there: Option<u128>,
) -> bool {
    there == retries::stands_at(round, &look.invocation, &look.access, (&look.atomicity, look.may_write))
        || there == retries::comes_to(round, state, reader.index, &look.invocation, bytes)
}

/// Whether reads that only find out what is stale may be left out.
fn finds_stale(round: &Round, state: &State, reader: &Reader, spans: &UnitSpans) -> bool {
    // Every execution is wanted where states are not merged.
    round.merging.is_some()
        && round.context.uses(ReductionName::StaleReads)
        && spans.len() == 1
        && state.pending.is_empty()
        && state.closing.is_none()
        && state.segments.is_empty()
        && !reader.access.volatile
        && round.symmetry.as_ref().is_none_or(|symmetry| symmetry.place(reader.index).is_none())
}

/// The last event of an invocation that stands at a compare-exchange, if it is a read of the same place.
fn look_before<'s>(
    round: &Round,
    state: &'s State,
    reader: &'s Reader,
    spans: &UnitSpans,
) -> Option<(&'s Look, &'s Atomicity)> {
    let thread = &state.threads[reader.index];
    let applies = reader.may_write && finds_stale(round, state, reader, spans);
    let look = thread.look.as_ref().filter(|_| applies)?;
    let is_last = turns::own_events(state, reader.index, look.event + 1).next().is_none();
    let read = state.graph.events.get(look.event as usize)?;
    let is_same = is_last
            && read.kind == Kind::Read
            && read.agent as usize == reader.index
            && look.changes == thread.changes
            // Its value is in the trace.
            && !look.access.volatile
            && (look.access.object, &look.access.ranges) == (reader.access.object, &reader.access.ranges);
    let atomicity = reader.atomic?;
    (is_same && read.scope == atomicity.scope).then_some((look, atomicity))
}

/// Whether an invocation that reads, from there, what some update has read already only finds out later that it is
/// stale: it comes to a compare-exchange that succeeds with that alone, and would do better to read what that reads.
pub(crate) fn is_dead_end(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    (source, bytes): (Source, &UnitBytes),
    found: &mut Found,
) -> bool {
    let applies = finds_stale(round, state, reader, spans) && !round.knowledge.has_hidden_writers;
    let ([(unit, _)], true) = (&spans[..], applies) else { return false };
    let Some(look) = look(state, reader.index, 0) else { return false };
    let Some(next) = retries::next_atomic(round, state, reader.index, bytes) else { return false };
    let Some(atomicity) = next.exchanges(reader) else { return false };
    let program = round.context.program;
    let succeeds = |bytes: &[Byte]| next.invocation.always_writes(program, bytes);
    let acquires = |semantics| acquires_as_much(semantics, semantics_of(&look));
    if !succeeds(bytes) || !acquires(atomicity.semantics) || !acquires(atomicity.unequal) {
        return false;
    }
    let fails_for_nothing = |other: &UnitBytes| {
        let mut certain = [&next.invocation, &look.invocation]
            .into_iter()
            .all(|invocation| invocation.atomic_ways(program, other) == 1);
        certain &= other == bytes || !succeeds(other);
        certain
            && (other == bytes || {
                let here = retries::comes_to(round, &next.state, reader.index, &next.invocation, other);
                here.is_some() && leads_to(round, state, reader, &look, other, here)
            })
    };
    let len = round.knowledge.unit_len(*unit) as usize;
    let writes = (0..).zip(&state.graph.events).filter(|(_, event)| event.written_to(*unit).is_some());
    let sources = std::iter::once(Source::Initial).chain(writes.map(|(id, _)| Source::Event(id)));
    let mut there = sources
        .filter(|other| *other != source)
        .map(|other| accesses::source_bytes(state, round.knowledge, *unit, len, other));
    let is_dead = there.all(|other| fails_for_nothing(&other))
        && round.knowledge.seen(*unit).iter().all(fails_for_nothing);
    if is_dead {
        found.discoveries.relied.insert(round.knowledge.key(*unit));
    }
    is_dead
}

/// Whether nobody writes any more while a reader of one unit waits: whatever the others read of what is there, they
/// end, or only find out that it is stale. None of them waits for what is still to come: at the reader's own unit program
/// order is location order, another unit nobody else may write.
pub(crate) fn others_only_end(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    found: &mut Found,
) -> bool {
    let (Some(growing), [(read, _)]) = (&state.growing, &spans[..]) else { return false };
    if round.merging.is_none()
        || !round.context.uses(ReductionName::StaleReads)
        || !state.pending.is_empty()
        || !writers::has_one_reference(round, reader.memory)
    {
        return false;
    }
    let may_be_given = |index: usize, unit: Unit| {
        let mut others = (0..state.threads.len()).filter(|other| *other != index);
        others.any(|other| {
            writers::may_write(round, state, other, unit, None)
                || writers::unseen_writers(round, state, other, unit).next().is_some()
        })
    };
    let mut others = (0..state.threads.len()).filter(|index| *index != reader.index);
    others.all(|index| {
        if state.threads[index].status.is_over() {
            return true;
        }
        let Some(other) = reader::reader(round, state, index).filter(|other| other.atomic.is_some()) else {
            return false;
        };
        let spans = accesses::units_of(other.access, other.memory, round.knowledge, |_| {});
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
            let bytes = accesses::source_bytes(state, round.knowledge, *unit, indices.len(), source);
            !admission.admits(source)
                || retries::turn(round, state, index, &state.threads[index].invocation, &bytes)
                    .is_some_and(|turn| turn.ends)
                || !admission.admits_update(source)
                    && is_dead_end(round, state, &other, &spans, (source, &bytes), found)
        })
    })
}
