//! Which of the changes between the modules a violation may come from.

use std::collections::BTreeSet;

use crate::check::CheckReport;
use crate::correspondence::{Change, ChangeKind};
use crate::explain::{Computations, Loss};
use crate::ir::Line;
use crate::report::account::{self, Beginning, Code};
use crate::report::diff::Suspects;

/// Changes that are told.
pub(super) const TOLD: usize = 3;

/// The first of all changes, at most as many: those first that events of a violation are about. `lines` are those of these events
/// in after. Below a change stands what its instructions computed: of that the code of after and the invocation that is
/// told, where there is one.
pub(super) fn lines(
    report: &CheckReport,
    mut all: Vec<Change>,
    lines: &BTreeSet<Line>,
    most: usize,
    (computed, codes, guilty): (&[Computations; 2], [&Code<'_>; 2], Option<u32>),
    beginning: Beginning,
    lost: &[Loss],
) -> (Vec<String>, Suspects) {
    let first_difference = beginning.known().map(|found| found.at);
    // Where one module is the user's own text, lines of what is compared are not those of reports.
    let has_lines = report.diff.is_none();
    let is_it = |change: &Change| {
        first_difference.is_some_and(|[of_before, of_after]| {
            change.lines.contains(&of_after) || change.lines_of_before.contains(&of_before)
        })
    };
    // Who has undefined behaviour may have come there past a guard.
    let is_fault = report.decisive().is_some_and(|run| run.why.account.fault.is_some());
    let is_guard = |change: &Change| is_fault && change.kind == ChangeKind::Flow;
    if has_lines {
        all.sort_by_key(|change| (!is_it(change), !is_guard(change)));
    }
    // What was changed there says more than what it computes.
    let is_alone = all.len() == 1;
    let is_named = has_lines && all.first().is_some_and(|first| is_it(first) || is_alone);
    // Undefined behaviour is told with the branch that leads there.
    let is_undefined = is_fault || report.decisive().is_some_and(|run| run.why.race.is_some());
    let mut of_beginning = beginning.lines(!is_undefined);
    let mut told = if is_named { Vec::new() } else { std::mem::take(&mut of_beginning) };
    let mut suspects = Suspects::default();
    if let Some([of_before, of_after]) = first_difference {
        suspects[0].insert(of_before);
        suspects[1].insert(of_after);
    }
    suspects[0].extend(lost.iter().map(|loss| loss.before));
    suspects[1].extend(lost.iter().filter_map(|loss| loss.after));
    let mut most = most;
    // Of many changes those are told from which the violation comes, where that is known.
    if all.len() > most && has_lines {
        for loss in lost.iter().take(most) {
            let (module, line) = match loss.after {
                Some(line) => (&report.after, line),
                None => (&report.before, loss.before),
            };
            let place = module.places.told(line);
            let text = module.line(line).unwrap_or_default();
            told.push(format!("{}: {text}", loss.sentence));
            told.extend(place.map(|place| format!("  {place}")));
        }
        if !lost.is_empty() || first_difference.is_some() {
            most = usize::from(all.first().is_some_and(is_it));
        }
    }
    let (changes, more) = first(all, lines, has_lines.then_some(&is_it), most);
    for change in changes {
        suspects[0].extend(&change.lines_of_before);
        suspects[1].extend(&change.lines);
        let values = || {
            let lines = [change.lines_of_before.first().copied(), change.lines.first().copied()];
            account::values(computed, lines, codes, guilty)
        };
        // What is told of the first difference is not told again.
        let computes = change.kind != ChangeKind::Ordering && first_difference.is_none();
        let values = if has_lines && computes { values() } else { Vec::new() };
        let is_first = is_it(&change) || is_alone;
        let place = match (change.lines.first(), change.lines_of_before.first()) {
            (Some(line), _) => report.after.places.told(*line),
            (None, Some(line)) => report.before.places.told(*line),
            (None, None) => None,
        };
        told.push(change.sentence);
        told.extend(place.filter(|_| has_lines).map(|place| format!("  {place}")));
        told.extend(values);
        if is_named && is_first {
            told.append(&mut of_beginning);
        }
    }
    told.append(&mut of_beginning);
    match more {
        0 => {}
        1 => told.push("and 1 other change (--full)".to_owned()),
        more => told.push(format!("and {more} other changes (--full)")),
    }
    if !has_lines && !told.is_empty() {
        told.push("(lines here are those of the disassemblies)".to_owned());
    }
    (told, suspects)
}

/// The first changes, and how many others there are. `is_it` says which one the violation comes from; none, where lines say
/// nothing.
fn first(
    mut changes: Vec<Change>,
    lines: &BTreeSet<Line>,
    is_it: Option<&dyn Fn(&Change) -> bool>,
    most: usize,
) -> (Vec<Change>, usize) {
    let is_cause = |change: &Change| is_it.is_some_and(|is_it| is_it(change));
    let is_weak = |change: &Change| matches!(change.kind, ChangeKind::Interface | ChangeKind::Computation);
    let weak = |change: &Change| is_weak(change) && !is_cause(change);
    if changes.iter().any(|change| change.kind < ChangeKind::OwnAccess) {
        changes.retain(|change| !weak(change));
    }
    let total = changes.len();
    if total > most && is_it.is_some() {
        let is_near = |change: &Change| change.lines.iter().any(|line| lines.contains(line));
        changes.sort_by_key(|change| (!is_cause(change), !is_near(change)));
    }
    changes.truncate(most);
    (changes, total.saturating_sub(most))
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
        let sentences = |(changes, more): (Vec<Change>, usize)| {
            (changes.into_iter().map(|change| change.sentence).collect::<Vec<String>>(), more)
        };
        let (told, more) = sentences(first(all.clone(), &BTreeSet::from([4]), Some(&|_| false), TOLD));
        assert_eq!((told, more), (["Value 4", "Value 1", "Value 2"].map(str::to_owned).to_vec(), 2));
        let (told, _) = sentences(first(all, &BTreeSet::from([4]), Some(&|change| change.lines == [5]), 1));
        assert_eq!(told, ["Value 5"]);
        let alone = vec![change(ChangeKind::Computation, 4)];
        let told = sentences(first(alone, &BTreeSet::new(), Some(&|_| false), TOLD));
        assert_eq!(told, (vec!["Computation 4".to_owned()], 0));
    }
}
