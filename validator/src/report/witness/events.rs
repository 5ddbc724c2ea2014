//! The events of a witness, in words.

use super::Scene;
use crate::dispatch::Dispatch;
use crate::report::words::words;
use crate::value::Byte;
use crate::witness::WitnessEvent;

/// Events that synchronize with one and are named, beyond which they are counted.
const SYNCHRONIZING: usize = 2;

/// Where an invocation stands.
pub(in crate::report) fn invocation(dispatch: &Dispatch, invocation: u32) -> String {
    let at = |[x, y, z]: [u32; 3]| match (y, z) {
        (0, 0) => x.to_string(),
        _ => format!("({x},{y},{z})"),
    };
    match dispatch.places.get(invocation as usize) {
        Some(place) => format!(
            "invocation {invocation} (workgroup {}, subgroup {}, local {})",
            at(place.workgroup_id),
            place.subgroup_id,
            at(place.local_id)
        ),
        None => format!("invocation {invocation}"),
    }
}

/// An event on one line.
pub(super) fn line(scene: &Scene<'_>, number: usize, events: &[WitnessEvent]) -> String {
    let Some(event) = events.get(number) else { return String::new() };
    let mut text = format!("    #{number} line {}: {}", event.line, told(event, scene));
    sources(event, events, scene.full).iter().for_each(|source| text.push_str(source));
    text
}

/// What an event does, with its place and values.
pub(in crate::report) fn told(event: &WitnessEvent, scene: &Scene<'_>) -> String {
    let mut text = event.what.clone();
    if let Some((object, offset)) = event.location {
        text.push_str(&format!(" of {}", scene.place_name(object, offset)));
    }
    let value = |bytes: &[Byte]| match event.location {
        Some((object, offset)) => scene.values_at(object, offset, bytes),
        None => words(bytes).join(" "),
    };
    match (&event.read, &event.written) {
        (Some(read), Some(written)) => {
            text.push_str(&format!(": reads {}, writes {}", value(read), value(written)));
        }
        (Some(read), None) => text.push_str(&format!(": reads {}", value(read))),
        (None, Some(written)) => text.push_str(&format!(": writes {}", value(written))),
        (None, None) => {}
    }
    text
}

/// Where what an event reads comes from, and who synchronizes with it.
fn sources(event: &WitnessEvent, events: &[WitnessEvent], full: bool) -> Vec<String> {
    let mut texts = Vec::new();
    let named = |number: &usize| format!("#{number}{}", elsewhere(*number, event, events));
    if !event.reads_from.is_empty() {
        let source = |source: &Option<usize>| source.as_ref().map_or("the initial value".to_owned(), named);
        let mut sources: Vec<String> = event.reads_from.iter().map(source).collect();
        sources.dedup();
        texts.push(format!(", from {}", sources.join(" and ")));
    }
    let synchronizing = &event.synchronized_by;
    match synchronizing.len() {
        0 => {}
        1 => texts.push(format!("; {} synchronizes with it", named(&synchronizing[0]))),
        count if count <= SYNCHRONIZING || full => {
            let synchronizing: Vec<String> = synchronizing.iter().map(named).collect();
            texts.push(format!("; {} synchronize with it", synchronizing.join(", ")));
        }
        count => {
            let mut lines: Vec<u32> =
                synchronizing.iter().filter_map(|number| Some(events.get(*number)?.line)).collect();
            lines.sort_unstable();
            lines.dedup();
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let plural = if lines.len() == 1 { "" } else { "s" };
            texts.push(format!("; {count} events (line{plural} {}) synchronize with it", lines.join(", ")));
        }
    }
    texts
}

/// The line of an event of another invocation, for a reader who must find it.
fn elsewhere(number: usize, event: &WitnessEvent, events: &[WitnessEvent]) -> String {
    match events.get(number) {
        Some(other) if other.invocation != event.invocation => format!(" (line {})", other.line),
        Some(_) | None => String::new(),
    }
}
