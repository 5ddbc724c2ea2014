//! The numbered barriers of litmus tests, and the instructions at which invocations wait for each other.

use crate::dispatch::Dispatch;
use crate::event::InstanceName;
use crate::ir::{BarrierOp, FunctionId, InstId, MemoryOp, NumberedWait, Op, Operand, Program};

/// The instructions at which invocations wait for each other, or are compared.
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

/// Which invocation's code waits at which numbered barriers.
pub(crate) struct BarrierNumbers {
    /// Per invocation the numbers and resources, `None` where they are computed.
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

/// Number, resource and, once it is counted, the arrival that a numbered barrier's name tells of.
pub(crate) fn parts_of(name: &InstanceName) -> Option<(u32, u32, Option<u32>)> {
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
