//! Quiescence: no invocation can continue without help. This is the end of an execution, a hang, or load buffering.
//!
//! For example, in `r = x; y = 1` beside `s = y; x = 1` both reads wait for the write of the other invocation. No
//! invocation can continue, and one of the reads speculates.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use crate::behaviour::{Bound, PathEnd};
use crate::explore::branch::barriers;
use crate::explore::branch::completion;
use crate::explore::branch::outlook;
use crate::explore::branch::reads;
use crate::explore::branch::spinning::lasso;
use crate::explore::branch::spinning::repeats;
use crate::explore::branch::waiting;
use crate::explore::branch::writers;
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::reader::{self, Reader};
use crate::explore::state::{Found, Round, State, Status};
use crate::explore::step::barrier_instances;
use crate::explore::step::loops::exits;
use crate::explore::step::loops::turns;
use crate::explore::step::run;
use crate::model::graph::{EventId, Source, Unit, UnitBytes};

/// Branches where every invocation is over, waits at a read, or stands at an incomplete barrier.
pub(crate) fn go_on(round: &Round, state: &mut State, found: &mut Found) -> Vec<State> {
    if state.dirty {
        found.stop = true;
        found.paths.end(PathEnd::Relearned);
        return Vec::new();
    }
    run::charge_path(round, state);
    let is_waiting = |status: &Status| matches!(status, Status::Reading { .. });
    let waiting: Vec<usize> =
        (0..state.threads.len()).filter(|index| is_waiting(&state.threads[*index].status)).collect();
    let all_finished = state.threads.iter().all(|thread| matches!(thread.status, Status::Finished));
    if all_finished {
        completion::complete(round, state, found);
        return Vec::new();
    }
    let is_settled =
        |status: &Status| barrier_instances::is_at_barrier(status) || matches!(status, Status::Finished);
    if state.threads.iter().all(|thread| is_settled(&thread.status)) {
        barriers::diverge(round, state, found);
        return Vec::new();
    }
    let spins = |index: &usize| {
        reader::reader(round, state, *index).is_some_and(|it| turns::is_spinning(round, state, &it))
    };
    // Everything that follows is a branch. The first branch continues the path.
    let mut branches = 0;
    let spinning: Vec<usize> = waiting.iter().copied().filter(spins).collect();
    let is_quiet = state.promises.is_empty();
    let mut leaves = BTreeSet::new();
    if is_quiet
        && (spinning.len() == waiting.len()
            || spinning.iter().any(|it| exits::may_be_excused(round, state, *it)))
    {
        branches += 1;
        if spinning.iter().any(|index| repeats::leaves_with_latest(round, state, *index, found)) {
            found.paths.end(PathEnd::Fairness);
        } else {
            leaves = lasso::close(round, state, &spinning, found);
        }
        found.discoveries.leaves_loops |= !leaves.is_empty() && round.merging.is_some();
    }
    let mut others = state.clone();
    let mut children: Vec<State> = Vec::new();
    children.extend(leaves.into_iter().filter_map(|leaves| lasso::leave(round, state, leaves, found)));
    branches += children.len();
    // Any read of a cycle may be the one that speculates a known value. An execution that several of these branches
    // could reach belongs to the first: in later branches, the reads of earlier ones take no known value.
    let mut loads = waiting::buffered_loads(round, state, found);
    if !loads.is_empty() && round.knowledge.most_speculated.is_some_and(|most| state.speculated >= most) {
        found.bounded.get_or_insert(Bound::SpeculatedReads);
        loads.clear();
    }
    for index in loads {
        children.extend(speculate(round, &others, index, &mut branches, found));
        others.threads[index].reads_unknown.get_or_insert(state.graph.events.len() as EventId);
    }
    found.paths.branch(branches);
    if branches == 0 {
        found.paths.end(match state.promises.is_empty() {
            true => PathEnd::Fairness,
            false => PathEnd::OutOfThinAir,
        });
    }
    children
}

/// One state for every value that a write to come may have.
fn speculate(
    round: &Round,
    state: &State,
    index: usize,
    branches: &mut usize,
    found: &mut Found,
) -> Vec<State> {
    let Some(reader) = reader::reader(round, state, index) else { return Vec::new() };
    let Some(spans) = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {}) else {
        return Vec::new();
    };
    if !writers::others_may_write(round, state, &reader, &spans, found) {
        return Vec::new();
    }
    let mut candidates = speculations(round, state, &spans, found);
    for (options, (unit, _)) in candidates.iter_mut().zip(&spans) {
        options.retain(|(source, value)| {
            *source != Source::Pending || may_be_given(round, state, &reader, *unit, value)
        });
    }
    let mut children = Vec::new();
    let state = State { speculated: state.speculated + 1, ..state.clone() };
    reader::for_each_assignment(&round.context.budget, &candidates, &mut |assignment| {
        let since = state.threads[index].reads_unknown;
        if assignment.iter().any(|(source, _)| *source == Source::Pending)
            && !reads::is_left_to_another(round, since, &spans, assignment)
        {
            *branches += 1;
            found.paths.speculate();
            reads::answer(round, &mut children, state.clone(), &reader, &spans, assignment, found);
        }
    });
    children
}

/// Whether some invocation may still write this value to the unit.
fn may_be_given(round: &Round, state: &State, reader: &Reader, unit: Unit, value: &UnitBytes) -> bool {
    let alone = !round.context.settings.axioms || !writers::has_one_reference(round, reader.memory);
    (0..state.threads.len()).any(|other| {
        (alone || other != reader.index)
            && writers::may_write(round, state, other, unit, None)
            && outlook::is_in_outlook(round, state, other, unit, Some(value))
    })
}

/// For each unit, a write to come of every known value. If the read has several units, the writes of the graph are
/// included.
fn speculations(
    round: &Round,
    state: &State,
    spans: &UnitSpans,
    found: &mut Found,
) -> Vec<SmallVec<[(Source, UnitBytes); 4]>> {
    let several = spans.len() > 1;
    spans
        .iter()
        .map(|(unit, indices)| {
            let key = round.knowledge.key(*unit);
            found.discoveries.wanted_values.insert(key);
            // Values of the whole word from before it was split do not belong to the unit.
            let known = round.knowledge.values.get(&key).into_iter().flatten();
            let mut options: SmallVec<[(Source, UnitBytes); 4]> = known
                .filter(|value| value.len() == indices.len())
                .map(|value| (Source::Pending, value.clone()))
                .collect();
            if several {
                let writes = state
                    .graph
                    .events
                    .iter()
                    .enumerate()
                    .filter(|(_, event)| event.written_to(*unit).is_some());
                let sources = writes.map(|(id, _)| Source::Event(id as u32));
                options.extend(std::iter::once(Source::Initial).chain(sources).map(|source| {
                    (source, accesses::source_bytes(state, round.knowledge, *unit, indices.len(), source))
                }));
            }
            options
        })
        .collect()
}
