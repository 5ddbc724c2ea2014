//! Are broken devices found out?

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::faults::{find, Fault, FAULTS};
use crate::run::{has_device, object};
use crate::BROKEN;

/// The share of the faults that a device can show, in percent, that must be found.
const FOUND: usize = 90;

/// What is the same in every run.
const SMALL: [&str; 6] = ["--invocations", "14", "--times", "4", "--explain", "0"];

/// Cases that failed: their names, and what was found in them.
fn failures(out: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(out.join("results.jsonl")).unwrap();
    let records = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let bad = [
        "invalid-answer",
        "failed",
        "timed-out",
        "device-lost",
        "crashed",
        "miscounted",
        "disagrees",
        "new-outcome",
    ];
    let is_bad = |record: &Value| bad.iter().any(|status| record["status"] == *status);
    let told = |record: Value| {
        let field = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        (field("case"), format!("{}: {}, {}", field("status"), field("program"), field("treatment")))
    };
    records.filter(is_bad).map(told).collect()
}

/// What the device that is well does on these cases, which is not held against a broken one.
struct Well {
    out: tempfile::TempDir,
    failing: BTreeSet<String>,
}

fn well(words: &[&str]) -> Well {
    let out = tempfile::tempdir().unwrap();
    object(&[words, &SMALL].concat(), out.path());
    let failing = failures(out.path()).into_iter().map(|(case, _)| case).collect();
    Well { out, failing }
}

/// What is found of a fault: the number of cases until then, and the first case that shows it.
fn found(fault: &Fault, words: &[&str], well: &Well) -> (usize, Option<String>) {
    let out = tempfile::tempdir().unwrap();
    let device = format!("{} {BROKEN} {}", std::env::current_exe().unwrap().display(), fault.name);
    let known = well.out.path().join("failures.csv").display().to_string();
    let own = ["--executor", &device, "--max-findings", "1", "--baseline", &known];
    let (object, _) = object(&[words, &SMALL, &own].concat(), out.path());
    let first = failures(out.path()).into_iter().find(|(case, _)| !well.failing.contains(case));
    let cases = object["cases"].as_u64().unwrap_or_default();
    (usize::try_from(cases).unwrap(), first.map(|(case, what)| format!("{case}: {what}")))
}

/// Some faults that show soon: each kind of case is worth its time.
pub fn some_faults_are_found() {
    if !has_device() {
        return;
    }
    let cases: [(&str, &[&str]); 3] = [
        ("add-split", &["--only", "concurrent", "--program", "update-against-update", "--count", "120"]),
        ("barrier-dropped", &["--only", "concurrent", "--program", "barrier", "--count", "20"]),
        ("comparison-wrong", &["--only", "generated", "--count", "30"]),
    ];
    for (name, words) in cases {
        let fault = find(name).unwrap();
        let well = well(words);
        let (cases, first) = found(&fault, words, &well);
        assert!(first.is_some(), "{name} is not found in {cases} cases");
    }
}

/// What a module allows is not known, but a rewrite of it must end as it does itself.
pub fn a_module_and_its_rewrites_agree() {
    if !has_device() {
        return;
    }
    let run = |executor: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        let words = ["tests/fuzz/divergent.spvasm", "--only", "modules", "--count", "40"];
        object(&[&words[..], executor].concat(), out.path()).0
    };
    let object = run(&[]);
    assert_eq!((&object["statuses"]["not-judged"], &object["new"]), (&40.into(), &0.into()), "{object}");
    // It loses a word of what some modules write, depending on their text.
    let device = format!("{} {BROKEN} write-lost-at-times", std::env::current_exe().unwrap().display());
    let object = run(&["--executor", &device]);
    assert!(object["statuses"]["disagrees"].as_u64() >= Some(1), "{object}");
}

/// Every fault, by a budget of cases: all kinds at first, then more litmus programs, of which there are many. The table is
/// what `tests/fuzz/faults.md` has.
pub fn every_fault() {
    if !has_device() {
        return;
    }
    let stages: [&[&str]; 2] =
        [&["--seed", "7", "--count", "200"], &["--seed", "8", "--count", "800", "--only", "concurrent"]];
    let well = stages.map(well);
    let mut lines = Vec::new();
    let (mut shown, mut missed, mut hidden) = (0, Vec::new(), 0);
    for fault in FAULTS {
        let mut cases = 0;
        // What cannot be shown is looked for in the first stage alone.
        let count = if fault.hidden.is_some() { 1 } else { stages.len() };
        let first = stages.iter().zip(&well).take(count).find_map(|(words, well)| {
            let (more, first) = found(fault, words, well);
            cases += more;
            first
        });
        let result = match (&first, fault.hidden) {
            (Some(first), _) => format!("found in {cases} cases: {first}"),
            (None, Some(why)) => format!("cannot be shown: {why}"),
            (None, None) => format!("not found in {cases} cases"),
        };
        println!("{}: {result}", fault.name);
        lines.push(format!("| {} | {} | {result} |", fault.name, fault.what));
        match (first, fault.hidden) {
            (Some(_), _) => shown += 1,
            (None, Some(_)) => hidden += 1,
            (None, None) => missed.push(fault.name),
        }
    }
    let all = shown + missed.len();
    let head = [
        "# Faults of a broken device, and whether `fuzz driver` finds them".to_owned(),
        String::new(),
        "Written by `cargo test -p spirv-tv-cli --test fuzz -- --ignored`, on lavapipe.".to_owned(),
        String::new(),
        format!("{shown} of {all} faults that the device can show are found; {hidden} cannot be shown."),
        String::new(),
        "| fault | what goes wrong | result |".to_owned(),
        "| --- | --- | --- |".to_owned(),
    ];
    let text: String = head.into_iter().chain(lines).map(|line| line + "\n").collect();
    std::fs::write(Path::new(crate::run::ROOT).join("tests/fuzz/faults.md"), text).unwrap();
    assert!(shown * 100 >= all * FOUND, "not found: {missed:?}");
}
