//! Ends of executions: outcomes and hangs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::found::Found;
use super::judging::{self, Judgement};
use super::knowledge::Word;
use super::orbit::{Ended, Orbit};
use super::search::Search;
use super::state::State;
use crate::behaviour::{End, Outcome, PathEnd, VolatileAccess};
use crate::model::consistency::FinalValues;
use crate::model::graph::{EventId, Unit, UnitBytes};
use crate::model::relation::Relation;
use crate::value::Byte;
use crate::witness::{Execution, Witness};

impl Search<'_> {
    /// All invocations are finished: if the graph is an execution, its outcomes.
    pub(super) fn complete(&self, state: &mut State, found: &mut Found) {
        assert!(state.pending.is_empty(), "what is owed for ever ends a path before");
        if self.order_updates(state, found) {
            return found.paths.end(PathEnd::Relearned);
        }
        let executions = match self.executions(state, found) {
            Ok(executions) => executions,
            Err(end) => return found.paths.end(end),
        };
        assert!(state.threads.iter().all(|thread| thread.fault.is_none()), "a fault ends a path before");
        if let Some(race) = self.race(state, &executions) {
            return self.record_race(state, race, found);
        }
        self.note_values(state, found);
        found.explored += 1;
        if self.rests_on_reconvergence(state, found) {
            return found.paths.end(PathEnd::Reconvergence);
        }
        found.paths.end(PathEnd::Execution);
        let is_observed = |unit| self.is_observed(unit);
        if let ([execution], true) = (&executions[..], self.context.settings.axioms) {
            let values = self.final_values(&state.graph, execution, &is_observed, found);
            if values.iter().all(|values| values.last_writes.len() == 1) {
                let last: SmallVec<[(&FinalValues, &[EventId]); 8]> =
                    values.iter().map(|values| (values, values.last_writes[0].as_slice())).collect();
                let Some(orbit) = self.orbit_of(state, execution, &last, found) else { return };
                let memory = self.final_memory(state, &last);
                let remarks = self.remarks(&state.graph, execution);
                let outcome = Outcome {
                    end: End::Terminated,
                    memory,
                    volatile: traces(state.threads.iter().map(|thread| &thread.trace)),
                    remarks,
                };
                // Nobody looks at the graph any more.
                let graph = || Execution::Whole(std::mem::take(&mut state.graph));
                return self.record(graph, &outcome, &orbit, execution.told(), found);
            }
        }
        if state.has_parted() {
            return self.break_symmetries(found);
        }
        let Some(orbit) = self.orbit(&Ended::of(state, Vec::new()), found) else { return };
        let mut finals = BTreeMap::new();
        for execution in &executions {
            let mut memories = BTreeSet::new();
            let remarks = self.remarks(&state.graph, execution);
            // Without the axioms there may be no last write.
            let values = match self.context.settings.axioms {
                true => self.final_values(&state.graph, execution, &is_observed, found),
                false => Vec::new(),
            };
            self.final_memories(state, &values, &remarks, &mut Vec::new(), &mut memories);
            for memory in memories {
                finals.entry(memory).or_insert(execution.told());
            }
        }
        for ((memory, remarks), synchronizes_with) in finals {
            let outcome = Outcome {
                end: End::Terminated,
                memory,
                volatile: traces(state.threads.iter().map(|thread| &thread.trace)),
                remarks,
            };
            self.record(|| Execution::Whole(state.graph.clone()), &outcome, &orbit, synchronizes_with, found);
        }
    }

    /// The executions that a complete one with these last writes stands for; `None` where the round is lost.
    fn orbit_of(
        &self,
        state: &State,
        execution: &judging::Execution,
        last: &[(&FinalValues, &[EventId])],
        found: &mut Found,
    ) -> Option<Orbit> {
        if !state.has_parted() {
            return self.orbit(&Ended::of(state, Vec::new()), found);
        }
        // Others may be the last if what they write tells them apart.
        let is_alone = |unit: &Unit| match execution {
            judging::Execution::Grown(growing) => growing.latest_writes(*unit).len() == 1,
            judging::Execution::Derived(_) => false,
        };
        if !last.iter().flat_map(|(values, _)| &values.units).all(is_alone) {
            self.break_symmetries(found);
            return None;
        }
        let pairs = |(values, writes): &(&FinalValues, &[EventId])| {
            let pairs: SmallVec<[_; 1]> = values.units.iter().copied().zip(writes.iter().copied()).collect();
            pairs
        };
        self.orbit(&Ended::of(state, last.iter().flat_map(pairs).collect()), found)
    }

    pub(super) fn is_observed(&self, unit: Unit) -> bool {
        let (memory, _) = self.knowledge.key(unit);
        self.context.dispatch.objects.iter().any(|object| object.observed && object.memory == memory)
    }

    /// Makes updates whose order was left open events of the next round, if there are only few.
    pub(super) fn order_updates(&self, state: &State, found: &mut Found) -> bool {
        let few = state.contents.few_unordered();
        found.discoveries.shared.extend(few);
        found.stop |= !few.is_empty();
        !few.is_empty()
    }

    /// Notes what the writes of an execution give, and what its read-modify-writes would have given:
    /// reads may speculate that.
    pub(super) fn note_values(&self, state: &State, found: &mut Found) {
        for event in state.graph.events.iter().filter(|event| event.writes()) {
            self.note_produced(event.units.iter().zip(&event.written), found);
        }
        for (unit, bytes) in state.attempted.iter() {
            let key = self.knowledge.key(*unit);
            found.discoveries.attempted.entry(key).or_default().insert(bytes.clone());
        }
    }

    pub(super) fn note_produced<'b>(
        &self,
        written: impl Iterator<Item = (&'b Unit, &'b UnitBytes)>,
        found: &mut Found,
    ) {
        for (unit, bytes) in written.filter(|(unit, bytes)| !self.knowledge.is_produced(**unit, bytes)) {
            let key = self.knowledge.key(*unit);
            found.discoveries.produced.entry(key).or_default().insert(bytes.clone());
        }
    }

    /// The final memory of every choice of last writes, with the remarks.
    fn final_memories<'f>(
        &self,
        state: &State,
        finals: &'f [FinalValues],
        remarks: &[u32],
        chosen: &mut Vec<(&'f FinalValues, &'f [EventId])>,
        into: &mut BTreeSet<(Vec<Vec<Byte>>, Vec<u32>)>,
    ) {
        let Some(next) = finals.get(chosen.len()) else {
            into.insert((self.final_memory(state, chosen), remarks.to_vec()));
            return;
        };
        for last_writes in &next.last_writes {
            chosen.push((next, last_writes));
            self.final_memories(state, finals, remarks, chosen, into);
            chosen.pop();
        }
    }

    pub(super) fn final_memory(
        &self,
        state: &State,
        chosen: &[(&FinalValues, &[EventId])],
    ) -> Vec<Vec<Byte>> {
        let dispatch = self.context.dispatch;
        let mut memory: Vec<Vec<Byte>> = Vec::new();
        for object in dispatch.objects.iter().filter(|object| object.observed) {
            let start = object.view.unwrap_or(0) as usize;
            let contents = state.contents.bytes(object.memory);
            let end = (start + object.initial.len()).min(contents.len());
            let mut bytes = contents[start.min(end)..end].to_vec();
            if !self.context.settings.axioms {
                self.forget_shared(object.memory, start, &mut bytes);
            }
            for (finals, last_writes) in chosen {
                for (unit, write) in finals.units.iter().zip(*last_writes) {
                    let (unit_memory, offset) = self.knowledge.key(*unit);
                    if unit_memory != object.memory {
                        continue;
                    }
                    let Some(written) = state.graph.events[*write as usize].written_to(*unit) else {
                        continue;
                    };
                    for (position, byte) in (offset as usize..).zip(written) {
                        let slot = position.checked_sub(start).and_then(|index| bytes.get_mut(index));
                        slot.into_iter().for_each(|slot| *slot = *byte);
                    }
                }
            }
            memory.push(bytes);
        }
        memory
    }

    /// Without the axioms nobody knows what is in memory that invocations share; `bytes` begin at `start`.
    fn forget_shared(&self, memory: u32, start: usize, bytes: &mut [Byte]) {
        for (offset, byte) in (start as u32..).zip(bytes) {
            if self.knowledge.word(memory, offset) != Word::Unshared {
                *byte = Byte::Undef;
            }
        }
    }

    /// A run that waits for ever.
    pub(super) fn hang(&self, state: &mut State, found: &mut Found) {
        let executions = match self.executions(state, found) {
            Ok(executions) => executions,
            Err(end) => return found.paths.end(end),
        };
        let execution = &executions[0];
        if !state.segments.is_empty() {
            let (graph, is_fair) = self.unrolled(state);
            // A race of an unfair run is one of any run that begins like it.
            match self.judge_unrolled(&graph) {
                Judgement::Ends(end) => return found.paths.end(end),
                Judgement::Racy(race) => {
                    let told = State { graph, ..state.clone() };
                    return self.record_race(&told, race, found);
                }
                Judgement::Fine if !is_fair => return found.paths.end(PathEnd::Fairness),
                Judgement::Fine => {}
            }
        }
        if let Some(race) = self.race(state, &executions) {
            return self.record_race(state, race, found);
        }
        found.explored += 1;
        if self.rests_on_reconvergence(state, found) {
            return found.paths.end(PathEnd::Reconvergence);
        }
        found.paths.end(PathEnd::Hang);
        self.note_values(state, found);
        self.break_symmetries(found);
        let outcome = Outcome::hang(traces(state.threads.iter().map(|thread| &thread.trace)));
        let execution_of = || Execution::Whole(state.graph.clone());
        self.record(execution_of, &outcome, &Orbit::of_one(), execution.told(), found);
    }

    pub(super) fn record(
        &self,
        execution: impl FnOnce() -> Execution,
        outcome: &Outcome,
        orbit: &Orbit,
        synchronizes_with: Option<&Relation>,
        found: &mut Found,
    ) {
        if orbit.is_large() {
            let first = self.witness(execution(), synchronizes_with);
            return self.record_orbit(orbit, outcome, first, found);
        }
        found.executions += 1;
        self.keep(outcome, 1, || self.witness(execution(), synchronizes_with), found);
    }

    /// Notes so many executions with an outcome, and keeps it if it is a new one.
    pub(super) fn keep(
        &self,
        outcome: &Outcome,
        executions: u64,
        witness: impl FnOnce() -> Witness,
        found: &mut Found,
    ) {
        let new = found.outcomes.note(outcome, executions, witness);
        self.context.budget.execution(new.map_or(0, |witness| outcome.stored_bytes(witness)));
        // One of a group is none of the whole.
        let target = self.context.target.filter(|_| new.is_some() && !self.in_group);
        if target.is_some_and(|target| target(outcome)) {
            found.stop = true;
            found.at_target = true;
        }
    }
}

/// The volatile traces of an outcome, of those of its invocations.
pub(super) fn traces<'a>(
    traces: impl Iterator<Item = &'a Arc<Vec<VolatileAccess>>> + Clone,
) -> Vec<Vec<VolatileAccess>> {
    match traces.clone().all(|trace| trace.is_empty()) {
        true => Vec::new(),
        false => traces.map(|trace| trace.to_vec()).collect(),
    }
}
