//! `--html FILE`: pages for a browser.

use std::path::Path;
use std::time::Instant;

use super::CliError;
use spirv_tv::check::Bounds;
use spirv_tv::report::html::{Alone, Extent, Replay};

/// What a page rests on beside the report. `begun` is when the command began.
pub fn extent(violation: Option<Alone>, bounds: &Bounds, begun: Instant, full: bool) -> Extent {
    let deadline = bounds.timeout.and_then(|timeout| begun.checked_add(timeout));
    Extent { replay: Replay { given: given(), violation }, deadline, full }
}

/// Writes a page.
pub fn write(path: &Path, page: &str) -> Result<(), CliError> {
    std::fs::write(path, page).map_err(|error| CliError::File { path: path.to_owned(), error })
}

/// The command of this process without what writes the page.
fn given() -> String {
    let mut words = vec!["spirv-tv".to_owned()];
    let mut arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        if argument == "--html" {
            arguments.next();
        } else if !argument.starts_with("--html=") {
            words.push(quoted(&argument));
        }
    }
    words.join(" ")
}

/// A word as a shell takes it. What a command line cannot hold was never on one.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}
