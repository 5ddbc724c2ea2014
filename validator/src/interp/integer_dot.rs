//! Integer dot products (SPIR-V 3.3.13, OpSDot and its relatives).

use super::arithmetic::{add, multiply, sign_extend};
use super::convert::{signed_convert, unsigned_convert};
use crate::ir::{DotSigns, IntegerDot, Operand};
use crate::value::{mask, Scalar};

/// The result, with operands looked up by `value`.
pub(super) fn evaluate(op: &IntegerDot, value: impl Fn(Operand) -> Scalar) -> Scalar {
    let width = u32::from(op.width);
    let component = |vector: Operand, index: u32, signed: bool| {
        let bits = u32::from(op.component_width);
        let component = if op.packed {
            let all = value(vector);
            let part = |all: u64| all >> (index * bits) & mask(bits);
            Scalar { bits: part(all.bits), undef: part(all.undef) }
        } else {
            value(vector.offset(index))
        };
        if signed {
            signed_convert(op.component_width, op.width, component)
        } else {
            unsigned_convert(op.width, component)
        }
    };
    let (first_signed, second_signed) = match op.signs {
        DotSigns::Signed => (true, true),
        DotSigns::Unsigned => (false, false),
        DotSigns::Mixed => (true, false),
    };
    let pairs = (0..op.count)
        .map(|index| (component(op.a, index, first_signed), component(op.b, index, second_signed)));
    match op.accumulator {
        // The low bits of the exact sum.
        None => pairs.fold(Scalar::new(0), |sum, (a, b)| add(width, sum, multiply(width, a, b))),
        Some(accumulator) => accumulate(op, pairs, value(accumulator)).unwrap_or(Scalar::undefined(width)),
    }
}

/// The saturating sum of the accumulator and the dot product; `None` where the result is undefined:
/// with an undefined operand, and where the dot product leaves the result's type, in whatever order
/// its products are added.
fn accumulate(
    op: &IntegerDot,
    pairs: impl Iterator<Item = (Scalar, Scalar)>,
    accumulator: Scalar,
) -> Option<Scalar> {
    let width = u32::from(op.width);
    let defined = |scalar: Scalar| scalar.is_defined().then_some(scalar.bits);
    let signed = |bits: u64| i128::from(sign_extend(bits, width));
    let unsigned = |bits: u64| i128::from(bits);
    let (least, greatest) = match op.signs {
        DotSigns::Signed | DotSigns::Mixed => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
        DotSigns::Unsigned => (0, unsigned(mask(width))),
    };
    let fits = |sum: i128| (least..=greatest).contains(&sum).then_some(sum);
    let (mut positive, mut negative) = (0_i128, 0_i128);
    for (a, b) in pairs {
        let (a, b) = (defined(a)?, defined(b)?);
        let product = match op.signs {
            DotSigns::Signed => signed(a).checked_mul(signed(b)),
            DotSigns::Unsigned => unsigned(a).checked_mul(unsigned(b)),
            DotSigns::Mixed => signed(a).checked_mul(unsigned(b)),
        };
        let product = fits(product?)?;
        positive = fits(positive + product.max(0))?;
        negative = fits(negative + product.min(0))?;
    }
    let accumulator = defined(accumulator)?;
    let accumulator = match op.signs {
        DotSigns::Signed | DotSigns::Mixed => signed(accumulator),
        DotSigns::Unsigned => unsigned(accumulator),
    };
    let sum = (accumulator + positive + negative).clamp(least, greatest);
    Some(Scalar::new(sum as u64 & mask(width)))
}
