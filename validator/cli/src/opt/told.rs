//! What `opt` prints.

use std::io::{self, IsTerminal};
use std::time::Duration;

use super::run::Command;
use super::step::{StepResult, Told};
use crate::format::{Format, Series};
use crate::{painter, CliError};
use spirv_tv::optimise::report::{ends_object, json_objects, module_object, About};
use spirv_tv::optimise::table::{self, Look, Totals};
use spirv_tv::optimise::{CheckResult, Outcome, Report};
use spirv_tv::report::Painter;

/// What came of a module.
pub(super) struct Done {
    code: u8,
    totals: Totals,
    rests_on: [Vec<String>; 3],
    optimise_time: Duration,
    check_time: Duration,
}

impl Done {
    pub(super) fn of(report: &Report<StepResult>) -> Done {
        Done {
            code: report.exit_code(),
            totals: Totals::of(report),
            rests_on: rests_on(report),
            optimise_time: report.all_steps().map(|step| step.optimise_time).sum(),
            check_time: report.all_steps().map(|step| step.check_time).sum(),
        }
    }
}

/// What came of all modules.
#[derive(Default)]
pub(super) struct Sum {
    /// The exit code of each.
    pub(super) codes: Vec<u8>,
    totals: Totals,
    modules: usize,
    errors: usize,
    /// What the verdicts rest on: models, launches, bounds.
    rests_on: [Vec<String>; 3],
    optimise_time: Duration,
    check_time: Duration,
}

impl Sum {
    pub(super) fn add(&mut self, done: &Done) {
        self.codes.push(done.code);
        self.totals = std::mem::take(&mut self.totals).and(&done.totals);
        self.modules += 1;
        add_new(&mut self.rests_on, &done.rests_on);
        self.optimise_time += done.optimise_time;
        self.check_time += done.check_time;
    }

    pub(super) fn add_error(&mut self, error: &CliError) {
        self.codes.push(error.exit_code());
        self.modules += 1;
        self.errors += 1;
    }
}

/// Steps and what they say, where several may say the same: each once.
type Sayings = Vec<(String, Vec<String>)>;

impl Command<'_> {
    fn about<'s>(&'s self, module: &'s str) -> About<'s> {
        About { module, choices: &self.choices }
    }

    /// What is printed of a module behind its last step.
    pub(super) fn told(&self, name: &str, report: &Report<StepResult>) -> String {
        let output = &self.arguments.output;
        match output.format.series() {
            // What is left behind the steps.
            Series::Stream => {
                ends_object(report, self.about(name)).map_or_else(String::new, |ends| format!("{ends}\n"))
            }
            Series::Objects => {
                let objects = json_objects(report, self.about(name));
                objects.iter().map(|object| format!("{object}\n")).collect()
            }
            Series::Table if output.format == Format::Dot => {
                let graph = |result: &StepResult| match &result.told {
                    Told::Graph(graph) => graph.clone(),
                    Told::Object(_) | Told::Line(_) | Told::Text { .. } => String::new(),
                };
                results(report).map(|(_, result)| graph(result)).collect()
            }
            Series::Table if output.quiet => {
                quiet(report).iter().map(|line| format!("{name}: {line}\n")).collect()
            }
            Series::Table => self.table(name, report),
        }
    }

    /// What is printed of a module that no pass could be run on. Of the only one the message is enough, which is told on
    /// standard error.
    pub(super) fn told_of_error(&self, name: &str, error: &CliError) -> String {
        let output = &self.arguments.output;
        match output.format.series() {
            Series::Stream | Series::Objects => {
                let why = error.to_string();
                let problem = error.bug().map_or(Ok(why.as_str()), Err);
                format!("{}\n", module_object(problem, self.about(name)))
            }
            Series::Table if self.several && output.format != Format::Dot => {
                let word = painter(output.color).bad("error");
                // Errors of reading begin with the name of the file.
                let why = error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
                match why {
                    why if name.is_empty() || why.starts_with(name) => format!("{word}: {why}\n"),
                    why => format!("{word}: {name}: {why}\n"),
                }
            }
            Series::Table => String::new(),
        }
    }

    fn table(&self, name: &str, report: &Report<StepResult>) -> String {
        let painter = painter(self.arguments.output.color);
        let mut lines = table::rows(report, Look { times: self.arguments.time, bare: self.several });
        lines.extend(table::failures(report));
        if self.several {
            lines = lines.into_iter().map(|line| format!("{name}: {line}")).collect();
        }
        lines.extend(self.details(name, report, painter));
        let mut end: Vec<String> = Vec::new();
        for (saying, steps) in sayings(report) {
            let on = match &steps[..] {
                [step] => step.clone(),
                _ => format!("{} steps", steps.len()),
            };
            end.push(format!("{}: on {on}: {saying}", painter.warning("warning")));
        }
        end.extend(table::guilty(report).iter().map(|line| painter.bad(line)));
        if self.several {
            end.push(Totals::of(report).line());
            let [_, launches, _] = rests_on(report);
            end.extend(launches.iter().map(|launch| painter.faint(launch)));
            end = end.into_iter().map(|line| format!("{name}: {line}")).collect();
        }
        lines.extend(end);
        lines.into_iter().map(|line| format!("{line}\n")).collect()
    }

    /// The reports of comparisons that are no refinement, that of both ends where no step explains it. Unless everything is
    /// asked for, steps that are inconclusive for causes that an earlier one had are named alone.
    fn details(&self, name: &str, report: &Report<StepResult>, painter: Painter) -> Vec<String> {
        let mut told: Vec<(&[String], Vec<String>, Vec<String>)> = Vec::new();
        let is_explained = report.guilty().next().is_some();
        let ends = report.ends.as_ref().filter(|_| is_explained).map(|_| report.ends_label());
        for (label, result) in results(report).filter(|(label, _)| Some(label.as_str()) != ends) {
            let Told::Text { report, causes, .. } = &result.told else { continue };
            if report.is_empty() {
                continue;
            }
            match told.iter_mut().find(|(known, ..)| {
                !self.arguments.comparison.pair.full && !causes.is_empty() && *known == &causes[..]
            }) {
                Some((_, _, others)) => others.push(label),
                None => {
                    let heading = if self.several { format!("{name}: {label}") } else { label };
                    let mut lines = vec![String::new(), painter.heading(&heading)];
                    lines.extend(report.lines().map(str::to_owned));
                    told.push((causes, lines, Vec::new()));
                }
            }
        }
        let any = !told.is_empty();
        let each = told.into_iter().flat_map(|(_, mut lines, others)| {
            if !others.is_empty() {
                let others = others.join(", ");
                lines.push(format!("inconclusive for the same causes (--full reports each): {others}"));
            }
            lines
        });
        each.chain(any.then(String::new)).collect()
    }

    /// The summary of everything.
    pub(super) fn told_at_the_end(&self, sum: &Sum, whole: Duration) -> String {
        let output = &self.arguments.output;
        if output.format != Format::Text {
            return String::new();
        }
        let painter = painter(output.color);
        let mut lines = Vec::new();
        if !output.quiet {
            if self.several {
                let unread = match sum.errors {
                    0 => String::new(),
                    errors => format!(", {errors} of which could not be run"),
                };
                let plural = if sum.modules == 1 { "" } else { "s" };
                lines.push(format!("{} module{plural}{unread}", sum.modules));
            }
            // Where nothing was run there is nothing to count.
            lines.extend((sum.modules > sum.errors).then(|| sum.totals.lines()).into_iter().flatten());
            let [models, launches, bounds] = &sum.rests_on;
            // Those of several modules are told with each.
            let launches = if self.several { &[][..] } else { launches };
            lines.extend([models, launches, bounds].into_iter().flatten().map(|line| painter.faint(line)));
        }
        if self.arguments.time || (io::stdout().is_terminal() && !output.quiet) {
            let [whole, passes, checks] = [whole, sum.optimise_time, sum.check_time].map(table::seconds);
            lines.push(painter.faint(&format!("time: {whole}; passes {passes}, checks {checks}")));
        }
        lines.into_iter().map(|line| format!("{line}\n")).collect()
    }
}

/// What all comparisons rest on, each line once.
fn rests_on(report: &Report<StepResult>) -> [Vec<String>; 3] {
    let mut all = Default::default();
    for (_, result) in results(report) {
        if let Told::Text { rests_on, .. } = &result.told {
            add_new(&mut all, rests_on);
        }
    }
    all
}

/// Adds the lines that are not there yet.
fn add_new(all: &mut [Vec<String>; 3], lines: &[Vec<String>; 3]) {
    for (all, lines) in all.iter_mut().zip(lines) {
        for line in lines {
            if !all.contains(line) {
                all.push(line.clone());
            }
        }
    }
}

/// What steps say besides, each saying once with the steps that have it.
fn sayings(report: &Report<StepResult>) -> Sayings {
    let mut sayings: Sayings = Vec::new();
    for (label, result) in results(report) {
        let Told::Text { remarks, .. } = &result.told else { continue };
        for remark in remarks {
            match sayings.iter_mut().find(|(known, _)| known == remark) {
                Some((_, steps)) => steps.push(label.clone()),
                None => sayings.push((remark.clone(), vec![label.clone()])),
            }
        }
    }
    sayings
}

/// Every comparison, with what it is called.
fn results(report: &Report<StepResult>) -> impl Iterator<Item = (String, &StepResult)> {
    let ends = report.ends.iter().map(|ends| (report.ends_label().to_owned(), ends));
    let steps = report.all_steps().zip(1..).filter_map(|(step, number)| match &step.outcome {
        Outcome::Checked(result) => Some((format!("step {number} {}", step.pass), result)),
        _ => None,
    });
    ends.chain(steps)
}

/// One line for each comparison and each failure, and one for what was not run.
fn quiet(report: &Report<StepResult>) -> Vec<String> {
    let told = |result: &StepResult| match &result.told {
        Told::Line(line) => line.clone(),
        // Not asked for here.
        Told::Text { .. } | Told::Graph(_) | Told::Object(_) => result.gist(),
    };
    let mut lines = Vec::new();
    if let Some(ends) = &report.ends {
        lines.push(format!("{}: {}", report.ends_label(), told(ends)));
    }
    for step in report.all_steps() {
        match &step.outcome {
            Outcome::Checked(result) => lines.push(format!("{}: {}", step.pass, told(result))),
            Outcome::Failed(failure) => lines.push(format!("{}: optimiser-failed: {failure}", step.pass)),
            Outcome::OutOfTime | Outcome::Unchanged | Outcome::NotChecked | Outcome::NotRun => {}
        }
    }
    // Where nothing was compared, the first line says so.
    let summary = Totals::of(report).not_run();
    match (lines.is_empty(), summary.is_empty()) {
        (true, true) => vec!["no pass changed the module".to_owned()],
        _ => [lines, summary].concat(),
    }
}
