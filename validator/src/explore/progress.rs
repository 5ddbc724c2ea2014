//! How far a search has progressed. Another thread reads it, for example to show a progress line.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The progress of a search. Another thread may read it while the search runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Executions visited in the current round.
    pub explored: AtomicU64,
    /// The part of the round's search tree that is done, in units of 1/`WHOLE`. Each branch of a node counts as much as
    /// its siblings.
    pub(crate) done: AtomicU64,
    /// A caller sets it to end the search.
    pub cancelled: AtomicBool,
    /// A caller sets it while the process holds more memory than it may. It ends the search, too.
    pub out_of_memory: AtomicBool,
}

/// The value of `done` for a whole search tree. It is half the range of the counter, so that rounding never overflows
/// it.
pub(crate) const WHOLE: f64 = (1_u64 << 63) as f64;

impl Progress {
    /// An estimate of the number of executions that the round will have visited at its end. It assumes that the rest of
    /// the tree is like the part that is done; it is `None` while nothing is done.
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
