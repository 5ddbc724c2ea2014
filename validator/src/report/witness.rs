//! The description of a witness execution for people: the events of each invocation, in order, with the lines of
//! the module.

use super::json::place;
use super::style::Painter;
use super::words::words;
use crate::check::Source;
use crate::dispatch::Dispatch;
use crate::value::Byte;
use crate::witness::{Witness, WitnessEvent};

/// The text of a witness, indented; empty for one without events.
pub fn text(witness: &Witness, dispatch: &Dispatch, module: &Source, painter: Painter) -> String {
    let events = witness.events();
    let mut invocations: Vec<u32> = events.iter().map(|event| event.invocation).collect();
    invocations.sort_unstable();
    invocations.dedup();
    let mut text = String::new();
    for invocation in invocations {
        text.push_str("  ");
        text.push_str(&painter.heading(&name(dispatch, invocation)));
        text.push('\n');
        let mine = events.iter().enumerate().filter(|(_, event)| event.invocation == invocation);
        for (number, event) in mine {
            text.push_str(&format!("    #{number} line {}: {}", event.line, describe(event, dispatch)));
            for source in sources(event, &events) {
                text.push_str(&source);
            }
            text.push('\n');
            if let Some(line) = module.line(event.line).filter(|line| !line.is_empty()) {
                text.push_str(&painter.faint(&format!("       {line}")));
                text.push('\n');
            }
        }
    }
    text
}

/// Where an invocation stands.
fn name(dispatch: &Dispatch, invocation: u32) -> String {
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

fn describe(event: &WitnessEvent, dispatch: &Dispatch) -> String {
    let mut text = event.what.clone();
    if let Some((object, offset)) = event.location {
        text.push_str(&format!(" of {}", place(dispatch, object, offset)));
    }
    let value = |bytes: &[Byte]| words(bytes).join(" ");
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
fn sources(event: &WitnessEvent, events: &[WitnessEvent]) -> Vec<String> {
    let mut texts = Vec::new();
    if !event.reads_from.is_empty() {
        let mut sources: Vec<String> = event
            .reads_from
            .iter()
            .map(|source| match source {
                None => "the initial value".to_owned(),
                Some(number) => format!("#{number}{}", elsewhere(*number, event, events)),
            })
            .collect();
        sources.dedup();
        texts.push(format!(", from {}", sources.join(" and ")));
    }
    if !event.synchronized_by.is_empty() {
        let synchronizing: Vec<String> = event
            .synchronized_by
            .iter()
            .map(|number| format!("#{number}{}", elsewhere(*number, event, events)))
            .collect();
        texts.push(format!("; {} synchronizes with it", synchronizing.join(", ")));
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
