//! Control barriers: who waits for whom, and what happens when all are there. Litmus tests have
//! numbered ones.

use std::sync::Arc;

use super::events;
use super::found::Found;
use super::search::Search;
use super::state::{Arrived, State, Status, Thread};
use super::tangles::{self, Readiness, Released};
use crate::behaviour::Undefined;
use crate::dispatch::Dispatch;
use crate::event::{Fault, Fence, InstanceName, Scope, UndefinedKind, Wait};
use crate::ir::{BarrierOp, InstId, NumberedWait, Op, Program};
use crate::model::graph::Kind;

/// Which invocation's code has which numbers.
pub(super) struct BarrierNumbers {
    /// Per invocation; `None` for a number that is computed.
    numbers: Vec<Vec<Option<u32>>>,
}

impl BarrierNumbers {
    pub(super) fn new(program: &Program, dispatch: &Dispatch) -> Self {
        let numbers = dispatch.entries.iter().map(|entry| {
            let code = program.functions.get(entry.0 as usize).map_or(&[][..], |function| &function.code);
            code.iter().filter_map(|inst| number_of(program, &inst.op)).collect()
        });
        BarrierNumbers { numbers: numbers.collect() }
    }

    /// Whether the invocation's code has a barrier that may have the number of this name.
    pub(super) fn uses(&self, invocation: usize, name: &InstanceName) -> bool {
        let Some((InstId { index: number, .. }, _)) = name.path.first() else { return false };
        let numbers = self.numbers.get(invocation).map_or(&[][..], Vec::as_slice);
        numbers.iter().any(|other| other.is_none_or(|other| other == *number))
    }
}

/// The number of a barrier that waits for others who use it, if it is one.
fn number_of(program: &Program, op: &Op) -> Option<Option<u32>> {
    match op {
        Op::Barrier(BarrierOp::Numbered(barrier)) if barrier.waits != NumberedWait::Nobody => {
            let constant = barrier.number.is_constant().then(|| barrier.number.index() as usize);
            Some(constant.and_then(|index| program.constants.get(index)).map(|value| value.bits as u32))
        }
        _ => None,
    }
}

/// Makes the name of a barrier that waits for its users tell how often the invocation came to its number.
pub(super) fn count_arrival(thread: &mut Thread, name: &mut InstanceName) {
    let Some((InstId { index: number, .. }, iterations)) = name.path.first_mut() else { return };
    let count = Arc::make_mut(&mut thread.arrivals).entry(*number).or_default();
    *count += 1;
    *iterations = vec![*count];
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
            let members = self.barrier_members(state, index, &arrived);
            let here = arrived_with(state, &members, &arrived);
            if let Wait::Quorum(quorum) = arrived.waits {
                // With others who may come, who belongs together is open.
                if here.len() == members.len()
                    && here.len() == quorum as usize
                    && !state.parted.contains(&here)
                {
                    self.pass_barrier(state, &here);
                    return Released::Some;
                }
                continue;
            }
            let settled = members.iter().all(|other| is_settled(&state.threads[*other].status));
            if here.len() == members.len() {
                self.pass_barrier(state, &here);
                return Released::Some;
            }
            if arrived.waits != Wait::Everybody {
                continue;
            }
            here.iter().for_each(|other| seen[*other] = true);
            // An invocation at a narrower barrier may still come here.
            let may_move = members.iter().any(|other| match &state.threads[*other].status {
                Status::Barrier(b) => b.execution < arrived.execution,
                Status::Subgroup(_) => true,
                _ => false,
            });
            if settled && !may_move {
                state.threads[index].status = Status::Faulted(Arc::new(divergent_barrier(&arrived.fence)));
                return Released::Some;
            }
        }
        match last_resort {
            Some((_, here)) => self.pass_tangle(state, &here, found),
            None => Released::Nobody,
        }
    }

    /// The invocations that a barrier waits for, or may join.
    fn barrier_members(&self, state: &State, index: usize, arrived: &Arrived) -> Vec<usize> {
        let in_scope =
            |other: &usize| state.graph.in_scope_instance(index as u32, arrived.execution, *other as u32);
        let uses = |other: &usize| match arrived.waits {
            Wait::Users | Wait::Quorum(_) => self.context.numbers.uses(*other, &arrived.name),
            Wait::Everybody | Wait::Nobody(_) => true,
        };
        (0..state.threads.len()).filter(in_scope).filter(uses).collect()
    }

    pub(super) fn pass_barrier(&self, state: &mut State, members: &[usize]) {
        let instance = state.instances;
        state.instances += 1;
        self.begin_phase(state, members);
        state.parted.retain(|group| !group.iter().any(|member| members.contains(member)));
        for index in members {
            let Status::Barrier(arrived) = state.threads[*index].status.clone() else { continue };
            if self.knowledge.notes_barriers() {
                let kind = Kind::Barrier { instance, execution: arrived.execution };
                state.push(events::fence_event(*index as u32, kind, &arrived.fence));
            }
            state.threads[*index].changes += 1;
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

    /// The groups of invocations that would complete a barrier's quorum, each in ascending order.
    pub(super) fn quorums(&self, state: &State) -> Vec<Vec<usize>> {
        let mut groups = Vec::new();
        for index in 0..state.threads.len() {
            let Status::Barrier(arrived) = &state.threads[index].status else { continue };
            let Wait::Quorum(quorum) = arrived.waits else { continue };
            let here = arrived_with(state, &self.barrier_members(state, index, arrived), arrived);
            // The groups with other invocations only are found when it is their turn.
            let others: Vec<usize> = here.into_iter().filter(|other| *other > index).collect();
            let missing = (quorum as usize).saturating_sub(1);
            for_each_group(&others, missing, &mut vec![index], &mut |group| groups.push(group.to_vec()));
        }
        groups
    }

    /// One child for each of these groups that passes. What comes of the other groups belongs to their
    /// branches: in those behind a group, and whatever else happens from here on, it does not pass as it
    /// stands.
    pub(super) fn pass_quorums(&self, state: &mut State, groups: Vec<Vec<usize>>) -> Vec<State> {
        let mut children = Vec::new();
        for group in groups {
            if state.parted.contains(&group) {
                continue;
            }
            let mut child = state.clone();
            self.pass_barrier(&mut child, &group);
            children.push(child);
            state.parted.push(group);
        }
        children
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
            None => found.blocked += 1,
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

/// Calls back with `group` extended by every choice of `count` of `candidates`.
fn for_each_group(
    candidates: &[usize],
    count: usize,
    group: &mut Vec<usize>,
    visit: &mut impl FnMut(&[usize]),
) {
    if count == 0 {
        return visit(group);
    }
    for (position, candidate) in candidates.iter().enumerate() {
        if candidates.len() - position < count {
            return;
        }
        group.push(*candidate);
        for_each_group(&candidates[position + 1..], count - 1, group, visit);
        group.pop();
    }
}
