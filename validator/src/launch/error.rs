//! Errors of a launch. All of them end the run with exit code 2, except for [`LaunchError::Unsupported`], which
//! makes the verdict inconclusive.

use std::path::PathBuf;

use crate::ir::Line;

/// A launch that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// An option's text does not have the form that it needs.
    #[error("{option} '{text}': {reason}")]
    Syntax {
        /// The option.
        option: &'static str,
        /// Its text.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A launch file that is no TOML, or has keys or types that are unknown.
    #[error("{}: {message}", path.display())]
    File {
        /// The launch file.
        path: PathBuf,
        /// What is wrong with it, and where.
        message: String,
    },
    /// A file that cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A target that the module before does not have.
    #[error("{option}: the module has no {what}; it has {known}")]
    UnknownTarget {
        /// The option.
        option: &'static str,
        /// The target.
        what: String,
        /// The targets that the module has.
        known: String,
    },
    /// A target that stands for something that cannot be given.
    #[error("{option}: {what}")]
    WrongTarget {
        /// The option.
        option: &'static str,
        /// The target, and what it stands for.
        what: String,
    },
    /// Sizes that are too large to run.
    #[error("{what}: at most {limit} are run; {remedy}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// The largest number that is run.
        limit: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// Two options that contradict each other.
    #[error("{0}")]
    Contradiction(String),
    /// A variable that this version cannot give memory to.
    #[error("line {line}: {what} is not supported")]
    Unsupported {
        /// The variable's line, 1-based; 0 where it is not known.
        line: Line,
        /// What it is, in a few words.
        what: String,
    },
}
