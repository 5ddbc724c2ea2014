//! The budgets of a search, and the account of its progress.
//!
//! Each node of the search tree divides its share of the whole tree (1 at the root) evenly among its branches. A path
//! that ends adds its share to [`Progress`](crate::explore::progress::Progress).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;
use std::time::Instant;

use crate::behaviour::Stopped;
use crate::explore::progress::WHOLE;
use crate::explore::settings::Settings;

/// The budgets of one search, shared by its threads.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    settings: &'a Settings,
    started: Instant,
    executions: AtomicU64,
    steps: AtomicU64,
    bytes: AtomicU64,
    /// The number of instructions of the longest path since the last call of [`Budget::take_longest`].
    longest: AtomicU64,
    /// The first budget that was used up.
    ended: OnceLock<Stopped>,
}

/// A judgement of fewer events, and a path of fewer instructions, cost less than the execution that they belong to.
/// They are not charged.
const JUDGED_FREELY: u64 = 20;

const EXECUTED_FREELY: u64 = 256;

impl<'a> Budget<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        settings.progress.start_round();
        Budget {
            settings,
            started: Instant::now(),
            executions: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            ended: OnceLock::new(),
        }
    }

    /// Starts the counts anew for a round. The time goes on.
    pub(crate) fn start_round(&self) {
        self.executions.store(0, Ordering::Relaxed);
        self.steps.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        self.settings.progress.start_round();
    }

    /// Counts a path that ended, by its share of the search tree.
    pub(crate) fn path_ended(&self, share: f64) {
        // A path that a budget cut is not done.
        if self.ended.get().is_none() {
            self.settings.progress.done.fetch_add((share * WHOLE) as u64, Ordering::Relaxed);
        }
    }

    /// Counts a step of the search. It returns true if the search must end.
    pub(crate) fn step(&self) -> bool {
        if self.is_used_up() {
            return true;
        }
        let is_used_up = |most: u64| self.steps.fetch_add(1, Ordering::Relaxed) >= most;
        if self.settings.max_steps.is_some_and(is_used_up) {
            self.end(Stopped::MaxSteps);
        }
        self.ended.get().is_some()
    }

    /// Whether the search must end, asked within a step that may take long.
    pub(crate) fn is_used_up(&self) -> bool {
        if self.ended.get().is_some() {
            return true;
        }
        if self.settings.timeout.is_some_and(|timeout| self.started.elapsed() >= timeout) {
            self.end(self.settings.timed_by);
        }
        if self.settings.progress.cancelled.load(Ordering::Relaxed) {
            self.end(Stopped::Cancelled);
        }
        if self.settings.progress.out_of_memory.load(Ordering::Relaxed) {
            self.end(Stopped::MaxMemory);
        }
        self.ended.get().is_some()
    }

    /// Counts a complete execution for which this many bytes were stored.
    pub(crate) fn execution(&self, bytes: u64) {
        self.settings.progress.explored.fetch_add(1, Ordering::Relaxed);
        if self.executions.fetch_add(1, Ordering::Relaxed) + 1 >= self.settings.max_executions {
            self.end(Stopped::MaxExecutions);
        }
        if bytes > 0 && self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes >= self.settings.max_memory {
            self.end(Stopped::MaxMemory);
        }
    }

    /// Counts bytes that are stored. It returns true if the search must end.
    pub(crate) fn store(&self, bytes: u64) -> bool {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes >= self.settings.max_memory {
            self.end(Stopped::MaxMemory);
        }
        self.step()
    }

    /// Counts, as executions, what large searches cost beside complete executions: judgements of many events, and the
    /// instructions of a path that ends. It returns true if the search must end.
    pub(crate) fn charge(&self, events: usize, instructions: u64) -> bool {
        self.longest.fetch_max(instructions, Ordering::Relaxed);
        let cost = (events as u64 / JUDGED_FREELY).saturating_pow(2) + instructions / EXECUTED_FREELY;
        let spent = if cost > 0 { self.executions.fetch_add(cost, Ordering::Relaxed) + cost } else { 0 };
        if spent >= self.settings.max_executions {
            self.end(Stopped::MaxExecutions);
        }
        self.ended.get().is_some()
    }

    /// The number of instructions of the longest path since the last call.
    pub(crate) fn take_longest(&self) -> u64 {
        self.longest.swap(0, Ordering::Relaxed)
    }

    fn end(&self, budget: Stopped) {
        // The first budget stays: later calls of `set` fail.
        let _ = self.ended.set(budget);
    }

    /// The budget that ended the search, if one did.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        self.ended.get().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether one judgement of so many events uses up so many executions.
    fn uses_up(events: usize, max_executions: u64) -> bool {
        let settings = Settings { max_executions, ..Settings::default() };
        Budget::new(&settings).charge(events, 0)
    }

    #[test]
    fn judgements_cost_the_square_of_their_events() {
        assert!(!uses_up(19, 1));
        assert!(uses_up(20, 1) && !uses_up(20, 2));
        assert!(uses_up(200, 100) && !uses_up(200, 101));
        assert!(uses_up(20_000, 1_000_000) && !uses_up(20_000, 1_000_001));
    }
}
