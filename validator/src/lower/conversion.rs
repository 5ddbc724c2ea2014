//! Conversion instructions (SPIR-V specification 3.3.11).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::types::{Kind, Lanes};
use super::values::Computation;
use crate::ir::{ConvertOp, EncodedOp, NumberFormat, Op, UnaryOp};

/// Lowers a conversion; `None` if the instruction is none.
pub(super) fn lower(computation: &Computation) -> Option<Result<Op, Problem>> {
    Some(match computation.opcode {
        Opcode::ConvertFToU => {
            convert_float(computation, ConvertOp::ConvertFToU, NumberFormat::Float, NumberFormat::Unsigned)
        }
        Opcode::ConvertFToS => {
            convert_float(computation, ConvertOp::ConvertFToS, NumberFormat::Float, NumberFormat::Signed)
        }
        Opcode::ConvertSToF => {
            convert_float(computation, ConvertOp::ConvertSToF, NumberFormat::Signed, NumberFormat::Float)
        }
        Opcode::ConvertUToF => {
            convert_float(computation, ConvertOp::ConvertUToF, NumberFormat::Unsigned, NumberFormat::Float)
        }
        Opcode::UConvert => convert(computation, ConvertOp::UConvert),
        Opcode::SConvert => convert(computation, ConvertOp::SConvert),
        Opcode::FConvert => {
            convert_float(computation, ConvertOp::FConvert, NumberFormat::Float, NumberFormat::Float)
        }
        Opcode::QuantizeToF16 => quantize(computation),
        Opcode::Bitcast => bitcast(computation),
        _ => return None,
    })
}

/// Between integers.
fn convert(computation: &Computation, op: ConvertOp) -> Result<Op, Problem> {
    let result = computation.result_of_kind(Kind::Int)?;
    let (a, from) = computation.expect_kind(0, Kind::Int, result.count)?;
    Ok(Op::Convert { op, from, to: result.width, count: result.count, dst: computation.dst, a })
}

/// A conversion between these kinds of numbers, where a float may be an encoded one.
fn convert_float(
    computation: &Computation,
    op: ConvertOp,
    source: fn(u8) -> NumberFormat,
    target: fn(u8) -> NumberFormat,
) -> Result<Op, Problem> {
    let result = computation.result_lanes()?;
    let (a, lanes) = computation.lanes(0)?;
    let format = |lanes: Lanes, plain: fn(u8) -> NumberFormat| match (plain(lanes.width), lanes.kind) {
        (NumberFormat::Float(_), Kind::Encoded(encoding)) => Some(NumberFormat::Encoded(encoding)),
        (plain @ NumberFormat::Float(_), Kind::Float) => Some(plain),
        (plain @ (NumberFormat::Signed(_) | NumberFormat::Unsigned(_)), Kind::Int) => Some(plain),
        _ => None,
    };
    let formats = format(lanes, source).zip(format(result, target)).filter(|_| lanes.count == result.count);
    let Some((from, to)) = formats else { return Err(computation.invalid("an operand has the wrong type")) };
    let (count, dst) = (result.count, computation.dst);
    if [from, to].iter().any(|format| matches!(format, NumberFormat::Encoded(_))) {
        return Ok(Op::Encoded(EncodedOp::Convert { from, to, saturates: false, count, dst, a }));
    }
    Ok(Op::Convert { op, from: lanes.width, to: result.width, count, dst, a })
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
