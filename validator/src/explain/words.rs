//! What after changed about an ordering of before, in words.

use crate::ir::Line;
use crate::model::explain::{listed, Names, Ordering};
use crate::model::graph::{Event, EventId, Graph};
use crate::model::memory_model::{MemoryModel, Relations};
use crate::value::Byte;

/// What after lost of what before orders accesses by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The line of the instruction in before.
    pub before: Line,
    /// That of its counterpart in after.
    pub after: Option<Line>,
    /// What after lost.
    pub sentence: String,
}

/// Two graphs whose events are matched.
pub(super) struct Told<'a> {
    pub(super) before: &'a Graph,
    pub(super) after: &'a Graph,
    pub(super) of_after: &'a [Option<EventId>],
    pub(super) names: &'a dyn Names,
    pub(super) model: &'a dyn MemoryModel,
}

impl Told<'_> {
    /// Whether after, too, location-orders what before does.
    pub(super) fn ordered_in_after(&self, a: usize, b: usize, after: &Relations) -> bool {
        match (self.of_after[a], self.of_after[b]) {
            (Some(a), Some(b)) => after.ordered_units(a as usize, b as usize).next().is_some(),
            _ => false,
        }
    }

    /// What after changed about the events of an ordering, as clauses.
    pub(super) fn changes(&self, ordering: &Ordering, after: &Relations) -> Vec<String> {
        let events = &ordering.events;
        let mut changes = self.differences(events);
        for pair in events.windows(2) {
            if let (Some(x), Some(y)) = (self.of_after[pair[0]], self.of_after[pair[1]]) {
                let same_agent = self.before.events[pair[0]].agent == self.before.events[pair[1]].agent;
                if same_agent && x > y {
                    changes.push(format!(
                        "in after {} comes only after {}",
                        self.name_in_after(x),
                        self.name_in_after(y)
                    ));
                }
                let lost = self.before.events[pair[0]].agent != self.before.events[pair[1]].agent
                    && !after.synchronizes_with.contains(x as usize, y as usize);
                if lost && changes.is_empty() {
                    changes.push(format!(
                        "in after {} does not synchronize with {}",
                        self.name_in_after(x),
                        self.name_in_after(y)
                    ));
                }
            }
        }
        changes
    }

    /// What after changed about events of before by themselves, as clauses.
    pub(super) fn differences(&self, events: &[usize]) -> Vec<String> {
        let mut changes: Vec<String> = Vec::new();
        for event in events {
            let kind = || self.model.kind_name(&self.before.events[*event]);
            let change = match self.of_after[*event] {
                None => Some(format!("after has no {} there", kind())),
                Some(other) => self.difference(*event, other),
            };
            // Both invocations may execute the same instruction.
            changes.extend(change.filter(|change| !changes.contains(change)));
        }
        changes
    }

    /// What after lost of events of before by themselves, as sentences with the lines of both modules.
    pub(super) fn losses(&self, events: &[usize]) -> Vec<Loss> {
        let mut losses: Vec<Loss> = Vec::new();
        for event in events {
            let of = &self.before.events[*event];
            let kind = self.model.kind_name(of);
            let loss = match self.of_after[*event] {
                None => Some(Loss {
                    before: of.line,
                    after: None,
                    sentence: format!("after lacks the {kind} on line {} of before", of.line),
                }),
                Some(other) => self.difference(*event, other).map(|clause| Loss {
                    before: of.line,
                    after: self.after.events.get(other as usize).map(|event| event.line),
                    sentence: format!(
                        "{} (before: line {})",
                        clause.strip_prefix("in after ").unwrap_or(&clause),
                        of.line
                    ),
                }),
            };
            losses.extend(loss.filter(|loss| !losses.contains(loss)));
        }
        losses
    }

    /// How an event of after differs from its match in what can order it, as a clause.
    fn difference(&self, event: usize, other: EventId) -> Option<String> {
        let (x, y) = (&self.before.events[event], &self.after.events[other as usize]);
        if x.atomic && !y.atomic {
            return Some(format!("in after {} is not atomic", self.name_in_after(other)));
        }
        let lacks = self.model.lacks(x, y, self.names);
        (!lacks.is_empty()).then(|| format!("in after {} {}", self.name_in_after(other), listed(&lacks)))
    }

    /// Matched writes of different values.
    pub(super) fn different_write(&self) -> Option<String> {
        self.of_after.iter().enumerate().find_map(|(event, other)| {
            let (x, y) = (&self.before.events[event], &self.after.events[(*other)? as usize]);
            if !x.writes() || x.written == y.written {
                return None;
            }
            if !y.writes() {
                return Some(format!(
                    "before's {} on line {} is only {} in after ({})",
                    self.model.kind_name(x),
                    x.line,
                    self.name_in_after((*other)?),
                    self.names.agent(x.agent)
                ));
            }
            Some(format!(
                "with the same values read, before writes {} at line {} and after writes {} at line {} ({})",
                bytes(x),
                x.line,
                bytes(y),
                y.line,
                self.names.agent(x.agent)
            ))
        })
    }

    /// An access of one of the two that the other does not have.
    pub(super) fn unmatched(&self) -> Option<String> {
        let of_before = |id: usize| self.of_after.contains(&Some(id as EventId));
        let mut after = self.after.events.iter().enumerate();
        if let Some((id, event)) = after.find(|(id, event)| event.accesses() && !of_before(*id)) {
            let name = self.name_in_after(id as EventId);
            return Some(format!("before has no counterpart of {name} ({})", self.names.agent(event.agent)));
        }
        let mut before = self.before.events.iter().zip(self.of_after);
        let (event, _) = before.find(|(event, other)| event.accesses() && other.is_none())?;
        let (kind, agent) = (self.model.kind_name(event), self.names.agent(event.agent));
        let is_repeated = self.before.events.iter().zip(self.of_after).any(|(other, matched)| {
            matched.is_some() && other.line == event.line && other.agent == event.agent
        });
        Some(match is_repeated {
            true => {
                format!("before executes its {kind} on line {} once more than after ({agent})", event.line)
            }
            false => format!("after has no counterpart of before's {kind} on line {} ({agent})", event.line),
        })
    }

    /// An event of before by its line, and that of its match.
    pub(super) fn name(&self, event: usize) -> String {
        let of = &self.before.events[event];
        match self.other_line(event) {
            Some(line) => {
                format!("the {} on line {} (after: line {line})", self.model.kind_name(of), of.line)
            }
            None => format!("the {} on line {}", self.model.kind_name(of), of.line),
        }
    }

    /// The same with the invocation.
    pub(super) fn long(&self, event: usize) -> String {
        let of = &self.before.events[event];
        let agent = self.names.agent(of.agent);
        match self.other_line(event) {
            Some(line) => {
                format!("the {} on line {} ({agent}; after: line {line})", self.model.kind_name(of), of.line)
            }
            None => format!("the {} on line {} ({agent})", self.model.kind_name(of), of.line),
        }
    }

    /// The line in after, where it is another one.
    fn other_line(&self, event: usize) -> Option<Line> {
        let other = self.after.events.get(self.of_after[event]? as usize)?;
        (other.line != self.before.events[event].line).then_some(other.line)
    }

    fn name_in_after(&self, event: EventId) -> String {
        let of = &self.after.events[event as usize];
        format!("the {} on line {}", self.model.kind_name(of), of.line)
    }
}

/// Written bytes as little-endian words.
fn bytes(event: &Event) -> String {
    let words: Vec<String> = event
        .written
        .iter()
        .map(|unit| {
            let digits: String = unit
                .iter()
                .rev()
                .map(|byte| match byte {
                    Byte::Known(value) => format!("{value:02x}"),
                    Byte::Undef => "??".to_owned(),
                })
                .collect();
            format!("0x{digits}")
        })
        .collect();
    words.join(" ")
}
