//! The report of a pipeline as JSON objects.

use serde_json::{json, Map, Value};
use spirv_tv_toolchain::passes::Class;

use super::pipeline::{CheckResult, Outcome, Report, Step};
use super::process::OptimiserFailure;
use crate::behaviour::Bug;
use crate::compare::Verdict;

/// The schema of the objects, that of `check`.
const SCHEMA: &str = "spirv-tv.check/1";

/// What every object of a module says beside its comparison.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The module, as the command line has it.
    pub module: &'a str,
    /// The choices of the run, for objects that have no comparison with its own.
    pub choices: &'a Value,
}

/// One object for each step with a verdict, the run of all passes at once among them, and before them one for both ends
/// where those were compared.
pub fn json_objects<R: CheckResult>(report: &Report<R>, about: About<'_>) -> Vec<Value> {
    let ends = ends_object(report, about);
    let steps = report.all_steps().zip(1..).filter_map(|(step, number)| step_object(number, step, about));
    ends.into_iter().chain(steps).collect()
}

/// The object of the comparison of both ends, if there is one.
pub fn ends_object<R: CheckResult>(report: &Report<R>, about: About<'_>) -> Option<Value> {
    let ends = report.ends.as_ref()?;
    Some(extend(ends.check_object(), [("module", json!(about.module)), ("pass", json!(report.ends_label()))]))
}

/// The object of a module that no pass could be run on: why not, or the bug of ours.
pub fn module_object(problem: Result<&str, &Bug>, about: About<'_>) -> Value {
    let module = ("module", json!(about.module));
    match problem {
        Ok(why) => {
            let object = bare(about.choices, Some(Verdict::Error.name()));
            extend(object, [("reasons", json!([why])), module])
        }
        Err(bug) => extend(bare(about.choices, None), [("bug", json!(bug.to_string())), module]),
    }
}

/// The object of one step: the comparison's with `module`, `step`, `pass`, `class` and `changed` added. `None` for a
/// step that was not run or, with `--ends`, not checked.
pub fn step_object<R: CheckResult>(number: usize, step: &Step<R>, about: About<'_>) -> Option<Value> {
    let choices = about.choices;
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
            bare(choices, Some(failure_name(failure))),
            [("failure", json!({ "kind": failure.kind(), "message": failure.to_string() }))],
        ),
    };
    Some(extend(
        object,
        [
            ("module", json!(about.module)),
            ("step", json!(number)),
            ("pass", json!(step.pass)),
            ("class", json!(step.class().map(Class::name))),
            ("changed", json!(step.changed())),
        ],
    ))
}

/// The verdict on a pass that gave no result.
fn failure_name(failure: &OptimiserFailure) -> &'static str {
    match failure.is_optimisers() {
        true => "optimiser-failed",
        false => Verdict::Error.name(),
    }
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

        fn gist(&self) -> String {
            String::new()
        }

        fn is_proved(&self) -> bool {
            false
        }

        fn inputs(&self) -> usize {
            1
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
            whole: None,
            words: vec![],
        }
    }

    #[test]
    fn every_step_is_an_object_with_the_schema_and_the_choices() {
        let choices = json!({ "model": "vulkan" });
        let objects = json_objects(&report(), About { module: "a.spv", choices: &choices });
        let verdicts: Vec<&str> =
            objects.iter().map(|object| object["verdict"].as_str().unwrap_or_default()).collect();
        assert_eq!(verdicts, ["refines", "refines", "violates", "optimiser-failed"]);
        for (object, number) in objects.iter().zip(1..) {
            assert_eq!(object["schema"], SCHEMA);
            assert_eq!(object["step"], number);
            assert_eq!(object["module"], "a.spv");
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
