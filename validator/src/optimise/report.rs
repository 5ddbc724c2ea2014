//! The report of a pipeline, as a table and as JSON objects.

use std::fmt::Write;

use serde_json::{json, Map, Value};
use spirv_tv_toolchain::passes::{find_pass, Class};

use super::pipeline::{CheckResult, Outcome, Report, Step};
use super::process::OptimiserFailure;
use crate::compare::Verdict;

/// The schema of the objects, that of `check`.
const SCHEMA: &str = "spirv-tv.check/1";

/// The table of steps and the guilty passes, for a terminal. Times make it differ from run to run, so
/// they can be left out.
pub fn table<R: CheckResult>(report: &Report<R>, times: bool) -> String {
    let mut text = align(&all_rows(report, times));
    remarks(report).iter().for_each(|remark| line(&mut text, remark));
    text
}

/// The cells of the table without times; the first row has the names of the columns.
pub fn rows<R: CheckResult>(report: &Report<R>) -> Vec<Vec<String>> {
    all_rows(report, false).into_iter().map(|row| row.cells).collect()
}

fn all_rows<R: CheckResult>(report: &Report<R>, times: bool) -> Vec<Row> {
    let steps = report.steps.iter().enumerate().map(|(index, step)| Row::of(index + 1, step, times));
    std::iter::once(Row::header(times)).chain(steps).collect()
}

/// What is said below the table: how the ends compare, why passes failed, and which are guilty.
pub fn remarks<R: CheckResult>(report: &Report<R>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(ends) = &report.ends {
        remarks.push(format!("first against last: {}", name(ends)));
    }
    for step in &report.steps {
        if let Outcome::Failed(failure) = &step.outcome {
            remarks.push(format!("{}: {failure}", step.pass));
        }
    }
    for step in report.guilty() {
        remarks.push(format!("guilty pass: {}{}", step.pass, promise(step)));
    }
    remarks
}

fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}

/// What a guilty pass had promised.
fn promise<R: CheckResult>(step: &Step<R>) -> String {
    let reason = find_pass(&step.pass).map_or("", |pass| pass.reason);
    match step.class() {
        Some(Class::Changing) => format!(" (changes the interface or the meaning by contract: {reason})"),
        Some(Class::Refining(assumptions)) => {
            let names: Vec<&str> = assumptions.iter().map(|assumption| assumption.name()).collect();
            format!(" (refines under the assumption {})", names.join(", "))
        }
        Some(Class::Preserving) => " (means to preserve every behaviour)".to_owned(),
        None => String::new(),
    }
}

struct Row {
    cells: Vec<String>,
}

impl Row {
    fn header(times: bool) -> Self {
        let mut cells = vec!["#", "pass", "changed", "verdict"];
        if times {
            cells.push("time");
        }
        Row { cells: cells.into_iter().map(str::to_owned).collect() }
    }

    fn of<R: CheckResult>(number: usize, step: &Step<R>, times: bool) -> Self {
        let changed = match &step.outcome {
            Outcome::Unchanged => "no",
            Outcome::Checked(_) | Outcome::NotChecked => "yes",
            Outcome::Failed(_) | Outcome::NotRun | Outcome::OutOfTime => "-",
        };
        let mut cells =
            vec![number.to_string(), step.pass.clone(), changed.to_owned(), verdict_name(step).to_owned()];
        if times {
            let time = step.optimise_time + step.check_time;
            cells.push(format!("{:.1} ms", time.as_secs_f64() * 1e3));
        }
        Row { cells }
    }
}

/// What stands in place of a verdict where spirv-tv went wrong.
const BUG: &str = "bug of spirv-tv";

fn name<R: CheckResult>(result: &R) -> &'static str {
    result.verdict().map_or(BUG, Verdict::name)
}

/// What the verdict column says.
fn verdict_name<R: CheckResult>(step: &Step<R>) -> &'static str {
    match &step.outcome {
        Outcome::Unchanged => "-",
        Outcome::NotChecked => "not checked",
        Outcome::NotRun => "not run",
        Outcome::OutOfTime => "out of time",
        Outcome::Checked(result) => name(result),
        Outcome::Failed(OptimiserFailure::Bug { .. }) => BUG,
        Outcome::Failed(failure) if failure.is_optimisers() => "optimiser-failed",
        Outcome::Failed(_) => "error",
    }
}

/// Columns two spaces apart, numbers and times to the right.
fn align(rows: &[Row]) -> String {
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.cells.get(column)).map(String::len).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut aligned = String::new();
        for (column, (cell, width)) in row.cells.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            // Writing to a string cannot fail.
            let _ = match column {
                0 | 4 => write!(aligned, "{gap}{cell:>width$}"),
                _ => write!(aligned, "{gap}{cell:<width$}"),
            };
        }
        line(&mut text, aligned.trim_end());
    }
    text
}

/// One object for each step with a verdict, and before them one for both ends where those were compared.
/// `choices` is what every object says about the run; a comparison's own object comes with its own.
pub fn json_objects<R: CheckResult>(report: &Report<R>, choices: &Value) -> Vec<Value> {
    let ends = ends_object(report);
    let steps = report.steps.iter().zip(1..).filter_map(|(step, number)| step_object(number, step, choices));
    ends.into_iter().chain(steps).collect()
}

/// The object of the comparison of both ends, if there is one.
pub fn ends_object<R: CheckResult>(report: &Report<R>) -> Option<Value> {
    let ends = report.ends.as_ref()?;
    Some(extend(ends.check_object(), [("pass", json!(report.ends_label()))]))
}

/// The object of one step: the comparison's with `step`, `pass`, `class` and `changed` added. `None` for
/// a step that was not run or, with `--ends`, not checked.
pub fn step_object<R: CheckResult>(number: usize, step: &Step<R>, choices: &Value) -> Option<Value> {
    let object = match &step.outcome {
        Outcome::NotChecked | Outcome::NotRun => return None,
        Outcome::Checked(result) => result.check_object(),
        Outcome::Unchanged => bare(choices, Some(Verdict::Refines.name())),
        Outcome::OutOfTime => extend(
            bare(choices, Some(Verdict::Inconclusive.name())),
            [("reasons", json!(["--timeout left no time for this step"]))],
        ),
        Outcome::Failed(OptimiserFailure::Bug { message }) => {
            extend(bare(choices, None), [("bug", json!(message))])
        }
        Outcome::Failed(failure) => extend(
            bare(choices, Some(verdict_name(step))),
            [("failure", json!({ "kind": failure.kind(), "message": failure.to_string() }))],
        ),
    };
    Some(extend(
        object,
        [
            ("step", json!(number)),
            ("pass", json!(step.pass)),
            ("class", json!(step.class().map(Class::name))),
            ("changed", json!(step.changed())),
        ],
    ))
}

/// A check object without runs.
fn bare(choices: &Value, verdict: Option<&str>) -> Value {
    json!({
        "schema": SCHEMA,
        "verdict": verdict,
        "bounded": false,
        "runs": [],
        "unsupported": [],
        "choices": choices,
    })
}

/// The object with more members; a value that is no object is left as it is.
fn extend<const N: usize>(mut object: Value, members: [(&str, Value); N]) -> Value {
    if let Some(map) = object.as_object_mut() {
        map.extend(Map::from_iter(members.map(|(name, value)| (name.to_owned(), value))));
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    struct Fixed(Verdict);

    impl CheckResult for Fixed {
        fn verdict(&self) -> Option<Verdict> {
            Some(self.0)
        }

        fn exit_code(&self) -> u8 {
            match self.0 {
                Verdict::Violates => 1,
                Verdict::Inconclusive => 3,
                Verdict::Refines | Verdict::Vacuous | Verdict::Error => 0,
            }
        }

        fn check_object(&self) -> Value {
            json!({ "schema": SCHEMA, "verdict": self.0.name(), "choices": {} })
        }
    }

    fn step(pass: &str, outcome: Outcome<Fixed>) -> Step<Fixed> {
        Step {
            pass: pass.to_owned(),
            outcome,
            optimise_time: Duration::from_micros(1500),
            check_time: Duration::from_millis(10),
        }
    }

    fn crash() -> OptimiserFailure {
        OptimiserFailure::Crashed { signal: Some(6), stderr: "Assertion failed".to_owned() }
    }

    fn report() -> Report<Fixed> {
        Report {
            steps: vec![
                step("--wrap-opkill", Outcome::Unchanged),
                step("--ccp", Outcome::Checked(Fixed(Verdict::Refines))),
                step("--graphics-robust-access", Outcome::Checked(Fixed(Verdict::Violates))),
                step("--amd-ext-to-khr", Outcome::Failed(crash())),
                step("--merge-blocks", Outcome::NotRun),
            ],
            ends: None,
            words: vec![],
        }
    }

    #[test]
    fn the_table_tells_every_step_and_names_the_guilty() {
        let expected = "\
#  pass                      changed  verdict              time
1  --wrap-opkill             no       -                 11.5 ms
2  --ccp                     yes      refines           11.5 ms
3  --graphics-robust-access  yes      violates          11.5 ms
4  --amd-ext-to-khr          -        optimiser-failed  11.5 ms
5  --merge-blocks            -        not run           11.5 ms
--amd-ext-to-khr: the optimiser crashed (signal 6): Assertion failed
guilty pass: --graphics-robust-access (changes the interface or the meaning by contract: Clamps indices, so \
                        accesses out of bounds go elsewhere; within bounds nothing changes)
";
        assert_eq!(table(&report(), true), expected);
        assert!(!table(&report(), false).contains(" ms"));
    }

    #[test]
    fn every_step_is_an_object_with_the_schema_and_the_choices() {
        let choices = json!({ "model": "vulkan" });
        let objects = json_objects(&report(), &choices);
        let verdicts: Vec<&str> =
            objects.iter().map(|object| object["verdict"].as_str().unwrap_or_default()).collect();
        assert_eq!(verdicts, ["refines", "refines", "violates", "optimiser-failed"]);
        for (object, number) in objects.iter().zip(1..) {
            assert_eq!(object["schema"], SCHEMA);
            assert_eq!(object["step"], number);
            assert!(object["choices"].is_object());
        }
        assert_eq!(objects[0]["choices"], choices);
        assert_eq!(objects[0]["changed"], false);
        assert_eq!(objects[2]["class"], "changing");
        assert_eq!(objects[3]["failure"]["kind"], "crashed");
    }

    #[test]
    fn the_worst_step_gives_the_exit_code() {
        let mut report = report();
        assert_eq!(report.exit_code(), 1);
        report.steps.remove(2);
        assert_eq!(report.exit_code(), 5);
        report.steps.remove(2);
        assert_eq!(report.exit_code(), 0);
        report.ends = Some(Fixed(Verdict::Inconclusive));
        assert_eq!(report.exit_code(), 3);
        report
            .steps
            .push(step("--ccp", Outcome::Failed(OptimiserFailure::NotRun { message: String::new() })));
        assert_eq!(report.exit_code(), 2);
    }
}
