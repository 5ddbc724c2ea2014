//! Makes events of a graph from what an invocation does: accesses, fences and barriers.

use smallvec::SmallVec;

use crate::event::{Access, Atomicity, ClassSet, DeviceOperation, Fence, Order, Scope, Semantics};
use crate::model::graph::{Event, Kind, Unit};

/// An event for an access. The caller fills in sources and values.
pub(crate) fn access_event(
    agent: u32,
    kind: Kind,
    access: &Access,
    atomic: Option<&Atomicity>,
    reference: u32,
    units: impl Iterator<Item = Unit>,
) -> Event {
    let semantics = atomic.map(|atomic| atomic.semantics).unwrap_or_default();
    let mut event = Event {
        agent,
        kind,
        units: units.collect(),
        sources: SmallVec::new(),
        read: SmallVec::new(),
        written: SmallVec::new(),
        reference,
        class: access.class.semantics_bit(),
        atomic: atomic.is_some(),
        scope: atomic.map_or(Scope::Invocation, |atomic| atomic.scope),
        order: Order::Relaxed,
        semantics: ClassSet::default(),
        make_available: false,
        make_visible: false,
        non_private: access.non_private,
        available: access.available,
        visible: access.visible,
        volatile: access.volatile,
        inst: access.inst,
        line: access.line,
        place: Some((access.object, access.ranges.first().map_or(0, |(offset, _)| *offset))),
    };
    set_semantics(&mut event, semantics);
    event
}

/// Gives an event its memory semantics. A relaxed event has no storage-class semantics.
pub(crate) fn set_semantics(event: &mut Event, semantics: Semantics) {
    event.order = semantics.order;
    let relaxed = semantics.order == Order::Relaxed;
    event.semantics = if relaxed { ClassSet::default() } else { semantics.classes };
    event.make_available = semantics.make_available;
    event.make_visible = semantics.make_visible;
}

/// An event for an operation on the device domain.
pub(crate) fn device_event(agent: u32, operation: DeviceOperation, fence: &Fence) -> Event {
    let kind = match operation {
        DeviceOperation::Availability => Kind::DeviceAvailability,
        DeviceOperation::Visibility => Kind::DeviceVisibility,
    };
    fence_event(agent, kind, fence)
}

/// An event for a memory barrier or a control barrier.
pub(crate) fn fence_event(agent: u32, kind: Kind, fence: &Fence) -> Event {
    let mut event = Event {
        agent,
        kind,
        units: SmallVec::new(),
        sources: SmallVec::new(),
        read: SmallVec::new(),
        written: SmallVec::new(),
        reference: u32::MAX,
        class: ClassSet::default(),
        atomic: false,
        scope: fence.scope,
        order: Order::Relaxed,
        semantics: ClassSet::default(),
        make_available: false,
        make_visible: false,
        non_private: false,
        available: None,
        visible: None,
        volatile: false,
        inst: fence.inst,
        line: fence.line,
        place: None,
    };
    set_semantics(&mut event, fence.semantics);
    event
}
