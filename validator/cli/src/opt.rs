//! `spirv-tv opt`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{json, Value};
use spirv_tv_toolchain::OptimizeOptions;

use super::arguments::parse_seconds;
use super::check::PairArguments;
use super::memory::MemoryLimit;
use super::progress::ProgressLine;
use super::{
    caught, format, format::Series, html, painter, print, save, ChoiceArguments, CliError, Format,
    LaunchArguments, OutputArguments, ReadArguments,
};
use spirv_tv::behaviour::Bug;
use spirv_tv::check::{check_in_series, settle, CheckOptions, CheckReport, Searches, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::launch::OutOfBounds;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::optimise::plan::plan;
use spirv_tv::optimise::report::{ends_object, json_objects, remarks, rows, step_object, table};
use spirv_tv::optimise::{
    CheckResult, Checker, Mode, OptimiserArguments, OptimiserProcess, Outcome, Pipeline, Report, Step,
};
use spirv_tv::report::html::{Extent, Series as Page};
use spirv_tv::report::{dot, json, text};

/// Options of `opt`, beside the flags of spirv-opt (`-O`, `-Os`, `-Oconfig=FILE`, every pass with its
/// argument, `--preserve-interface`, `--preserve-bindings`, `--preserve-spec-constants`).
#[derive(Debug, Args)]
#[command(override_usage = "spirv-tv opt [OPTIONS] MODULE [-O | -Os | spirv-opt pass flags ...]")]
pub struct OptArguments {
    /// The module to optimise
    #[arg(value_name = "MODULE")]
    pub(crate) module: String,
    /// Write the result
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output_file: Option<PathBuf>,
    /// Compare the first module with the last only, and bisect if that violates
    #[arg(long)]
    pub(crate) ends: bool,
    /// Leave a pass out that fails, instead of ending there
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Time for the check of each step
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Choices and bounds")]
    pub(crate) step_timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) pair: PairArguments,
    #[command(flatten)]
    pub(crate) launch: LaunchArguments,
    #[command(flatten)]
    pub(crate) choices: ChoiceArguments,
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

pub(super) fn run(arguments: &OptArguments, optimiser: &OptimiserArguments) -> Result<u8, CliError> {
    if optimiser.passes.is_empty() {
        return Err(CliError::usage("no pass: give -O, -Os or flags of spirv-opt such as --ccp"));
    }
    let begun = Instant::now();
    let options = arguments.choices.options(arguments.launch.options()?, arguments.read.target_env_name())?;
    let mut options = arguments.pair.apply(options);
    options.bounds.step_timeout = arguments.step_timeout;
    let read = arguments.read.options();
    let watch = Arc::new(Watch::default());
    let progress = ProgressLine::start(&watch, arguments.output.color);
    let _limit = MemoryLimit::start(&watch, options.bounds.max_memory);
    watch.enter("reading");
    let module = Module::load(&arguments.module, &read)?;
    // Passes drop names and renumber ids, so that targets are settled on the first module.
    let mut options = settle(&module, &options)?;
    let mut words = module.words.clone();
    if let Some(size) = options.launch.local_size.take() {
        words = module.words_with_local_size(options.launch.entry.as_deref(), size.0);
        options.local_size_rewritten = words != module.words;
    }
    let plan = plan(&optimiser.passes, &words);
    let process = OptimiserProcess::current(OptimizeOptions {
        target_env: read.validator.target_env,
        preserve_interface: optimiser.preserve_interface,
        preserve_bindings: optimiser.preserve_bindings,
        preserve_spec_constants: optimiser.preserve_spec_constants,
        max_id_bound: arguments.read.max_id_bound,
        ..OptimizeOptions::default()
    })
    .map_err(CliError::Optimiser)?;
    let pipeline = Pipeline {
        plan: &plan,
        process: &process,
        validate: (!read.lenient).then_some(&read.validator),
        mode: if arguments.ends { Mode::Ends } else { Mode::EachStep },
        keep_going: arguments.keep_going,
    };
    // What was read was validated, and what a pass writes is by the pipeline.
    let is_as_read = words == module.words;
    let is_valid = is_as_read && !read.lenient && !plan.iter().any(|pass| pass.legalizing);
    let mut checker = StepChecker {
        options: &options,
        read: ReadOptions { lenient: true, is_valid, ..read.clone() },
        output: &arguments.output,
        full: arguments.pair.full,
        save_failing: arguments.pair.save_failing.as_deref(),
        arguments: &arguments.read,
        watch: &watch,
        searches: Searches::default(),
        last: (is_as_read && !module.from_text).then_some(module),
        choices: (arguments.output.format.series() == Series::Stream).then(|| json::choices(&options)),
        page: arguments.output.html.is_some().then(Page::default),
        begun,
        error: None,
        bug: None,
    };
    let bounds = options.bounds.clone();
    let report = pipeline.run(&words, &mut checker, &|| bounds.left());
    let StepChecker { error, bug, page, .. } = checker;
    drop(progress);
    if let Some(error) = error {
        return Err(error);
    }
    if let Some(path) = &arguments.output_file {
        let bytes: Vec<u8> = report.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(path, bytes).map_err(|error| CliError::File { path: path.clone(), error })?;
    }
    if let Some((path, page)) = arguments.output.html.as_ref().zip(page) {
        let extent = html::extent(None, &options.bounds, begun, false);
        let title = format!("opt {}", arguments.module);
        html::write(path, &page.page(&title, &rows(&report), &remarks(&report), &extent))?;
    }
    print(&rendered(&report, &options, &arguments.output))?;
    if let Some(bug) = bug {
        return Err(bug.into());
    }
    if report.exit_code() == Bug::EXIT_CODE {
        // Of a pass's own process.
        return Err(Bug::Panicked.into());
    }
    Ok(report.exit_code())
}

fn rendered(report: &Report<StepResult>, options: &CheckOptions, output: &OutputArguments) -> String {
    let painter = painter(output.color);
    match output.format.series() {
        // What is left behind the steps.
        Series::Stream => ends_object(report).map_or_else(String::new, |ends| format!("{ends}\n")),
        Series::Objects => {
            let objects = json_objects(report, &json::choices(options));
            objects.iter().map(|object| format!("{object}\n")).collect()
        }
        Series::Table if output.format == Format::Dot => {
            let ends = report.ends.iter();
            let checked = report.steps.iter().filter_map(|step| match &step.outcome {
                Outcome::Checked(result) => Some(result),
                _ => None,
            });
            let told = |result: &StepResult| match &result.told {
                Told::Text(graph) => graph.clone(),
                Told::Object(_) => String::new(),
            };
            ends.chain(checked).map(told).collect()
        }
        Series::Table if output.quiet => quiet(report),
        Series::Table => {
            let mut text = table(report, true);
            for step in &report.steps {
                if let Outcome::Checked(StepResult { told: Told::Text(told), .. }) = &step.outcome {
                    if !told.is_empty() {
                        text.push_str(&format!("\n{}\n{told}", painter.heading(&step.pass)));
                    }
                }
            }
            text
        }
    }
}

/// One line for each comparison and each failure.
fn quiet(report: &Report<StepResult>) -> String {
    let told = |result: &StepResult| match &result.told {
        Told::Text(line) => line.clone(),
        Told::Object(object) => object.to_string(),
    };
    let mut lines = String::new();
    if let Some(ends) = &report.ends {
        lines.push_str(&format!("{}: {}\n", report.ends_label(), told(ends)));
    }
    for step in &report.steps {
        match &step.outcome {
            Outcome::Checked(result) => lines.push_str(&format!("{}: {}\n", step.pass, told(result))),
            Outcome::Failed(failure) => {
                lines.push_str(&format!("{}: optimiser-failed: {failure}\n", step.pass));
            }
            Outcome::OutOfTime => lines.push_str(&format!("{}: not run: --timeout\n", step.pass)),
            Outcome::Unchanged | Outcome::NotChecked | Outcome::NotRun => {}
        }
    }
    if lines.is_empty() {
        lines.push_str("no pass changed the module\n");
    }
    lines
}

/// What comparing one step gave, as far as it is told: everything that was found may be large.
struct StepResult {
    verdict: Option<Verdict>,
    code: u8,
    told: Told,
}

/// A comparison as it is printed.
enum Told {
    Object(Value),
    /// With `--quiet` a line, else what there is to say beside the verdict.
    Text(String),
}

impl StepResult {
    fn of_report(report: &CheckReport, output: &OutputArguments, full: bool) -> Self {
        let is_clamped = report.warnings.iter().any(|warning| warning == CLAMPED);
        let says_more = !matches!(report.verdict, Verdict::Refines | Verdict::Vacuous) || is_clamped;
        let painter = painter(output.color);
        let told = match (output.format.is_json(), output.quiet) {
            (true, _) => Told::Object(json::check_value(report)),
            (false, _) if output.format == Format::Dot => Told::Text(match says_more {
                true => dot::check(report),
                false => String::new(),
            }),
            (false, true) => Told::Text(text::check_line(report, painter)),
            (false, false) if says_more => Told::Text(format::check_text(report, output, full)),
            (false, false) => Told::Text(String::new()),
        };
        StepResult { verdict: Some(report.verdict), code: report.exit_code(output.strict), told }
    }

    fn of_error(error: &CliError, output: &OutputArguments) -> Self {
        let told = match (output.format.is_json(), error.bug()) {
            (true, Some(bug)) => {
                Told::Object(json!({ "schema": json::CHECK_SCHEMA, "verdict": null, "bug": bug.to_string() }))
            }
            (true, None) => {
                let reasons = [error.to_string()];
                Told::Object(json!({ "schema": json::CHECK_SCHEMA, "verdict": "error", "reasons": reasons }))
            }
            (false, _) if output.format == Format::Dot => Told::Text(String::new()),
            (false, _) if output.quiet => Told::Text(format!("error: {error}")),
            (false, _) => Told::Text(format!("error: {error}\n")),
        };
        let verdict = error.bug().is_none().then_some(Verdict::Error);
        StepResult { verdict, code: error.exit_code(), told }
    }
}

impl CheckResult for StepResult {
    fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    fn exit_code(&self) -> u8 {
        self.code
    }

    fn check_object(&self) -> Value {
        match &self.told {
            Told::Object(object) => object.clone(),
            Told::Text(_) => Value::Null,
        }
    }
}

/// The pass that clamps indices for devices without robust access.
const CLAMPS: &str = "--graphics-robust-access";

/// What a report says of its check.
const CLAMPED: &str = "after is judged without robust access (--after-out-of-bounds undefined), because \
                       --graphics-robust-access clamps for devices without it";

struct StepChecker<'a> {
    options: &'a CheckOptions,
    read: ReadOptions,
    output: &'a OutputArguments,
    /// `--full`.
    full: bool,
    save_failing: Option<&'a Path>,
    arguments: &'a ReadArguments,
    watch: &'a Watch,
    /// A step's module before is that after the step before it.
    searches: Searches,
    last: Option<Module>,
    /// Steps are printed as they are known; what their objects say of the run.
    choices: Option<Value>,
    /// `--html`: what is known of the page so far.
    page: Option<Page>,
    /// When the command began.
    begun: Instant,
    /// What could not be written.
    error: Option<CliError>,
    /// What went wrong in a comparison, though it be one of a bisection.
    bug: Option<Bug>,
}

impl StepChecker<'_> {
    /// The options of the check of a step.
    fn options_of(&self, label: &str) -> CheckOptions {
        let CheckOptions { out_of_bounds, after_out_of_bounds, .. } = self.options;
        let clamps = label == CLAMPS && *out_of_bounds != OutOfBounds::Undefined;
        let undefined = clamps.then_some(OutOfBounds::Undefined);
        CheckOptions { after_out_of_bounds: after_out_of_bounds.or(undefined), ..self.options.clone() }
    }

    fn compare(&mut self, before: &[u32], after: &[u32], label: &str) -> Result<CheckReport, CliError> {
        let options = self.options_of(label);
        let before = match self.last.take().filter(|last| last.words == before) {
            Some(mut last) => {
                last.name = "before".to_owned();
                last
            }
            None => Module::from_words(before.to_vec(), "before", &self.read)?,
        };
        let after = Module::from_words(after.to_vec(), "after", &self.read)?;
        let mut report = check_in_series(&before, &after, &options, self.watch, &mut self.searches)?;
        if options.after_out_of_bounds != self.options.after_out_of_bounds {
            report.warnings.push(CLAMPED.to_owned());
        }
        if let Some(folder) = self.save_failing {
            if report.verdict == Verdict::Violates {
                if let Err(error) = save::failing(folder, &before, &after, &report, &options, self.arguments)
                {
                    self.error = Some(error);
                }
            }
        }
        if let Some(page) = &mut self.page {
            let extent = html::extent(None, &options.bounds, self.begun, self.full);
            page.add(label, &report, &Extent { replay: Default::default(), ..extent });
        }
        self.last = Some(after);
        Ok(report)
    }
}

impl Checker for StepChecker<'_> {
    type Result = StepResult;

    fn check(&mut self, before: &[u32], after: &[u32], label: &str) -> StepResult {
        match caught(|| self.compare(before, after, label)).unwrap_or_else(|bug| Err(bug.into())) {
            Ok(report) => StepResult::of_report(&report, self.output, self.full),
            Err(error) => {
                self.bug = self.bug.take().or(error.bug().cloned());
                if let Some(page) = &mut self.page {
                    page.note(label, &error.to_string());
                }
                StepResult::of_error(&error, self.output)
            }
        }
    }

    fn step_started(&mut self, number: usize, total: usize, pass: &str) {
        self.watch.title(format!("{number}/{total} {pass}"));
    }

    fn step_finished(&mut self, number: usize, step: &Step<StepResult>) {
        let Some(choices) = &self.choices else { return };
        if let Some(object) = step_object(number, step, choices) {
            self.error = self.error.take().or(print(&format!("{object}\n")).err());
        }
    }
}
