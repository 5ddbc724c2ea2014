//! Bit instructions on components (SPIR-V 3.3.14) and the logic of booleans, which are one bit wide.
//!
//! Undefined bits are tracked exactly, except through undefined shift amounts, which are covered by
//! the bits that all possible amounts agree on.

use super::arithmetic::{join, unsigned_max};
use crate::value::{mask, Scalar};

/// OpNot, OpLogicalNot.
#[inline]
pub(super) const fn not(width: u32, a: Scalar) -> Scalar {
    Scalar { bits: !unsigned_max(a) & mask(width), undef: a.undef }
}

/// OpBitwiseAnd, OpLogicalAnd: a known zero decides.
#[inline]
pub(super) const fn and(a: Scalar, b: Scalar) -> Scalar {
    Scalar { bits: a.bits & b.bits, undef: (unsigned_max(a) & unsigned_max(b)) & (a.undef | b.undef) }
}

/// OpBitwiseOr, OpLogicalOr: a known one decides.
#[inline]
pub(super) const fn or(a: Scalar, b: Scalar) -> Scalar {
    let ones = a.bits | b.bits;
    Scalar { bits: ones, undef: (a.undef | b.undef) & !ones }
}

/// OpBitwiseXor, OpLogicalNotEqual.
#[inline]
pub(super) const fn xor(a: Scalar, b: Scalar) -> Scalar {
    let undef = a.undef | b.undef;
    Scalar { bits: (a.bits ^ b.bits) & !undef, undef }
}

/// OpShiftLeftLogical.
#[inline]
pub(super) fn shift_left_logical(width: u32, a: Scalar, amount: Scalar) -> Scalar {
    shift(width, amount, |amount| Scalar {
        bits: (a.bits << amount) & mask(width),
        undef: (a.undef << amount) & mask(width),
    })
}

/// OpShiftRightLogical.
#[inline]
pub(super) fn shift_right_logical(width: u32, a: Scalar, amount: Scalar) -> Scalar {
    shift(width, amount, |amount| Scalar { bits: a.bits >> amount, undef: a.undef >> amount })
}

/// OpShiftRightArithmetic: an undefined sign bit fills with undefined bits.
#[inline]
pub(super) fn shift_right_arithmetic(width: u32, a: Scalar, amount: Scalar) -> Scalar {
    let right =
        |bits: u64, amount: u32| (super::arithmetic::sign_extend(bits, width) >> amount) as u64 & mask(width);
    shift(width, amount, |amount| Scalar { bits: right(a.bits, amount), undef: right(a.undef, amount) })
}

/// The value is undefined for an amount of `width` or more; the amount is unsigned.
#[inline]
fn shift(width: u32, amount: Scalar, by: impl Fn(u32) -> Scalar) -> Scalar {
    if unsigned_max(amount) >= u64::from(width) {
        return Scalar::undefined(width);
    }
    if amount.is_defined() {
        return by(amount.bits as u32);
    }
    let possible = (0..width).filter(|candidate| u64::from(*candidate) & !amount.undef == amount.bits);
    possible.map(by).reduce(join).unwrap_or(Scalar::undefined(width))
}

/// OpBitReverse.
pub(super) const fn reverse(width: u32, a: Scalar) -> Scalar {
    let unused = 64 - width;
    Scalar { bits: a.bits.reverse_bits() >> unused, undef: a.undef.reverse_bits() >> unused }
}

/// OpBitCount.
pub(super) fn count(a: Scalar) -> Scalar {
    let least = Scalar::new(u64::from(a.bits.count_ones()));
    let greatest = u64::from(unsigned_max(a).count_ones());
    (least.bits..=greatest).map(Scalar::new).fold(least, join)
}

/// The field that an offset and a count name, both unsigned; `None` where the result is undefined.
fn field(width: u32, offset: Scalar, count: Scalar) -> Option<(u32, u32)> {
    if !offset.is_defined() || !count.is_defined() {
        return None;
    }
    let end = offset.bits.checked_add(count.bits)?;
    (end <= u64::from(width)).then_some((offset.bits as u32, count.bits as u32))
}

/// OpBitFieldInsert: `count` low bits of `insert` replace those of `base` from `offset` on.
/// The value is undefined where the field does not fit.
pub fn bit_field_insert(width: u8, base: Scalar, insert: Scalar, offset: Scalar, count: Scalar) -> Scalar {
    let width = u32::from(width);
    match field(width, offset, count) {
        None => Scalar::undefined(width),
        Some((_, 0)) => base,
        Some((offset, count)) => {
            let replaced = mask(count) << offset;
            let merge = |base: u64, insert: u64| base & !replaced | (insert << offset) & replaced;
            Scalar { bits: merge(base.bits, insert.bits), undef: merge(base.undef, insert.undef) }
        }
    }
}

/// OpBitFieldSExtract and OpBitFieldUExtract: the `count` bits of `base` from `offset` on, sign- or
/// zero-extended. The value is undefined where the field does not fit.
pub fn bit_field_extract(width: u8, signed: bool, base: Scalar, offset: Scalar, count: Scalar) -> Scalar {
    let width = u32::from(width);
    match field(width, offset, count) {
        None => Scalar::undefined(width),
        Some((_, 0)) => Scalar::new(0),
        Some((offset, count)) => {
            let extract = |bits: u64| {
                let field = (bits >> offset) & mask(count);
                if signed {
                    super::arithmetic::sign_extend(field, count) as u64 & mask(width)
                } else {
                    field
                }
            };
            Scalar { bits: extract(base.bits), undef: extract(base.undef) }
        }
    }
}
