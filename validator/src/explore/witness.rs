//! Executions told for people.

use super::knowledge::UnitKey;
use crate::behaviour::{Witness, WitnessEvent};
use crate::event::{Order, Scope};
use crate::model::consistency::DataRace;
use crate::model::graph::{Event, Graph, Kind, Source};
use crate::model::vulkan::{self, Variant};

/// The events of a graph, with what they read and who synchronizes with them.
pub(super) fn of(graph: &Graph, units: &[UnitKey], variant: Variant) -> Witness {
    let relations = vulkan::relations(graph, variant);
    let events = graph.events.iter().enumerate().map(|(id, event)| {
        let mut reads_from: Vec<Option<usize>> = event
            .sources
            .iter()
            .map(|source| match source {
                Source::Event(write) => Some(*write as usize),
                Source::Initial | Source::Pending => None,
            })
            .collect();
        reads_from.dedup();
        let concat = |units: &[crate::model::graph::UnitBytes]| {
            units.iter().flat_map(|bytes| bytes.iter().copied()).collect::<Vec<_>>()
        };
        WitnessEvent {
            invocation: event.agent,
            line: event.line,
            what: describe(event),
            location: event.place,
            read: event.reads().then(|| concat(&event.read)),
            written: event.writes().then(|| concat(&event.written)),
            reads_from,
            synchronized_by: (0..graph.events.len())
                .filter(|other| relations.synchronizes_with.contains(*other, id))
                .collect(),
        }
    });
    Witness { events: events.collect(), graph: graph.clone(), units: units.to_vec() }
}

/// An event in the field's words.
pub(crate) fn describe(event: &Event) -> String {
    let mut words: Vec<&str> = Vec::new();
    if event.volatile {
        words.push("volatile");
    }
    if event.atomic {
        words.push("atomic");
    } else if event.accesses() {
        words.push(if event.non_private { "non-private" } else { "private" });
    }
    words.push(match event.order {
        Order::Relaxed if event.atomic => "relaxed",
        Order::Relaxed => "",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcquireRelease => "acquire-release",
        Order::SequentiallyConsistent => "sequentially consistent",
    });
    words.push(match event.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Update => "read-modify-write",
        Kind::Fence => "memory barrier",
        Kind::Barrier { .. } => "control barrier",
        Kind::DeviceAvailability => "availability operation to the device domain",
        Kind::DeviceVisibility => "visibility operation from the device domain",
    });
    words.retain(|word| !word.is_empty());
    let mut text = words.join(" ");
    if event.atomic || event.is_fence() && event.order != Order::Relaxed {
        text.push_str(" at ");
        text.push_str(scope_name(event.scope));
        text.push_str(" scope");
    }
    text
}

/// A scope's name in the specification.
pub(crate) fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Invocation => "Invocation",
        Scope::Subgroup => "Subgroup",
        Scope::Workgroup => "Workgroup",
        Scope::QueueFamily => "QueueFamily",
        Scope::Device => "Device",
        Scope::CrossDevice => "CrossDevice",
    }
}

/// A sentence about a race, without line numbers.
pub(super) fn race_detail(graph: &Graph, race: DataRace) -> String {
    let (a, b) = (&graph.events[race.first as usize], &graph.events[race.second as usize]);
    format!(
        "{} by invocation {} and {} by invocation {} are not ordered",
        describe(a),
        a.agent,
        describe(b),
        b.agent
    )
}
