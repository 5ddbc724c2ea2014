//! Certification: whether the promises of a path can still be fulfilled. A path ends if no write to come can fulfil one
//! of them.
//!
//! For example, a read speculates that `x` becomes 7, and the only write of `x` that can still be reached happens after
//! that read. The promise cannot be fulfilled.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::event::{ClassSet, Order};
use crate::explore::branch::{outlook, writers};
use crate::explore::facts::discoveries::Manner;
use crate::explore::oracle;
use crate::explore::state::{Promise, Round, State};
use crate::model::graph::{Event, EventId, Kind};

/// Whether no invocation will write what some speculated read waits for.
pub(crate) fn is_never_written(round: &Round, state: &State) -> bool {
    let may_be_written = |promise: &Promise| {
        (0..state.threads.len()).any(|index| {
            writers::may_write(round, state, index, promise.unit, None)
                && outlook::is_in_outlook(round, state, index, promise.unit, Some(&promise.value))
        })
    };
    !state.promises.iter().all(may_be_written)
}

/// Whether some promise cannot be fulfilled because everything that invocations may still write there is ordered after
/// the speculated read.
pub(crate) fn is_ordered_before_all(round: &Round, state: &State) -> bool {
    if state.promises.is_empty() {
        return false;
    }
    let mut graph = state.graph.clone();
    let mut candidates = Vec::new();
    for promise in &state.promises {
        let read = &state.graph.events[promise.event as usize];
        let first = graph.events.len();
        for index in 0..state.threads.len() {
            let Some(manners) = manners_to_come(round, state, index, promise) else { return false };
            let agent = index as u32;
            graph
                .events
                .extend(manners.into_iter().map(|manner| Arc::new(write_to_come(read, agent, manner))));
        }
        candidates.push((promise, first..graph.events.len()));
    }
    let relations = oracle::relations(round, &graph);
    candidates.into_iter().any(|(promise, mut writes)| {
        let location = relations.locations.iter().find(|location| location.unit == promise.unit);
        location.is_some_and(|location| {
            let at = |event: usize| location.events.binary_search(&(event as EventId)).ok();
            writes.all(|write| match (at(promise.event as usize), at(write)) {
                (Some(i), Some(j)) => location.location_ordered.contains(i, j),
                _ => false,
            })
        })
    })
}

/// How an invocation may still write where a speculated read reads. It is `None` if that is not known.
fn manners_to_come(
    round: &Round,
    state: &State,
    index: usize,
    promise: &Promise,
) -> Option<SmallVec<[Manner; 4]>> {
    let mut manners: SmallVec<[Manner; 4]> = SmallVec::new();
    for inst in writers::writers_to_come(round, state, index, promise.unit, None, usize::MAX) {
        for manner in round.knowledge.manners.get(&(index as u32, inst))? {
            if !manners.contains(manner) {
                manners.push(*manner);
            }
        }
    }
    Some(manners)
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
