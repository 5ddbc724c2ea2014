//! Executions told for people.

use super::knowledge::UnitKey;
use super::names::describe;
use crate::behaviour::{Witness, WitnessEvent};
use crate::model::consistency::DataRace;
use crate::model::graph::{Graph, Source};
use crate::model::relation::Relation;

/// The events of a graph, with what they read and who synchronizes with them.
pub(super) fn of(graph: &Graph, units: &[UnitKey], synchronizes_with: &Relation) -> Witness {
    let events = graph.events.iter().enumerate().map(|(id, event)| {
        let mut reads_from: Vec<Option<usize>> = event
            .sources
            .iter()
            .map(|source| match source {
                Source::Event(write) => Some(*write as usize),
                Source::Initial | Source::Pending => None,
            })
            .collect();
        reads_from.dedup();
        let concat = |units: &[crate::model::graph::UnitBytes]| {
            units.iter().flat_map(|bytes| bytes.iter().copied()).collect::<Vec<_>>()
        };
        WitnessEvent {
            invocation: event.agent,
            line: event.line,
            what: describe(event),
            location: event.place,
            read: event.reads().then(|| concat(&event.read)),
            written: event.writes().then(|| concat(&event.written)),
            reads_from,
            synchronized_by: (0..graph.events.len())
                .filter(|other| synchronizes_with.contains(*other, id))
                .collect(),
        }
    });
    Witness { executions: 1, events: events.collect(), graph: graph.clone(), units: units.to_vec() }
}

/// A sentence about a race, without line numbers.
pub(super) fn race_detail(graph: &Graph, race: DataRace) -> String {
    let (a, b) = (&graph.events[race.first as usize], &graph.events[race.second as usize]);
    format!(
        "{} by invocation {} and {} by invocation {} are not ordered",
        describe(a),
        a.agent,
        describe(b),
        b.agent
    )
}
