//! The progress line on standard error.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::ticker::Ticker;
use super::ColorChoice;
use spirv_tv::check::Watch;

/// How long a check may run before the line appears, and how often it changes.
const TICK: Duration = Duration::from_millis(200);

/// Shows what a check is doing until it is dropped; only on a terminal.
pub struct ProgressLine(#[expect(dead_code, reason = "it shows until it is dropped")] Option<Ticker>);

impl ProgressLine {
    /// Starts showing `watch`.
    pub fn start(watch: &Arc<Watch>, color: ColorChoice) -> Self {
        let wanted = match color {
            ColorChoice::Never => false,
            ColorChoice::Auto | ColorChoice::Always => io::stderr().is_terminal(),
        };
        let watch = Arc::clone(watch);
        let show = move |goes_on: &dyn Fn() -> bool| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            while goes_on() {
                bar.set_message(watch.message());
                bar.tick();
            }
            bar.finish_and_clear();
        };
        ProgressLine(wanted.then(|| Ticker::start(TICK, show)))
    }
}
