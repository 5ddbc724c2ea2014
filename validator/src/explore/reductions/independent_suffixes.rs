//! Independent suffixes: invocations that communicate no more end independently of each other.
//!
//! Once no invocation writes any more where others read, what an invocation still does does not depend on the others:
//! it reads from writes that are there. Then the suffixes of each invocation are found by themselves, and each
//! execution consists of one suffix of each invocation. The reads of one are consistent with those of the others if the
//! writes of every location that several of them read are already totally ordered: that order implies everything that a
//! path through the reads of one invocation implies. It is not assumed that no invocation writes, and that no two of
//! them use the same memory without events. Both are checked in the suffixes. If one does not hold, the search goes on
//! jointly.
//!
//! For example, one invocation has stored a flag, and twenty others load it. Each of these has two suffixes, which are
//! found in forty steps. They make 2^20 executions, which need no search.
//!
//! A witness has the common beginning and one suffix of each invocation ([`Ends`]). The idea is that of partial-order
//! reduction: transitions that are independent from here on need not be interleaved (Godefroid, "Partial-Order Methods
//! for the Verification of Concurrent Systems", LNCS 1032, 1996).

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::behaviour::{End, Outcome, PathEnd, VolatileAccess};
use crate::explore::branch::completion;
use crate::explore::branch::reads;
use crate::explore::branch::writers;
use crate::explore::oracle;
use crate::explore::outcomes::record;
use crate::explore::reductions::commuting_updates;
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::symmetry::orbit::{self, Ended, Orbit};
use crate::explore::reductions::{Branching, Reduced, Reduction};
use crate::explore::search::parts::{self, SearchPosition, EXPANSION_PARTS, LARGE_EXPANSION};
use crate::explore::settings::Races;
use crate::explore::state::found;
use crate::explore::state::memory::{Contents, Touch};
use crate::explore::state::reader;
use crate::explore::state::{Advanced, Context, Found, Round, State, Status, Thread};
use crate::explore::step::run;
use crate::model::graph::{Event, EventId, Graph, Unit, UnitBytes};
use crate::model::memory_model::{Extent, FinalValues};
use crate::value::Byte;
use crate::witness::{Ends, Execution};

/// The reduction.
pub(crate) struct IndependentSuffixes;

impl Reduction for IndependentSuffixes {
    fn name(&self) -> ReductionName {
        ReductionName::IndependentSuffixes
    }

    /// Not applicable if the axioms are not local: then reads of different invocations restrict each other.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.axioms && context.settings.model.is_local() && context.settings.remark.is_none()
    }

    fn at_branch(&self, round: &Round, at: &mut Branching, found: &mut Found) -> Reduced {
        match explore_suffixes(round, at.state, at.share, at.place, found) {
            true => Reduced::Visited,
            false => Reduced::No,
        }
    }
}

/// One way for an invocation to end.
struct Suffix {
    events: Vec<Arc<Event>>,
    trace: Arc<Vec<VolatileAccess>>,
    touches: Vec<Touch>,
    /// What the invocation leaves in observed memory.
    left: Vec<Left>,
    /// The history of all that it read.
    history: u32,
}

/// Bytes of an object from byte `start` on. `object` is its number among the observed objects.
struct Left {
    object: usize,
    start: usize,
    bytes: SmallVec<[Byte; 4]>,
}

/// The independent suffixes of invocations after a common beginning.
struct Combination {
    /// The invocations, each with its suffixes.
    suffixes: Vec<(usize, Vec<Suffix>)>,
    /// The same for witnesses.
    ends: Arc<Ends>,
    finals: Vec<FinalValues>,
    /// What the other invocations read, and what they did without events.
    histories: Vec<u32>,
    contents: Contents,
    /// The share of the whole tree that each execution makes out.
    share: f64,
}

/// What an execution leaves, as far as its suffixes have been chosen.
#[derive(Clone)]
struct Chosen {
    outcome: Outcome,
    index: u64,
}

/// Finds the suffixes of each invocation by itself, and all executions that they make, if the invocations that still
/// run communicate no more. The executions make out `share` of the tree. It returns false if the invocations
/// communicate, or if that is not certain.
fn explore_suffixes(
    round: &Round,
    state: &mut State,
    share: f64,
    place: Option<&SearchPosition>,
    found: &mut Found,
) -> bool {
    if state.suffixes_depend || !may_be_independent(round, state) {
        return false;
    }
    if round.scouts {
        found.must_restart = true;
        return false;
    }
    let mut found_in_suffixes = Found::default();
    let Some(mut combination) = are_independent(round, state, &mut found_in_suffixes) else {
        state.suffixes_depend = true;
        return false;
    };
    found::merge(found, found_in_suffixes);
    let ways: f64 = combination.suffixes.iter().map(|(_, suffixes)| suffixes.len() as f64).product();
    if found.stop || commuting_updates::order_updates(state, found) || ways == 0.0 {
        round.context.budget.path_ended(share);
        return true;
    }
    record::note_values(round, state, found);
    // One visit, and one more for every further suffix of an invocation.
    found.explored +=
        1 + combination.suffixes.iter().map(|(_, suffixes)| suffixes.len() as u64 - 1).sum::<u64>();
    combination.share = share / ways;
    let last: SmallVec<[(&FinalValues, &[EventId]); 8]> =
        combination.finals.iter().map(|values| (values, values.last_writes[0].as_slice())).collect();
    let begun = state.threads.iter().map(|thread| &thread.trace);
    let ends = combination.suffixes.iter().flat_map(|(_, suffixes)| suffixes).map(|suffix| &suffix.trace);
    let volatile = match begun.clone().chain(ends).all(|trace| trace.is_empty()) {
        true => Vec::new(),
        false => begun.map(|trace| trace.to_vec()).collect(),
    };
    let memory = completion::final_memory(round, state, &last);
    let outcome = Outcome { end: End::Terminated, memory, volatile, remarks: Vec::new() };
    combine(round, &combination, Chosen { outcome, index: 0 }, ways, place, found);
    true
}

/// Records one execution for each choice of suffixes.
fn combine(
    round: &Round,
    combination: &Combination,
    mut chosen: Chosen,
    ways: f64,
    place: Option<&SearchPosition>,
    found: &mut Found,
) {
    let count = combination.suffixes.len();
    let record = |chosen: &Chosen, place: Option<&SearchPosition>, found: &mut Found| {
        record_combination(round, combination, chosen, found);
        !found.stop && !round.context.budget.step() && !parts::is_superseded(place)
    };
    if ways < LARGE_EXPANSION || round.context.settings.jobs == 1 {
        combination.choose(&mut chosen, 0, count, &mut |chosen| record(chosen, place, found));
        return;
    }
    let mut depth = 0;
    let mut ways = 1;
    while ways < EXPANSION_PARTS {
        ways *= combination.suffixes[depth].1.len();
        depth += 1;
    }
    let mut parts = Vec::new();
    combination.choose(&mut chosen, 0, depth, &mut |chosen| {
        parts.push(chosen.clone());
        true
    });
    parts::in_parts(round, parts, place, found, |mut part, place, found| {
        combination.choose(&mut part, depth, count, &mut |chosen| record(chosen, Some(place), found));
    });
}

/// Whether the invocations that still run seem to communicate no more.
fn may_be_independent(round: &Round, state: &State) -> bool {
    if round.knowledge.race_candidate.is_some()
        || round.knowledge.orders_matter
        || state.dirty
        || state.diverged.is_some()
        || !state.promises.is_empty()
        || state.has_parted()
    {
        return false;
    }
    let mut reading = 0;
    for (index, thread) in state.threads.iter().enumerate() {
        match thread.status {
            Status::Finished => continue,
            Status::Reading { .. } => reading += 1,
            Status::Running
            | Status::Barrier(_)
            | Status::Subgroup(_)
            | Status::Faulted
            | Status::Forever => return false,
        }
        if thread.reads_unknown.is_some()
            || thread.waits_since.is_some_and(|since| !reader::has_new_source(round, state, index, since))
            || !writers::only_reads(round, state, index)
        {
            return false;
        }
    }
    reading > 1
}

/// The suffixes of the invocations that still run. What is in `found` counts only if they are independent.
fn are_independent(round: &Round, state: &mut State, found: &mut Found) -> Option<Combination> {
    if !oracle::grow(round, state) {
        return None;
    }
    let growing = state.growing.clone()?;
    if round.context.settings.races == Races::Undefined && growing.data_race().is_some() {
        return None;
    }
    let finals = growing.final_values(&state.graph, &|unit| record::is_observed(round, unit));
    if finals.iter().any(|values| values.last_writes.len() != 1) {
        return None;
    }
    let mut begun = state.clone();
    begun.contents.note_touches();
    let mut suffixes = Vec::new();
    for index in 0..state.threads.len() {
        if matches!(state.threads[index].status, Status::Reading { .. }) {
            // The first suffixes belong to the path itself.
            if !suffixes.is_empty() {
                found.paths.start();
            }
            suffixes.push((index, find_suffixes(round, &begun, index, found)?));
        }
    }
    let is_settled = |unit| growing.writes_are_ordered(unit);
    if found.discoveries.orders_matter
        || !reads_are_settled(&suffixes, is_settled)
        || !touches_are_separate(&suffixes)
    {
        return None;
    }
    let events = |suffixes: &Vec<Suffix>| suffixes.iter().map(|suffix| suffix.events.clone()).collect();
    let ends = suffixes.iter().map(|(_, suffixes)| events(suffixes)).collect();
    let ends = Arc::new(Ends { begun: state.graph.clone(), ends });
    let histories = state.threads.iter().map(|thread| thread.history).collect();
    let contents = state.contents.clone();
    Some(Combination { suffixes, ends, finals, histories, contents, share: 0.0 })
}

/// All suffixes of an invocation while the others do nothing. It is `None` if the invocation writes or does not end by
/// itself.
fn find_suffixes(round: &Round, begun: &State, index: usize, found: &mut Found) -> Option<Vec<Suffix>> {
    let mut suffixes = Vec::new();
    let mut rest = vec![begun.clone()];
    while let Some(mut state) = rest.pop() {
        if round.context.budget.step() {
            break;
        }
        match run::advance(round, &mut state, found) {
            Advanced::Ended(end) => {
                found.paths.end(end);
                run::charge_path(round, &state);
            }
            Advanced::Branch(children) => rest.extend(children.into_iter().rev()),
            Advanced::Quiet => match state.threads[index].status {
                Status::Finished => {
                    run::charge_path(round, &state);
                    found.paths.end(PathEnd::Execution);
                    suffixes.push(make_suffix(round, begun, &state, index, found)?);
                }
                Status::Faulted => {
                    if !run::end_at_fault(round, &mut state, found) {
                        return None;
                    }
                }
                Status::Reading { .. } => {
                    let since = state.threads[index].waits_since;
                    if since.is_some_and(|since| !reader::has_new_source(round, &state, index, since)) {
                        return None;
                    }
                    let children = reads::resolve(round, state, index, found);
                    rest.extend(children.into_iter().rev());
                }
                Status::Running | Status::Barrier(_) | Status::Subgroup(_) | Status::Forever => {
                    return None;
                }
            },
        }
        if found.stop {
            break;
        }
    }
    Some(suffixes)
}

/// What an invocation did to reach its end. It is `None` if others may notice it.
fn make_suffix(
    round: &Round,
    begun: &State,
    state: &State,
    index: usize,
    found: &mut Found,
) -> Option<Suffix> {
    let events = &state.graph.events[begun.graph.events.len()..];
    let is_quiet = state.growing.is_some()
        && !state.dirty
        && state.diverged.is_none()
        && state.promises.is_empty()
        && state.contents.unordered_count() == begun.contents.unordered_count()
        && !events.iter().any(|event| event.writes());
    if !is_quiet {
        return None;
    }
    record::note_values(round, state, found);
    let touches = state.contents.touches();
    let written = touches.iter().filter(|touch| touch.writes);
    let left = written.flat_map(|touch| left(round, state, touch)).collect();
    let Thread { trace, history, .. } = &state.threads[index];
    Some(Suffix { events: events.to_vec(), trace: trace.clone(), touches, left, history: *history })
}

/// The bytes of a word in a state, in all objects in which they are observed.
fn left<'s>(round: &'s Round, state: &'s State, touch: &'s Touch) -> impl Iterator<Item = Left> + 's {
    let objects = round.context.dispatch.objects.iter().filter(|object| object.observed).enumerate();
    let contents = state.contents.bytes(touch.memory);
    objects.filter(|(_, object)| object.memory == touch.memory).filter_map(move |(number, object)| {
        let first = object.view.unwrap_or(0) as usize;
        let last = (first + object.initial.len()).min(contents.len());
        let start = (touch.word as usize).max(first);
        let bytes = contents.get(start..(touch.word as usize + 4).min(last))?;
        Some(Left { object: number, start: start - first, bytes: bytes.into() })
    })
}

fn record_combination(round: &Round, combination: &Combination, chosen: &Chosen, found: &mut Found) {
    let Combination { ends, finals, share, .. } = combination;
    let Chosen { outcome, index } = chosen;
    if round.context.settings.verify_engine && !is_execution(round, &ends.graph(*index), finals) {
        found::disagree(found, "executions of independent suffixes");
    }
    let Some(orbit) = orbit_of_combination(round, combination, *index, found) else { return };
    let execution = || Execution::Suffixes { ends: ends.clone(), index: *index };
    if outcome.volatile.is_empty() || outcome.volatile.iter().any(|trace| !trace.is_empty()) {
        completion::record(round, execution, outcome, &orbit, None, found);
    } else {
        let outcome = Outcome { volatile: Vec::new(), ..outcome.clone() };
        completion::record(round, execution, &outcome, &orbit, None, found);
    }
    round.context.budget.path_ended(*share);
}

/// The executions for which one choice of suffixes stands. It is `None` if the round does not count.
fn orbit_of_combination(
    round: &Round,
    combination: &Combination,
    index: u64,
    found: &mut Found,
) -> Option<Orbit> {
    if round.symmetry.is_none() {
        return Some(Orbit::of_one());
    }
    let mut ended = Ended {
        histories: combination.histories.clone(),
        contents: &combination.contents,
        touches: Vec::new(),
        graph: &combination.ends.begun,
        partings: Vec::new(),
        last: Vec::new(),
    };
    let mut rest = index;
    for (invocation, suffixes) in combination.suffixes.iter().rev() {
        let suffix = &suffixes[(rest % suffixes.len() as u64) as usize];
        rest /= suffixes.len() as u64;
        ended.histories[*invocation] = suffix.history;
        ended.touches.push((*invocation, &suffix.touches));
    }
    orbit::orbit(round, &ended, found)
}

/// Whether a graph is an execution without a race that counts, and with these final values.
fn is_execution(round: &Round, graph: &Graph, finals: &[FinalValues]) -> bool {
    let races_are_kept = round.context.settings.races == Races::Keep;
    let model = oracle::model(round);
    let relations = model.relations(graph, Extent::Complete);
    let is_observed = |unit| record::is_observed(round, unit);
    model.is_consistent(graph, &relations)
        && (races_are_kept || model.data_races(graph, &relations).is_empty())
        && values_left(graph, &model.final_values(graph, &relations, &is_observed))
            == values_left(graph, finals)
}

/// The values that choices of last writes leave in each unit. Several writes may leave the same value.
fn values_left<'g>(graph: &'g Graph, finals: &[FinalValues]) -> Vec<Vec<(Unit, Option<&'g UnitBytes>)>> {
    let choices =
        finals.iter().flat_map(|values| values.last_writes.iter().map(|writes| (&values.units, writes)));
    choices
        .map(|(units, writes)| {
            let left =
                |(unit, write): (&Unit, &EventId)| (*unit, graph.events[*write as usize].written_to(*unit));
            units.iter().zip(writes).map(left).collect()
        })
        .collect()
}

impl Combination {
    /// Calls back with each choice of suffixes of the invocations from number `depth` to the one before number `last`.
    /// It ends and returns false once `visit` returns false.
    fn choose(
        &self,
        chosen: &mut Chosen,
        depth: usize,
        last: usize,
        visit: &mut impl FnMut(&Chosen) -> bool,
    ) -> bool {
        if depth == last {
            return visit(chosen);
        }
        let (invocation, suffixes) = &self.suffixes[depth];
        let index = chosen.index;
        for (number, suffix) in (0..).zip(suffixes) {
            chosen.index = index.wrapping_mul(suffixes.len() as u64).wrapping_add(number);
            if let Some(trace) = chosen.outcome.volatile.get_mut(*invocation) {
                trace.clone_from(&suffix.trace);
            }
            let memory = &mut chosen.outcome.memory;
            let of = |left: &Left| SmallVec::<[Byte; 4]>::from_slice(left.slot(memory));
            let before: SmallVec<[_; 4]> = suffix.left.iter().map(of).collect();
            for left in &suffix.left {
                left.slot(memory).copy_from_slice(&left.bytes);
            }
            let more = self.choose(chosen, depth + 1, last, visit);
            for (left, bytes) in suffix.left.iter().zip(&before) {
                left.slot(&mut chosen.outcome.memory).copy_from_slice(bytes);
            }
            if !more {
                return false;
            }
        }
        chosen.index = index;
        true
    }
}

impl Left {
    /// The place of the bytes in the observed objects.
    fn slot<'m>(&self, memory: &'m mut [Vec<Byte>]) -> &'m mut [Byte] {
        &mut memory[self.object][self.start..self.start + self.bytes.len()]
    }
}

/// Whether each location is read by one invocation only, or its writes are totally ordered.
fn reads_are_settled(suffixes: &[(usize, Vec<Suffix>)], is_settled: impl Fn(Unit) -> bool) -> bool {
    let mut readers: FxHashMap<Unit, usize> = FxHashMap::default();
    suffixes.iter().all(|(index, ends)| {
        let mut units = ends.iter().flat_map(|suffix| &suffix.events).flat_map(|event| &event.units);
        units.all(|unit| *readers.entry(*unit).or_insert(*index) == *index || is_settled(*unit))
    })
}

/// Whether each word without events is touched by one invocation only, or written by none.
fn touches_are_separate(suffixes: &[(usize, Vec<Suffix>)]) -> bool {
    /// The invocation that touched a word first, and whether any invocation wrote the word.
    struct Touched {
        by: usize,
        several: bool,
        written: bool,
    }
    let mut words: FxHashMap<(u32, u32), Touched> = FxHashMap::default();
    for (index, ends) in suffixes {
        for touch in ends.iter().flat_map(|suffix| &suffix.touches) {
            let new = Touched { by: *index, several: false, written: false };
            let word = words.entry((touch.memory, touch.word)).or_insert(new);
            word.several |= word.by != *index;
            word.written |= touch.writes;
        }
    }
    !words.values().any(|word| word.several && word.written)
}
