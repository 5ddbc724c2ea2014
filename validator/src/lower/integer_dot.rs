//! Integer dot products (SPIR-V specification 3.3.13, OpSDot and its relatives).

use rspirv::spirv::{Op as Opcode, PackedVectorFormat};

use super::error::Problem;
use super::types::{Kind, Lanes};
use super::values::Computation;
use crate::ir::{DotSigns, IntegerDot, Op};

/// Lowers an integer dot product; `None` if the instruction is none.
pub(super) fn lower(computation: &Computation) -> Option<Result<Op, Problem>> {
    Some(match computation.opcode {
        Opcode::SDot => dot(computation, DotSigns::Signed, false),
        Opcode::UDot => dot(computation, DotSigns::Unsigned, false),
        Opcode::SUDot => dot(computation, DotSigns::Mixed, false),
        Opcode::SDotAccSat => dot(computation, DotSigns::Signed, true),
        Opcode::UDotAccSat => dot(computation, DotSigns::Unsigned, true),
        Opcode::SUDotAccSat => dot(computation, DotSigns::Mixed, true),
        _ => return None,
    })
}

fn dot(computation: &Computation, signs: DotSigns, accumulates: bool) -> Result<Op, Problem> {
    let result = computation.result_of_kind(Kind::Int)?;
    computation.require(result.count == 1, "the result is a vector")?;
    let (a, lanes) = computation.lanes(0)?;
    computation.require(lanes.kind == Kind::Int, "the operands are not integers")?;
    let b = computation.expect(1, lanes)?;
    let accumulator = match accumulates {
        true => Some(computation.expect(2, result)?),
        false => None,
    };
    let packed = lanes.count == 1;
    let vector = if packed {
        computation.require(lanes.width == 32, "a packed vector is not of 32 bits")?;
        let format = computation.word(if accumulates { 3 } else { 2 })?;
        if PackedVectorFormat::from_u32(format) != Some(PackedVectorFormat::PackedVectorFormat4x8Bit) {
            return Err(Problem::unsupported(format!("packed vector format {format}"), computation.line));
        }
        Lanes { kind: Kind::Int, width: 8, count: 4 }
    } else {
        lanes
    };
    computation.require(result.width >= vector.width, "the result is narrower than a component")?;
    Ok(Op::IntegerDot(IntegerDot {
        dst: computation.dst,
        width: result.width,
        component_width: vector.width,
        count: vector.count,
        packed,
        signs,
        a,
        b,
        accumulator,
    }))
}
