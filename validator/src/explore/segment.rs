//! What invocations do again and again, writes among it: one turn of it, and whether it may go on for ever.

use std::sync::Arc;

use super::judging::Judgement;
use super::search::Search;
use super::state::{State, Status};
use super::Races;
use crate::behaviour::PathEnd;
use crate::model::consistency::Judge;
use crate::model::graph::{Event, EventId, Graph, Kind, Source, Unit};

/// What invocations do again and again, writes among it.
#[derive(Clone)]
pub(super) struct Segment {
    pub(super) members: Arc<[usize]>,
    /// The events of the members in this range are those of one turn.
    pub(super) start: EventId,
    pub(super) end: EventId,
    /// How the members stand, to go on from there.
    pub(super) statuses: Arc<[Status]>,
}

impl Search<'_> {
    /// A hang with its segments done once more, and whether they may go on so for ever.
    pub(super) fn unrolled(&self, state: &State) -> (Graph, bool) {
        let mut graph = state.graph.clone();
        let latest = self.latest_writes(state);
        let closing = state.closing.as_ref().map(|closing| closing.events);
        let is_repeated = |write: &EventId| {
            closing.is_some_and(|closing| *write >= closing)
                || state
                    .segments
                    .iter()
                    .any(|segment| segment.events(&state.graph).any(|event| event == *write))
        };
        let mut is_fair = true;
        for segment in &state.segments {
            is_fair &= segment.unroll(&mut graph, &latest, &is_repeated);
        }
        (graph, is_fair)
    }

    /// What the model says of a hang with its segments done once more.
    pub(super) fn judge_unrolled(&self, graph: &Graph) -> Judgement {
        let variant = self.context.settings.variant;
        let relations = self.relations(graph);
        let judge = Judge { graph, relations: &relations, variant };
        if self.context.settings.axioms && !judge.is_consistent() {
            return Judgement::Ends(PathEnd::Consistency);
        }
        match judge.data_races().first() {
            Some(race) if self.context.settings.races == Races::Undefined => Judgement::Racy(*race),
            Some(_) | None => Judgement::Fine,
        }
    }
}

impl State {
    /// The members of a segment go on with it for ever.
    pub(super) fn repeat(&mut self, segment: Segment) {
        for member in segment.members.iter() {
            self.threads[*member].status = Status::Forever;
        }
        self.segments.push(segment);
    }

    /// Somebody read what a segment writes: what comes next may be a later turn of it, so its members go on.
    pub(super) fn turn_again(&mut self, read: EventId) {
        if self.segments.is_empty() || self.closing.is_some() {
            return;
        }
        let event = self.graph.events[read as usize].clone();
        let is_read = |segment: &Segment| {
            segment.events(&self.graph).any(|id| {
                let write = &self.graph.events[id as usize];
                write.writes() && write.units.iter().any(|unit| event.units.contains(unit))
            })
        };
        let (woken, rest): (Vec<Segment>, Vec<Segment>) =
            std::mem::take(&mut self.segments).into_iter().partition(is_read);
        self.segments = rest;
        for segment in woken {
            for (member, status) in segment.members.iter().zip(segment.statuses.iter()) {
                let thread = &mut self.threads[*member];
                thread.status = status.clone();
                if let Some(arrival) = thread.loops.last_mut() {
                    arrival.restless = 0;
                    arrival.configurations.clear();
                }
            }
        }
    }
}

impl Segment {
    /// The events of one turn, ascending.
    pub(super) fn events<'g>(&self, graph: &'g Graph) -> impl Iterator<Item = EventId> + use<'g> {
        let members = self.members.clone();
        let is_own = move |id: &EventId| members.contains(&(graph.events[*id as usize].agent as usize));
        (self.start..self.end).filter(is_own)
    }

    /// Puts the segment behind a graph. False where a read of it would stay from-reads-before a write for ever.
    fn unroll(
        &self,
        graph: &mut Graph,
        latest: &dyn Fn(Unit) -> Vec<EventId>,
        is_repeated: &dyn Fn(&EventId) -> bool,
    ) -> bool {
        let mut is_fair = true;
        let own: Vec<EventId> = self.events(graph).collect();
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
                let next = self.next_source(graph, &own, (*id, position), &latest(*unit), is_repeated);
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
        &self,
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
            Source::Event(write) => at(write).or_else(|| self.corresponding(graph, own, write)),
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
    fn corresponding(&self, graph: &Graph, own: &[EventId], write: EventId) -> Option<EventId> {
        let earlier = &graph.events[write as usize];
        let is_like = |id: &EventId| {
            let event = &graph.events[*id as usize];
            (event.agent, event.inst) == (earlier.agent, earlier.inst) && event.written == earlier.written
        };
        // The last one, as it is the last one of its turn that is seen a turn later.
        own.iter().rev().copied().find(is_like)
    }
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
