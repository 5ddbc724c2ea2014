//! Instructions that select one of their operands, its magnitude, or a constant: exact ones.
//!
//! Min and Max may give either operand where one is a NaN: the result is undefined in the bits that
//! the operands differ in.

use super::super::arithmetic::join;
use super::super::bits;
use super::super::evaluate::{Evaluated, EvaluationError};
use super::super::float::{from_double, to_double, Format};
use super::exactly;
use crate::value::Scalar;

/// FAbs: clears the sign bit, of NaNs too.
pub(super) fn absolute(width: u8, a: Scalar) -> Evaluated {
    let format = Format::of_width(width)?;
    Ok(bits::and(a, Scalar::new(format.sign - 1)))
}

/// FSign; that of a NaN is one of ±1 and ±0.
pub(super) fn sign(width: u8, a: Scalar) -> Evaluated {
    if a.is_defined() && to_double(width, a.bits)?.is_nan() {
        return Ok(join(from_double(width, -1.0)?, Scalar::new(0)));
    }
    exactly(width, a, |a| if a == 0.0 { 0.0 } else { a.signum() })
}

/// What an instruction may give where it may give either of two operands.
type Either = [Scalar; 2];

/// `b` where it passes the comparison with `a`, else `a`; either where one is a NaN.
fn either(
    width: u8,
    a: Scalar,
    b: Scalar,
    takes: impl Fn(&f64, &f64) -> bool,
) -> Result<Either, EvaluationError> {
    let (x, y) = (to_double(width, a.bits)?, to_double(width, b.bits)?);
    Ok(if x.is_nan() || y.is_nan() {
        [a, b]
    } else if takes(&y, &x) {
        [b, b]
    } else {
        [a, a]
    })
}

/// As [`either`], but of a NaN and another value the other one.
fn number(width: u8, a: Scalar, b: Scalar, takes: impl Fn(&f64, &f64) -> bool) -> Evaluated {
    let (x, y) = (to_double(width, a.bits)?, to_double(width, b.bits)?);
    Ok(if x.is_nan() || takes(&y, &x) { b } else { a })
}

fn undefined(width: u8, operands: &[Scalar]) -> Option<Scalar> {
    operands.iter().any(|operand| !operand.is_defined()).then(|| Scalar::undefined(u32::from(width)))
}

/// FMin.
pub(super) fn minimum(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    match undefined(width, &[a, b]) {
        Some(undefined) => Ok(undefined),
        None => either(width, a, b, f64::lt).map(|[a, b]| join(a, b)),
    }
}

/// FMax.
pub(super) fn maximum(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    match undefined(width, &[a, b]) {
        Some(undefined) => Ok(undefined),
        None => either(width, a, b, f64::gt).map(|[a, b]| join(a, b)),
    }
}

/// NMin.
pub(super) fn number_minimum(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    undefined(width, &[a, b]).map_or_else(|| number(width, a, b, f64::lt), Ok)
}

/// NMax.
pub(super) fn number_maximum(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    undefined(width, &[a, b]).map_or_else(|| number(width, a, b, f64::gt), Ok)
}

/// Undefined where an operand is, and where the bounds are in the wrong order.
fn undefined_clamp(width: u8, [a, least, greatest]: [Scalar; 3]) -> Result<Option<Scalar>, EvaluationError> {
    let undefined = undefined(width, &[a, least, greatest]);
    let crossed = to_double(width, least.bits)? > to_double(width, greatest.bits)?;
    Ok(undefined.or(crossed.then(|| Scalar::undefined(u32::from(width)))))
}

/// FClamp: the minimum of the greatest value and the maximum of the least value and the first operand.
pub(super) fn clamp(width: u8, operands: [Scalar; 3]) -> Evaluated {
    if let Some(undefined) = undefined_clamp(width, operands)? {
        return Ok(undefined);
    }
    let [a, least, greatest] = operands;
    let [first, second] = either(width, a, least, f64::gt)?;
    let [[a, b], [c, d]] =
        [either(width, first, greatest, f64::lt)?, either(width, second, greatest, f64::lt)?];
    Ok(join(join(a, b), join(c, d)))
}

/// NClamp.
pub(super) fn number_clamp(width: u8, operands: [Scalar; 3]) -> Evaluated {
    if let Some(undefined) = undefined_clamp(width, operands)? {
        return Ok(undefined);
    }
    let [a, least, greatest] = operands;
    number(width, number(width, a, least, f64::gt)?, greatest, f64::lt)
}

/// Step.
pub(super) fn step(width: u8, edge: Scalar, a: Scalar) -> Evaluated {
    if let Some(undefined) = undefined(width, &[edge, a]) {
        return Ok(undefined);
    }
    let below = to_double(width, a.bits)? < to_double(width, edge.bits)?;
    from_double(width, if below { 0.0 } else { 1.0 })
}
