//! Integer comparisons on components (SPIR-V 3.3.15, "Relational and Logical Instructions").
//!
//! The result is undefined unless the bits that are known decide.

use super::arithmetic::unsigned_max;
use crate::value::Scalar;

const TRUE: Scalar = Scalar::new(1);
const FALSE: Scalar = Scalar::new(0);
const EITHER: Scalar = Scalar::undefined(1);

/// OpIEqual: one differing known bit decides.
#[inline]
pub(super) fn equal(a: Scalar, b: Scalar) -> Scalar {
    let undef = a.undef | b.undef;
    if (a.bits ^ b.bits) & !undef != 0 {
        FALSE
    } else if undef == 0 {
        TRUE
    } else {
        EITHER
    }
}

/// OpULessThan: disjoint ranges decide.
#[inline]
pub(super) fn unsigned_less(a: Scalar, b: Scalar) -> Scalar {
    if unsigned_max(a) < b.bits {
        TRUE
    } else if a.bits >= unsigned_max(b) {
        FALSE
    } else {
        EITHER
    }
}

/// OpSLessThan.
#[inline]
pub(super) fn signed_less(width: u32, a: Scalar, b: Scalar) -> Scalar {
    // With the sign bit flipped, signed order is unsigned order.
    let sign = 1 << (width - 1);
    let flip = |a: Scalar| Scalar { bits: (a.bits ^ sign) & !a.undef, undef: a.undef };
    unsigned_less(flip(a), flip(b))
}
