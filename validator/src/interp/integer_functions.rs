//! SPV_INTEL_shader_integer_functions2 on components.

use super::arithmetic::sign_extend;
use crate::ir::IntelFunction;
use crate::value::{mask, Scalar};

/// A function of two components of `width` bits. The result is undefined if a bit that it looks at is.
pub(super) fn evaluate(function: IntelFunction, width: u32, a: Scalar, b: Scalar) -> Scalar {
    use IntelFunction::{
        AbsISub, AbsUSub, IAddSat, IAverage, IAverageRounded, IMul32x16, ISubSat, UAddSat, UAverage,
        UAverageRounded, UMul32x16, USubSat,
    };
    let looked_at = match function {
        IMul32x16 | UMul32x16 => 0xffff,
        AbsISub | AbsUSub | IAddSat | UAddSat | IAverage | UAverage | IAverageRounded | UAverageRounded
        | ISubSat | USubSat => mask(width),
    };
    if a.undef | b.undef & looked_at != 0 {
        return Scalar::undefined(width);
    }
    // Wide enough for every sum and product.
    let [x, y] = [a, b].map(|value| i128::from(value.bits));
    let [signed_x, signed_y] = [a, b].map(|value| i128::from(sign_extend(value.bits, width)));
    let greatest = i128::from(mask(width));
    let clamped = |value: i128| value.clamp(-(greatest / 2) - 1, greatest / 2);
    let result = match function {
        AbsISub => (signed_x - signed_y).abs(),
        AbsUSub => (x - y).abs(),
        IAddSat => clamped(signed_x + signed_y),
        UAddSat => (x + y).min(greatest),
        IAverage => (signed_x + signed_y) >> 1,
        UAverage => (x + y) >> 1,
        IAverageRounded => (signed_x + signed_y + 1) >> 1,
        UAverageRounded => (x + y + 1) >> 1,
        ISubSat => clamped(signed_x - signed_y),
        USubSat => (x - y).max(0),
        IMul32x16 => signed_x * i128::from(b.bits as i16),
        UMul32x16 => x * i128::from(b.bits as u16),
    };
    Scalar::new(result as u64 & mask(width))
}

/// OpUCountLeadingZerosINTEL.
pub(super) fn leading_zeros(width: u32, a: Scalar) -> Scalar {
    match a.is_defined() {
        true => Scalar::new(u64::from(a.bits.leading_zeros() - (64 - width))),
        false => Scalar::undefined(width),
    }
}

/// OpUCountTrailingZerosINTEL.
pub(super) fn trailing_zeros(width: u32, a: Scalar) -> Scalar {
    match a.is_defined() {
        true => Scalar::new(u64::from(a.bits.trailing_zeros().min(width))),
        false => Scalar::undefined(width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(function: IntelFunction, width: u32, a: i64, b: i64) -> u64 {
        let component = |value: i64| Scalar::new(value as u64 & mask(width));
        let result = evaluate(function, width, component(a), component(b));
        assert!(result.is_defined());
        result.bits
    }

    #[test]
    fn differences_are_absolute() {
        assert_eq!(on(IntelFunction::AbsISub, 32, i64::from(i32::MIN), i64::from(i32::MAX)), 0xffff_ffff);
        assert_eq!(on(IntelFunction::AbsISub, 32, -3, 4), 7);
        assert_eq!(on(IntelFunction::AbsUSub, 32, 3, 4), 1);
        assert_eq!(on(IntelFunction::AbsUSub, 32, -1, 0), 0xffff_ffff);
        assert_eq!(on(IntelFunction::AbsISub, 64, i64::MIN, i64::MAX), u64::MAX);
    }

    #[test]
    fn sums_and_differences_saturate() {
        assert_eq!(on(IntelFunction::IAddSat, 32, 0x7fff_ffff, 1), 0x7fff_ffff);
        assert_eq!(on(IntelFunction::IAddSat, 32, -0x8000_0000, -1), 0x8000_0000);
        assert_eq!(on(IntelFunction::IAddSat, 32, -5, 3), 0xffff_fffe);
        assert_eq!(on(IntelFunction::UAddSat, 32, -1, 1), 0xffff_ffff);
        assert_eq!(on(IntelFunction::UAddSat, 16, 0xfffe, 1), 0xffff);
        assert_eq!(on(IntelFunction::ISubSat, 32, -0x8000_0000, 1), 0x8000_0000);
        assert_eq!(on(IntelFunction::ISubSat, 8, 127, -1), 127);
        assert_eq!(on(IntelFunction::USubSat, 32, 3, 4), 0);
        assert_eq!(on(IntelFunction::USubSat, 32, 4, 3), 1);
        assert_eq!(on(IntelFunction::UAddSat, 64, -1, 5), u64::MAX);
    }

    #[test]
    fn averages_do_not_overflow() {
        assert_eq!(on(IntelFunction::IAverage, 32, -1, -2), 0xffff_fffe);
        assert_eq!(on(IntelFunction::IAverageRounded, 32, -1, -2), 0xffff_ffff);
        assert_eq!(on(IntelFunction::UAverage, 32, -1, -2), 0xffff_fffe);
        assert_eq!(on(IntelFunction::UAverageRounded, 32, -1, -2), 0xffff_ffff);
        assert_eq!(on(IntelFunction::IAverage, 32, 0x7fff_ffff, 0x7fff_ffff), 0x7fff_ffff);
        assert_eq!(on(IntelFunction::UAverage, 32, 1, 2), 1);
        assert_eq!(on(IntelFunction::UAverageRounded, 32, 1, 2), 2);
    }

    #[test]
    fn products_take_half_of_the_second_operand() {
        assert_eq!(on(IntelFunction::IMul32x16, 32, 3, 0x1_ffff), 0xffff_fffd);
        assert_eq!(on(IntelFunction::UMul32x16, 32, 3, 0x1_ffff), 0x2_fffd);
        assert_eq!(on(IntelFunction::IMul32x16, 32, -2, 5), 0xffff_fff6);
        let high = Scalar { bits: 2, undef: 0xffff_0000 };
        assert_eq!(evaluate(IntelFunction::UMul32x16, 32, Scalar::new(7), high), Scalar::new(14));
        assert_eq!(evaluate(IntelFunction::UAddSat, 32, Scalar::new(7), high), Scalar::undefined(32));
        assert_eq!(evaluate(IntelFunction::IMul32x16, 32, high, Scalar::new(7)), Scalar::undefined(32));
    }

    #[test]
    fn zeros_are_counted_from_both_ends() {
        for (value, leading, trailing) in
            [(0, 32, 32), (1, 31, 0), (0x8000_0000, 0, 31), (0x0010_0000, 11, 20)]
        {
            assert_eq!(leading_zeros(32, Scalar::new(value)), Scalar::new(leading));
            assert_eq!(trailing_zeros(32, Scalar::new(value)), Scalar::new(trailing));
        }
        assert_eq!(leading_zeros(32, Scalar::undefined(1)), Scalar::undefined(32));
    }
}
