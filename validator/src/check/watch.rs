//! What a check is doing, for another thread to show.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::explore::Progress;

/// Shared between a check and whoever shows its progress.
#[derive(Debug, Default)]
pub struct Watch {
    /// Counts executions while a search runs.
    pub progress: Arc<Progress>,
    title: Mutex<String>,
    stage: Mutex<String>,
}

impl Watch {
    /// Names what the following stages belong to, such as a pass.
    pub fn title(&self, title: impl Into<String>) {
        set(&self.title, title.into());
    }

    /// Says what is being done now.
    pub fn enter(&self, stage: impl Into<String>) {
        set(&self.stage, stage.into());
    }

    /// What is being done, and how many executions were visited.
    pub fn message(&self) -> String {
        let mut parts = vec![get(&self.title), get(&self.stage)];
        parts.retain(|part| !part.is_empty());
        match self.progress.explored.load(Ordering::Relaxed) {
            0 => {}
            executions => parts.push(format!("{executions} executions")),
        }
        parts.join(": ")
    }
}

/// A panic elsewhere leaves a text as good as any.
fn set(text: &Mutex<String>, value: String) {
    *text.lock().unwrap_or_else(PoisonError::into_inner) = value;
}

fn get(text: &Mutex<String>) -> String {
    text.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_title_stage_and_executions() {
        let watch = Watch::default();
        watch.enter("reading");
        assert_eq!(watch.message(), "reading");
        watch.title("1/2 --ccp");
        watch.enter("main, input 'zeros': before");
        watch.progress.explored.store(7, Ordering::Relaxed);
        assert_eq!(watch.message(), "1/2 --ccp: main, input 'zeros': before: 7 executions");
    }
}
