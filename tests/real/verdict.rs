//! What the tool says of a module: of itself, and of its `-O` result.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::schema::parsed;

/// Seconds that the tool may take for one of the two.
const TIMEOUT: &str = "300";

/// Where it may run out of time.
const LIMITED: &str = "20";

/// What came of a module.
pub struct Judged {
    /// Against itself.
    pub itself: String,
    /// `-O` against it.
    pub optimised: String,
    /// What else the tool says about a verdict that is not `refines`.
    remark: String,
    executions: u64,
    inputs: usize,
    vacuous: usize,
    milliseconds: u128,
}

/// Runs the tool; its verdict object.
fn verdict(arguments: &[&str], module: &Path, args: &[String], timeout: &str) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    command.args(arguments).args(args).args(["--timeout", timeout, "--format", "json"]);
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    // `opt` prints an object a step; the first is about the ends.
    parsed(text.lines().next().unwrap_or_default()).map_err(|_| {
        let told = String::from_utf8_lossy(&output.stderr);
        format!("spirv-tv {} {}: {}", arguments.join(" "), module.display(), told.trim())
    })
}

pub fn of(module: &Path, args: &[String], limited: bool) -> Result<Judged, String> {
    let timeout = if limited { LIMITED } else { TIMEOUT };
    let path = module.to_string_lossy();
    let started = Instant::now();
    let itself = verdict(&["check", &path, &path], module, args, timeout)?;
    let optimised = verdict(&["opt", &path, "-O", "--ends"], module, args, timeout)?;
    let runs = itself["runs"].as_array().map_or(&[][..], Vec::as_slice);
    let executions = runs.iter().filter_map(|run| run["before"]["executions"].as_u64()).sum();
    let name = |report: &Value| report["verdict"].as_str().unwrap_or("?").to_owned();
    Ok(Judged {
        itself: name(&itself),
        optimised: name(&optimised),
        remark: if name(&itself) == "refines" { remark(&optimised) } else { remark(&itself) },
        executions,
        inputs: runs.len(),
        vacuous: runs.iter().filter(|run| run["verdict"] == "vacuous").count(),
        milliseconds: started.elapsed().as_millis(),
    })
}

/// The reasons of a report, its unsupported constructs and the undefined behaviours of before.
fn remark(report: &Value) -> String {
    let mut parts = Vec::new();
    let each = |list: &Value, told: &dyn Fn(&Value) -> String| -> Vec<String> {
        list.as_array().into_iter().flatten().map(told).collect()
    };
    parts.extend(each(&report["unsupported"], &|item| item["what"].to_string()));
    parts.extend(each(&report["reasons"], &Value::to_string));
    for run in report["runs"].as_array().into_iter().flatten() {
        parts.extend(each(&run["before"]["undefined"], &|item| {
            format!("{} {}", item["kind"], item["detail"])
        }));
        if let Some(violation) = run.get("violation") {
            parts.push(violation["kind"].to_string());
        }
    }
    parts.dedup();
    parts.join("; ").replace('"', "")
}

/// The head of the table.
pub fn header() -> String {
    "| module | itself | -O | executions | inputs (vacuous) | ms |\n| --- | --- | --- | --- | --- | --- |\n"
        .to_owned()
}

impl Judged {
    pub fn row(&self, name: &str) -> String {
        let Judged { itself, optimised, executions, inputs, vacuous, milliseconds, .. } = self;
        format!("| {name} | {itself} | {optimised} | {executions} | {inputs} ({vacuous}) | {milliseconds} |")
    }

    /// What is wrong, where `-O` must come to `expected`, or with `limited` to nothing else.
    pub fn complaint(&self, expected: &str, limited: bool) -> Option<String> {
        // What the passes did to it does not count for the module alone.
        let itself = if matches!(expected, "violates" | "inconclusive") { "refines" } else { expected };
        let is = |verdict: &str, expected: &str| verdict == expected || limited && verdict == "inconclusive";
        (!is(&self.itself, itself) || !is(&self.optimised, expected)).then(|| {
            format!(
                "against itself {}, -O {}, expected {expected}; {}",
                self.itself, self.optimised, self.remark
            )
        })
    }
}
