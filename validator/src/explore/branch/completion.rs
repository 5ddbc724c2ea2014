//! Ends of executions: outcomes and hangs.
//!
//! For example, a complete graph with two unordered atomic writes of the same unit has two outcomes, one for each write
//! that can be last.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use crate::behaviour::{End, Outcome, PathEnd};
use crate::explore::facts::discoveries::Word;
use crate::explore::oracle::{self, Judgement};
use crate::explore::outcomes::{record, witness};
use crate::explore::reductions::commuting_updates;
use crate::explore::reductions::symmetry::orbit::{self, Ended, Orbit};
use crate::explore::reductions::symmetry::{expansion, gates};
use crate::explore::state::{Found, Round, State};
use crate::explore::step::loops::segments;
use crate::model::graph::{EventId, Unit};
use crate::model::memory_model::FinalValues;
use crate::model::relation::Relation;
use crate::value::Byte;
use crate::witness::Execution;

/// Ends a path on which all invocations have finished. If its graph is an execution, its outcomes are recorded.
pub(crate) fn complete(round: &Round, state: &mut State, found: &mut Found) {
    assert!(state.promises.is_empty(), "a promise that stays open ends a path before");
    if commuting_updates::order_updates(state, found) {
        return found.paths.end(PathEnd::Relearned);
    }
    let executions = match oracle::executions(round, state, found) {
        Ok(executions) => executions,
        Err(end) => return found.paths.end(end),
    };
    assert!(state.threads.iter().all(|thread| thread.fault.is_none()), "a fault ends a path before");
    if let Some(race) = oracle::race(round, state, &executions) {
        return record::record_race(round, state, race, found);
    }
    record::note_values(round, state, found);
    found.explored += 1;
    if record::rests_on_reconvergence(round, state, found) {
        return found.paths.end(PathEnd::Reconvergence);
    }
    found.paths.end(PathEnd::Execution);
    let is_observed = |unit| record::is_observed(round, unit);
    if let ([execution], true) = (&executions[..], round.context.settings.axioms) {
        let values = oracle::final_values(round, &state.graph, execution, &is_observed, found);
        if values.iter().all(|values| values.last_writes.len() == 1) {
            let last: SmallVec<[(&FinalValues, &[EventId]); 8]> =
                values.iter().map(|values| (values, values.last_writes[0].as_slice())).collect();
            let Some(orbit) = orbit_of(round, state, execution, &last, found) else { return };
            let memory = final_memory(round, state, &last);
            let remarks = oracle::remarks(round, &state.graph, execution);
            let outcome = Outcome {
                end: End::Terminated,
                memory,
                volatile: record::traces(state.threads.iter().map(|thread| &thread.trace)),
                remarks,
            };
            // The graph is not needed afterwards.
            let graph = || Execution::Whole(std::mem::take(&mut state.graph));
            return record(round, graph, &outcome, &orbit, execution.synchronizes_with(), found);
        }
    }
    if state.has_parted() {
        return gates::break_symmetries(round, found);
    }
    let Some(orbit) = orbit::orbit(round, &Ended::of(state, Vec::new()), found) else { return };
    let mut finals = BTreeMap::new();
    for execution in &executions {
        let mut memories = BTreeSet::new();
        let remarks = oracle::remarks(round, &state.graph, execution);
        // Without the axioms there may be no last write.
        let values = match round.context.settings.axioms {
            true => oracle::final_values(round, &state.graph, execution, &is_observed, found),
            false => Vec::new(),
        };
        final_memories(round, state, &values, &remarks, &mut Vec::new(), &mut memories);
        for memory in memories {
            finals.entry(memory).or_insert(execution.synchronizes_with());
        }
    }
    for ((memory, remarks), synchronizes_with) in finals {
        let outcome = Outcome {
            end: End::Terminated,
            memory,
            volatile: record::traces(state.threads.iter().map(|thread| &thread.trace)),
            remarks,
        };
        record(round, || Execution::Whole(state.graph.clone()), &outcome, &orbit, synchronizes_with, found);
    }
}

/// The executions that a complete one with these last writes stands for. It is `None` if the round does not count.
fn orbit_of(
    round: &Round,
    state: &State,
    execution: &oracle::Execution,
    last: &[(&FinalValues, &[EventId])],
    found: &mut Found,
) -> Option<Orbit> {
    if !state.has_parted() {
        return orbit::orbit(round, &Ended::of(state, Vec::new()), found);
    }
    // Several last writes of a unit count as one if they write the same. With varied values they may differ.
    let is_alone = |unit: &Unit| match execution {
        oracle::Execution::Grown(growing) => growing.latest_writes(*unit).len() == 1,
        oracle::Execution::Derived(_) => false,
    };
    if !last.iter().flat_map(|(values, _)| &values.units).all(is_alone) {
        gates::break_symmetries(round, found);
        return None;
    }
    let pairs = |(values, writes): &(&FinalValues, &[EventId])| {
        let pairs: SmallVec<[_; 1]> = values.units.iter().copied().zip(writes.iter().copied()).collect();
        pairs
    };
    orbit::orbit(round, &Ended::of(state, last.iter().flat_map(pairs).collect()), found)
}

/// The final memory for every choice of last writes, with the remarks.
fn final_memories<'f>(
    round: &Round,
    state: &State,
    finals: &'f [FinalValues],
    remarks: &[u32],
    chosen: &mut Vec<(&'f FinalValues, &'f [EventId])>,
    into: &mut BTreeSet<(Vec<Vec<Byte>>, Vec<u32>)>,
) {
    let Some(next) = finals.get(chosen.len()) else {
        into.insert((final_memory(round, state, chosen), remarks.to_vec()));
        return;
    };
    for last_writes in &next.last_writes {
        chosen.push((next, last_writes));
        final_memories(round, state, finals, remarks, chosen, into);
        chosen.pop();
    }
}

pub(crate) fn final_memory(
    round: &Round,
    state: &State,
    chosen: &[(&FinalValues, &[EventId])],
) -> Vec<Vec<Byte>> {
    let dispatch = round.context.dispatch;
    let mut memory: Vec<Vec<Byte>> = Vec::new();
    for object in dispatch.objects.iter().filter(|object| object.observed) {
        let start = object.view.unwrap_or(0) as usize;
        let contents = state.contents.bytes(object.memory);
        let end = (start + object.initial.len()).min(contents.len());
        let mut bytes = contents[start.min(end)..end].to_vec();
        if !round.context.settings.axioms {
            forget_shared(round, object.memory, start, &mut bytes);
        }
        for (finals, last_writes) in chosen {
            for (unit, write) in finals.units.iter().zip(*last_writes) {
                let (unit_memory, offset) = round.knowledge.key(*unit);
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

/// Without the axioms the contents of memory that invocations share are unknown. `bytes` begin at offset `start`.
fn forget_shared(round: &Round, memory: u32, start: usize, bytes: &mut [Byte]) {
    for (offset, byte) in (start as u32..).zip(bytes) {
        if round.knowledge.word(memory, offset) != Word::Unshared {
            *byte = Byte::Undef;
        }
    }
}

/// Ends a path that waits for ever.
pub(crate) fn hang(round: &Round, state: &mut State, found: &mut Found) {
    let executions = match oracle::executions(round, state, found) {
        Ok(executions) => executions,
        Err(end) => return found.paths.end(end),
    };
    let execution = &executions[0];
    if !state.segments.is_empty() {
        let (graph, is_fair) = segments::unrolled(round, state);
        // A race of an unfair run is also a race of the fair runs that begin like it, so it counts in any case.
        match segments::judge_unrolled(round, &graph) {
            Judgement::Ends(end) => return found.paths.end(end),
            Judgement::Racy(race) => {
                let told = State { graph, ..state.clone() };
                return record::record_race(round, &told, race, found);
            }
            Judgement::Fine if !is_fair => return found.paths.end(PathEnd::Fairness),
            Judgement::Fine => {}
        }
    }
    if let Some(race) = oracle::race(round, state, &executions) {
        return record::record_race(round, state, race, found);
    }
    found.explored += 1;
    if record::rests_on_reconvergence(round, state, found) {
        return found.paths.end(PathEnd::Reconvergence);
    }
    found.paths.end(PathEnd::Hang);
    record::note_values(round, state, found);
    gates::break_symmetries(round, found);
    let outcome = Outcome::hang(record::traces(state.threads.iter().map(|thread| &thread.trace)));
    let execution_of = || Execution::Whole(state.graph.clone());
    record(round, execution_of, &outcome, &Orbit::of_one(), execution.synchronizes_with(), found);
}

pub(crate) fn record(
    round: &Round,
    execution: impl FnOnce() -> Execution,
    outcome: &Outcome,
    orbit: &Orbit,
    synchronizes_with: Option<&Relation>,
    found: &mut Found,
) {
    if orbit.is_large() {
        let first = witness::witness(round, execution(), synchronizes_with);
        return expansion::record_orbit(round, orbit, outcome, first, found);
    }
    found.executions += 1;
    record::keep(round, outcome, 1, || witness::witness(round, execution(), synchronizes_with), found);
}
