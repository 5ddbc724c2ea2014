//! The integer instructions. Undefined bits are tracked as far as ranges, signs and known bits go.

use super::super::arithmetic::{join, negate, sign_extend, unsigned_max};
use super::super::bits;
use crate::ir::{FoundBit, IntegerFunction, IntegerFunction2};
use crate::value::{mask, Scalar};

/// SAbs, of which the least integer is its own magnitude, and SSign.
pub(super) fn one(function: IntegerFunction, width: u32, a: Scalar) -> Scalar {
    let sign = 1 << (width - 1);
    match function {
        IntegerFunction::Abs if a.undef & sign != 0 => join(a, negate(width, a)),
        IntegerFunction::Abs if a.bits & sign != 0 => negate(width, a),
        IntegerFunction::Abs => a,
        IntegerFunction::Sign if a.bits & sign != 0 => Scalar::new(mask(width)),
        IntegerFunction::Sign if a.undef & sign != 0 => Scalar::undefined(width),
        IntegerFunction::Sign => {
            join(Scalar::new(u64::from(a.bits != 0)), Scalar::new(u64::from(unsigned_max(a) != 0)))
        }
    }
}

pub(super) fn two(function: IntegerFunction2, width: u32, a: Scalar, b: Scalar) -> Scalar {
    match function {
        IntegerFunction2::UMin => minimum(a, b),
        IntegerFunction2::UMax => maximum(a, b),
        IntegerFunction2::SMin => flip(width, minimum(flip(width, a), flip(width, b))),
        IntegerFunction2::SMax => flip(width, maximum(flip(width, a), flip(width, b))),
    }
}

/// UClamp, SClamp: undefined where the bounds are, or may be, in the wrong order.
pub(super) fn clamp(signed: bool, width: u32, operands: [Scalar; 3]) -> Scalar {
    let [a, least, greatest] = if signed { operands.map(|operand| flip(width, operand)) } else { operands };
    if unsigned_max(least) > greatest.bits {
        return Scalar::undefined(width);
    }
    let clamped = minimum(maximum(a, least), greatest);
    if signed {
        flip(width, clamped)
    } else {
        clamped
    }
}

/// With the sign bit flipped, signed order is unsigned order.
const fn flip(width: u32, a: Scalar) -> Scalar {
    let sign = 1 << (width - 1);
    Scalar { bits: (a.bits ^ sign) & !a.undef, undef: a.undef }
}

/// The smaller one: it is one of both, and lies between the lesser of the least and of the greatest
/// values that they may have.
fn minimum(a: Scalar, b: Scalar) -> Scalar {
    one_of(a, b, a.bits.min(b.bits), unsigned_max(a).min(unsigned_max(b)))
}

fn maximum(a: Scalar, b: Scalar) -> Scalar {
    one_of(a, b, a.bits.max(b.bits), unsigned_max(a).max(unsigned_max(b)))
}

/// What is known of one of two values that lies in a range.
fn one_of(a: Scalar, b: Scalar, least: u64, greatest: u64) -> Scalar {
    if a.undef | b.undef == 0 {
        return Scalar::new(least);
    }
    let either = join(a, b);
    // All values of the range agree above the highest bit in which its ends differ.
    let below = match least ^ greatest {
        0 => 0,
        difference => mask(64 - difference.leading_zeros()),
    };
    let undef = either.undef & below;
    Scalar { bits: (either.bits & below | least & !below) & !undef, undef }
}

/// FindILsb, FindUMsb, FindSMsb: -1 where there is no such bit.
pub(super) fn find(bit: FoundBit, width: u32, to: u32, a: Scalar) -> Scalar {
    match bit {
        FoundBit::Lowest => any_of(a.undef & a.bits.wrapping_sub(1) & !a.bits, lowest(a.bits), to),
        FoundBit::Highest => highest(width, to, a),
        FoundBit::HighestSigned => {
            let sign = 1 << (width - 1);
            let positive = Scalar { bits: a.bits & !sign, undef: a.undef & !sign };
            let negative = bits::not(width - 1, positive);
            match (a.undef & sign != 0, a.bits & sign != 0) {
                (false, false) => highest(width, to, positive),
                (false, true) => highest(width, to, negative),
                (true, _) => join(highest(width, to, positive), highest(width, to, negative)),
            }
        }
    }
}

fn highest(width: u32, to: u32, a: Scalar) -> Scalar {
    let known = (a.bits != 0).then(|| 63 - a.bits.leading_zeros());
    let above = known.map_or(mask(width), |known| !mask(known + 1));
    any_of(a.undef & above, known, to)
}

fn lowest(bits: u64) -> Option<u32> {
    (bits != 0).then(|| bits.trailing_zeros())
}

/// The number of one of these bits, or of the known one behind them.
fn any_of(bits: u64, known: Option<u32>, to: u32) -> Scalar {
    let last = known.map_or(sign_extend(mask(to), to), i64::from);
    let number = |number: i64| Scalar::new(number as u64 & mask(to));
    let candidates = (0..64).filter(|bit| bits >> bit & 1 != 0);
    candidates.map(number).fold(number(last), join)
}
