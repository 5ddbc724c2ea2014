//! What invocations do again and again, writes among it: one turn of it, and whether it may go on for ever.

use std::sync::Arc;

use crate::behaviour::PathEnd;
use crate::explore::oracle::{self, Judgement};
use crate::explore::settings::Races;
use crate::explore::state::{Round, Segment, State, Status};
use crate::explore::step::loops::turns;
use crate::model::graph::{Event, EventId, Graph, Kind, Source, Unit};

/// A hang with its segments done once more, and whether they may go on so for ever.
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

/// What the model says of a hang with its segments done once more.
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

/// The members of a segment go on with it for ever.
pub(crate) fn repeat(state: &mut State, segment: Segment) {
    for member in segment.members.iter() {
        state.threads[*member].status = Status::Forever;
    }
    state.segments.push(segment);
}

/// Somebody read what a segment writes: what comes next may be a later turn of it, so its members go on.
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

/// Puts the segment behind a graph. False where a read of it would stay from-reads-before a write for ever.
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

/// Where a read of the segment, for the unit at a position, takes its value from a turn later: from the write that
/// corresponds to its own, if such are repeated, else from the same one, if no other comes after it, else from what
/// updates that are repeated leave of that.
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

/// The write of the segment that corresponds to one of the turn before.
fn corresponding(graph: &Graph, own: &[EventId], write: EventId) -> Option<EventId> {
    let earlier = &graph.events[write as usize];
    let is_like = |id: &EventId| {
        let event = &graph.events[*id as usize];
        (event.agent, event.inst) == (earlier.agent, earlier.inst) && event.written == earlier.written
    };
    // The last one, as it is the last one of its turn that is seen a turn later.
    own.iter().rev().copied().find(is_like)
}

/// The last of a row of updates, the first of what a source gives, each other of what the one before left.
fn last_update(graph: &Graph, source: Source, unit: Unit) -> Option<EventId> {
    let on = |source: Source| {
        let mut updates = (0..).zip(&graph.events);
        updates.find_map(|(id, event)| {
            (event.kind == Kind::Update && event.source(unit) == Some(source)).then_some(id)
        })
    };
    // Speculation may close the row into a circle.
    let row = std::iter::successors(on(source), |update| on(Source::Event(*update)));
    row.take(graph.events.len()).last()
}
