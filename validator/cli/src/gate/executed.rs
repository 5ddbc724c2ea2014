//! Cases that an executor runs: what it shows of the module after is held against what the module before allows.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use spirv_tv::check::{dispatches, CheckOptions, Watch};
use spirv_tv::module::Module;
use spirv_tv::optimise::to_bytes;
use spirv_tv_executor::program::ExecutorProgram;
use spirv_tv_executor::{Description, Execution};
use spirv_tv_gate::{Record, Status};

use super::arguments::ExecutorArguments;
use super::make::NotMade;
use crate::run::{case_of, hold, with_subgroups_of, Held, Question, RunVerdict, Wanted};
use crate::{save, CliError, ReadArguments};

/// What runs cases.
pub(super) struct Runner {
    executor: ExecutorProgram,
    description: Description,
    times: u32,
    time: Duration,
}

/// What came of a case.
pub(super) struct Ran {
    pub(super) status: Status,
    /// Why it is that status, on one line.
    pub(super) detail: String,
    /// What tells the failure from others: `KIND/WHAT`.
    pub(super) what: Option<String>,
    pub(super) held: Held,
}

impl Runner {
    /// The executor that the command line asks for, if it asks for one.
    ///
    /// # Errors
    /// It cannot be started, or does not say what it is.
    pub(super) fn of(arguments: &ExecutorArguments) -> Result<Option<Runner>, CliError> {
        let ExecutorArguments { executor, device, times, run_timeout, start_timeout } = arguments;
        if executor.is_none() && device.is_none() {
            return Ok(None);
        }
        let (executor, description) =
            crate::run::started(executor.as_deref(), device.as_deref(), *start_timeout)?;
        Ok(Some(Runner { executor, description, times: *times, time: *run_timeout }))
    }

    /// The executor's name.
    pub(super) fn name(&self) -> &str {
        &self.description.name
    }

    /// The options of a search for what this executor may show.
    pub(super) fn options(&self, options: CheckOptions) -> CheckOptions {
        with_subgroups_of(options, &self.description)
    }

    /// Runs `after`; `allowed` is what `before` allows, where that is known.
    ///
    /// # Errors
    /// One of the modules cannot be launched so.
    pub(super) fn run(
        &self,
        before: &Module,
        after: &Module,
        options: &CheckOptions,
        allowed: Option<&str>,
    ) -> Result<Ran, CliError> {
        let words = match (options.launch.local_size, before.words == after.words) {
            (Some(size), false) => after.words_with_local_size(options.launch.entry.as_deref(), size.0),
            (Some(_) | None, _) => after.words.clone(),
        };
        let held = hold(&Question {
            module: before,
            words: &words,
            options,
            executor: &self.executor,
            description: &self.description,
            times: self.times,
            time: self.time,
            allowed,
        })?;
        let (status, what) = match (held.verdict, &held.failure, &held.failed) {
            (RunVerdict::Refines, ..) => (Status::Pass, None),
            (RunVerdict::Vacuous, ..) => (Status::Vacuous, None),
            (RunVerdict::Violates, _, what) => (Status::Fail, what.as_ref()),
            (RunVerdict::ExecutorFailed, Some(Execution::TimedOut(_)), what) => {
                (Status::Timeout, what.as_ref())
            }
            (RunVerdict::ExecutorFailed, _, what) => (Status::ExecutorCrash, what.as_ref()),
            (RunVerdict::Inconclusive, Some(Execution::Unsupported(_)), _) => (Status::Unsupported, None),
            (RunVerdict::Inconclusive, ..) if held.is_beyond || !held.found.unsupported.is_empty() => {
                (Status::Unsupported, None)
            }
            (RunVerdict::Inconclusive, ..) if options.bounds.left() == Some(Duration::ZERO) => {
                (Status::Timeout, None)
            }
            (RunVerdict::Inconclusive, ..) => (Status::Inconclusive, None),
        };
        let mut detail = held.line.split_whitespace().collect::<Vec<_>>().join(" ");
        if held.disagrees {
            detail.push_str("; the module before always ended otherwise");
        }
        Ok(Ran { status, detail, what: what.map(|(what, _)| what.clone()), held })
    }

    /// What `after` needs and `before` does not have, so that nobody says what it holds; `None` where there is nothing.
    pub(super) fn is_new(&self, before: &Module, after: &Module, options: &CheckOptions) -> Option<String> {
        if before.words == after.words {
            return None;
        }
        let slots = |module: &Module| {
            let found = dispatches(module, options, &Watch::default())
                .map_err(|error| format!("it cannot be launched as before: {error}"))?;
            let wanted = Wanted {
                launch: &options.launch,
                out_of_bounds: options.out_of_bounds,
                times: self.times,
                time: self.time,
            };
            let cases = found.runs.iter().map(|run| {
                let case = case_of(module, &run.program, &run.explored.dispatch, wanted);
                case.map(|case| case.resources.into_iter().map(|resource| resource.name))
            });
            let names: Vec<_> = cases.collect::<Result<_, String>>()?;
            Ok::<BTreeSet<String>, String>(names.into_iter().flatten().collect())
        };
        let (Ok(own), new) = (slots(before), slots(after)) else { return None };
        match new {
            Ok(new) => {
                let only = new.difference(&own).next()?;
                Some(format!("after uses {only}, which before lacks"))
            }
            Err(why) => Some(format!("after: {why}")),
        }
    }
}

impl Ran {
    /// Keeps what failed in a folder: both modules, the launch, what is allowed, what was shown, and the commands that show it
    /// again.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn save(
        &self,
        folder: &Path,
        modules: [&Module; 2],
        arguments: &ExecutorArguments,
        options: &CheckOptions,
        read: &ReadArguments,
    ) -> Result<(), CliError> {
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |error| CliError::File { path, error }
        };
        std::fs::create_dir_all(folder).map_err(fail(folder))?;
        let write = |name: &str, contents: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, contents).map_err(fail(&path))
        };
        for (module, name) in modules.into_iter().zip(["before.spv", "after.spv"]) {
            write(name, &to_bytes(&module.words))?;
        }
        write("run.txt", self.held.text.as_bytes())?;
        let run = self.held.failed.as_ref().and_then(|(_, run)| self.held.found.runs.get(*run));
        if let Some(run) = run {
            let choices = &self.held.found.choices;
            let number = choices.launch.iter().position(|launch| launch.entry == run.entry);
            let (launch, files) = save::launch_of(choices, number.unwrap_or(0), &run.input);
            write("launch.toml", launch.as_bytes())?;
            for (name, contents) in files {
                write(&name, &contents)?;
            }
        }
        let choices = save::searching(options, run.is_some(), read);
        let outcomes = format!("spirv-tv outcomes before.spv {choices} --format json > outcomes.json");
        let ran = format!(
            "spirv-tv run after.spv {choices} --allowed outcomes.json {}",
            arguments.command_line().join(" ")
        );
        write("command.txt", format!("{outcomes}\n{ran}\n").as_bytes())
    }
}

/// The record of a case that ran.
pub(super) fn record(case: &str, ran: &Ran) -> Record {
    Record {
        inputs: u64::try_from(ran.held.found.runs.len()).unwrap_or(u64::MAX),
        report: (ran.status == Status::Fail).then(|| ran.held.text.clone()),
        ..Record::new(case, ran.status, ran.detail.clone())
    }
}

/// That nothing was run.
pub(super) fn not_run(why: String) -> NotMade {
    NotMade::new(Status::Unsupported, why)
}
