//! States with the same future, explored once.
//!
//! Two orders of events may lead to states from which the same follows: the same invocations stand at the same places
//! with the same values, memory holds the same, and what the graphs leave open is the same
//! ([`future`](crate::model::future)). Three invocations that pass a lock have six orders; once two of them are through,
//! three of these states are left for the third. So each state at which a search branches is turned into a number of 128
//! bits, and a path that comes to a number that is known ends there. `executions` then counts what was visited.
//!
//! This is stateful model checking as of sequential programs, where the state of memory is the part of the execution graph
//! that still matters. As there, a path that never ends may be lost: one that leads from a state to one with the same future.
//! Every step from one number to the next is kept; where these steps have a cycle the round is repeated without any of
//! this, and [lassos](crate::explore::branch::spinning::lasso) are found as usual.
//!
//! The search goes on in batches, each of so many of the next branches, that do not hang on the number of threads: what one
//! of them comes to is known to the others of the next batch.

pub(crate) mod known;
pub(crate) mod standing;
pub(crate) mod states;

use rayon::prelude::*;

use crate::explore::context;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::outcomes::found;
use crate::explore::program::aliasing::Declarations;
use crate::explore::program::may_write::MayWrite;
use crate::explore::program::units::UnitKey;
use crate::explore::reductions::merging::known::{Futures, Merging, STORED};
use crate::explore::reductions::merging::states::Trail;
use crate::explore::search::follow;
use crate::explore::state::{Context, Found, Round, State};
use crate::ir::InstId;

/// Branches of a batch, and nodes that each of them visits at most.
const BATCH: usize = 32;

const NODES: u64 = 64;

/// Nodes of the first batch, which has one branch.
const FIRST_NODES: u64 = 512;

/// `None` where states are not compared.
pub(crate) fn new<'a>(context: &'a Context<'a>, knowledge: &Knowledge) -> Option<Merging<'a>> {
    let Context { settings, dispatch, program, .. } = *context;
    let applies = settings.merges
        && settings.shortcuts
        && settings.axioms
        && settings.remark.is_none()
        && dispatch.system_synchronizes_with.is_empty()
        && !program.modes.tangles
        && !context.may_discard
        && knowledge.has_units()
        && !knowledge.orders_matter
        && !knowledge.goes_round
        && knowledge.suspect.is_none()
        && Declarations::new(dispatch).are_single();
    if !applies {
        return None;
    }
    // Where an access leads hangs on the workgroup alone.
    let of_unit = |accesses: &MayWrite, key: &UnitKey| {
        let word = (key.0, key.1 / 4 * 4);
        let first = context.workgroups.iter().filter_map(|members| members.first());
        let mut all: Vec<InstId> = first.flat_map(|index| accesses.of_word(dispatch, *index, word)).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    Some(Merging {
        pauses: &context.pauses,
        racing: knowledge.units().iter().map(|key| of_unit(&context.plain, key)).collect(),
        looking: knowledge.units().iter().map(|key| of_unit(&context.looking, key)).collect(),
        meets: !context.meetings.is_empty(),
    })
}

/// What one branch of a batch found, the states that it came to, and what is left of it.
type Explored = (Found, Futures, Vec<(State, f64)>);

/// Explores what follows states, each with its share of the whole tree, the first one last; those with the same future
/// once.
pub(crate) fn explore_futures(round: &Round, mut rest: Vec<(State, f64)>, found: &mut Found) {
    let mut futures = Futures::default();
    let mut nodes = FIRST_NODES;
    let mut asks_at = FIRST_NODES;
    while !rest.is_empty() && !found.stop && round.context.budget.stopped().is_none() {
        let count = if nodes == FIRST_NODES { 1 } else { BATCH };
        let batch: Vec<_> = rest.drain(rest.len().saturating_sub(count)..).rev().collect();
        let work = |(state, share): (State, f64)| explore_some(round, state, share, nodes, &futures);
        // A thread of a pool would begin with other work while it waits for a batch, again and again.
        let is_alone =
            batch.len() == 1 || round.context.settings.jobs == 1 || rayon::current_thread_index().is_some();
        let pool = if is_alone { None } else { context::pool(round.context) };
        let done: Vec<Explored> = match pool {
            _ if is_alone => batch.into_iter().map(work).collect(),
            None => batch.into_par_iter().with_max_len(1).map(work).collect(),
            Some(pool) => pool.install(|| batch.into_par_iter().with_max_len(1).map(work).collect()),
        };
        let known = futures.known.len();
        let mut left = Vec::new();
        for (part, trail, more) in done {
            if !found.stop {
                found::merge(found, part);
                found.overfed |= round.knowledge.is_overfed(found.judged_anew, found.explored);
                found.stop |= found.overfed;
                futures.merge(trail);
                left.push(more);
            }
        }
        rest.extend(left.into_iter().rev().flatten());
        round.context.budget.store((futures.known.len() - known) as u64 * STORED);
        nodes = NODES;
        if found.paths.ended_in_all() >= asks_at {
            // What the whole round would find is found anew.
            found.stop |= round.knowledge.is_outdated_by(&found.discoveries);
            asks_at *= 2;
        }
    }
    if !found.stop && futures.go_round() {
        found.discoveries.goes_round = true;
        found.stop = true;
    }
}

/// Explores so many nodes of what follows a state; what is left, the first one last.
fn explore_some(round: &Round, state: State, share: f64, nodes: u64, before: &Futures) -> Explored {
    let mut found = Found::default();
    let mut trail = Trail { before, own: Futures::default() };
    let mut rest = vec![(state, share)];
    for _ in 0..nodes {
        let Some((state, share)) = rest.pop() else { break };
        let children = follow::follow(round, state, share, None, Some(&mut trail), &mut found);
        let share = share / children.len() as f64;
        rest.extend(children.into_iter().rev().map(|child| (child, share)));
        if found.stop {
            break;
        }
    }
    (found, trail.own, rest)
}
