//! What a search may use up, and how far it is.

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
    bytes: AtomicU64,
    /// Instructions of the longest path since somebody asked.
    longest: AtomicU64,
    /// The first budget that ended.
    ended: OnceLock<Stopped>,
}

/// A judgement of fewer events, and a path of fewer instructions, cost less than the execution that they
/// belong to.
const JUDGED_FREELY: u64 = 20;

const EXECUTED_FREELY: u64 = 256;

impl<'a> Budget<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        settings.progress.start_round();
        Budget {
            settings,
            started: Instant::now(),
            executions: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            ended: OnceLock::new(),
        }
    }

    /// A new round starts its count anew; time goes on.
    pub(crate) fn start_round(&self) {
        self.executions.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        self.settings.progress.start_round();
    }

    /// Counts a path that ended: its share of the search tree.
    pub(crate) fn path_ended(&self, share: f64) {
        // What a budget cut is not done.
        if self.ended.get().is_none() {
            self.settings.progress.done.fetch_add((share * WHOLE) as u64, Ordering::Relaxed);
        }
    }

    /// Counts a step of the search; true if it must end.
    pub(crate) fn step(&self) -> bool {
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

    /// Counts a complete execution that stored this many bytes.
    pub(crate) fn execution(&self, bytes: u64) {
        self.settings.progress.explored.fetch_add(1, Ordering::Relaxed);
        if self.executions.fetch_add(1, Ordering::Relaxed) + 1 >= self.settings.max_executions {
            self.end(Stopped::MaxExecutions);
        }
        if bytes > 0 && self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes >= self.settings.max_memory {
            self.end(Stopped::MaxMemory);
        }
    }

    /// Counts bytes that are stored; true if the search must end.
    pub(crate) fn store(&self, bytes: u64) -> bool {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes >= self.settings.max_memory {
            self.end(Stopped::MaxMemory);
        }
        self.step()
    }

    /// Counts what large searches cost beside complete executions, as executions: many events to judge, and
    /// the instructions of a path that ends. True if the search must end.
    pub(crate) fn charge(&self, events: usize, instructions: u64) -> bool {
        self.longest.fetch_max(instructions, Ordering::Relaxed);
        let cost = (events as u64 / JUDGED_FREELY).saturating_pow(3) + instructions / EXECUTED_FREELY;
        let spent = if cost > 0 { self.executions.fetch_add(cost, Ordering::Relaxed) + cost } else { 0 };
        if spent >= self.settings.max_executions {
            self.end(Stopped::MaxExecutions);
        }
        self.ended.get().is_some()
    }

    /// Instructions of the longest path since the last call.
    pub(crate) fn take_longest(&self) -> u64 {
        self.longest.swap(0, Ordering::Relaxed)
    }

    fn end(&self, budget: Stopped) {
        // The first one stays.
        let _ = self.ended.set(budget);
    }

    /// The budget that ended the search.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        self.ended.get().copied()
    }
}
