//! Which loops may read memory that invocations share.

use super::effect::Effect;
use super::{ControlOp, CooperativeOp, Function, FunctionId, LoopId, MemoryOp, Op};

/// Sets [`Loop::communicates`](super::Loop::communicates) in all functions.
pub fn mark_communicating_loops(functions: &mut [Function]) {
    let communicating = communicating_functions(functions);
    for function in functions {
        let marks: Vec<bool> = (0..function.loops.len())
            .map(|id| {
                let id = LoopId(id as u32);
                instructions(function).any(|(block, op)| {
                    function.blocks[block].loops.contains(&id) && communicates(op, &communicating)
                })
            })
            .collect();
        for (candidate, mark) in function.loops.iter_mut().zip(marks) {
            candidate.communicates = mark;
        }
    }
}

/// Functions that read shared memory, themselves or through calls.
fn communicating_functions(functions: &[Function]) -> Vec<bool> {
    let mut known = vec![false; functions.len()];
    loop {
        let next: Vec<bool> = functions
            .iter()
            .map(|function| function.code.iter().any(|inst| communicates(&inst.op, &known)))
            .collect();
        if next == known {
            return known;
        }
        known = next;
    }
}

/// The instructions with the index of their block.
fn instructions(function: &Function) -> impl Iterator<Item = (usize, &Op)> {
    function.code.iter().enumerate().map(|(index, inst)| {
        let behind = function.blocks.partition_point(|block| block.start as usize <= index);
        (behind.saturating_sub(1), &inst.op)
    })
}

fn communicates(op: &Op, functions: &[bool]) -> bool {
    let does = |function: FunctionId| functions.get(function.0 as usize).copied().unwrap_or(false);
    match op.effect() {
        Effect::Atomic(_) => true,
        Effect::Image(op) => op.action.reads() && op.ty.storage,
        Effect::Memory(MemoryOp::Load { class, .. }) => class.is_shared(),
        Effect::Memory(MemoryOp::Copy { source_class, .. }) => source_class.is_shared(),
        Effect::Cooperative(CooperativeOp::Load { access, .. }) => access.class.is_shared(),
        Effect::Control(ControlOp::Call { function, .. }) => does(*function),
        Effect::Cooperative(CooperativeOp::Each(each)) => does(each.function),
        Effect::Memory(
            MemoryOp::Variable { .. }
            | MemoryOp::Chain(_)
            | MemoryOp::Store { .. }
            | MemoryOp::Uniform { .. }
            | MemoryOp::ArrayLength { .. }
            | MemoryOp::Difference { .. },
        )
        | Effect::Control(
            ControlOp::Branch(_)
            | ControlOp::BranchConditional { .. }
            | ControlOp::Switch { .. }
            | ControlOp::Return
            | ControlOp::ReturnValue { .. }
            | ControlOp::Unreachable
            | ControlOp::Kill
            | ControlOp::Demote
            | ControlOp::IsHelper { .. },
        )
        | Effect::Cooperative(
            CooperativeOp::Length { .. }
            | CooperativeOp::Extract { .. }
            | CooperativeOp::Insert { .. }
            | CooperativeOp::IfHeld { .. }
            | CooperativeOp::Unclip { .. }
            | CooperativeOp::Store { .. },
        )
        | Effect::Barrier(_)
        | Effect::Subgroup(_)
        | Effect::None => false,
    }
}
