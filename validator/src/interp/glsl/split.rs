//! Instructions that take floats apart into parts, and put them together.

use super::super::arithmetic::sign_extend;
use super::super::evaluate::{Evaluated, EvaluationError};
use super::super::float::{from_double, to_double};
use super::exactly;
use crate::value::{mask, Scalar};

/// Modf: fraction and whole number, both with the operand's sign.
pub(super) fn modf(width: u8, a: Scalar) -> Result<[Scalar; 2], EvaluationError> {
    let fraction = |a: f64| if a.is_infinite() { 0.0_f64.copysign(a) } else { (a - a.trunc()).copysign(a) };
    Ok([exactly(width, a, fraction)?, exactly(width, a, f64::trunc)?])
}

/// Frexp: a significand of a magnitude from 1/2 to below 1, and the exponent; undefined for infinities
/// and NaNs.
pub(super) fn frexp(width: u8, exponent_width: u8, a: Scalar) -> Result<[Scalar; 2], EvaluationError> {
    let value = to_double(width, a.bits)?;
    if !(a.is_defined() && value.is_finite()) {
        return Ok([Scalar::undefined(u32::from(width)), Scalar::undefined(u32::from(exponent_width))]);
    }
    let (significand, exponent) = libm::frexp(value);
    let exponent = i64::from(exponent) as u64 & mask(u32::from(exponent_width));
    Ok([from_double(width, significand)?, Scalar::new(exponent)])
}

/// Ldexp: undefined for exponents beyond the format's greatest, and where the product is too large.
pub(super) fn ldexp(width: u8, exponent_width: u8, significand: Scalar, exponent: Scalar) -> Evaluated {
    let undefined = Scalar::undefined(u32::from(width));
    if !(significand.is_defined() && exponent.is_defined()) {
        return Ok(undefined);
    }
    let exponent = sign_extend(exponent.bits, u32::from(exponent_width));
    if exponent > greatest_exponent(width) {
        return Ok(undefined);
    }
    // No finite double keeps anything of its value so far down.
    const LOWEST: i64 = -4096;
    let value = to_double(width, significand.bits)?;
    let product = from_double(width, libm::scalbn(value, exponent.max(LOWEST) as i32))?;
    let too_large = value.is_finite() && to_double(width, product.bits)?.is_infinite();
    Ok(if too_large { undefined } else { product })
}

/// The set names those of 32 and 64 bits; that of 16 bits follows them.
const fn greatest_exponent(width: u8) -> i64 {
    match width {
        16 => 16,
        32 => 128,
        _ => 1024,
    }
}

/// The exponent below which Ldexp may flush to zero.
pub(in crate::interp) const fn least_exponent(width: u8) -> i64 {
    match width {
        16 => -14,
        32 => -126,
        _ => -1022,
    }
}
