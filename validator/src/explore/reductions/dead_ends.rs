//! Dead ends: reads are left out after which a compare-exchange only finds out that the value is stale.
//!
//! A read takes a value that another update has taken already. Its invocation then reaches a compare-exchange that succeeds
//! with that value alone, and that cannot read the same write, because no two updates do. So the read only finds out later
//! that it is stale. It is left out if every other value that was seen leads the invocation, through the failing
//! compare-exchange, to where the read of that value would have led it. Turns are tried on a copy of the invocation
//! ([`retries`](crate::explore::reductions::stale_reads::retries)). Nor does a read wait while all other invocations only end
//! or reach such dead ends, whatever they read.
//!
//! For example, invocations raise a maximum: `old = load(max); while (old < value) { found = compare_exchange(max, old,
//! value); if (found == old) break; old = found; }`. A load of a maximum that another invocation has replaced leads, through
//! a failing compare-exchange, to where a load of the newer one leads.
//!
//! The search offers a read fewer sources, and does not let it wait. A witness is an execution that was visited, without
//! changes. The reduction completes [`stale_reads`], which leaves out the failing compare-exchange, and is used with it.

use crate::explore::branch::writers;
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::stale_reads::{self, retries};
use crate::explore::reductions::Reduction;
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::reader::{self, Reader};
use crate::explore::state::{Context, Found, Round, State};
use crate::model::graph::{Kind, Source, Unit, UnitBytes};
use crate::value::Byte;

/// The reduction.
pub(crate) struct DeadEnds;

impl Reduction for DeadEnds {
    fn name(&self) -> ReductionName {
        ReductionName::DeadEnds
    }

    /// Not applicable if the axioms are not local: then other locations may depend on the position of a read.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.model.is_local()
    }
}

/// Whether an invocation that reads, from this source, what an update has read already only finds out later that the
/// value is stale. It reaches a compare-exchange that succeeds with that value alone, so the read could as well take
/// what the compare-exchange reads.
pub(crate) fn is_dead_end(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    (source, bytes): (Source, &UnitBytes),
    found: &mut Found,
) -> bool {
    let applies = round.context.uses(ReductionName::DeadEnds)
        && stale_reads::finds_stale(round, state, reader, spans)
        && !round.knowledge.has_hidden_writers;
    let ([(unit, _)], true) = (&spans[..], applies) else { return false };
    let Some(look) = stale_reads::look(state, reader.index, 0) else { return false };
    let Some(next) = retries::next_atomic(round, state, reader.index, bytes) else { return false };
    let Some(atomicity) = next.exchanges(reader) else { return false };
    let program = round.context.program;
    let succeeds = |bytes: &[Byte]| next.invocation.always_writes(program, bytes);
    let acquires = |semantics| stale_reads::acquires_as_much(semantics, stale_reads::semantics_of(&look));
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
                let here = retries::next_action(round, &next.state, reader.index, &next.invocation, other);
                here.is_some() && stale_reads::leads_to(round, state, reader, &look, other, here)
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

/// Whether no invocation writes any more while a reader of one unit waits: whatever the others read of what is there,
/// they end, or they only find out that it is stale. None of them waits for writes that are still to come: at the
/// reader's own unit, program order is location order, and another unit is not written by any other invocation.
pub(crate) fn others_only_end(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    found: &mut Found,
) -> bool {
    let (Some(growing), [(read, _)]) = (&state.growing, &spans[..]) else { return false };
    if round.merging.is_none()
        || !round.context.uses(ReductionName::DeadEnds)
        || !state.promises.is_empty()
        || !writers::has_one_reference(round, reader.memory)
    {
        return false;
    }
    let may_be_given = |index: usize, unit: Unit| {
        let mut others = (0..state.threads.len()).filter(|other| *other != index);
        others.any(|other| {
            writers::may_write(round, state, other, unit, None)
                || writers::possible_writers(round, state, other, unit).next().is_some()
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
