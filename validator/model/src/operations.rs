//! The implicit availability and visibility operations of memory semantics, as events of their own.
//!
//! Implements "Availability and Visibility Semantics": the operation of MakeAvailable is
//! program-ordered right before the barrier or atomic, that of MakeVisible right after it. So they
//! are ordered otherwise than their instruction where that both acquires and releases (docs/semantics.md,
//! section 7.3).

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::graph::{Event, EventId, Graph, Kind};
use super::relation::Relation;
use crate::event::{ClassSet, Order};

/// A graph with its implicit operations.
pub struct Operations<'a> {
    /// The graph with one event for each operation; borrowed where no event has an implicit one.
    pub graph: Cow<'a, Graph>,
    /// For each operation, the event that it belongs to.
    pub event_of: Vec<EventId>,
    /// For each event, the operation that it is itself.
    pub operation_of: Vec<EventId>,
}

impl<'a> Operations<'a> {
    /// The operations of `graph`; itself where its events have no implicit ones.
    pub fn of(graph: &'a Graph) -> Self {
        let mut events = Vec::new();
        let (mut event_of, mut operation_of) = (Vec::new(), Vec::new());
        let is_implied = |event: &Arc<Event>| makes_available(event) || makes_visible(event);
        if !graph.events.iter().any(is_implied) {
            let all: Vec<EventId> = (0..graph.events.len() as EventId).collect();
            return Operations { graph: Cow::Borrowed(graph), event_of: all.clone(), operation_of: all };
        }
        for (id, event) in (0..).zip(&graph.events) {
            if makes_available(event) {
                events.push(Arc::new(implied(event, Kind::Availability)));
            }
            operation_of.push(events.len() as EventId);
            events.push(event.clone());
            if makes_visible(event) {
                events.push(Arc::new(implied(event, Kind::Visibility)));
            }
            event_of.resize(events.len(), id);
        }
        let mut expanded = Graph { events, agents: graph.agents.clone(), ..Graph::default() };
        let parts = |id: EventId| {
            let (start, end) =
                (event_of.partition_point(|of| *of < id), event_of.partition_point(|of| *of <= id));
            start as EventId..end as EventId
        };
        for (a, b) in &graph.system_synchronizes_with {
            let pairs = parts(*a).flat_map(|a| parts(*b).map(move |b| (a, b)));
            expanded.system_synchronizes_with.extend(pairs);
        }
        Operations { graph: Cow::Owned(expanded), event_of, operation_of }
    }

    /// A relation over events as one over operations.
    pub fn expand<'r>(&self, relation: &'r Relation) -> Cow<'r, Relation> {
        if self.is_graph() {
            return Cow::Borrowed(relation);
        }
        let mut expanded = Relation::new(self.event_of.len());
        for (a, operation) in self.operation_of.iter().enumerate() {
            for b in relation.row(a) {
                expanded.insert(*operation as usize, self.operation_of[b] as usize);
            }
        }
        Cow::Owned(expanded)
    }

    /// What a relation over operations says of the events themselves.
    pub fn project(&self, relation: Relation) -> Relation {
        if self.is_graph() {
            return relation;
        }
        let mut projected = Relation::new(self.operation_of.len());
        for (a, operation) in self.operation_of.iter().enumerate() {
            for other in relation.row(*operation as usize) {
                let b = self.event_of[other] as usize;
                if self.operation_of[b] as usize == other {
                    projected.insert(a, b);
                }
            }
        }
        projected
    }

    fn is_graph(&self) -> bool {
        matches!(self.graph, Cow::Borrowed(_))
    }
}

pub(super) fn makes_available(event: &Event) -> bool {
    event.make_available && event.releases()
}

pub(super) fn makes_visible(event: &Event) -> bool {
    event.make_visible && event.acquires()
}

/// An operation on all memory in the storage classes of the event's semantics.
pub(super) fn implied(event: &Event, kind: Kind) -> Event {
    Event {
        kind,
        units: SmallVec::new(),
        reference: u32::MAX,
        class: event.semantics,
        atomic: false,
        order: Order::Relaxed,
        semantics: ClassSet::default(),
        make_available: false,
        make_visible: false,
        available: None,
        visible: None,
        sources: SmallVec::new(),
        read: SmallVec::new(),
        written: SmallVec::new(),
        ..*event
    }
}
