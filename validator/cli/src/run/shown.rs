//! What an executor does wrong with a module, for whoever asks about many modules.

use std::time::Duration;

use spirv_tv::check::{CheckOptions, OutcomesReport};
use spirv_tv::module::Module;
use spirv_tv_executor::{Description, Execution, Executor};

use super::hold::{hold, Question};
use super::{nothing_runs, with_subgroups_of};
use crate::CliError;

/// What came of a module.
pub(crate) enum Shown {
    /// It showed something that is wrong: which failure it is (`KIND/WHAT`), and on which run of the report.
    Wrong { what: String, report: Box<OutcomesReport>, run: usize },
    /// Nothing, and why.
    Nothing(String),
}

/// Runs a module on an executor as often as is wanted, and says what it does wrong: an outcome that the module does not
/// allow, all of whose outcomes are known and which is defined; or that it fails.
///
/// # Errors
/// A bug of spirv-tv; an executor that cannot be started.
pub(crate) fn shown(
    module: &Module,
    options: &CheckOptions,
    executor: &dyn Executor,
    description: &Description,
    times: u32,
    time: Duration,
) -> Result<Shown, CliError> {
    let options = with_subgroups_of(options.clone(), description);
    let (options, words) = (&options, &module.words[..]);
    let question = Question { module, words, options, executor, description, times, time, allowed: None };
    let held = match hold(&question) {
        Ok(held) => held,
        Err(error) if error.bug().is_some() => return Err(error),
        Err(error) => return Ok(Shown::Nothing(error.to_string())),
    };
    if let Some(Execution::NotRun(why)) = &held.failure {
        return Err(nothing_runs(why));
    }
    Ok(match held.failed {
        Some((what, run)) => Shown::Wrong { what, report: Box::new(held.found), run },
        None => Shown::Nothing(held.line),
    })
}
