//! Ends of executions: outcomes and hangs.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::knowledge::Word;
use super::search::{Found, Search};
use super::state::{State, Status};
use super::witness;
use super::Races;
use crate::behaviour::{End, Outcome, VolatileAccess};
use crate::model::consistency::{FinalValues, Judge};
use crate::model::graph::{Event, EventId};
use crate::model::vulkan;
use crate::value::Byte;

impl Search<'_> {
    /// All invocations are finished: if the graph is an execution, its outcomes.
    pub(super) fn complete(&self, state: &State, found: &mut Found) {
        if !state.pending.is_empty() {
            found.blocked += 1;
            return;
        }
        let variant = self.context.settings.variant;
        let judged = state.judged.as_ref().filter(|(events, _)| *events == state.graph.events.len());
        let relations = match judged {
            Some((_, relations)) => relations.clone(),
            None => Arc::new(vulkan::relations(&state.graph, variant)),
        };
        let judge = Judge { graph: &state.graph, relations: &relations, variant };
        let axioms = self.context.settings.axioms;
        if axioms && judged.is_none() && !judge.is_consistent() {
            found.blocked += 1;
            return;
        }
        if judged.is_none() && self.context.settings.races == Races::Undefined {
            if let Some(race) = judge.data_races().first() {
                self.record_race(&state.graph, *race, found);
                return;
            }
        }
        self.note_values(state, found);
        if let Some(line) = state.diverged {
            if !self.context.settings.structural_reconvergence
                && !self.context.program.modes.maximally_reconverges
            {
                found.undecided.insert(format!("reconvergence (line {line})"));
            }
        }
        found.explored += 1;
        let dispatch = self.context.dispatch;
        let is_observed = |unit| {
            let (memory, _) = self.knowledge.key(unit);
            dispatch.objects.iter().any(|object| object.observed && object.memory == memory)
        };
        let remarks = self.context.settings.remark.map(|remark| remark(&judge)).unwrap_or_default();
        // Without the axioms there may be no last write.
        let finals = if axioms { judge.final_values(&is_observed) } else { Vec::new() };
        self.record_outcomes(state, &finals, &remarks, &mut Vec::new(), found);
    }

    /// Writes of complete executions are what reads may speculate.
    fn note_values(&self, state: &State, found: &mut Found) {
        for event in state.graph.events.iter().filter(|event| event.writes()) {
            self.note_values_of(event, found);
        }
    }

    /// So is what a read-modify-write would write that came too late for its source: it may come in
    /// time where the one before it speculates just that.
    pub(super) fn note_values_of(&self, event: &Event, found: &mut Found) {
        for (unit, bytes) in event.units.iter().zip(&event.written) {
            let key = self.knowledge.key(*unit);
            let known = self.knowledge.values.get(&key).is_some_and(|values| values.contains(bytes));
            if !known {
                found.discoveries.values.entry(key).or_default().insert(bytes.clone());
            }
        }
    }

    /// One outcome for every choice of last writes.
    fn record_outcomes<'f>(
        &self,
        state: &State,
        finals: &'f [FinalValues],
        remarks: &[u32],
        chosen: &mut Vec<(&'f FinalValues, &'f [EventId])>,
        found: &mut Found,
    ) {
        let Some(next) = finals.get(chosen.len()) else {
            return self.record_outcome(state, chosen, remarks, found);
        };
        for last_writes in &next.last_writes {
            chosen.push((next, last_writes));
            self.record_outcomes(state, finals, remarks, chosen, found);
            chosen.pop();
        }
    }

    fn record_outcome(
        &self,
        state: &State,
        chosen: &[(&FinalValues, &[EventId])],
        remarks: &[u32],
        found: &mut Found,
    ) {
        let dispatch = self.context.dispatch;
        let mut memory: Vec<Vec<Byte>> = Vec::new();
        for object in dispatch.objects.iter().filter(|object| object.observed) {
            let mut bytes = state.contents.bytes(object.memory).to_vec();
            bytes.truncate(object.initial.len());
            if !self.context.settings.axioms {
                self.forget_shared(object.memory, &mut bytes);
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
                    for (index, byte) in written.iter().enumerate() {
                        if let Some(slot) = bytes.get_mut(offset as usize + index) {
                            *slot = *byte;
                        }
                    }
                }
            }
            memory.push(bytes);
        }
        let volatile = traces(state);
        let outcome = Outcome { end: End::Terminated, memory, volatile, remarks: remarks.to_vec() };
        self.record(state, outcome, found);
    }

    /// Without the axioms nobody knows what is in memory that invocations share.
    fn forget_shared(&self, memory: u32, bytes: &mut [Byte]) {
        for (offset, byte) in (0..).zip(bytes) {
            if self.knowledge.word(memory, offset) != Word::Unshared {
                *byte = Byte::Undef;
            }
        }
    }

    /// A run that waits for ever.
    pub(super) fn hang(&self, state: &State, found: &mut Found) {
        let variant = self.context.settings.variant;
        let relations = vulkan::relations(&state.graph, variant);
        let judge = Judge { graph: &state.graph, relations: &relations, variant };
        if self.context.settings.races == Races::Undefined {
            if let Some(race) = judge.data_races().first() {
                return self.record_race(&state.graph, *race, found);
            }
        }
        let forever = state.threads.iter().find_map(|thread| match thread.status {
            Status::Forever { line, has_effects: false } => Some(line),
            _ => None,
        });
        found.removable_hang = found.removable_hang.or(forever);
        found.explored += 1;
        self.note_values(state, found);
        self.record(state, Outcome::hang(traces(state)), found);
    }

    fn record(&self, state: &State, outcome: Outcome, found: &mut Found) {
        found.executions += 1;
        let mut bytes = 0;
        match found.outcomes.entry(outcome) {
            Entry::Occupied(mut known) => known.get_mut().executions += 1,
            Entry::Vacant(slot) => {
                bytes = slot.key().memory.iter().map(Vec::len).sum::<usize>() as u64 + 256;
                let variant = self.context.settings.variant;
                slot.insert(witness::of(&state.graph, self.knowledge.units(), variant));
            }
        }
        self.context.budget.execution(bytes);
    }
}

fn traces(state: &State) -> Vec<Vec<VolatileAccess>> {
    state.threads.iter().map(|thread| thread.trace.to_vec()).collect()
}
