//! What a check is doing at the moment, for display by another thread.

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

    /// What is being done, how many executions were visited, and about how many there are.
    pub fn message(&self) -> String {
        let mut parts = vec![get(&self.title), get(&self.stage)];
        parts.retain(|part| !part.is_empty());
        match self.progress.explored.load(Ordering::Relaxed) {
            0 => {}
            explored => {
                let total = self.progress.estimate().map(|total| rounded(total.max(explored)));
                let total = total.filter(|total| *total > explored);
                let of = total.map(|total| format!(" of about {}", grouped(total))).unwrap_or_default();
                parts.push(format!("explored {}{of}", grouped(explored)));
            }
        }
        parts.join(": ")
    }
}

/// The number up to two digits: an estimate knows no more.
fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(1));
    number.saturating_add(unit / 2) / unit * unit
}

/// The number with a comma before every third digit from the right.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
        watch.progress.explored.store(12_345, Ordering::Relaxed);
        assert_eq!(watch.message(), "1/2 --ccp: main, input 'zeros': before: explored 12,345");
    }

    #[test]
    fn numbers_are_rounded_to_two_digits_and_grouped() {
        let told = [0, 9, 99, 104, 105, 61_728, 999_500, 1_234_567].map(|number| grouped(rounded(number)));
        assert_eq!(told, ["0", "9", "99", "100", "110", "62,000", "1,000,000", "1,200,000"]);
        rounded(u64::MAX);
    }
}
