//! Numbered control barriers, which litmus tests have.

use std::sync::Arc;

use super::search::{arrived_with, divergent_barrier, Found, Search};
use super::state::{State, Status, Thread};
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

/// Makes the name of a barrier that waits for its users tell how often the invocation came to its number.
pub(super) fn count_arrival(thread: &mut Thread, name: &mut InstanceName) {
    let Some((InstId { index: number, .. }, iterations)) = name.path.first_mut() else { return };
    let count = Arc::make_mut(&mut thread.arrivals).entry(*number).or_default();
    *count += 1;
    *iterations = vec![*count];
}

impl Search<'_> {
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
                self.record_undefined(&state.graph, undefined, found);
            }
            None => found.blocked += 1,
        }
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
