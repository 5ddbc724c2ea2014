//! The options of a case's check: those of the command line with those of the case.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use clap::FromArgMatches;
use spirv_tv::check::CheckOptions;
use spirv_tv::launch::file;
use spirv_tv_gate::cases::Case;

use super::arguments::GateArguments;
use crate::{help, memory, CliError, Command, CommandLine};

/// How long a check may take by default.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What an executor is waited for beyond its time.
const GRACE: Duration = Duration::from_secs(5);

/// The options of a check without those of a case.
pub(super) fn of(arguments: &GateArguments) -> Result<CheckOptions, CliError> {
    arguments.comparison.choices.bounds.has_time()?;
    let mut options = arguments.comparison.options()?;
    options.bounds.timeout = Some(time(arguments));
    // Cases run side by side, each by one thread.
    options.bounds.jobs = 1;
    options.bounds.max_memory = memory(arguments)?;
    Ok(options)
}

/// How long a check may take.
pub(super) fn time(arguments: &GateArguments) -> Duration {
    arguments.comparison.choices.bounds.timeout.unwrap_or(TIMEOUT)
}

/// How long an executor may take for a case: each request has a limit of its own, and there are several where it runs the
/// module less often than it is asked to.
pub(super) fn time_of_executor(arguments: &GateArguments) -> Duration {
    let executor = &arguments.executor;
    match executor.is_given() {
        false => Duration::ZERO,
        true => {
            let requests = executor.run_timeout.saturating_add(GRACE).saturating_mul(executor.times);
            executor.start_timeout.saturating_add(requests.saturating_mul(2))
        }
    }
}

/// How many cases run at once.
pub(super) fn jobs(arguments: &GateArguments) -> Result<usize, CliError> {
    match arguments.comparison.choices.bounds.jobs {
        Some(0) => Err(CliError::usage("--jobs 0: at least one worker is needed")),
        Some(jobs) => Ok(jobs),
        // There may be only one board.
        None if arguments.executor.is_given() => Ok(1),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// How much memory a check may take, in bytes: all workers together fit the machine.
pub(super) fn memory(arguments: &GateArguments) -> Result<u64, CliError> {
    let jobs = u64::try_from(jobs(arguments)?).unwrap_or(u64::MAX);
    Ok(arguments.comparison.choices.bounds.max_memory.unwrap_or_else(|| memory::share_of(jobs)))
}

/// Options of cases. What a case adds is parsed as if it stood on the command line.
pub(super) struct CaseOptions {
    /// What stands behind `gate`.
    command_line: Vec<OsString>,
    plain: CheckOptions,
    /// Those of the last case that added some.
    last: Option<(Vec<String>, CheckOptions)>,
}

impl CaseOptions {
    pub(super) fn new(arguments: &GateArguments, command_line: Vec<OsString>) -> Result<Self, CliError> {
        Ok(CaseOptions { command_line, plain: of(arguments)?, last: None })
    }

    /// The options of a case.
    pub(super) fn of(&mut self, case: &Case) -> Result<CheckOptions, CliError> {
        let mut options = match case.options.is_empty() {
            true => self.plain.clone(),
            false => self.with(&case.options)?,
        };
        if let Some(path) = &case.launch {
            options.launch = options.launch.over(file::read(path)?);
            options.launch.check()?;
        }
        options.bounds.begun = Some(Instant::now());
        Ok(options)
    }

    fn with(&mut self, added: &[String]) -> Result<CheckOptions, CliError> {
        if let Some((_, options)) = self.last.as_ref().filter(|(last, _)| last == added) {
            return Ok(options.clone());
        }
        let words = ["spirv-tv", "gate"].into_iter().map(OsString::from);
        let words = words.chain(self.command_line.iter().cloned()).chain(added.iter().map(OsString::from));
        let matches = help::command().try_get_matches_from(words).map_err(CliError::usage)?;
        let line = CommandLine::from_arg_matches(&matches).map_err(CliError::usage)?;
        let Command::Gate(arguments) = line.command else {
            return Err(CliError::usage(format!("'{}' are no options of a check", added.join(" "))));
        };
        let options = of(&arguments)?;
        self.last = Some((added.to_vec(), options.clone()));
        Ok(options)
    }
}
