//! Runs on an executor that is well, and the options that say what is run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::require::{skipped, Need};
use crate::run::{fuzz, has_device, object, ROOT};

/// A small run.
const SMALL: [&str; 6] = ["--invocations", "10", "--times", "2", "--seed", "3"];

/// What became of each case, without what differs from run to run.
fn records(out: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(out.join("results.jsonl")).unwrap();
    let records = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    records
        // A weakened program is chosen by what others showed.
        .filter(|record| !record["treatment"].as_str().unwrap_or_default().starts_with("weakened"))
        .map(|record| {
            let field = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
            let told = format!("{} {} {}", field("program"), field("treatment"), record["instances"]);
            (field("case"), told)
        })
        .collect()
}

pub fn a_run_is_reproducible_and_resumes() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    let (object_of_one, code) = object(&[&SMALL[..], &["--count", "16"]].concat(), &one);
    assert!(matches!(code, Some(0 | 1)), "{object_of_one}");
    assert_eq!(object_of_one["cases"], 16);
    assert!(object_of_one["instances"].as_u64() > Some(0), "{object_of_one}");
    object(&[&SMALL[..], &["--count", "6", "--jobs", "2"]].concat(), &other);
    assert!((1..=6).contains(&records(&other).len()));
    // Another run may not be mixed in, nor begun where there is one.
    for wrong in [&["--count", "6"][..], &["--count", "6", "--resume", "--seed", "4"]] {
        let out = other.display().to_string();
        let (text, code) = fuzz(&[&SMALL[..4], wrong, &["--out", &out]].concat());
        assert_eq!(code, Some(2), "{text}");
    }
    object(&[&SMALL[..], &["--count", "16", "--resume"]].concat(), &other);
    let (one, other) = (records(&one), records(&other));
    // A good environment of another case may be taken, which runs as many instances.
    assert_eq!(one, other);
}

pub fn parts_make_the_whole() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, part: &[&str]| {
        let out = folder.path().join(name);
        object(&[&SMALL[..], &["--count", "12", "--only", "generated"], part].concat(), &out);
        records(&out)
    };
    let whole = run("whole", &[]);
    let mut parts = run("first", &["--partition", "1/2"]);
    assert!(!parts.is_empty() && parts.len() < 12);
    parts.extend(run("second", &["--partition", "2/2"]));
    assert_eq!(whole, parts);
}

pub fn wrong_command_lines_are_refused() {
    let wrong: [&[&str]; 15] = [
        &["--partition", "3/2"],
        &["--jobs", "0"],
        &["--only", "modules"],
        &["--only", "nothing"],
        &["--program", "nothing-of-this-name"],
        &["--only", "generated", "--program", "sb"],
        &["--executor", "no-such-program"],
        &["--format", "dot"],
        &["--format", "jsonl"],
        &["--case", "3"],
        &["--max-findings", "0"],
        &["--run-timeout", "0"],
        &["--run-timeout", "1e30"],
        &["--baseline", "no-such.csv"],
        &["--invocations", "40"],
    ];
    for words in wrong {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out").display().to_string();
        let (text, code) = fuzz(&[words, &["--count", "1", "--out", &out]].concat());
        assert_eq!(code, Some(2), "{words:?}: {text}");
        assert!(text.starts_with("error: "), "{words:?}: {text}");
    }
}

/// Modules with launches beside them, as they are, rewritten and optimised.
pub fn modules_of_the_user_are_run() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("seed.spvasm");
    let from = Path::new(ROOT).join("corpus/pairs/store-sunk-below-release/before.spvasm");
    std::fs::copy(from, &module).unwrap();
    std::fs::write(folder.path().join("seed.toml"), "workgroups = 2\n").unwrap();
    let out = folder.path().join("out");
    let name = module.display().to_string();
    let (object, code) = object(&[&name, "--only", "modules", "--count", "8"], &out);
    assert_eq!(code, Some(0), "{object}");
    assert_eq!(object["runs"], 32);
    let treatments = std::fs::read_to_string(out.join("results.csv")).unwrap();
    for part in ["as it is", "rewritten", "spirv-opt"] {
        assert!(treatments.contains(part), "{part}: {treatments}");
    }
    let (text, code) = fuzz(&[
        "no-such.spv",
        "--only",
        "modules",
        "--count",
        "1",
        "--out",
        &folder.path().join("no").display().to_string(),
    ]);
    assert_eq!(code, Some(2), "{text}");
}

/// Many instances at once are more than a search goes through in time: the example says so, and that is no finding.
pub fn the_example_says_what_it_cannot_run() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        skipped(Need::Python, "there is no python3");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let example = format!("python3 {}", Path::new(ROOT).join("docs/examples/executor.py").display());
    let words = ["--executor", &example, "--only", "concurrent", "--invocations", "8", "--times", "1"];
    let limits = ["--count", "2", "--run-timeout", "12"];
    for class in ["mp-relaxed-buffer", "mp-relaxed-physical"] {
        let out = folder.path().join(class);
        let (object, code) = object(&[&words[..], &limits, &["--program", class]].concat(), &out);
        assert_eq!((code, object["new"].as_u64()), (Some(3), Some(0)), "{object}");
        let told = std::fs::read_to_string(out.join("results.jsonl")).unwrap();
        let is_told = told.contains("outcomes that can be searched in time");
        assert!(object["statuses"]["unsupported"].as_u64() >= Some(1) && is_told, "{object} {told}");
    }
}
