//! Why there is no report: exit code 2, or 70 for a bug of spirv-tv.

use crate::behaviour::Bug;
use crate::launch::LaunchError;
use crate::lower::LowerError;

/// An input that makes no sense, or a bug of spirv-tv.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A module has not the entry point or the specialisation constant that the options name, or is malformed.
    #[error("{module}: {error}")]
    Lower {
        /// What the user calls the module.
        module: String,
        /// What it has not, or how it is malformed.
        error: LowerError,
    },
    /// The launch options make no sense for the modules.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// An invariant of spirv-tv broke: the modules are not at fault.
    #[error(transparent)]
    Bug(#[from] Bug),
}
