//! Evaluation of operations on single components: pure functions, which the interpreter runs and
//! the lowering folds specialisation constants with.
//!
//! A result whose undefined bits depend on undefined bits of the operands is undefined in those
//! bits. Where the exact set of possible results is no bit mask, the mask covers it.

use super::{arithmetic, bits, compare, convert, float, integer_functions};
use crate::event::UndefinedKind;
use crate::ir::{BinaryOp, ConvertOp, ExtendedOp, UnaryOp};
use crate::value::Scalar;

pub use super::bits::{bit_field_extract, bit_field_insert};
pub use super::convert::bitcast;
pub use super::encoded::{convert as encoded_convert, encode};

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationError {
    /// The specification leaves the behaviour, not just the value, undefined.
    Undefined { kind: UndefinedKind, detail: &'static str },
    /// The evaluator does not know this.
    Unsupported(&'static str),
}

/// A result component.
pub type Evaluated = Result<Scalar, EvaluationError>;

/// A component-wise operation on one operand of `width` bits.
#[inline]
pub fn unary(op: UnaryOp, width: u8, a: Scalar) -> Evaluated {
    let bit_width = u32::from(width);
    match op {
        UnaryOp::SNegate => Ok(arithmetic::negate(bit_width, a)),
        UnaryOp::Not => Ok(bits::not(bit_width, a)),
        UnaryOp::LogicalNot => Ok(bits::not(1, a)),
        UnaryOp::BitReverse => Ok(bits::reverse(bit_width, a)),
        UnaryOp::BitCount => Ok(bits::count(a)),
        UnaryOp::CountLeadingZeros => Ok(integer_functions::leading_zeros(bit_width, a)),
        UnaryOp::CountTrailingZeros => Ok(integer_functions::trailing_zeros(bit_width, a)),
        UnaryOp::FNegate => float::negate(width, a),
        UnaryOp::IsNan => float::is_nan(width, a),
        UnaryOp::IsInf => float::is_infinite(width, a),
        UnaryOp::IsFinite => float::is_finite(width, a),
        UnaryOp::IsNormal => float::is_normal(width, a),
        UnaryOp::SignBitSet => float::sign_bit_set(width, a),
        UnaryOp::QuantizeToF16 => Ok(float::quantize_to_half(a)),
    }
}

/// A component-wise operation on two operands of `width` bits (the shift of a shift may have
/// another width). Pointers are compared by their first component.
#[inline]
pub fn binary(op: BinaryOp, width: u8, a: Scalar, b: Scalar) -> Evaluated {
    let bit_width = u32::from(width);
    Ok(match op {
        BinaryOp::IAdd => arithmetic::add(bit_width, a, b),
        BinaryOp::ISub => arithmetic::subtract(bit_width, a, b),
        BinaryOp::IMul => arithmetic::multiply(bit_width, a, b),
        BinaryOp::Integer(function) => integer_functions::evaluate(function, bit_width, a, b),
        BinaryOp::UDiv => return arithmetic::unsigned_divide(bit_width, a, b),
        BinaryOp::UMod => return arithmetic::unsigned_modulo(bit_width, a, b),
        BinaryOp::SDiv => return arithmetic::signed_divide(bit_width, a, b),
        BinaryOp::SRem => return arithmetic::signed_remainder(bit_width, a, b),
        BinaryOp::SMod => return arithmetic::signed_modulo(bit_width, a, b),
        BinaryOp::FAdd => return float::add(width, a, b),
        BinaryOp::FSub => return float::subtract(width, a, b),
        BinaryOp::FMul => return float::multiply(width, a, b),
        BinaryOp::FDiv => return float::divide(width, a, b),
        BinaryOp::FRem => return float::remainder(width, a, b),
        BinaryOp::FMod => return float::modulo(width, a, b),
        BinaryOp::ShiftRightLogical => bits::shift_right_logical(bit_width, a, b),
        BinaryOp::ShiftRightArithmetic => bits::shift_right_arithmetic(bit_width, a, b),
        BinaryOp::ShiftLeftLogical => bits::shift_left_logical(bit_width, a, b),
        BinaryOp::BitwiseOr | BinaryOp::LogicalOr => bits::or(a, b),
        BinaryOp::BitwiseAnd | BinaryOp::LogicalAnd => bits::and(a, b),
        BinaryOp::BitwiseXor | BinaryOp::LogicalNotEqual => bits::xor(a, b),
        BinaryOp::LogicalEqual => bits::not(1, bits::xor(a, b)),
        BinaryOp::IEqual | BinaryOp::PtrEqual => compare::equal(a, b),
        BinaryOp::INotEqual | BinaryOp::PtrNotEqual => bits::not(1, compare::equal(a, b)),
        BinaryOp::ULessThan => compare::unsigned_less(a, b),
        BinaryOp::UGreaterThan => compare::unsigned_less(b, a),
        BinaryOp::UGreaterThanEqual => bits::not(1, compare::unsigned_less(a, b)),
        BinaryOp::ULessThanEqual => bits::not(1, compare::unsigned_less(b, a)),
        BinaryOp::SLessThan => compare::signed_less(bit_width, a, b),
        BinaryOp::SGreaterThan => compare::signed_less(bit_width, b, a),
        BinaryOp::SGreaterThanEqual => bits::not(1, compare::signed_less(bit_width, a, b)),
        BinaryOp::SLessThanEqual => bits::not(1, compare::signed_less(bit_width, b, a)),
        BinaryOp::FOrdEqual => return float::compare(width, a, b, |order| order == float::EQUAL),
        BinaryOp::FUnordEqual => {
            return float::compare(width, a, b, |order| order.is_none() || order == float::EQUAL)
        }
        BinaryOp::FOrdNotEqual | BinaryOp::LessOrGreater => {
            return float::compare(width, a, b, |order| order == float::LESS || order == float::GREATER)
        }
        BinaryOp::FUnordNotEqual => return float::compare(width, a, b, |order| order != float::EQUAL),
        BinaryOp::FOrdLessThan => return float::compare(width, a, b, |order| order == float::LESS),
        BinaryOp::FUnordLessThan => {
            return float::compare(width, a, b, |order| order.is_none() || order == float::LESS)
        }
        BinaryOp::FOrdGreaterThan => return float::compare(width, a, b, |order| order == float::GREATER),
        BinaryOp::FUnordGreaterThan => {
            return float::compare(width, a, b, |order| order.is_none() || order == float::GREATER)
        }
        BinaryOp::FOrdLessThanEqual => {
            return float::compare(width, a, b, |order| order == float::LESS || order == float::EQUAL)
        }
        BinaryOp::FUnordLessThanEqual => return float::compare(width, a, b, |order| order != float::GREATER),
        BinaryOp::FOrdGreaterThanEqual => {
            return float::compare(width, a, b, |order| order == float::GREATER || order == float::EQUAL)
        }
        BinaryOp::FUnordGreaterThanEqual => return float::compare(width, a, b, |order| order != float::LESS),
        BinaryOp::Ordered => return float::compare(width, a, b, |order| order.is_some()),
        BinaryOp::Unordered => return float::compare(width, a, b, |order| order.is_none()),
    })
}

/// [`binary`] on components side by side. Frequent operations are told apart once, not for each component.
#[inline]
pub fn binary_each(
    op: BinaryOp,
    width: u8,
    operands: [&[Scalar]; 2],
    results: &mut [Scalar],
) -> Result<(), EvaluationError> {
    let bit_width = u32::from(width);
    match op {
        BinaryOp::IAdd => each(operands, results, |a, b| Ok(arithmetic::add(bit_width, a, b))),
        BinaryOp::ISub => each(operands, results, |a, b| Ok(arithmetic::subtract(bit_width, a, b))),
        BinaryOp::IMul => each(operands, results, |a, b| Ok(arithmetic::multiply(bit_width, a, b))),
        BinaryOp::BitwiseOr => each(operands, results, |a, b| Ok(bits::or(a, b))),
        BinaryOp::BitwiseAnd => each(operands, results, |a, b| Ok(bits::and(a, b))),
        BinaryOp::BitwiseXor => each(operands, results, |a, b| Ok(bits::xor(a, b))),
        BinaryOp::FAdd => each(operands, results, |a, b| float::add(width, a, b)),
        BinaryOp::FSub => each(operands, results, |a, b| float::subtract(width, a, b)),
        BinaryOp::FMul => each(operands, results, |a, b| float::multiply(width, a, b)),
        rare => each(operands, results, |a, b| binary(rare, width, a, b)),
    }
}

#[inline]
fn each(
    [a, b]: [&[Scalar]; 2],
    results: &mut [Scalar],
    evaluate: impl Fn(Scalar, Scalar) -> Evaluated,
) -> Result<(), EvaluationError> {
    for ((result, a), b) in results.iter_mut().zip(a).zip(b) {
        *result = evaluate(*a, *b)?;
    }
    Ok(())
}

/// The two members of the result of an extended operation.
pub fn extended(op: ExtendedOp, width: u8, a: Scalar, b: Scalar) -> [Scalar; 2] {
    let width = u32::from(width);
    match op {
        ExtendedOp::IAddCarry => arithmetic::add_carry(width, a, b),
        ExtendedOp::ISubBorrow => arithmetic::subtract_borrow(width, a, b),
        ExtendedOp::UMulExtended => arithmetic::unsigned_multiply_extended(width, a, b),
        ExtendedOp::SMulExtended => arithmetic::signed_multiply_extended(width, a, b),
    }
}

/// A component-wise conversion from `from` to `to` bits. A bitcast must be of equal widths here;
/// see [`bitcast`] for the others.
pub fn convert(op: ConvertOp, from: u8, to: u8, a: Scalar) -> Evaluated {
    match op {
        ConvertOp::ConvertFToU => convert::float_to_unsigned(from, to, a),
        ConvertOp::ConvertFToS => convert::float_to_signed(from, to, a),
        ConvertOp::ConvertSToF => convert::signed_to_float(from, to, a),
        ConvertOp::ConvertUToF => convert::unsigned_to_float(to, a),
        ConvertOp::UConvert => Ok(convert::unsigned_convert(to, a)),
        ConvertOp::SConvert => Ok(convert::signed_convert(from, to, a)),
        ConvertOp::FConvert => convert::float_convert(from, to, a),
        ConvertOp::Bitcast if from == to => Ok(a),
        ConvertOp::Bitcast => {
            Err(EvaluationError::Unsupported("a component-wise bitcast between different widths"))
        }
    }
}
