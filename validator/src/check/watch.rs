//! What a check is doing, for another thread to show.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::explore::Progress;

/// Shared between a check and whoever shows its progress.
#[derive(Debug, Default)]
pub struct Watch {
    /// Counts executions while a search runs.
    pub progress: Arc<Progress>,
    stage: Mutex<String>,
}

impl Watch {
    /// Says what is being done now.
    pub fn enter(&self, stage: impl Into<String>) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.into();
    }

    /// What is being done, and how many executions were visited.
    pub fn message(&self) -> String {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match self.progress.explored.load(Ordering::Relaxed) {
            0 => stage,
            executions => format!("{stage}: {executions} executions"),
        }
    }
}
