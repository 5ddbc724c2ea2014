//! A search on several threads.
//!
//! What is left of the tree is split into parts, in search order, until none seems large; rayon's threads
//! steal parts from each other. What the parts found is put together in search order, so that the result is
//! the one of a single thread.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::found::Found;
use super::search::Search;
use super::state::State;

/// Nodes that a thread visits alone before it lets others help: first, and in a part that turns out large.
pub(super) const FIRST_ALONE: u64 = 256;
const PART_ALONE: u64 = 1 << 16;

/// Parts a thread: enough for the threads to end at about the same time.
const PARTS: usize = 32;

/// Executions from which on those that one stands for are put together on several threads, and the parts of that.
pub(super) const LARGE_EXPANSION: f64 = 4096.0;
pub(super) const EXPANSION_PARTS: usize = 64;

/// Levels of the tree that are split for that, at most.
const MAX_LEVELS: usize = 48;

/// A part of the tree.
enum Part {
    /// What follows a state, with its share of the whole tree.
    Left(Box<State>, f64),
    Done(Box<Found>),
}

/// Where a part stands among others, in search order.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The part that these are parts of.
    whole: Option<&'a Place<'a>>,
    index: usize,
    /// The first part after which nothing counts.
    stopped: &'a AtomicUsize,
}

impl Place<'_> {
    /// Whether nothing that the part still finds counts.
    fn is_superseded(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) < self.index || self.whole.is_some_and(Place::is_superseded)
    }
}

impl Search<'_> {
    /// Whether nothing that is still found at this place counts.
    pub(super) fn is_superseded(place: Option<&Place>) -> bool {
        place.is_some_and(Place::is_superseded)
    }

    /// Explores what follows these states, given in search order with their shares of the whole tree.
    pub(super) fn share_out(&self, states: Vec<(State, f64)>, place: Option<&Place>, found: &mut Found) {
        match (place, self.context.pool()) {
            (None, Some(pool)) => pool.install(|| self.share(states, place, found)),
            _ => self.share(states, place, found),
        }
    }

    fn share(&self, states: Vec<(State, f64)>, place: Option<&Place>, found: &mut Found) {
        let whole: f64 = states.iter().map(|(_, share)| share).sum();
        let small = whole / (PARTS * rayon::current_num_threads()) as f64;
        let mut parts: Vec<Part> =
            states.into_iter().map(|(state, share)| Part::Left(Box::new(state), share)).collect();
        for _ in 0..MAX_LEVELS {
            if !parts.iter().any(|part| part.is_larger_than(small)) {
                break;
            }
            parts = parts.into_par_iter().flat_map_iter(|part| self.split(part, small, place)).collect();
        }
        let stops = |part: &Part| matches!(part, Part::Done(part) if part.stop);
        if let Some(last) = parts.iter().position(stops) {
            parts.truncate(last + 1);
        }
        self.in_parts(parts, place, found, |part, place, found| match part {
            Part::Left(state, share) => {
                self.explore(vec![(state.unshared(), share)], PART_ALONE, Some(place), found);
            }
            Part::Done(part) => *found = *part,
        });
    }

    /// Does the parts of some work, at this place, on several threads, and puts together what they found, in their
    /// order.
    pub(super) fn in_parts<T: Send>(
        &self,
        parts: Vec<T>,
        place: Option<&Place>,
        found: &mut Found,
        work: impl Fn(T, &Place, &mut Found) + Send + Sync,
    ) {
        let stopped = AtomicUsize::new(usize::MAX);
        let work = |(index, part)| {
            let mut found = Found::default();
            work(part, &Place { whole: place, index, stopped: &stopped }, &mut found);
            if found.stop {
                stopped.fetch_min(index, Ordering::Relaxed);
            }
            found
        };
        let all = || parts.into_par_iter().enumerate().with_max_len(1).map(work).collect::<Vec<Found>>();
        let parts = match self.context.pool() {
            Some(pool) => pool.install(all),
            None => all(),
        };
        for part in parts {
            found.merge(part);
            if found.stop {
                return;
            }
        }
    }

    /// A large part as what was found up to its first branch, and the branches.
    fn split(&self, part: Part, small: f64, place: Option<&Place>) -> Vec<Part> {
        match part {
            Part::Left(state, share) if share > small => {
                let mut found = Found::default();
                let children = self.follow(*state, share, place, None, &mut found);
                let share = share / children.len() as f64;
                let children = children.into_iter().map(|child| Part::Left(Box::new(child), share));
                std::iter::once(Part::Done(Box::new(found))).chain(children).collect()
            }
            Part::Left(..) | Part::Done(_) => vec![part],
        }
    }
}

impl Part {
    fn is_larger_than(&self, small: f64) -> bool {
        matches!(self, Part::Left(_, share) if *share > small)
    }
}
