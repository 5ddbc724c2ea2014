//! Bit instructions (SPIR-V specification 3.3.14).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::types::Kind;
use super::values::Computation;
use crate::ir::{BinaryOp, BitFieldOp, Op, UnaryOp};

/// Lowers a bit instruction; `None` if it is none.
pub(super) fn lower(computation: &Computation) -> Option<Result<Op, Problem>> {
    Some(match computation.opcode {
        Opcode::ShiftRightLogical => shift(computation, BinaryOp::ShiftRightLogical),
        Opcode::ShiftRightArithmetic => shift(computation, BinaryOp::ShiftRightArithmetic),
        Opcode::ShiftLeftLogical => shift(computation, BinaryOp::ShiftLeftLogical),
        Opcode::BitwiseOr => bitwise(computation, BinaryOp::BitwiseOr),
        Opcode::BitwiseXor => bitwise(computation, BinaryOp::BitwiseXor),
        Opcode::BitwiseAnd => bitwise(computation, BinaryOp::BitwiseAnd),
        Opcode::Not => unary(computation, UnaryOp::Not),
        Opcode::BitReverse => unary(computation, UnaryOp::BitReverse),
        Opcode::BitCount => count(computation),
        Opcode::BitFieldInsert => insert(computation),
        Opcode::BitFieldSExtract => extract(computation, true),
        Opcode::BitFieldUExtract => extract(computation, false),
        _ => return None,
    })
}

/// The shift may have another width than what is shifted.
fn shift(computation: &Computation, op: BinaryOp) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Int)?;
    let a = computation.expect(0, lanes)?;
    let (b, _) = computation.expect_kind(1, Kind::Int, lanes.count)?;
    Ok(Op::Binary { op, width: lanes.width, count: lanes.count, dst: computation.dst, a, b })
}

fn bitwise(computation: &Computation, op: BinaryOp) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Int)?;
    let a = computation.expect(0, lanes)?;
    let b = computation.expect(1, lanes)?;
    Ok(Op::Binary { op, width: lanes.width, count: lanes.count, dst: computation.dst, a, b })
}

fn unary(computation: &Computation, op: UnaryOp) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Int)?;
    let a = computation.expect(0, lanes)?;
    Ok(Op::Unary { op, width: lanes.width, count: lanes.count, dst: computation.dst, a })
}

/// The result of OpBitCount may have another width than its operand.
fn count(computation: &Computation) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Int)?;
    let (a, width) = computation.expect_kind(0, Kind::Int, lanes.count)?;
    Ok(Op::Unary { op: UnaryOp::BitCount, width, count: lanes.count, dst: computation.dst, a })
}

fn insert(computation: &Computation) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Int)?;
    Ok(Op::BitField(BitFieldOp::Insert {
        dst: computation.dst,
        width: lanes.width,
        count: lanes.count,
        base: computation.expect(0, lanes)?,
        insert: computation.expect(1, lanes)?,
        offset: computation.expect_kind(2, Kind::Int, 1)?.0,
        bits: computation.expect_kind(3, Kind::Int, 1)?.0,
    }))
}

fn extract(computation: &Computation, signed: bool) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Int)?;
    Ok(Op::BitField(BitFieldOp::Extract {
        dst: computation.dst,
        width: lanes.width,
        count: lanes.count,
        signed,
        base: computation.expect(0, lanes)?,
        offset: computation.expect_kind(1, Kind::Int, 1)?.0,
        bits: computation.expect_kind(2, Kind::Int, 1)?.0,
    }))
}
