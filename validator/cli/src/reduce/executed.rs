//! Modules that an executor runs.

use std::time::Duration;

use spirv_tv::launch::LaunchOptions;
use spirv_tv_executor::program::ExecutorProgram;
use spirv_tv_executor::Description;

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
    pub(super) fn new(
        comparer: Comparer,
        command: Option<&str>,
        device: Option<&str>,
        times: u32,
        time: Duration,
    ) -> Result<Self, CliError> {
        let (executor, description) = run::executor(command, device)?;
        Ok(Executed { comparer, executor, description, times, time })
    }
}

impl Judge for Executed {
    fn judge(&self, modules: &[Vec<u32>], launch: &LaunchOptions) -> Result<Shown, CliError> {
        let [words] = modules else { return Ok(Shown::Nothing("no single module".to_owned())) };
        let module = match self.comparer.read(words, "module") {
            Ok(module) => module,
            Err(error) => return Ok(Shown::Invalid(error.into())),
        };
        let options = self.comparer.options(launch);
        let shown = caught(|| {
            run::shown(&module, &options, &self.executor, &self.description, self.times, self.time)
        })??;
        Ok(match shown {
            run::Shown::Nothing(why) => Shown::Nothing(why),
            run::Shown::Wrong { what, report, run } => {
                let found = report.runs.get(run);
                let number =
                    |entry: &str| report.choices.launch.iter().position(|launch| launch.entry == entry);
                let launch = found.map(|found| {
                    LaunchText::of(&report.choices, number(&found.entry).unwrap_or(0), &found.input)
                });
                let bucket = Bucket::new("executor", what);
                Shown::Failure(Box::new(Failure { bucket, modules: vec![module], report: None, launch }))
            }
        })
    }

    fn has_own_subgroups(&self) -> bool {
        true
    }
}
