//! The search of a round whose states are merged. It proceeds in batches of branches, and the batches do not depend on
//! the number of threads. The states that one branch reaches are known to the others in the next batch.
//!
//! For example, the first batch explores 512 nodes from the first state. The second batch explores up to 64 nodes from
//! each of the next 32 open branches, on any number of threads.

use rayon::prelude::*;

use crate::explore::context;
use crate::explore::reductions::merging::known::{Futures, Trail, STORED};
use crate::explore::search::follow;
use crate::explore::state::found;
use crate::explore::state::{Found, Round, State};

/// The number of branches of a batch, and the number of nodes that each of them may visit.
const BATCH: usize = 32;

const NODES: u64 = 64;

/// The number of nodes of the first batch, which has one branch.
const FIRST_NODES: u64 = 512;

/// What one branch of a batch found, the states that it reached, and what is left of it.
type Explored = (Found, Futures, Vec<(State, f64)>);

/// Explores what follows these states. Each has its share of the whole tree, and the first one is the last of the list.
/// States with the same future are explored once.
pub(crate) fn explore_futures(round: &Round, mut rest: Vec<(State, f64)>, found: &mut Found) {
    let mut futures = Futures::default();
    let mut nodes = FIRST_NODES;
    let mut asks_at = FIRST_NODES;
    while !rest.is_empty() && !found.stop && round.context.budget.stopped().is_none() {
        let count = if nodes == FIRST_NODES { 1 } else { BATCH };
        let batch: Vec<_> = rest.drain(rest.len().saturating_sub(count)..).rev().collect();
        let work = |(state, share): (State, f64)| explore_some(round, state, share, nodes, &futures);
        // A thread of a pool would begin other work, again and again, while it waits for a batch.
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
            // The next round finds again what this one would still find.
            found.stop |= round.knowledge.is_outdated_by(&found.discoveries);
            asks_at *= 2;
        }
    }
    if !found.stop && futures.have_cycle() {
        found.discoveries.futures_form_cycle = true;
        found.stop = true;
    }
}

/// Explores `nodes` nodes of what follows a state. The first of the states that are left is the last of the list.
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
