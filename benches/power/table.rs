//! The file of results, and what it comes to.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::check::HOLLOW;

/// What came of one mutant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    pub stage: String,
    pub module: String,
    pub mutator: String,
    pub mutant: String,
    pub verdict: String,
    pub reason: String,
    /// Why it means the same as its module, where that is proved.
    pub equal: String,
    pub milliseconds: u64,
}

/// The lines of a file; none where it is not there. A last line that was cut off is left out.
pub fn read(path: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// `spirv-opt -O` makes the same words of both.
pub const SAME_WORDS: &str = "spirv-opt makes the same words of both";

/// The solver shows that what has an effect cannot differ.
pub const NO_DIFFERENCE: &str = "a solver finds no difference";

/// The verdict on a mistake that is noticed.
pub const FLAGGED: &str = "violates";

const COLUMNS: [(&str, &str); 6] = [
    ("flagged", FLAGGED),
    ("accepted", "refines"),
    ("never ran", HOLLOW),
    ("inconclusive", "inconclusive"),
    ("vacuous", "vacuous"),
    ("over time", "over time"),
];

/// Both tables, all mutants and without those that are proved equivalent, by stage and by mutator, and the time of a check.
pub fn render(lines: &[Line]) -> String {
    let different: Vec<Line> = lines.iter().filter(|line| line.equal.is_empty()).cloned().collect();
    let mut out = String::new();
    for (title, lines) in [("raw", lines), ("without those that are proved equivalent", &different)] {
        _ = writeln!(out, "{title}:\n");
        table(&mut out, "stage", lines, |line| &line.stage);
        table(&mut out, "mutator", lines, |line| &line.mutator);
    }
    let mut proofs: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| !line.equal.is_empty()) {
        *proofs.entry(&line.equal).or_default() += 1;
    }
    for (proof, count) in proofs {
        _ = writeln!(out, "proved equivalent, as {proof}: {count}");
    }
    let wrong = lines.iter().filter(|line| !line.equal.is_empty() && line.verdict == FLAGGED).count();
    _ = writeln!(out, "flagged though proved equivalent: {wrong}\n");
    let mut times: Vec<u64> = lines.iter().map(|line| line.milliseconds).collect();
    times.sort_unstable();
    let at = |part: usize| times.get(times.len().saturating_sub(1) * part / 100).copied().unwrap_or_default();
    _ = writeln!(out, "time of a check: median {} ms, 95th percentile {} ms", at(50), at(95));
    out
}

fn table<'a>(out: &mut String, head: &str, lines: &'a [Line], key: impl Fn(&'a Line) -> &'a str) {
    let mut groups: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        groups.entry(key(line)).or_default().push(line);
    }
    groups.insert("~all", lines.iter().collect());
    _ = write!(out, "| {head} | planted |");
    for (name, _) in COLUMNS {
        _ = write!(out, " {name} |");
    }
    _ = writeln!(out, " other |\n| --- |{}", " --- |".repeat(COLUMNS.len() + 2));
    for (name, lines) in groups {
        let planted = lines.len();
        _ = write!(out, "| {} | {planted} |", name.trim_start_matches('~'));
        let mut other = planted;
        for (_, verdict) in COLUMNS {
            let count = lines.iter().filter(|line| line.verdict == verdict).count();
            other -= count;
            let percent = 100.0 * count as f64 / planted.max(1) as f64;
            _ = write!(out, " {count} ({percent:.1} %) |");
        }
        _ = writeln!(out, " {other} |");
    }
    out.push('\n');
}
