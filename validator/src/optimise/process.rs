//! How optimiser passes are run, and the ways in which they may end.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use spirv_tv_toolchain::OptimizeOptions;

use super::pipeline::Optimiser;
use super::session::Session;
use crate::behaviour::Bug;

/// How long a pass may run by default.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How optimiser passes are run.
#[derive(Clone, Debug)]
pub struct OptimiserProcess {
    /// A program that serves [`child::SUBCOMMAND`](super::child::SUBCOMMAND) with [`child::serve`](super::child::serve).
    pub program: PathBuf,
    /// Options of the run. The child never validates its input.
    pub options: OptimizeOptions,
    /// The wall-clock time that one run may take.
    pub timeout: Duration,
}

/// An optimiser run that gave no valid module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptimiserFailure {
    /// The optimiser brought its process down, as a failed assertion does.
    Crashed {
        /// The signal, where the system has signals and one ended the process.
        signal: Option<i32>,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The optimiser gave up with an error.
    Failed {
        /// What it says.
        message: String,
    },
    /// The optimiser refuses the flag or its argument.
    Flag {
        /// What it says.
        message: String,
    },
    /// The optimiser wrote a module that spirv-val rejects.
    Invalid {
        /// What spirv-val says.
        message: String,
    },
    /// The pass was ended after this time.
    TimedOut {
        /// The time that the pass had.
        after: Duration,
    },
    /// The child process could not be run at all: not the optimiser's fault.
    NotRun {
        /// What the system says.
        message: String,
    },
    /// The child panicked in our own code.
    Bug {
        /// What the child says.
        message: String,
    },
}

impl OptimiserFailure {
    /// A name for reports.
    pub fn kind(&self) -> &'static str {
        match self {
            OptimiserFailure::Crashed { .. } => "crashed",
            OptimiserFailure::Failed { .. } => "failed",
            OptimiserFailure::Flag { .. } => "flag",
            OptimiserFailure::Invalid { .. } => "invalid",
            OptimiserFailure::TimedOut { .. } => "timed-out",
            OptimiserFailure::NotRun { .. } => "not-run",
            OptimiserFailure::Bug { .. } => "bug",
        }
    }

    /// Is it the optimiser that failed, rather than the call?
    pub fn is_optimisers(&self) -> bool {
        match self {
            OptimiserFailure::Crashed { .. }
            | OptimiserFailure::Failed { .. }
            | OptimiserFailure::Invalid { .. }
            | OptimiserFailure::TimedOut { .. } => true,
            OptimiserFailure::Flag { .. }
            | OptimiserFailure::NotRun { .. }
            | OptimiserFailure::Bug { .. } => false,
        }
    }
}

impl fmt::Display for OptimiserFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptimiserFailure::Crashed { signal, stderr } => {
                f.write_str("the optimiser crashed")?;
                if let Some(signal) = signal {
                    write!(f, " (signal {signal})")?;
                }
                if stderr.is_empty() {
                    Ok(())
                } else {
                    write!(f, ": {stderr}")
                }
            }
            OptimiserFailure::Failed { message } => write!(f, "the optimiser failed: {message}"),
            OptimiserFailure::Flag { message } => write!(f, "the optimiser refuses the flag: {message}"),
            OptimiserFailure::Invalid { message } => {
                write!(f, "the optimiser wrote an invalid module: {message}")
            }
            OptimiserFailure::TimedOut { after } => {
                write!(f, "the optimiser had not ended after {} s", after.as_secs_f64())
            }
            OptimiserFailure::NotRun { message } => {
                write!(f, "the optimiser could not be started: {message}")
            }
            OptimiserFailure::Bug { message } => write!(f, "{}: {message}", Bug::Panicked),
        }
    }
}

impl std::error::Error for OptimiserFailure {}

impl OptimiserProcess {
    /// Runs passes in this program started again.
    ///
    /// # Errors
    /// Where the system cannot tell the program's path.
    pub fn current(options: OptimizeOptions) -> io::Result<Self> {
        Ok(OptimiserProcess { program: std::env::current_exe()?, options, timeout: DEFAULT_TIMEOUT })
    }

    /// Runs the passes that `flags` name on a module, in a child process of their own.
    ///
    /// # Errors
    /// Everything but [`OptimiserFailure::Invalid`]: the result is not validated here.
    pub fn run(&self, words: &[u32], flags: &[String]) -> Result<Vec<u32>, OptimiserFailure> {
        Session::new(self).run(words, flags, self.timeout)
    }
}
