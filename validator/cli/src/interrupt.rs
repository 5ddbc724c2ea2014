//! What the user ends by hand.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use crate::CliError;

/// The exit code of what the user ended, as shells have it: 128 and the number of SIGINT.
pub(crate) const EXIT_CODE: u8 = 130;

/// What is set once the user interrupts. Who does so twice ends the process at once.
///
/// # Errors
/// There is such a handler already, or the system lets nobody have one.
pub(crate) fn stopper() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if own.swap(true, Ordering::SeqCst) {
            std::process::exit(EXIT_CODE.into());
        }
    })
    .map_err(CliError::usage)?;
    Ok(stop)
}
