//! What an operation does beside setting registers.

use super::image::ImageOp;
use super::{AtomicOp, BarrierOp, ControlOp, CooperativeOp, MemoryOp, Op, SubgroupOp};

/// What concerns more than the registers of the invocation, by the kind of operation.
#[derive(Clone, Copy, Debug)]
pub enum Effect<'o> {
    /// Sets registers, of what others hold; or says which executions count or are undefined.
    None,
    Control(&'o ControlOp),
    Memory(&'o MemoryOp),
    Atomic(&'o AtomicOp),
    Image(&'o ImageOp),
    Barrier(&'o BarrierOp),
    Subgroup(&'o SubgroupOp),
    Cooperative(&'o CooperativeOp),
}

impl Op {
    /// What the operation does beside setting registers.
    pub fn effect(&self) -> Effect<'_> {
        match self {
            Op::Control(op) => Effect::Control(op),
            Op::Memory(op) => Effect::Memory(op),
            Op::Atomic(op) => Effect::Atomic(op),
            Op::Image(op) => Effect::Image(op),
            Op::Barrier(op) => Effect::Barrier(op),
            Op::Subgroup(op) => Effect::Subgroup(op),
            Op::Cooperative(op) => Effect::Cooperative(op),
            Op::Unary { .. }
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
            | Op::Tensor(_)
            | Op::Ray(_)
            | Op::Assume { .. }
            | Op::Require { .. }
            | Op::Nop => Effect::None,
        }
    }
}
