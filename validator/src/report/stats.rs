//! What each search cost, for `--stats`.

use crate::behaviour::{Behaviours, EndKind, PathEnd};
use crate::check::{CheckReport, OutcomesReport};

/// What the searches of a check did, a line each.
pub fn check(report: &CheckReport) -> String {
    let runs = report.runs.iter().flat_map(|run| {
        let sides = std::iter::once(&run.before).chain(&run.after);
        sides.map(move |explored| {
            let what = format!("{}, input '{}', {}", run.entry, run.input.name, explored.role.name());
            match explored.reused {
                true => format!("{what}: not searched again\n"),
                false => format!("{what}: {}\n", told(&explored.behaviours)),
            }
        })
    });
    runs.collect()
}

/// What the search on each input did, a line each.
pub fn outcomes(report: &OutcomesReport) -> String {
    let told = |run: &crate::check::OutcomesRun| {
        format!("{}, input '{}': {}\n", run.entry, run.input.name, told(&run.explored.behaviours))
    };
    report.runs.iter().map(told).collect()
}

/// The counts of a search: explored, blocked, speculated, and every way in which paths ended.
fn told(behaviours: &Behaviours) -> String {
    let paths = &behaviours.paths;
    let ended = |kind| {
        let ends = PathEnd::ALL.into_iter().filter(move |end| end.kind() == kind && paths.ended(*end) > 0);
        ends.map(|end| format!("{} {}", paths.ended(end), end.name())).collect::<Vec<_>>()
    };
    let kinds = [
        (EndKind::Result, "results"),
        (EndKind::Rejected, "rejected"),
        (EndKind::Equal, "equal to others"),
        (EndKind::Cut, "cut"),
        (EndKind::Relearned, "given up with their round"),
    ];
    let kinds = kinds.into_iter().map(|(kind, name)| (name, ended(kind)));
    let kinds = kinds.filter(|(_, ends)| !ends.is_empty());
    let kinds = kinds.map(|(name, ends)| format!("; {name}: {}", ends.join(", ")));
    format!(
        "explored {}, blocked {}, speculated {}, paths {}{}",
        behaviours.explored,
        behaviours.blocked(),
        paths.speculated(),
        paths.started(),
        kinds.collect::<String>()
    )
}
