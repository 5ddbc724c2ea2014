//! One instance of a control barrier: what happens when its invocations pass it.

use std::sync::Arc;

use crate::event::InstanceName;
use crate::explore::events;
use crate::explore::program::barrier_numbers;
use crate::explore::reductions::barrier_epochs;
use crate::explore::state::arrivals::Arrived;
use crate::explore::state::{Round, State, Status, Thread};
use crate::model::graph::Kind;

/// Adds to the name of a numbered barrier how often the invocation has arrived at it.
pub(crate) fn count_arrival(thread: &mut Thread, name: &mut InstanceName) {
    let Some((number, resource, _)) = barrier_numbers::parts_of(name) else { return };
    let count = Arc::make_mut(&mut thread.arrivals).entry((number, resource)).or_default();
    *count += 1;
    if let Some((_, rest)) = name.path.first_mut() {
        rest.push(*count);
    }
}

pub(crate) fn pass_barrier(round: &Round, state: &mut State, members: &[usize]) {
    let instance = state.instances;
    state.instances += 1;
    note_meeting(state, members);
    barrier_epochs::begin_epoch(round, state, members);
    pass_instance(round, state, members, instance);
}

pub(crate) fn pass_instance(round: &Round, state: &mut State, members: &[usize], instance: u32) {
    for index in members {
        let Status::Barrier(arrived) = state.threads[*index].status.clone() else { continue };
        if round.knowledge.notes_barriers() {
            let kind = Kind::Barrier { instance, execution: arrived.execution };
            state.push(events::fence_event(*index as u32, kind, &arrived.fence));
        }
        state.threads[*index].passes += 1;
        state.threads[*index].status = Status::Running;
    }
}

/// Notes for each loop that an invocation is in with which others the invocation passed a barrier.
pub(crate) fn note_meeting(state: &mut State, members: &[usize]) {
    let mut shared: Option<Arc<[usize]>> = None;
    for index in members {
        if state.threads[*index].loops.is_empty() {
            continue;
        }
        for arrival in &mut state.threads[*index].loops {
            if !arrival.met.iter().any(|known| **known == *members) {
                arrival.met.push(shared.get_or_insert_with(|| members.into()).clone());
            }
        }
    }
}

/// Whether an invocation waits for others at a barrier or a subgroup operation.
pub(crate) fn is_at_barrier(status: &Status) -> bool {
    matches!(status, Status::Barrier(_) | Status::Subgroup(_))
}

/// Those of `members` that stand at the same barrier instance.
pub(crate) fn arrived_with(state: &State, members: &[usize], arrived: &Arrived) -> Vec<usize> {
    let is_here = |other: &usize| match &state.threads[*other].status {
        Status::Barrier(other) => other.name == arrived.name,
        _ => false,
    };
    members.iter().copied().filter(is_here).collect()
}
