//! The rows of a picture: events in the order of the execution. Those of one instruction that different invocations
//! execute one after the other share a row.

use std::collections::BTreeSet;

use super::columns::Layout;
use super::{Agents, Drawn, Gap, Picture, Subject};
use crate::ir::Line;
use crate::report::typed::Scalar;
use crate::report::witness::told;

/// Characters of a value, and of a place.
const VALUE: usize = 14;
const PLACE: usize = 17;

/// What stands in a row.
enum Item {
    Event(usize),
    Gap(String),
}

/// The picture without its edges.
pub(super) fn place(subject: &Subject<'_>, layout: &Layout) -> Picture {
    let events = &subject.execution.events;
    let mut items: Vec<(usize, usize, Item)> = Vec::new();
    for (column, kept) in layout.kept.iter().enumerate() {
        let own = layout.columns[column].invocations.first().and_then(|first| layout.of.get(first));
        let mut left: Vec<usize> = Vec::new();
        let mut flush = |left: &mut Vec<usize>| {
            if let Some(first) = left.first() {
                let lines: BTreeSet<Line> = left.iter().map(|number| events[*number].line).collect();
                items.push((*first, column, Item::Gap(gap(left.len(), &lines))));
                left.clear();
            }
        };
        for number in own.into_iter().flatten() {
            match kept.contains(number) {
                true => flush(&mut left),
                false => left.push(*number),
            }
        }
        flush(&mut left);
        items.extend(kept.iter().map(|number| (*number, column, Item::Event(*number))));
    }
    items.sort_by_key(|(number, column, _)| (subject.execution.rank[*number], *column));
    let mut picture = Picture::default();
    let mut row = Row::default();
    for (number, column, item) in items {
        let way = (events[number].line, events[number].what.as_str(), matches!(item, Item::Gap(_)));
        let reads = events[number].reads_from.iter().flatten();
        let reads_from_row = reads.clone().any(|source| row.events.contains(source));
        if row.way != Some(way) || row.columns.contains(&column) || reads_from_row {
            picture.rows += 1;
            row = Row { way: Some(way), ..Row::default() };
        }
        row.columns.insert(column);
        row.events.insert(number);
        let at = picture.rows - 1;
        match item {
            Item::Event(number) => picture.events.push(drawn(subject, number, column, at)),
            Item::Gap(text) => picture.gaps.push(Gap { column, row: at, text }),
        }
    }
    picture
}

/// The row that is filled.
#[derive(Default)]
struct Row<'e> {
    way: Option<(Line, &'e str, bool)>,
    columns: BTreeSet<usize>,
    events: BTreeSet<usize>,
}

/// `12 events, lines 5 to 9`.
fn gap(count: usize, lines: &BTreeSet<Line>) -> String {
    let plural = if count == 1 { "" } else { "s" };
    match (lines.first(), lines.last()) {
        (Some(first), Some(last)) if first != last => {
            format!("{count} event{plural}, lines {first} to {last}")
        }
        (Some(first), _) => format!("{count} event{plural}, line {first}"),
        (None, _) => format!("{count} event{plural}"),
    }
}

fn drawn(subject: &Subject<'_>, number: usize, column: usize, row: usize) -> Drawn {
    let (scene, execution) = (subject.scene, subject.execution);
    let (event, graph_event) = (&execution.events[number], &execution.graph.events[number]);
    let access = event.location.map_or_else(String::new, |(object, offset)| {
        let value = |bytes: &Option<Vec<_>>| {
            let known = bytes.as_ref().filter(|bytes| !bytes.is_empty());
            known.map(|bytes| match subject.agents {
                Agents::Invocations => cut(&scene.first_value_at(object, offset, bytes), VALUE),
                Agents::Threads => Scalar::Signed.told(bytes),
            })
        };
        let place = match (subject.agents, scene.dispatch.objects.get(object as usize)) {
            (Agents::Threads, Some(variable)) => variable.key.clone(),
            (Agents::Threads | Agents::Invocations, _) => scene.short_place(object, offset),
        };
        let place = end_of(&place, PLACE);
        match (value(&event.read), value(&event.written)) {
            (Some(read), Some(written)) => format!("{place}: {read} → {written}"),
            (Some(read), None) => format!("{place} = {read}"),
            (None, Some(written)) => format!("{place} ← {written}"),
            (None, None) => place,
        }
    });
    Drawn {
        number,
        column,
        row,
        event: graph_event.clone(),
        kind: execution.witness.model.kind_name(graph_event),
        access,
        told: told(event, scene),
        is_wanted: subject.wanted.contains(&number)
            || subject.marks.iter().any(|mark| [mark.from, mark.to].contains(&number)),
    }
}

/// The first characters of a text.
fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// The last characters of a text.
fn end_of(text: &str, most: usize) -> String {
    let count = text.chars().count();
    match count > most {
        true => std::iter::once('…').chain(text.chars().skip(count + 1 - most)).collect(),
        false => text.to_owned(),
    }
}
