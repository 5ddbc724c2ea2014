//! The turn of a loop that an invocation is in: its events, and whether it changed anything.

use std::sync::Arc;

use crate::explore::oracle;
use crate::explore::settings::Races;
use crate::explore::state::reader::{self, Reader};
use crate::explore::state::{Arrival, Round, Segment, State};
use crate::ir::InstId;
use crate::model::graph::{Event, EventId, Graph, Kind, Unit};

/// The events of one turn, ascending.
pub(crate) fn events<'g>(segment: &Segment, graph: &'g Graph) -> impl Iterator<Item = EventId> + use<'g> {
    let members = segment.members.clone();
    let is_own = move |id: &EventId| members.contains(&(graph.events[*id as usize].agent as usize));
    (segment.start..segment.end).filter(is_own)
}

/// The loops that the invocation is in and in whose present turns it has accessed no shared memory, innermost first.
pub(crate) fn arrivals_without_accesses(state: &State, index: usize) -> impl Iterator<Item = &Arrival> {
    let accesses = move |arrival: &&Arrival| {
        let mut events = state.graph.events.iter().skip(arrival.events as usize);
        events.any(|event| event.agent as usize == index && event.accesses())
    };
    state.threads[index].loops.iter().rev().take_while(move |arrival| !accesses(arrival))
}

/// The events of an invocation, from event number `since` on.
pub(crate) fn own_events(state: &State, index: usize, since: u32) -> impl Iterator<Item = &Event> {
    let events = state.graph.events.iter().skip(since as usize).map(Arc::as_ref);
    events.filter(move |event| event.agent as usize == index)
}

/// Whether the last idle turn of an invocation depended on what it read.
pub(crate) fn decides(state: &State, index: usize) -> bool {
    state.threads[index].idle.is_none_or(|idle| idle.decided)
}

/// Whether an update writes what its invocation wrote there last, among the first `events` events.
fn wrote_that_last(state: &State, update: &Event, events: u32) -> bool {
    let earlier = state.graph.events.iter().take(events as usize).rev();
    let own = earlier.filter(|event| event.agent == update.agent && event.writes());
    let last = |unit: Unit| own.clone().find_map(|event| event.written_to(unit));
    update.units.iter().all(|unit| last(*unit) == update.written_to(*unit))
}

/// Whether the invocation's accesses since an arrival are only reads, and writes of what was there.
pub(crate) fn changed_nothing(round: &Round, state: &State, index: usize, since: &Arrival) -> bool {
    state.threads[index].changes == since.changes
        && own_events(state, index, since.events)
            .all(|event| changes_nothing(round, state, event, since.events))
}

/// Whether others notice nothing of an event of a turn that began at event `since`, except that it synchronizes or
/// orders invocations.
pub(crate) fn changes_nothing(round: &Round, state: &State, event: &Event, since: u32) -> bool {
    match event.kind {
        Kind::Read | Kind::Fence | Kind::Barrier { .. } => true,
        Kind::Update => {
            event.read == event.written
                && (is_ordered_among_writes(round, state, event) || wrote_that_last(state, event, since))
        }
        Kind::Availability | Kind::Visibility => true,
        Kind::Write | Kind::DeviceAvailability | Kind::DeviceVisibility => false,
    }
}

/// Whether an update is mutually ordered with all writes of other invocations. If it is not, what it leaves is a latest
/// value beside that of the other write. Such writes race, too.
pub(crate) fn is_ordered_among_writes(round: &Round, state: &State, update: &Event) -> bool {
    if round.context.settings.races == Races::Undefined {
        return true;
    }
    let is_ordered = |agent: usize, inst: InstId| {
        let mut write = update.clone();
        write.agent = agent as u32;
        reader::atomic(round, inst).is_some_and(|op| {
            write.scope = round.context.program.memory_model.memory_scope(op.scope);
            state.graph.in_each_others_scope(update, &write)
        })
    };
    update.units.iter().all(|unit| {
        let others = (0..state.threads.len()).filter(|other| *other != update.agent as usize);
        let writers = others.flat_map(|other| round.knowledge.writers(*unit, other as u32));
        writers.copied().all(|(agent, inst)| is_ordered(agent as usize, inst))
    })
}

/// The latest writes of each unit.
pub(crate) fn latest_writes<'s>(
    round: &'s Round,
    state: &'s State,
) -> Box<dyn Fn(Unit) -> Vec<EventId> + 's> {
    let grown = state.growing.as_ref().filter(|growing| growing.covers(&state.graph));
    if let Some(growing) = grown.filter(|_| !round.knowledge.orders_matter) {
        return Box::new(|unit| growing.latest_writes(unit));
    }
    let relations = oracle::relations(round, &state.graph);
    Box::new(move |unit| oracle::model(round).latest_writes(&state.graph, &relations, unit))
}

/// Whether the read is a read of a spin loop and the first one of its turn.
pub(crate) fn is_spinning(round: &Round, state: &State, reader: &Reader) -> bool {
    round.knowledge.spin_reads.contains(&reader.access.inst)
        && arrivals_without_accesses(state, reader.index).next().is_some()
}
