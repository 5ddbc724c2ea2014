//! The plain accesses of a candidate for an early race, and the model's judgement about pairs of them.

use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::Object;
use crate::event::Access;
use crate::explore::events;
use crate::explore::facts::discoveries::RaceCandidate;
use crate::explore::oracle;
use crate::explore::outcomes::record;
use crate::explore::state::{Found, Round, State};
use crate::model::graph::{Event, EventId, Graph, Kind, Source, UnitBytes};
use crate::model::memory_model::Extent;
use crate::value::Byte;

/// The number of earlier accesses by other invocations, the latest ones, with which an access is compared.
const CANDIDATES: usize = 4;

/// The number of events up to which the interleaving is followed.
const MAX_EVENTS: usize = 1 << 17;

/// Notes the accesses of a candidate.
pub(crate) struct PlainAccesses<'a> {
    pub(crate) race_candidate: RaceCandidate,
    pub(crate) graph: &'a mut Graph,
}

impl PlainAccesses<'_> {
    /// Adds an event for a plain access if it covers the candidate. `bytes` are those of the access.
    pub(crate) fn add(&mut self, agent: u32, access: &Access, object: &Object, kind: Kind, bytes: &[Byte]) {
        if object.memory != self.race_candidate.memory {
            return;
        }
        let start = self.race_candidate.start;
        let mut value = UnitBytes::new();
        let mut index = 0;
        for (offset, len) in &access.ranges {
            for byte in *offset..offset + len {
                if (start..start + self.race_candidate.len).contains(&byte) {
                    value.push(bytes.get(index).copied().unwrap_or(Byte::Undef));
                }
                index += 1;
            }
        }
        if value.len() != self.race_candidate.len as usize {
            return;
        }
        let unit = std::iter::once(0);
        let mut event = events::access_event(agent, kind, access, None, object.reference, unit);
        match kind {
            Kind::Write => event.written = smallvec![value],
            _ => {
                // Memory holds what was written last.
                let last = self.graph.events.iter().rposition(|event| event.accesses() && event.writes());
                event.sources =
                    smallvec![last.map_or(Source::Initial, |write| Source::Event(write as EventId))];
                event.read = smallvec![value];
            }
        }
        self.graph.events.push(Arc::new(event));
    }
}

/// Whether one of the events from `since` on races with an earlier one; the race is recorded. The answer is also true
/// if the interleaving is not worth following further.
pub(crate) fn has_early_race(round: &Round, state: &State, since: usize, found: &mut Found) -> bool {
    let graph = &state.graph;
    if round.knowledge.race_candidate.is_none() || since == graph.events.len() {
        return false;
    }
    for (id, event) in graph.events.iter().enumerate().skip(since) {
        let conflicts = |other: &&Arc<Event>| {
            other.agent != event.agent && other.accesses() && (other.writes() || event.writes())
        };
        for other in graph.events[..id].iter().rev().filter(conflicts).take(CANDIDATES) {
            let pair = between(graph, id, [event.agent, other.agent]);
            let model = oracle::model(round);
            let races = model.data_races(&pair, &model.relations(&pair, Extent::Complete));
            if let Some(race) = races.first() {
                let told = State { graph: pair, ..state.clone() };
                record::record_race(round, &told, *race, found);
                return true;
            }
        }
    }
    found.stop |= graph.events.len() > MAX_EVENTS;
    found.stop
}

/// The graph of the events of two invocations, up to this event. What they read of others has no source there but the
/// initial value.
fn between(graph: &Graph, last: usize, agents: [u32; 2]) -> Graph {
    let theirs = |id: &usize| agents.contains(&graph.events[*id].agent);
    let kept: Vec<usize> = (0..=last).filter(theirs).collect();
    let source_of = |source: &Source| match source {
        Source::Event(write) => kept
            .binary_search(&(*write as usize))
            .map_or(Source::Initial, |kept| Source::Event(kept as EventId)),
        Source::Initial | Source::Pending => *source,
    };
    let event_of = |id: &usize| {
        let event = &graph.events[*id];
        match &event.sources[..] {
            [] => event.clone(),
            sources => {
                let sources = sources.iter().map(source_of).collect();
                Arc::new(Event { sources, ..Event::clone(event) })
            }
        }
    };
    Graph { events: kept.iter().map(event_of).collect(), agents: graph.agents.clone(), ..Graph::default() }
}
