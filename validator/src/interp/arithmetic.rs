//! Integer arithmetic on components (SPIR-V 3.3.13, "Arithmetic Instructions").

use super::compare;
use super::evaluate::{Evaluated, EvaluationError};
use crate::event::UndefinedKind;
use crate::value::{mask, Scalar};

const BY_ZERO: EvaluationError = EvaluationError::Undefined {
    kind: UndefinedKind::DivisionByZero,
    detail: "an integer is divided by zero",
};
const BY_PERHAPS_ZERO: EvaluationError = EvaluationError::Undefined {
    kind: UndefinedKind::DivisionByZero,
    detail: "an integer is divided by an undefined value that may be zero",
};
const OVERFLOW: EvaluationError = EvaluationError::Undefined {
    kind: UndefinedKind::SignedOverflow,
    detail: "the least signed integer is divided by -1",
};

/// The value of the low `width` bits as a signed integer.
pub(super) const fn sign_extend(bits: u64, width: u32) -> i64 {
    let unused = 64 - width;
    ((bits << unused) as i64) >> unused
}

/// The smallest mask that covers both values.
pub(super) const fn join(a: Scalar, b: Scalar) -> Scalar {
    let undef = a.undef | b.undef | (a.bits ^ b.bits);
    Scalar { bits: a.bits & !undef, undef }
}

/// The largest unsigned value that this may have.
pub(super) const fn unsigned_max(a: Scalar) -> u64 {
    a.bits | a.undef
}

/// Whether this may have the value `bits`.
pub(super) const fn may_be(a: Scalar, bits: u64) -> bool {
    (a.bits ^ bits) & !a.undef == 0
}

const fn is_zero(a: Scalar) -> bool {
    a.bits == 0 && a.undef == 0
}

/// Sum with a carry into the lowest bit. A bit is known where the operands' bits are and the carry
/// into it is the same for the least and the greatest operands.
const fn add_with_carry(width: u32, a: Scalar, b: Scalar, carry: u64) -> Scalar {
    let least = a.bits.wrapping_add(b.bits).wrapping_add(carry);
    if a.undef | b.undef == 0 {
        return Scalar::new(least & mask(width));
    }
    let (a_max, b_max) = (unsigned_max(a), unsigned_max(b));
    let greatest = a_max.wrapping_add(b_max).wrapping_add(carry);
    let least_carries = least ^ a.bits ^ b.bits;
    let greatest_carries = greatest ^ a_max ^ b_max;
    let undef = (a.undef | b.undef | (least_carries ^ greatest_carries)) & mask(width);
    Scalar { bits: least & mask(width) & !undef, undef }
}

/// OpIAdd.
#[inline]
pub(super) fn add(width: u32, a: Scalar, b: Scalar) -> Scalar {
    add_with_carry(width, a, b, 0)
}

/// OpISub.
#[inline]
pub(super) fn subtract(width: u32, a: Scalar, b: Scalar) -> Scalar {
    add_with_carry(width, a, super::bits::not(width, b), 1)
}

/// OpSNegate.
pub(super) fn negate(width: u32, a: Scalar) -> Scalar {
    subtract(width, Scalar::new(0), a)
}

/// OpIMul. Changing an undefined bit changes the product by a multiple of that bit times the
/// other operand's trailing zeros; the bits below stay.
#[inline]
pub(super) fn multiply(width: u32, a: Scalar, b: Scalar) -> Scalar {
    let product = a.bits.wrapping_mul(b.bits) & mask(width);
    if a.undef | b.undef == 0 || is_zero(a) || is_zero(b) {
        return Scalar::new(product);
    }
    let from_a = a.undef.trailing_zeros() + unsigned_max(b).trailing_zeros();
    let from_b = b.undef.trailing_zeros() + unsigned_max(a).trailing_zeros();
    let known = mask(from_a.min(from_b));
    Scalar { bits: product & known, undef: mask(width) & !known }
}

/// An error if the divisor may be zero.
fn check_divisor(b: Scalar) -> Result<(), EvaluationError> {
    if b.bits != 0 {
        Ok(())
    } else if b.is_defined() {
        Err(BY_ZERO)
    } else {
        Err(BY_PERHAPS_ZERO)
    }
}

/// An error if the division may be by zero or overflow.
fn check_signed_division(width: u32, a: Scalar, b: Scalar) -> Result<(), EvaluationError> {
    check_divisor(b)?;
    if may_be(a, 1 << (width - 1)) && may_be(b, mask(width)) {
        return Err(OVERFLOW);
    }
    Ok(())
}

/// OpUDiv.
pub(super) fn unsigned_divide(width: u32, a: Scalar, b: Scalar) -> Evaluated {
    check_divisor(b)?;
    Ok(if a.is_defined() && b.is_defined() {
        Scalar::new(a.bits / b.bits)
    } else if b == Scalar::new(1) {
        a
    } else if unsigned_max(a) < b.bits {
        Scalar::new(0)
    } else {
        Scalar::undefined(width)
    })
}

/// OpUMod.
pub(super) fn unsigned_modulo(width: u32, a: Scalar, b: Scalar) -> Evaluated {
    check_divisor(b)?;
    Ok(if a.is_defined() && b.is_defined() {
        Scalar::new(a.bits % b.bits)
    } else if b.is_defined() && b.bits.is_power_of_two() {
        Scalar { bits: a.bits & (b.bits - 1), undef: a.undef & (b.bits - 1) }
    } else if unsigned_max(a) < b.bits {
        a
    } else {
        Scalar::undefined(width)
    })
}

/// OpSDiv.
pub(super) fn signed_divide(width: u32, a: Scalar, b: Scalar) -> Evaluated {
    check_signed_division(width, a, b)?;
    Ok(if a.is_defined() && b.is_defined() {
        let quotient = sign_extend(a.bits, width).wrapping_div(sign_extend(b.bits, width));
        Scalar::new(quotient as u64 & mask(width))
    } else if b == Scalar::new(1) || is_zero(a) {
        a
    } else {
        Scalar::undefined(width)
    })
}

/// OpSRem: the sign follows the dividend.
pub(super) fn signed_remainder(width: u32, a: Scalar, b: Scalar) -> Evaluated {
    check_signed_division(width, a, b)?;
    Ok(if a.is_defined() && b.is_defined() {
        let remainder = sign_extend(a.bits, width).wrapping_rem(sign_extend(b.bits, width));
        Scalar::new(remainder as u64 & mask(width))
    } else if remainder_is_zero(width, a, b) {
        Scalar::new(0)
    } else {
        Scalar::undefined(width)
    })
}

/// OpSMod: the sign follows the divisor.
pub(super) fn signed_modulo(width: u32, a: Scalar, b: Scalar) -> Evaluated {
    check_signed_division(width, a, b)?;
    Ok(if a.is_defined() && b.is_defined() {
        let divisor = sign_extend(b.bits, width);
        let remainder = sign_extend(a.bits, width).wrapping_rem(divisor);
        let moved = remainder != 0 && (remainder < 0) != (divisor < 0);
        let modulo = if moved { remainder.wrapping_add(divisor) } else { remainder };
        Scalar::new(modulo as u64 & mask(width))
    } else if remainder_is_zero(width, a, b) {
        Scalar::new(0)
    } else {
        Scalar::undefined(width)
    })
}

/// Whether a remainder is zero whatever the undefined bits are.
fn remainder_is_zero(width: u32, a: Scalar, b: Scalar) -> bool {
    is_zero(a) || b == Scalar::new(1) || b == Scalar::new(mask(width))
}

/// A 0 or 1 that is known where the least and the greatest operands agree.
fn one_bit(least: bool, greatest: bool) -> Scalar {
    join(Scalar::new(u64::from(least)), Scalar::new(u64::from(greatest)))
}

/// OpIAddCarry: sum and carry.
pub(super) fn add_carry(width: u32, a: Scalar, b: Scalar) -> [Scalar; 2] {
    let carries = |a: u64, b: u64| (u128::from(a) + u128::from(b)) >> width != 0;
    let carry = one_bit(carries(a.bits, b.bits), carries(unsigned_max(a), unsigned_max(b)));
    [add(width, a, b), carry]
}

/// OpISubBorrow: difference and borrow.
pub(super) fn subtract_borrow(width: u32, a: Scalar, b: Scalar) -> [Scalar; 2] {
    [subtract(width, a, b), compare::unsigned_less(a, b)]
}

/// OpUMulExtended: low and high half of the product.
pub(super) fn unsigned_multiply_extended(width: u32, a: Scalar, b: Scalar) -> [Scalar; 2] {
    let high = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> width) as u64;
    let greatest = high(unsigned_max(a), unsigned_max(b));
    let known = a.is_defined() && b.is_defined() || greatest == 0;
    let high = if known { Scalar::new(greatest) } else { Scalar::undefined(width) };
    [multiply(width, a, b), high]
}

/// OpSMulExtended: low and high half of the product.
pub(super) fn signed_multiply_extended(width: u32, a: Scalar, b: Scalar) -> [Scalar; 2] {
    let high = if is_zero(a) || is_zero(b) {
        Scalar::new(0)
    } else if a.is_defined() && b.is_defined() {
        let product = i128::from(sign_extend(a.bits, width)) * i128::from(sign_extend(b.bits, width));
        Scalar::new((product >> width) as u64 & mask(width))
    } else {
        Scalar::undefined(width)
    };
    [multiply(width, a, b), high]
}
