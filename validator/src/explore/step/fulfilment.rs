//! Fulfilment of promises: a new write may be the write whose value some reads speculated.
//!
//! For example, two reads speculated that `x` becomes 1, and a write now gives `x` the value 1. The write may fulfil
//! either promise, both or none, so the path branches four times.

use std::sync::Arc;

use crate::behaviour::Bound;
use crate::explore::oracle::{self, Judgement};
use crate::explore::outcomes::record;
use crate::explore::state::{Found, Round, State};
use crate::model::graph::{EventId, Source, UnitBytes};
use crate::value::Byte;

/// The number of speculated reads that one write may fulfil, before the search counts as bounded.
const MAX_FULFILLED: usize = 12;

/// One state for each way in which the new write fulfils promises. It is `None` if the write can fulfil none.
pub(crate) fn fulfil(round: &Round, state: &State, id: EventId, found: &mut Found) -> Option<Vec<State>> {
    let event = &state.graph.events[id as usize];
    let has_faulted = state.threads.iter().any(|thread| thread.fault.is_some());
    let owed: Vec<usize> = (0..state.promises.len())
        .filter(|index| {
            let promise = &state.promises[*index];
            let written = event.written_to(promise.unit);
            promise.event != id && written.is_some_and(|written| may_be(written, &promise.value, has_faulted))
        })
        .collect();
    if owed.is_empty() {
        return None;
    }
    if owed.len() > MAX_FULFILLED {
        found.bounded.get_or_insert(Bound::PromisedReads);
    }
    found.paths.branch(1 << owed.len().min(MAX_FULFILLED));
    let mut children = Vec::new();
    for chosen in 0_u64..1 << owed.len().min(MAX_FULFILLED) {
        let mut child = state.clone();
        let mut kept = Vec::new();
        for (index, promise) in state.promises.iter().enumerate() {
            let position = owed.iter().position(|candidate| *candidate == index);
            if position.is_some_and(|position| chosen >> position & 1 == 1) {
                let read = Arc::make_mut(&mut child.graph.events[promise.event as usize]);
                if let Some(at) = read.units.iter().position(|unit| *unit == promise.unit) {
                    read.sources[at] = Source::Event(id);
                }
            } else {
                kept.push(promise.clone());
            }
        }
        child.promises = kept;
        if chosen == 0 {
            children.push(child);
            continue;
        }
        match oracle::judge(round, &mut child, found) {
            Judgement::Ends(end) => found.paths.end(end),
            Judgement::Racy(race) => record::record_race(round, &child, race, found),
            Judgement::Fine => children.push(child),
        }
    }
    Some(children)
}

/// Whether a write gives what a read speculated. If an invocation ran into undefined behaviour, an undefined byte may
/// have any value, in one execution at least.
fn may_be(written: &UnitBytes, value: &UnitBytes, has_faulted: bool) -> bool {
    written.len() == value.len()
        && written
            .iter()
            .zip(value)
            .all(|(written, value)| written == value || has_faulted && *written == Byte::Undef)
}
