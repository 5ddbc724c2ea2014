//! Two modules side by side, as their instructions correspond: what differs with some lines around it, the rest folded.

use maud::{html, Markup};
use similar::{Algorithm, DiffOp};

use super::page::Budget;
use crate::correspondence::{Texts, Written};
use crate::report::diff;

/// Lines around what differs.
const CONTEXT: usize = 3;

/// Two modules: each its name and its text.
pub(super) struct Pair<'a> {
    pub(super) before: (&'a str, &'a str),
    pub(super) after: (&'a str, &'a str),
}

/// A line of each module.
type Row<'w> = (Option<&'w Written>, Option<&'w Written>);

/// Rows that belong together.
enum Block<'w> {
    Shown(Vec<Row<'w>>),
    /// The same in both, far from what differs.
    Equal(Vec<Row<'w>>),
}

/// The modules side by side. Equal lines are hidden where they fit in the page, and else only counted.
pub(super) fn side_by_side(pair: &Pair<'_>, budget: &mut Budget, share: usize) -> Option<Markup> {
    let told = Texts::of(pair.before.1, pair.after.1).matched().in_names_of_before(false);
    let [old, new] = &told.lines;
    let blocks = blocks(old, new);
    let notes = diff::left_out(&told);
    let differs = blocks.iter().any(|block| matches!(block, Block::Shown(_)));
    if !differs && notes.is_empty() {
        return None;
    }
    let forms = [true, false].into_iter().map(|whole| table(pair, &blocks, &notes, whole));
    budget.first_of("the modules side by side", share, forms)
}

fn table(pair: &Pair<'_>, blocks: &[Block<'_>], notes: &[String], whole: bool) -> Markup {
    html! {
        table.diff {
            caption { "What is the same has the name that it has in before. Numbers are lines of each module." }
            colgroup { col.n; col.m; col; col.n; col.m; col; }
            thead {
                tr {
                    th.n scope="col" { "line" } th.m {} th scope="col" { "before: " (pair.before.0) }
                    th.n scope="col" { "line" } th.m {} th scope="col" { "after: " (pair.after.0) }
                }
            }
            @for block in blocks {
                @match block {
                    Block::Shown(rows) => tbody { @for row in rows { (self::row(row)) } }
                    Block::Equal(rows) => {
                        tbody.fold {
                            tr {
                                td colspan="6" {
                                    @if whole {
                                        label { input type="checkbox"; (equal(rows.len())) }
                                    } @else {
                                        (equal(rows.len())) ", not on this page"
                                    }
                                }
                            }
                        }
                        @if whole { tbody.hidden { @for row in rows { (self::row(row)) } } }
                    }
                }
            }
        }
        @for note in notes { p.faint { (note) } }
    }
}

fn equal(count: usize) -> String {
    match count {
        1 => "1 equal line".to_owned(),
        _ => format!("{count} equal lines"),
    }
}

fn row((old, new): &Row<'_>) -> Markup {
    let line =
        |written: Option<&Written>| written.map_or_else(String::new, |written| written.line.to_string());
    let text = |written: Option<&Written>| written.map_or_else(String::new, |written| written.text.clone());
    let differs = old.map(|written| &written.text) != new.map(|written| &written.text);
    html! {
        tr {
            td.n { (line(*old)) }
            @if differs && old.is_some() { td.m.del { "−" } td.del { del { (text(*old)) } } }
            @else { td.m {} td { (text(*old)) } }
            td.n { (line(*new)) }
            @if differs && new.is_some() { td.m.ins { "+" } td.ins { ins { (text(*new)) } } }
            @else { td.m {} td { (text(*new)) } }
        }
    }
}

fn blocks<'w>(old: &'w [Written], new: &'w [Written]) -> Vec<Block<'w>> {
    let [old_texts, new_texts] =
        [old, new].map(|lines| lines.iter().map(|line| line.text.as_str()).collect::<Vec<&str>>());
    let ops = similar::capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts);
    let last = ops.len().saturating_sub(1);
    let mut blocks: Vec<Block<'w>> = Vec::new();
    let mut shown: Vec<Row<'w>> = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
        let count = old.len().max(new.len());
        let rows: Vec<Row<'w>> = (0..count).map(|at| (old.get(at), new.get(at))).collect();
        let DiffOp::Equal { .. } = op else {
            shown.extend(rows);
            continue;
        };
        let head = if at == 0 { 0 } else { CONTEXT };
        let tail = if at == last { 0 } else { CONTEXT };
        if count <= head + tail + 1 {
            shown.extend(rows);
            continue;
        }
        shown.extend(&rows[..head]);
        if !shown.is_empty() {
            blocks.push(Block::Shown(std::mem::take(&mut shown)));
        }
        blocks.push(Block::Equal(rows[head..count - tail].to_vec()));
        shown.extend(&rows[count - tail..]);
    }
    if !shown.is_empty() {
        blocks.push(Block::Shown(shown));
    }
    blocks
}
