//! A unified diff of the two modules, over their texts as they correspond.

use std::collections::BTreeSet;

use similar::{Algorithm, DiffOp};

use super::parts::Part;
use super::style::Painter;
use crate::correspondence::{Correspondence, Told, Written};
use crate::ir::Line;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Lines of a diff that are shown without looking for what matters.
const FEW: usize = 24;

/// Lines of context around what matters in a longer one.
const CONTEXT_OF_SUSPECTS: usize = 5;

/// The lines of before and of after that a violation is known to come from.
pub(super) type Suspects = [BTreeSet<Line>; 2];

/// A line of a diff, and whether it matters.
struct Shown {
    text: String,
    matters: bool,
    is_position: bool,
}

/// The unified diff of what corresponds, in the names of before; empty where the texts are equal. Of a long one what is
/// around the suspects, if it has them. With `full` all of it, also comments, names, and what nothing depends on.
pub(super) fn part(
    [before_name, after_name]: [&str; 2],
    correspondence: &Correspondence<'_, '_>,
    suspects: &Suspects,
    full: bool,
    painter: Painter,
) -> Part {
    let told = correspondence.in_names_of_before(full);
    let [old, new] = &told.lines;
    let [old_texts, new_texts] =
        [old, new].map(|lines| lines.iter().map(|line| line.text.as_str()).collect::<Vec<&str>>());
    let ops = similar::capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts);
    let mut lines = Vec::new();
    for hunk in similar::group_diff_ops(ops, CONTEXT) {
        lines.push(Shown {
            text: painter.position(&header(&hunk, old, new)),
            matters: false,
            is_position: true,
        });
        for op in &hunk {
            let (old_range, new_range) = (op.old_range(), op.new_range());
            let shown = |text: String, side: usize, line: Line| Shown {
                text,
                matters: suspects[side].contains(&line),
                is_position: false,
            };
            if let DiffOp::Equal { .. } = op {
                let both = old[old_range].iter().zip(&new[new_range]);
                lines.extend(both.map(|(old, new)| {
                    let shown = shown(format!(" {}", old.text), 0, old.line);
                    Shown { matters: shown.matters || suspects[1].contains(&new.line), ..shown }
                }));
            } else {
                let gone = old[old_range].iter();
                lines.extend(gone.map(|old| shown(painter.removed(&format!("-{}", old.text)), 0, old.line)));
                let added = new[new_range].iter();
                lines.extend(added.map(|new| shown(painter.added(&format!("+{}", new.text)), 1, new.line)));
            }
        }
    }
    let mut tail = left_out(&told);
    let (lines, hidden) = if full { (all(lines), 0) } else { around_suspects(lines) };
    if hidden > 0 {
        tail.insert(0, format!("{hidden} more lines of the diff (--full)"));
    }
    if lines.is_empty() && tail.is_empty() {
        return Part::default();
    }
    let head = [format!("--- {before_name}"), format!("+++ {after_name}")];
    let head = head.map(|line| painter.heading(&line));
    Part { head: std::iter::once(String::new()).chain(head).collect(), lines, tail }
}

fn all(lines: Vec<Shown>) -> Vec<String> {
    lines.into_iter().map(|line| line.text).collect()
}

/// Of a long diff the lines around what matters, where something does, with their hunks' positions; and how many others
/// there are.
fn around_suspects(lines: Vec<Shown>) -> (Vec<String>, usize) {
    let matter: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].matters).collect();
    if lines.len() <= FEW || matter.is_empty() {
        return (all(lines), 0);
    }
    let is_near = |at: usize| matter.iter().any(|other| at.abs_diff(*other) <= CONTEXT_OF_SUSPECTS);
    let (mut shown, mut hidden, mut gap, mut position) = (Vec::new(), 0, false, None);
    for (at, line) in lines.into_iter().enumerate() {
        if line.is_position {
            position = Some(line.text);
            gap = false;
        } else if is_near(at) {
            shown.extend(position.take());
            if std::mem::take(&mut gap) {
                shown.push("  …".to_owned());
            }
            shown.push(line.text);
        } else {
            hidden += 1;
            gap = true;
        }
    }
    (shown, hidden)
}

/// Where a hunk begins in the two texts, and how many of their lines it shows.
fn header(hunk: &[DiffOp], old: &[Written], new: &[Written]) -> String {
    let mut counts = [0, 0];
    for op in hunk {
        counts[0] += op.old_range().len();
        counts[1] += op.new_range().len();
    }
    let line = |lines: &[Written], at: Option<usize>, count: usize| {
        // Of nothing: the line behind which it would stand.
        let at = at.and_then(|at| if count == 0 { at.checked_sub(1) } else { Some(at) });
        at.and_then(|at| lines.get(at)).map_or(0, |line| line.line)
    };
    let first = hunk.first();
    let old_line = line(old, first.map(|op| op.old_range().start), counts[0]);
    let new_line = line(new, first.map(|op| op.new_range().start), counts[1]);
    format!("@@ -{old_line},{} +{new_line},{} @@", counts[0], counts[1])
}

/// What the diff does not show, and why its ids may not be those of before.
pub(super) fn left_out(told: &Told) -> Vec<String> {
    let mut parts = Vec::new();
    if told.declarations > 0 {
        parts.push(format!("{} of types, constants and their decorations", told.declarations));
    }
    if told.remarks > 0 {
        parts.push(format!("{} of names, comments and debug information", told.remarks));
    }
    let mut lines = Vec::new();
    if !parts.is_empty() {
        lines.push(format!("not shown of the diff: changed lines, {} (--full)", parts.join(", ")));
    }
    if told.too_long > 0 {
        lines.push(format!(
            "{} pairs of functions are too long to be matched: their ids are those of each module",
            told.too_long
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correspondence::Texts;

    const PLAIN: Painter = Painter { coloured: false };

    fn diff(before: &str, after: &str, painter: Painter) -> Vec<String> {
        let texts = Texts::of(before, after);
        let Part { head, lines, tail } =
            part(["b", "a"], &texts.matched(), &Suspects::default(), false, painter);
        [head, lines, tail].concat()
    }

    #[test]
    fn changes_are_shown_with_their_context() {
        let code = "%f = OpFunction\nOpA\nOpB\nOpC\nOpD\nOpE\nOpFunctionEnd\n";
        let after = code.replace("OpD", "OpX");
        let hunk = "@@ -2,6 +2,6 @@\n OpA\n OpB\n OpC\n-OpD\n+OpX\n OpE\n OpFunctionEnd";
        assert_eq!(diff(code, &after, PLAIN).join("\n"), format!("\n--- b\n+++ a\n{hunk}"));
        assert_eq!(diff(code, code, PLAIN), [""; 0]);
        let coloured = diff(code, &after, Painter { coloured: true });
        assert!(coloured.contains(&"\u{1b}[31m-OpD\u{1b}[0m".to_owned()), "{coloured:?}");
    }

    #[test]
    fn of_a_long_diff_what_matters_is_shown() {
        let lines = |number: std::ops::Range<usize>| number.map(|at| format!("Op{at}\n")).collect::<String>();
        let before = format!("%f = OpFunction\n{}OpFunctionEnd\n", lines(0..60));
        let after = format!("%f = OpFunction\n{}OpFunctionEnd\n", lines(100..160));
        let suspects = [BTreeSet::from([32]), BTreeSet::from([42])];
        let texts = Texts::of(&before, &after);
        let part = |full: bool| part(["b", "a"], &texts.matched(), &suspects, full, PLAIN);
        let Part { lines, tail, .. } = part(false);
        assert_eq!((lines.len(), lines[0].as_str(), lines[1].as_str()), (25, "@@ -1,62 +1,62 @@", "  …"));
        assert!(lines.contains(&"-Op30".to_owned()) && lines.contains(&"+Op140".to_owned()), "{lines:?}");
        assert_eq!(tail, ["100 more lines of the diff (--full)"]);
        let Part { lines, tail, .. } = part(true);
        assert_eq!((lines.len(), tail.len()), (123, 0));
    }

    #[test]
    fn hunks_have_the_lines_of_each_text_and_what_is_left_out_is_counted() {
        let code = "OpCapability Shader\n%f = OpFunction\nOpA\nOpFunctionEnd\n";
        let after = format!("; a comment\n\n{}", code.replace("OpA\n", ""));
        let hunk = "@@ -1,4 +3,3 @@\n OpCapability Shader\n %f = OpFunction\n-OpA\n OpFunctionEnd";
        let left_out =
            "not shown of the diff: changed lines, 1 of names, comments and debug information (--full)";
        assert_eq!(diff(code, &after, PLAIN).join("\n"), format!("\n--- b\n+++ a\n{hunk}\n{left_out}"));
    }
}
