//! Conversion instructions (SPIR-V specification 3.3.11).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::types::Kind;
use super::values::Computation;
use crate::ir::{ConvertOp, Op, UnaryOp};

/// Lowers a conversion; `None` if the instruction is none.
pub(super) fn lower(computation: &Computation) -> Option<Result<Op, Problem>> {
    Some(match computation.opcode {
        Opcode::ConvertFToU => convert(computation, ConvertOp::ConvertFToU, Kind::Float, Kind::Int),
        Opcode::ConvertFToS => convert(computation, ConvertOp::ConvertFToS, Kind::Float, Kind::Int),
        Opcode::ConvertSToF => convert(computation, ConvertOp::ConvertSToF, Kind::Int, Kind::Float),
        Opcode::ConvertUToF => convert(computation, ConvertOp::ConvertUToF, Kind::Int, Kind::Float),
        Opcode::UConvert => convert(computation, ConvertOp::UConvert, Kind::Int, Kind::Int),
        Opcode::SConvert => convert(computation, ConvertOp::SConvert, Kind::Int, Kind::Int),
        Opcode::FConvert => convert(computation, ConvertOp::FConvert, Kind::Float, Kind::Float),
        Opcode::QuantizeToF16 => quantize(computation),
        Opcode::Bitcast => bitcast(computation),
        _ => return None,
    })
}

fn convert(computation: &Computation, op: ConvertOp, source: Kind, target: Kind) -> Result<Op, Problem> {
    let result = computation.result_of_kind(target)?;
    let (a, from) = computation.expect_kind(0, source, result.count)?;
    Ok(Op::Convert { op, from, to: result.width, count: result.count, dst: computation.dst, a })
}

fn quantize(computation: &Computation) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Float)?;
    computation.require(lanes.width == 32, "the result is not of 32-bit floats")?;
    let a = computation.expect(0, lanes)?;
    Ok(Op::Unary {
        op: UnaryOp::QuantizeToF16,
        width: lanes.width,
        count: lanes.count,
        dst: computation.dst,
        a,
    })
}

fn bitcast(computation: &Computation) -> Result<Op, Problem> {
    let source = computation.value(0)?;
    let pointer = |ty| computation.types().is_pointer(ty);
    if pointer(source.ty) || pointer(computation.result_type) {
        return Err(Problem::unsupported("OpBitcast of a pointer", computation.line));
    }
    let result = computation.result_lanes()?;
    let (a, lanes) = computation.lanes(0)?;
    let numeric = result.kind != Kind::Bool && lanes.kind != Kind::Bool;
    let bits = |width: u8, count: u32| u64::from(width) * u64::from(count);
    let equal = bits(result.width, result.count) == bits(lanes.width, lanes.count);
    computation.require(numeric && equal, "the operand and the result differ in size")?;
    Ok(if result.width == lanes.width {
        Op::Copy { dst: computation.dst, a, count: result.count }
    } else {
        Op::Convert {
            op: ConvertOp::Bitcast,
            from: lanes.width,
            to: result.width,
            count: lanes.count,
            dst: computation.dst,
            a,
        }
    })
}
