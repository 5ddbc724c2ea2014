//! Arithmetic instructions on scalars and vectors (SPIR-V specification 3.3.13).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::types::{Kind, Lanes, Type};
use super::values::Computation;
use crate::ir::{BinaryOp, ExtendedOp, IntelFunction, Op, UnaryOp};

enum Family {
    Unary(UnaryOp, Kind),
    Binary(BinaryOp, Kind),
    Extended(ExtendedOp),
}

/// Lowers an arithmetic instruction; `None` if it is none.
pub(super) fn lower(computation: &Computation) -> Option<Result<Op, Problem>> {
    use Family::{Binary, Extended, Unary};
    let family = match computation.opcode {
        Opcode::SNegate => Unary(UnaryOp::SNegate, Kind::Int),
        Opcode::FNegate => Unary(UnaryOp::FNegate, Kind::Float),
        Opcode::IAdd => Binary(BinaryOp::IAdd, Kind::Int),
        Opcode::ISub => Binary(BinaryOp::ISub, Kind::Int),
        Opcode::IMul => Binary(BinaryOp::IMul, Kind::Int),
        Opcode::UCountLeadingZerosINTEL => Unary(UnaryOp::CountLeadingZeros, Kind::Int),
        Opcode::UCountTrailingZerosINTEL => Unary(UnaryOp::CountTrailingZeros, Kind::Int),
        Opcode::UDiv => Binary(BinaryOp::UDiv, Kind::Int),
        Opcode::SDiv => Binary(BinaryOp::SDiv, Kind::Int),
        Opcode::UMod => Binary(BinaryOp::UMod, Kind::Int),
        Opcode::SRem => Binary(BinaryOp::SRem, Kind::Int),
        Opcode::SMod => Binary(BinaryOp::SMod, Kind::Int),
        Opcode::FAdd => Binary(BinaryOp::FAdd, Kind::Float),
        Opcode::FSub => Binary(BinaryOp::FSub, Kind::Float),
        Opcode::FMul => Binary(BinaryOp::FMul, Kind::Float),
        Opcode::FDiv => Binary(BinaryOp::FDiv, Kind::Float),
        Opcode::FRem => Binary(BinaryOp::FRem, Kind::Float),
        Opcode::FMod => Binary(BinaryOp::FMod, Kind::Float),
        Opcode::IAddCarry => Extended(ExtendedOp::IAddCarry),
        Opcode::ISubBorrow => Extended(ExtendedOp::ISubBorrow),
        Opcode::UMulExtended => Extended(ExtendedOp::UMulExtended),
        Opcode::SMulExtended => Extended(ExtendedOp::SMulExtended),
        opcode => Binary(BinaryOp::Integer(integer_function(opcode)?), Kind::Int),
    };
    Some(match family {
        Unary(op, kind) => unary(computation, op, kind),
        Binary(op, kind) => binary(computation, op, kind),
        Extended(op) => extended(computation, op),
    })
}

/// The functions of SPV_INTEL_shader_integer_functions2.
const fn integer_function(opcode: Opcode) -> Option<IntelFunction> {
    Some(match opcode {
        Opcode::AbsISubINTEL => IntelFunction::AbsISub,
        Opcode::AbsUSubINTEL => IntelFunction::AbsUSub,
        Opcode::IAddSatINTEL => IntelFunction::IAddSat,
        Opcode::UAddSatINTEL => IntelFunction::UAddSat,
        Opcode::IAverageINTEL => IntelFunction::IAverage,
        Opcode::UAverageINTEL => IntelFunction::UAverage,
        Opcode::IAverageRoundedINTEL => IntelFunction::IAverageRounded,
        Opcode::UAverageRoundedINTEL => IntelFunction::UAverageRounded,
        Opcode::ISubSatINTEL => IntelFunction::ISubSat,
        Opcode::USubSatINTEL => IntelFunction::USubSat,
        Opcode::IMul32x16INTEL => IntelFunction::IMul32x16,
        Opcode::UMul32x16INTEL => IntelFunction::UMul32x16,
        _ => return None,
    })
}

fn unary(computation: &Computation, op: UnaryOp, kind: Kind) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(kind)?;
    let a = computation.expect(0, lanes)?;
    Ok(Op::Unary { op, width: lanes.width, count: lanes.count, dst: computation.dst, a })
}

fn binary(computation: &Computation, op: BinaryOp, kind: Kind) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(kind)?;
    let a = computation.expect(0, lanes)?;
    let b = computation.expect(1, lanes)?;
    Ok(Op::Binary { op, width: lanes.width, count: lanes.count, dst: computation.dst, a, b })
}

fn extended(computation: &Computation, op: ExtendedOp) -> Result<Op, Problem> {
    let lanes = extended_lanes(computation)?;
    computation.require(lanes.kind == Kind::Int, "the members of the result are not integers")?;
    let a = computation.expect(0, lanes)?;
    let b = computation.expect(1, lanes)?;
    Ok(Op::Extended { op, width: lanes.width, count: lanes.count, dst: computation.dst, a, b })
}

/// The type of both members of the result.
fn extended_lanes(computation: &Computation) -> Result<Lanes, Problem> {
    match computation.types().get(computation.result_type, computation.line)? {
        Type::Struct { members, .. } => match **members {
            [low, high] if low.ty == high.ty => computation.types().lanes(low.ty, computation.line),
            _ => Err(computation.invalid("the result is not a struct of two like members")),
        },
        _ => Err(computation.invalid("the result is not a struct of two like members")),
    }
}
