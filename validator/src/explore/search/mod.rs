//! The search: run every invocation as far as it can go, then branch.
//!
//! The search is a depth-first walk of a tree, forward only. A node is a [`State`](crate::explore::state::State), and
//! its branches are the choices of [`branch`](crate::explore::branch).

pub(crate) mod batches;
pub(crate) mod follow;
pub(crate) mod groups;
pub(crate) mod parts;
pub(crate) mod round;
pub(crate) mod tree;

use crate::explore::context;
use crate::explore::reductions::symmetry::gates;
use crate::explore::search::tree::FIRST_ALONE;
use crate::explore::state::{Found, Round, State};

pub(crate) fn run(round: &Round) -> Found {
    run_from(round, context::first(round.context), 1.0)
}

/// Continues the round whose first path a scout has `begun` with the same knowledge.
pub(crate) fn go_on(round: &Round, mut begun: Found) -> Found {
    if round.symmetry.is_some() || begun.must_restart {
        round.context.budget.start_round();
        return run(round);
    }
    let left = std::mem::take(&mut begun.left);
    if !begun.stop {
        tree::explore(round, left, FIRST_ALONE, None, &mut begun);
    }
    begun
}

/// Explores what follows a first state, which makes out `share` of the whole tree.
pub(crate) fn run_from(round: &Round, first: State, share: f64) -> Found {
    let mut found = Found::default();
    found.paths.start();
    found.inexact.extend(round.context.program.modes.floats.always_inexact);
    tree::explore(round, vec![(first, share)], FIRST_ALONE, None, &mut found);
    found.discoveries.touched.merge(round.outlooks.touched());
    if found.bounded.is_some() || !found.undecided.is_empty() {
        gates::break_symmetries(round, &mut found);
    }
    found
}
