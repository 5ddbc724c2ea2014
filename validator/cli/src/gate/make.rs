//! The modules of a case.

use std::path::{Path, PathBuf};
use std::time::Instant;

use spirv_tv::module::{Module, ReadError, ReadOptions};
use spirv_tv::optimise::{
    take_optimiser_arguments, OptimiserArguments, OptimiserFailure, OptimiserProcess, Optimiser, Session,
};
use spirv_tv_gate::cases::{Case, Source};
use spirv_tv_gate::program::{Limits, Program, ProgramFailure};
use spirv_tv_gate::Status;
use spirv_tv_toolchain::OptimizeOptions;

use super::arguments::{CompilerArguments, GateArguments};
use super::optimiser::External;
use crate::CliError;

/// Why a case has no modules: its status, and why.
pub(super) struct NotMade {
    pub(super) status: Status,
    pub(super) detail: String,
}

impl NotMade {
    pub(super) fn new(status: Status, detail: impl ToString) -> NotMade {
        // Details are one line each.
        let detail = detail.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        NotMade { status, detail }
    }
}

/// Modules, and how long the optimiser took.
pub(super) struct Made {
    pub(super) before: Module,
    pub(super) after: Module,
    pub(super) optimizer_seconds: f64,
}

/// What optimises.
#[derive(Clone, Debug)]
pub(super) enum Tool {
    /// The bundled spirv-opt.
    Bundled,
    /// A program of the user.
    Program(Program),
}

impl Tool {
    /// What the options ask for.
    pub(super) fn of(arguments: &CompilerArguments) -> Result<Tool, CliError> {
        if let Some(program) = &arguments.optimizer {
            return Ok(Tool::Program(program.clone()));
        }
        let Some(path) = &arguments.spirv_opt else { return Ok(Tool::Bundled) };
        let quoted = crate::html::quoted(&path.to_string_lossy());
        quoted.parse().map(Tool::Program).map_err(CliError::usage)
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
    /// The child that runs the bundled spirv-opt, with the options that it has.
    session: Option<(OptimizeOptions, Session)>,
    /// The database that was opened last.
    database: Option<(PathBuf, spirv_tv_gate::fossilize::Database)>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(arguments: &'a GateArguments) -> Result<Self, CliError> {
        Ok(Maker {
            compilers: &arguments.compilers,
            tool: Tool::of(&arguments.compilers)?,
            read: arguments.read.options(),
            max_id_bound: arguments.read.max_id_bound,
            launcher: std::env::current_exe().map_err(CliError::Optimiser)?,
            session: None,
            database: None,
        })
    }

    /// The modules of a case.
    pub(super) fn make(&mut self, case: &Case) -> Result<Made, NotMade> {
        match &case.source {
            Source::Pair { before, after } => Ok(Made {
                before: self.load(before, Status::InvalidBefore)?,
                after: self.load(after, Status::InvalidAfter)?,
                optimizer_seconds: 0.0,
            }),
            Source::Module(path) => {
                let before = self.load(path, Status::InvalidBefore)?;
                let tool = self.tool.clone();
                self.optimise(before, &case.pipeline, &tool)
            }
            Source::Fossil { database, module } => {
                let before = self.fossil(database, module)?;
                let tool = self.tool.clone();
                self.optimise(before, &case.pipeline, &tool)
            }
            Source::Compiled(path) => self.compile(path),
        }
    }

    /// The same with another optimiser.
    pub(super) fn make_with(&mut self, before: Module, flags: &[String], program: &Program) -> Result<Made, NotMade> {
        self.optimise(before, flags, &Tool::Program(program.clone()))
    }

    /// What runs the passes of the case one by one.
    pub(super) fn optimiser(&mut self, flags: &OptimiserArguments) -> Result<Box<dyn Optimiser + '_>, OptimiserFailure> {
        match &self.tool {
            Tool::Program(program) => {
                let memory = self.compilers.optimizer_memory;
                Ok(Box::new(External { program, launcher: &self.launcher, memory }))
            }
            Tool::Bundled => Ok(Box::new(self.session(flags)?)),
        }
    }

    fn load(&self, path: &Path, status: Status) -> Result<Module, NotMade> {
        Module::load(&path.to_string_lossy(), &self.read).map_err(|error| unread(status, error))
    }

    fn fossil(&mut self, path: &Path, name: &str) -> Result<Module, NotMade> {
        let invalid = |why: String| NotMade::new(Status::InvalidBefore, why);
        if self.database.as_ref().is_none_or(|(open, _)| open != path) {
            let database = spirv_tv_gate::fossilize::Database::open(path);
            let database = database.map_err(|error| invalid(error.to_string()))?;
            self.database = Some((path.to_owned(), database));
        }
        let (_, database) = self.database.as_ref().ok_or_else(|| invalid("no database".to_owned()))?;
        let words = database.words(name).map_err(|error| invalid(error.to_string()))?;
        let name = format!("{}:{name}", path.display());
        Module::from_words(words, &name, &self.read).map_err(|error| unread(Status::InvalidBefore, error))
    }

    fn compile(&self, path: &Path) -> Result<Made, NotMade> {
        let CompilerArguments { before_cmd, after_cmd, optimizer_timeout, optimizer_memory, .. } = self.compilers;
        let limits = Limits { time: *optimizer_timeout, memory: *optimizer_memory };
        let begun = Instant::now();
        let mut compiled = [(before_cmd, "before", Status::InvalidBefore), (after_cmd, "after", Status::OptimizerCrash)]
            .into_iter()
            .map(|(command, name, crashed)| {
                let Some(command) = command else {
                    let detail = format!("{} is a source: --before-cmd and --after-cmd compile it", path.display());
                    return Err(NotMade::new(Status::InvalidBefore, detail));
                };
                let written = command.run_on(&self.launcher, path, &[], limits).map_err(|failure| {
                    let detail = format!("--{name}-cmd: {failure}");
                    let status = match failure {
                        ProgramFailure::TimedOut { .. } if crashed == Status::OptimizerCrash => Status::Timeout,
                        ProgramFailure::NotRun { .. }
                        | ProgramFailure::TimedOut { .. }
                        | ProgramFailure::Crashed { .. }
                        | ProgramFailure::Failed { .. }
                        | ProgramFailure::NoOutput { .. } => crashed,
                    };
                    NotMade::new(status, detail)
                })?;
                let invalid = match name {
                    "before" => Status::InvalidBefore,
                    _ => Status::InvalidAfter,
                };
                let name = format!("{} ({name})", path.display());
                Module::from_bytes(&written.bytes, &name, &self.read).map_err(|error| unread(invalid, error))
            });
        let mut next = || compiled.next().unwrap_or_else(|| Err(NotMade::new(Status::ToolBug, "no command")));
        let (before, after) = (next()?, next()?);
        Ok(Made { before, after, optimizer_seconds: begun.elapsed().as_secs_f64() })
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
        let timeout = self.compilers.optimizer_timeout;
        let after = match tool {
            Tool::Program(program) => {
                let memory = self.compilers.optimizer_memory;
                let external = External { program, launcher: &self.launcher, memory };
                let bytes = external.bytes(&before.words, flags, timeout).map_err(|failure| {
                    not_made(&super::optimiser::failure(failure))
                })?;
                Module::from_bytes(&bytes, "after", &self.read)
            }
            Tool::Bundled => {
                let arguments = flags_of(flags)?;
                let session = self.session(&arguments).map_err(|failure| not_made(&failure))?;
                let words = session
                    .run(&before.words, &arguments.passes, timeout)
                    .map_err(|failure| not_made(&failure))?;
                if words == before.words {
                    let after = Module { name: "after".to_owned(), ..before.clone() };
                    return Ok(Made { before, after, optimizer_seconds: begun.elapsed().as_secs_f64() });
                }
                Module::from_words(words, "after", &self.read)
            }
        };
        let optimizer_seconds = begun.elapsed().as_secs_f64();
        let after = after.map_err(|error| unread(Status::InvalidAfter, error))?;
        Ok(Made { before, after, optimizer_seconds })
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

fn unread(status: Status, error: ReadError) -> NotMade {
    match error {
        // Says nothing of the module.
        ReadError::Program { .. } => NotMade::new(Status::ToolBug, error),
        ReadError::Io { .. }
        | ReadError::NotSpirv { .. }
        | ReadError::Malformed { .. }
        | ReadError::Assemble { .. }
        | ReadError::Invalid { .. } => NotMade::new(status, error),
    }
}

fn not_made(failure: &OptimiserFailure) -> NotMade {
    let status = match failure {
        OptimiserFailure::Crashed { .. } | OptimiserFailure::Failed { .. } | OptimiserFailure::NotRun { .. } => {
            Status::OptimizerCrash
        }
        OptimiserFailure::Flag { .. } => Status::InvalidBefore,
        OptimiserFailure::Invalid { .. } => Status::InvalidAfter,
        OptimiserFailure::TimedOut { .. } => Status::Timeout,
        OptimiserFailure::Bug { .. } => Status::ToolBug,
    };
    NotMade::new(status, failure)
}
