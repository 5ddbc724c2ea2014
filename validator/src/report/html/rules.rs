//! The rules of the Vulkan memory model behind what a picture shows, each under its name in the appendix "Memory Model" of
//! the Vulkan specification, in our words.

use maud::{html, Markup};

use crate::event::Order;
use crate::model::graph::{Event, Kind};
use crate::report::picture::Relation;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

const fn rule(name: &'static str, text: &'static str) -> Rule {
    Rule { name, text }
}

const PRIVATE: Rule = rule(
    "Private vs. Non-Private",
    "A private access is for its own invocation. No synchronization orders it with accesses of others.",
);
const NON_PRIVATE: Rule =
    rule("Private vs. Non-Private", "Synchronization between invocations can order a non-private access.");
const AVAILABLE: Rule = rule(
    "Availability, Visibility, and Domain Operations",
    "This write makes its value available to the memory domain of its scope.",
);
const VISIBLE: Rule = rule(
    "Availability, Visibility, and Domain Operations",
    "This read makes what is available to the memory domain of its scope visible to itself.",
);
const ATOMIC: Rule = rule(
    "Atomic Operation",
    "Atomics on the same location through one reference are mutually ordered where each is in the other's scope. They do \
     not race with each other.",
);
const RELEASE: Rule = rule(
    "Memory Semantics",
    "Release: what this invocation did before it, in the storage classes of its semantics, comes before what follows an \
     acquire that observes it.",
);
const ACQUIRE: Rule = rule(
    "Memory Semantics",
    "Acquire: what this invocation does after it, in the storage classes of its semantics, comes behind what precedes the \
     release that it observes.",
);
const CONTROL_BARRIER: Rule = rule(
    "Synchronizes-With",
    "All invocations of its execution scope wait here for each other. It orders memory only as far as its semantics, or \
     memory barriers around it, release and acquire.",
);
const RELAXED_BARRIER: Rule =
    rule("Memory Semantics", "A barrier that neither releases nor acquires orders no memory.");
const DEVICE: Rule = rule(
    "Availability, Visibility, and Domain Operations",
    "It makes writes available to the device domain, or visible from there.",
);

/// How pictures are read, and what their relations mean.
pub(super) fn guide() -> Markup {
    html! {
        p {
            "A column is an invocation, under its workgroup and subgroup; one that says how many are alike stands for all of \
             them. A box is an event: what it is, its number in the report, the line of its instruction, and below that what it \
             accesses: "
            code { "x = 1" } " reads 1, " code { "x ← 1" } " writes 1, " code { "x: 0 → 1" } " does both. Events stand in the \
             order of the execution, from top to bottom; those that the result is about have a thick frame. The line between \
             the events of an invocation is program order. Point at an event or an edge, or reach it with the Tab key, to read \
             more."
        }
        dl {
            @for relation in Relation::ALL {
                @let Rule { name, text } = of_relation(relation);
                dt { b { (relation.name()) } " (" (relation.short()) ")" }
                dd { i { (name) } ": " (text) }
            }
        }
        p {
            "Of location order, pairs within one invocation and pairs that follow from two others are not drawn; of \
             synchronizes-with, pairs that follow by program order from nearer ones that order as much. Names in \
             italics are those of the appendix “Memory Model” of the Vulkan specification."
        }
    }
}

/// The rules that an event is subject to by itself.
pub(super) fn of_event(event: &Event) -> Vec<Rule> {
    let mut rules = Vec::new();
    match event.kind {
        Kind::Barrier { .. } => rules.push(CONTROL_BARRIER),
        Kind::Fence if event.order == Order::Relaxed => rules.push(RELAXED_BARRIER),
        Kind::Availability | Kind::Visibility | Kind::DeviceAvailability | Kind::DeviceVisibility => {
            rules.push(DEVICE);
        }
        Kind::Read | Kind::Write | Kind::Update if event.atomic => rules.push(ATOMIC),
        Kind::Read | Kind::Write | Kind::Update if event.non_private => {
            rules.push(NON_PRIVATE);
            rules.extend(event.available.filter(|_| event.writes()).map(|_| AVAILABLE));
            rules.extend(event.visible.filter(|_| event.reads()).map(|_| VISIBLE));
        }
        Kind::Read | Kind::Write | Kind::Update => rules.push(PRIVATE),
        Kind::Fence => {}
    }
    rules.extend(event.releases().then_some(RELEASE));
    rules.extend(event.acquires().then_some(ACQUIRE));
    rules
}

/// The rule of a relation.
pub(super) const fn of_relation(relation: Relation) -> Rule {
    match relation {
        Relation::ReadsFrom => rule("Reads-From", "The read takes its value from this write."),
        Relation::SynchronizesWith => rule(
            "Synchronizes-With",
            "A release and an acquire in each other's scope: the acquire observes the release through an atomic write that \
             it (or an atomic read before it) reads from, or both stand at one control barrier.",
        ),
        Relation::FromReads => rule(
            "From-Reads",
            "The read takes a value that this write replaces, so that it comes before the write.",
        ),
        Relation::Availability => rule(
            "Availability and Visibility Chains",
            "The write is made available to a memory domain of both invocations, and from there visible to the reader: \
             each of these operations happens before the next.",
        ),
        Relation::LocationOrdered => rule(
            "Location-Ordered",
            "At this location the first access comes before the second: it happens before it, and, where a write comes \
             first, the write is available (to a read: visible, too).",
        ),
        Relation::Race => rule(
            "Data Race",
            "Two accesses to a location, one of them a write, that are not location-ordered and not both atomics in each \
             other's scope. The behaviour is undefined.",
        ),
        Relation::Lost | Relation::Missing => rule(
            "Location-Ordered",
            "Before orders these two accesses, after does not: what after changed took the ordering away.",
        ),
        Relation::Cycle => rule(
            "Acyclicity",
            "At each location reads-from, from-reads, location order and scoped modification order together have no cycle. \
             This one keeps the picture from being an execution.",
        ),
    }
}
