//! Tangles: the invocations of a subgroup at the same dynamic instance of a subgroup operation, or of a control barrier
//! of Subgroup scope. They wait for the invocations that may still reach the instance, and continue together. Subgroup
//! operations order no memory and are no events.
//!
//! For example, a subgroup of four executes a sum inside of a branch that two of its invocations take. These two wait
//! until the other two have passed the branch, and then the sum is over two invocations.

use std::sync::Arc;

use crate::behaviour::{Bug, PathEnd, Undecided};
use crate::event::{InstanceName, Scope, Wait};
use crate::explore::state::{Found, Round, State, Status, Thread};
use crate::explore::step::barrier_instances;
use crate::interp::convergence::{self};
use crate::interp::{subgroup, Convergence, Invocation, Stop};
use crate::ir::Line;
use crate::value::Scalar;

/// The number of classes of invocations up to which all their partitions are tried.
const MAX_CLASSES: usize = 4;

/// The result of an attempt to let invocations continue.
pub(crate) enum Released {
    Nobody,
    Some,
    /// The path cannot be followed any further.
    Ended(PathEnd),
}

/// The scope of the invocations that act together with one in this status.
pub(crate) fn scope_at(status: &Status) -> Scope {
    match status {
        Status::Subgroup(gathered) => gathered.scope,
        Status::Barrier(_)
        | Status::Running
        | Status::Reading { .. }
        | Status::Finished
        | Status::Faulted
        | Status::Forever => Scope::Subgroup,
    }
}

/// The instance at which an invocation waits for others of its subgroup or workgroup.
pub(crate) fn name_at(status: &Status) -> Option<(&InstanceName, Line)> {
    match status {
        Status::Subgroup(gathered) => Some((&gathered.name, gathered.line)),
        Status::Barrier(arrived)
            if arrived.execution == Scope::Subgroup && arrived.waits == Wait::Everybody =>
        {
            Some((&arrived.name, arrived.line))
        }
        Status::Barrier(_)
        | Status::Running
        | Status::Reading { .. }
        | Status::Finished
        | Status::Faulted
        | Status::Forever => None,
    }
}

/// What a tangle waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// No other invocation may reach the instance.
    Ready,
    /// The invocations that may reach it wait at other operations or barriers.
    Standing,
    /// An invocation that may reach it can still run or be resolved.
    Waiting,
}

/// The invocations of a subgroup, or workgroup, that stand at the same instance as this one.
pub(crate) fn tangle(round: &Round, state: &State, index: usize) -> Vec<usize> {
    let Some((name, _)) = name_at(&state.threads[index].status) else { return Vec::new() };
    let is_here =
        |other: &usize| name_at(&state.threads[*other].status).is_some_and(|(other, _)| other == name);
    group_of(round, state, index).iter().copied().filter(is_here).collect()
}

/// The invocations that may act together with one that stands at an operation.
fn group_of<'a>(round: &Round<'a>, state: &State, index: usize) -> &'a [usize] {
    let Some(place) = round.context.dispatch.places.get(index) else { return &[] };
    let group = match scope_at(&state.threads[index].status) {
        Scope::Workgroup => round.context.workgroups.get(place.workgroup as usize),
        Scope::Invocation | Scope::Subgroup | Scope::QueueFamily | Scope::Device | Scope::CrossDevice => {
            round.context.subgroups.get(place.subgroup as usize)
        }
    };
    group.map_or(&[], Vec::as_slice)
}

/// Whether other invocations of the subgroup, or workgroup, may still reach the instance at which those of `here`
/// stand.
pub(crate) fn readiness(round: &Round, state: &State, here: &[usize]) -> Readiness {
    let Some(first) = here.first() else { return Readiness::Waiting };
    let Some((name, _)) = name_at(&state.threads[*first].status) else { return Readiness::Waiting };
    let mut readiness = Readiness::Ready;
    let mut here = here.iter().peekable();
    for other in group_of(round, state, *first) {
        // Both lists are ascending.
        if here.next_if_eq(&other).is_some() {
            continue;
        }
        match awaited(round, &state.threads[*other], name) {
            Readiness::Ready => {}
            Readiness::Standing => readiness = Readiness::Standing,
            Readiness::Waiting => return Readiness::Waiting,
        }
    }
    readiness
}

fn awaited(round: &Round, thread: &Thread, name: &InstanceName) -> Readiness {
    let may_come = |from: &InstanceName, comes| match round.context.order.may_come(from, name) {
        true => comes,
        false => Readiness::Ready,
    };
    match &thread.status {
        Status::Finished | Status::Faulted | Status::Forever => Readiness::Ready,
        Status::Subgroup(gathered) => may_come(&gathered.name, Readiness::Standing),
        Status::Barrier(arrived) => may_come(&arrived.name, Readiness::Standing),
        Status::Reading { .. } | Status::Running => {
            may_come(&thread.invocation.instance_name(round.context.program), Readiness::Waiting)
        }
    }
}

/// Lets a tangle continue.
pub(crate) fn pass_tangle(round: &Round, state: &mut State, here: &[usize], found: &mut Found) -> Released {
    let Some(first) = here.first() else { return Released::Nobody };
    let Some((_, line)) = name_at(&state.threads[*first].status) else { return Released::Nobody };
    let classes = classes(round, state, here);
    if classes.len() > 1 && !is_indifferent(round, state, here, &classes) {
        state.diverged.get_or_insert(line);
    }
    if matches!(state.threads[*first].status, Status::Barrier(_)) {
        barrier_instances::pass_barrier(round, state, here);
        return Released::Some;
    }
    barrier_instances::note_meeting(state, here);
    let program = round.context.program;
    let members: Vec<&Invocation> = here.iter().map(|index| &*state.threads[*index].invocation).collect();
    match subgroup::evaluate(program, round.context.dispatch, &members) {
        Ok(result) => {
            for (index, values) in here.iter().zip(&result.values) {
                let thread = &mut state.threads[*index];
                Arc::make_mut(&mut thread.invocation).supply_subgroup(program, values, result.inexact);
                thread.passes += 1;
                thread.status = Status::Running;
            }
            Released::Some
        }
        Err(stop) => match *stop {
            Stop::Fault(fault) => {
                let thread = &mut state.threads[*first];
                thread.fault.get_or_insert_with(|| Arc::new(fault));
                thread.status = Status::Faulted;
                Released::Some
            }
            Stop::Unsupported { line, what } => {
                found.undecided.insert(Undecided::Unsupported { line, what });
                Released::Ended(PathEnd::Unsupported)
            }
            other => {
                let bug = Bug::UnexpectedStop { line, stop: format!("{other:?}") };
                found.undecided.insert(Undecided::Bug(bug));
                Released::Ended(PathEnd::Unsupported)
            }
        },
    }
}

/// Divides the invocations of `here`, as positions, into classes that certainly execute the same dynamic instance.
fn classes(round: &Round, state: &State, here: &[usize]) -> Vec<Vec<usize>> {
    let way = |index: &usize| state.threads[*index].invocation.convergence();
    let Some(first) = here.first() else { return Vec::new() };
    // A named instance of a workgroup is one dynamic instance, like that of a control barrier.
    if scope_at(&state.threads[*first].status) == Scope::Workgroup {
        return vec![(0..here.len()).collect()];
    }
    let ways: Option<Vec<&Convergence>> = here.iter().map(way).collect();
    let all: Option<Vec<&Convergence>> = group_of(round, state, *first).iter().map(way).collect();
    match ways.zip(all) {
        Some((ways, all)) => convergence::classes(&ways, &all),
        // Litmus tests have no constructs.
        None => vec![(0..here.len()).collect()],
    }
}

/// Whether a subgroup operation gives every invocation the same result however the classes are combined.
fn is_indifferent(round: &Round, state: &State, here: &[usize], classes: &[Vec<usize>]) -> bool {
    let operates = |index: &usize| matches!(state.threads[*index].status, Status::Subgroup(_));
    if classes.len() > MAX_CLASSES || !here.iter().all(operates) {
        return false;
    }
    let results = |parts: &[usize]| -> Option<Vec<Vec<Scalar>>> {
        let mut results = vec![Vec::new(); here.len()];
        for part in 0..classes.len() {
            let joined = classes.iter().zip(parts).filter(|(_, own)| **own == part);
            let mut positions: Vec<usize> = joined.flat_map(|(class, _)| class.iter().copied()).collect();
            positions.sort_unstable();
            let invocation = |position: &usize| Some(&*state.threads[*here.get(*position)?].invocation);
            let members: Option<Vec<&Invocation>> = positions.iter().map(invocation).collect();
            let found = subgroup::evaluate(round.context.program, round.context.dispatch, &members?).ok()?;
            for (position, values) in positions.iter().zip(found.values) {
                *results.get_mut(*position)? = values.to_vec();
            }
        }
        Some(results)
    };
    let Some(together) = results(&vec![0; classes.len()]) else { return false };
    let mut same = true;
    for_each_partition(classes.len(), &mut Vec::new(), &mut |parts| {
        same = same && results(parts).as_ref() == Some(&together);
    });
    same
}

/// Calls back with every partition of `count` things, as the number of the part for each.
fn for_each_partition(count: usize, parts: &mut Vec<usize>, visit: &mut impl FnMut(&[usize])) {
    if parts.len() == count {
        return visit(parts);
    }
    let next = parts.iter().max().map_or(0, |last| last + 1);
    for part in 0..=next {
        parts.push(part);
        for_each_partition(count, parts, visit);
        parts.pop();
    }
}
