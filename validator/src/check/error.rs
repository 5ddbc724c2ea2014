//! Why there is no report at all; all of these are exit code 2.

use crate::launch::LaunchError;
use crate::lower::LowerError;

/// An input that makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{module}: {error}")]
    Lower { module: String, error: LowerError },
    #[error(transparent)]
    Launch(#[from] LaunchError),
}
