//! What no random program comes to.

use std::sync::Arc;

use smallvec::{smallvec, SmallVec};

use super::{availability_operation, visibility_operation};
use crate::event::{ClassSet, Order, Scope};
use crate::event::{FunctionId, InstId};
use crate::graph::{Agent, Event, EventId, Graph, Kind, Source, Unit};
use crate::vulkan::{self, Variant};

const DEVICE: Option<Scope> = Some(Scope::Device);

fn event(agent: u32, kind: Kind, units: &[Unit]) -> Event {
    Event {
        agent,
        kind,
        units: SmallVec::from_slice(units),
        sources: smallvec![],
        read: smallvec![],
        written: smallvec![],
        reference: 0,
        class: ClassSet::UNIFORM,
        atomic: false,
        scope: Scope::Device,
        order: Order::Relaxed,
        semantics: ClassSet::default(),
        make_available: false,
        make_visible: false,
        non_private: true,
        available: None,
        visible: None,
        volatile: false,
        inst: InstId { function: FunctionId(0), index: 0 },
        line: 0,
        place: None,
    }
}

/// An access's own operation is on what it accesses, and no more.
#[test]
fn operations_of_accesses_are_on_their_own_units() {
    let write = Event { available: DEVICE, ..event(0, Kind::Write, &[1, 2]) };
    let read = Event { visible: DEVICE, ..event(0, Kind::Read, &[1, 2]) };
    let other = |access: &Event| Event { reference: 1, ..access.clone() };
    for unit in [1, 2] {
        assert_eq!(availability_operation(&write, &write, unit), 0b1111);
        assert_eq!(visibility_operation(&read, &read, unit), 0b1111);
        assert_eq!(availability_operation(&write, &other(&write), unit), 0);
        assert_eq!(visibility_operation(&read, &other(&read), unit), 0);
    }
    for unit in [0, 3] {
        assert_eq!(availability_operation(&write, &write, unit), 0);
        assert_eq!(visibility_operation(&read, &read, unit), 0);
    }
}

/// A message, and what somebody else does after so many of its events: whether the read sees the write.
fn is_seen(pad: usize, at: usize) -> bool {
    let orders = |event: Event| Event {
        atomic: true,
        order: Order::AcquireRelease,
        semantics: ClassSet::UNIFORM,
        make_available: true,
        make_visible: true,
        ..event
    };
    let flag = event(1, Kind::Read, &[1]);
    let mut events = vec![
        event(0, Kind::Write, &[0]),
        orders(event(0, Kind::Write, &[1])),
        Event {
            sources: smallvec![Source::Event(1 + if at < 2 { pad as EventId } else { 0 })],
            ..orders(flag)
        },
        Event { sources: smallvec![Source::Initial], ..event(1, Kind::Read, &[0]) },
    ];
    events.splice(at..at, (0..pad).map(|_| event(2, Kind::Fence, &[])));
    let agent = |workgroup| Agent { subgroup: workgroup, workgroup, queue_family: 0 };
    let agents = (0..3).map(agent).collect();
    let graph = Graph { events: events.into_iter().map(Arc::new).collect(), agents, ..Graph::default() };
    let relations = vulkan::relations(&graph, Variant::default());
    relations.locations[0].location_ordered.contains(0, 1)
}

/// What others do changes nothing, however much it is.
#[test]
fn chains_are_found_among_many_operations() {
    for at in 0..=4 {
        for pad in [0, 1, 55, 58, 59, 60, 61, 62, 63, 64, 130] {
            assert!(is_seen(pad, at), "{pad} others after {at}");
        }
    }
}
