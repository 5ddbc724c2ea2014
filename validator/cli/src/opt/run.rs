//! The pipeline of one module.

use std::sync::Arc;
use std::time::Duration;

use spirv_tv_toolchain::{check_flag, OptimizeOptions};

use super::page::Page;
use super::step::StepChecker;
use super::told::Done;
use super::OptArguments;
use crate::memory::MemoryLimit;
use crate::optimiser::Tool;
use crate::progress::ProgressLine;
use crate::{print, CliError};
use spirv_tv::behaviour::Bug;
use spirv_tv::check::{settle, CheckOptions, Watch};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::optimise::plan::{plan, PlannedPass};
use spirv_tv::optimise::{
    to_bytes, Mode, Optimiser, OptimiserArguments, OptimiserFailure, OptimiserProcess, Pipeline, Session,
};
use spirv_tv::report::json;

/// What is asked of every module.
pub(super) struct Command<'a> {
    pub(super) arguments: &'a OptArguments,
    pub(super) optimiser: &'a OptimiserArguments,
    pub(super) options: CheckOptions,
    /// What objects say of the run that have no comparison with its own.
    pub(super) choices: serde_json::Value,
    /// Results name their module.
    pub(super) several: bool,
    /// The modules behind each step, where they are known already.
    pub(super) dumps: Option<&'a [Dump]>,
}

/// The module behind a step, with the step's name.
pub(crate) struct Dump {
    pub(crate) label: String,
    pub(crate) module: Module,
}

/// Gives the modules that are known, one after the other.
struct Dumps<'a>(std::slice::Iter<'a, Module>);

impl Optimiser for Dumps<'_> {
    fn run(
        &mut self,
        _words: &[u32],
        _flags: &[String],
        _timeout: Duration,
    ) -> Result<Vec<u32>, OptimiserFailure> {
        let none = || OptimiserFailure::NotRun { message: "there is no further module".to_owned() };
        self.0.next().map(|module| module.words.clone()).ok_or_else(none)
    }
}

/// Why a module has no result.
pub(super) enum Failure {
    /// It has to do with the module, or with the options on it; others may have one.
    Ours(CliError),
    /// No result can be given any more.
    World(CliError),
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        match error {
            CliError::File { .. } | CliError::Output(_) | CliError::Gate(_) | CliError::Optimiser(_) => {
                Failure::World(error)
            }
            CliError::Read(_)
            | CliError::Check(_)
            | CliError::Launch(_)
            | CliError::Usage(_)
            | CliError::Bug(_) => Failure::Ours(error),
        }
    }
}

/// The flags of the command line with those of `--pipeline`.
///
/// # Errors
/// No flags at all, or `--pipeline` for the bundled optimiser.
pub(super) fn with_pipelines(
    arguments: &OptArguments,
    optimiser: &OptimiserArguments,
) -> Result<OptimiserArguments, CliError> {
    let mut all = optimiser.clone();
    let takes_none = match arguments.optimizer.tool()? {
        Tool::Bundled if !arguments.pipeline.is_empty() => {
            return Err(CliError::usage(
                "--pipeline is for --optimizer and --spirv-opt; give the flags themselves",
            ));
        }
        Tool::Bundled => false,
        Tool::Program(program) => {
            program.look_for().map_err(CliError::usage)?;
            !program.is_like_spirv_opt()
        }
    };
    for flags in &arguments.pipeline {
        let words = shlex::split(flags);
        all.passes
            .extend(words.ok_or_else(|| CliError::usage(format!("'{flags}': a quotation mark is open")))?);
    }
    match all.passes.is_empty() && !takes_none {
        true => Err(CliError::usage("no pass: give -O, -Os or flags of spirv-opt such as --ccp")),
        false => Ok(all),
    }
}

impl<'a> Command<'a> {
    pub(super) fn new(
        arguments: &'a OptArguments,
        optimiser: &'a OptimiserArguments,
        options: CheckOptions,
        several: bool,
    ) -> Self {
        let choices = json::choices(&options);
        Command { arguments, optimiser, options, choices, several, dumps: None }
    }

    /// The steps. A program of the user that takes no flags is one step.
    fn plan(&self, words: &[u32], tool: &Tool) -> Vec<PlannedPass> {
        let passes = &self.optimiser.passes;
        if let Some(dumps) = self.dumps {
            let step =
                |dump: &Dump| PlannedPass { label: dump.label.clone(), flags: Vec::new(), legalizing: false };
            return dumps.iter().map(step).collect();
        }
        let step =
            |flag: &String| PlannedPass { label: flag.clone(), flags: vec![flag.clone()], legalizing: false };
        match tool {
            Tool::Bundled => plan(passes, words),
            Tool::Program(program) if passes.is_empty() => {
                vec![PlannedPass { label: program.to_string(), flags: Vec::new(), legalizing: false }]
            }
            Tool::Program(_) => {
                let kept = self.kept();
                let is_known = |flag: &&String| check_flag(flag).is_ok();
                let steps = passes.iter().flat_map(|flag| match Some(flag).filter(is_known) {
                    Some(known) => plan(std::slice::from_ref(known), words),
                    None => vec![step(flag)],
                });
                steps
                    .map(|step| PlannedPass { flags: [&step.flags[..], &kept[..]].concat(), ..step })
                    .collect()
            }
        }
    }

    /// The flags that say what passes must keep.
    fn kept(&self) -> Vec<String> {
        let OptimiserArguments { passes: _, preserve_interface, preserve_bindings, preserve_spec_constants } =
            self.optimiser;
        let kept = [
            (*preserve_interface, "--preserve-interface"),
            (*preserve_bindings, "--preserve-bindings"),
            (*preserve_spec_constants, "--preserve-spec-constants"),
        ];
        kept.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.to_owned()).collect()
    }

    /// All flags at once; `None` where modules are known already, or the program takes no flags.
    fn whole(&self, tool: &Tool) -> Option<Vec<String>> {
        let passes =
            Some(&self.optimiser.passes).filter(|passes| !passes.is_empty() && self.dumps.is_none())?;
        match tool {
            // It has the other flags as options.
            Tool::Bundled => Some(passes.clone()),
            Tool::Program(_) => Some([&passes[..], &self.kept()].concat()),
        }
    }

    /// Runs the passes on a module, checks them, and prints what came of it.
    pub(super) fn run(&self, name: &str, mut page: Option<&mut Page>) -> Result<Done, Failure> {
        let arguments = self.arguments;
        let watch = Arc::new(Watch::default());
        let progress = ProgressLine::start(&watch, arguments.output.color);
        let _limit = MemoryLimit::start(&watch, self.options.bounds.max_memory);
        watch.enter(format!("reading {name}"));
        let read = arguments.comparison.read.options();
        let module = Module::load(name, &read).map_err(CliError::from)?;
        // Passes drop names and renumber ids, so that targets are settled on the first module.
        let mut options = settle(&module, &self.options).map_err(CliError::from)?;
        let mut words = module.words.clone();
        let mut files: Vec<Module> =
            self.dumps.into_iter().flatten().map(|dump| dump.module.clone()).collect();
        if let Some(size) = options.launch.local_size.take() {
            let entry = options.launch.entry.as_deref();
            words = module.words_with_local_size(entry, size.0);
            options.local_size_rewritten = words != module.words;
            let lenient = ReadOptions { lenient: true, ..read.clone() };
            for file in &mut files {
                let words = file.words_with_local_size(entry, size.0);
                *file = Module::from_words(words, &file.name, &lenient).map_err(CliError::from)?;
            }
        }
        let tool = self.arguments.optimizer.tool().map_err(Failure::World)?;
        let plan = self.plan(&words, &tool);
        let process = OptimiserProcess::current(OptimizeOptions {
            target_env: read.validator.target_env,
            preserve_interface: self.optimiser.preserve_interface,
            preserve_bindings: self.optimiser.preserve_bindings,
            preserve_spec_constants: self.optimiser.preserve_spec_constants,
            max_id_bound: arguments.comparison.read.max_id_bound,
            ..OptimizeOptions::default()
        })
        .map_err(CliError::Optimiser)?;
        let whole = self.whole(&tool);
        let pipeline = Pipeline {
            plan: &plan,
            timeout: arguments.optimizer.optimizer_timeout,
            validate: (!read.lenient).then_some(&read.validator),
            validator: &read.validate_with,
            mode: if arguments.ends { Mode::Ends } else { Mode::EachStep },
            keep_going: arguments.keep_going,
            whole: whole.as_deref(),
        };
        // What was read was validated, and what a pass writes is by the pipeline.
        let is_as_read = words == module.words;
        let is_valid = is_as_read && !read.lenient && !plan.iter().any(|pass| pass.legalizing);
        let last = (is_as_read && !module.from_text && self.dumps.is_none()).then(|| module.clone());
        let known = match self.dumps {
            // Reports name the files.
            Some(_) => std::iter::once(module).filter(|_| is_as_read).chain(files.iter().cloned()).collect(),
            None => Vec::new(),
        };
        let mut checker = StepChecker::new(self, name, &options, &watch, is_valid, known);
        checker.last = last;
        checker.page = page.as_deref_mut();
        let bounds = options.bounds.clone();
        let mut optimiser: Box<dyn Optimiser> = match tool {
            _ if self.dumps.is_some() => Box::new(Dumps(files.iter())),
            Tool::Bundled => Box::new(Session::new(&process)),
            Tool::Program(program) => {
                Box::new(arguments.optimizer.external(program).map_err(Failure::World)?)
            }
        };
        let report = pipeline.run(&words, &mut *optimiser, &mut checker, &|| bounds.left());
        let StepChecker { error, bug, .. } = checker;
        drop(progress);
        if let Some(error) = error {
            return Err(Failure::World(error));
        }
        if let Some(path) = &arguments.output_file {
            std::fs::write(path, to_bytes(&report.words))
                .map_err(|error| CliError::File { path: path.clone(), error })?;
        }
        page.into_iter().for_each(|page| page.finish(name, &report));
        print(&self.told(name, &report))?;
        // Of a pass's own process.
        let bug = bug.or((report.exit_code() == Bug::EXIT_CODE).then_some(Bug::Panicked));
        if let Some(bug) = &bug {
            if !self.several {
                return Err(Failure::World(bug.clone().into()));
            }
            crate::complain(&format!("{name}: {}", CliError::Bug(bug.clone())));
        }
        Ok(Done::of(&report))
    }
}
