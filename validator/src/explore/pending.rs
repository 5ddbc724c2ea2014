//! Speculated reads: the writes that they are still owed.

use std::sync::Arc;

use smallvec::SmallVec;

use super::found::Found;
use super::judging::Judgement;
use super::knowledge::Manner;
use super::search::Search;
use super::state::{Pending, State};
use crate::behaviour::Bound;
use crate::event::{ClassSet, Order};
use crate::model::graph::{Event, EventId, Kind, Source, UnitBytes};
use crate::value::Byte;

/// Speculated reads that one write may be owed to, before the search counts as bounded.
const MAX_OWED: usize = 12;

impl Search<'_> {
    /// Where speculated reads owe a write, every way in which the new one is theirs or not.
    /// `None` where it cannot be.
    pub(super) fn match_pending(&self, state: &State, id: EventId, found: &mut Found) -> Option<Vec<State>> {
        let event = &state.graph.events[id as usize];
        let has_faulted = state.threads.iter().any(|thread| thread.fault.is_some());
        let owed: Vec<usize> = (0..state.pending.len())
            .filter(|index| {
                let pending = &state.pending[*index];
                let written = event.written_to(pending.unit);
                pending.event != id
                    && written.is_some_and(|written| may_be(written, &pending.value, has_faulted))
            })
            .collect();
        if owed.is_empty() {
            return None;
        }
        if owed.len() > MAX_OWED {
            found.bounded.get_or_insert(Bound::OwedReads);
        }
        found.paths.branch(1 << owed.len().min(MAX_OWED));
        let mut children = Vec::new();
        for chosen in 0_u64..1 << owed.len().min(MAX_OWED) {
            let mut child = state.clone();
            let mut kept = Vec::new();
            for (index, pending) in state.pending.iter().enumerate() {
                let position = owed.iter().position(|candidate| *candidate == index);
                if position.is_some_and(|position| chosen >> position & 1 == 1) {
                    let read = Arc::make_mut(&mut child.graph.events[pending.event as usize]);
                    if let Some(at) = read.units.iter().position(|unit| *unit == pending.unit) {
                        read.sources[at] = Source::Event(id);
                    }
                } else {
                    kept.push(pending.clone());
                }
            }
            child.pending = kept;
            if chosen == 0 {
                children.push(child);
                continue;
            }
            match self.judge(&mut child, found) {
                Judgement::Ends(end) => found.paths.end(end),
                Judgement::Racy(race) => self.record_race(&child, race, found),
                Judgement::Fine => children.push(child),
            }
        }
        Some(children)
    }

    /// Whether nobody will write any more what some speculated read waits for.
    pub(super) fn owes_for_ever(&self, state: &State) -> bool {
        let may_be_written = |pending: &Pending| {
            (0..state.threads.len()).any(|index| {
                self.may_write(state, index, pending.unit, None)
                    && self.is_in_outlook(state, index, pending.unit, Some(&pending.value))
            })
        };
        !state.pending.iter().all(may_be_written)
    }

    /// Whether some speculated read can have no write any more: everything that invocations may
    /// still write there is ordered after the read.
    pub(super) fn is_hopeless(&self, state: &State) -> bool {
        if state.pending.is_empty() {
            return false;
        }
        let mut graph = state.graph.clone();
        let mut candidates = Vec::new();
        for pending in &state.pending {
            let read = &state.graph.events[pending.event as usize];
            let first = graph.events.len();
            for index in 0..state.threads.len() {
                let Some(manners) = self.manners_to_come(state, index, pending) else { return false };
                let agent = index as u32;
                graph
                    .events
                    .extend(manners.into_iter().map(|manner| Arc::new(write_to_come(read, agent, manner))));
            }
            candidates.push((pending, first..graph.events.len()));
        }
        let relations = self.relations(&graph);
        candidates.into_iter().any(|(pending, mut writes)| {
            let location = relations.locations.iter().find(|location| location.unit == pending.unit);
            location.is_some_and(|location| {
                let at = |event: usize| location.events.binary_search(&(event as EventId)).ok();
                writes.all(|write| match (at(pending.event as usize), at(write)) {
                    (Some(i), Some(j)) => location.location_ordered.contains(i, j),
                    _ => false,
                })
            })
        })
    }

    /// In what manners an invocation may still write where a speculated read reads. `None` where that is
    /// not known.
    fn manners_to_come(
        &self,
        state: &State,
        index: usize,
        pending: &Pending,
    ) -> Option<SmallVec<[Manner; 4]>> {
        let mut manners: SmallVec<[Manner; 4]> = SmallVec::new();
        for inst in self.writers_to_come(state, index, pending.unit, None, usize::MAX) {
            for manner in self.knowledge.manners.get(&(index as u32, inst))? {
                if !manners.contains(manner) {
                    manners.push(*manner);
                }
            }
        }
        Some(manners)
    }
}

/// Whether a write gives what a read speculated. Where an invocation ran into undefined behaviour, what is undefined
/// may be anything, in one execution at least.
fn may_be(written: &UnitBytes, value: &UnitBytes, has_faulted: bool) -> bool {
    written.len() == value.len()
        && written
            .iter()
            .zip(value)
            .all(|(written, value)| written == value || has_faulted && *written == Byte::Undef)
}

/// A plain write to where `read` reads, behind everything that its agent has done.
fn write_to_come(read: &Event, agent: u32, manner: Manner) -> Event {
    let mut event = read.clone();
    event.agent = agent;
    event.reference = manner.reference;
    event.class = manner.class;
    event.non_private = manner.non_private;
    event.kind = Kind::Write;
    event.sources.clear();
    event.read.clear();
    event.atomic = false;
    event.order = Order::Relaxed;
    event.semantics = ClassSet::default();
    event.make_available = false;
    event.make_visible = false;
    event.available = None;
    event.visible = None;
    event
}
