//! Sentences about orderings.

use super::order::{self, Step};
use crate::event::{ClassSet, Order};
use crate::explore::names::scope_name;
use crate::model::graph::{Event, EventId, Graph, Kind};
use crate::model::vulkan::Relations;
use crate::value::Byte;

/// Two graphs whose events are matched.
pub(super) struct Told<'a> {
    pub(super) before: &'a Graph,
    pub(super) after: &'a Graph,
    pub(super) of_after: &'a [Option<EventId>],
}

impl Told<'_> {
    /// Before orders `first` before `second` by `path`; after does not.
    pub(super) fn lost_order(
        &self,
        path: &[(Step, usize)],
        first: usize,
        second: usize,
        after: &Relations,
    ) -> String {
        let mut text =
            format!("before orders {} before {}{}", self.name(first), self.name(second), self.way(path));
        text.push_str(&self.changes(path, first, after));
        text
    }

    /// Before's graph has a forbidden cycle.
    pub(super) fn cycle(&self, cycle: &[(Step, usize)], before: &Relations, after: &Relations) -> String {
        let mut text = String::from("before forbids this: ");
        let steps = cycle.len();
        for (position, (step, event)) in cycle.iter().enumerate() {
            let previous = cycle[(position + steps - 1) % steps].1;
            if position > 0 {
                text.push_str("; ");
            }
            text.push_str(&match step {
                Step::ReadsFrom => format!("{} reads from {}", self.name(*event), self.name(previous)),
                Step::FromReads => {
                    format!("{} reads a value older than that of {}", self.name(previous), self.name(*event))
                }
                Step::LocationOrdered => {
                    let path = order::path(self.before, before, previous, *event);
                    format!(
                        "{} is ordered before {}{}",
                        self.name(previous),
                        self.name(*event),
                        self.way(&path)
                    )
                }
                Step::ScopedModificationOrder => {
                    format!(
                        "{} precedes {} in scoped modification order",
                        self.name(previous),
                        self.name(*event)
                    )
                }
                Step::ProgramOrder | Step::SynchronizesWith => {
                    format!("{} comes before {}", self.name(previous), self.name(*event))
                }
            });
        }
        let lost = cycle.iter().enumerate().filter(|(_, (step, _))| *step == Step::LocationOrdered).find(
            |(position, (_, event))| {
                let previous = cycle[(position + steps - 1) % steps].1;
                !self.ordered_in_after(previous, *event, after)
            },
        );
        if let Some((position, (_, event))) = lost {
            let previous = cycle[(position + steps - 1) % steps].1;
            let path = order::path(self.before, before, previous, *event);
            text.push_str(&self.changes(&path, previous, after));
        }
        text
    }

    fn ordered_in_after(&self, a: usize, b: usize, after: &Relations) -> bool {
        match (self.of_after[a], self.of_after[b]) {
            (Some(a), Some(b)) => order::is_location_ordered(after, a as usize, b as usize),
            _ => false,
        }
    }

    /// " by: …", the way of an ordering through synchronization.
    fn way(&self, path: &[(Step, usize)]) -> String {
        let steps: Vec<String> = path
            .iter()
            .take(path.len().saturating_sub(1))
            .map(|(step, event)| match step {
                Step::SynchronizesWith => format!("which synchronizes with {}", self.name(*event)),
                Step::ProgramOrder
                | Step::LocationOrdered
                | Step::ReadsFrom
                | Step::FromReads
                | Step::ScopedModificationOrder => self.name(*event),
            })
            .collect();
        match (steps.is_empty(), path.last()) {
            (true, Some((Step::SynchronizesWith, _))) => " by synchronizing with it".to_owned(),
            (true, _) => " in program order".to_owned(),
            (false, _) => format!(" (by {})", steps.join(", ")),
        }
    }

    /// What after changed about the events of a path that starts at `first`.
    fn changes(&self, path: &[(Step, usize)], first: usize, after: &Relations) -> String {
        let events: Vec<usize> = std::iter::once(first).chain(path.iter().map(|(_, event)| *event)).collect();
        let mut changes = Vec::new();
        for event in &events {
            match self.of_after[*event] {
                None => {
                    changes.push(format!("after has no {} there", kind_name(&self.before.events[*event])))
                }
                Some(other) => changes.extend(self.differences(*event, other)),
            }
        }
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
        match changes.is_empty() {
            true => String::new(),
            false => format!("; but {}", changes.join(", and ")),
        }
    }

    /// How an event of after differs from its match in what can order it.
    fn differences(&self, event: usize, other: EventId) -> Vec<String> {
        let (x, y) = (&self.before.events[event], &self.after.events[other as usize]);
        let mut found = Vec::new();
        let mut say = |text: String| found.push(format!("in after line {} {text}", y.line));
        if x.order != y.order {
            say(format!("is {} instead of {}", order_name(y.order), order_name(x.order)));
        }
        let missing = ClassSet(x.semantics.0 & !y.semantics.0);
        if !missing.is_empty() && y.order != Order::Relaxed {
            say(format!("lacks {} in its semantics", classes(missing)));
        }
        if x.make_available && !y.make_available && y.order != Order::Relaxed {
            say("lacks MakeAvailable".to_owned());
        }
        if x.make_visible && !y.make_visible && y.order != Order::Relaxed {
            say("lacks MakeVisible".to_owned());
        }
        if y.scope < x.scope && x.scope > crate::event::Scope::Invocation {
            say(format!("has {} scope instead of {}", scope_name(y.scope), scope_name(x.scope)));
        }
        if x.atomic && !y.atomic {
            say("is not atomic".to_owned());
        }
        if x.non_private && !y.non_private {
            say("is private (lacks NonPrivatePointer)".to_owned());
        }
        if x.writes() && x.available.is_some() && y.available < x.available {
            say("is not made available at that scope".to_owned());
        }
        if x.reads() && x.visible.is_some() && y.visible < x.visible {
            say("is not made visible at that scope".to_owned());
        }
        found
    }

    /// Matched writes of different values.
    pub(super) fn different_write(&self) -> Option<String> {
        self.of_after.iter().enumerate().find_map(|(event, other)| {
            let (x, y) = (&self.before.events[event], &self.after.events[(*other)? as usize]);
            (x.writes() && x.written != y.written).then(|| {
                format!(
                    "with the same values read, before writes {} at line {} and after writes {} at line {} (invocation {})",
                    bytes(x), x.line, bytes(y), y.line, x.agent
                )
            })
        })
    }

    /// Accesses of after that before does not have.
    pub(super) fn unmatched(&self) -> Option<String> {
        let matched: Vec<EventId> = self.of_after.iter().flatten().copied().collect();
        let (id, event) = self
            .after
            .events
            .iter()
            .enumerate()
            .find(|(id, event)| event.accesses() && !matched.contains(&(*id as EventId)))?;
        Some(format!(
            "before has no counterpart of {} (invocation {})",
            self.name_in_after(id as EventId),
            event.agent
        ))
    }

    fn name(&self, event: usize) -> String {
        let of = &self.before.events[event];
        match self.of_after[event] {
            Some(other) => format!(
                "the {} on line {} (after: line {})",
                kind_name(of),
                of.line,
                self.after.events[other as usize].line
            ),
            None => format!("the {} on line {}", kind_name(of), of.line),
        }
    }

    fn name_in_after(&self, event: EventId) -> String {
        let of = &self.after.events[event as usize];
        format!("the {} on line {}", kind_name(of), of.line)
    }
}

fn kind_name(event: &Event) -> &'static str {
    match (event.kind, event.atomic, event.releases(), event.acquires()) {
        (Kind::Read, false, _, _) => "load",
        (Kind::Read, true, _, true) => "acquire load",
        (Kind::Read, true, _, false) => "atomic load",
        (Kind::Write, false, _, _) => "store",
        (Kind::Write, true, true, _) => "release store",
        (Kind::Write, true, false, _) => "atomic store",
        (Kind::Update, _, _, _) => "read-modify-write",
        (Kind::Fence, _, _, _) => "memory barrier",
        (Kind::Barrier { .. }, _, _, _) => "control barrier",
        (Kind::DeviceAvailability, _, _, _) => "availability operation",
        (Kind::DeviceVisibility, _, _, _) => "visibility operation",
    }
}

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "Relaxed",
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::AcquireRelease => "AcquireRelease",
        Order::SequentiallyConsistent => "SequentiallyConsistent",
    }
}

/// The names of storage-class bits.
fn classes(set: ClassSet) -> String {
    let names = [
        (ClassSet::UNIFORM, "UniformMemory"),
        (ClassSet::SUBGROUP, "SubgroupMemory"),
        (ClassSet::WORKGROUP, "WorkgroupMemory"),
        (ClassSet::CROSS_WORKGROUP, "CrossWorkgroupMemory"),
        (ClassSet::ATOMIC_COUNTER, "AtomicCounterMemory"),
        (ClassSet::IMAGE, "ImageMemory"),
        (ClassSet::OUTPUT, "OutputMemory"),
    ];
    let present: Vec<&str> =
        names.iter().filter(|(bit, _)| set.contains(*bit)).map(|(_, name)| *name).collect();
    present.join(" and ")
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
