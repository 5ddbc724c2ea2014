//! The explorer finds every behaviour of a program on one dispatch, and visits each execution once.
//!
//! Invocations run concretely. The accesses by which they communicate become events of an execution graph, which a
//! memory model judges. The search goes forward only: invocations run until each stands at a read, at a barrier or at
//! its end. Then one read is resolved. There is one branch for every write of the graph from which it may read, and one
//! more branch in which it *waits*: its source is a write that is not there yet. A waiting read is offered only writes
//! that are added after its wait, so every execution is reached by exactly one sequence of choices. If all unfinished
//! invocations wait, program order and reads-from must form a cycle (load buffering). Then one of them *speculates* a
//! value, and the execution counts only if a write that is added later produces the value.
//!
//! For example, in `x = 1` beside `r = x` the read has one branch with the initial value, and one in which it waits and
//! then takes 1.
//!
//! This is stateless exploration of execution graphs without duplicates, as in TruSt (Kokologiannakis, Marmanis,
//! Gladstein, Vafeiadis, "Truly stateless, optimal dynamic partial order reduction", POPL 2022). In contrast to TruSt,
//! reads that were resolved are not revisited when a write is added.
//!
//! What a search needs to know about the program (which locations are shared, which invocations may write what, which
//! values reads may speculate, which reads spin) is learned in rounds, up to a fixed point (`facts/knowledge.rs`). Only
//! the last round counts.

mod branch;
mod budget;
mod context;
pub(crate) mod events;
mod facts;
mod hidden_writers;
mod oracle;
mod outcomes;
mod program;
mod progress;
mod reductions;
mod search;
mod settings;
mod state;
mod step;
mod strays;

use std::collections::BTreeSet;

pub use self::program::unwritten::unwritten;
pub use self::progress::Progress;
pub use self::reductions::names::{ReductionName, Reductions};
pub use self::settings::{Foreseen, Races, Remark, Remarkable, Settings};

use crate::behaviour::{Behaviours, Bound, Bug, Outcome, Undecided};
use crate::dispatch::Dispatch;
use crate::explore::facts::discoveries::SeenOutside;
use crate::explore::facts::knowledge::{Knowledge, MAX_SPECULATED_VALUES};
use crate::explore::hidden_writers::HiddenWriters;
use crate::explore::reductions::all;
use crate::explore::reductions::components::groups::{self as components, Groups};
use crate::explore::search::round;
use crate::explore::state::found;
use crate::explore::state::{Context, Found};
use crate::ir::Program;

const MAX_ROUNDS: usize = 64;

/// The number of rounds of one path before the first whole round.
const MAX_SCOUTS: usize = 16;

/// The reductions that a search uses.
pub(crate) fn reductions_used(program: &Program, dispatch: &Dispatch, settings: &Settings) -> Reductions {
    all::applicable(&context::context(program, dispatch, settings, None))
}

/// Finds every behaviour of `program` on `dispatch`.
pub fn explore(program: &Program, dispatch: &Dispatch, settings: &Settings) -> Behaviours {
    explore_until(program, dispatch, settings, None)
}

/// Finds the behaviours of `program` on `dispatch`, up to the first outcome in search order for which `target` is true.
pub fn explore_until(
    program: &Program,
    dispatch: &Dispatch,
    settings: &Settings,
    target: Option<&(dyn Fn(&Outcome) -> bool + Sync)>,
) -> Behaviours {
    let search = |dispatch: &Dispatch, settings: &Settings| search(program, dispatch, settings, target);
    match &dispatch.robustness {
        Some(robustness) if !robustness.second => {
            strays::search(program, dispatch, robustness, settings, &search)
        }
        Some(_) | None => search(dispatch, settings).0,
    }
}

/// One search, and what accesses outside of buffers it came to.
fn search(
    program: &Program,
    dispatch: &Dispatch,
    settings: &Settings,
    target: Option<&(dyn Fn(&Outcome) -> bool + Sync)>,
) -> (Behaviours, SeenOutside) {
    let mut context = context::context(program, dispatch, settings, target);
    context.reductions = all::applicable(&context);
    let context = context;
    let mut knowledge = Knowledge::new(dispatch, settings);
    let mut rounds = 0;
    let mut scouts = true;
    let mut groups: Option<Groups> = None;
    // The words of hidden writers, with the invocations that access them.
    let mut meets = BTreeSet::new();
    let mut begun = None;
    let (mut found, mut stopped, settled) = loop {
        let found = match (scouts, &groups, begun.take()) {
            (true, ..) => search::run(&round::scout(&context, &knowledge)),
            (false, Some(groups), _) => search::groups::run(groups, &context, &knowledge),
            (false, None, Some(begun)) => search::go_on(&round::new(&context, &knowledge), begun),
            (false, None, None) => search::run(&round::new(&context, &knowledge)),
        };
        let overfed = found.overfed
            || found.judged_anew > knowledge.most_judged_anew()
            || knowledge.is_overfed(found.judged_anew, found.explored);
        if overfed && context.budget.stopped().is_none() {
            knowledge.speculate_less();
            context.budget.start_round();
            continue;
        }
        let ahead = if rounds == 0 { found_ahead(&context, &knowledge, &found) } else { None };
        let stopped = context.budget.stopped();
        if let Some(found) = ahead {
            break (found, stopped, true);
        }
        if !found.discoveries.outside.strays.is_empty() {
            // What they make uncertain is known from the start of another search.
            break (found, stopped, false);
        }
        let united = components::learn(&mut groups, &context, &found);
        let settled = !knowledge.learn(&found.discoveries, MAX_SPECULATED_VALUES) && !united;
        rounds += 1;
        if scouts && !found.left.is_empty() && stopped.is_none() {
            // Once the path of a scout teaches nothing more, the round visits all other paths.
            scouts = !settled && rounds < MAX_SCOUTS;
            if !scouts {
                groups = all::used(&context).find_map(|reduction| reduction.divide(&context, &found));
                components::unite_communicating(&mut groups, &meets);
                if settled && groups.is_none() && found.discoveries.writers.is_empty() {
                    begun = Some(found);
                    continue;
                }
            }
        } else if stopped.is_some() || rounds == MAX_ROUNDS {
            break (found, stopped, false);
        } else if settled {
            let unseen = match hidden_writers::find(&context, &knowledge, &found) {
                HiddenWriters::Nothing => break (found, stopped, settled),
                HiddenWriters::Cut => {
                    break (Found { bounded: Some(Bound::HiddenWriters), ..found }, stopped, settled);
                }
                HiddenWriters::Writes(writes) => writes,
            };
            components::unite_communicating(&mut groups, &unseen.meets);
            meets.extend(unseen.meets.iter().copied());
            knowledge.has_hidden_writers = true;
            knowledge.learn(&unseen, MAX_SPECULATED_VALUES);
        }
        context.budget.start_round();
    };
    if !found.factors.is_empty() || !found.factored.is_empty() {
        all::used(&context).for_each(|reduction| reduction.hand_over(&context, &mut found));
        stopped = stopped.or(context.budget.stopped());
    }
    let searched_all = stopped.is_none() && settled && !found.stop;
    let outside = std::mem::take(&mut found.discoveries.outside);
    let mut behaviours = found::into_behaviours(found, &context, &knowledge);
    behaviours.stopped = stopped;
    if !settled && stopped.is_none() {
        behaviours.bounded.get_or_insert(Bound::Rounds);
    }
    behaviours.complete = stopped.is_none()
        && behaviours.bounded.is_none()
        && behaviours.undecided.is_empty()
        && !behaviours.ends_at_target;
    if searched_all && !behaviours.paths.is_whole() {
        let (started, ended) = (behaviours.paths.started(), behaviours.paths.ended_in_all());
        behaviours.undecided.push(Undecided::Bug(Bug::PathAccount { started, ended }));
        behaviours.complete = false;
    }
    let is_empty = behaviours.count() == 0 && behaviours.undefined.is_empty();
    if behaviours.complete && is_empty && !context.may_discard {
        // Every program has an execution. If a search found none, nothing may be concluded from it.
        behaviours.undecided.push(Undecided::Bug(Bug::NoExecution));
        behaviours.complete = false;
    }
    (behaviours, outside)
}

/// What a reduction finds before the search.
fn found_ahead(context: &Context, knowledge: &Knowledge, first: &Found) -> Option<Found> {
    let search = |knowledge: &Knowledge| search::run(&round::new(context, knowledge));
    all::used(context).find_map(|reduction| reduction.ahead(context, knowledge, first, &search))
}
