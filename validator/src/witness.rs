//! Executions as witnesses of what a search found, and their events in the field's words.

use std::sync::Arc;

use crate::event::Order;
use crate::ir::Line;
use crate::model::graph::{Event, Graph, Kind, Source, UnitBytes};
use crate::model::relation::Relation;
use crate::model::vulkan::{self, Variant};
use crate::value::Byte;

/// One execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// Executions with the outcome that this one is the first of.
    pub executions: u64,
    pub graph: Graph,
    /// For each unit of the graph, its memory (of the dispatch) and first byte.
    pub units: Arc<[(u32, u32)]>,
    pub variant: Variant,
    /// Synchronizes-with, where the graph alone does not tell it: where release sequences depend on scoped
    /// modification order.
    pub synchronizes_with: Option<Relation>,
}

/// An event of a witness, told for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessEvent {
    pub invocation: u32,
    pub line: Line,
    /// "read", "write", "read-modify-write", "memory barrier", "control barrier", with qualifiers.
    pub what: String,
    /// Object and byte offset, for accesses.
    pub location: Option<(u32, u32)>,
    pub read: Option<Vec<Byte>>,
    pub written: Option<Vec<Byte>>,
    /// Indices of the events that this one reads from (`None` in the list: the initial value).
    pub reads_from: Vec<Option<usize>>,
    /// Indices of events that synchronize with this one.
    pub synchronized_by: Vec<usize>,
}

impl Witness {
    /// The events of the graph, in its order, with what they read and who synchronizes with them.
    pub fn events(&self) -> Vec<WitnessEvent> {
        let derived;
        let synchronizes_with = match &self.synchronizes_with {
            Some(given) => given,
            None => {
                derived = vulkan::relations(&self.graph, self.variant).synchronizes_with;
                &derived
            }
        };
        let events = self.graph.events.iter().enumerate();
        events.map(|(id, event)| tell(id, event, synchronizes_with)).collect()
    }
}

fn tell(id: usize, event: &Event, synchronizes_with: &Relation) -> WitnessEvent {
    let source = |source: &Source| match source {
        Source::Event(write) => Some(*write as usize),
        Source::Initial | Source::Pending => None,
    };
    let mut reads_from: Vec<Option<usize>> = event.sources.iter().map(source).collect();
    reads_from.dedup();
    let concat = |units: &[UnitBytes]| units.iter().flatten().copied().collect::<Vec<_>>();
    WitnessEvent {
        invocation: event.agent,
        line: event.line,
        what: describe(event),
        location: event.place,
        read: event.reads().then(|| concat(&event.read)),
        written: event.writes().then(|| concat(&event.written)),
        reads_from,
        synchronized_by: (0..synchronizes_with.len())
            .filter(|other| synchronizes_with.contains(*other, id))
            .collect(),
    }
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
        Kind::Availability => "availability operation",
        Kind::Visibility => "visibility operation",
        Kind::DeviceAvailability => "availability operation to the device domain",
        Kind::DeviceVisibility => "visibility operation from the device domain",
    });
    words.retain(|word| !word.is_empty());
    let mut text = words.join(" ");
    if event.atomic || event.is_fence() && event.order != Order::Relaxed {
        text.push_str(" at ");
        text.push_str(event.scope.name());
        text.push_str(" scope");
    }
    text
}
