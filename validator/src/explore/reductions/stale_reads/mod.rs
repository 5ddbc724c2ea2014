//! Stale reads: turns of retry loops are left out that only find out that a value is stale.
//!
//! Consider a compare-exchange that fails because of a write that came after the read before it. It gives its
//! invocation what that read could have given: `loop { old = load(x); if (compare_exchange(x, old, f(old)) == old)
//! break; }`, where the value that was found is taken over or loaded in another turn. Suppose that the invocation is
//! then in the state in which it would be had the read taken the same write. Then the executions with both reads have
//! the outcomes of those with one: without the first read, as much or less synchronizes, and nothing else distinguishes
//! them. The same holds for a compare-exchange that succeeds with the value that was read but from another write. So a
//! compare-exchange does not read such a write. It does not wait for such a write either, because the read before it
//! could have waited instead. If the invocation stands at that read once more, because the loop loads again instead of
//! taking over what was found, its turn had no effect, and it could do without both reads. (Kokologiannakis, Ren,
//! Vafeiadis, "Dynamic partial order reductions for spinloops", FMCAD 2021, leaves out such turns where the program
//! shows them. Here they are tried on a copy of the invocation.)
//!
//! The values that may be written are those that the rounds so far have seen. If these were not all, there is another
//! round.
//!
//! For example, two invocations run the loop above. The update of the first one makes the compare-exchange of the
//! second one fail. In each such execution the load of the second one could have read that update as well, so these
//! executions are left out.
//!
//! The search offers a read fewer sources, and does not let it wait. A witness is an execution that was visited,
//! without changes.

pub(crate) mod known_retries;
pub(crate) mod retries;

use crate::event::{Atomicity, Semantics};
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::Reduction;
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::reader::{self, Reader};
use crate::explore::state::{Context, Found, Look, Round, State, Status};
use crate::explore::step::loops::turns;
use crate::interp::Invocation;
use crate::model::graph::{EventId, Kind, Source, UnitBytes};
use crate::value::Byte;

/// The reduction.
pub(crate) struct StaleReads;

impl Reduction for StaleReads {
    fn name(&self) -> ReductionName {
        ReductionName::StaleReads
    }

    /// Not applicable if the axioms are not local: then other locations may depend on the position of a read.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.model.is_local()
    }
}

/// The read at which an invocation stands.
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

/// The semantics of the read if it does not write.
pub(crate) fn semantics_of(look: &Look) -> Semantics {
    if look.may_write {
        look.atomicity.unequal
    } else {
        look.atomicity.semantics
    }
}

/// Whether an atomic with the semantics `semantics` synchronizes with everything that one with `other` synchronizes
/// with, as far as it reads.
pub(crate) fn acquires_as_much(semantics: Semantics, other: Semantics) -> bool {
    let acquires = |one: Semantics| one.order.acquires();
    !acquires(other)
        || acquires(semantics)
            && semantics.classes == other.classes
            && (semantics.make_visible || !other.make_visible)
}

/// Whether a compare-exchange that reads these bytes from this source is one without which its invocation could do,
/// because the read before it could have read the same write.
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
            let here = retries::next_action(round, state, reader.index, invocation, bytes);
            here.is_some() && leads_to(round, state, reader, look, bytes, here)
        }
}

/// Whether every other value that a compare-exchange could wait for would only show that what it read before is stale.
pub(crate) fn waits_for_stale(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    found: &mut Found,
) -> bool {
    // What hidden writers write was not seen.
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

/// Whether an invocation stands at a compare-exchange that need not wait.
pub(crate) fn is_committed(round: &Round, state: &State, index: usize, found: &mut Found) -> bool {
    let thread = &state.threads[index];
    if thread.look.is_none() || thread.waits_since.is_some() {
        return false;
    }
    let Some(reader) = reader::reader(round, state, index) else { return false };
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {});
    spans.is_some_and(|spans| waits_for_stale(round, state, &reader, &spans, found))
}

/// Whether an invocation reaches `there` if a read takes these bytes, or whether `there` is the read itself. In the
/// latter case the invocation is about to read once more, and its turn had no effect.
pub(crate) fn leads_to(
    round: &Round,
    state: &State,
    reader: &Reader,
    look: &Look,
    bytes: &[Byte],
    there: Option<u128>,
) -> bool {
    there == retries::stands_at(round, &look.invocation, &look.access, (&look.atomicity, look.may_write))
        || there == retries::next_action(round, state, reader.index, &look.invocation, bytes)
}

/// Whether reads may be left out that only find out that a value is stale.
pub(crate) fn finds_stale(round: &Round, state: &State, reader: &Reader, spans: &UnitSpans) -> bool {
    // Without merging, every execution is wanted.
    round.merging.is_some()
        && round.context.uses(ReductionName::StaleReads)
        && spans.len() == 1
        && state.promises.is_empty()
        && state.closing.is_none()
        && state.segments.is_empty()
        && !reader.access.volatile
        && round.symmetry.as_ref().is_none_or(|symmetry| symmetry.place(reader.index).is_none())
}

/// The last event of an invocation that stands at a compare-exchange, if it is a read of the same location.
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
            // The value of a volatile access is in the trace.
            && !look.access.volatile
            && (look.access.object, &look.access.ranges) == (reader.access.object, &reader.access.ranges);
    let atomicity = reader.atomic?;
    (is_same && read.scope == atomicity.scope).then_some((look, atomicity))
}
