//! Control barriers: which invocations wait for which others, and what happens when all have arrived
//! (docs/semantics.md, section 4.7). Litmus tests have numbered barriers.
//!
//! For example, if 3 of the 4 invocations of a workgroup stand at a barrier and the fourth one has ended, the behaviour
//! is `divergent-barrier`.

use std::sync::Arc;

use crate::behaviour::{PathEnd, Undefined};
use crate::event::{Fault, Fence, UndefinedKind, Wait};
use crate::explore::branch::subgroups::{self, Readiness, Released};
use crate::explore::outcomes::record;
use crate::explore::state::arrivals::{Arrived, Meeting};
use crate::explore::state::{Found, Round, State, Status};
use crate::explore::step::barrier_instances;

/// Lets the invocations of one control barrier instance or one tangle of a subgroup continue, if all have arrived. It
/// also finds divergence.
pub(crate) fn release_barrier(round: &Round, state: &mut State, found: &mut Found) -> Released {
    let mut seen = vec![false; state.threads.len()];
    let mut last_resort = None;
    for index in 0..state.threads.len() {
        if seen[index] {
            continue;
        }
        if subgroups::name_at(&state.threads[index].status).is_some() {
            let here = subgroups::tangle(round, state, index);
            here.iter().for_each(|other| seen[*other] = true);
            match subgroups::readiness(round, state, &here) {
                Readiness::Ready => return subgroups::pass_tangle(round, state, &here, found),
                // Tangles of narrower scope continue first: their invocations may still reach a tangle of wider scope.
                Readiness::Standing => {
                    let scope = subgroups::scope_at(&state.threads[index].status);
                    if last_resort.as_ref().is_none_or(|(other, _)| scope < *other) {
                        last_resort = Some((scope, here));
                    }
                }
                Readiness::Waiting => {}
            }
            continue;
        }
        let Status::Barrier(arrived) = &state.threads[index].status else { continue };
        let arrived = arrived.clone();
        match arrived.waits {
            Wait::Users | Wait::Quorum(_) => match meet(round, state, index, &arrived) {
                true => return Released::Some,
                false => continue,
            },
            Wait::Everybody | Wait::Nobody(_) => {}
        }
        let members = barrier_members(state, index, &arrived);
        let here = barrier_instances::arrived_with(state, &members, &arrived);
        let settled = members.iter().all(|other| is_settled(&state.threads[*other].status));
        if here.len() == members.len() {
            barrier_instances::pass_barrier(round, state, &here);
            return Released::Some;
        }
        here.iter().for_each(|other| seen[*other] = true);
        // An invocation at a narrower barrier may still reach this one.
        let may_move = members.iter().any(|other| match &state.threads[*other].status {
            Status::Barrier(b) => b.execution < arrived.execution,
            Status::Subgroup(_) => true,
            _ => false,
        });
        if settled && !may_move {
            let fault = || Arc::new(divergent_barrier(&arrived.fence));
            state.threads[index].fault.get_or_insert_with(fault);
            state.threads[index].status = Status::Faulted;
            return Released::Some;
        }
    }
    match last_resort {
        Some((_, here)) => subgroups::pass_tangle(round, state, &here, found),
        None => Released::Nobody,
    }
}

/// The invocations of a barrier's scope instance.
fn barrier_members(state: &State, index: usize, arrived: &Arrived) -> Vec<usize> {
    let in_scope =
        |other: &usize| state.graph.in_scope_instance(index as u32, arrived.execution, *other as u32);
    (0..state.threads.len()).filter(in_scope).collect()
}

/// Lets those invocations at a numbered barrier continue for which enough others have arrived, whether these still
/// stand there or have passed. It returns whether there are any.
fn meet(round: &Round, state: &mut State, index: usize, arrived: &Arrived) -> bool {
    let members = barrier_members(state, index, arrived);
    let here = barrier_instances::arrived_with(state, &members, arrived);
    let is_its = |meeting: &Meeting| {
        meeting.name == arrived.name && meeting.passed.iter().any(|other| members.contains(other))
    };
    let known = state.meetings.iter().position(is_its);
    let passed = known.map_or(&[][..], |known| &state.meetings[known].passed);
    let came = |other: &usize| here.contains(other) || passed.contains(other);
    let is_satisfied = |waits: Wait| match waits {
        Wait::Users => {
            let mut users = members.iter().filter(|other| round.context.numbers.uses(**other, &arrived.name));
            users.all(came)
        }
        Wait::Quorum(quorum) => members.iter().filter(|other| came(other)).count() >= quorum as usize,
        Wait::Everybody | Wait::Nobody(_) => false,
    };
    let waits_of = |other: &usize| match &state.threads[*other].status {
        Status::Barrier(arrived) => Some(arrived.waits),
        Status::Running
        | Status::Reading { .. }
        | Status::Subgroup(_)
        | Status::Finished
        | Status::Faulted
        | Status::Forever => None,
    };
    let passing: Vec<usize> =
        here.iter().copied().filter(|other| waits_of(other).is_some_and(is_satisfied)).collect();
    if passing.is_empty() {
        return false;
    }
    let known = known.unwrap_or_else(|| {
        let (name, instance) = (arrived.name.clone(), state.instances);
        state.instances += 1;
        state.meetings.push(Meeting { name, instance, passed: Vec::new() });
        state.meetings.len() - 1
    });
    let meeting = &mut state.meetings[known];
    meeting.passed.extend(&passing);
    let (instance, met) = (meeting.instance, meeting.passed.clone());
    barrier_instances::note_meeting(state, &met);
    barrier_instances::pass_instance(round, state, &passing, instance);
    true
}

/// Records that invocations wait at barriers which other invocations never reach.
pub(crate) fn diverge(round: &Round, state: &State, found: &mut Found) {
    let waiting = state.threads.iter().find_map(|thread| match &thread.status {
        Status::Barrier(arrived) => Some(arrived),
        _ => None,
    });
    match waiting.filter(|_| state.promises.is_empty()) {
        Some(arrived) => {
            let undefined = Undefined::from(divergent_barrier(&arrived.fence));
            record::record_undefined(round, state, undefined, found);
        }
        None => found.paths.end(PathEnd::OutOfThinAir),
    }
}

fn is_settled(status: &Status) -> bool {
    barrier_instances::is_at_barrier(status) || matches!(status, Status::Finished)
}

fn divergent_barrier(fence: &Fence) -> Fault {
    Fault {
        kind: UndefinedKind::DivergentBarrier,
        line: fence.line,
        detail: "not every invocation of the scope executes this control barrier instance".to_owned(),
    }
}
