//! Instructions that pack floats into integers and unpack them. Fields are packed from the lowest bits
//! up; an undefined component leaves its own field undefined.

use super::super::arithmetic::sign_extend;
use super::super::evaluate::Evaluated;
use super::super::float::{from_double, single, to_double, Format};
use crate::ir::Packing;
use crate::value::{mask, Scalar};

/// Packs floats of 32 bits.
pub(super) fn pack(packing: Packing, components: &[Scalar]) -> Evaluated {
    let (_, width) = packing.fields();
    let mut packed = Scalar::new(0);
    for (index, component) in (0..).zip(components) {
        let field = pack_field(packing, width, *component)?;
        packed.bits |= field.bits << (index * width);
        packed.undef |= field.undef << (index * width);
    }
    Ok(packed)
}

fn pack_field(packing: Packing, width: u32, component: Scalar) -> Evaluated {
    if !component.is_defined() {
        return Ok(Scalar::undefined(width));
    }
    let value = f32::from_bits(component.bits as u32);
    match packing.one() {
        None => from_double(16, f64::from(value)),
        // Clamping may keep the NaN, which no integer is nearest to.
        Some(_) if value.is_nan() => Ok(Scalar::undefined(width)),
        Some(one) => {
            let rounded = scaled(packing, value, one).round_ties_even();
            Ok(Scalar::new(i64::from(rounded as i32) as u64 & mask(width)))
        }
    }
}

/// The clamped value times the integer that stands for 1, before it is rounded to an integer.
pub(super) fn scaled(packing: Packing, value: f32, one: f64) -> f32 {
    let least = if packing.is_signed() { -1.0 } else { 0.0 };
    value.clamp(least, 1.0) * one as f32
}

/// A component, of 32 bits.
pub(super) fn unpack(packing: Packing, packed: Scalar, index: u32) -> Evaluated {
    let (_, width) = packing.fields();
    let field = |bits: u64| bits >> (index * width) & mask(width);
    if field(packed.undef) != 0 {
        return Ok(Scalar::undefined(32));
    }
    let bits = field(packed.bits);
    Ok(match packing.one() {
        None => return from_double(32, to_double(16, bits)?),
        Some(one) if packing.is_signed() => single((sign_extend(bits, width) as f32 / one as f32).max(-1.0)),
        Some(one) => single(bits as f32 / one as f32),
    })
}

/// PackDouble2x32: which value comes of a NaN or an infinity is not specified.
pub(super) fn pack_double(low: Scalar, high: Scalar) -> Scalar {
    let packed = Scalar { bits: low.bits | high.bits << 32, undef: low.undef | high.undef << 32 };
    let finite = Format::of_width(64).is_ok_and(|format| packed.bits & format.exponent != format.exponent);
    if packed.is_defined() && !finite {
        Scalar::undefined(64)
    } else {
        packed
    }
}

/// UnpackDouble2x32: the lower half first.
pub(super) const fn unpack_double(a: Scalar) -> [Scalar; 2] {
    let low = mask(32);
    [Scalar { bits: a.bits & low, undef: a.undef & low }, Scalar { bits: a.bits >> 32, undef: a.undef >> 32 }]
}
