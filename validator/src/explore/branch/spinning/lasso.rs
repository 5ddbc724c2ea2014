//! Lassos: endless runs (docs/semantics.md, section 3.2). Under fair progress an endless run is a lasso: a finite
//! execution, and a segment that repeats.
//!
//! An invocation that only reads in its turns waits at the first read of one
//! ([`arrivals`](crate::explore::step::loops::arrivals)). When no other invocation can continue, each that waits takes
//! one more turn, in which reads see only the latest writes: every write becomes visible in the end, so no read of the
//! segment stays from-reads-before a write. If all return to where they waited, the turn may be repeated for ever.
//! Reads that are from-reads-before no write close no cycle, however often they are repeated.
//!
//! For example, two invocations each spin until the other one sets a flag, and neither does. In the closing turn both
//! read the initial values and return to their loops, so the run hangs.
//!
//! An invocation that writes in its turns has reached a segment when all invocations that took part since then have the
//! same states again, and every location has the same latest values. The run then stays in that segment. When the path
//! is known to be a hang, the segment is appended to the graph once more, with sources that move on by one turn, and
//! the model is asked ([`segments`](crate::explore::step::loops::segments)).

use std::collections::BTreeSet;

use smallvec::SmallVec;

use crate::behaviour::PathEnd;
use crate::explore::branch::barriers;
use crate::explore::branch::completion;
use crate::explore::branch::reads;
use crate::explore::branch::subgroups::Released;
use crate::explore::state::reader;
use crate::explore::state::{accesses, Advanced, Arrival, Closing, Found, Round, Start, State, Status};
use crate::explore::step::loops::exits::{self, Exit};
use crate::explore::step::loops::turns;
use crate::explore::step::run;
use crate::model::graph::{EventId, Source, Unit, UnitBytes};

/// Handles a state in which no invocation can continue and some wait in loops. It follows every way for them to repeat
/// their loops for ever, and records a hang if all do. The result has the invocations that have no effects in that,
/// each with an exit by which it may leave its loop.
pub(crate) fn close(
    round: &Round,
    state: &State,
    spinning: &[usize],
    found: &mut Found,
) -> BTreeSet<(usize, Exit)> {
    let mut left = BTreeSet::new();
    let begun = state;
    let mut first = state.clone();
    first.closing = Some(closing_of(state, spinning));
    let mut rest = vec![first];
    while let Some(mut state) = rest.pop() {
        if found.stop || round.context.budget.step() {
            break;
        }
        match run::advance(round, &mut state, found) {
            Advanced::Ended(end) => found.paths.end(end),
            Advanced::Branch(children) => rest.extend(children.into_iter().rev()),
            Advanced::Quiet if state.dirty => {
                found.stop = true;
                found.paths.end(PathEnd::Relearned);
            }
            Advanced::Quiet if run::end_at_fault(round, &mut state, found) => {}
            Advanced::Quiet => match barriers::release_barrier(round, &mut state, found) {
                Released::Some => rest.push(state),
                Released::Ended(end) => found.paths.end(end),
                Released::Nobody => match reads_next(&state) {
                    Some(index) => rest.extend(read_latest(round, state, index, found).into_iter().rev()),
                    None if is_closed(&state) => {
                        left.extend(leaves(round, begun, &state, spinning));
                        if is_blocked(&state) {
                            found.paths.end(PathEnd::Fairness);
                            continue;
                        }
                        forget_turn(&mut state);
                        completion::hang(round, &mut state, found);
                    }
                    None => found.paths.end(PathEnd::Fairness),
                },
            },
        }
    }
    left
}

/// The invocations that had no effects in the closing turn, with the exits by which they may leave.
fn leaves<'s>(
    round: &'s Round,
    begun: &'s State,
    closed: &'s State,
    spinning: &'s [usize],
) -> impl Iterator<Item = (usize, Exit)> + 's {
    spinning.iter().flat_map(move |index| {
        let arrival = turns::arrivals_without_accesses(begun, *index).next();
        let effects =
            |arrival: &&Arrival| arrival.invocation.effects() != closed.threads[*index].invocation.effects();
        let quiet = arrival.filter(|arrival| !effects(arrival));
        let exits =
            |arrival: &Arrival| exits::exits(round, &arrival.invocation, (arrival.depth, arrival.loop_id));
        quiet.map(exits).into_iter().flatten().map(|exit| (*index, exit))
    })
}

/// The state in which an invocation has left an endless loop in which it waits.
pub(crate) fn leave(
    round: &Round,
    state: &State,
    (index, exit): (usize, Exit),
    found: &mut Found,
) -> Option<State> {
    let arrival = turns::arrivals_without_accesses(state, index).next()?;
    exits::after_leaving(round, state, index, &arrival.invocation, exit, found)
}

/// One state for each choice of latest writes that a read may see.
fn read_latest(round: &Round, state: State, index: usize, found: &mut Found) -> Vec<State> {
    let status = state.threads[index].status.clone();
    let Some(reader) = reader::reader_of(round, &status, index) else { return vec![] };
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |word| {
        found.discoveries.split.insert((reader.memory, word));
    });
    let Some(spans) = spans else {
        found.stop = true;
        found.paths.end(PathEnd::Relearned);
        return Vec::new();
    };
    let latest = turns::latest_writes(round, &state);
    let candidates: Vec<SmallVec<[(Source, UnitBytes); 4]>> = spans
        .iter()
        .map(|(unit, indices)| {
            let sources = lasting_sources(&state, *unit, &latest(*unit));
            let value =
                |source| accesses::source_bytes(&state, round.knowledge, *unit, indices.len(), source);
            sources.into_iter().map(|source| (source, value(source))).collect()
        })
        .collect();
    drop(latest);
    let mut assignments = Vec::new();
    reader::for_each_assignment(&round.context.budget, &candidates, &mut |assignment| {
        let assignment: SmallVec<[(Source, UnitBytes); 4]> = assignment.into();
        assignments.push(assignment);
    });
    found.paths.branch(assignments.len());
    let mut children = Vec::new();
    for assignment in assignments {
        reads::answer(round, &mut children, state.clone(), &reader, &spans, &assignment, found);
    }
    children
}

/// The writes of a unit that may be seen again and again: the latest ones, or those of segments that repeat.
fn lasting_sources(state: &State, unit: Unit, latest: &[EventId]) -> SmallVec<[Source; 2]> {
    let repeated = state.segments.iter().flat_map(|segment| turns::events(segment, &state.graph));
    let mut repeated = repeated
        .filter(|id| {
            let event = &state.graph.events[*id as usize];
            event.writes() && event.units.contains(&unit)
        })
        .peekable();
    if repeated.peek().is_some() {
        return repeated.map(Source::Event).collect();
    }
    match latest {
        [] => SmallVec::from_slice(&[Source::Initial]),
        latest => latest.iter().copied().map(Source::Event).collect(),
    }
}

fn closing_of(state: &State, spinning: &[usize]) -> Closing {
    let start = |index: usize| {
        let thread = &state.threads[index];
        let at = thread.invocation.position().last().copied();
        Start {
            at: at.filter(|_| !thread.status.is_over()),
            is_blocked: matches!(thread.status, Status::Reading { .. }) && !spinning.contains(&index),
            trace: thread.trace.clone(),
            rounds: 0,
            whole: 0,
            passes: thread.passes,
        }
    };
    let threads = (0..state.threads.len()).map(start).collect();
    Closing { events: state.graph.events.len() as EventId, threads }
}

/// Whether an invocation of a closing run is back where it waited, or never left.
fn is_back(state: &State, index: usize) -> bool {
    let (Some(closing), thread) = (&state.closing, &state.threads[index]) else { return false };
    let start = &closing.threads[index];
    let Some(at) = start.at else { return thread.status.is_over() };
    if start.is_blocked {
        return true;
    }
    let stands = match thread.status {
        Status::Reading { .. } => start.whole > 0,
        Status::Barrier(_) | Status::Subgroup(_) => start.whole > 0 || thread.passes == start.passes,
        Status::Running | Status::Finished | Status::Faulted | Status::Forever => false,
    };
    stands && thread.invocation.position().last() == Some(&at)
}

/// The invocation of a closing run that reads next.
fn reads_next(state: &State) -> Option<usize> {
    let reads = |index: &usize| matches!(state.threads[*index].status, Status::Reading { .. });
    (0..state.threads.len()).filter(reads).find(|index| !is_back(state, *index))
}

/// Whether an invocation waits that does not repeat a loop.
fn is_blocked(state: &State) -> bool {
    let starts = state.closing.iter().flat_map(|closing| &closing.threads);
    starts.into_iter().any(|start| start.is_blocked)
}

fn is_closed(state: &State) -> bool {
    (0..state.threads.len()).all(|index| is_back(state, index))
}

/// Removes the closing turn from the volatile traces. The groups that repeat contain it.
fn forget_turn(state: &mut State) {
    let Some(closing) = &mut state.closing else { return };
    for (index, start) in closing.threads.iter_mut().enumerate() {
        state.threads[index].trace = std::mem::take(&mut start.trace);
    }
}
