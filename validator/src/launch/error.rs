//! Errors of a launch. All of them end the run with exit code 2, except for [`LaunchError::Unsupported`], which
//! makes the verdict inconclusive.

use std::path::PathBuf;

use crate::ir::Line;

/// A launch that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// An option's text does not have the form that it needs.
    #[error("{option} '{text}': {reason}")]
    Syntax { option: &'static str, text: String, reason: String },
    /// A launch file that is no TOML, or has keys or types that are unknown.
    #[error("{}: {message}", path.display())]
    File { path: PathBuf, message: String },
    /// A file that cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    /// A target that the module before does not have.
    #[error("{option}: the module has no {what}; it has {known}")]
    UnknownTarget { option: &'static str, what: String, known: String },
    /// A target that stands for something that cannot be given.
    #[error("{option}: {what}")]
    WrongTarget { option: &'static str, what: String },
    /// Sizes that are too large to run.
    #[error("{what}: at most {limit} are run; {remedy}")]
    TooLarge { what: String, limit: u64, remedy: &'static str },
    /// Two options that contradict each other.
    #[error("{0}")]
    Contradiction(String),
    /// A variable that this version cannot give memory to.
    #[error("line {line}: {what} is not supported")]
    Unsupported { line: Line, what: String },
}
