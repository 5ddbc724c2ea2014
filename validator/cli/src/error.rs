//! Errors of the command line.

use std::io;
use std::path::PathBuf;

use spirv_tv::behaviour::Bug;
use spirv_tv::check::CheckError;
use spirv_tv::launch::LaunchError;
use spirv_tv::module::ReadError;

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A module cannot be read, or is invalid.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A module cannot be lowered or launched.
    #[error(transparent)]
    Check(CheckError),
    /// The options of the launch contradict each other or the file of `--launch`.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A command line that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A file other than a module cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file, as the command line names it.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Standard output cannot be written.
    #[error("standard output: {0}")]
    Output(io::Error),
    /// Cases of `gate` cannot be found, or what is expected of them not read.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The child process that runs the optimiser does not start.
    #[error("cannot start the optimiser: {0}")]
    Optimiser(io::Error),
    /// Never the user's fault.
    #[error("this is a bug of spirv-tv: {0}; please report it, with the modules and the command")]
    Bug(#[from] Bug),
}

/// Why `gate` cannot run.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// There are no cases.
    #[error(transparent)]
    Case(#[from] spirv_tv_gate::error::CaseError),
    /// A baseline, or a file of patterns, cannot be read or written.
    #[error(transparent)]
    Expectation(#[from] spirv_tv_gate::expectation::ExpectationError),
    /// Results cannot be read or written.
    #[error(transparent)]
    Log(#[from] spirv_tv_gate::log::LogError),
    /// A report cannot be written.
    #[error(transparent)]
    Report(#[from] spirv_tv_gate::report::ReportError),
}

macro_rules! gate_errors {
    ($($error:ty),+) => {
        $(impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                CliError::Gate(error.into())
            }
        })+
    };
}

gate_errors!(
    spirv_tv_gate::error::CaseError,
    spirv_tv_gate::expectation::ExpectationError,
    spirv_tv_gate::log::LogError,
    spirv_tv_gate::report::ReportError
);

impl From<CheckError> for CliError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Bug(bug) => CliError::Bug(bug),
            CheckError::Lower { .. } | CheckError::Launch(_) => CliError::Check(error),
        }
    }
}

impl CliError {
    /// A usage error.
    pub fn usage(error: impl ToString) -> Self {
        CliError::Usage(error.to_string())
    }

    /// What is wrong with what an option names, such as `--launch`.
    pub(crate) fn of_option(option: &str, error: impl std::fmt::Display) -> Self {
        CliError::Usage(format!("{option}: {error}"))
    }

    /// The bug of spirv-tv that it is, if it is one.
    pub fn bug(&self) -> Option<&Bug> {
        match self {
            CliError::Bug(bug) => Some(bug),
            CliError::Read(_)
            | CliError::Check(_)
            | CliError::Launch(_)
            | CliError::Usage(_)
            | CliError::File { .. }
            | CliError::Output(_)
            | CliError::Gate(_)
            | CliError::Optimiser(_) => None,
        }
    }

    /// Its exit code.
    pub fn exit_code(&self) -> u8 {
        match self.bug() {
            Some(_) => Bug::EXIT_CODE,
            None => 2,
        }
    }
}
