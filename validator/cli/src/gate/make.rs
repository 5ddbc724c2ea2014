//! The modules of a case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use spirv_tv::launch::LaunchOptions;
use spirv_tv::module::{Module, ReadError, ReadOptions};
use spirv_tv::optimise::{
    take_optimiser_arguments, Optimiser, OptimiserArguments, OptimiserFailure, OptimiserProcess, Session,
};
use spirv_tv_gate::cases::{Case, Source};
use spirv_tv_gate::fossilize::{Database, ShaderCase};
use spirv_tv_gate::program::{Limits, Program, ProgramFailure};
use spirv_tv_gate::{signature, Status};
use spirv_tv_toolchain::OptimizeOptions;

use super::arguments::{CompilerArguments, GateArguments};
use super::options;
use crate::check::mapped;
use crate::optimiser::{self, External, Tool};
use crate::CliError;

/// Why a case has no modules: its status, and why.
pub(crate) struct NotMade {
    pub(crate) status: Status,
    pub(crate) detail: String,
    /// What tells it from other failures of this status.
    pub(crate) signature: Option<String>,
    /// The module lacks what the options or the launch name.
    pub(crate) is_misfit: bool,
}

impl NotMade {
    pub(super) fn new(status: Status, detail: impl ToString) -> NotMade {
        // Details are one line each.
        let detail = detail.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        NotMade { status, detail, signature: None, is_misfit: false }
    }

    fn with(self, signature: impl Into<Option<String>>) -> NotMade {
        NotMade { signature: signature.into(), ..self }
    }
}

/// Modules, and how long the optimiser took.
pub(super) struct Made {
    pub(super) before: Module,
    pub(super) after: Module,
    pub(super) optimizer_seconds: f64,
    /// What the case says of the launch by itself.
    pub(super) launch: LaunchOptions,
}

impl Made {
    fn new(before: Module, after: Module, begun: Instant) -> Made {
        let optimizer_seconds = begun.elapsed().as_secs_f64();
        Made { before, after, optimizer_seconds, launch: LaunchOptions::default() }
    }
}

/// Makes modules.
pub(super) struct Maker<'a> {
    pub(super) compilers: &'a CompilerArguments,
    pub(super) tool: Tool,
    pub(super) read: ReadOptions,
    pub(super) max_id_bound: Option<u32>,
    /// This program.
    pub(super) launcher: PathBuf,
    /// Memory for an optimiser of the user, in bytes.
    memory: u64,
    /// The child that runs the bundled spirv-opt, with the options that it has.
    session: Option<(OptimizeOptions, Session)>,
    /// The module that was read last, which the next case may begin with, too.
    last: Option<(PathBuf, Module)>,
    /// The shaders, by name, of the database that was opened last.
    database: Option<(PathBuf, BTreeMap<String, ShaderCase>)>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(arguments: &'a GateArguments) -> Result<Self, CliError> {
        Ok(Maker {
            compilers: &arguments.compilers,
            tool: arguments.compilers.choice.tool()?,
            read: arguments.comparison.read.options(),
            max_id_bound: arguments.comparison.read.max_id_bound,
            launcher: std::env::current_exe().map_err(CliError::Optimiser)?,
            memory: arguments.compilers.choice.memory(options::jobs(arguments)?),
            session: None,
            last: None,
            database: None,
        })
    }

    /// The modules of a case.
    pub(super) fn make(&mut self, case: &Case) -> Result<Made, NotMade> {
        let made = self.made(case)?;
        let after = mapped(&made.before, made.after, &self.compilers.map, &self.read);
        let after = after.map_err(|error| match error {
            // What the options name is not there: that says nothing of the compiler.
            CliError::Usage(_) => NotMade::new(Status::InvalidBefore, error),
            CliError::Read(_)
            | CliError::Check(_)
            | CliError::Launch(_)
            | CliError::File { .. }
            | CliError::Output(_)
            | CliError::Gate(_)
            | CliError::Optimiser(_)
            | CliError::Bug(_) => NotMade::new(Status::InvalidAfter, error),
        })?;
        Ok(Made { after, ..made })
    }

    fn made(&mut self, case: &Case) -> Result<Made, NotMade> {
        match &case.source {
            Source::Pair { before, after } => Ok(Made {
                before: self.load(before, Status::InvalidBefore)?,
                after: self.load(after, Status::InvalidAfter)?,
                optimizer_seconds: 0.0,
                launch: LaunchOptions::default(),
            }),
            Source::Module(_) | Source::Fossil { .. } => {
                let Some((before, launch)) = self.optimised(case)? else {
                    return Err(NotMade::new(Status::ToolBug, "a case without a module"));
                };
                let tool = self.tool.clone();
                let made = self.optimise(before, &case.pipeline, &tool)?;
                Ok(Made { launch, ..made })
            }
            Source::Compiled(path) => self.compile(path),
        }
    }

    /// The module that the optimiser runs on, with what its pipeline says of the launch; `None` for cases without an
    /// optimiser.
    pub(super) fn optimised(&mut self, case: &Case) -> Result<Option<(Module, LaunchOptions)>, NotMade> {
        match &case.source {
            Source::Pair { .. } | Source::Compiled(_) => Ok(None),
            Source::Module(path) => {
                let before = match &self.last {
                    Some((last, module)) if last == path => module.clone(),
                    Some(_) | None => {
                        let module = self.load(path, Status::InvalidBefore)?;
                        self.last = Some((path.clone(), module.clone()));
                        module
                    }
                };
                Ok(Some((before, LaunchOptions::default())))
            }
            Source::Fossil { database, module } => self.fossil(database, module).map(Some),
        }
    }

    /// The same with another optimiser.
    pub(super) fn make_with(&mut self, case: &Case, program: &Program) -> Result<Made, NotMade> {
        let own = std::mem::replace(&mut self.tool, Tool::Program(program.clone()));
        let made = self.make(case);
        self.tool = own;
        made
    }

    /// What runs the passes of the case one by one.
    pub(super) fn optimiser(
        &mut self,
        flags: &OptimiserArguments,
    ) -> Result<Box<dyn Optimiser + '_>, OptimiserFailure> {
        match self.tool.clone() {
            Tool::Program(program) => Ok(Box::new(self.external(program))),
            Tool::Bundled => Ok(Box::new(self.session(flags)?)),
        }
    }

    /// The modules behind each pass of a whole run, where the optimiser tells them.
    pub(super) fn dumps(&self, words: &[u32], flags: &[String]) -> Vec<(String, Vec<u32>)> {
        match &self.tool {
            Tool::Program(program) if program.is_like_spirv_opt() => {
                let timeout = self.compilers.choice.optimizer_timeout;
                self.external(program.clone()).dumps(words, flags, timeout)
            }
            Tool::Program(_) | Tool::Bundled => Vec::new(),
        }
    }

    fn external(&self, program: Program) -> External {
        External { program, launcher: self.launcher.clone(), memory: self.memory }
    }

    fn load(&self, path: &Path, status: Status) -> Result<Module, NotMade> {
        Module::load(&path.to_string_lossy(), &self.read).map_err(|error| unread(status, error))
    }

    /// A shader of a database, with what its pipeline says of the launch.
    fn fossil(&mut self, path: &Path, name: &str) -> Result<(Module, LaunchOptions), NotMade> {
        let invalid = |why: String| NotMade::new(Status::InvalidBefore, why);
        if self.database.as_ref().is_none_or(|(open, _)| open != path) {
            let database = Database::open(path).map_err(|error| invalid(error.to_string()))?;
            let shaders = database.cases().into_iter().map(|shader| (shader.name.clone(), shader));
            self.database = Some((path.to_owned(), shaders.collect()));
        }
        let shader = self.database.as_ref().and_then(|(_, shaders)| shaders.get(name));
        let shader = shader.ok_or_else(|| invalid(format!("{}: there is no {name}", path.display())))?;
        let mut launch = LaunchOptions { entry: shader.entry.clone(), ..LaunchOptions::default() };
        for (id, bytes) in &shader.specialisation {
            let bits = bytes.iter().rev().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
            launch.spec.push(format!("{id}={bits:#x}").parse().map_err(invalid)?);
        }
        let name = format!("{}:{name}", path.display());
        let module = Module::from_words(shader.words.to_vec(), &name, &self.read);
        Ok((module.map_err(|error| unread(Status::InvalidBefore, error))?, launch))
    }

    fn compile(&self, path: &Path) -> Result<Made, NotMade> {
        let CompilerArguments { before_cmd, after_cmd, choice, .. } = self.compilers;
        let limits = Limits::new(choice.optimizer_timeout, self.memory);
        let begun = Instant::now();
        let mut compiled =
            [(before_cmd, "before", Status::InvalidBefore), (after_cmd, "after", Status::OptimizerCrash)]
                .into_iter()
                .map(|(command, name, crashed)| {
                    let Some(command) = command else {
                        let detail = format!(
                            "{} is a source: --before-cmd and --after-cmd compile it",
                            path.display()
                        );
                        return Err(NotMade::new(Status::InvalidBefore, detail));
                    };
                    let written = command.run_on(&self.launcher, path, &[], limits).map_err(|failure| {
                        let detail = format!("--{name}-cmd: {failure}");
                        let status = match &failure {
                            ProgramFailure::TimedOut { .. } if crashed == Status::OptimizerCrash => {
                                Status::Timeout
                            }
                            ProgramFailure::NotRun { .. }
                            | ProgramFailure::TimedOut { .. }
                            | ProgramFailure::Crashed { .. }
                            | ProgramFailure::Failed { .. }
                            | ProgramFailure::NoOutput { .. } => crashed,
                        };
                        NotMade::new(status, detail).with(failure.signature())
                    })?;
                    let invalid = match name {
                        "before" => Status::InvalidBefore,
                        _ => Status::InvalidAfter,
                    };
                    let name = format!("{} ({name})", path.display());
                    Module::from_bytes(&written.bytes, &name, &self.read)
                        .map_err(|error| unread(invalid, error))
                });
        let mut next = || compiled.next().unwrap_or_else(|| Err(NotMade::new(Status::ToolBug, "no command")));
        let (before, after) = (next()?, next()?);
        Ok(Made::new(before, after, begun))
    }

    fn session(&mut self, flags: &OptimiserArguments) -> Result<&mut Session, OptimiserFailure> {
        let options = OptimizeOptions {
            target_env: self.read.validator.target_env,
            preserve_interface: flags.preserve_interface,
            preserve_bindings: flags.preserve_bindings,
            preserve_spec_constants: flags.preserve_spec_constants,
            max_id_bound: self.max_id_bound,
            ..OptimizeOptions::default()
        };
        if self.session.as_ref().is_none_or(|(other, _)| *other != options) {
            let process = OptimiserProcess::current(options.clone())
                .map_err(|error| OptimiserFailure::NotRun { message: error.to_string() })?;
            self.session = Some((options, Session::new(&process)));
        }
        let missing = || OptimiserFailure::NotRun { message: "no session".to_owned() };
        self.session.as_mut().map(|(_, session)| session).ok_or_else(missing)
    }

    fn optimise(&mut self, before: Module, flags: &[String], tool: &Tool) -> Result<Made, NotMade> {
        let begun = Instant::now();
        let timeout = self.compilers.choice.optimizer_timeout;
        let after = match tool {
            Tool::Program(program) => {
                let external = self.external(program.clone());
                let bytes = external.bytes(&before.words, flags, timeout).map_err(|failure| {
                    let signature = failure.signature();
                    not_made(&optimiser::failure(failure)).with(signature)
                })?;
                Module::from_bytes(&bytes, "after", &self.read)
            }
            Tool::Bundled if flags.is_empty() => {
                let mut after = before.clone();
                after.name = "after".to_owned();
                return Ok(Made { optimizer_seconds: 0.0, ..Made::new(before, after, begun) });
            }
            Tool::Bundled => {
                let arguments = flags_of(flags)?;
                let session = self.session(&arguments).map_err(|failure| not_made(&failure))?;
                let words = session
                    .run(&before.words, &arguments.passes, timeout)
                    .map_err(|failure| not_made(&failure))?;
                if words == before.words {
                    let mut after = before.clone();
                    after.name = "after".to_owned();
                    return Ok(Made::new(before, after, begun));
                }
                Module::from_words(words, "after", &self.read)
            }
        };
        let elapsed = begun.elapsed();
        let after = after.map_err(|error| unread(Status::InvalidAfter, error))?;
        Ok(Made { optimizer_seconds: elapsed.as_secs_f64(), ..Made::new(before, after, begun) })
    }
}

/// The flags of a pipeline as the bundled spirv-opt takes them.
pub(super) fn flags_of(flags: &[String]) -> Result<OptimiserArguments, NotMade> {
    let taken = take_optimiser_arguments(flags.iter().map(Into::into).collect());
    let (taken, rest) = taken.map_err(|error| NotMade::new(Status::InvalidBefore, error))?;
    match rest.first() {
        Some(other) => {
            let detail = format!("{} is no flag of the bundled spirv-opt", other.to_string_lossy());
            Err(NotMade::new(Status::InvalidBefore, detail))
        }
        None => Ok(taken),
    }
}

/// That a module cannot be read.
pub(crate) fn unread(status: Status, error: ReadError) -> NotMade {
    let signature = match &error {
        // Says nothing of the module.
        ReadError::Program { .. } => return NotMade::new(Status::ToolBug, error),
        ReadError::Invalid { objection, .. } => Some(signature::of_message(&objection.message)),
        ReadError::Io { .. }
        | ReadError::NotSpirv { .. }
        | ReadError::Malformed { .. }
        | ReadError::Assemble { .. } => None,
    };
    NotMade::new(status, error).with(signature)
}

/// That an optimiser makes no module.
pub(crate) fn not_made(failure: &OptimiserFailure) -> NotMade {
    let status = match failure {
        OptimiserFailure::Crashed { .. }
        | OptimiserFailure::Failed { .. }
        | OptimiserFailure::NotRun { .. } => Status::OptimizerCrash,
        OptimiserFailure::Flag { .. } => Status::InvalidBefore,
        OptimiserFailure::Invalid { .. } => Status::InvalidAfter,
        OptimiserFailure::TimedOut { .. } => Status::Timeout,
        OptimiserFailure::Bug { .. } => Status::ToolBug,
    };
    let signature = match failure {
        OptimiserFailure::Crashed { signal, stderr } => {
            signature::of_said(stderr).or_else(|| signal.map(|signal| format!("signal-{signal}")))
        }
        OptimiserFailure::Failed { message } | OptimiserFailure::Invalid { message } => {
            Some(signature::of_message(message))
        }
        OptimiserFailure::NotRun { .. } => Some("not-started".to_owned()),
        OptimiserFailure::Flag { .. } | OptimiserFailure::TimedOut { .. } | OptimiserFailure::Bug { .. } => {
            None
        }
    };
    NotMade::new(status, failure).with(signature)
}
