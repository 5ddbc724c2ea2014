//! The numbered barriers of litmus tests, and the instructions at which invocations wait for each other.
//!
//! For example, a test may have `barrier 1` in two threads: the second execution of it in one thread waits for the
//! second one in the other thread.

use crate::dispatch::Dispatch;
use crate::event::InstanceName;
use crate::ir::{BarrierOp, FunctionId, InstId, MemoryOp, NumberedWait, Op, Operand, Program};

/// The instructions at which invocations wait for each other, or at which they are compared.
pub(crate) fn meetings(program: &Program) -> Vec<InstId> {
    let mut meetings = Vec::new();
    for (function, code) in (0..).map(FunctionId).zip(program.functions.iter().map(|function| &function.code))
    {
        let meets = |op: &Op| {
            matches!(
                op,
                Op::Subgroup(_)
                    | Op::Barrier(BarrierOp::Control { .. } | BarrierOp::Numbered(_))
                    | Op::Memory(MemoryOp::Uniform { .. })
            )
        };
        let indices = (0..).zip(code).filter(|(_, inst)| meets(&inst.op)).map(|(index, _)| index);
        meetings.extend(indices.map(|index| InstId { function, index }));
    }
    meetings
}

/// For each invocation, the numbered barriers in its code that wait for other invocations.
pub(crate) struct BarrierNumbers {
    /// The numbers and resources by invocation. A number or a resource is `None` if it is computed at run time.
    numbers: Vec<Vec<(Option<u32>, Option<u32>)>>,
}

impl BarrierNumbers {
    pub(crate) fn new(program: &Program, dispatch: &Dispatch) -> Self {
        let numbers = dispatch.entries.iter().map(|entry| {
            let code = program.functions.get(entry.0 as usize).map_or(&[][..], |function| &function.code);
            code.iter().filter_map(|inst| numbers_of(program, &inst.op)).collect()
        });
        BarrierNumbers { numbers: numbers.collect() }
    }

    /// Whether the invocation's code has a barrier that may have this name.
    pub(crate) fn uses(&self, invocation: usize, name: &InstanceName) -> bool {
        let Some((number, resource, _)) = parts_of(name) else { return false };
        let numbers = self.numbers.get(invocation).map_or(&[][..], Vec::as_slice);
        let may_be = |given: &Option<u32>, wanted: u32| given.is_none_or(|given| given == wanted);
        numbers.iter().any(|(other, at)| may_be(other, number) && may_be(at, resource))
    }
}

/// The number, the resource and (once it is counted) the arrival of the invocation that are in a numbered barrier's
/// name.
pub(crate) fn parts_of(name: &InstanceName) -> Option<(u32, u32, Option<u32>)> {
    let (InstId { index: number, .. }, rest) = name.path.first()?;
    Some((*number, *rest.first()?, rest.get(1).copied()))
}

/// The number and the resource of an instruction, if it is a numbered barrier that waits for other invocations.
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
