//! Results as one page of HTML that needs nothing else: no network, no script. What a page has no place for is said on it.

mod check;
mod graphs;
mod layout;
mod litmus;
mod modules;
mod outcomes;
mod page;
mod rules;
mod series;
mod svg;

use std::time::Instant;

pub use check::check;
pub use litmus::{litmus, MOST_STATES};
pub use outcomes::outcomes;
pub use series::{Row, Series};

/// What a page rests on beside the report.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// How the command is given again.
    pub replay: Replay,
    /// When no more relations are derived.
    pub deadline: Option<Instant>,
    /// Whether the text report is told in full.
    pub full: bool,
}

impl Extent {
    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// How a result is found again.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The command as it was given, as a shell takes it.
    pub given: String,
    /// What shows the first violation alone.
    pub violation: Option<Alone>,
}

impl Replay {
    fn is_empty(&self) -> bool {
        self.given.is_empty() && self.violation.is_none()
    }
}

/// A violation with its launch and every choice.
#[derive(Clone, Debug)]
pub struct Alone {
    /// The command, as a shell takes it; it names `launch.toml`.
    pub command: String,
    /// The contents of `launch.toml`.
    pub launch: String,
    /// Files that the launch names and that are not on the page.
    pub files: Vec<String>,
}
