//! The comparison of one step.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::page::Page;
use super::run::Command;
use crate::format::{Format, Series};
use crate::{asm, caught, painter, print, save, CliError, OutputArguments, ReadArguments};
use spirv_tv::behaviour::Bug;
use spirv_tv::check::{check_in_series, CheckOptions, CheckReport, Searches, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::launch::OutOfBounds;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::optimise::report::{step_object, About};
use spirv_tv::optimise::{CheckResult, Checker, Step};
use spirv_tv::report::{brief, dot, json, text, warnings};

/// What comparing one step gave, as far as it is told: everything that was found may be large.
pub(super) struct StepResult {
    verdict: Option<Verdict>,
    code: u8,
    gist: String,
    is_proved: bool,
    inputs: usize,
    pub(super) told: Told,
}

/// A comparison as it is printed.
pub(super) enum Told {
    /// For programs.
    Object(Value),
    /// With `--quiet`.
    Line(String),
    /// The graph of a comparison that is no refinement; else empty.
    Graph(String),
    /// Beside the row of the step.
    Text {
        /// What there is to say beside the verdict; empty for a refinement.
        report: String,
        /// Why there is no answer, if so.
        causes: Vec<String>,
        /// Warnings, and what qualifies the verdict.
        remarks: Vec<String>,
        /// What the verdict rests on: the model, the launches, the bounds.
        rests_on: [Vec<String>; 3],
    },
}

impl StepResult {
    fn of_report(mut report: CheckReport, output: &OutputArguments, full: bool) -> Self {
        let (verdict, code) = (Some(report.verdict), report.exit_code(output.strict));
        let (gist, is_proved, inputs) = (brief::gist(&report), report.same_program, report.tried().inputs);
        let says_more = !matches!(report.verdict, Verdict::Refines | Verdict::Vacuous);
        let told = match (output.format.is_json(), output.quiet) {
            (true, _) => Told::Object(json::check_value(&report)),
            (false, _) if output.format == Format::Dot => {
                Told::Graph(if says_more { dot::check(&report) } else { String::new() })
            }
            (false, true) => Told::Line(text::check_line(&report, painter(output.color))),
            (false, false) => {
                let causes = match report.verdict {
                    Verdict::Inconclusive => brief::causes(&report),
                    _ => Vec::new(),
                };
                let mut remarks = warnings(&report);
                if !says_more {
                    remarks.extend(brief::qualifiers(&report));
                }
                let rests_on = brief::rests_on(&report);
                // Told once for all steps.
                report.warnings.clear();
                report.runs.iter_mut().for_each(|run| run.comparison.notes.clear());
                let report = match says_more {
                    true => text::check_in_series(&report, full, painter(output.color)),
                    false => String::new(),
                };
                Told::Text { report, causes, remarks, rests_on }
            }
        };
        StepResult { verdict, code, gist, is_proved, inputs, told }
    }

    fn of_error(error: &CliError, options: &CheckOptions, output: &OutputArguments) -> Self {
        let names = ["before", "after"];
        let told = match (output.format.is_json(), error.bug()) {
            (true, Some(bug)) => Told::Object(json::check_bug(names, bug, options)),
            (true, None) => Told::Object(json::check_error(names, &error.to_string(), options)),
            (false, _) if output.format == Format::Dot => Told::Graph(String::new()),
            (false, _) if output.quiet => Told::Line(format!("error: {error}")),
            (false, _) => Told::Text {
                report: format!("error: {error}"),
                causes: Vec::new(),
                remarks: Vec::new(),
                rests_on: Default::default(),
            },
        };
        let verdict = error.bug().is_none().then_some(Verdict::Error);
        let (gist, is_proved, inputs) = (String::new(), false, 0);
        StepResult { verdict, code: error.exit_code(), gist, is_proved, inputs, told }
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
            Told::Line(_) | Told::Graph(_) | Told::Text { .. } => Value::Null,
        }
    }

    fn gist(&self) -> String {
        self.gist.clone()
    }

    fn is_proved(&self) -> bool {
        self.is_proved
    }

    fn inputs(&self) -> usize {
        self.inputs
    }
}

/// The pass that clamps indices for devices without robust access.
const CLAMPS: &str = "--graphics-robust-access";

/// What a report says of its check.
const CLAMPED: &str = "after is judged without robust access (--after-out-of-bounds undefined), because \
                       --graphics-robust-access clamps for devices without it";

pub(super) struct StepChecker<'a> {
    /// The module that the passes run on, as the command line has it.
    name: &'a str,
    options: &'a CheckOptions,
    read: ReadOptions,
    output: &'a OutputArguments,
    /// `--full`.
    full: bool,
    save_failing: Option<&'a Path>,
    arguments: &'a ReadArguments,
    watch: &'a Watch,
    /// The number of the step that runs, and how many there are.
    step: usize,
    steps: usize,
    /// `--ends`.
    ends: bool,
    /// A step's module before is that after the step before it.
    searches: Searches,
    /// The module after the step before, where its lines are those of its words.
    pub(super) last: Option<Module>,
    /// Modules as the user has them in files.
    files: Vec<Module>,
    /// Steps are printed as they are known; what their objects say of the run.
    choices: Option<&'a Value>,
    /// `--html`: what is known of the page so far.
    pub(super) page: Option<&'a mut Page>,
    /// What could not be written.
    pub(super) error: Option<CliError>,
    /// What went wrong in a comparison, though it be one of a bisection.
    pub(super) bug: Option<Bug>,
}

impl<'a> StepChecker<'a> {
    /// `is_valid`: every module was validated before it comes here. `files`: modules that reports tell with the names and
    /// lines of their files.
    pub(super) fn new(
        command: &'a Command<'_>,
        name: &'a str,
        options: &'a CheckOptions,
        watch: &'a Watch,
        is_valid: bool,
        files: Vec<Module>,
    ) -> Self {
        let arguments = command.arguments;
        let is_stream = arguments.output.format.series() == Series::Stream;
        StepChecker {
            name,
            options,
            read: ReadOptions { lenient: true, is_valid, ..arguments.comparison.read.options() },
            output: &arguments.output,
            full: arguments.comparison.pair.full,
            save_failing: arguments.comparison.pair.save_failing.as_deref(),
            arguments: &arguments.comparison.read,
            watch,
            step: 0,
            steps: 0,
            ends: arguments.ends,
            searches: Searches::default(),
            last: None,
            files,
            choices: is_stream.then_some(&command.choices),
            page: None,
            error: None,
            bug: None,
        }
    }
}

impl StepChecker<'_> {
    /// The folder for the texts of the module's steps.
    fn folder_of(&self, folder: &Path) -> PathBuf {
        let stem = Path::new(self.name).file_stem();
        stem.map_or_else(|| folder.to_owned(), |stem| folder.join(stem))
    }

    /// The options of the check of a step.
    fn options_of(&self, label: &str) -> CheckOptions {
        let CheckOptions { out_of_bounds, after_out_of_bounds, .. } = self.options;
        let clamps = label == CLAMPS && *out_of_bounds != OutOfBounds::Undefined;
        let undefined = clamps.then_some(OutOfBounds::Undefined);
        CheckOptions { after_out_of_bounds: after_out_of_bounds.or(undefined), ..self.options.clone() }
    }

    fn compare(&mut self, before: &[u32], after: &[u32], label: &str) -> Result<CheckReport, CliError> {
        let options = self.options_of(label);
        let of_file = |words: &[u32]| self.files.iter().find(|file| file.words == words).cloned();
        let before = match (of_file(before), self.last.take().filter(|last| last.words == before)) {
            (Some(file), _) => file,
            (None, Some(mut last)) => {
                last.name = "before".to_owned();
                last
            }
            (None, None) => Module::from_words(before.to_vec(), "before", &self.read)?,
        };
        let after = match of_file(after) {
            Some(file) => file,
            None => Module::from_words(after.to_vec(), "after", &self.read)?,
        };
        if self.steps > 1 && !self.ends {
            self.searches.share_looks();
        }
        let mut report = check_in_series(&before, &after, &options, self.watch, &mut self.searches)?;
        if options.after_out_of_bounds != self.options.after_out_of_bounds {
            report.warnings.push(CLAMPED.to_owned());
        }
        if let Some(folder) = &self.arguments.emit_asm {
            let says_more = !matches!(report.verdict, Verdict::Refines | Verdict::Vacuous);
            let step = asm::step_name(self.step, label);
            for (name, module) in [("before", &before), ("after", &after)].into_iter().filter(|_| says_more) {
                let written = asm::emit(&self.folder_of(folder), &format!("{step}.{name}"), &module.text);
                self.error = self.error.take().or(written.err());
            }
        }
        if let Some(folder) = self.save_failing {
            if report.verdict == Verdict::Violates {
                if let Err(error) = save::failing(
                    folder,
                    Some([self.name, label]),
                    &before,
                    &after,
                    &report,
                    &options,
                    self.arguments,
                ) {
                    self.error = Some(error);
                }
            }
        }
        if let Some(page) = &mut self.page {
            page.add(self.name, label, &report);
        }
        self.last = Some(after);
        Ok(report)
    }
}

impl Checker for StepChecker<'_> {
    type Result = StepResult;

    fn check(&mut self, before: &[u32], after: &[u32], label: &str) -> StepResult {
        match caught(|| self.compare(before, after, label)).unwrap_or_else(|bug| Err(bug.into())) {
            Ok(report) => StepResult::of_report(report, self.output, self.full),
            Err(error) => {
                self.bug = self.bug.take().or(error.bug().cloned());
                if let Some(page) = &mut self.page {
                    page.note(self.name, label, &error.to_string());
                }
                StepResult::of_error(&error, self.options, self.output)
            }
        }
    }

    fn step_started(&mut self, number: usize, total: usize, pass: &str) {
        (self.step, self.steps) = (number, total);
        self.watch.title(format!("{}: {number}/{total} {pass}", self.name));
    }

    fn step_finished(&mut self, number: usize, step: &Step<StepResult>) {
        let Some(choices) = self.choices else { return };
        if let Some(object) = step_object(number, step, About { module: self.name, choices }) {
            self.error = self.error.take().or(print(&format!("{object}\n")).err());
        }
    }
}
