//! The columns of a picture: invocations that the report is about have their own; others that execute the same share one.

use std::collections::{BTreeMap, BTreeSet};

use super::Subject;
use crate::ir::Line;
use crate::report::witness::{involved, kept, numbers, way, Wanted};

/// So many invocations have their own columns, whatever they do.
const FEW: usize = 6;

/// Invocations that the report is about and that have their own columns, where others share them.
const OWN: usize = 4;

/// Columns of a picture in which invocations share them.
const MOST_FOLDED: usize = 12;

/// Columns and events of a picture in which every invocation has its own column.
const MOST_COLUMNS: usize = 64;
const MOST_UNFOLDED: usize = 256;

/// Whether invocations share columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Folding {
    /// Those that execute the same do.
    Alike,
    /// Each has its own, as far as that fits.
    Never,
}

/// Some invocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Column {
    /// Those that it stands for, ascending; the events of the first one are drawn.
    pub(in crate::report) invocations: Vec<u32>,
    /// What it is called.
    pub(in crate::report) name: String,
    /// Where the invocation stands in its workgroup, where it is one.
    pub(in crate::report) local: String,
    pub(in crate::report) workgroup: Band,
    pub(in crate::report) subgroup: Band,
}

/// A workgroup or subgroup that a column belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::report) enum Band {
    /// This one: its number in the dispatch, and what it is called.
    One(u32, String),
    /// All others.
    Others,
    /// There are none, as in litmus tests.
    None,
}

/// Columns, and which events they have.
pub(super) struct Layout {
    pub(super) columns: Vec<Column>,
    /// The column of each invocation that has one.
    pub(super) column_of: BTreeMap<u32, usize>,
    /// The events of each invocation.
    pub(super) of: BTreeMap<u32, Vec<usize>>,
    /// For each column the events that are drawn.
    pub(super) kept: Vec<BTreeSet<usize>>,
    pub(super) left_out: Vec<String>,
}

impl Layout {
    /// The event that is drawn for this one, if it is drawn.
    pub(super) fn representative(&self, subject: &Subject<'_>, number: usize) -> Option<usize> {
        let invocation = subject.execution.events.get(number)?.invocation;
        let column = *self.column_of.get(&invocation)?;
        let first = *self.columns[column].invocations.first()?;
        if first == invocation {
            return self.kept[column].contains(&number).then_some(number);
        }
        let place = self.of.get(&invocation)?.binary_search(&number).ok()?;
        let drawn = *self.of.get(&first)?.get(place)?;
        self.kept[column].contains(&drawn).then_some(drawn)
    }
}

/// Gives invocations columns.
pub(super) fn lay_out(subject: &Subject<'_>, folding: Folding, most_events: usize) -> Layout {
    let events = &subject.execution.events;
    let mut of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, event) in events.iter().enumerate() {
        of.entry(event.invocation).or_default().push(number);
    }
    let marked = subject.marks.iter().flat_map(|mark| [mark.from, mark.to]);
    let mut wanted: Vec<usize> = subject.wanted.iter().copied().chain(marked).collect();
    wanted.dedup();
    let mut left_out = Vec::new();
    let columns = match folding {
        Folding::Alike => {
            let mut columns = folded(subject, &of, &wanted);
            cut(&mut columns, MOST_FOLDED, subject, &of, &mut left_out);
            columns
        }
        Folding::Never => {
            let mut columns: Vec<Column> =
                of.keys().map(|invocation| column(subject, vec![*invocation], None)).collect();
            let mut count = 0;
            let fits = |column: &&Column| {
                count += of.get(&column.invocations[0]).map_or(0, Vec::len).min(most_events);
                count <= MOST_UNFOLDED
            };
            let fitting = columns.iter().take_while(fits).count().min(MOST_COLUMNS);
            cut(&mut columns, fitting, subject, &of, &mut left_out);
            columns
        }
    };
    let kept = columns.iter().map(|column| {
        let own = of.get(&column.invocations[0]).map_or(&[][..], Vec::as_slice);
        kept(events, own, &Wanted { events: wanted.clone(), with_reads: true }, most_events)
    });
    let kept = kept.collect();
    let numbered = columns.iter().enumerate();
    let column_of = numbered
        .flat_map(|(at, column)| column.invocations.iter().map(move |invocation| (*invocation, at)))
        .collect();
    Layout { columns, column_of, of, kept, left_out }
}

/// Keeps the first columns, and says what the others would be.
fn cut(
    columns: &mut Vec<Column>,
    most: usize,
    subject: &Subject<'_>,
    of: &BTreeMap<u32, Vec<usize>>,
    left_out: &mut Vec<String>,
) {
    if columns.len() <= most {
        return;
    }
    let mut invocations: Vec<u32> =
        columns.drain(most..).flat_map(|column| column.invocations.into_iter()).collect();
    invocations.sort_unstable();
    let count: usize = invocations.iter().filter_map(|invocation| of.get(invocation)).map(Vec::len).sum();
    let who = subject.agents.several(&numbers(&invocations));
    left_out.push(format!("{who}, with {count} events: the picture has at most {most} columns"));
}

/// Invocations that the report is about by themselves, others with those of the same subgroup (or of other ones, where
/// no invocation by itself is in them) that execute the same.
fn folded(subject: &Subject<'_>, of: &BTreeMap<u32, Vec<usize>>, wanted: &[usize]) -> Vec<Column> {
    let events = &subject.execution.events;
    if of.len() <= FEW {
        return of.keys().map(|invocation| column(subject, vec![*invocation], None)).collect();
    }
    let wanted = Wanted { events: wanted.to_vec(), with_reads: true };
    let alone = involved(events, &wanted, of, OWN);
    let places = &subject.scene.dispatch.places;
    let place = |invocation: u32| places.get(invocation as usize);
    let workgroups: BTreeSet<u32> =
        alone.iter().filter_map(|invocation| Some(place(*invocation)?.workgroup)).collect();
    let subgroups: BTreeSet<u32> =
        alone.iter().filter_map(|invocation| Some(place(*invocation)?.subgroup)).collect();
    type Key<'e> = (Option<u32>, Option<u32>, Vec<(Line, &'e str)>);
    let mut shared: BTreeMap<Key<'_>, Vec<u32>> = BTreeMap::new();
    for (invocation, own) in of.iter().filter(|(invocation, _)| !alone.contains(invocation)) {
        let of_workgroup = place(*invocation).map(|place| place.workgroup);
        let of_subgroup = place(*invocation).map(|place| place.subgroup);
        let workgroup = of_workgroup.filter(|known| workgroups.contains(known));
        let subgroup = of_subgroup.filter(|known| subgroups.contains(known));
        shared.entry((workgroup, subgroup, way(events, own))).or_default().push(*invocation);
    }
    let mut columns: Vec<Column> =
        alone.iter().map(|invocation| column(subject, vec![*invocation], None)).collect();
    for ((workgroup, subgroup, _), invocations) in shared {
        columns.push(column(subject, invocations, Some((workgroup.is_some(), subgroup.is_some()))));
    }
    columns.sort_by_key(|column| {
        let others = |band: &Band| matches!(band, Band::Others);
        let number = |band: &Band| match band {
            Band::One(number, _) => *number,
            Band::Others | Band::None => u32::MAX,
        };
        let (workgroup, subgroup) = (&column.workgroup, &column.subgroup);
        let first = column.invocations.first().copied();
        (others(workgroup), number(workgroup), others(subgroup), number(subgroup), first)
    });
    columns
}

/// A column. `known` says whether all its invocations are in one workgroup and in one subgroup.
fn column(subject: &Subject<'_>, invocations: Vec<u32>, known: Option<(bool, bool)>) -> Column {
    let (in_workgroup, in_subgroup) = known.unwrap_or((true, true));
    let place = invocations.first().and_then(|first| subject.scene.dispatch.places.get(*first as usize));
    let has_bands = subject.agents == super::Agents::Invocations;
    let band = |one: bool, number: u32, name: String| match (has_bands, one) {
        (false, _) => Band::None,
        (true, true) => Band::One(number, name),
        (true, false) => Band::Others,
    };
    let at = |[x, y, z]: [u32; 3]| match (y, z) {
        (0, 0) => x.to_string(),
        _ => format!("({x},{y},{z})"),
    };
    let workgroup = place.map_or(Band::None, |place| {
        band(in_workgroup, place.workgroup, format!("workgroup {}", at(place.workgroup_id)))
    });
    let subgroup = place.map_or(Band::None, |place| {
        band(in_subgroup, place.subgroup, format!("subgroup {}", place.subgroup_id))
    });
    let name = match &invocations[..] {
        [one] => subject.agents.one(*one),
        several => subject.agents.several(&numbers(several)),
    };
    let local = match (&invocations[..], place, has_bands) {
        ([_], Some(place), true) => format!("local {}", at(place.local_id)),
        ([_], _, _) => String::new(),
        (several, _, _) => format!("{} alike", several.len()),
    };
    Column { invocations, name, local, workgroup, subgroup }
}
