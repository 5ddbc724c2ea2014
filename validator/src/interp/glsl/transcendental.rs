//! Exponential, logarithmic and trigonometric functions: computed with 64 bits and rounded once.

use super::super::evaluate::Evaluated;
use super::super::float::to_double;
use super::exactly;
use crate::ir::Transcendental;
use crate::value::Scalar;

/// A function, and whether a number is in its domain.
type Defined = (fn(f64) -> f64, fn(f64) -> bool);

/// The functions of one operand.
pub(super) fn one(function: Transcendental, width: u8, a: Scalar) -> Evaluated {
    let (function, defined): Defined = match function {
        Transcendental::Sin => (libm::sin, anywhere),
        Transcendental::Cos => (libm::cos, anywhere),
        Transcendental::Tan => (libm::tan, anywhere),
        Transcendental::Asin => (libm::asin, |a| a.abs() <= 1.0),
        Transcendental::Acos => (libm::acos, |a| a.abs() <= 1.0),
        Transcendental::Atan => (libm::atan, anywhere),
        Transcendental::Sinh => (libm::sinh, anywhere),
        Transcendental::Cosh => (libm::cosh, anywhere),
        Transcendental::Tanh => (libm::tanh, anywhere),
        Transcendental::Asinh => (libm::asinh, anywhere),
        Transcendental::Acosh => (libm::acosh, |a| a >= 1.0),
        Transcendental::Atanh => (libm::atanh, |a| a.abs() < 1.0),
        Transcendental::Exp => (libm::exp, anywhere),
        Transcendental::Log => (libm::log, |a| a > 0.0),
        Transcendental::Exp2 => (libm::exp2, anywhere),
        Transcendental::Log2 => (libm::log2, |a| a > 0.0),
        Transcendental::Sqrt => (f64::sqrt, |a| a >= 0.0),
        Transcendental::InverseSqrt => (|a| 1.0 / a.sqrt(), |a| a > 0.0),
    };
    let value = to_double(width, a.bits)?;
    if a.is_defined() && !value.is_nan() && !defined(value) {
        return Ok(Scalar::undefined(u32::from(width)));
    }
    exactly(width, a, function)
}

const fn anywhere(_: f64) -> bool {
    true
}

/// Atan2: undefined where both operands are zeros.
pub(super) fn arc_tangent(width: u8, y: Scalar, x: Scalar) -> Evaluated {
    two(width, y, x, libm::atan2, |y, x| y != 0.0 || x != 0.0)
}

/// Pow: undefined for a negative x, and for a zero to the power of what is not positive.
pub(super) fn power(width: u8, x: Scalar, y: Scalar) -> Evaluated {
    two(width, x, y, libm::pow, |x, y| !(x < 0.0 || x == 0.0 && y <= 0.0))
}

fn two(
    width: u8,
    a: Scalar,
    b: Scalar,
    function: impl Fn(f64, f64) -> f64,
    defined: impl Fn(f64, f64) -> bool,
) -> Evaluated {
    let (x, y) = (to_double(width, a.bits)?, to_double(width, b.bits)?);
    if !(a.is_defined() && b.is_defined() && defined(x, y)) {
        return Ok(Scalar::undefined(u32::from(width)));
    }
    super::super::float::from_double(width, function(x, y))
}
