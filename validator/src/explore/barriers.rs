//! Control barriers: who waits for whom, and what happens when all are there (docs/semantics.md, section 4.7). Litmus
//! tests have numbered ones.

use std::sync::Arc;

use super::events;
use super::found::Found;
use super::search::Search;
use super::state::{Arrived, State, Status, Thread};
use super::tangles::{self, Readiness, Released};
use crate::behaviour::{PathEnd, Undefined};
use crate::dispatch::Dispatch;
use crate::event::{Fault, Fence, InstanceName, Scope, UndefinedKind, Wait};
use crate::ir::{BarrierOp, InstId, NumberedWait, Op, Operand, Program};
use crate::model::graph::Kind;

/// Which invocation's code waits at which numbered barriers.
pub(super) struct BarrierNumbers {
    /// Per invocation the numbers and resources, `None` where they are computed.
    numbers: Vec<Vec<(Option<u32>, Option<u32>)>>,
}

/// A numbered barrier of one scope instance that invocations passed. Who comes later belongs to it, too.
#[derive(Clone)]
pub(super) struct Meeting {
    name: InstanceName,
    instance: u32,
    passed: Vec<usize>,
}

impl BarrierNumbers {
    pub(super) fn new(program: &Program, dispatch: &Dispatch) -> Self {
        let numbers = dispatch.entries.iter().map(|entry| {
            let code = program.functions.get(entry.0 as usize).map_or(&[][..], |function| &function.code);
            code.iter().filter_map(|inst| numbers_of(program, &inst.op)).collect()
        });
        BarrierNumbers { numbers: numbers.collect() }
    }

    /// Whether the invocation's code has a barrier that may have this name.
    pub(super) fn uses(&self, invocation: usize, name: &InstanceName) -> bool {
        let Some((number, resource, _)) = parts_of(name) else { return false };
        let numbers = self.numbers.get(invocation).map_or(&[][..], Vec::as_slice);
        let may_be = |given: &Option<u32>, wanted: u32| given.is_none_or(|given| given == wanted);
        numbers.iter().any(|(other, at)| may_be(other, number) && may_be(at, resource))
    }
}

/// Number, resource and, once it is counted, the arrival that a numbered barrier's name tells of.
fn parts_of(name: &InstanceName) -> Option<(u32, u32, Option<u32>)> {
    let (InstId { index: number, .. }, rest) = name.path.first()?;
    Some((*number, *rest.first()?, rest.get(1).copied()))
}

/// The number and the resource of a barrier that waits for others, if it is one.
fn numbers_of(program: &Program, op: &Op) -> Option<(Option<u32>, Option<u32>)> {
    let Op::Barrier(BarrierOp::Numbered(barrier)) = op else { return None };
    let constant = |operand: Operand| {
        let index = operand.is_constant().then(|| operand.index() as usize);
        index.and_then(|index| program.constants.get(index)).map(|value| value.bits as u32)
    };
    match barrier.waits {
        NumberedWait::Nobody => None,
        NumberedWait::Users { id } | NumberedWait::Quorum { id, .. } => {
            Some((constant(barrier.number), constant(id)))
        }
    }
}

/// Makes the name of a numbered barrier tell how often the invocation came to it.
pub(super) fn count_arrival(thread: &mut Thread, name: &mut InstanceName) {
    let Some((number, resource, _)) = parts_of(name) else { return };
    let count = Arc::make_mut(&mut thread.arrivals).entry((number, resource)).or_default();
    *count += 1;
    if let Some((_, rest)) = name.path.first_mut() {
        rest.push(*count);
    }
}

impl Search<'_> {
    /// Lets the invocations of one control barrier instance go on, if it is complete. Finds
    /// divergence too. Tangles of subgroups go on like this, too.
    pub(super) fn release_barrier(&self, state: &mut State, found: &mut Found) -> Released {
        let mut seen = vec![false; state.threads.len()];
        let mut last_resort = None;
        for index in 0..state.threads.len() {
            if seen[index] {
                continue;
            }
            if tangles::name_at(&state.threads[index].status).is_some() {
                let here = self.tangle(state, index);
                here.iter().for_each(|other| seen[*other] = true);
                match self.readiness(state, &here) {
                    Readiness::Ready => return self.pass_tangle(state, &here, found),
                    // Those of narrower scope first: they may come to the others.
                    Readiness::Standing => {
                        let scope = tangles::scope_at(&state.threads[index].status);
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
                Wait::Users | Wait::Quorum(_) => match self.meet(state, index, &arrived) {
                    true => return Released::Some,
                    false => continue,
                },
                Wait::Everybody | Wait::Nobody(_) => {}
            }
            let members = self.barrier_members(state, index, &arrived);
            let here = arrived_with(state, &members, &arrived);
            let settled = members.iter().all(|other| is_settled(&state.threads[*other].status));
            if here.len() == members.len() {
                self.pass_barrier(state, &here);
                return Released::Some;
            }
            here.iter().for_each(|other| seen[*other] = true);
            // An invocation at a narrower barrier may still come here.
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
            Some((_, here)) => self.pass_tangle(state, &here, found),
            None => Released::Nobody,
        }
    }

    /// The invocations of a barrier's scope instance.
    fn barrier_members(&self, state: &State, index: usize, arrived: &Arrived) -> Vec<usize> {
        let in_scope =
            |other: &usize| state.graph.in_scope_instance(index as u32, arrived.execution, *other as u32);
        (0..state.threads.len()).filter(in_scope).collect()
    }

    /// Lets those of a numbered barrier go on for whom enough others came to it, whether these stand there
    /// or passed; whether there are any.
    fn meet(&self, state: &mut State, index: usize, arrived: &Arrived) -> bool {
        let members = self.barrier_members(state, index, arrived);
        let here = arrived_with(state, &members, arrived);
        let is_its = |meeting: &Meeting| {
            meeting.name == arrived.name && meeting.passed.iter().any(|other| members.contains(other))
        };
        let known = state.meetings.iter().position(is_its);
        let passed = known.map_or(&[][..], |known| &state.meetings[known].passed);
        let came = |other: &usize| here.contains(other) || passed.contains(other);
        let is_satisfied = |waits: Wait| match waits {
            Wait::Users => {
                let mut users =
                    members.iter().filter(|other| self.context.numbers.uses(**other, &arrived.name));
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
        note_meeting(state, &met);
        self.pass_instance(state, &passing, instance);
        true
    }

    pub(super) fn pass_barrier(&self, state: &mut State, members: &[usize]) {
        let instance = state.instances;
        state.instances += 1;
        note_meeting(state, members);
        self.begin_phase(state, members);
        self.pass_instance(state, members, instance);
    }

    fn pass_instance(&self, state: &mut State, members: &[usize], instance: u32) {
        for index in members {
            let Status::Barrier(arrived) = state.threads[*index].status.clone() else { continue };
            if self.knowledge.notes_barriers() {
                let kind = Kind::Barrier { instance, execution: arrived.execution };
                state.push(events::fence_event(*index as u32, kind, &arrived.fence));
            }
            state.threads[*index].passes += 1;
            state.threads[*index].status = Status::Running;
        }
    }

    /// Where whole workgroups pass a barrier, their next phase begins.
    fn begin_phase(&self, state: &mut State, members: &[usize]) {
        let Some(Status::Barrier(arrived)) =
            members.first().map(|index| state.threads[*index].status.clone())
        else {
            return;
        };
        if arrived.execution < Scope::Workgroup || arrived.waits != Wait::Everybody {
            return;
        }
        let workgroup_of = |index: &usize| self.context.dispatch.places[*index].workgroup as usize;
        let mut passing: Vec<usize> = members.iter().map(workgroup_of).collect();
        passing.dedup();
        for workgroup in passing {
            if let Some(phase) = Arc::make_mut(&mut state.phases).get_mut(workgroup) {
                phase.pass(&arrived);
            }
        }
    }

    /// Records that invocations wait at barriers which others never come to.
    pub(super) fn diverge(&self, state: &State, found: &mut Found) {
        let waiting = state.threads.iter().find_map(|thread| match &thread.status {
            Status::Barrier(arrived) => Some(arrived),
            _ => None,
        });
        match waiting.filter(|_| state.pending.is_empty()) {
            Some(arrived) => {
                let undefined = Undefined::from(divergent_barrier(&arrived.fence));
                self.record_undefined(state, undefined, found);
            }
            None => found.paths.end(PathEnd::OutOfThinAir),
        }
    }
}

/// Notes who goes on together, for those who are in loops.
pub(super) fn note_meeting(state: &mut State, members: &[usize]) {
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

/// Whether an invocation waits for others to come to where it stands.
pub(super) fn is_at_barrier(status: &Status) -> bool {
    matches!(status, Status::Barrier(_) | Status::Subgroup(_))
}

fn is_settled(status: &Status) -> bool {
    is_at_barrier(status) || matches!(status, Status::Finished)
}

/// Those of `members` that stand at the same barrier instance.
fn arrived_with(state: &State, members: &[usize], arrived: &Arrived) -> Vec<usize> {
    let is_here = |other: &usize| match &state.threads[*other].status {
        Status::Barrier(other) => other.name == arrived.name,
        _ => false,
    };
    members.iter().copied().filter(is_here).collect()
}

fn divergent_barrier(fence: &Fence) -> Fault {
    Fault {
        kind: UndefinedKind::DivergentBarrier,
        line: fence.line,
        detail: "not every invocation of the scope executes this control barrier instance".to_owned(),
    }
}
