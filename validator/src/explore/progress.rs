//! How far a search is, for a progress line on another thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a search is, to be read by another thread while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Executions visited in the current round.
    pub explored: AtomicU64,
    /// The part of the round's search tree that is done, where each branch of a node counts as much as the
    /// others; in units of 1/[`WHOLE`].
    pub(crate) done: AtomicU64,
    /// Set it to end the search.
    pub cancelled: AtomicBool,
    /// Set it while the process holds more memory than it may: that ends the search, too.
    pub out_of_memory: AtomicBool,
}

/// A whole search tree. Half the range of the counter, so that rounding never overflows it.
pub(crate) const WHOLE: f64 = (1_u64 << 63) as f64;

impl Progress {
    /// About how many executions the round will have visited at its end, if what is left of the tree is like
    /// what is done; `None` while nothing is done.
    pub fn estimate(&self) -> Option<u64> {
        let done = self.done.load(Ordering::Relaxed) as f64 / WHOLE;
        let explored = self.explored.load(Ordering::Relaxed);
        (done > 0.0).then(|| (explored as f64 / done.min(1.0)).round() as u64)
    }

    pub(crate) fn start_round(&self) {
        self.explored.store(0, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }
}
