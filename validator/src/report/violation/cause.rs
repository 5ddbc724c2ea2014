//! Which of the changes between the modules a violation may come from.

use std::collections::BTreeSet;

use crate::check::CheckReport;
use crate::correspondence::{changes, Change, ChangeKind};
use crate::ir::Line;

/// Changes that are told.
pub(super) const TOLD: usize = 3;

/// The first changes, at most as many: those first that events of a violation are about. `lines` are those of these events
/// in after.
pub(super) fn sentences(report: &CheckReport, lines: &BTreeSet<Line>, most: usize) -> Vec<String> {
    // Where one module is the user's own text, lines of what is compared are not those of reports.
    let (before, after) = match &report.diff {
        Some((before, after)) => (before.as_str(), after.as_str()),
        None => (&*report.before.text, &*report.after.text),
    };
    let mut sentences = told(changes(before, after), lines, report.diff.is_none(), most);
    if report.diff.is_some() && !sentences.is_empty() {
        sentences.push("(lines here are those of the disassemblies)".to_owned());
    }
    sentences
}

fn told(mut changes: Vec<Change>, lines: &BTreeSet<Line>, has_lines: bool, most: usize) -> Vec<String> {
    let weak = |change: &Change| matches!(change.kind, ChangeKind::Interface | ChangeKind::Computation);
    if changes.iter().any(|change| !weak(change)) {
        changes.retain(|change| !weak(change));
    }
    let total = changes.len();
    if total > most && has_lines {
        changes.sort_by_key(|change| !change.lines.iter().any(|line| lines.contains(line)));
    }
    let mut sentences: Vec<String> = changes.into_iter().take(most).map(|change| change.sentence).collect();
    match total.saturating_sub(most) {
        0 => {}
        1 => sentences.push("and 1 other change (see the diff)".to_owned()),
        more => sentences.push(format!("and {more} other changes (see the diff)")),
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(kind: ChangeKind, line: Line) -> Change {
        Change { kind, lines: vec![line], lines_of_before: Vec::new(), sentence: format!("{kind:?} {line}") }
    }

    #[test]
    fn changes_of_what_happens_come_first_and_the_others_are_counted() {
        let value = |line| change(ChangeKind::Value, line);
        let all = vec![value(1), value(2), value(3), value(4), value(5), change(ChangeKind::Computation, 4)];
        let told_lines = told(all.clone(), &BTreeSet::from([4]), true, TOLD);
        assert_eq!(told_lines, ["Value 4", "Value 1", "Value 2", "and 2 other changes (see the diff)"]);
        assert_eq!(
            told(vec![change(ChangeKind::Computation, 4)], &BTreeSet::new(), true, TOLD),
            ["Computation 4"]
        );
    }
}
