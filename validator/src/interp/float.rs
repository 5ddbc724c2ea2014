//! Floating-point operations on components of 16, 32 and 64 bits: IEEE 754 arithmetic, rounded to
//! nearest even, with denormals. Every NaN that arithmetic makes is the same quiet one, so that equal
//! programs give equal bits. A result is undefined if any bit of an operand is.
//!
//! 32 and 64 bits are the processor's; 16 bits are software floats.

use std::cmp::Ordering;

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::bits;
use super::evaluate::{Evaluated, EvaluationError};
use crate::value::Scalar;

/// Results of comparing ordered operands, as [`compare`] hands them to its predicate.
pub(super) const LESS: Option<Ordering> = Some(Ordering::Less);
pub(super) const EQUAL: Option<Ordering> = Some(Ordering::Equal);
pub(super) const GREATER: Option<Ordering> = Some(Ordering::Greater);

pub(super) const UNKNOWN_WIDTH: EvaluationError =
    EvaluationError::Unsupported("a floating-point width other than 16, 32 and 64");

/// The fields of an encoding: sign, exponent, significand, from the highest bit down.
pub(super) struct Format {
    pub(super) sign: u64,
    pub(super) exponent: u64,
    significand: u64,
}

impl Format {
    const HALF: Format = Format { sign: 0x8000, exponent: 0x7c00, significand: 0x3ff };
    const SINGLE: Format = Format { sign: 0x8000_0000, exponent: 0x7f80_0000, significand: 0x7f_ffff };
    const DOUBLE: Format = Format { sign: 1 << 63, exponent: 0x7ff << 52, significand: 0xf_ffff_ffff_ffff };

    pub(super) const fn of_width(width: u8) -> Result<Format, EvaluationError> {
        match width {
            16 => Ok(Format::HALF),
            32 => Ok(Format::SINGLE),
            64 => Ok(Format::DOUBLE),
            _ => Err(UNKNOWN_WIDTH),
        }
    }

    const fn is_nan(&self, bits: u64) -> bool {
        bits & self.exponent == self.exponent && bits & self.significand != 0
    }
}

/// The value of a defined component; exact, and a NaN for a NaN.
pub(super) fn to_double(width: u8, bits: u64) -> Result<f64, EvaluationError> {
    match width {
        16 => {
            let wide: Double = Half::from_bits(u128::from(bits)).convert(&mut false).value;
            Ok(f64::from_bits(wide.to_bits() as u64))
        }
        32 => Ok(f64::from(f32::from_bits(bits as u32))),
        64 => Ok(f64::from_bits(bits)),
        _ => Err(UNKNOWN_WIDTH),
    }
}

/// The component nearest to a value, rounded once.
pub(super) fn from_double(width: u8, value: f64) -> Evaluated {
    match width {
        16 => {
            let narrow: Half = Double::from_bits(u128::from(value.to_bits())).convert(&mut false).value;
            Ok(half(narrow))
        }
        32 => Ok(single(value as f32)),
        64 => Ok(double(value)),
        _ => Err(UNKNOWN_WIDTH),
    }
}

pub(super) fn half(value: Half) -> Scalar {
    Scalar::new(if value.is_nan() { 0x7e00 } else { value.to_bits() as u64 })
}

pub(super) fn single(value: f32) -> Scalar {
    Scalar::new(u64::from(if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }))
}

pub(super) fn double(value: f64) -> Scalar {
    Scalar::new(if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() })
}

/// Applies the operation of the operands' width.
#[inline]
fn arithmetic(
    width: u8,
    a: Scalar,
    b: Scalar,
    on_single: impl Fn(f32, f32) -> f32,
    on_double: impl Fn(f64, f64) -> f64,
    on_half: impl Fn(Half, Half) -> Half,
) -> Evaluated {
    if a.undef | b.undef != 0 {
        return Ok(Scalar::undefined(u32::from(width)));
    }
    match width {
        16 => Ok(half(on_half(Half::from_bits(u128::from(a.bits)), Half::from_bits(u128::from(b.bits))))),
        32 => Ok(single(on_single(f32::from_bits(a.bits as u32), f32::from_bits(b.bits as u32)))),
        64 => Ok(double(on_double(f64::from_bits(a.bits), f64::from_bits(b.bits)))),
        _ => Err(UNKNOWN_WIDTH),
    }
}

/// OpFAdd.
#[inline]
pub(super) fn add(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    arithmetic(width, a, b, |a, b| a + b, |a, b| a + b, |a, b| (a + b).value)
}

/// OpFSub.
#[inline]
pub(super) fn subtract(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    arithmetic(width, a, b, |a, b| a - b, |a, b| a - b, |a, b| (a - b).value)
}

/// OpFMul.
#[inline]
pub(super) fn multiply(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    arithmetic(width, a, b, |a, b| a * b, |a, b| a * b, |a, b| (a * b).value)
}

/// OpFDiv.
#[inline]
pub(super) fn divide(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    arithmetic(width, a, b, |a, b| a / b, |a, b| a / b, |a, b| (a / b).value)
}

/// OpFRem: the exact remainder with the dividend's sign; undefined for a zero divisor.
pub(super) fn remainder(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    if may_be_zero(width, b)? {
        return Ok(Scalar::undefined(u32::from(width)));
    }
    arithmetic(width, a, b, |a, b| a % b, |a, b| a % b, half_remainder)
}

/// OpFMod: the remainder with the divisor's sign; undefined for a zero divisor.
pub(super) fn modulo(width: u8, a: Scalar, b: Scalar) -> Evaluated {
    if may_be_zero(width, b)? {
        return Ok(Scalar::undefined(u32::from(width)));
    }
    arithmetic(
        width,
        a,
        b,
        |a, b| match a % b {
            r if r != 0.0 && r.is_sign_negative() != b.is_sign_negative() => r + b,
            r => r,
        },
        |a, b| match a % b {
            r if r != 0.0 && r.is_sign_negative() != b.is_sign_negative() => r + b,
            r => r,
        },
        |a, b| match half_remainder(a, b) {
            r if !r.is_zero() && r.is_negative() != b.is_negative() => (r + b).value,
            r => r,
        },
    )
}

fn half_remainder(a: Half, b: Half) -> Half {
    a.c_fmod(b).value
}

fn may_be_zero(width: u8, a: Scalar) -> Result<bool, EvaluationError> {
    let format = Format::of_width(width)?;
    Ok(a.bits & !format.sign == 0)
}

/// OpFNegate: flips the sign bit, of NaNs too.
pub(super) fn negate(width: u8, a: Scalar) -> Evaluated {
    let format = Format::of_width(width)?;
    Ok(bits::xor(a, Scalar::new(format.sign)))
}

/// The comparisons: the predicate is asked with `None` for unordered operands.
#[inline]
pub(super) fn compare(
    width: u8,
    a: Scalar,
    b: Scalar,
    holds: impl Fn(Option<Ordering>) -> bool,
) -> Evaluated {
    if a.undef | b.undef != 0 {
        return Ok(Scalar::undefined(1));
    }
    let order = to_double(width, a.bits)?.partial_cmp(&to_double(width, b.bits)?);
    Ok(Scalar::new(u64::from(holds(order))))
}

/// A classification that every bit takes part in.
fn classify(width: u8, a: Scalar, holds: impl Fn(&Format) -> bool) -> Evaluated {
    let format = Format::of_width(width)?;
    Ok(if a.is_defined() { Scalar::new(u64::from(holds(&format))) } else { Scalar::undefined(1) })
}

/// OpIsNan.
pub(super) fn is_nan(width: u8, a: Scalar) -> Evaluated {
    classify(width, a, |format| format.is_nan(a.bits))
}

/// OpIsInf.
pub(super) fn is_infinite(width: u8, a: Scalar) -> Evaluated {
    classify(width, a, |format| a.bits & !format.sign == format.exponent)
}

/// OpIsFinite.
pub(super) fn is_finite(width: u8, a: Scalar) -> Evaluated {
    classify(width, a, |format| a.bits & format.exponent != format.exponent)
}

/// OpIsNormal.
pub(super) fn is_normal(width: u8, a: Scalar) -> Evaluated {
    classify(width, a, |format| {
        let exponent = a.bits & format.exponent;
        exponent != 0 && exponent != format.exponent
    })
}

/// OpSignBitSet: depends on that one bit.
pub(super) fn sign_bit_set(width: u8, a: Scalar) -> Evaluated {
    let sign = Format::of_width(width)?.sign;
    let bit = |mask: u64| u64::from(mask & sign != 0);
    Ok(Scalar { bits: bit(a.bits), undef: bit(a.undef) })
}

/// OpQuantizeToF16 on 32 bits. A value too small for a normalised 16-bit float gives a zero of
/// either sign: the sign bit is undefined then.
pub(super) fn quantize_to_half(a: Scalar) -> Scalar {
    if !a.is_defined() {
        return Scalar::undefined(32);
    }
    const SMALLEST_NORMAL: f32 = 1.0 / 16_384.0;
    let value = f32::from_bits(a.bits as u32);
    if value != 0.0 && value.abs() < SMALLEST_NORMAL {
        return Scalar { bits: 0, undef: Format::SINGLE.sign };
    }
    let quantized: Half = Single::from_bits(u128::from(a.bits)).convert(&mut false).value;
    let back: Single = quantized.convert(&mut false).value;
    single(f32::from_bits(back.to_bits() as u32))
}
