//! Relational and logical instructions, and OpSelect (SPIR-V specification 3.3.15).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::types::{Kind, Lanes};
use super::values::Computation;
use crate::ir::{BinaryOp, Op, UnaryOp};

/// Lowers a relational or logical instruction; `None` if it is none.
pub(super) fn lower(computation: &Computation) -> Option<Result<Op, Problem>> {
    let int = |op| binary(computation, op, Kind::Int);
    let float = |op| binary(computation, op, Kind::Float);
    let logical = |op| binary(computation, op, Kind::Bool);
    Some(match computation.opcode {
        Opcode::Any => reduce(computation, |dst, a, count| Op::Any { dst, a, count }),
        Opcode::All => reduce(computation, |dst, a, count| Op::All { dst, a, count }),
        Opcode::IsNan => classify(computation, UnaryOp::IsNan),
        Opcode::IsInf => classify(computation, UnaryOp::IsInf),
        Opcode::IsFinite => classify(computation, UnaryOp::IsFinite),
        Opcode::IsNormal => classify(computation, UnaryOp::IsNormal),
        Opcode::SignBitSet => classify(computation, UnaryOp::SignBitSet),
        Opcode::LogicalNot => logical_not(computation),
        Opcode::Select => select(computation),
        Opcode::PtrEqual => pointers(computation, BinaryOp::PtrEqual),
        Opcode::PtrNotEqual => pointers(computation, BinaryOp::PtrNotEqual),
        Opcode::LogicalEqual => logical(BinaryOp::LogicalEqual),
        Opcode::LogicalNotEqual => logical(BinaryOp::LogicalNotEqual),
        Opcode::LogicalOr => logical(BinaryOp::LogicalOr),
        Opcode::LogicalAnd => logical(BinaryOp::LogicalAnd),
        Opcode::IEqual => int(BinaryOp::IEqual),
        Opcode::INotEqual => int(BinaryOp::INotEqual),
        Opcode::UGreaterThan => int(BinaryOp::UGreaterThan),
        Opcode::SGreaterThan => int(BinaryOp::SGreaterThan),
        Opcode::UGreaterThanEqual => int(BinaryOp::UGreaterThanEqual),
        Opcode::SGreaterThanEqual => int(BinaryOp::SGreaterThanEqual),
        Opcode::ULessThan => int(BinaryOp::ULessThan),
        Opcode::SLessThan => int(BinaryOp::SLessThan),
        Opcode::ULessThanEqual => int(BinaryOp::ULessThanEqual),
        Opcode::SLessThanEqual => int(BinaryOp::SLessThanEqual),
        Opcode::FOrdEqual => float(BinaryOp::FOrdEqual),
        Opcode::FUnordEqual => float(BinaryOp::FUnordEqual),
        Opcode::FOrdNotEqual => float(BinaryOp::FOrdNotEqual),
        Opcode::FUnordNotEqual => float(BinaryOp::FUnordNotEqual),
        Opcode::FOrdLessThan => float(BinaryOp::FOrdLessThan),
        Opcode::FUnordLessThan => float(BinaryOp::FUnordLessThan),
        Opcode::FOrdGreaterThan => float(BinaryOp::FOrdGreaterThan),
        Opcode::FUnordGreaterThan => float(BinaryOp::FUnordGreaterThan),
        Opcode::FOrdLessThanEqual => float(BinaryOp::FOrdLessThanEqual),
        Opcode::FUnordLessThanEqual => float(BinaryOp::FUnordLessThanEqual),
        Opcode::FOrdGreaterThanEqual => float(BinaryOp::FOrdGreaterThanEqual),
        Opcode::FUnordGreaterThanEqual => float(BinaryOp::FUnordGreaterThanEqual),
        Opcode::LessOrGreater => float(BinaryOp::LessOrGreater),
        Opcode::Ordered => float(BinaryOp::Ordered),
        Opcode::Unordered => float(BinaryOp::Unordered),
        _ => return None,
    })
}

/// `width` is that of the operands; the results are bools.
fn binary(computation: &Computation, op: BinaryOp, kind: Kind) -> Result<Op, Problem> {
    let result = computation.result_of_kind(Kind::Bool)?;
    let (a, width) = computation.expect_kind(0, kind, result.count)?;
    let b = computation.expect(1, Lanes { kind, width, count: result.count })?;
    Ok(Op::Binary { op, width, count: result.count, dst: computation.dst, a, b })
}

fn classify(computation: &Computation, op: UnaryOp) -> Result<Op, Problem> {
    let result = computation.result_of_kind(Kind::Bool)?;
    let (a, width) = computation.expect_kind(0, Kind::Float, result.count)?;
    Ok(Op::Unary { op, width, count: result.count, dst: computation.dst, a })
}

fn logical_not(computation: &Computation) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Bool)?;
    let a = computation.expect(0, lanes)?;
    Ok(Op::Unary { op: UnaryOp::LogicalNot, width: 1, count: lanes.count, dst: computation.dst, a })
}

fn reduce(computation: &Computation, op: impl Fn(u32, crate::ir::Operand, u32) -> Op) -> Result<Op, Problem> {
    computation.require(computation.result_of_kind(Kind::Bool)?.count == 1, "the result is a vector")?;
    let (a, lanes) = computation.lanes(0)?;
    computation.require(lanes.kind == Kind::Bool, "the operand is not boolean")?;
    Ok(op(computation.dst, a, lanes.count))
}

fn pointers(computation: &Computation, op: BinaryOp) -> Result<Op, Problem> {
    computation.require(computation.result_of_kind(Kind::Bool)?.count == 1, "the result is a vector")?;
    let (a, b) = (computation.value(0)?, computation.value(1)?);
    let pointers = computation.types().is_pointer(a.ty) && computation.types().is_pointer(b.ty);
    computation.require(pointers, "an operand is no pointer")?;
    Ok(Op::Binary { op, width: 64, count: 1, dst: computation.dst, a: a.operand, b: b.operand })
}

/// The condition is a vector like the result, or one bool for objects of any type.
fn select(computation: &Computation) -> Result<Op, Problem> {
    let (condition, lanes) = computation.lanes(0)?;
    let (a, b) = (computation.value(1)?, computation.value(2)?);
    let count = computation.components(computation.result_type)?;
    let like = a.ty == computation.result_type && b.ty == computation.result_type;
    computation.require(like, "the objects are not of the result's type")?;
    computation.require(lanes.kind == Kind::Bool, "the condition is not boolean")?;
    computation.require(lanes.count == 1 || lanes.count == count, "the condition has the wrong size")?;
    Ok(Op::Select {
        dst: computation.dst,
        condition,
        scalar_condition: lanes.count == 1,
        count,
        a: a.operand,
        b: b.operand,
    })
}
