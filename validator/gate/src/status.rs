//! What becomes of a case, and whether that was expected.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Status {
    /// After refines before: proved, or on every input, with the changed code run.
    Pass,
    /// After refines before, but the changed code never ran, or nothing observable was written.
    Hollow,
    /// After refines before, as far as the search went, or compared in part: scopes that the launch does not tell apart,
    /// specialisation constants that after has frozen.
    Bounded,
    /// Before is undefined on every input that was tried, so that anything is allowed.
    Vacuous,
    /// A budget other than time ran out.
    Inconclusive,
    /// The modules have what is not supported.
    Unsupported,
    /// The case's own module cannot be read, or is invalid.
    InvalidBefore,
    /// It was not run, because the user said so.
    Skip,
    /// It was expected, and is not there.
    Missing,
    /// Time ran out: that of the check, or that of the optimiser.
    Timeout,
    /// The optimiser crashed, gave up, or wrote nothing.
    OptimizerCrash,
    /// The optimiser wrote what is no module, or an invalid one.
    InvalidAfter,
    /// The executor crashed, lost its device, failed, or gave no valid answer.
    ExecutorCrash,
    /// After has a behaviour that before does not allow.
    Fail,
    /// The worker crashed or found an invariant broken: a bug of spirv-tv.
    ToolBug,
}

/// What a status comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Nothing is wrong.
    Good,
    /// Nothing was decided. deqp-runner calls it `Warn`.
    Undecided,
    /// It was not run.
    NotRun,
    /// Something is wrong.
    Bad,
}

impl Status {
    /// All of them, from the best to the worst.
    pub const ALL: [Status; 15] = [
        Status::Pass,
        Status::Hollow,
        Status::Bounded,
        Status::Vacuous,
        Status::Inconclusive,
        Status::Unsupported,
        Status::InvalidBefore,
        Status::Skip,
        Status::Missing,
        Status::Timeout,
        Status::OptimizerCrash,
        Status::InvalidAfter,
        Status::ExecutorCrash,
        Status::Fail,
        Status::ToolBug,
    ];

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Pass => "Pass",
            Status::Hollow => "Hollow",
            Status::Bounded => "Bounded",
            Status::Vacuous => "Vacuous",
            Status::Inconclusive => "Inconclusive",
            Status::Unsupported => "Unsupported",
            Status::InvalidBefore => "InvalidBefore",
            Status::Skip => "Skip",
            Status::Missing => "Missing",
            Status::Timeout => "Timeout",
            Status::OptimizerCrash => "OptimizerCrash",
            Status::InvalidAfter => "InvalidAfter",
            Status::ExecutorCrash => "ExecutorCrash",
            Status::Fail => "Fail",
            Status::ToolBug => "ToolBug",
        }
    }

    /// What it means, in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Status::Pass => "after refines before",
            Status::Hollow => {
                "after refines before, but the changed code never ran or nothing was observable"
            }
            Status::Bounded => "after refines before as far as it was compared",
            Status::Vacuous => "before is undefined on every input tried",
            Status::Inconclusive => "a budget ran out",
            Status::Unsupported => "the modules have what is not supported",
            Status::InvalidBefore => "the case's own module is invalid",
            Status::Skip => "not run, as asked",
            Status::Missing => "expected by the baseline, and not there",
            Status::Timeout => "time ran out",
            Status::OptimizerCrash => "the optimiser crashed, failed or wrote nothing",
            Status::InvalidAfter => "the optimiser wrote no valid module",
            Status::ExecutorCrash => "the executor crashed, failed or gave no valid answer",
            Status::Fail => "after has a behaviour that before does not allow",
            Status::ToolBug => "a bug of spirv-tv",
        }
    }

    /// What it means where an executor ran the module after, in a few words.
    pub const fn meaning_of_run(self) -> &'static str {
        match self {
            Status::Pass => "the executor showed nothing that is not allowed",
            Status::Hollow => "the executor showed nothing that is not allowed, and nothing was observable",
            Status::Bounded => "the executor showed nothing that is not allowed, as far as was looked",
            Status::Vacuous => "undefined on every input, so that anything is allowed: not run",
            Status::Inconclusive => "it cannot be told whether what was shown is allowed",
            Status::Unsupported => "spirv-tv or the executor lacks something: not run",
            Status::Timeout => "the executor, or the search for what is allowed, took too long",
            Status::Fail => "the executor showed what is not allowed",
            Status::InvalidBefore
            | Status::Skip
            | Status::Missing
            | Status::OptimizerCrash
            | Status::InvalidAfter
            | Status::ExecutorCrash
            | Status::ToolBug => self.meaning(),
        }
    }

    /// What it comes to.
    pub const fn class(self) -> Class {
        match self {
            Status::Pass => Class::Good,
            Status::Hollow
            | Status::Bounded
            | Status::Vacuous
            | Status::Inconclusive
            | Status::Unsupported
            | Status::InvalidBefore => Class::Undecided,
            Status::Skip => Class::NotRun,
            Status::Missing
            | Status::Timeout
            | Status::OptimizerCrash
            | Status::InvalidAfter
            | Status::ExecutorCrash
            | Status::Fail
            | Status::ToolBug => Class::Bad,
        }
    }

    /// Whether it says that after refines before, or that it does not. Without an answer are those cases where a
    /// budget ran out, something is unsupported, or before allows everything.
    pub const fn is_decided(self) -> bool {
        match self {
            Status::Pass
            | Status::Hollow
            | Status::Bounded
            | Status::Fail
            | Status::InvalidAfter
            | Status::OptimizerCrash
            | Status::ExecutorCrash => true,
            Status::Vacuous
            | Status::Inconclusive
            | Status::Unsupported
            | Status::InvalidBefore
            | Status::Skip
            | Status::Missing
            | Status::Timeout
            | Status::ToolBug => false,
        }
    }

    /// Whether another run may give another status: time, memory and other people's programs are involved.
    pub const fn may_change(self) -> bool {
        matches!(self, Status::Timeout | Status::OptimizerCrash | Status::ExecutorCrash | Status::ToolBug)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no status.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no status: there are {names}", names = Status::ALL.map(Status::name).join(", "))]
pub struct UnknownStatus(pub String);

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        Status::ALL
            .into_iter()
            .find(|status| status.name() == text)
            .ok_or_else(|| UnknownStatus(text.to_owned()))
    }
}

/// A status beside what was expected, in deqp-runner's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Judged {
    /// Nothing else was expected, or nothing at all.
    As(Status),
    /// The baseline has it.
    ExpectedFail(Status),
    /// The baseline has a worse one, or the same with another bucket that is gone.
    UnexpectedImprovement(Status),
    /// It fails, and the user knows that it does so at times.
    KnownFlake(Status),
    /// It failed, and did not when it was run again.
    Flake(Status),
}

impl Judged {
    /// The status itself.
    pub const fn status(self) -> Status {
        match self {
            Judged::As(status)
            | Judged::ExpectedFail(status)
            | Judged::UnexpectedImprovement(status)
            | Judged::KnownFlake(status)
            | Judged::Flake(status) => status,
        }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Judged::As(status) => f.write_str(status.name()),
            Judged::ExpectedFail(_) => f.write_str("ExpectedFail"),
            Judged::UnexpectedImprovement(status) => write!(f, "UnexpectedImprovement({status})"),
            Judged::KnownFlake(_) => f.write_str("KnownFlake"),
            Judged::Flake(_) => f.write_str("Flake"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_by_their_names() {
        for status in Status::ALL {
            assert_eq!(status.name().parse(), Ok(status));
        }
        assert!("pass".parse::<Status>().is_err_and(|error| error.to_string().contains("Hollow, Bounded")));
    }

    #[test]
    fn the_order_is_that_from_the_best_to_the_worst() {
        assert!(Status::ALL.is_sorted());
        let classes: Vec<Class> = Status::ALL.into_iter().map(Status::class).collect();
        assert!(classes.is_sorted());
    }
}
