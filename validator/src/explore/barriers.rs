//! Numbered control barriers, which litmus tests have.

use super::search::{arrived_with, divergent_barrier, Found, Search};
use super::state::{State, Status};
use crate::behaviour::Undefined;
use crate::dispatch::Dispatch;
use crate::event::{InstanceName, Wait};
use crate::ir::{BarrierOp, InstId, NumberedWait, Op, Program};

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

impl Search<'_> {
    /// Where nobody can go on otherwise: one child for every group of invocations that completes a
    /// barrier's quorum.
    pub(super) fn pass_quorums(&self, state: &State) -> Vec<State> {
        let mut children = Vec::new();
        for index in 0..state.threads.len() {
            let Status::Barrier(arrived) = &state.threads[index].status else { continue };
            let Wait::Quorum(quorum) = arrived.waits else { continue };
            let here = arrived_with(state, &self.barrier_members(state, index, arrived), arrived);
            // The groups with other invocations only are found when it is their turn.
            let others: Vec<usize> = here.into_iter().filter(|other| *other > index).collect();
            for_each_group(&others, (quorum as usize).saturating_sub(1), &mut vec![index], &mut |group| {
                let mut child = state.clone();
                self.pass_barrier(&mut child, group);
                children.push(child);
            });
        }
        children
    }

    /// Records that invocations wait at barriers which others never come to. False if nobody does.
    pub(super) fn diverge(&self, state: &State, found: &mut Found) -> bool {
        let waiting = state.threads.iter().find_map(|thread| match &thread.status {
            Status::Barrier(arrived) => Some(arrived),
            _ => None,
        });
        let Some(arrived) = waiting.filter(|_| state.pending.is_empty()) else { return false };
        self.record_undefined(&state.graph, Undefined::from(divergent_barrier(&arrived.fence)), found);
        true
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
        group.push(*candidate);
        for_each_group(&candidates[position + 1..], count - 1, group, visit);
        group.pop();
    }
}
