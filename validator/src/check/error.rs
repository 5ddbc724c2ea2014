//! Why there is no report: exit code 2, or 70 for a bug of spirv-tv.

use crate::behaviour::Bug;
use crate::launch::LaunchError;
use crate::lower::LowerError;

/// An input that makes no sense, or a bug of spirv-tv.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{module}: {error}")]
    Lower { module: String, error: LowerError },
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Bug(#[from] Bug),
}
