//! Floats of the formats bfloat16, E4M3 and E5M2: conversions, rounded to nearest even, and OpDot.

use super::evaluate::{self, Evaluated, EvaluationError};
use super::float;
use super::inexact::is_multiple;
use super::machine::{Machine, Step};
use crate::ir::{ConvertOp, EncodedOp, FloatEncoding, Inst, NumberFormat};
use crate::value::{mask, Scalar};

/// How a format is laid out: the sign above the exponent above the significand.
struct Layout {
    exponent_bits: u32,
    significand_bits: u32,
    /// Bits of the greatest finite value.
    greatest: u64,
    /// What is beyond it becomes.
    overflow: u64,
    nan: u64,
}

const fn layout(encoding: FloatEncoding) -> Layout {
    match encoding {
        FloatEncoding::BFloat16 => {
            Layout { exponent_bits: 8, significand_bits: 7, greatest: 0x7f7f, overflow: 0x7f80, nan: 0x7fc0 }
        }
        FloatEncoding::Float8E4M3 => {
            Layout { exponent_bits: 4, significand_bits: 3, greatest: 0x7e, overflow: 0x7f, nan: 0x7f }
        }
        FloatEncoding::Float8E5M2 => {
            Layout { exponent_bits: 5, significand_bits: 2, greatest: 0x7b, overflow: 0x7c, nan: 0x7e }
        }
    }
}

impl Layout {
    const fn bias(&self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    const fn magnitude_bits(&self) -> u32 {
        self.exponent_bits + self.significand_bits
    }
}

/// The value of an encoding; exact, and a NaN for a NaN.
pub fn decode(encoding: FloatEncoding, bits: u64) -> f64 {
    let layout = layout(encoding);
    let magnitude = bits & mask(layout.magnitude_bits());
    let sign = if bits >> layout.magnitude_bits() & 1 == 0 { 1.0 } else { -1.0 };
    let infinite = layout.overflow != layout.nan && magnitude == layout.overflow;
    if infinite {
        return sign * f64::INFINITY;
    }
    if magnitude > layout.greatest {
        return f64::NAN;
    }
    let significand = magnitude & mask(layout.significand_bits);
    let exponent = (magnitude >> layout.significand_bits) as i32;
    let hidden = if exponent == 0 { 0 } else { 1 << layout.significand_bits };
    let scale = exponent.max(1) - layout.bias() - layout.significand_bits as i32;
    sign * libm::scalbn((significand | hidden) as f64, scale)
}

/// The encoding nearest to a value, to even at ties. What is too large becomes an infinity, or a NaN
/// in the format without infinities, or the greatest finite value.
pub fn encode(encoding: FloatEncoding, value: f64, saturates: bool) -> u64 {
    let layout = layout(encoding);
    if value.is_nan() {
        return layout.nan;
    }
    let sign = u64::from(value.is_sign_negative()) << layout.magnitude_bits();
    let too_large = if saturates { layout.greatest } else { layout.overflow };
    if value.is_infinite() {
        return sign | too_large;
    }
    let least = 1 - layout.bias();
    // The exponent of a double that is a denormal lies below that of every format.
    let exponent = (((value.to_bits() >> 52 & 0x7ff) as i32) - 1023).max(least);
    let quantum = exponent - layout.significand_bits as i32;
    let steps = libm::scalbn(value.abs(), -quantum).round_ties_even() as u64;
    // Denormals have no hidden bit, and exponent field 0; a carry out of the significand is one into
    // the exponent.
    let field = ((exponent + layout.bias()) as u64) << layout.significand_bits;
    let magnitude = field + steps - (1 << layout.significand_bits);
    sign | if magnitude > layout.greatest { too_large } else { magnitude }
}

/// An integer as a double: exact, or rounded so that rounding it again to few bits gives what rounding
/// the integer once would.
fn integer(magnitude: u64) -> f64 {
    let unused = 64 - magnitude.leading_zeros();
    let lost = unused.saturating_sub(53);
    let kept = magnitude >> lost;
    let sticky = u64::from(kept << lost != magnitude);
    libm::scalbn((kept | sticky) as f64, lost as i32)
}

/// Converts a component.
pub fn convert(from: NumberFormat, to: NumberFormat, saturates: bool, a: Scalar) -> Evaluated {
    let integers = matches!(to, NumberFormat::Signed(_) | NumberFormat::Unsigned(_));
    // A conversion to an integer says itself what an undefined operand means.
    if !a.is_defined() && !integers {
        return Ok(Scalar::undefined(u32::from(width(to))));
    }
    let value = match from {
        NumberFormat::Signed(width) => {
            let value = super::arithmetic::sign_extend(a.bits, u32::from(width));
            integer(value.unsigned_abs()).copysign(if value < 0 { -1.0 } else { 1.0 })
        }
        NumberFormat::Unsigned(_) => integer(a.bits),
        NumberFormat::Float(width) => float::to_double(width, a.bits)?,
        NumberFormat::Encoded(encoding) => decode(encoding, a.bits),
    };
    let double = Scalar { bits: value.to_bits(), undef: if a.is_defined() { 0 } else { u64::MAX } };
    match to {
        NumberFormat::Signed(width) => evaluate::convert(ConvertOp::ConvertFToS, 64, width, double),
        NumberFormat::Unsigned(width) => evaluate::convert(ConvertOp::ConvertFToU, 64, width, double),
        NumberFormat::Float(width) => float::from_double(width, value),
        NumberFormat::Encoded(encoding) => Ok(Scalar::new(encode(encoding, value, saturates))),
    }
}

const fn width(format: NumberFormat) -> u8 {
    match format {
        NumberFormat::Signed(width) | NumberFormat::Unsigned(width) | NumberFormat::Float(width) => width,
        NumberFormat::Encoded(encoding) => encoding.width(),
    }
}

/// Whether a float of the format need not be kept: a denormal, an infinity, a NaN or a negative zero.
fn is_special(format: NumberFormat, bits: u64) -> Result<bool, EvaluationError> {
    let (value, least_normal) = match format {
        NumberFormat::Signed(_) | NumberFormat::Unsigned(_) => return Ok(false),
        NumberFormat::Float(width) => (
            float::to_double(width, bits)?,
            match width {
                16 => 2.0_f64.powi(-14),
                32 => f64::from(f32::MIN_POSITIVE),
                _ => f64::MIN_POSITIVE,
            },
        ),
        NumberFormat::Encoded(encoding) => {
            (decode(encoding, bits), 2.0_f64.powi(1 - layout(encoding).bias()))
        }
    };
    let negative_zero = value == 0.0 && value.is_sign_negative();
    Ok(!value.is_finite() || negative_zero || value != 0.0 && value.abs() < least_normal)
}

/// Whether a conversion might have given another result: it rounds, or meets what need not be kept.
fn is_open(from: NumberFormat, to: NumberFormat, a: Scalar, result: Scalar) -> bool {
    if !(a.is_defined() && result.is_defined()) {
        return false;
    }
    let special = is_special(from, a.bits).unwrap_or(true) || is_special(to, result.bits).unwrap_or(true);
    let rounds = match to {
        NumberFormat::Signed(_) | NumberFormat::Unsigned(_) => false,
        // Back again, it is what it was.
        NumberFormat::Float(_) | NumberFormat::Encoded(_) => convert(to, from, false, result) != Ok(a),
    };
    special || rounds
}

impl Machine<'_> {
    pub(super) fn encoded(&mut self, op: &EncodedOp, inst: &Inst) -> Step {
        match *op {
            EncodedOp::Convert { from, to, saturates, count, dst, a } => {
                for i in 0..count {
                    let a = self.value(a.offset(i));
                    // A fault may hang on it.
                    if a.is_defined() && is_special(from, a.bits).unwrap_or(true) {
                        self.record(inst);
                    }
                    let result = self.evaluated(convert(from, to, saturates, a), inst.line)?;
                    if is_open(from, to, a, result) {
                        self.record(inst);
                    }
                    self.state.set(dst + i, result);
                }
            }
            EncodedOp::Dot { encoding, count, dst, a, b } => {
                let mut sum = Some(0.0);
                let mut steady = true;
                for i in 0..count {
                    let (a, b) = (self.value(a.offset(i)), self.value(b.offset(i)));
                    let defined = a.is_defined() && b.is_defined();
                    let (x, y) = (decode(encoding, a.bits), decode(encoding, b.bits));
                    sum = sum.filter(|_| defined).map(|sum| sum + x * y);
                    steady &=
                        [x, y].iter().all(|value| is_multiple(64, Scalar::new(value.to_bits()), 1.0, 2.0));
                }
                let result = match sum {
                    Some(sum) => Scalar::new(encode(encoding, sum, false)),
                    None => Scalar::undefined(u32::from(encoding.width())),
                };
                if sum.is_some() && !(steady && sum != Some(0.0)) {
                    self.record(inst);
                }
                self.state.set(dst, result);
            }
        }
        Ok(())
    }
}
