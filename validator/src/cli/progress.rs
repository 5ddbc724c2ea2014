//! The progress line on standard error.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::ColorChoice;
use crate::check::Watch;

/// How long a check may run before the line appears, and how often it changes.
const TICK: Duration = Duration::from_millis(200);

/// Shows what a check is doing until it is dropped; only on a terminal.
pub struct ProgressLine {
    /// Dropping it ends the thread.
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressLine {
    /// Starts showing `watch`.
    pub fn start(watch: &Arc<Watch>, color: ColorChoice) -> Self {
        let wanted = match color {
            ColorChoice::Never => false,
            ColorChoice::Auto | ColorChoice::Always => io::stderr().is_terminal(),
        };
        if !wanted {
            return ProgressLine { running: None };
        }
        let watch = Arc::clone(watch);
        let (sender, receiver) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.set_message(watch.message());
                bar.tick();
            }
            bar.finish_and_clear();
        });
        ProgressLine { running: Some((sender, thread)) }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.running.take() {
            drop(sender);
            // A progress line that failed is no reason to fail.
            let _ = thread.join();
        }
    }
}
