//! Why a search does not tell everything: what cut it, what it could not decide, and what went wrong in ourselves
//! (docs/semantics.md, sections 1.4 and 6).

use std::fmt;
use std::time::{Duration, Instant};

use crate::ir::Line;

/// What cut a search that went on: within the bound everything was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// Iterations of one loop with events in each (`--spin-bound`).
    SpinBound,
    /// Instructions of one execution (`--max-instructions`).
    MaxInstructions,
    /// Distinct values that reads of one location speculate.
    SpeculatedValues,
    /// Reads that speculate, where what one of them makes the other takes, again and again.
    SpeculatedReads,
    /// Speculated reads that one write may be owed to.
    PromisedReads,
    /// Rounds in which the search learns about the program.
    Rounds,
    /// Writes that only a cycle of load buffering comes to were not looked for everywhere.
    HiddenWriters,
    /// Orientations of the mutually-ordered writes.
    OrdersOfWrites,
    /// Values that reads outside of buffers may give (`--out-of-bounds robust`).
    ReadsOutside,
}

impl Bound {
    /// Its name in reports: the option, where one raises it.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::SpinBound => "--spin-bound",
            Bound::MaxInstructions => "--max-instructions",
            Bound::SpeculatedValues => "values that load buffering speculates",
            Bound::SpeculatedReads => "reads that speculate in cycles of load buffering",
            Bound::PromisedReads => "reads that speculate one value",
            Bound::Rounds => "rounds of the search",
            Bound::HiddenWriters => "writes that only cycles of load buffering reach",
            Bound::OrdersOfWrites => "orders of atomic writes",
            Bound::ReadsOutside => "values that reads outside of buffers give",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The budget that ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stopped {
    /// The number of executions (`--max-executions`).
    MaxExecutions,
    /// The time for the whole command.
    Timeout,
    /// The time for one step of a pipeline.
    StepTimeout,
    /// Bytes for stored outcomes (`--max-memory`).
    MaxMemory,
    /// The number of steps that an explanation may take.
    MaxSteps,
    /// By whoever watched.
    Cancelled,
}

impl Stopped {
    /// Its name in reports: the option.
    pub const fn name(self) -> &'static str {
        match self {
            Stopped::MaxExecutions => "--max-executions",
            Stopped::Timeout => "--timeout",
            Stopped::StepTimeout => "--step-timeout",
            Stopped::MaxMemory => "--max-memory",
            Stopped::MaxSteps => "steps of an explanation",
            Stopped::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// When something must have ended, and the option that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// The moment at which the time is over.
    pub at: Instant,
    /// The option that says so.
    pub option: Stopped,
}

impl Deadline {
    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    /// The moment when two thirds of the time that is left are over.
    #[must_use]
    pub fn earlier(self) -> Deadline {
        Deadline { at: Instant::now() + self.left() * 2 / 3, ..self }
    }

    /// The moment when a third of it is over.
    #[must_use]
    pub fn sooner(self) -> Deadline {
        Deadline { at: Instant::now() + self.left() / 3, ..self }
    }

    /// How much time there is left.
    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}

/// What kept a path of a search from counting.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Undecided {
    /// Who executes an instruction together is the implementation's choice.
    Reconvergence {
        /// The instruction's line, 1-based; 0 where it is not known.
        line: Line,
    },
    /// What the interpreter does not do.
    Unsupported {
        /// The instruction's line, 1-based; 0 where it is not known.
        line: Line,
        /// What it is, in a few words.
        what: &'static str,
    },
    /// Nothing follows from a search that went wrong.
    Bug(Bug),
}

impl Undecided {
    /// What kind of reason it is, in a word.
    pub const fn name(&self) -> &'static str {
        match self {
            Undecided::Reconvergence { .. } => "reconvergence",
            Undecided::Unsupported { .. } => "unsupported",
            Undecided::Bug(_) => "bug",
        }
    }
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undecided::Reconvergence { line } => write!(f, "reconvergence (line {line})"),
            Undecided::Unsupported { line, what } => write!(f, "{what} (line {line})"),
            Undecided::Bug(bug) => bug.fmt(f),
        }
    }
}

/// An invariant of spirv-tv that broke: never a verdict, never the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bug {
    /// The search judges otherwise than the declared model.
    Disagreement {
        /// What they judge otherwise.
        about: &'static str,
    },
    /// Every program has one.
    NoExecution,
    /// Paths of a search that ended twice, or not at all.
    PathAccount {
        /// Paths that were started.
        started: u64,
        /// Paths that ended.
        ended: u64,
    },
    /// A subgroup operation stopped for what stops none.
    UnexpectedStop {
        /// The operation's line, 1-based; 0 where it is not known.
        line: Line,
        /// What it stops for.
        stop: String,
    },
    /// Two sets of outcomes came to the comparison in a form that it cannot compare.
    NotMultipliedOut,
    /// `--self-check`.
    SelfCheck {
        /// Which module failed.
        module: &'static str,
        /// What differs.
        what: &'static str,
        /// What the search did without.
        without: &'static str,
    },
    /// A verdict is inconclusive and nobody knows why.
    NoReason,
    /// Told on standard error, with its place.
    Panicked,
}

impl Bug {
    /// The exit code of every command: EX_SOFTWARE of sysexits.
    pub const EXIT_CODE: u8 = 70;
}

impl std::error::Error for Bug {}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bug::Disagreement { about } => write!(f, "the engine disagrees with the model about {about}"),
            Bug::NoExecution => f.write_str("the search found no execution"),
            Bug::PathAccount { started, ended } => {
                write!(f, "the search started {started} paths and ended {ended}")
            }
            Bug::UnexpectedStop { line, stop } => {
                write!(f, "a subgroup operation stops for {stop} (line {line})")
            }
            Bug::NotMultipliedOut => {
                f.write_str("outcomes were not multiplied out before they were compared")
            }
            Bug::SelfCheck { module, what, without } => {
                write!(f, "the self-check of {module} failed: {what} without {without}")
            }
            Bug::NoReason => f.write_str("a verdict is inconclusive without a reason"),
            Bug::Panicked => f.write_str("it panicked"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_time_that_is_left() {
        let minutes = |count: u64| Duration::from_secs(60 * count);
        let deadline = Deadline { at: Instant::now() + minutes(90), option: Stopped::Timeout };
        let about = |part: Deadline, count| part.left() <= minutes(count) && part.left() > minutes(count - 5);
        assert!(about(deadline.earlier(), 60) && about(deadline.sooner(), 30));
        let over = Deadline { at: Instant::now(), ..deadline };
        assert!([over, over.earlier(), over.sooner()].iter().all(Deadline::is_over));
    }
}
