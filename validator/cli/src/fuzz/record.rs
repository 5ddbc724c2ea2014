//! What is kept of a case.

use serde::{Deserialize, Serialize};
use spirv_tv_executor::Execution;
use spirv_tv_gate::log::Entry;
use spirv_tv_gate::{self as gate, Bucket};

use crate::run::said;

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    /// Everything that was shown is allowed.
    Passed,
    /// A weakened program that has no more outcomes than the program itself: it was not run.
    Redundant,
    /// The allowed outcomes are not known, or the program is undefined.
    NotJudged,
    /// The executor lacks something.
    Unsupported,
    /// The optimiser gave no valid module.
    NotOptimised,
    /// There was too little memory.
    OutOfMemory,
    /// The executor could not be started.
    NotRun,
    /// The executor gave no valid answer.
    InvalidAnswer,
    /// The executor failed: its compiler refused the module, say.
    Failed,
    /// It had not ended in time.
    TimedOut,
    /// The device was lost.
    DeviceLost,
    /// The executor crashed.
    Crashed,
    /// Instances of a program got lost, or were counted twice.
    Miscounted,
    /// What is allowed is not known, but a rewritten or optimised module always showed one outcome, and the module itself
    /// another one.
    Disagrees,
    /// An outcome was shown that is not allowed.
    NewOutcome,
    /// An invariant of spirv-tv does not hold.
    ToolBug,
}

/// What a status comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Nothing is wrong.
    Good,
    /// Nothing can be said.
    Undecided,
    /// The executor did not do its work. Where the module is valid, that is a finding.
    Executor,
    /// Something was shown that is not allowed.
    Wrong,
    /// A bug of spirv-tv.
    Bug,
}

impl Status {
    /// All of them.
    pub(super) const ALL: [Status; 16] = [
        Status::Passed,
        Status::Redundant,
        Status::NotJudged,
        Status::Unsupported,
        Status::NotOptimised,
        Status::OutOfMemory,
        Status::NotRun,
        Status::InvalidAnswer,
        Status::Failed,
        Status::TimedOut,
        Status::DeviceLost,
        Status::Crashed,
        Status::Miscounted,
        Status::Disagrees,
        Status::NewOutcome,
        Status::ToolBug,
    ];

    /// Its name in files and reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Redundant => "redundant",
            Status::NotJudged => "not-judged",
            Status::Unsupported => "unsupported",
            Status::NotOptimised => "not-optimised",
            Status::OutOfMemory => "out-of-memory",
            Status::NotRun => "not-run",
            Status::InvalidAnswer => "invalid-answer",
            Status::Failed => "failed",
            Status::TimedOut => "timed-out",
            Status::DeviceLost => "device-lost",
            Status::Crashed => "crashed",
            Status::Miscounted => "miscounted",
            Status::Disagrees => "disagrees",
            Status::NewOutcome => "new-outcome",
            Status::ToolBug => "tool-bug",
        }
    }

    /// What it comes to.
    pub(super) const fn class(self) -> Class {
        match self {
            Status::Passed => Class::Good,
            Status::Redundant
            | Status::NotJudged
            | Status::Unsupported
            | Status::NotOptimised
            | Status::OutOfMemory
            | Status::NotRun => Class::Undecided,
            Status::InvalidAnswer
            | Status::Failed
            | Status::TimedOut
            | Status::DeviceLost
            | Status::Crashed => Class::Executor,
            Status::Miscounted | Status::Disagrees | Status::NewOutcome => Class::Wrong,
            Status::ToolBug => Class::Bug,
        }
    }
}

/// What became of a case: one line of JSON each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The case's name: its kind and number.
    pub(super) case: String,
    /// The program that was run.
    pub(super) program: String,
    /// What was done to it before.
    pub(super) treatment: String,
    /// What became of it.
    pub(super) status: Status,
    /// Why, on one line; empty where there is nothing to say.
    pub(super) detail: String,
    /// Which finding it is: the same for cases that fail for the same reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bucket: Option<Bucket>,
    /// The environment of a litmus program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) environment: Option<String>,
    /// Instances that ran, or runs.
    pub(super) instances: u64,
    /// Allowed outcomes, where they are known.
    pub(super) allowed: u64,
    /// Those of them that were shown.
    pub(super) shown: u64,
    /// Of a weakened program: how often outcomes were shown that the program itself does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) weak: Option<u64>,
    /// What the executor did at first, where it did not finish and was given the case again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) earlier: Option<Status>,
    /// The folder of the finding, relative to that of the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) saved: Option<String>,
    /// Wall-clock time.
    pub(super) seconds: f64,
}

impl Entry for Record {
    const SCHEMA: &'static str = "spirv-tv.fuzz/1";

    fn case(&self) -> &str {
        &self.case
    }
}

impl Record {
    /// What is known before anything is.
    pub(super) fn new(case: String, program: String, treatment: String) -> Record {
        Record {
            case,
            program,
            treatment,
            status: Status::Passed,
            detail: String::new(),
            bucket: None,
            environment: None,
            instances: 0,
            allowed: 0,
            shown: 0,
            weak: None,
            earlier: None,
            saved: None,
            seconds: 0.0,
        }
    }

    /// The record with a status and its reason.
    pub(super) fn with(self, status: Status, detail: impl Into<String>) -> Record {
        Record { status, detail: detail.into(), ..self }
    }

    /// The record of a case that the executor did not finish.
    pub(super) fn failed(self, execution: &Execution) -> Record {
        let status = match execution {
            Execution::Finished(_) => Status::Passed,
            Execution::Unsupported(_) => Status::Unsupported,
            Execution::TimedOut(_) => Status::TimedOut,
            Execution::Crashed(_) => Status::Crashed,
            Execution::DeviceLost(_) => Status::DeviceLost,
            Execution::OutOfMemory(_) => Status::OutOfMemory,
            Execution::Failed(_) => Status::Failed,
            Execution::Invalid(_) => Status::InvalidAnswer,
            Execution::NotRun(_) => Status::NotRun,
        };
        let detail = execution.to_string();
        let said = said(execution);
        let parts = ["device", status.name(), &said].into_iter().filter(|part| !part.is_empty());
        let bucket = (status.class() == Class::Executor).then(|| Bucket(parts.collect::<Vec<_>>().join("/")));
        Record { bucket, ..self.with(status, detail) }
    }

    /// The record as baselines have it.
    pub(super) fn in_baseline(&self) -> gate::Record {
        let status = match self.status.class() {
            Class::Good => gate::Status::Pass,
            Class::Undecided => gate::Status::Inconclusive,
            Class::Executor if self.status == Status::TimedOut => gate::Status::Timeout,
            Class::Executor | Class::Wrong => gate::Status::Fail,
            Class::Bug => gate::Status::ToolBug,
        };
        gate::Record { bucket: self.bucket.clone(), ..gate::Record::new(&self.case, status, &self.detail) }
    }
}
