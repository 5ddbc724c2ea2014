//! Cooperative matrices (SPV_KHR_cooperative_matrix). A value has a register component for each component of the
//! matrix, row after row, in every invocation. An invocation *holds* those whose number is its own number
//! modulo the number of invocations in the subgroup; what is in the others is never read by anybody else.

use super::{FloatEncoding, LeafKind, MemoryOperands, Operand};
use crate::event::StorageClass;

#[derive(Clone, Debug)]
pub enum CooperativeOp {
    /// OpCooperativeMatrixLengthKHR: how many components of `count` the invocation holds.
    Length {
        dst: u32,
        count: u32,
    },
    /// The component of this index among those that the invocation holds.
    Extract {
        dst: u32,
        width: u8,
        a: Operand,
        count: u32,
        index: u32,
    },
    Insert {
        dst: u32,
        a: Operand,
        count: u32,
        object: Operand,
        index: u32,
    },
    Load {
        dst: u32,
        access: CooperativeAccess,
    },
    Store {
        object: Operand,
        access: CooperativeAccess,
    },
}

/// Where a matrix lies in memory.
#[derive(Clone, Debug)]
pub struct CooperativeAccess {
    pub pointer: Operand,
    pub class: StorageClass,
    pub operands: MemoryOperands,
    pub rows: u32,
    pub columns: u32,
    pub row_major: bool,
    /// From one row (column) to the next, in units of `unit` bytes; width in bits.
    pub stride: Option<(Operand, u8)>,
    /// Size of what the pointer points to.
    pub unit: u32,
    pub kind: LeafKind,
}

/// OpCooperativeMatrixMulAddKHR: the product of `m` × `k` and `k` × `n`, and an `m` × `n` matrix added.
#[derive(Clone, Debug)]
pub struct MulAdd {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a: Factor,
    pub b: Factor,
    pub c: Factor,
    pub result: Factor,
    pub saturates: bool,
}

/// A matrix of a multiplication; of the result, `value` is not read.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    pub value: Operand,
    pub width: u8,
    pub float: bool,
    /// Of floats of another format than IEEE 754's.
    pub encoding: Option<FloatEncoding>,
    /// Integer components are signed.
    pub signed: bool,
}

impl CooperativeOp {
    pub(super) fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        let mut at = |access: &CooperativeAccess| {
            visit(access.pointer);
            if let Some((stride, _)) = access.stride {
                visit(stride);
            }
        };
        match self {
            CooperativeOp::Length { .. } => {}
            CooperativeOp::Load { access, .. } => at(access),
            CooperativeOp::Store { object, access } => {
                at(access);
                visit(*object);
            }
            CooperativeOp::Extract { a, .. } => visit(*a),
            CooperativeOp::Insert { a, object, .. } => [*a, *object].into_iter().for_each(visit),
        }
    }

    pub(super) const fn destination(&self) -> Option<u32> {
        match self {
            CooperativeOp::Length { dst, .. }
            | CooperativeOp::Extract { dst, .. }
            | CooperativeOp::Insert { dst, .. }
            | CooperativeOp::Load { dst, .. } => Some(*dst),
            CooperativeOp::Store { .. } => None,
        }
    }
}
