//! Arrivals at loop headers, and spin loops. A turn of a loop that changes nothing and returns to the same state is
//! *idle* and is left out: the execution without it has the same outcome. What remains of a spin loop is the read that
//! leaves the loop, or that waits for a write which lets it leave. If the latest writes do not let it leave, it waits
//! for ever.
//!
//! For example, `while (load(flag) == 0) {}` reads 0 any number of times and then 1. Only the read of 1 is visited.
//!
//! A turn that returns to the same state but wrote is *restless*. The configuration after it is compared with those
//! after earlier turns, to find a [`lasso`](crate::explore::branch::spinning::lasso). (Idle turns are left out as by
//! Kokologiannakis, Ren, Vafeiadis, "Dynamic partial order reductions for spinloops", FMCAD 2021.)

use std::sync::Arc;

use smallvec::SmallVec;

use crate::behaviour::{Bound, PathEnd, VolatileAccess};
use crate::explore::oracle;
use crate::explore::reductions::symmetry::gates;
use crate::explore::settings::Races;
use crate::explore::state::{Arrival, Found, Idle, Round, State, Status, Thread};
use crate::explore::step::loops::configurations;
use crate::explore::step::loops::segments;
use crate::explore::step::loops::turns;
use crate::ir::LoopId;
use crate::model::memory_model::DataRace;

/// The number of stops in one turn before a simulation gives up.
pub(crate) const MAX_STOPS: usize = 10_000;

/// How a turn of a loop ends.
pub(crate) enum Turn {
    GoesOn,
    Ends(PathEnd),
    Races(DataRace),
    /// All following turns are like the one that ends.
    Endless {
        has_effects: bool,
    },
}

/// Handles the arrival of an invocation at a loop header.
pub(crate) fn arrive(
    round: &Round,
    state: &mut State,
    index: usize,
    depth: u32,
    loop_id: LoopId,
    found: &mut Found,
) -> Turn {
    let thread = &state.threads[index];
    let known = thread.loops.iter().position(|arrival| arrival.depth == depth && arrival.loop_id == loop_id);
    let mut restless = 0;
    if let Some(position) = known {
        let last = &thread.loops[position];
        let is_same = thread.invocation.same_state(&last.invocation, round.context.program);
        let is_idle = is_same && turns::changed_nothing(round, state, index, last);
        if state.closing.is_some() {
            if is_idle {
                note_spin(round, state, index, last, found);
            }
            // A turn that writes belongs to a path in which its read does not wait.
            let since = last.events;
            if is_same && !(is_idle && configurations::comes_round(state, index, since)) {
                return Turn::Ends(PathEnd::Fairness);
            }
        } else if is_idle {
            return idle_turn(round, state, index, position, found);
        } else if is_same {
            restless = last.restless + 1;
            if restless >= round.context.settings.spin_bound {
                found.bounded.get_or_insert(Bound::SpinBound);
                return Turn::Ends(PathEnd::SpinBound);
            }
            return restless_turn(round, state, index, position, restless, found);
        }
    }
    note_arrival(round, state, index, depth, loop_id, restless);
    Turn::GoesOn
}

/// Handles a turn that wrote and returned to the state in which it began.
fn restless_turn(
    round: &Round,
    state: &mut State,
    index: usize,
    position: usize,
    restless: u32,
    found: &mut Found,
) -> Turn {
    let last = state.threads[index].loops[position].clone();
    let now = Arc::new(configurations::configuration(round, state));
    let mut earlier = last.configurations.iter().rev();
    if let Some(segment) =
        earlier.find_map(|earlier| configurations::repeats_from(round, state, earlier, &now))
    {
        gates::break_symmetries(round, found);
        segments::repeat(state, segment);
        return Turn::GoesOn;
    }
    note_arrival(round, state, index, last.depth, last.loop_id, restless);
    if let Some(arrival) = state.threads[index].loops.last_mut() {
        arrival.configurations = last.configurations;
        arrival.configurations.push(now);
    }
    Turn::GoesOn
}

/// Handles a turn that changed nothing and returned to the state in which it began.
fn idle_turn(round: &Round, state: &mut State, index: usize, position: usize, found: &mut Found) -> Turn {
    let last = state.threads[index].loops[position].clone();
    if state.has_parted() {
        gates::break_symmetries(round, found);
    }
    let reads = turns::own_events(state, index, last.events).any(|event| event.reads());
    if reads {
        note_spin(round, state, index, &last, found);
    }
    let thread = &state.threads[index];
    if thread.passes == last.passes {
        if !reads {
            return turn_for_ever(state, index, &last);
        }
        return end_of_idle_turn(round, state, found);
    }
    let events = state.graph.events.len() as u32;
    let idle = Idle { events, changes: thread.changes, decided: reads };
    state.threads[index].idle = Some(idle);
    let together = idle_together(round, state, &last.met, index);
    let Arrival { depth, loop_id, restless, .. } = last;
    note_arrival(round, state, index, depth, loop_id, restless);
    match together {
        None => Turn::GoesOn,
        Some(members) if members.iter().all(|member| !turns::decides(state, *member)) => {
            for member in members {
                state.threads[member].status = Status::Forever;
            }
            Turn::GoesOn
        }
        Some(_) => end_of_idle_turn(round, state, found),
    }
}

/// How a path with an idle turn ends: as equal to the path without the turn, unless the turn has a race and races are
/// judged last.
fn end_of_idle_turn(round: &Round, state: &mut State, found: &mut Found) -> Turn {
    let judged_late = round.knowledge.orders_matter && round.context.settings.races == Races::Undefined;
    if !judged_late || !state.promises.is_empty() {
        return Turn::Ends(PathEnd::IdleTurn);
    }
    match oracle::executions(round, state, found) {
        Ok(executions) => match oracle::race(round, state, &executions) {
            Some(race) => Turn::Races(race),
            None => Turn::Ends(PathEnd::IdleTurn),
        },
        Err(end) => Turn::Ends(end),
    }
}

/// The invocations that made their turns together with this one, if none of them changed anything, so that all may
/// repeat their turns.
fn idle_together(round: &Round, state: &State, met: &[Arc<[usize]>], index: usize) -> Option<Vec<usize>> {
    let mut members: Vec<usize> = met.iter().flat_map(|met| met.iter().copied()).collect();
    members.push(index);
    members.sort_unstable();
    members.dedup();
    let is_idle = |member: &usize| {
        let thread = &state.threads[*member];
        !thread.status.is_over()
            && thread.idle.is_some_and(|idle| {
                thread.changes == idle.changes
                    && turns::own_events(state, *member, idle.events)
                        .all(|event| turns::changes_nothing(round, state, event, idle.events))
            })
    };
    members.iter().all(is_idle).then_some(members)
}

/// Handles an idle turn that nothing can change: all following turns are like it.
fn turn_for_ever(state: &mut State, index: usize, last: &Arrival) -> Turn {
    let has_effects = turns::own_events(state, index, last.events).next().is_some()
        || state.threads[index].trace.len() != last.traced
        || state.threads[index].invocation.effects() != last.invocation.effects();
    let thread = &mut state.threads[index];
    Arc::make_mut(&mut thread.trace).truncate(last.traced);
    Turn::Endless { has_effects }
}

/// Handles the entry of an invocation into a loop.
pub(crate) fn enter(round: &Round, state: &mut State, index: usize, depth: u32, loop_id: LoopId) {
    note_arrival(round, state, index, depth, loop_id, 0);
}

fn note_arrival(round: &Round, state: &mut State, index: usize, depth: u32, loop_id: LoopId, restless: u32) {
    let events = state.graph.events.len() as u32;
    let thread = &mut state.threads[index];
    thread
        .loops
        .retain(|arrival| arrival.depth < depth || arrival.depth == depth && arrival.loop_id < loop_id);
    let position = thread.invocation.position().last().copied();
    let group = position.and_then(|at| round.knowledge.spin_traces.get(&(index as u32, at)));
    if let Some(group) = group {
        Arc::make_mut(&mut thread.trace).push(VolatileAccess::Repeated(group.clone()));
    }
    let (invocation, traced) = (thread.invocation.clone(), thread.trace.len());
    let Thread { changes, passes, .. } = *thread;
    thread.loops.push(Arrival {
        depth,
        loop_id,
        invocation,
        events,
        changes,
        passes,
        traced,
        met: SmallVec::new(),
        restless,
        configurations: Vec::new(),
    });
}

fn note_spin(round: &Round, state: &State, index: usize, since: &Arrival, found: &mut Found) {
    let reads = || turns::own_events(state, index, since.events).filter(|event| event.reads());
    found.discoveries.spin_reads.extend(reads().map(|event| event.inst));
    let polled = reads().flat_map(|event| event.units.iter().map(|unit| round.knowledge.key(*unit)));
    if let Some(first) = reads().next() {
        let units = found.discoveries.spin_units.entry((index as u32, first.inst)).or_default();
        units.extend(polled);
    }
    let trace = &state.threads[index].trace[since.traced..];
    // The invocation stands at the header again.
    let header = state.threads[index].invocation.position().last().copied();
    if let (Some(header), false) = (header, trace.is_empty()) {
        let traces = found.discoveries.spin_traces.entry((index as u32, header)).or_default();
        traces.insert(trace.to_vec());
    }
}
