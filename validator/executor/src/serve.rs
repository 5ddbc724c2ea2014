//! The side of the executor: reads requests and answers them, as `docs/executor.md` describes.

use std::io::{self, BufRead, Write};
use std::path::Path;

use crate::folder::{self, Request};
use crate::{Execution, Executor};

/// The line by which an executor says that a folder has its answer.
pub const DONE: &str = "spirv-tv.executor done";

/// Answers every folder that standard input names, one on a line, until there are no more; or that `folder` names alone.
/// It ends early behind a case that leaves the executor in an unknown state.
///
/// # Errors
/// A request cannot be read, or an answer cannot be written.
pub fn serve(executor: &dyn Executor, folder: Option<&Path>) -> io::Result<()> {
    if let Some(folder) = folder {
        return answer(executor, folder).map(drop);
    }
    for line in io::stdin().lock().lines() {
        let is_well = answer(executor, Path::new(&line?))?;
        writeln!(io::stdout(), "{DONE}")?;
        io::stdout().flush()?;
        if !is_well {
            break;
        }
    }
    Ok(())
}

/// Whether the executor can go on.
fn answer(executor: &dyn Executor, folder: &Path) -> io::Result<bool> {
    match folder::read_request(folder)? {
        Request::Describe => {
            folder::write_description(folder, &executor.describe())?;
            Ok(true)
        }
        Request::Run(case) => {
            let execution = executor.execute(&case);
            folder::write_execution(folder, &execution)?;
            Ok(!matches!(
                execution,
                Execution::TimedOut(_) | Execution::DeviceLost(_) | Execution::Crashed(_)
            ))
        }
    }
}
