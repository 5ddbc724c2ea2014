//! Which failure a violation is: a short text without names and lines, which violations with the same cause share.

use super::account;
use crate::check::{CheckReport, Run, Source};
use crate::compare::{Subject, Violation};
use crate::correspondence::Texts;
use crate::event::UndefinedKind;
use crate::ir::Line;

/// What tells a failure from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// `KIND/WHAT`, and `/STORAGE` where memory is involved: the kind of violation, then the instruction of before whose
    /// ordering was lost, the instructions that compute different values, or what was changed.
    pub name: String,
    /// The line of after that is to blame, 1-based; that of before where after lacks it.
    pub line: Option<Line>,
}

/// That of a report; `None` where nothing violates.
pub fn bucket(report: &CheckReport) -> Option<Bucket> {
    let run = report.decisive()?;
    let violation = run.comparison.violation.as_ref()?;
    let (what, line) = what(report, run, violation);
    let parts = [Some(kind(run, violation)), Some(what), storage(run, violation)];
    let name = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    Some(Bucket { name, line })
}

/// The kind of violation; of undefined behaviour, which one.
fn kind(run: &Run, violation: &Violation) -> String {
    let after = run.after.as_ref();
    let undefined = match violation.subject {
        Subject::Undefined(index) => after.and_then(|after| after.behaviours.undefined.get(index)),
        Subject::Outcome(_) | Subject::Part(..) => None,
    };
    match undefined {
        // A new race is a kind of its own.
        Some((undefined, _)) if undefined.kind != UndefinedKind::DataRace => {
            format!("{}-{}", violation.kind, undefined.kind.name())
        }
        Some(_) | None => violation.kind.to_string(),
    }
}

fn what(report: &CheckReport, run: &Run, violation: &Violation) -> (String, Option<Line>) {
    if let Some(loss) = run.why.lost.first() {
        let what = format!("lost-{}", opcode(&report.before, loss.before));
        return (what, loss.after.or(Some(loss.before)));
    }
    let [before, after] = report.compared_texts();
    let texts = Texts::of(before, after);
    let correspondence = texts.matched();
    if let Some([of_before, of_after]) = account::first_difference_lines(report, run, &correspondence) {
        let both = [opcode(&report.before, of_before), opcode(&report.after, of_after)];
        let what = match both[0] == both[1] {
            true => both[0].to_owned(),
            false => both.join("-"),
        };
        return (what, Some(of_after));
    }
    if let Some(standing) = run.why.account.standing.first() {
        return (opcode(&report.after, standing.line).to_owned(), Some(standing.line));
    }
    if let Some(line) = fault_line(run, violation) {
        return (opcode(&report.after, line).to_owned(), Some(line));
    }
    match correspondence.changes().first() {
        Some(change) => {
            let of_after = change.lines.first().filter(|line| !change.lines_of_before.contains(line));
            let what = match of_after {
                Some(line) => opcode_in(after, *line),
                None => change.lines_of_before.first().map_or("", |line| opcode_in(before, *line)),
            };
            // Lines of other texts are not those that people have.
            let line = change.lines.first().copied().filter(|_| report.diff.is_none());
            (what.to_owned(), line)
        }
        None => (String::new(), None),
    }
}

fn fault_line(run: &Run, violation: &Violation) -> Option<Line> {
    let Subject::Undefined(index) = violation.subject else { return None };
    let (undefined, _) = run.after.as_ref()?.behaviours.undefined.get(index)?;
    undefined.lines.last().copied()
}

/// Of races and outcomes, which kind of memory it is.
fn storage(run: &Run, violation: &Violation) -> Option<String> {
    let after = run.after.as_ref()?;
    let raced = || {
        let Subject::Undefined(index) = violation.subject else { return None };
        let (_, witness) = after.behaviours.undefined.get(index)?;
        let (object, _) = witness.events().get(*run.why.race?.first()?)?.location?;
        Some(after.dispatch.objects.get(usize::try_from(object).ok()?)?.key.clone())
    };
    let key = raced().or_else(|| Some(violation.difference.as_ref()?.key.clone()))?;
    // The forms of keys are those of docs/json.md, "Values".
    Some(match key.split_once(':') {
        Some((prefix, _)) => prefix.to_owned(),
        // Shared memory without a binding.
        None if key.starts_with('%') => "workgroup".to_owned(),
        None => "buffer".to_owned(),
    })
}

/// The opcode on a line of a module's text.
fn opcode(module: &Source, line: Line) -> &str {
    opcode_in(module.text.as_str(), line)
}

/// The opcode on a line of a text.
fn opcode_in(text: &str, line: Line) -> &str {
    let index = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
    let line = index.and_then(|index| text.lines().nth(index)).unwrap_or_default();
    line.split_whitespace().find(|word| word.starts_with("Op")).unwrap_or_default()
}
