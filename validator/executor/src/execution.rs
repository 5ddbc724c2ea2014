//! What comes of a case.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Execution {
    /// It was run, at least once and at most as often as was asked for.
    Finished(Vec<Observation>),
    /// The executor lacks what the case needs: it was not run.
    Unsupported(Vec<String>),
    /// It had not ended after this time.
    TimedOut(Duration),
    /// The executor crashed, or ended by itself.
    Crashed(String),
    /// The device was lost.
    DeviceLost(String),
    /// The device or the executor had too little memory.
    OutOfMemory(String),
    /// The executor could not run it for another reason: its compiler refused the module, say.
    Failed(String),
    /// What the executor answered is no answer.
    Invalid(String),
    /// The executor could not be started, which says nothing of it.
    NotRun(String),
}

impl Execution {
    /// Its name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Execution::Finished(_) => "finished",
            Execution::Unsupported(_) => "unsupported",
            Execution::TimedOut(_) => "timed-out",
            Execution::Crashed(_) => "crashed",
            Execution::DeviceLost(_) => "device-lost",
            Execution::OutOfMemory(_) => "out-of-memory",
            Execution::Failed(_) => "failed",
            Execution::Invalid(_) => "invalid-answer",
            Execution::NotRun(_) => "not-run",
        }
    }
}

impl fmt::Display for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |f: &mut fmt::Formatter<'_>, what: &str, more: &str| match more {
            "" => f.write_str(what),
            more => write!(f, "{what}: {more}"),
        };
        match self {
            Execution::Finished(observations) => {
                write!(f, "it ended in {} different ways", observations.len())
            }
            Execution::Unsupported(missing) => write!(f, "the executor lacks {}", missing.join(", ")),
            Execution::TimedOut(time) => write!(f, "it had not ended after {} s", time.as_secs_f64()),
            Execution::Crashed(said) => told(f, "the executor crashed", said),
            Execution::DeviceLost(said) => told(f, "the device was lost", said),
            Execution::OutOfMemory(said) => told(f, "there was too little memory", said),
            Execution::Failed(said) => told(f, "the executor failed", said),
            Execution::Invalid(why) => told(f, "the executor's answer is not valid", why),
            Execution::NotRun(why) => told(f, "the executor could not be started", why),
        }
    }
}

/// Contents of memory at the end of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// How many of the runs ended so.
    pub count: u32,
    /// For each resource its bytes; `None` for one that the module cannot write and that was not read back.
    pub memory: Vec<Option<Vec<u8>>>,
    /// For each resource the address of its first byte, where it has one.
    pub addresses: Vec<Option<u64>>,
}

/// What an executor is and what it can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Description {
    /// What people call it, such as the name of the device and its driver.
    pub name: String,
    /// The invocations of a subgroup, where it does not choose them; 0 where nothing is known.
    pub subgroup_size: u32,
    /// Capabilities of SPIR-V that it has, by their names; empty where they are not known.
    pub capabilities: Vec<String>,
    /// Capabilities of SPIR-V that it is known to lack.
    pub lacks: Vec<String>,
    /// What it can take of anything, in words and numbers: `invocations of a workgroup`, 1024.
    pub limits: Vec<(String, u64)>,
    /// What is known of it beyond that, a sentence each.
    pub notes: Vec<String>,
}
