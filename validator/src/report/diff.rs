//! A unified diff of the two modules, over their texts as they correspond.

use similar::{Algorithm, DiffOp};

use super::parts::Part;
use super::style::Painter;
use crate::correspondence::{in_names_of_before, Told, Written};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The unified diff of what corresponds, in the names of before; empty where the texts are equal. With `full` also
/// comments, names, and what nothing depends on.
pub(super) fn part(before: (&str, &str), after: (&str, &str), full: bool, painter: Painter) -> Part {
    let ((before_name, before), (after_name, after)) = (before, after);
    let told = in_names_of_before(before, after, full);
    let [old, new] = &told.lines;
    let [old_texts, new_texts] =
        [old, new].map(|lines| lines.iter().map(|line| line.text.as_str()).collect::<Vec<&str>>());
    let ops = similar::capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts);
    let mut lines = Vec::new();
    for hunk in similar::group_diff_ops(ops, CONTEXT) {
        lines.push(painter.position(&header(&hunk, old, new)));
        for op in &hunk {
            let (old_range, new_range) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                lines.extend(old[old_range].iter().map(|line| format!(" {}", line.text)));
            } else {
                lines.extend(old[old_range].iter().map(|line| painter.removed(&format!("-{}", line.text))));
                lines.extend(new[new_range].iter().map(|line| painter.added(&format!("+{}", line.text))));
            }
        }
    }
    let tail = left_out(&told);
    if lines.is_empty() && tail.is_empty() {
        return Part::default();
    }
    let head = [format!("--- {before_name}"), format!("+++ {after_name}")];
    let head = head.map(|line| painter.heading(&line));
    Part { head: std::iter::once(String::new()).chain(head).collect(), lines, tail }
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

    const PLAIN: Painter = Painter { coloured: false };

    fn diff(before: &str, after: &str, painter: Painter) -> Vec<String> {
        let Part { head, lines, tail } = part(("b", before), ("a", after), false, painter);
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
    fn hunks_have_the_lines_of_each_text_and_what_is_left_out_is_counted() {
        let code = "OpCapability Shader\n%f = OpFunction\nOpA\nOpFunctionEnd\n";
        let after = format!("; a comment\n\n{}", code.replace("OpA\n", ""));
        let hunk = "@@ -1,4 +3,3 @@\n OpCapability Shader\n %f = OpFunction\n-OpA\n OpFunctionEnd";
        let left_out =
            "not shown of the diff: changed lines, 1 of names, comments and debug information (--full)";
        assert_eq!(diff(code, &after, PLAIN).join("\n"), format!("\n--- b\n+++ a\n{hunk}\n{left_out}"));
    }
}
