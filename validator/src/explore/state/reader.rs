//! An invocation that stands at a read: what it reads, and how.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use crate::event::{Access, Atomicity};
use crate::explore::budget::Budget;
use crate::explore::events;
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::{Round, State, Status};
use crate::ir::{AtomicOp, InstId, Op};
use crate::model::graph::{Event, EventId, Kind, Source, UnitBytes};
use crate::value::Byte;

/// The instruction, if it is an atomic one.
pub(crate) fn atomic<'a>(round: &Round<'a>, inst: InstId) -> Option<&'a AtomicOp> {
    let function = round.context.program.functions.get(inst.function.0 as usize)?;
    match &function.code.get(inst.index as usize)?.op {
        Op::Atomic(op) => Some(op),
        _ => None,
    }
}

/// A source for every unit of a read, with the bytes that it gives.
pub(crate) type Assignment = SmallVec<[(Source, UnitBytes); 4]>;

/// What a read gets.
pub(crate) struct Answer<'a> {
    pub(crate) spans: &'a UnitSpans,
    pub(crate) assignment: &'a [(Source, UnitBytes)],
    /// The bytes of the whole access.
    pub(crate) bytes: &'a [Byte],
    /// The bytes that its write leaves, if it writes.
    pub(crate) written: Option<Vec<Byte>>,
}

/// A read that is about to be resolved.
pub(crate) struct Reader<'a> {
    pub(crate) index: usize,
    pub(crate) access: &'a Access,
    pub(crate) atomic: Option<&'a Atomicity>,
    pub(crate) may_write: bool,
    pub(crate) memory: u32,
    pub(crate) reference: u32,
}

pub(crate) fn has_new_source(round: &Round, state: &State, index: usize, since: EventId) -> bool {
    let Some(reader) = reader(round, state, index) else { return false };
    let Some(spans) = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {}) else {
        return false;
    };
    state.graph.events[since as usize..]
        .iter()
        .any(|event| event.writes() && spans.iter().any(|(unit, _)| event.units.contains(unit)))
}

pub(crate) fn reader<'s>(round: &Round, state: &'s State, index: usize) -> Option<Reader<'s>> {
    reader_of(round, &state.threads[index].status, index)
}

pub(crate) fn reader_of<'s>(round: &Round, status: &'s Status, index: usize) -> Option<Reader<'s>> {
    let Status::Reading { access, atomic, may_write } = status else { return None };
    let object = round.context.dispatch.objects.get(access.object as usize)?;
    Some(Reader {
        index,
        access,
        atomic: atomic.as_ref(),
        may_write: *may_write,
        memory: object.memory,
        reference: object.reference,
    })
}

impl Reader<'_> {
    pub(crate) fn event(&self, kind: Kind, spans: &UnitSpans) -> Event {
        let units = spans.iter().map(|(unit, _)| *unit);
        events::access_event(self.index as u32, kind, self.access, self.atomic, self.reference, units)
    }
}

/// Assignments between two looks at the budgets.
const ASSIGNMENTS: u64 = 256;

/// Calls back with all ways to choose one candidate for each unit. Wide reads of what many write have more of them than
/// there is time for: a budget that is used up ends that, and the search.
pub(crate) fn for_each_assignment(
    budget: &Budget<'_>,
    candidates: &[Assignment],
    visit: &mut impl FnMut(&[(Source, UnitBytes)]),
) {
    fn go(
        candidates: &[Assignment],
        chosen: &mut Assignment,
        visit: &mut impl FnMut(&[(Source, UnitBytes)]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(options) = candidates.get(chosen.len()) else { return visit(chosen) };
        for option in options {
            chosen.push(option.clone());
            go(candidates, chosen, visit)?;
            chosen.pop();
        }
        ControlFlow::Continue(())
    }
    let mut number = 0_u64;
    let mut within_budget = |assignment: &[(Source, UnitBytes)]| {
        number += 1;
        if number.is_multiple_of(ASSIGNMENTS) && budget.is_used_up() {
            return ControlFlow::Break(());
        }
        visit(assignment);
        ControlFlow::Continue(())
    };
    // What was cut is told by the budget.
    _ = go(candidates, &mut Assignment::new(), &mut within_budget);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::explore::settings::Settings;

    /// How many ways there are to read four units with sixteen candidates each, as far as the budget goes.
    fn visited(is_cancelled: bool) -> u64 {
        let settings = Settings::default();
        settings.progress.cancelled.store(is_cancelled, Ordering::Relaxed);
        let option = (Source::Initial, UnitBytes::new());
        let candidates = vec![Assignment::from_elem(option, 16); 4];
        let mut visited = 0;
        for_each_assignment(&Budget::new(&settings), &candidates, &mut |_| visited += 1);
        visited
    }

    #[test]
    fn a_budget_ends_what_has_too_many_ways() {
        assert_eq!(visited(false), 65_536);
        assert!(visited(true) < ASSIGNMENTS);
    }
}
