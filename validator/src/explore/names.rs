//! Events and scopes in the field's words.

use crate::event::{Order, Scope};
use crate::model::graph::{Event, Kind};

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
