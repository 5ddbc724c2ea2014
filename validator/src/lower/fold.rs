//! Evaluates lowered operations on constants: OpSpecConstantOp.

use crate::interp::evaluate::{self, EvaluationError};
use crate::ir::{BinaryOp, BitFieldOp, CompositeOp, ConvertOp, EncodedOp, Op, Operand};
use crate::value::Scalar;

/// The components of the result of an operation on constants.
///
/// `widths` are those of the result's components. A result that the specification leaves undefined,
/// as that of a division by zero, is undefined: the constant may never be used. `None` for an
/// operation that constants do not have.
pub(super) fn evaluate(op: &Op, widths: &[u8], pool: &[Scalar]) -> Option<Vec<Scalar>> {
    let operands = Operands { pool };
    let evaluated = match op {
        Op::Unary { op, width, count, a, .. } => {
            per_component(*count, |i| evaluate::unary(*op, *width, operands.component(*a, i)?))
        }
        Op::Binary { op: BinaryOp::PtrEqual | BinaryOp::PtrNotEqual, .. } => return None,
        Op::Binary { op, width, count, a, b, .. } => per_component(*count, |i| {
            evaluate::binary(*op, *width, operands.component(*a, i)?, operands.component(*b, i)?)
        }),
        Op::Convert { op: ConvertOp::Bitcast, .. } => return None,
        Op::Convert { op, from, to, count, a, .. } => {
            per_component(*count, |i| evaluate::convert(*op, *from, *to, operands.component(*a, i)?))
        }
        Op::Encoded(EncodedOp::Convert { from, to, saturates, count, a, .. }) => per_component(*count, |i| {
            evaluate::encoded_convert(*from, *to, *saturates, operands.component(*a, i)?)
        }),
        Op::BitField(BitFieldOp::Insert { width, count, base, insert, offset, bits, .. }) => {
            per_component(*count, |i| {
                let (base, insert) = (operands.component(*base, i)?, operands.component(*insert, i)?);
                let (offset, bits) = (operands.component(*offset, 0)?, operands.component(*bits, 0)?);
                Ok(evaluate::bit_field_insert(*width, base, insert, offset, bits))
            })
        }
        Op::BitField(BitFieldOp::Extract { width, count, signed, base, offset, bits, .. }) => {
            per_component(*count, |i| {
                let base = operands.component(*base, i)?;
                let (offset, bits) = (operands.component(*offset, 0)?, operands.component(*bits, 0)?);
                Ok(evaluate::bit_field_extract(*width, *signed, base, offset, bits))
            })
        }
        Op::Select { condition, scalar_condition, count, a, b, .. } => per_component(*count, |i| {
            let condition = operands.component(*condition, if *scalar_condition { 0 } else { i })?;
            let (a, b) = (operands.component(*a, i)?, operands.component(*b, i)?);
            Ok(match (condition.is_defined(), condition.bits) {
                (true, 0) => b,
                (true, _) => a,
                // Either: what both agree in is defined.
                (false, _) => {
                    let undef = a.undef | b.undef | (a.bits ^ b.bits);
                    Scalar { bits: a.bits & !undef, undef }
                }
            })
        }),
        Op::Copy { a, count, .. } => per_component(*count, |i| operands.component(*a, i)),
        Op::Composite(op) => composite(op, operands)?,
        Op::Extended { .. }
        | Op::IntegerDot(_)
        | Op::Glsl(_)
        | Op::Encoded(EncodedOp::Dot { .. })
        | Op::Matrix(_)
        | Op::Undef { .. }
        | Op::Any { .. }
        | Op::All { .. }
        | Op::Control(_)
        | Op::Memory(_)
        | Op::Atomic(_)
        | Op::Image(_)
        | Op::Barrier(_)
        | Op::Subgroup(_)
        | Op::Cooperative(_)
        | Op::Tensor(_)
        | Op::Ray(_)
        | Op::Assume { .. }
        | Op::Require { .. }
        | Op::Nop => return None,
    };
    match evaluated {
        Ok(components) => Some(components),
        Err(EvaluationError::Undefined { .. }) => {
            Some(widths.iter().map(|&width| Scalar::undefined(u32::from(width))).collect())
        }
        Err(EvaluationError::Unsupported(_)) => None,
    }
}

type Components = Result<Vec<Scalar>, EvaluationError>;

fn per_component(count: u32, component: impl FnMut(u32) -> evaluate::Evaluated) -> Components {
    (0..count).map(component).collect()
}

/// The instructions that select and combine components; those with dynamic indices are no constants'.
fn composite(op: &CompositeOp, operands: Operands) -> Option<Components> {
    Some(match op {
        CompositeOp::Extract { a, start, count, .. } => {
            per_component(*count, |i| operands.component(*a, start + i))
        }
        CompositeOp::Insert { a, total, object, start, count, .. } => {
            per_component(*total, |i| match i.checked_sub(*start) {
                Some(inside) if inside < *count => operands.component(*object, inside),
                Some(_) | None => operands.component(*a, i),
            })
        }
        CompositeOp::Shuffle { width, components, .. } => components
            .iter()
            .map(|component| match component {
                Some(component) => operands.component(*component, 0),
                None => Ok(Scalar::undefined(u32::from(*width))),
            })
            .collect(),
        CompositeOp::Construct { .. }
        | CompositeOp::ExtractDynamic { .. }
        | CompositeOp::InsertDynamic { .. } => return None,
    })
}

/// Constants as operands.
#[derive(Clone, Copy)]
struct Operands<'a> {
    pool: &'a [Scalar],
}

impl Operands<'_> {
    fn component(self, operand: Operand, index: u32) -> evaluate::Evaluated {
        let at = (operand.index() as usize).checked_add(index as usize);
        let known = at.and_then(|at| self.pool.get(at)).filter(|_| operand.is_constant());
        known.copied().ok_or(EvaluationError::Unsupported("an operand that is no constant"))
    }
}
