//! The search of a tree on several threads.
//!
//! The rest of the tree is split into parts, in search order, until none of them seems large. Rayon's threads steal
//! parts from each other. The results of the parts are merged in search order, so that the result is that of a single
//! thread.

use crate::explore::context;
use crate::explore::search::batches;
use crate::explore::search::follow::{self, MAX_LEFT};
use crate::explore::search::parts::{self, SearchPosition};
use crate::explore::state::{Found, Round, State};
use rayon::prelude::*;

/// Explores what follows these states. The first one is the last of the list, and each has its share of the whole tree,
/// which a node divides evenly among its branches. After `alone` nodes other threads help.
pub(crate) fn explore(
    round: &Round,
    mut rest: Vec<(State, f64)>,
    alone: u64,
    place: Option<&SearchPosition>,
    found: &mut Found,
) {
    if round.merging.is_some() {
        return batches::explore_futures(round, rest, found);
    }
    // Large launches branch thousands of times on one path, which is too deep for recursion.
    let mut visited = 0;
    while let Some((state, share)) = rest.pop() {
        let children = follow::follow(round, state, share, place, None, found);
        let ends = children.is_empty();
        let share = share / children.len() as f64;
        rest.extend(children.into_iter().rev().map(|child| (child, share)));
        if round.scouts && (ends || found.stop) {
            found.left = rest;
            return;
        }
        if round.scouts && rest.len() > MAX_LEFT {
            rest.drain(1..rest.len() - 1);
            found.must_restart = true;
        }
        if found.stop || parts::is_superseded(place) {
            return;
        }
        visited += 1;
        if visited >= alone && rest.len() > 1 && round.context.settings.jobs != 1 && !round.scouts {
            rest.reverse();
            return share_out(round, rest, place, found);
        }
    }
}

/// The number of nodes that a thread visits alone before others help: at first, and in a part that turns out to be
/// large.
pub(crate) const FIRST_ALONE: u64 = 256;

const PART_ALONE: u64 = 1 << 16;

/// The number of parts for each thread. It suffices for the threads to end at about the same time.
const PARTS: usize = 32;

/// The number of levels of the tree that are split for that.
const MAX_LEVELS: usize = 48;

/// A part of the tree.
enum Part {
    /// What follows a state, with its share of the whole tree.
    Left(Box<State>, f64),
    Done(Box<Found>),
}

/// Explores what follows these states on several threads. The states are in search order, each with its share of the
/// whole tree.
fn share_out(round: &Round, states: Vec<(State, f64)>, place: Option<&SearchPosition>, found: &mut Found) {
    match (place, context::pool(round.context)) {
        (None, Some(pool)) => pool.install(|| share(round, states, place, found)),
        _ => share(round, states, place, found),
    }
}

fn share(round: &Round, states: Vec<(State, f64)>, place: Option<&SearchPosition>, found: &mut Found) {
    let whole: f64 = states.iter().map(|(_, share)| share).sum();
    let small = whole / (PARTS * rayon::current_num_threads()) as f64;
    let mut parts: Vec<Part> =
        states.into_iter().map(|(state, share)| Part::Left(Box::new(state), share)).collect();
    for _ in 0..MAX_LEVELS {
        if !parts.iter().any(|part| part.is_larger_than(small)) {
            break;
        }
        parts = parts.into_par_iter().flat_map_iter(|part| split(round, part, small, place)).collect();
    }
    let stops = |part: &Part| matches!(part, Part::Done(part) if part.stop);
    if let Some(last) = parts.iter().position(stops) {
        parts.truncate(last + 1);
    }
    parts::in_parts(round, parts, place, found, |part, place, found| match part {
        Part::Left(state, share) => {
            explore(round, vec![(state.unshared(), share)], PART_ALONE, Some(place), found);
        }
        Part::Done(part) => *found = *part,
    });
}

/// Splits a large part into what was found up to its first branch, and the branches.
fn split(round: &Round, part: Part, small: f64, place: Option<&SearchPosition>) -> Vec<Part> {
    match part {
        Part::Left(state, share) if share > small => {
            let mut found = Found::default();
            let children = follow::follow(round, *state, share, place, None, &mut found);
            let share = share / children.len() as f64;
            let children = children.into_iter().map(|child| Part::Left(Box::new(child), share));
            std::iter::once(Part::Done(Box::new(found))).chain(children).collect()
        }
        Part::Left(..) | Part::Done(_) => vec![part],
    }
}

impl Part {
    fn is_larger_than(&self, small: f64) -> bool {
        matches!(self, Part::Left(_, share) if *share > small)
    }
}
