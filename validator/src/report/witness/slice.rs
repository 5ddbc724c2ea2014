//! Which events of a witness are shown: those of the invocations that the violation is about. Invocations that execute
//! the same instructions as one of them are counted with it.

use std::collections::{BTreeMap, BTreeSet};

use super::{events, Scene};
use crate::ir::Line;
use crate::witness::WitnessEvent;

/// So many events are all shown.
const FEW: usize = 12;

/// Invocations whose events are shown.
const INVOCATIONS: usize = 4;

/// Events of one of them.
const EVENTS: usize = 8;

/// The events that a report is about.
#[derive(Clone, Debug, Default)]
pub(in crate::report) struct Wanted {
    /// By their places in the witness.
    pub(in crate::report) events: Vec<usize>,
    /// Whether everything matters that their invocations read, or only what they read themselves.
    pub(in crate::report) with_reads: bool,
}

/// The events of a witness in words, all or those that `wanted` ones need.
pub(in crate::report) fn lines(scene: &Scene<'_>, events: &[WitnessEvent], wanted: &Wanted) -> Vec<String> {
    let mut of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, event) in events.iter().enumerate() {
        of.entry(event.invocation).or_default().push(number);
    }
    let shown = match scene.full || events.len() <= FEW {
        true => of.keys().copied().collect(),
        false => involved(events, wanted, &of, INVOCATIONS),
    };
    let mut lines = Vec::new();
    let mut cited = BTreeSet::new();
    let mut shown_ways: Vec<(Way<'_>, u32)> = Vec::new();
    for invocation in &shown {
        let own = of.get(invocation).map_or(&[][..], Vec::as_slice);
        shown_ways.push((way(events, own), *invocation));
        lines.push(format!("  {}", scene.painter.heading(&events::invocation(scene.dispatch, *invocation))));
        let kept = kept(events, own, wanted, if scene.full { usize::MAX } else { EVENTS });
        let mut left_out = Left::default();
        for number in own {
            if !kept.contains(number) {
                left_out.add(events[*number].line);
                continue;
            }
            lines.extend(std::mem::take(&mut left_out).told());
            let races = !wanted.with_reads && wanted.events.contains(number);
            let other = wanted.events.iter().find(|other| races && *other != number);
            let mark = other.map_or_else(String::new, |other| format!("  <- races with #{other}"));
            lines.push(events::line(scene, *number, events) + &mark);
            let line = events[*number].line;
            // A line that was cited above says no more.
            if scene.full || cited.insert(line) {
                let source = scene.module.cited(line);
                lines.extend(source.map(|source| scene.painter.faint(&format!("       {source}"))));
            }
        }
        lines.extend(left_out.told());
    }
    let mut others: BTreeMap<(Option<u32>, Way<'_>), Vec<u32>> = BTreeMap::new();
    for (invocation, own) in of.iter().filter(|(invocation, _)| !shown.contains(invocation)) {
        let way = way(events, own);
        let like = shown_ways.iter().find(|(other, _)| *other == way).map(|(_, other)| *other);
        others.entry((like, way)).or_default().push(*invocation);
    }
    for ((like, way), invocations) in others {
        let who = runs(&invocations);
        lines.push(match like {
            Some(other) => format!("  {who}: as invocation {other}, each with values of its own"),
            None => {
                let mut left_out = Left::default();
                way.iter().for_each(|(line, _)| left_out.add(*line));
                let each = if invocations.len() == 1 { "" } else { " each" };
                format!("  {who}: {}{each}, {} (--full)", left_out.count(), left_out.lines())
            }
        });
    }
    lines
}

/// What an invocation executes: lines, and what is done there.
pub(in crate::report) type Way<'e> = Vec<(Line, &'e str)>;

pub(in crate::report) fn way<'e>(events: &'e [WitnessEvent], own: &[usize]) -> Way<'e> {
    own.iter().map(|number| (events[*number].line, events[*number].what.as_str())).collect()
}

/// The invocations of wanted events, or else those that communicate; then those that these read from. At most `most`.
pub(in crate::report) fn involved(
    events: &[WitnessEvent],
    wanted: &Wanted,
    of: &BTreeMap<u32, Vec<usize>>,
    most: usize,
) -> Vec<u32> {
    let mut shown: Vec<u32> = Vec::new();
    let add = |invocation: u32, shown: &mut Vec<u32>| {
        if !shown.contains(&invocation) && shown.len() < most {
            shown.push(invocation);
        }
    };
    let reads_elsewhere = |event: &&WitnessEvent| {
        let mut sources = event.reads_from.iter().flatten();
        sources.any(|source| events[*source].invocation != event.invocation)
    };
    let of_interest: Vec<&WitnessEvent> = match wanted.events.is_empty() {
        true => events.iter().filter(reads_elsewhere).collect(),
        false => wanted.events.iter().filter_map(|number| events.get(*number)).collect(),
    };
    of_interest.iter().for_each(|event| add(event.invocation, &mut shown));
    for source in of_interest.iter().flat_map(|event| event.reads_from.iter().flatten()) {
        add(events[*source].invocation, &mut shown);
    }
    let mut at = 0;
    while let Some(invocation) = shown.get(at).copied().filter(|_| wanted.with_reads) {
        at += 1;
        let own = of.get(&invocation).into_iter().flatten();
        for source in own.flat_map(|number| events[*number].reads_from.iter().flatten()) {
            add(events[*source].invocation, &mut shown);
        }
    }
    if shown.is_empty() {
        of.keys().for_each(|invocation| add(*invocation, &mut shown));
    }
    shown.sort_unstable();
    shown
}

/// Which events of an invocation are shown: wanted ones, those that communicate, and the last. At most `most`, unless more
/// are wanted.
pub(in crate::report) fn kept(
    events: &[WitnessEvent],
    own: &[usize],
    Wanted { events: wanted, with_reads }: &Wanted,
    most: usize,
) -> BTreeSet<usize> {
    let shows_all = *with_reads || wanted.is_empty() || events.len() <= FEW;
    if own.len() <= most && (shows_all || most == usize::MAX) {
        return own.iter().copied().collect();
    }
    let is_wanted = |number: &&usize| wanted.contains(number);
    let places: BTreeSet<_> = wanted.iter().filter_map(|number| events[*number].location).collect();
    let at_place = |number: &&usize| events[**number].location.is_some_and(|place| places.contains(&place));
    let communicates = |number: &&usize| {
        let event = &events[**number];
        let mut sources = event.reads_from.iter().flatten();
        !event.synchronized_by.is_empty()
            || sources.any(|source| events[*source].invocation != event.invocation)
    };
    let mut kept: BTreeSet<usize> = own.iter().filter(is_wanted).copied().collect();
    // Where nothing is wanted, the last ones say most.
    let others = own.iter().rev().filter(|_| wanted.is_empty());
    // Other turns of what is wanted say nothing, nor does what comes behind it.
    let last = own.iter().filter(is_wanted).max().copied();
    let lines: BTreeSet<Line> = wanted.iter().map(|number| events[*number].line).collect();
    let is_news = |number: &&usize| {
        last.is_none_or(|last| **number < last) && (*with_reads || !lines.contains(&events[**number].line))
    };
    let more: [Vec<&usize>; 3] = [
        own.iter().rev().filter(at_place).filter(is_news).collect(),
        own.iter().rev().filter(communicates).filter(is_news).collect(),
        others.collect(),
    ];
    for number in more.into_iter().flatten() {
        if kept.len() < most {
            kept.insert(*number);
        }
    }
    kept
}

/// Events that are not shown.
#[derive(Default)]
struct Left {
    events: usize,
    lines: BTreeSet<Line>,
}

impl Left {
    fn add(&mut self, line: Line) {
        self.events += 1;
        self.lines.insert(line);
    }

    fn count(&self) -> String {
        format!("{} event{}", self.events, if self.events == 1 { "" } else { "s" })
    }

    fn lines(&self) -> String {
        match (self.lines.first(), self.lines.last()) {
            (Some(first), Some(last)) if first != last => format!("lines {first} to {last}"),
            (Some(first), _) => format!("line {first}"),
            (None, _) => "no lines".to_owned(),
        }
    }

    fn told(self) -> Option<String> {
        (self.events > 0).then(|| format!("    … {}, {} (--full)", self.count(), self.lines()))
    }
}

/// `invocations 2, 4 and 8 to 63`.
pub(in crate::report) fn runs(invocations: &[u32]) -> String {
    let plural = if invocations.len() == 1 { "" } else { "s" };
    format!("invocation{plural} {}", numbers(invocations))
}

/// `2, 4, 8 to 63`.
pub(in crate::report) fn numbers(invocations: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for invocation in invocations {
        match runs.last_mut().filter(|(_, last)| last + 1 == *invocation) {
            Some((_, last)) => *last = *invocation,
            None => runs.push((*invocation, *invocation)),
        }
    }
    let told: Vec<String> = runs
        .iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first} to {last}"),
        })
        .collect();
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invocations_are_told_in_runs() {
        assert_eq!(runs(&[3]), "invocation 3");
        assert_eq!(runs(&[2, 3, 8, 9, 10, 63]), "invocations 2, 3, 8 to 10, 63");
    }
}
