//! When nobody can go on without help: the end of an execution, a hang, or load buffering.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::barriers::is_at_barrier;
use super::found::Found;
use super::resolve::{for_each_assignment, Reader};
use super::search::Search;
use super::spin::arrivals_without_accesses;
use super::state::{self, State, Status, UnitSpans};
use crate::behaviour::{Bound, PathEnd};
use crate::model::graph::{EventId, Source, Unit, UnitBytes};

impl Search<'_> {
    /// Every invocation is over, waits at a read or stands at an incomplete barrier.
    pub(super) fn stuck(&self, state: &mut State, found: &mut Found) -> Vec<State> {
        if state.dirty {
            found.stop = true;
            found.paths.end(PathEnd::Relearned);
            return Vec::new();
        }
        self.charge_path(state);
        let is_waiting = |status: &Status| matches!(status, Status::Reading { .. });
        let waiting: Vec<usize> =
            (0..state.threads.len()).filter(|index| is_waiting(&state.threads[*index].status)).collect();
        let all_finished = state.threads.iter().all(|thread| matches!(thread.status, Status::Finished));
        if all_finished {
            self.complete(state, found);
            return Vec::new();
        }
        let is_settled = |status: &Status| is_at_barrier(status) || matches!(status, Status::Finished);
        if state.threads.iter().all(|thread| is_settled(&thread.status)) {
            self.diverge(state, found);
            return Vec::new();
        }
        let spins = |index: &usize| self.reader(state, *index).is_some_and(|it| self.is_spinning(state, &it));
        // Everything that follows is a branch; the first one goes on with the path.
        let mut branches = 0;
        let spinning: Vec<usize> = waiting.iter().copied().filter(spins).collect();
        let is_quiet = state.pending.is_empty();
        let mut leaves = BTreeSet::new();
        if is_quiet
            && (spinning.len() == waiting.len() || spinning.iter().any(|it| self.may_be_excused(state, *it)))
        {
            branches += 1;
            if spinning.iter().any(|index| self.leaves_with_latest(state, *index, found)) {
                found.paths.end(PathEnd::Fairness);
            } else {
                leaves = self.close(state, &spinning, found);
            }
            found.discoveries.leaves_loops |= !leaves.is_empty() && self.merging.is_some();
        }
        let mut others = state.clone();
        let mut children: Vec<State> = Vec::new();
        children.extend(leaves.into_iter().filter_map(|leaves| self.leave(state, leaves, found)));
        branches += children.len();
        // Any of the reads of a cycle may be the one whose value is known. What several of these branches
        // could reach belongs to the first: in the others, the reads before read no known value.
        let mut loads = self.buffered_loads(state, found);
        if !loads.is_empty() && self.knowledge.most_speculated.is_some_and(|most| state.speculated >= most) {
            found.bounded.get_or_insert(Bound::SpeculatedReads);
            loads.clear();
        }
        for index in loads {
            children.extend(self.speculate(&others, index, &mut branches, found));
            others.threads[index].reads_unknown.get_or_insert(state.graph.events.len() as EventId);
        }
        found.paths.branch(branches);
        if branches == 0 {
            found.paths.end(match state.pending.is_empty() {
                true => PathEnd::Fairness,
                false => PathEnd::OutOfThinAir,
            });
        }
        children
    }

    /// Whether a read's sources are ones that a branch leaves to another: it reads known values only
    /// from the writes after `since`.
    pub(super) fn is_left_to_another(
        &self,
        since: Option<EventId>,
        spans: &UnitSpans,
        assignment: &[(Source, UnitBytes)],
    ) -> bool {
        let Some(since) = since else { return false };
        spans.iter().zip(assignment).all(|((unit, _), (source, value))| match source {
            Source::Initial | Source::Pending => true,
            Source::Event(write) if *write < since => true,
            Source::Event(_) => {
                let values = self.knowledge.values.get(&self.knowledge.key(*unit));
                values.is_some_and(|values| values.contains(value))
            }
        })
    }

    /// One child for every value that a write to come may have.
    fn speculate(&self, state: &State, index: usize, branches: &mut usize, found: &mut Found) -> Vec<State> {
        let Some(reader) = self.reader(state, index) else { return Vec::new() };
        let Some(spans) = state::units_of(reader.access, reader.memory, self.knowledge, |_| {}) else {
            return Vec::new();
        };
        if !self.others_may_write(state, &reader, &spans, found) {
            return Vec::new();
        }
        let mut candidates = self.speculations(state, &spans, found);
        for (options, (unit, _)) in candidates.iter_mut().zip(&spans) {
            options.retain(|(source, value)| {
                *source != Source::Pending || self.may_be_given(state, &reader, *unit, value)
            });
        }
        let mut children = Vec::new();
        let state = State { speculated: state.speculated + 1, ..state.clone() };
        for_each_assignment(&candidates, &mut |assignment| {
            let since = state.threads[index].reads_unknown;
            if assignment.iter().any(|(source, _)| *source == Source::Pending)
                && !self.is_left_to_another(since, &spans, assignment)
            {
                *branches += 1;
                found.paths.speculate();
                self.answer(&mut children, state.clone(), &reader, &spans, assignment, found);
            }
        });
        children
    }

    /// Whether what an invocation may still write gives a unit this value.
    fn may_be_given(&self, state: &State, reader: &Reader, unit: Unit, value: &UnitBytes) -> bool {
        let alone = !self.context.settings.axioms || !self.has_one_reference(reader.memory);
        (0..state.threads.len()).any(|other| {
            (alone || other != reader.index)
                && self.may_write(state, other, unit, None)
                && self.is_in_outlook(state, other, unit, Some(value))
        })
    }

    /// Per unit, a write to come of every known value; where there are several units, the writes
    /// of the graph too.
    fn speculations(
        &self,
        state: &State,
        spans: &UnitSpans,
        found: &mut Found,
    ) -> Vec<SmallVec<[(Source, UnitBytes); 4]>> {
        let several = spans.len() > 1;
        spans
            .iter()
            .map(|(unit, indices)| {
                let key = self.knowledge.key(*unit);
                found.discoveries.wanted_values.insert(key);
                // Values of the word that a unit was before it was split are none of the unit.
                let known = self.knowledge.values.get(&key).into_iter().flatten();
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
                        (source, state::source_bytes(state, self.knowledge, *unit, indices.len(), source))
                    }));
                }
                options
            })
            .collect()
    }

    /// Whether the read is one of a spin loop, and the first of its iteration.
    pub(super) fn is_spinning(&self, state: &State, reader: &Reader) -> bool {
        self.knowledge.spin_reads.contains(&reader.access.inst)
            && arrivals_without_accesses(state, reader.index).next().is_some()
    }
}
