//! Which invocations may write where, and which accesses race with a read.

use smallvec::SmallVec;

use crate::explore::branch::outlook;
use crate::explore::program::may_write::Writer;
use crate::explore::reductions::symmetry::gates;
use crate::explore::state::accesses::UnitSpans;
use crate::explore::state::reader::{self, Reader};
use crate::explore::state::{Found, Round, State};
use crate::explore::step::loops::turns;
use crate::ir::{AtomicKind, InstId};
use crate::model::graph::{Event, Unit};

/// Whether an invocation seems to perform no more writes that are events, and not to wait for others.
pub(crate) fn only_reads(round: &Round, state: &State, index: usize) -> bool {
    let position = state.threads[index].invocation.position();
    let mut joins = round.knowledge.writes_of(index as u32).chain(&round.context.meetings);
    !joins.any(|inst| round.context.reach.may_reach(&position, *inst))
}

/// The instructions that an invocation may still reach, at which it was never seen to write a unit, but which may write
/// it. `None` stands for an instruction of which the program does not show where it writes.
pub(crate) fn possible_writers<'s>(
    round: &'s Round,
    state: &'s State,
    index: usize,
    unit: Unit,
) -> impl Iterator<Item = Option<InstId>> + 's {
    let thread = &state.threads[index];
    let position = thread.invocation.position();
    let seen = round.knowledge.writers(unit, index as u32);
    let writers = round.context.writers.0.iter().filter(move |writer| {
        !thread.status.is_over()
            && !seen.iter().any(|(_, inst)| *inst == writer.inst)
            && may_touch(round, writer, index, unit)
            && round.context.reach.may_reach(&position, writer.inst)
    });
    writers.map(|writer| writer.place.as_ref().map(|_| writer.inst))
}

fn may_touch(round: &Round, writer: &Writer, index: usize, unit: Unit) -> bool {
    let (memory, offset) = round.knowledge.key(unit);
    let bytes = u64::from(offset)..u64::from(offset) + u64::from(round.knowledge.unit_len(unit));
    writer.may_touch(round.context.dispatch, index, memory, bytes)
}

/// Whether a read is of one whole unit and no access of the unit in the graph races with it. Then a turn that it
/// repeats need not be visited.
pub(crate) fn is_unraced(round: &Round, state: &State, reader: &Reader, event: &Event) -> bool {
    let [unit] = event.units[..] else { return false };
    let len: u32 = reader.access.ranges.iter().map(|(_, len)| len).sum();
    let is_whole = round.knowledge.unit_len(unit) == len;
    let reads = |other: &Event| reader.may_write && other.reads() && other.agent as usize != reader.index;
    let mut others = state
        .graph
        .events
        .iter()
        .filter(|other| other.writes() || reads(other))
        .filter(|other| other.units.contains(&unit));
    is_whole
        && reader.atomic.is_some()
        && !reader.access.volatile
        && state.promises.is_empty()
        && others.all(|other| state.graph.order_mutually(other, event))
        && (!reader.may_write || turns::is_ordered_among_writes(round, state, event))
}

/// Whether another unfinished invocation was seen to write one of the units at an instruction that it may still reach.
/// The same invocation counts, too, if the memory has several references, because program order does not order its
/// accesses then, or if the axioms do not count.
pub(crate) fn others_may_write(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    found: &mut Found,
) -> bool {
    let one_reference = round.context.settings.axioms && has_one_reference(round, reader.memory);
    spans.iter().any(|(unit, _)| {
        found.discoveries.wanted_writers.insert(round.knowledge.key(*unit));
        let may_write = |other: usize| {
            let own = other == reader.index;
            let comes_later = own && one_reference || gates::follows(round, state, other, reader.index);
            let except = own.then_some(reader.access.inst);
            !comes_later
                && may_write(round, state, other, *unit, except)
                && (own
                    || !only_exchanges(round, state, other, *unit)
                    || outlook::may_exchange(round, state, other, *unit))
        };
        (0..state.threads.len()).any(may_write)
    })
}

/// Whether the instructions at which an invocation may still write a unit are all compare-exchanges.
fn only_exchanges(round: &Round, state: &State, index: usize, unit: Unit) -> bool {
    let writers = writers_to_come(round, state, index, unit, None, usize::MAX);
    let exchanges = |inst| {
        reader::atomic(round, inst).is_some_and(|op| matches!(op.kind, AtomicKind::CompareExchange { .. }))
    };
    round.context.has_compare_exchanges && writers.into_iter().all(exchanges)
}

/// Whether memory is reached through one reference only.
pub(crate) fn has_one_reference(round: &Round, memory: u32) -> bool {
    let mut objects = round.context.dispatch.objects.iter().filter(|object| object.memory == memory);
    let first = objects.next().map(|object| object.reference);
    objects.all(|object| Some(object.reference) == first)
}

/// Whether an unfinished invocation was seen to write a unit at an instruction, other than `except`, that it may still
/// reach.
pub(crate) fn may_write(
    round: &Round,
    state: &State,
    index: usize,
    unit: Unit,
    except: Option<InstId>,
) -> bool {
    !writers_to_come(round, state, index, unit, except, 1).is_empty()
}

/// At most `count` of the instructions, other than `except`, at which an unfinished invocation was seen to write a unit
/// and which it may still reach.
pub(crate) fn writers_to_come(
    round: &Round,
    state: &State,
    index: usize,
    unit: Unit,
    except: Option<InstId>,
    count: usize,
) -> SmallVec<[InstId; 4]> {
    let thread = &state.threads[index];
    let writers = round.knowledge.writers(unit, index as u32).iter();
    let mut own = writers.filter(|(_, inst)| Some(*inst) != except).peekable();
    if thread.status.is_over() || own.peek().is_none() {
        return SmallVec::new();
    }
    let position = thread.invocation.position();
    own.map(|(_, inst)| *inst)
        .filter(|inst| round.context.reach.may_reach(&position, *inst))
        .take(count)
        .collect()
}
