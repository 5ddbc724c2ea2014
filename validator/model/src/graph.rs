//! Execution graphs: events with program order (the order of an agent's events in the graph) and
//! reads-from. The memory models judge them.
//!
//! Implements "Agent", "Memory Location", "Memory Operation", "Reference", "Program-Order" and "Mutually-Ordered" of the
//! Vulkan memory model, and membership in the instance of a scope ("Scope").

use std::sync::Arc;

use smallvec::SmallVec;

use crate::event::{ClassSet, Order, Scope};
use crate::event::{InstId, Line};
use crate::value::Byte;

/// Index of an event in its graph.
pub type EventId = u32;

/// A memory unit: bytes that no access splits. Dense numbers, given by the explorer.
pub type Unit = u32;

/// Where an agent stands in the scope hierarchy; equal numbers, same instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The number of its subgroup, unique in the dispatch.
    pub subgroup: u32,
    /// The number of its workgroup.
    pub workgroup: u32,
    /// The number of its queue family.
    pub queue_family: u32,
}

/// What kind of operation an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A read of memory.
    Read,
    /// A write to memory.
    Write,
    /// An atomic read-modify-write.
    Update,
    /// A memory barrier.
    Fence,
    /// A control barrier of this dynamic instance; with an order other than relaxed, a fence too.
    Barrier {
        /// The number of the dynamic instance: barriers with the same number wait for each other.
        instance: u32,
        /// The execution scope.
        execution: Scope,
    },
    /// The availability operation of MakeAvailable, on memory of `class`: where
    /// [`operations`](super::operations) tells it apart from the event whose semantics ask for it.
    Availability,
    /// The visibility operation of MakeVisible, likewise.
    Visibility,
    /// An availability operation of all writes to the device domain.
    DeviceAvailability,
    /// A visibility operation from the device domain.
    DeviceVisibility,
}

/// Where a read takes the bytes of one unit from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The initial contents.
    Initial,
    /// The bytes that this event of the graph writes.
    Event(EventId),
    /// A write that the graph does not hold yet (load buffering); its value is speculated.
    Pending,
}

/// The bytes of one unit (at most four).
pub type UnitBytes = SmallVec<[Byte; 4]>;

/// An operation of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The index of the agent in [`Graph::agents`].
    pub agent: u32,
    /// What it does.
    pub kind: Kind,
    /// Units accessed, ascending; empty for what is no memory access.
    pub units: SmallVec<[Unit; 4]>,
    /// Sources of a read, one a unit.
    pub sources: SmallVec<[Source; 4]>,
    /// Bytes read, one entry a unit.
    pub read: SmallVec<[UnitBytes; 1]>,
    /// Bytes written, one entry a unit.
    pub written: SmallVec<[UnitBytes; 1]>,
    /// The reference that the access goes through.
    pub reference: u32,
    /// Storage class of the access, as a semantics bit.
    pub class: ClassSet,
    /// It is an atomic access.
    pub atomic: bool,
    /// Memory scope of an atomic or a fence.
    pub scope: Scope,
    /// The order of its semantics; relaxed for plain accesses.
    pub order: Order,
    /// Storage-class semantics; empty where the order is relaxed.
    pub semantics: ClassSet,
    /// Its semantics have MakeAvailable ("Availability and Visibility Semantics").
    pub make_available: bool,
    /// Its semantics have MakeVisible.
    pub make_visible: bool,
    /// It is non-private: inter-thread-happens-before may order it. Atomics always are.
    pub non_private: bool,
    /// Per-instruction availability operation of a write, with its scope.
    pub available: Option<Scope>,
    /// Per-instruction visibility operation of a read, with its scope.
    pub visible: Option<Scope>,
    /// It is a volatile access.
    pub volatile: bool,
    /// The instruction that it comes from; the model does not look at it.
    pub inst: InstId,
    /// The line of that instruction, for reports.
    pub line: Line,
    /// Object and first byte offset of an access, for reports.
    pub place: Option<(u32, u32)>,
}

impl Event {
    /// Whether it reads memory.
    #[inline]
    pub fn reads(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Update)
    }

    /// Whether it writes memory.
    #[inline]
    pub fn writes(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Update)
    }

    /// Whether it accesses memory.
    #[inline]
    pub fn accesses(&self) -> bool {
        self.reads() || self.writes()
    }

    /// Whether it operates on memory of its `class`: accesses, and the operations that semantics ask for.
    #[inline]
    pub fn operates_on_memory(&self) -> bool {
        self.accesses() || matches!(self.kind, Kind::Availability | Kind::Visibility)
    }

    /// Whether it is a memory barrier (a control barrier with semantics is one).
    #[inline]
    pub fn is_fence(&self) -> bool {
        matches!(self.kind, Kind::Fence | Kind::Barrier { .. })
    }

    /// Whether it performs an acquire operation or is an acquire barrier.
    #[inline]
    pub fn acquires(&self) -> bool {
        self.order.acquires() && (self.is_fence() || self.atomic && self.reads())
    }

    /// Whether it performs a release operation or is a release barrier.
    #[inline]
    pub fn releases(&self) -> bool {
        self.order.releases() && (self.is_fence() || self.atomic && self.writes())
    }

    /// The source of a unit that it reads.
    #[inline]
    pub fn source(&self, unit: Unit) -> Option<Source> {
        let position = self.units.iter().position(|candidate| *candidate == unit)?;
        self.sources.get(position).copied()
    }

    /// The bytes that it writes to a unit.
    #[inline]
    pub fn written_to(&self, unit: Unit) -> Option<&UnitBytes> {
        let position = self.units.iter().position(|candidate| *candidate == unit)?;
        self.written.get(position)
    }
}

/// A set of events with program order and reads-from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// In an order in which every agent's events follow program order. Shared between the graphs of a search.
    pub events: Vec<Arc<Event>>,
    /// The agents, by number.
    pub agents: Arc<[Agent]>,
    /// System-synchronizes-with, as pairs.
    pub system_synchronizes_with: Vec<(EventId, EventId)>,
}

impl Graph {
    /// Copies the events, which other graphs share.
    pub fn unshare(&mut self) {
        self.events.iter_mut().for_each(|event| *event = Arc::new(Event::clone(event)));
        self.agents = self.agents.to_vec().into();
    }

    /// Adds the events of a graph of other agents, which have nothing to do with those that are there.
    pub fn append(&mut self, other: &Graph) {
        if self.agents.is_empty() {
            self.agents = other.agents.clone();
        }
        let before = self.events.len() as EventId;
        let instance_of = |event: &Event| match event.kind {
            Kind::Barrier { instance, .. } => Some(instance + 1),
            _ => None,
        };
        let passed = self.events.iter().filter_map(|event| instance_of(event)).max().unwrap_or(0);
        self.events.extend(other.events.iter().cloned());
        for event in &mut self.events[before as usize..] {
            if !event.reads() && instance_of(event).is_none() {
                continue;
            }
            let event = Arc::make_mut(event);
            for source in &mut event.sources {
                if let Source::Event(write) = source {
                    *write += before;
                }
            }
            if let Kind::Barrier { instance, .. } = &mut event.kind {
                *instance += passed;
            }
        }
    }

    /// Program order: both by one agent, `a` first.
    #[inline]
    pub fn program_ordered(&self, a: usize, b: usize) -> bool {
        a < b && self.events[a].agent == self.events[b].agent
    }

    /// Whether `b`'s agent is in the instance of `scope` around `a`'s agent.
    #[inline]
    pub fn in_scope_instance(&self, a: u32, scope: Scope, b: u32) -> bool {
        let (x, y) = (self.agents[a as usize], self.agents[b as usize]);
        match scope {
            Scope::Invocation => a == b,
            Scope::Subgroup => x.subgroup == y.subgroup,
            Scope::Workgroup => x.workgroup == y.workgroup,
            Scope::QueueFamily => x.queue_family == y.queue_family,
            Scope::Device | Scope::CrossDevice => true,
        }
    }

    /// Whether two events are in the instances of each other's memory scopes.
    #[inline]
    pub fn in_each_others_scope(&self, a: &Event, b: &Event) -> bool {
        self.in_scope_instance(a.agent, a.scope, b.agent) && self.in_scope_instance(b.agent, b.scope, a.agent)
    }

    /// Mutually-ordered atomic operations: same locations, same reference, in each other's scope.
    #[inline]
    pub fn mutually_ordered(&self, a: usize, b: usize) -> bool {
        a != b && self.order_mutually(&self.events[a], &self.events[b])
    }

    /// Whether two different events are mutually-ordered.
    #[inline]
    pub fn order_mutually(&self, x: &Event, y: &Event) -> bool {
        x.atomic
            && y.atomic
            && x.reference == y.reference
            && x.units == y.units
            && self.in_each_others_scope(x, y)
    }
}
