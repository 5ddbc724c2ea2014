//! Segments: one turn of what invocations repeat, with writes in it, and the question whether they may repeat it for
//! ever.
//!
//! For example, in one turn invocation 0 writes 1 and reads 2, and invocation 1 reads 1 and writes 2. The segment
//! consists of these four events. It is appended to the graph once more, with the reads taking their values from the
//! writes of the new turn, and the model is asked.

use std::sync::Arc;

use crate::behaviour::PathEnd;
use crate::explore::oracle::{self, Judgement};
use crate::explore::settings::Races;
use crate::explore::state::{Round, Segment, State, Status};
use crate::explore::step::loops::turns;
use crate::model::graph::{Event, EventId, Graph, Kind, Source, Unit};

/// The graph of a hang with each segment appended once more, and whether the segments may be repeated for ever.
pub(crate) fn unrolled(round: &Round, state: &State) -> (Graph, bool) {
    let mut graph = state.graph.clone();
    let latest = turns::latest_writes(round, state);
    let closing = state.closing.as_ref().map(|closing| closing.events);
    let is_repeated = |write: &EventId| {
        closing.is_some_and(|closing| *write >= closing)
            || state
                .segments
                .iter()
                .any(|segment| turns::events(segment, &state.graph).any(|event| event == *write))
    };
    let mut is_fair = true;
    for segment in &state.segments {
        is_fair &= unroll(segment, &mut graph, &latest, &is_repeated);
    }
    (graph, is_fair)
}

/// The judgement of the model about such a graph.
pub(crate) fn judge_unrolled(round: &Round, graph: &Graph) -> Judgement {
    let model = oracle::model(round);
    let relations = oracle::relations(round, graph);
    if round.context.settings.axioms && !model.is_consistent(graph, &relations) {
        return Judgement::Ends(PathEnd::Consistency);
    }
    match model.data_races(graph, &relations).first() {
        Some(race) if round.context.settings.races == Races::Undefined => Judgement::Racy(*race),
        Some(_) | None => Judgement::Fine,
    }
}

/// Makes the members of a segment repeat it for ever.
pub(crate) fn repeat(state: &mut State, segment: Segment) {
    for member in segment.members.iter() {
        state.threads[*member].status = Status::Forever;
    }
    state.segments.push(segment);
}

/// Lets the members of segments continue whose writes an invocation has read: a later turn may write what comes next.
pub(crate) fn turn_again(state: &mut State, read: EventId) {
    if state.segments.is_empty() || state.closing.is_some() {
        return;
    }
    let event = state.graph.events[read as usize].clone();
    let is_read = |segment: &Segment| {
        turns::events(segment, &state.graph).any(|id| {
            let write = &state.graph.events[id as usize];
            write.writes() && write.units.iter().any(|unit| event.units.contains(unit))
        })
    };
    let (woken, rest): (Vec<Segment>, Vec<Segment>) =
        std::mem::take(&mut state.segments).into_iter().partition(is_read);
    state.segments = rest;
    for segment in woken {
        for (member, status) in segment.members.iter().zip(segment.statuses.iter()) {
            let thread = &mut state.threads[*member];
            thread.status = status.clone();
            if let Some(arrival) = thread.loops.last_mut() {
                arrival.restless = 0;
                arrival.configurations.clear();
            }
        }
    }
}

/// Appends the segment to a graph. It returns false if a read of it would stay from-reads-before a write for ever.
fn unroll(
    segment: &Segment,
    graph: &mut Graph,
    latest: &dyn Fn(Unit) -> Vec<EventId>,
    is_repeated: &dyn Fn(&EventId) -> bool,
) -> bool {
    let mut is_fair = true;
    let own: Vec<EventId> = turns::events(segment, graph).collect();
    let mut copies: Vec<Event> = own.iter().map(|id| Event::clone(&graph.events[*id as usize])).collect();
    let instances = graph.events.iter().filter_map(|event| match event.kind {
        Kind::Barrier { instance, .. } => Some(instance + 1),
        _ => None,
    });
    let instances = instances.max().unwrap_or(0);
    for (copy, id) in copies.iter_mut().zip(&own) {
        if let Kind::Barrier { instance, .. } = &mut copy.kind {
            *instance += instances;
        }
        for (position, unit) in copy.units.iter().enumerate().take(copy.sources.len()) {
            let next = next_source(graph, &own, (*id, position), &latest(*unit), is_repeated);
            is_fair &= next.is_some();
            copy.sources[position] = next.unwrap_or(copy.sources[position]);
        }
    }
    graph.events.extend(copies.into_iter().map(Arc::new));
    is_fair
}

/// The source of a read of the segment, for the unit at a position, one turn later. It is the write that corresponds to
/// the read's own source, if such writes are repeated. Otherwise it is the same source, if no other write comes after
/// it. Otherwise it is what repeated updates leave of the same value.
fn next_source(
    graph: &Graph,
    own: &[EventId],
    (read, position): (EventId, usize),
    latest: &[EventId],
    is_repeated: &dyn Fn(&EventId) -> bool,
) -> Option<Source> {
    let event = &graph.events[read as usize];
    let (unit, source) = (event.units[position], event.sources[position]);
    let first = graph.events.len() as EventId;
    let at = |id: EventId| own.binary_search(&id).ok().map(|number| first + number as EventId);
    let moved = match source {
        Source::Event(write) => at(write).or_else(|| corresponding(graph, own, write)),
        Source::Initial | Source::Pending => None,
    };
    if let Some(write) = moved {
        let update = (event.kind == Kind::Update).then(|| last_update(graph, Source::Event(write), unit));
        let next = Source::Event(update.flatten().unwrap_or(write));
        return latest.iter().any(is_repeated).then_some(next);
    }
    let lasts = match source {
        Source::Event(write) => latest.contains(&write),
        Source::Initial | Source::Pending => latest.is_empty(),
    };
    if lasts {
        return Some(source);
    }
    let value = event.read.get(position);
    let leaves_that = |update: &EventId| {
        is_repeated(update)
            && latest.contains(update)
            && graph.events[*update as usize].written_to(unit) == value
    };
    last_update(graph, source, unit).filter(leaves_that).map(Source::Event)
}

/// The write of the segment that corresponds to a write of the turn before.
fn corresponding(graph: &Graph, own: &[EventId], write: EventId) -> Option<EventId> {
    let earlier = &graph.events[write as usize];
    let is_like = |id: &EventId| {
        let event = &graph.events[*id as usize];
        (event.agent, event.inst) == (earlier.agent, earlier.inst) && event.written == earlier.written
    };
    // The last one, because a turn later the last one of its turn is seen.
    own.iter().rev().copied().find(is_like)
}

/// The last update of a chain: the first one reads from a source, and each other one reads from the one before.
fn last_update(graph: &Graph, source: Source, unit: Unit) -> Option<EventId> {
    let on = |source: Source| {
        let mut updates = (0..).zip(&graph.events);
        updates.find_map(|(id, event)| {
            (event.kind == Kind::Update && event.source(unit) == Some(source)).then_some(id)
        })
    };
    // With speculation the chain may be a cycle.
    let row = std::iter::successors(on(source), |update| on(Source::Event(*update)));
    row.take(graph.events.len()).last()
}
