//! What is new about an outcome: the values that differ, by the names and types of what they are in.

use super::Told;
use crate::behaviour::{End, Outcome};
use crate::report::text;
use crate::value::Byte;

/// Outcomes of before that are compared with a new one.
const COMPARED: usize = 256;

/// Places that are told one by one.
pub(super) const PLACES: usize = 6;

/// Values of before at one place.
const VALUES: usize = 4;

/// Outcomes of before that are told as rows.
const ROWS: usize = 4;

/// A value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Among the objects that are observed in after.
    pub(super) object: usize,
    /// Its first byte.
    pub(super) start: usize,
    /// Its size in bytes.
    pub(super) size: usize,
}

/// The memory of an outcome, as the objects of after are numbered that are observed.
type Memory<'o> = Vec<Option<&'o [Byte]>>;

/// In what an outcome of after differs from those of before.
pub(super) struct Novelty {
    /// In words.
    pub(super) lines: Vec<String>,
    /// The values that before never has; those that vary, where only their combination is new.
    pub(super) cells: Vec<Cell>,
}

impl Novelty {
    /// That of an outcome.
    pub(super) fn of(told: &Told<'_>, outcome: &Outcome) -> Novelty {
        let behaviours = &told.run.before.behaviours;
        let compared = behaviours.first(COMPARED);
        let alike: Vec<&Outcome> = compared.iter().filter(|other| other.end == outcome.end).collect();
        let mut novelty = Novelty { lines: Vec::new(), cells: Vec::new() };
        if outcome.end == End::Hang {
            novelty.lines.push("  hang: some invocation waits for ever".to_owned());
        } else if alike.is_empty() {
            let cut = if behaviours.complete { "" } else { ", as far as it was searched" };
            novelty.lines.push(format!("  after ends, which before does not{cut}"));
        } else {
            let keys: Vec<&str> = told.observed().map(|object| object.key.as_str()).collect();
            let own: Memory<'_> = outcome.memory.iter().map(|bytes| Some(bytes.as_slice())).collect();
            let of_before: Vec<Memory<'_>> =
                alike.iter().map(|other| memory(&told.run.before.dispatch, other, &keys)).collect();
            novelty.compare(told, &own, &of_before);
        }
        novelty.lines.extend(traces(told, outcome, &alike));
        let count = behaviours.count();
        if count > compared.len() as u64 {
            let some = compared.len();
            novelty.lines.push(format!("  compared with {some} of the {count} outcomes of before"));
        }
        novelty
    }

    fn compare(&mut self, told: &Told<'_>, own: &Memory<'_>, of_before: &[Memory<'_>]) {
        let cells = varying(told, own, of_before);
        let is_new = |cell: &&Cell| {
            let value_of_after = value(own, cell);
            of_before.iter().all(|memory| value(memory, cell) != value_of_after)
        };
        let new: Vec<Cell> = cells.iter().filter(is_new).copied().collect();
        if new.is_empty() && !cells.is_empty() {
            self.lines.extend(rows(told, own, of_before, &cells));
            self.cells = cells;
            return;
        }
        let (marks, mut new): (Vec<Cell>, Vec<Cell>) = new.into_iter().partition(|cell| told.is_mark(cell));
        for mark in &marks {
            // A fragment that is discarded in after alone leaves nothing: its outputs follow from that.
            let is_discarded = value(own, mark).is_some_and(|bytes| bytes.first() == Some(&Byte::Known(1)));
            let is_its = |cell: &Cell| {
                is_discarded && told.is_gone_with(cell, mark, value(own, cell).unwrap_or_default())
            };
            let gone = new.iter().filter(|cell| is_its(cell)).count();
            let outputs = match gone {
                0 => "",
                1 => "; its output is undefined then",
                _ => "; its outputs are undefined then",
            };
            self.lines.push(format!(
                "  {}: {}{outputs}",
                told.cell_name(mark),
                values(told, own, of_before, mark)
            ));
            if !told.scene.full {
                new.retain(|cell| !is_its(cell));
            }
        }
        let mut told_cells: Vec<(String, String, String)> = Vec::new();
        for cell in &new {
            let (name, values) = (told.cell_name(cell), values(told, own, of_before, cell));
            match told_cells.last_mut().filter(|(_, _, known)| *known == values) {
                Some((_, last, _)) => *last = name,
                None => told_cells.push((name.clone(), name, values)),
            }
        }
        let shown = told.some_of(told_cells.len(), PLACES);
        let more = told_cells.len().saturating_sub(shown);
        for (first, last, values) in told_cells.into_iter().take(shown) {
            self.lines.push(match first == last {
                true => format!("  {first}: {values}"),
                false => format!("  {}: {values}", range(&first, &last)),
            });
        }
        if more > 0 {
            self.lines.push(format!("  … {more} more values that before never has (--full)"));
        }
        self.cells = marks.into_iter().chain(new).collect();
    }
}

/// `output at location 0, components x to z (float)`, where two names differ in the component alone.
fn range(first: &str, last: &str) -> String {
    let component = |name: &str| {
        let (front, rest) = name.split_once(", component ")?;
        let (component, behind) = rest.split_once(' ')?;
        Some((front.to_owned(), component.to_owned(), behind.to_owned()))
    };
    match component(first).zip(component(last)) {
        Some(((front, from, behind), (other, to, end))) if front == other && behind == end => {
            format!("{front}, components {from} to {to} {behind}")
        }
        _ => format!("{first} to {last}"),
    }
}

/// The memory of an outcome of `dispatch`, by these keys.
fn memory<'o>(dispatch: &crate::dispatch::Dispatch, outcome: &'o Outcome, keys: &[&str]) -> Memory<'o> {
    let find = |key: &&str| {
        let observed = dispatch.objects.iter().filter(|object| object.observed);
        let mut observed = observed.zip(&outcome.memory);
        observed.find(|(object, _)| object.key == **key).map(|(_, bytes)| bytes.as_slice())
    };
    keys.iter().map(find).collect()
}

fn value<'o>(memory: &Memory<'o>, cell: &Cell) -> Option<&'o [Byte]> {
    let bytes = memory.get(cell.object).copied().flatten()?;
    bytes.get(cell.start..(cell.start + cell.size).min(bytes.len()))
}

/// What is not the same in all of these.
fn varying(told: &Told<'_>, own: &Memory<'_>, of_before: &[Memory<'_>]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (object, bytes) in own.iter().enumerate().filter_map(|(object, bytes)| Some((object, (*bytes)?))) {
        let others: Vec<Option<&[Byte]>> =
            of_before.iter().map(|memory| memory.get(object).copied().flatten()).collect();
        // What before does not have at all is not compared.
        let others: Vec<&[Byte]> = others.into_iter().flatten().filter(|other| *other != bytes).collect();
        let mut offset = 0;
        while offset < bytes.len() && !others.is_empty() {
            if others.iter().any(|other| other.get(offset) != bytes.get(offset)) {
                let cell = told.cell(object, offset);
                offset = cell.start + cell.size;
                cells.push(cell);
            } else {
                offset += 1;
            }
        }
    }
    cells
}

/// `before 1.5 or 2, after 0`.
fn values(told: &Told<'_>, own: &Memory<'_>, of_before: &[Memory<'_>], cell: &Cell) -> String {
    let mut known: Vec<Option<&[Byte]>> = Vec::new();
    for memory in of_before {
        let value = value(memory, cell);
        if !known.contains(&value) {
            known.push(value);
        }
    }
    let in_words = |value: &Option<&[Byte]>| told.value(cell, value.unwrap_or_default());
    let shown = told.some_of(known.len(), VALUES);
    let mut some: Vec<String> = known.iter().take(shown).map(in_words).collect();
    match (known.len().saturating_sub(shown), some.pop()) {
        (0, last) => some.extend(last),
        (more, last) => {
            some.extend(last);
            some.push(format!("{more} other values"));
        }
    }
    let before = some.join(" or ");
    format!("before {before}, after {}", told.value(cell, value(own, cell).unwrap_or_default()))
}

/// Where each value alone is one of before: the values of each outcome together.
fn rows(told: &Told<'_>, own: &Memory<'_>, of_before: &[Memory<'_>], cells: &[Cell]) -> Vec<String> {
    let shown: Vec<&Cell> = cells.iter().take(told.some_of(cells.len(), PLACES)).collect();
    let row = |memory: &Memory<'_>| {
        let value = |cell: &&Cell| {
            let value = told.value(cell, value(memory, cell).unwrap_or_default());
            format!("{} = {value}", told.cell_name(cell))
        };
        shown.iter().map(value).collect::<Vec<String>>().join(", ")
    };
    let mut lines = vec![
        "  before has each of these values, but not together".to_owned(),
        format!("  after: {}", row(own)),
    ];
    let mut known: Vec<String> = Vec::new();
    for memory in of_before {
        let row = row(memory);
        if !known.contains(&row) {
            known.push(row);
        }
    }
    let all = told.some_of(known.len(), ROWS);
    lines.extend(known.iter().take(all).map(|row| format!("  before: {row}")));
    if known.len() > all {
        lines.push(format!("  … {} more combinations of before (--full)", known.len() - all));
    }
    if cells.len() > shown.len() {
        lines.push(format!("  … {} more values that vary (--full)", cells.len() - shown.len()));
    }
    lines
}

/// The volatile accesses of invocations that before never makes so.
fn traces(told: &Told<'_>, outcome: &Outcome, alike: &[&Outcome]) -> Vec<String> {
    let traces = outcome.volatile.iter().enumerate();
    let new = traces.filter(|(invocation, trace)| {
        !trace.is_empty() && alike.iter().all(|other| other.volatile.get(*invocation) != Some(trace))
    });
    let lines = new.flat_map(|(invocation, trace)| {
        let own = text::trace_text(trace, told.dispatch());
        let before = alike.first().and_then(|outcome| outcome.volatile.get(invocation));
        let before = before.map(|trace| match trace.is_empty() {
            true => "  before: none".to_owned(),
            false => format!("  before: {}", text::trace_text(trace, &told.run.before.dispatch)),
        });
        std::iter::once(format!("  volatile accesses of invocation {invocation}: {own}")).chain(before)
    });
    lines.collect()
}
