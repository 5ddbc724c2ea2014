//! Modules that an executor runs.

use std::time::Duration;

use spirv_tv::launch::LaunchOptions;
use spirv_tv_executor::program::ExecutorProgram;
use spirv_tv_executor::{Description, Execution};

use super::arguments::SubjectArguments;
use super::bucket::Bucket;
use super::judge::{Comparer, Failure, Judge, LaunchText, Shown};
use crate::{caught, run, CliError};

/// Runs each module, and holds what comes of it against what the module allows.
pub(super) struct Executed {
    comparer: Comparer,
    executor: ExecutorProgram,
    description: Description,
    times: u32,
    time: Duration,
}

impl Executed {
    /// # Errors
    /// The executor is not there, or does not say what it is.
    pub(super) fn new(comparer: Comparer, arguments: &SubjectArguments) -> Result<Self, CliError> {
        let SubjectArguments { executor, device, times, run_timeout, start_timeout, .. } = arguments;
        let (executor, description) = run::started(executor.as_deref(), device.as_deref(), *start_timeout)?;
        Ok(Executed { comparer, executor, description, times: *times, time: *run_timeout })
    }
}

impl Judge for Executed {
    /// A failure is an outcome that the module does not allow, which is defined and all of whose outcomes are known; or
    /// that the executor fails.
    fn judge(&self, modules: &[Vec<u32>], launch: &LaunchOptions) -> Result<Shown, CliError> {
        let [words] = modules else { return Ok(Shown::Nothing("no single module".to_owned())) };
        let module = match self.comparer.read(words, "module") {
            Ok(module) => module,
            Err(error) => return Ok(Shown::Invalid(error.into())),
        };
        let question = run::Question {
            module: &module,
            words: &module.words,
            options: &run::with_subgroups_of(self.comparer.options(launch), &self.description),
            executor: &self.executor,
            description: &self.description,
            times: self.times,
            time: self.time,
            allowed: None,
        };
        let held = match caught(|| run::hold(&question))? {
            Ok(held) => held,
            Err(error) if error.bug().is_some() => return Err(error),
            Err(error) => return Ok(Shown::Nothing(error.to_string())),
        };
        if let Some(Execution::NotRun(why)) = &held.failure {
            return Err(run::nothing_runs(why));
        }
        let Some((what, number)) = held.failed else { return Ok(Shown::Nothing(held.line)) };
        let choices = &held.found.choices;
        let launch = held.found.runs.get(number).map(|found| {
            let number = choices.launch.iter().position(|launch| launch.entry == found.entry);
            LaunchText::of(choices, number.unwrap_or(0), &found.input)
        });
        let bucket = Bucket::new("executor", what);
        Ok(Shown::Failure(Box::new(Failure { bucket, modules: vec![module], report: None, launch })))
    }

    fn has_own_subgroups(&self) -> bool {
        true
    }
}
