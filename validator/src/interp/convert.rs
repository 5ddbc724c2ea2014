//! Conversions of components (SPIR-V 3.3.11, "Conversion Instructions").

use super::arithmetic::sign_extend;
use super::evaluate::{Evaluated, EvaluationError};
use super::float;
use crate::event::UndefinedKind;
use crate::value::{mask, Scalar};

/// OpUConvert: truncates or extends with zeros.
pub(super) const fn unsigned_convert(to: u8, a: Scalar) -> Scalar {
    let kept = mask(to as u32);
    Scalar { bits: a.bits & kept, undef: a.undef & kept }
}

/// OpSConvert: truncates or extends with the sign, an undefined one with undefined bits.
pub(super) const fn signed_convert(from: u8, to: u8, a: Scalar) -> Scalar {
    let kept = mask(to as u32);
    Scalar {
        bits: sign_extend(a.bits, from as u32) as u64 & kept,
        undef: sign_extend(a.undef, from as u32) as u64 & kept,
    }
}

/// The integral value of a float, rounded towards zero, if it lies in `least ..= greatest`.
///
/// The behaviour, not the value, is undefined otherwise: the specification says so where the
/// result type is not wide enough. A NaN has no value that any type could hold.
fn truncate(from: u8, a: Scalar, least: i128, greatest: i128) -> Result<i128, EvaluationError> {
    const INVALID: EvaluationError = EvaluationError::Undefined {
        kind: UndefinedKind::InvalidConversion,
        detail: "a float is converted to an integer type that cannot hold its value",
    };
    const UNDEFINED: EvaluationError = EvaluationError::Undefined {
        kind: UndefinedKind::InvalidConversion,
        detail: "an undefined float is converted to an integer type that may not hold its value",
    };
    if !a.is_defined() {
        return Err(UNDEFINED);
    }
    let value = float::to_double(from, a.bits)?.trunc();
    // The cast saturates, far outside of 64 bits.
    let integer = value as i128;
    if value.is_nan() || !(least..=greatest).contains(&integer) {
        return Err(INVALID);
    }
    Ok(integer)
}

/// OpConvertFToU.
pub(super) fn float_to_unsigned(from: u8, to: u8, a: Scalar) -> Evaluated {
    let integer = truncate(from, a, 0, i128::from(mask(u32::from(to))))?;
    Ok(Scalar::new(integer as u64))
}

/// OpConvertFToS.
pub(super) fn float_to_signed(from: u8, to: u8, a: Scalar) -> Evaluated {
    let end = 1_i128 << (to - 1);
    let integer = truncate(from, a, -end, end - 1)?;
    Ok(Scalar::new(integer as u64 & mask(u32::from(to))))
}

/// OpConvertSToF, rounded to nearest even.
pub(super) fn signed_to_float(from: u8, to: u8, a: Scalar) -> Evaluated {
    let integer = sign_extend(a.bits, u32::from(from));
    integer_to_float(to, a, integer as f32, integer as f64)
}

/// OpConvertUToF, rounded to nearest even.
pub(super) fn unsigned_to_float(to: u8, a: Scalar) -> Evaluated {
    integer_to_float(to, a, a.bits as f32, a.bits as f64)
}

fn integer_to_float(to: u8, a: Scalar, single: f32, double: f64) -> Evaluated {
    if !a.is_defined() {
        return Ok(Scalar::undefined(u32::from(to)));
    }
    match to {
        // 16 bits hold no integer that a double does not hold exactly.
        16 | 64 => float::from_double(to, double),
        32 => Ok(float::single(single)),
        _ => Err(float::UNKNOWN_WIDTH),
    }
}

/// OpFConvert, rounded to nearest even.
pub(super) fn float_convert(from: u8, to: u8, a: Scalar) -> Evaluated {
    if !a.is_defined() {
        return Ok(Scalar::undefined(u32::from(to)));
    }
    float::from_double(to, float::to_double(from, a.bits)?)
}

/// OpBitcast between component widths of which one is a multiple of the other: components with
/// lower numbers take the lower bits. `out` takes as many bits as `components` hold.
pub fn bitcast(from: u8, to: u8, components: &[Scalar], out: &mut [Scalar]) {
    let (from, to) = (usize::from(from), usize::from(to));
    let kept = mask(to as u32);
    for (index, result) in out.iter_mut().enumerate() {
        let first_bit = index * to;
        let sources = components.iter().enumerate().skip(first_bit / from).take(to.div_ceil(from));
        *result = sources.fold(Scalar::new(0), |result, (source, component)| {
            let source_bit = source * from;
            let place = |bits: u64| match source_bit.checked_sub(first_bit) {
                Some(left) => bits << left & kept,
                None => bits >> (first_bit - source_bit) & kept,
            };
            Scalar { bits: result.bits | place(component.bits), undef: result.undef | place(component.undef) }
        });
    }
}
