//! What explanations call events: through [`Names`], so that modules and litmus files are told alike.

use crate::event::{ClassSet, Order, Scope};
use crate::graph::{Event, Graph, Kind};

/// Names of what a graph only has numbers for.
pub trait Names {
    /// What an access goes to, as reports call it: `0.0+4` of a module, `x` of a litmus file.
    fn place(&self, event: &Event) -> Option<String>;

    /// Who an agent is.
    fn agent(&self, agent: u32) -> String {
        format!("invocation {agent}")
    }

    /// What an event is.
    fn kind(&self, event: &Event) -> &'static str {
        kind_name(event)
    }

    /// Whether accesses are declared `Coherent` (GLSL450 and Simple modules), and have no bits of their own.
    fn declares_coherence(&self) -> bool {
        false
    }
}

/// What an event is, in few words.
pub fn kind_name(event: &Event) -> &'static str {
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
        (Kind::Availability, _, _, _) => "availability operation",
        (Kind::Visibility, _, _, _) => "visibility operation",
        (Kind::DeviceAvailability, _, _, _) => "availability operation to the device domain",
        (Kind::DeviceVisibility, _, _, _) => "visibility operation from the device domain",
    }
}

/// The same, where sequentially consistent operations differ from those that acquire and release.
pub fn ordered_kind_name(event: &Event) -> &'static str {
    if event.order != Order::SequentiallyConsistent {
        return kind_name(event);
    }
    match event.kind {
        Kind::Read => "sequentially consistent load",
        Kind::Write => "sequentially consistent store",
        Kind::Update => "sequentially consistent read-modify-write",
        Kind::Fence => "sequentially consistent memory barrier",
        Kind::Barrier { .. }
        | Kind::Availability
        | Kind::Visibility
        | Kind::DeviceAvailability
        | Kind::DeviceVisibility => kind_name(event),
    }
}

/// "the store on line 7"; with who executes it, where other instructions stand on that line, as in the
/// tables of herd.
pub fn short(event: &Event, graph: &Graph, names: &dyn Names) -> String {
    let shared = graph.events.iter().any(|other| other.line == event.line && other.inst != event.inst);
    let name = format!("the {} on line {}", names.kind(event), event.line);
    match shared {
        true => format!("{name} ({})", names.agent(event.agent)),
        false => name,
    }
}

/// "the store to 0.0+4 on line 7 (invocation 0)".
pub fn long(event: &Event, names: &dyn Names) -> String {
    let place = match (names.place(event), event.kind) {
        (None, _) => String::new(),
        (Some(place), Kind::Read) => format!(" from {place}"),
        (Some(place), Kind::Write) => format!(" to {place}"),
        (Some(place), _) => format!(" of {place}"),
    };
    format!("the {}{place} on line {} ({})", names.kind(event), event.line, names.agent(event.agent))
}

/// The name of an order, as the Vulkan specification writes it.
pub fn order_name(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "Relaxed",
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::AcquireRelease => "AcquireRelease",
        Order::SequentiallyConsistent => "SequentiallyConsistent",
    }
}

/// The names of storage-class bits.
pub fn class_names(set: ClassSet) -> Vec<&'static str> {
    let names = [
        (ClassSet::UNIFORM, "UniformMemory"),
        (ClassSet::SUBGROUP, "SubgroupMemory"),
        (ClassSet::WORKGROUP, "WorkgroupMemory"),
        (ClassSet::CROSS_WORKGROUP, "CrossWorkgroupMemory"),
        (ClassSet::ATOMIC_COUNTER, "AtomicCounterMemory"),
        (ClassSet::IMAGE, "ImageMemory"),
        (ClassSet::OUTPUT, "OutputMemory"),
    ];
    names.iter().filter(|(bit, _)| set.contains(*bit)).map(|(_, name)| *name).collect()
}

/// What the instances of a scope are called.
pub fn instance_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Invocation => "invocation",
        Scope::Subgroup => "subgroup",
        Scope::Workgroup => "workgroup",
        Scope::QueueFamily => "queue family",
        Scope::Device | Scope::CrossDevice => "device",
    }
}

/// "a", "a and b", "a, b and c".
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
