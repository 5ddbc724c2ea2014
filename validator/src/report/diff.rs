//! A unified diff of the two modules.

use similar::{ChangeTag, TextDiff};

use super::style::Painter;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The unified diff; empty where the texts are equal.
pub fn unified(before: (&str, &str), after: (&str, &str), painter: Painter) -> String {
    let ((before_name, before), (after_name, after)) = (before, after);
    let diff = TextDiff::from_lines(before, after);
    let mut hunks = diff.unified_diff();
    let mut text = String::new();
    for hunk in hunks.context_radius(CONTEXT).iter_hunks() {
        if text.is_empty() {
            text.push_str(&painter.heading(&format!("--- {before_name}")));
            text.push('\n');
            text.push_str(&painter.heading(&format!("+++ {after_name}")));
            text.push('\n');
        }
        text.push_str(&painter.position(hunk.header().to_string().trim_end()));
        text.push('\n');
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches(['\n', '\r']);
            text.push_str(&match change.tag() {
                ChangeTag::Equal => format!(" {line}"),
                ChangeTag::Delete => painter.removed(&format!("-{line}")),
                ChangeTag::Insert => painter.added(&format!("+{line}")),
            });
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_their_context() {
        let plain = Painter { coloured: false };
        assert_eq!(
            unified(("b", "1\n2\n3\n4\n5\n6\n"), ("a", "1\n2\n3\n4\nfive\n6\n"), plain),
            "--- b\n+++ a\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n"
        );
        assert_eq!(unified(("b", "1\n"), ("a", "1\n"), plain), "");
        let coloured = unified(("b", "1\n"), ("a", "2\n"), Painter { coloured: true });
        assert!(coloured.contains("\u{1b}[31m-1\u{1b}[0m"), "{coloured:?}");
    }
}
