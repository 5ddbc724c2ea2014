//! The report of a pipeline as text: a row for each step that changed something or failed, and a summary.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use spirv_tv_toolchain::passes::{find_pass, Class};

use super::pipeline::{CheckResult, Outcome, Report, Step, WHOLE_RUN};
use super::process::OptimiserFailure;
use crate::compare::Verdict;

/// What stands in place of a verdict where spirv-tv went wrong.
const BUG: &str = "bug of spirv-tv";

/// How the rows of a table look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Each ends with what the step took.
    pub times: bool,
    /// They stand without a header, among those of other modules.
    pub bare: bool,
}

/// The rows of the steps that were compared or failed, and of the comparison of both ends. Empty where there is no such
/// step.
pub fn rows<R: CheckResult>(report: &Report<R>, look: Look) -> Vec<String> {
    align(&told_rows(report, look), look.times)
}

/// The same as cells, without times; the first row has the names of the columns.
pub fn cells<R: CheckResult>(report: &Report<R>) -> Vec<Vec<String>> {
    let rows = told_rows(report, Look::default()).into_iter();
    rows.map(|[number, pass, verdict, gist, _]| vec![number, pass, verdict, gist]).collect()
}

fn told_rows<R: CheckResult>(report: &Report<R>, look: Look) -> Vec<[String; 5]> {
    let mut rows = Vec::new();
    if let Some(ends) = &report.ends {
        let (word, label) = (if look.bare { "ends" } else { "" }, "first against last");
        rows.push([word, label, name(ends), &ends.gist(), ""].map(str::to_owned));
    }
    // Where there is no answer, the causes stand with the first step that has them.
    let mut causes: BTreeMap<String, usize> = BTreeMap::new();
    for (step, number) in report.all_steps().zip(1..) {
        let (verdict, gist) = match &step.outcome {
            Outcome::Checked(result) if result.verdict() == Some(Verdict::Inconclusive) => {
                let first = *causes.entry(result.gist()).or_insert(number);
                let gist = if first == number { result.gist() } else { format!("as step {first}") };
                (name(result), gist)
            }
            Outcome::Checked(result) => (name(result), result.gist()),
            Outcome::Failed(OptimiserFailure::Bug { .. }) => (BUG, String::new()),
            Outcome::Failed(failure) if failure.is_optimisers() => {
                ("optimiser-failed", failure.kind().to_owned())
            }
            Outcome::Failed(failure) => ("error", failure.kind().to_owned()),
            // Counted in the summary.
            Outcome::Unchanged | Outcome::NotChecked | Outcome::NotRun | Outcome::OutOfTime => continue,
        };
        let time = seconds(step.optimise_time + step.check_time);
        let word = if look.bare { "step " } else { "" };
        rows.push([format!("{word}{number}"), step.pass.clone(), verdict.to_owned(), gist, time]);
    }
    if rows.is_empty() {
        return Vec::new();
    }
    if !look.bare {
        rows.insert(0, ["step", "pass", "verdict", "", "time"].map(str::to_owned));
    }
    rows
}

fn name<R: CheckResult>(result: &R) -> &'static str {
    result.verdict().map_or(BUG, Verdict::name)
}

/// A time to the millisecond.
pub fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

/// Columns two spaces apart, numbers and times to the right.
fn align(rows: &[[String; 5]], times: bool) -> Vec<String> {
    let widths: Vec<usize> =
        (0..5).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut lines = Vec::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            // Writing to a string cannot fail.
            let _ = match column {
                4 if !times => Ok(()),
                0 | 4 => write!(line, "{gap}{cell:>width$}"),
                _ => write!(line, "{gap}{cell:<width$}"),
            };
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// What failed passes, or those that ran them, say.
pub fn failures<R>(report: &Report<R>) -> Vec<String> {
    let failed = report.all_steps().filter_map(|step| match &step.outcome {
        Outcome::Failed(failure) => Some(format!("{}: {failure}", step.pass)),
        _ => None,
    });
    failed.collect()
}

/// One line for each pass that introduced a violation, with what it means to do.
pub fn guilty<R: CheckResult>(report: &Report<R>) -> Vec<String> {
    let told = |step: &Step<R>| match step.pass == WHOLE_RUN {
        true => format!("guilty: {WHOLE_RUN}; no pass by itself"),
        false => format!("guilty pass: {}{}", step.pass, promise(step)),
    };
    report.guilty().map(told).collect()
}

/// What a guilty pass had promised.
fn promise<R: CheckResult>(step: &Step<R>) -> String {
    let reason = find_pass(&step.pass).map_or("", |pass| pass.reason);
    match step.class() {
        Some(Class::Changing) => format!(" (changes the interface or the meaning by contract: {reason})"),
        Some(Class::Refining(assumptions)) => {
            let names: Vec<&str> = assumptions.iter().map(|assumption| assumption.name()).collect();
            format!(" (means to preserve every behaviour, but for what it may assume: {})", names.join(", "))
        }
        Some(Class::Preserving) => " (means to preserve every behaviour)".to_owned(),
        None => String::new(),
    }
}

/// What pipelines over one module or several did, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    ran: usize,
    changed: usize,
    failed: usize,
    /// Steps before which another one failed.
    not_run: usize,
    out_of_time: usize,
    proved: usize,
    /// Comparisons by search, those of both ends and of a bisection's result included.
    checked: usize,
    /// Comparisons without an input: something is not supported, or cannot be matched.
    not_compared: usize,
    /// Of comparisons.
    verdicts: BTreeMap<Verdict, usize>,
    /// The least and the greatest number of inputs of a comparison by search.
    inputs: Option<(usize, usize)>,
    /// First was compared with last, and steps only as far as needed.
    by_ends: bool,
}

impl Totals {
    /// The numbers of one pipeline.
    pub fn of<R: CheckResult>(report: &Report<R>) -> Totals {
        let mut totals = Totals::default();
        for step in &report.steps {
            match &step.outcome {
                Outcome::NotRun => totals.not_run += 1,
                Outcome::OutOfTime => totals.out_of_time += 1,
                Outcome::Unchanged | Outcome::NotChecked | Outcome::Checked(_) | Outcome::Failed(_) => {
                    totals.ran += 1;
                }
            }
            totals.changed += usize::from(step.changed());
            match &step.outcome {
                Outcome::Checked(result) => totals.count(result),
                Outcome::Failed(_) => totals.failed += 1,
                Outcome::NotChecked => totals.by_ends = true,
                Outcome::Unchanged | Outcome::NotRun | Outcome::OutOfTime => {}
            }
        }
        if let Some(ends) = &report.ends {
            totals.by_ends = true;
            totals.count(ends);
        }
        if let Some(Outcome::Checked(whole)) = report.whole.as_ref().map(|whole| &whole.outcome) {
            totals.count(whole);
        }
        totals
    }

    fn count<R: CheckResult>(&mut self, result: &R) {
        if let Some(verdict) = result.verdict() {
            *self.verdicts.entry(verdict).or_default() += 1;
        }
        if result.is_proved() {
            self.proved += 1;
            return;
        }
        let inputs = result.inputs();
        if inputs == 0 {
            self.not_compared += 1;
            return;
        }
        self.checked += 1;
        let (least, most) = self.inputs.unwrap_or((inputs, inputs));
        self.inputs = Some((least.min(inputs), most.max(inputs)));
    }

    /// The numbers of both.
    #[must_use]
    pub fn and(mut self, other: &Totals) -> Totals {
        self.ran += other.ran;
        self.changed += other.changed;
        self.failed += other.failed;
        self.not_run += other.not_run;
        self.out_of_time += other.out_of_time;
        self.proved += other.proved;
        self.checked += other.checked;
        self.not_compared += other.not_compared;
        for (verdict, count) in &other.verdicts {
            *self.verdicts.entry(*verdict).or_default() += count;
        }
        let both = self.inputs.into_iter().chain(other.inputs);
        self.inputs = both.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        self.by_ends |= other.by_ends;
        self
    }

    /// The same on one line.
    pub fn line(&self) -> String {
        let compared = (self.proved + self.checked + self.not_compared > 0).then(|| self.comparisons(false));
        let lines = [self.passes()].into_iter().chain(compared).chain(self.not_run());
        lines.collect::<Vec<_>>().join("; ")
    }

    fn passes(&self) -> String {
        let mut text = format!("{} run", counted(self.ran, "pass", "passes"));
        text.push_str(&match self.changed {
            0 => ", none of which changed the module".to_owned(),
            changed => format!(", {changed} of which changed the module"),
        });
        if self.failed > 0 {
            text.push_str(&format!(", {} of which failed", self.failed));
        }
        text
    }

    /// In words, on one line or a few: what was run, what was compared and how, and what was not run.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.passes()];
        if self.proved + self.checked + self.not_compared > 0 {
            lines.push(self.comparisons(true));
        }
        lines.extend(self.not_run());
        lines
    }

    /// How many passes were not run, and why.
    pub fn not_run(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.out_of_time > 0 {
            let passes = counted(self.out_of_time, "pass", "passes");
            lines.push(format!("{passes} not run: --timeout left no time"));
        }
        if self.not_run > 0 {
            lines.push(format!(
                "{} not run, because a pass before failed (--keep-going goes on without it)",
                counted(self.not_run, "pass", "passes")
            ));
        }
        lines
    }

    /// `comparisons: 3 proved, 4 checked on 16 inputs each (refines 6, violates 1)`.
    fn comparisons(&self, explained: bool) -> String {
        let mut ways = Vec::new();
        if self.proved > 0 {
            let how = if explained { " (the same program but for ids, names and lines)" } else { "" };
            ways.push(format!("{} proved{how}", self.proved));
        }
        if let (1.., Some((least, most))) = (self.checked, self.inputs) {
            let each = if self.checked > 1 && least == most { " each" } else { "" };
            let inputs = match least == most {
                true => counted(least, "input", "inputs"),
                false => format!("{least} to {most} inputs"),
            };
            ways.push(format!("{} checked on {inputs}{each}", self.checked));
        }
        if self.not_compared > 0 {
            ways.push(format!("{} on no input", self.not_compared));
        }
        let verdicts: Vec<String> =
            self.verdicts.iter().map(|(verdict, count)| format!("{} {count}", verdict.name())).collect();
        let what =
            if self.by_ends { "comparisons (first against last, then bisection)" } else { "comparisons" };
        format!("{what}: {} ({})", ways.join(", "), verdicts.join(", "))
    }
}

fn counted(number: usize, one: &str, several: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {several}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Verdict, bool, usize);

    impl CheckResult for Fixed {
        fn verdict(&self) -> Option<Verdict> {
            Some(self.0)
        }

        fn exit_code(&self) -> u8 {
            0
        }

        fn check_object(&self) -> serde_json::Value {
            serde_json::Value::Null
        }

        fn gist(&self) -> String {
            if self.1 {
                "proved".to_owned()
            } else {
                format!("{} inputs", self.2)
            }
        }

        fn is_proved(&self) -> bool {
            self.1
        }

        fn inputs(&self) -> usize {
            self.2
        }
    }

    fn step(pass: &str, outcome: Outcome<Fixed>) -> Step<Fixed> {
        let optimise_time = Duration::from_micros(1500);
        Step { pass: pass.to_owned(), outcome, optimise_time, check_time: Duration::from_millis(10) }
    }

    fn report() -> Report<Fixed> {
        let crash = OptimiserFailure::Crashed { signal: Some(6), stderr: "Assertion failed".to_owned() };
        Report {
            steps: vec![
                step("--wrap-opkill", Outcome::Unchanged),
                step("--ccp", Outcome::Checked(Fixed(Verdict::Refines, true, 16))),
                step("--graphics-robust-access", Outcome::Checked(Fixed(Verdict::Violates, false, 4))),
                step("--code-sink", Outcome::Checked(Fixed(Verdict::Refines, false, 16))),
                step("--amd-ext-to-khr", Outcome::Failed(crash)),
                step("--merge-blocks", Outcome::NotRun),
            ],
            ends: None,
            whole: None,
            words: vec![],
        }
    }

    #[test]
    fn rows_are_of_the_steps_that_changed_something_or_failed() {
        let expected = "\
step  pass                      verdict
   2  --ccp                     refines           proved
   3  --graphics-robust-access  violates          4 inputs
   4  --code-sink               refines           16 inputs
   5  --amd-ext-to-khr          optimiser-failed  crashed";
        assert_eq!(rows(&report(), Look::default()).join("\n"), expected);
        let timed = rows(&report(), Look { times: true, bare: true });
        assert!(timed[0].starts_with("step 2  --ccp ") && timed[0].ends_with(" s"), "{timed:?}");
        let unchanged =
            Report { steps: vec![step("--ccp", Outcome::Unchanged)], ends: None, whole: None, words: vec![] };
        assert!(rows(&unchanged, Look::default()).is_empty());
        let failed = ["--amd-ext-to-khr: the optimiser crashed (signal 6): Assertion failed"];
        assert_eq!(failures(&report()), failed);
        let told = guilty(&report()).join("\n");
        assert!(
            told.starts_with("guilty pass: --graphics-robust-access (changes the interface or"),
            "{told}"
        );
    }

    #[test]
    fn the_summary_counts_each_pass_once() {
        let totals = Totals::of(&report());
        assert_eq!(
            totals.lines(),
            [
                "5 passes run, 3 of which changed the module, 1 of which failed",
                "comparisons: 1 proved (the same program but for ids, names and lines), 2 checked on 4 to 16 inputs \
                 (violates 1, refines 2)",
                "1 pass not run, because a pass before failed (--keep-going goes on without it)"
            ]
        );
        let both = totals.clone().and(&totals);
        assert_eq!(
            both.line(),
            "10 passes run, 6 of which changed the module, 2 of which failed; comparisons: 2 proved, 4 checked on 4 to \
             16 inputs (violates 2, refines 4); 2 passes not run, because a pass before failed (--keep-going goes on \
             without it)"
        );
        let open = |gist| Outcome::Checked(Fixed(Verdict::Inconclusive, false, gist));
        let steps =
            vec![step("--ccp", open(0)), step("--code-sink", open(0)), step("--merge-blocks", open(3))];
        let report = Report { steps, ends: None, whole: None, words: vec![] };
        let told = rows(&report, Look::default());
        assert!(
            told[1].ends_with("0 inputs") && told[2].ends_with("as step 1") && told[3].ends_with("3 inputs")
        );
        assert_eq!(
            Totals::of(&report).lines()[1],
            "comparisons: 1 checked on 3 inputs, 2 on no input (inconclusive 3)"
        );
        let none = Report::<Fixed> {
            steps: vec![step("--ccp", Outcome::OutOfTime)],
            ends: None,
            whole: None,
            words: vec![],
        };
        assert_eq!(
            Totals::of(&none).lines(),
            ["0 passes run, none of which changed the module", "1 pass not run: --timeout left no time"]
        );
    }
}
