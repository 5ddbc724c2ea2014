//! Modules that an optimiser makes the second one of.

use std::sync::Mutex;
use std::time::Duration;

use spirv_tv::launch::LaunchOptions;
use spirv_tv::module::{Module, ReadError};
use spirv_tv::optimise::{
    take_optimiser_arguments, Optimiser, OptimiserArguments, OptimiserProcess, Session,
};
use spirv_tv_gate::program::ProgramFailure;
use spirv_tv_gate::Status;
use spirv_tv_toolchain::OptimizeOptions;

use super::bucket::Bucket;
use super::judge::{Comparer, Failure, Judge, Shown};
use crate::gate::{not_made, unread, NotMade};
use crate::optimiser::{self, External, OptimiserChoice, Tool};
use crate::CliError;

/// Optimises each before anew.
pub(super) struct Optimised {
    comparer: Comparer,
    runner: Runner,
    time: Duration,
    /// What stands for the optimiser in buckets.
    by: String,
}

enum Runner {
    /// Children that run the bundled spirv-opt and have nothing to do, and how more are made.
    Bundled {
        flags: OptimiserArguments,
        process: OptimiserProcess,
        idle: Mutex<Vec<Session>>,
    },
    Program {
        flags: Vec<String>,
        external: External,
    },
}

impl Optimised {
    /// # Errors
    /// Flags that the bundled spirv-opt does not know, a program that is no command.
    pub(super) fn new(
        comparer: Comparer,
        choice: &OptimiserChoice,
        flags: Vec<String>,
        max_id_bound: Option<u32>,
    ) -> Result<Self, CliError> {
        let by = match flags.is_empty() {
            true => "optimizer".to_owned(),
            false => flags.join(" "),
        };
        let runner = match choice.tool()? {
            Tool::Program(program) => Runner::Program { flags, external: choice.external(program)? },
            Tool::Bundled => {
                let taken = take_optimiser_arguments(flags.iter().map(Into::into).collect());
                let (taken, rest) = taken.map_err(CliError::usage)?;
                if let Some(other) = rest.first() {
                    let other = other.to_string_lossy();
                    return Err(CliError::Usage(format!("{other} is no flag of the bundled spirv-opt")));
                }
                let options = OptimizeOptions {
                    target_env: comparer.made.validator.target_env,
                    preserve_interface: taken.preserve_interface,
                    preserve_bindings: taken.preserve_bindings,
                    preserve_spec_constants: taken.preserve_spec_constants,
                    max_id_bound,
                    ..OptimizeOptions::default()
                };
                let process = OptimiserProcess::current(options).map_err(CliError::Optimiser)?;
                Runner::Bundled { flags: taken, process, idle: Mutex::default() }
            }
        };
        Ok(Optimised { comparer, runner, time: choice.optimizer_timeout, by })
    }

    /// What the optimiser makes of a module.
    ///
    /// # Errors
    /// There is no such program: that is no failure of it.
    fn after(&self, before: &Module) -> Result<Result<Result<Module, ReadError>, NotMade>, CliError> {
        Ok(match &self.runner {
            Runner::Program { flags, external } => match external.bytes(&before.words, flags, self.time) {
                Ok(bytes) => Ok(Module::from_bytes(&bytes, "after", &self.comparer.made)),
                Err(failure @ ProgramFailure::NotRun { .. }) => {
                    return Err(CliError::Usage(optimiser::failure(failure).to_string()));
                }
                Err(failure) => {
                    let signature = failure.signature();
                    Err(NotMade { signature: Some(signature), ..not_made(&optimiser::failure(failure)) })
                }
            },
            Runner::Bundled { flags, process, idle } => {
                let known = idle.lock().ok().and_then(|mut idle| idle.pop());
                let mut session = known.unwrap_or_else(|| Session::new(process));
                let made = session.run(&before.words, &flags.passes, self.time);
                if let Ok(mut idle) = idle.lock() {
                    idle.push(session);
                }
                match made {
                    Ok(words) => Ok(Module::from_words(words, "after", &self.comparer.made)),
                    Err(failure) => Err(not_made(&failure)),
                }
            }
        })
    }
}

impl Judge for Optimised {
    fn judge(&self, modules: &[Vec<u32>], launch: &LaunchOptions) -> Result<Shown, CliError> {
        let [words] = modules else { return Ok(Shown::Nothing("no single module".to_owned())) };
        let before = match self.comparer.read(words, "before") {
            Ok(before) => before,
            Err(error) => return Ok(Shown::Invalid(error.into())),
        };
        let made = match self.after(&before)? {
            Ok(made) => made.map_err(|error| unread(Status::InvalidAfter, error)),
            Err(failed) => Err(failed),
        };
        match made {
            Ok(after) if after.words == before.words => {
                Ok(Shown::Nothing("the optimiser changes nothing".to_owned()))
            }
            Ok(after) => self.comparer.compare(before, after, launch, &self.by),
            Err(NotMade {
                status: status @ (Status::OptimizerCrash | Status::InvalidAfter),
                signature,
                ..
            }) => {
                let what: Vec<&str> = std::iter::once(status.name()).chain(signature.as_deref()).collect();
                let bucket = Bucket::new(&self.by, what.join("/"));
                let modules = vec![before];
                Ok(Shown::Failure(Box::new(Failure { bucket, modules, report: None, launch: None })))
            }
            Err(NotMade { detail, .. }) => Ok(Shown::Nothing(detail)),
        }
    }
}
