//! The file of results, and what it comes to.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::equivalent::Equivalents;

/// The verdict on a mistake that is noticed.
pub const FLAGGED: &str = "violates";

/// The verdict on a result of a pass that is right.
pub const REFINES: &str = "refines";

/// `refines`, where something that was changed never ran.
pub const HOLLOW: &str = "hollow";

/// What came of one mistake.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    pub pass: String,
    pub module: String,
    pub mutator: String,
    pub mutant: String,
    /// Whether it was checked against the result of the pass, not against the module.
    pub of_result: bool,
    pub verdict: String,
    pub reason: String,
    /// Why it means the same as the result of the pass, where that is known.
    pub equal: String,
}

/// The lines of a file; none where it is not there. A last line that was cut off is left out.
pub fn read(path: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Passes with how many mistakes were seeded, flagged, equivalent, and not flagged, and what share of those that are not
/// equivalent was flagged. Arguments that came later than a result count.
pub fn render(lines: &[Line], equivalents: &Equivalents) -> String {
    let mut passes: BTreeMap<&str, Counts> = BTreeMap::new();
    for line in lines {
        let counts = passes.entry(&line.pass).or_default();
        counts.seeded += 1;
        if line.verdict == FLAGGED {
            counts.flagged += 1;
        } else if !line.equal.is_empty()
            || equivalents.listed(&line.pass, &line.module, &line.mutant).is_some()
        {
            counts.equivalent += 1;
        }
    }
    let all = passes.values().fold(Counts::default(), |all, one| Counts {
        seeded: all.seeded + one.seeded,
        flagged: all.flagged + one.flagged,
        equivalent: all.equivalent + one.equivalent,
    });
    let mut out =
        "| pass | seeded | flagged | equivalent | not flagged | flagged of those that are not equivalent |\n\
        | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for (name, counts) in passes.iter().map(|(name, counts)| (format!("`{name}`"), counts)) {
        row(&mut out, &name, counts);
    }
    row(&mut out, "all", &all);
    out
}

#[derive(Default)]
struct Counts {
    seeded: usize,
    flagged: usize,
    equivalent: usize,
}

fn row(out: &mut String, name: &str, counts: &Counts) {
    let Counts { seeded, flagged, equivalent } = *counts;
    let different = seeded - equivalent;
    let percent = 100.0 * flagged as f64 / different.max(1) as f64;
    let missed = different - flagged;
    _ = writeln!(out, "| {name} | {seeded} | {flagged} | {equivalent} | {missed} | {percent:.1} % |");
}
