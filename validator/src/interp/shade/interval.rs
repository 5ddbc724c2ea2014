//! Intervals of real numbers that a float may be, and how the environment's table of precisions
//! ("Precision of Individual Operations") widens them. All ends are computed with 64 bits, outwards.
//!
//! Every interval encloses the value that exact arithmetic would give, so that two expressions which
//! are equal in real algebra have intervals that meet, however an implementation rearranges them.

use crate::interp::inexact::tame;

/// What a float may be; a NaN or an infinity is only in [`Interval::ANY`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Nothing is known.
    pub const ANY: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Exactly this number.
    pub fn point(value: f64) -> Self {
        if value.is_finite() {
            Interval { low: value, high: value }
        } else {
            Interval::ANY
        }
    }

    /// Between two numbers, as they are.
    pub fn between(low: f64, high: f64) -> Self {
        if low.is_finite() && high.is_finite() {
            Interval { low: low.min(high), high: low.max(high) }
        } else {
            Interval::ANY
        }
    }

    /// Between two computed numbers, which are rounded themselves.
    fn outward(low: f64, high: f64) -> Self {
        let slack = |end: f64| end.abs() * f64::EPSILON + f64::from_bits(1);
        Interval::between(low - slack(low), high + slack(high))
    }

    /// Whether it is exactly zero.
    pub fn is_zero(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }

    /// Whether nothing is known.
    pub fn is_any(self) -> bool {
        self == Interval::ANY
    }

    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn is_disjoint(self, other: Interval) -> bool {
        self.high < other.low || other.high < self.low
    }

    /// The least interval around both.
    pub fn hull(self, other: Interval) -> Self {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The greatest magnitude.
    pub fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    pub fn widen(self, by: f64) -> Self {
        Interval::outward(self.low - by, self.high + by)
    }

    /// What a float of 32 bits may be that is decorated RelaxedPrecision.
    pub fn relaxed(self) -> Self {
        Permitted::relaxed(self)
    }

    pub fn negate(self) -> Self {
        Interval { low: -self.high, high: -self.low }
    }

    pub fn plus(self, other: Interval) -> Self {
        if self.is_any() || other.is_any() {
            return Interval::ANY;
        }
        Interval::outward(self.low + other.low, self.high + other.high)
    }

    pub fn multiply(self, other: Interval) -> Self {
        self.ends(other, |a, b| a * b)
    }

    /// The quotient, of which nothing is known where the divisor may be zero.
    pub fn divide(self, other: Interval) -> Self {
        if other.contains(0.0) {
            return Interval::ANY;
        }
        self.ends(other, |a, b| a / b)
    }

    fn ends(self, other: Interval, operation: impl Fn(f64, f64) -> f64) -> Self {
        if self.is_any() || other.is_any() {
            return Interval::ANY;
        }
        let ends = [
            operation(self.low, other.low),
            operation(self.low, other.high),
            operation(self.high, other.low),
            operation(self.high, other.high),
        ];
        let low = ends.into_iter().fold(f64::INFINITY, f64::min);
        let high = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Interval::outward(low, high)
    }

    /// The image under a function that never falls, or never rises.
    pub fn monotone(self, function: impl Fn(f64) -> f64) -> Self {
        if self.is_any() {
            return Interval::ANY;
        }
        let (a, b) = (function(self.low), function(self.high));
        if a.is_nan() || b.is_nan() {
            return Interval::ANY;
        }
        Interval::outward(a.min(b), a.max(b))
    }

    /// As [`Interval::monotone`], for a function that rounds nothing.
    pub fn exactly_monotone(self, function: impl Fn(f64) -> f64) -> Self {
        if self.is_any() {
            return Interval::ANY;
        }
        Interval::between(function(self.low), function(self.high))
    }
}

/// Bits of a significand, the least exponent of a normal number, and the greatest number.
const fn format(width: u8) -> (i32, i32, f64) {
    match width {
        16 => (11, -14, 65_504.0),
        32 => (24, -126, f32::MAX as f64),
        _ => (53, -1022, f64::MAX),
    }
}

/// The least positive normal float of this width.
pub(super) fn least_normal(width: u8) -> f64 {
    let (_, least, _) = format(width);
    libm::scalbn(1.0, least)
}

/// The distance between the floats of this width around a magnitude.
pub fn ulp(width: u8, magnitude: f64) -> f64 {
    let (bits, least, _) = format(width);
    let exponent = ((magnitude.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    libm::scalbn(1.0, exponent - bits + 1)
}

/// Operations of one width, with the errors that they may have.
#[derive(Clone, Copy, Debug)]
pub struct Permitted {
    width: u8,
    /// Operations may be contracted and rearranged with others.
    contracts: bool,
    /// Nothing has an error.
    exact: bool,
    denormals: Denormals,
}

/// What becomes of denormal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denormals {
    Kept,
    Zeros,
    /// One or the other.
    Either,
}

impl Permitted {
    pub const fn new(width: u8, contracts: bool) -> Self {
        Permitted { width, contracts, exact: false, denormals: Denormals::Either }
    }

    pub const fn with_denormals(self, denormals: Denormals) -> Self {
        Permitted { denormals, ..self }
    }

    pub fn width(self) -> u8 {
        self.width
    }

    /// An error that is inherited from a formula: as large to both sides of the exact result as it is to
    /// either side in the formula.
    pub fn inherited(self, formula: impl Fn(Permitted) -> Interval) -> Interval {
        let (exact, result) = (formula(Permitted { exact: true, ..self }), formula(self));
        if exact.is_any() || result.is_any() {
            return Interval::ANY;
        }
        let error = (exact.low - result.low).max(result.high - exact.high).max(0.0);
        self.settle(exact.widen(error).hull(result))
    }

    /// A result that fits the format; denormals may be zeros, and what is too large anything.
    pub fn settle(self, result: Interval) -> Interval {
        let (_, _, greatest) = format(self.width);
        let normal = least_normal(self.width);
        if self.exact {
            return result;
        }
        if result.magnitude() > greatest {
            return Interval::ANY;
        }
        let denormal = result.low < normal && result.high > -normal;
        let wholly = result.magnitude() < normal;
        match self.denormals {
            Denormals::Zeros if wholly => Interval::point(0.0),
            Denormals::Zeros | Denormals::Either if denormal => result.hull(Interval::point(0.0)),
            Denormals::Kept | Denormals::Zeros | Denormals::Either => result,
        }
    }

    /// An operand, whose denormals may be taken for zeros before anything is done with them.
    fn taken(self, operand: Interval) -> Interval {
        self.settle(operand)
    }

    /// A float of 32 bits with the range and precision that RelaxedPrecision leaves to it.
    pub fn relaxed(result: Interval) -> Interval {
        let (_, least, _) = format(16);
        let limit = libm::scalbn(1.0, -least);
        if result.is_any() || result.magnitude() >= limit {
            return Interval::ANY;
        }
        let widened = result.widen(2.0 * ulp(16, result.magnitude()));
        Permitted::new(16, true).settle(widened)
    }

    /// Rounded in either direction.
    pub fn rounded(self, exact: Interval) -> Interval {
        if exact.is_any() || self.exact {
            return exact;
        }
        let (low, high) = (ulp(self.width, exact.low.abs()), ulp(self.width, exact.high.abs()));
        self.settle(Interval::between(exact.low - low, exact.high + high))
    }

    /// With an error of so many units in the last place. Of 64 bits no more is demanded than of 32.
    pub fn with_error(self, exact: Interval, units: f64) -> Interval {
        if exact.is_any() || self.exact {
            return exact;
        }
        self.settle(exact.widen(units * ulp(self.width.min(32), exact.magnitude())))
    }

    /// Two operands that are rounded once more, which moves the result by what their last place is worth.
    fn rearranged(self, result: Interval, a: Interval, b: Interval) -> Interval {
        if self.contracts && !self.exact && !result.is_any() {
            self.settle(result.widen(ulp(self.width, a.magnitude().max(b.magnitude()))))
        } else {
            result
        }
    }

    /// Whether both are numbers that are known, and so small and round that sums and products of a few such are exact in
    /// any order (`is_tame` of single values).
    fn are_tame(self, a: Interval, b: Interval) -> bool {
        let (unit, most) = tame(self.width);
        [a, b]
            .into_iter()
            .all(|it| it.low == it.high && it.low.abs() <= most && (it.low * unit).fract() == 0.0)
    }

    pub fn add(self, a: Interval, b: Interval) -> Interval {
        if self.are_tame(a, b) {
            return Interval::point(a.low + b.low);
        }
        let (a, b) = (self.taken(a), self.taken(b));
        self.rearranged(self.rounded(a.plus(b)), a, b)
    }

    pub fn subtract(self, a: Interval, b: Interval) -> Interval {
        self.add(a, b.negate())
    }

    pub fn multiply(self, a: Interval, b: Interval) -> Interval {
        if self.are_tame(a, b) {
            return Interval::point(a.low * b.low);
        }
        if a.is_zero() && !b.is_any() || b.is_zero() && !a.is_any() {
            return Interval::point(0.0);
        }
        let product = self.rounded(self.taken(a).multiply(self.taken(b)));
        self.rearranged(product, product, product)
    }

    /// 2.5 units, where the divisor is in the range that the table names.
    pub fn divide(self, a: Interval, b: Interval) -> Interval {
        let this = self.with_denormals(Denormals::Either);
        let (_, least, _) = format(self.width.min(32));
        let limit = libm::scalbn(1.0, -least);
        let inside = b.magnitude() <= limit && b.low.abs().min(b.high.abs()) >= 1.0 / limit;
        if !inside {
            return Interval::ANY;
        }
        this.with_error(this.taken(a).divide(b), 2.5)
    }

    /// The sum of products, in any order.
    pub fn dot(self, pairs: &[(Interval, Interval)]) -> Interval {
        let mut sum = Interval::point(0.0);
        let mut magnitudes = 0.0;
        for (a, b) in pairs {
            let product = self.taken(self.taken(*a).multiply(self.taken(*b)));
            if product.is_any() {
                return Interval::ANY;
            }
            magnitudes += product.magnitude();
            sum = sum.plus(product);
        }
        // In another order the sum of some may be too large.
        let (_, _, greatest) = format(self.width);
        if magnitudes > greatest && !self.exact {
            return Interval::ANY;
        }
        let steps = if self.exact { 0.0 } else { 2.0 * pairs.len() as f64 };
        // Sums of some may be denormal, and then zero.
        let normal = least_normal(self.width);
        let flushed = if ulp(self.width, magnitudes) < normal && magnitudes > 0.0 { normal } else { 0.0 };
        self.settle(sum.widen(steps * ulp(self.width, magnitudes).max(flushed)))
    }

    /// The product of several, in any order.
    pub fn product(self, factors: &[Interval]) -> Interval {
        let (_, _, greatest) = format(self.width);
        let (mut product, mut largest, mut least) = (Interval::point(1.0), 1.0, 1.0);
        for factor in factors {
            if factor.is_any() {
                return Interval::ANY;
            }
            product = self.multiply(product, *factor);
            largest *= factor.magnitude().max(1.0);
            let nearest = factor.low.abs().min(factor.high.abs());
            if !factor.contains(0.0) {
                least *= nearest.min(1.0);
            }
        }
        // Others may be multiplied first, and be too large or too small.
        match largest > greatest || least < least_normal(self.width) {
            true => Interval::ANY,
            false => product,
        }
    }

    /// 2 units.
    pub fn inverse_square_root(self, a: Interval) -> Interval {
        let a = self.taken(a);
        if a.low <= 0.0 {
            return Interval::ANY;
        }
        self.with_error(a.monotone(|a| 1.0 / a.sqrt()), 2.0)
    }

    /// One over the inverse square root, of which 2 units may be 4 of the root.
    pub fn square_root(self, a: Interval) -> Interval {
        let a = self.taken(a);
        if a.low < 0.0 {
            return Interval::ANY;
        }
        self.with_error(a.monotone(f64::sqrt), 4.0 + 2.5)
    }

    /// 3 + 2|x| units; 1 + 2|x| of 16 bits.
    pub fn exponential(self, a: Interval, function: impl Fn(f64) -> f64) -> Interval {
        let base = if self.width == 16 { 1.0 } else { 3.0 };
        self.with_error(a.monotone(function), base + 2.0 * a.magnitude())
    }

    /// 3 units; from a half to two an absolute error.
    pub fn logarithm(self, a: Interval, function: impl Fn(f64) -> f64) -> Interval {
        let a = self.taken(a);
        if a.low <= 0.0 {
            return Interval::ANY;
        }
        let image = a.monotone(function);
        let absolute = if self.width == 16 { 1.0 / 128.0 } else { 1.0 / 2_097_152.0 };
        let near_one = a.low <= 2.0 && a.high >= 0.5;
        let widened = if near_one && !self.exact { image.widen(absolute) } else { image };
        self.with_error(widened, 3.0)
    }

    /// Sine and cosine: an absolute error from -π to π, and no bound beyond.
    pub fn wave(self, a: Interval, function: impl Fn(f64) -> f64) -> Interval {
        if a.magnitude() > std::f64::consts::PI {
            return Interval::ANY;
        }
        let error = if self.width == 16 { 1.0 / 128.0 } else { 1.0 / 2048.0 };
        let (middle, reach) = ((a.low + a.high) / 2.0, (a.high - a.low) / 2.0);
        let widened = if self.exact { reach } else { reach + error };
        self.settle(Interval::point(function(middle)).widen(widened))
    }

    /// 4096 units; 5 of 16 bits.
    pub fn arc_tangent(self, y: Interval, x: Interval) -> Interval {
        let units = if self.width == 16 { 5.0 } else { 4096.0 };
        // The angle jumps left of the origin, and there is none at it.
        if y.is_any() || x.is_any() || x.low <= 0.0 && y.contains(0.0) {
            return Interval::ANY;
        }
        self.with_error(y.ends(x, libm::atan2), units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINGLE: Permitted = Permitted::new(32, false);
    const FREE: Permitted = Permitted::new(32, true);

    fn point(value: f32) -> Interval {
        Interval::point(f64::from(value))
    }

    #[test]
    fn zeros_multiply_exactly() {
        let zero = Interval::point(0.0);
        assert!(FREE.multiply(point(0.1), zero).is_zero() && FREE.multiply(zero, point(0.1)).is_zero());
        assert!(FREE.multiply(Interval::ANY, zero).is_any());
        assert!(!FREE.multiply(point(0.1), Interval::between(0.0, 0.1)).is_zero());
    }

    #[test]
    fn units_in_the_last_place() {
        assert_eq!(ulp(32, 1.0), f64::from(f32::EPSILON));
        assert_eq!(ulp(32, 0.999), f64::from(f32::EPSILON) / 2.0);
        assert_eq!(ulp(32, 0.0), f64::from(f32::from_bits(1)));
        assert_eq!(ulp(16, 1024.0), 1.0);
        assert_eq!(ulp(64, 1.0), f64::EPSILON);
    }

    #[test]
    fn a_sum_is_rounded_either_way_and_no_further() {
        let sum = SINGLE.add(point(0.1), point(0.2));
        let nearest = 0.1_f32 + 0.2_f32;
        for near in [nearest, f32::from_bits(nearest.to_bits() - 1), f32::from_bits(nearest.to_bits() + 1)] {
            let permitted =
                (f64::from(near) - (f64::from(0.1_f32) + f64::from(0.2_f32))).abs() < ulp(32, 0.3);
            assert!(!permitted || sum.contains(f64::from(near)), "{near}");
        }
        assert!(!sum.contains(f64::from(nearest) + 4.0 * ulp(32, 0.3)));
    }

    #[test]
    fn what_may_be_rearranged_encloses_every_order() {
        // (1e8 + 1) - 1e8 is 0 as written, and 1.
        let sum = FREE.add(FREE.add(point(1e8), point(1.0)), point(-1e8));
        assert!(sum.contains(0.0) && sum.contains(1.0));
        assert!(!sum.contains(100.0));
        // (1e8 - 1e8) + 1 is 1 as written, and 0.
        let sum = FREE.add(FREE.subtract(point(1e8), point(1e8)), point(1.0));
        assert!(sum.contains(0.0) && sum.contains(1.0));
        let strict = SINGLE.add(SINGLE.subtract(point(1e8), point(1e8)), point(1.0));
        assert!(!strict.contains(0.0));
    }

    #[test]
    fn small_round_numbers_are_exact_in_any_order() {
        assert_eq!(FREE.subtract(point(1.0), point(1.0)), Interval::point(0.0));
        assert_eq!(FREE.multiply(point(1.5), point(-3.0)), Interval::point(-4.5));
        for other in [point(0.1), point(1000.0), Interval::between(0.0, 1.0)] {
            let [sum, product] = [FREE.add(point(1.0), other), FREE.multiply(point(3.0), other)];
            assert!(sum.low < sum.high && product.low < product.high, "{other:?}");
        }
    }

    #[test]
    fn a_quotient_has_an_error_and_a_zero_divisor_none() {
        let third = SINGLE.divide(point(1.0), point(3.0));
        assert!(third.contains(1.0 / 3.0 + 2.0 * ulp(32, 1.0 / 3.0)));
        assert!(!third.contains(1.0 / 3.0 + 4.0 * ulp(32, 1.0 / 3.0)));
        assert!(SINGLE.divide(point(1.0), Interval::between(-1.0, 1.0)).is_any());
        assert!(SINGLE.divide(point(1.0), point(2.0_f32.powi(-127))).is_any());
    }

    #[test]
    fn denormals_may_be_zeros_and_what_overflows_anything() {
        let tiny = SINGLE.multiply(point(f32::MIN_POSITIVE), point(0.5));
        assert!(tiny.contains(0.0) && tiny.contains(f64::from(f32::MIN_POSITIVE) / 2.0));
        // An operand, too: beside a normal one, or of a large product.
        let beside = SINGLE.add(point(f32::MIN_POSITIVE / 2.0), point(f32::MIN_POSITIVE));
        assert!(beside.contains(f64::from(f32::MIN_POSITIVE)));
        let product = SINGLE.multiply(point(f32::MIN_POSITIVE / 2.0), point(1e10));
        assert!(product.contains(0.0) && product.contains(f64::from(f32::MIN_POSITIVE) / 2.0 * 1e10));
        let kept = SINGLE.with_denormals(Denormals::Kept);
        assert!(!kept.multiply(point(f32::MIN_POSITIVE / 2.0), point(1e10)).contains(0.0));
        let tiny = [(point(f32::MIN_POSITIVE / 2.0), point(1.0)), (point(f32::MIN_POSITIVE), point(1.0))];
        assert!(FREE.dot(&tiny).contains(f64::from(f32::MIN_POSITIVE)));
        assert!(SINGLE.inverse_square_root(point(f32::MIN_POSITIVE / 2.0)).is_any());
        assert!(SINGLE.logarithm(point(f32::MIN_POSITIVE / 2.0), libm::log).is_any());
        assert!(SINGLE.multiply(point(f32::MAX), point(2.0)).is_any());
        assert!(SINGLE.add(Interval::ANY, point(1.0)).is_any());
    }

    #[test]
    fn sums_and_products_of_several_are_those_of_any_order() {
        let sum = |values: &[f32]| {
            FREE.dot(&values.iter().map(|value| (point(*value), point(1.0))).collect::<Vec<_>>())
        };
        // The last two first, and 1 is lost.
        assert!(sum(&[1.0, 1e8, -1e8]).contains(0.0) && sum(&[1.0, 1e8, -1e8]).contains(1.0));
        assert!(!sum(&[1.0, 2.0, 3.0]).contains(6.001));
        // Too large in between.
        assert!(sum(&[3e38, -3e38, 3e38]).is_any());
        let product =
            |values: &[f32]| FREE.product(&values.iter().map(|value| point(*value)).collect::<Vec<_>>());
        assert!(product(&[3.0, 5.0, 7.0]).contains(105.0) && !product(&[3.0, 5.0, 7.0]).contains(105.1));
        assert!(product(&[1e30, 1e-30, 1e30]).is_any() && product(&[1e-30, 1e30, 1e-30]).is_any());
        assert!(FREE.product(&[point(2.0), Interval::ANY]).is_any());
    }

    #[test]
    fn errors_of_functions() {
        let sine = SINGLE.wave(point(1.0), libm::sin);
        assert!(sine.contains(1.0_f64.sin() + 1.0 / 2049.0) && !sine.contains(1.0_f64.sin() + 1.0 / 2000.0));
        assert!(SINGLE.wave(point(4.0), libm::sin).is_any());
        let log = SINGLE.logarithm(point(1.0), libm::log2);
        assert!(log.contains(2.0_f64.powi(-22)) && !log.contains(2.0_f64.powi(-20)));
        assert!(SINGLE.logarithm(point(0.0), libm::log2).is_any());
        let power = SINGLE.exponential(point(10.0), libm::exp2);
        assert!(power.contains(1024.0 + 20.0 * ulp(32, 1024.0)));
        assert!(!power.contains(1024.0 + 30.0 * ulp(32, 1024.0)));
        assert!(SINGLE.square_root(point(-1.0)).is_any());
        assert!(SINGLE.arc_tangent(point(0.0), point(-1.0)).is_any());
    }

    #[test]
    fn relaxed_floats_have_the_precision_and_range_of_sixteen_bits() {
        let fine = Permitted::relaxed(Interval::point(1.0 + 1.0 / 4096.0));
        assert!(fine.contains(1.0) && fine.contains(1.0 + 1.0 / 1024.0) && !fine.contains(1.01));
        assert!(Permitted::relaxed(Interval::point(16_384.0)).is_any());
        assert!(!Permitted::relaxed(Interval::point(16_000.0)).is_any());
        assert!(Permitted::relaxed(Interval::point(1.0 / 32_768.0)).contains(0.0));
        assert!(Permitted::relaxed(Interval::ANY).is_any());
    }

    #[test]
    fn sets() {
        let (a, b) = (Interval::between(1.0, 2.0), Interval::between(2.5, 3.0));
        assert!(a.is_disjoint(b) && b.is_disjoint(a) && !a.is_disjoint(a));
        assert!(!a.is_disjoint(Interval::ANY));
        assert_eq!(a.hull(b), Interval::between(1.0, 3.0));
        assert_eq!(a.negate(), Interval::between(-2.0, -1.0));
        assert!(Interval::point(f64::NAN).is_any());
    }

    /// How far the interval goes beyond the exact result, in its units in the last place.
    fn reach(width: u8, interval: Interval, exact: f64) -> f64 {
        (interval.high - exact) / ulp(width, exact.abs())
    }

    #[test]
    fn errors_are_those_of_the_table_and_no_greater() {
        let half = Permitted::new(16, false);
        for (width, interval, exact, units) in [
            (32, SINGLE.inverse_square_root(point(3.0)), 1.0 / 3.0_f64.sqrt(), 2.0),
            // 4 and 2.5: 2 units of 0.707… may be 4 of 1.414….
            (32, SINGLE.square_root(point(2.0)), 2.0_f64.sqrt(), 6.5),
            (32, SINGLE.divide(point(2.0), point(3.0)), 2.0 / 3.0, 2.5),
            (32, SINGLE.exponential(point(10.0), libm::exp2), 1024.0, 23.0),
            (16, half.exponential(point(3.0), libm::exp2), 8.0, 7.0),
            (32, SINGLE.logarithm(point(8.0), libm::log2), 3.0, 3.0),
            (32, SINGLE.arc_tangent(point(1.0), point(1.0)), std::f64::consts::FRAC_PI_4, 4096.0),
            (16, half.arc_tangent(point(1.0), point(1.0)), std::f64::consts::FRAC_PI_4, 5.0),
            (32, SINGLE.multiply(point(0.1), point(3.0)), f64::from(0.1_f32) * 3.0, 1.0),
            (32, FREE.multiply(point(0.1), point(3.0)), f64::from(0.1_f32) * 3.0, 2.0),
            (32, SINGLE.add(point(1e8), point(1.0)), 100_000_001.0, 1.0),
            (32, FREE.add(point(1e8), point(1.0)), 100_000_001.0, 2.0),
            (32, SINGLE.dot(&[(point(1.0), point(0.5)), (point(1.0), point(0.25))]), 0.75, 4.0),
        ] {
            let found = reach(width, interval, exact);
            assert!((units..units + 0.01).contains(&found), "{exact}: {found} and not {units}");
        }
        // Of 64 bits no more is demanded than of 32.
        let third = Permitted::new(64, false).divide(Interval::point(1.0), Interval::point(3.0));
        assert!(third.contains(1.0 / 3.0 + 2.0 * ulp(32, 1.0 / 3.0)));
        let wave = half.wave(point(1.0), libm::sin);
        let error = wave.high - 1.0_f64.sin();
        assert!((1.0 / 128.0..1.0 / 127.0).contains(&error), "{error}");
        let logarithm = half.logarithm(point(1.0), libm::log2);
        assert!((1.0 / 128.0..1.0 / 126.0).contains(&logarithm.high), "{logarithm:?}");
        assert!(!half.add(point(40_000.0), point(20_000.0)).is_any());
        assert!(half.add(point(40_000.0), point(30_000.0)).is_any());
    }

    #[test]
    fn intervals_of_operands_widen_the_result() {
        let wave = SINGLE.wave(Interval::between(0.5, 1.5), libm::sin);
        assert!(wave.contains(0.5_f64.sin()) && wave.contains(1.5_f64.sin()));
        assert!(SINGLE.inverse_square_root(Interval::between(0.0, 1.0)).is_any());
        assert!(!SINGLE.square_root(Interval::between(0.0, 1.0)).is_any());
        // 0.1 + 0.2 is no double.
        let sum = Interval::point(0.1).plus(Interval::point(0.2));
        assert!(sum.low < 0.1 + 0.2 && 0.1 + 0.2 < sum.high);
    }

    #[test]
    fn an_inherited_error_counts_to_both_sides() {
        let upwards = |rules: Permitted| {
            let quotient = rules.divide(point(1.0), point(1.0));
            Interval::between(1.0, quotient.high)
        };
        let permitted = SINGLE.inherited(upwards);
        let unit = f64::from(f32::EPSILON);
        assert!(permitted.contains(1.0 + 2.5 * unit) && permitted.contains(1.0 - 2.4 * unit));
        assert!(!permitted.contains(1.0 - 3.0 * unit));
        assert!(SINGLE.inherited(|rules| rules.divide(point(1.0), point(0.0))).is_any());
    }
}
