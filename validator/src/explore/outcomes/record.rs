//! Records of outcomes, races and other undefined behaviour in [`Found`].

use std::sync::Arc;

use crate::behaviour::{Outcome, PathEnd, Undecided, Undefined, VolatileAccess};
use crate::event::UndefinedKind;
use crate::explore::oracle;
use crate::explore::outcomes::witness;
use crate::explore::reductions::symmetry::gates;
use crate::explore::state::{Found, Round, State};
use crate::model::graph::{Unit, UnitBytes};
use crate::model::memory_model::DataRace;
use crate::witness::{Execution, Witness};

pub(crate) fn is_observed(round: &Round, unit: Unit) -> bool {
    let (memory, _) = round.knowledge.key(unit);
    round.context.dispatch.objects.iter().any(|object| object.observed && object.memory == memory)
}

/// Notes the values that the writes of an execution give, and those that its read-modify-writes would have given. Reads
/// may speculate them.
pub(crate) fn note_values(round: &Round, state: &State, found: &mut Found) {
    for event in state.graph.events.iter().filter(|event| event.writes()) {
        note_produced(round, event.units.iter().zip(&event.written), found);
    }
    for (unit, bytes) in state.attempted.iter() {
        let key = round.knowledge.key(*unit);
        found.discoveries.attempted.entry(key).or_default().insert(bytes.clone());
    }
}

pub(crate) fn note_produced<'b>(
    round: &Round,
    written: impl Iterator<Item = (&'b Unit, &'b UnitBytes)>,
    found: &mut Found,
) {
    for (unit, bytes) in written.filter(|(unit, bytes)| !round.knowledge.is_produced(**unit, bytes)) {
        let key = round.knowledge.key(*unit);
        found.discoveries.produced.entry(key).or_default().insert(bytes.clone());
    }
}

/// Notes this many executions with an outcome, and keeps the outcome if it is a new one.
pub(crate) fn keep(
    round: &Round,
    outcome: &Outcome,
    executions: u64,
    witness: impl FnOnce() -> Witness,
    found: &mut Found,
) {
    let new = found.outcomes.note(outcome, executions, witness);
    round.context.budget.execution(new.map_or(0, |witness| outcome.stored_bytes(witness)));
    // An outcome of a group is not an outcome of the whole.
    let target = round.context.target.filter(|_| new.is_some() && !round.in_group);
    if target.is_some_and(|target| target(outcome)) {
        found.stop = true;
        found.at_target = true;
    }
}

/// The volatile traces in an outcome, from those of the invocations. There are none if all are empty.
pub(crate) fn traces<'a>(
    traces: impl Iterator<Item = &'a Arc<Vec<VolatileAccess>>> + Clone,
) -> Vec<Vec<VolatileAccess>> {
    match traces.clone().all(|trace| trace.is_empty()) {
        true => Vec::new(),
        false => traces.map(|trace| trace.to_vec()).collect(),
    }
}

/// Ends the path if an endless loop was left before its undefined behaviour. It returns whether it did.
fn drop_excused(state: &State, found: &mut Found) -> bool {
    if state.excused {
        found.paths.end(PathEnd::Excused);
    }
    state.excused
}

pub(crate) fn record_undefined(round: &Round, state: &State, undefined: Undefined, found: &mut Found) {
    if drop_excused(state, found) {
        return;
    }
    found.explored += 1;
    if rests_on_reconvergence(round, state, found) {
        return found.paths.end(PathEnd::Reconvergence);
    }
    found.paths.end(PathEnd::Undefined);
    if state.has_parted() {
        gates::break_symmetries(round, found);
    }
    let graph = &state.graph;
    found
        .undefined
        .entry(undefined)
        .or_insert_with(|| witness::witness(round, Execution::Whole(graph.clone()), None));
    found.stop |= round.context.settings.stop_at_undefined;
    round.context.budget.execution(0);
}

pub(crate) fn record_race(round: &Round, state: &State, race: DataRace, found: &mut Found) {
    let graph = &state.graph;
    let line = |event: u32| graph.events[event as usize].line;
    let mut lines = vec![line(race.first), line(race.second)];
    lines.sort_unstable();
    let detail = witness::race_detail(graph, race, oracle::model(round));
    record_undefined(round, state, Undefined { kind: UndefinedKind::DataRace, lines, detail }, found);
}

/// Whether the path depends on a reconvergence that is left to the implementation. Then nothing on the path counts.
pub(crate) fn rests_on_reconvergence(round: &Round, state: &State, found: &mut Found) -> bool {
    match state.diverged {
        Some(line) if !round.context.settings.structural_reconvergence => {
            found.undecided.insert(Undecided::Reconvergence { line });
            true
        }
        Some(_) | None => false,
    }
}
