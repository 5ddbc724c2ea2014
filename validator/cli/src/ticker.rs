//! A thread that repeats an action until its owner drops it.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Dropping it ends the thread, and waits for that.
pub struct Ticker {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Ticker {
    /// Starts a thread with `work`, which is given what waits for so long, and says whether to go on.
    pub fn start(period: Duration, work: impl FnOnce(&dyn Fn() -> bool) + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel::<()>();
        let goes_on = move || receiver.recv_timeout(period) == Err(RecvTimeoutError::Timeout);
        let thread = std::thread::spawn(move || work(&goes_on));
        Ticker { running: Some((sender, thread)) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.running.take() {
            drop(sender);
            // That it failed is no reason to fail.
            let _ = thread.join();
        }
    }
}
