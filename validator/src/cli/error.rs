//! Errors of the command line.

use std::io;
use std::path::PathBuf;

use crate::check::CheckError;
use crate::launch::LaunchError;
use crate::module::ReadError;

/// Why a command has no result. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A command line that makes no sense.
    #[error("{0}")]
    Usage(String),
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("standard output: {0}")]
    Output(io::Error),
    #[error("cannot start the optimiser: {0}")]
    Optimiser(io::Error),
    /// A panic, whose message was printed.
    #[error("this is a bug of spirv-tv: please report it, with the modules and the command")]
    Bug,
}

impl CliError {
    /// A usage error.
    pub fn usage(error: impl ToString) -> Self {
        CliError::Usage(error.to_string())
    }

    /// Its exit code.
    pub fn exit_code(&self) -> u8 {
        2
    }
}
