//! Composite instructions (SPIR-V specification 3.3.12), OpUndef and copies.

use rspirv::spirv::Op as Opcode;

use super::cooperative;
use super::error::Problem;
use super::types::Kind;
use super::values::Computation;
use crate::ir::{CompositeOp, Op};

/// The index of OpVectorShuffle for a component without a source.
const NO_SOURCE: u32 = u32::MAX;

/// Lowers a composite instruction; `None` if it is none.
pub(super) fn lower(computation: &Computation) -> Option<Result<Op, Problem>> {
    Some(match computation.opcode {
        Opcode::CompositeConstruct => construct(computation),
        Opcode::CompositeExtract => extract(computation),
        Opcode::CompositeInsert => insert(computation),
        Opcode::VectorShuffle => shuffle(computation),
        Opcode::VectorExtractDynamic => extract_dynamic(computation),
        Opcode::VectorInsertDynamic => insert_dynamic(computation),
        Opcode::CompositeConstructReplicateEXT => replicate(computation),
        // What is said about the value is a hint alone.
        Opcode::CopyObject | Opcode::CopyLogical | Opcode::ExpectKHR => copy(computation),
        Opcode::Undef => undef(computation),
        _ => return None,
    })
}

fn construct(computation: &Computation) -> Result<Op, Problem> {
    if computation.types().cooperative(computation.result_type).is_some() {
        let count = computation.components(computation.result_type)?;
        let parts = cooperative::replicate(computation, count)?;
        return Ok(Op::Composite(CompositeOp::Construct { dst: computation.dst, parts }));
    }
    let mut parts = Vec::with_capacity(computation.operands.len());
    let mut total: u64 = 0;
    for position in 0..computation.operands.len() {
        let value = computation.value(position)?;
        let count = computation.components(value.ty)?;
        total += u64::from(count);
        parts.push((value.operand, count));
    }
    let wanted = u64::from(computation.components(computation.result_type)?);
    computation.require(total == wanted, "the constituents do not fill the result")?;
    Ok(Op::Composite(CompositeOp::Construct { dst: computation.dst, parts }))
}

/// OpCompositeConstructReplicateEXT: every constituent is the same.
fn replicate(computation: &Computation) -> Result<Op, Problem> {
    let value = computation.value(0)?;
    let (part, _) = computation.types().part(computation.result_type, 0, computation.line)?;
    computation.require(part == value.ty, "the constituent is not of the type of the result's parts")?;
    let count = computation.components(part)?;
    let total = computation.components(computation.result_type)?;
    let times = total.checked_div(count).unwrap_or(0);
    computation.require(times * count == total, "the constituent does not fill the result")?;
    let parts = vec![(value.operand, count); times as usize];
    Ok(Op::Composite(CompositeOp::Construct { dst: computation.dst, parts }))
}

/// The type of the part that the indices from operand `position` on lead to, and its first component.
fn walk(computation: &Computation, mut ty: u32, position: usize) -> Result<(u32, u32), Problem> {
    let mut start = 0;
    for &index in computation.operands.get(position..).unwrap_or(&[]) {
        let (part, offset) = computation.types().part(ty, index, computation.line)?;
        ty = part;
        start += offset;
    }
    Ok((ty, start))
}

fn extract(computation: &Computation) -> Result<Op, Problem> {
    if let Some(held) = cooperative::extract(computation)? {
        return Ok(held);
    }
    let composite = computation.value(0)?;
    let (ty, start) = walk(computation, composite.ty, 1)?;
    computation.require(ty == computation.result_type, "the part is not of the result's type")?;
    let count = computation.components(ty)?;
    Ok(Op::Composite(CompositeOp::Extract { dst: computation.dst, a: composite.operand, start, count }))
}

fn insert(computation: &Computation) -> Result<Op, Problem> {
    if let Some(held) = cooperative::insert(computation)? {
        return Ok(held);
    }
    let object = computation.value(0)?;
    let composite = computation.value(1)?;
    let (ty, start) = walk(computation, composite.ty, 2)?;
    computation.require(ty == object.ty, "the object is not of the part's type")?;
    computation
        .require(composite.ty == computation.result_type, "the composite is not of the result's type")?;
    Ok(Op::Composite(CompositeOp::Insert {
        dst: computation.dst,
        a: composite.operand,
        total: computation.components(composite.ty)?,
        object: object.operand,
        start,
        count: computation.components(ty)?,
    }))
}

fn shuffle(computation: &Computation) -> Result<Op, Problem> {
    let result = computation.result_lanes()?;
    let (a, first) = computation.lanes(0)?;
    let (b, second) = computation.lanes(1)?;
    let like = |lanes: super::types::Lanes| {
        lanes.kind == result.kind && lanes.width == result.width && lanes.count > 1
    };
    computation.require(like(first) && like(second), "the operands are no vectors of the result's kind")?;
    let mut components = Vec::with_capacity(result.count as usize);
    for &index in computation.operands.get(2..).unwrap_or(&[]) {
        components.push(if index == NO_SOURCE {
            None
        } else if index < first.count {
            Some(a.offset(index))
        } else {
            let index = index - first.count;
            computation.require(index < second.count, "a component index is too large")?;
            Some(b.offset(index))
        });
    }
    let fits = components.len() == result.count as usize;
    computation.require(fits, "the component indices do not fill the result")?;
    Ok(Op::Composite(CompositeOp::Shuffle { dst: computation.dst, width: result.width, components }))
}

fn extract_dynamic(computation: &Computation) -> Result<Op, Problem> {
    let result = computation.result_lanes()?;
    let (a, lanes) = computation.lanes(0)?;
    let like = result.count == 1 && result.kind == lanes.kind && result.width == lanes.width;
    computation.require(like, "the result is not a component of the vector")?;
    Ok(Op::Composite(CompositeOp::ExtractDynamic {
        dst: computation.dst,
        width: lanes.width,
        a,
        count: lanes.count,
        index: computation.expect_kind(1, Kind::Int, 1)?.0,
    }))
}

fn insert_dynamic(computation: &Computation) -> Result<Op, Problem> {
    let lanes = computation.result_lanes()?;
    Ok(Op::Composite(CompositeOp::InsertDynamic {
        dst: computation.dst,
        width: lanes.width,
        a: computation.expect(0, lanes)?,
        object: computation.expect(1, super::types::Lanes { count: 1, ..lanes })?,
        count: lanes.count,
        index: computation.expect_kind(2, Kind::Int, 1)?.0,
    }))
}

/// OpCopyLogical: types of the same make, with other decorations, have the same components.
fn copy(computation: &Computation) -> Result<Op, Problem> {
    let value = computation.value(0)?;
    let count = computation.components(computation.result_type)?;
    let like = match computation.opcode {
        Opcode::CopyLogical => {
            let widths = |ty| computation.types().widths(ty, computation.line);
            widths(value.ty)? == widths(computation.result_type)?
        }
        _ => value.ty == computation.result_type,
    };
    computation.require(like, "the operand is not of the result's type")?;
    Ok(Op::Copy { dst: computation.dst, a: value.operand, count })
}

fn undef(computation: &Computation) -> Result<Op, Problem> {
    let widths = computation.types().widths(computation.result_type, computation.line)?;
    Ok(Op::Undef { dst: computation.dst, widths })
}
