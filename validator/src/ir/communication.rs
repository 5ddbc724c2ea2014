//! Which loops may read memory that invocations share.

use super::{ControlOp, CooperativeOp, Function, FunctionId, LoopId, MemoryOp, Op};
use crate::event::StorageClass;

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
    match op {
        Op::Atomic(_) => true,
        Op::Image(op) => op.action.reads() && op.ty.storage,
        Op::Memory(MemoryOp::Load { class, .. }) => is_shared(*class),
        Op::Memory(MemoryOp::Copy { source_class, .. }) => is_shared(*source_class),
        Op::Cooperative(CooperativeOp::Load { access, .. }) => is_shared(access.class),
        Op::Control(ControlOp::Call { function: FunctionId(callee), .. }) => {
            functions.get(*callee as usize).copied().unwrap_or(false)
        }
        Op::Cooperative(CooperativeOp::Each(each)) => {
            functions.get(each.function.0 as usize).copied().unwrap_or(false)
        }
        Op::Memory(
            MemoryOp::Variable { .. }
            | MemoryOp::Chain(_)
            | MemoryOp::Store { .. }
            | MemoryOp::ArrayLength { .. }
            | MemoryOp::Difference { .. },
        )
        | Op::Control(
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
        | Op::Unary { .. }
        | Op::Binary { .. }
        | Op::Extended { .. }
        | Op::Convert { .. }
        | Op::BitField(_)
        | Op::IntegerDot(_)
        | Op::Glsl(_)
        | Op::Encoded(_)
        | Op::Matrix(_)
        | Op::Composite(_)
        | Op::Select { .. }
        | Op::Copy { .. }
        | Op::Undef { .. }
        | Op::Any { .. }
        | Op::All { .. }
        | Op::Barrier(_)
        | Op::Subgroup(_)
        | Op::Tensor(_)
        | Op::Cooperative(
            CooperativeOp::Length { .. }
            | CooperativeOp::Extract { .. }
            | CooperativeOp::Insert { .. }
            | CooperativeOp::IfHeld { .. }
            | CooperativeOp::Unclip { .. }
            | CooperativeOp::Store { .. },
        )
        | Op::Ray(_)
        | Op::Assume { .. }
        | Op::Require { .. }
        | Op::Nop => false,
    }
}

fn is_shared(class: StorageClass) -> bool {
    match class {
        StorageClass::Uniform
        | StorageClass::Workgroup
        | StorageClass::CrossWorkgroup
        | StorageClass::AtomicCounter
        | StorageClass::Image
        | StorageClass::StorageBuffer
        | StorageClass::PhysicalStorageBuffer => true,
        StorageClass::UniformConstant
        | StorageClass::Input
        | StorageClass::Output
        | StorageClass::Private
        | StorageClass::Function
        | StorageClass::PushConstant => false,
    }
}
