//! The instructions of GLSL.std.450 on floats: intervals by the table of precisions, composed where an
//! instruction inherits its error from a formula.

use super::super::glsl::least_exponent;
use super::computations::Elsewhere;
use super::interval::{Denormals, Interval, Permitted};
use super::{Observer, Shade};
use crate::ir::{
    FloatFunction, FloatFunction2, FloatFunction3, GlslFunction, GlslOp, Inst, Operand, Packing,
    Transcendental, VectorFunction,
};
use crate::value::Scalar;

impl Observer<'_, '_> {
    pub(super) fn glsl(&mut self, inst: &Inst, op: &GlslOp, open: bool) {
        let GlslOp { width, count, dst, .. } = *op;
        let rules = self.permitted(inst, width).with_denormals(Denormals::Either);
        match op.function {
            GlslFunction::Float(function, a) => {
                self.each(inst, width, count, dst, [a], open, |[a]| one(rules, function, a));
            }
            GlslFunction::Transcendental(function, a) => {
                self.each(inst, width, count, dst, [a], open, |[a]| transcendental(rules, function, a));
            }
            GlslFunction::Float2(function, operands) => {
                self.each(inst, width, count, dst, operands, open, |operands| two(rules, function, operands));
            }
            GlslFunction::Float3(function, operands) => {
                self.each(inst, width, count, dst, operands, open, |operands| {
                    three(rules, function, operands)
                });
            }
            GlslFunction::Vector(function) => self.vector(inst, rules, function, (dst, count), open),
            GlslFunction::Ldexp { significand, exponent, exponent_width } => {
                for i in 0..count {
                    let (significand, exponent) = (significand.offset(i), exponent.offset(i));
                    let power = super::super::arithmetic::sign_extend(
                        self.value(exponent).bits,
                        u32::from(exponent_width),
                    );
                    let scale = |a: f64| libm::scalbn(a, power.clamp(-4096, 4096) as i32);
                    let shaded = self.shade(significand).is_some() || open;
                    let values = [self.value(significand), self.value(exponent)];
                    let elsewhere = self.elsewhere(inst, inst.opcode, width, &values);
                    let shade = if self.shade(exponent).is_some() {
                        Some(Interval::ANY)
                    } else if shaded {
                        let scaled = rules.rounded(self.interval(width, significand).monotone(scale));
                        let flushes = power < least_exponent(width);
                        let result = if flushes { scaled.hull(Interval::point(0.0)) } else { scaled };
                        self.around(width, dst + i, result)
                    } else {
                        None
                    };
                    self.set(dst + i, self.side_by_side_shade(elsewhere, width, dst + i, shade));
                }
            }
            GlslFunction::ModfStruct(a) => {
                for i in 0..count {
                    let elsewhere = self.elsewhere(inst, inst.opcode, width, &[self.value(a.offset(i))]);
                    let shaded = self.shade(a.offset(i)).is_some() || open;
                    let [fraction, whole] = parts(self.interval(width, a.offset(i)));
                    for (register, part) in [(dst + i, fraction), (dst + count + i, whole)] {
                        let shade = if shaded { self.around(width, register, part) } else { None };
                        self.set(register, self.side_by_side_shade(elsewhere, width, register, shade));
                    }
                }
            }
            GlslFunction::Unpack(packing, a) => {
                let unknown = self.shade(a).is_some();
                let elsewhere = self.elsewhere(inst, inst.opcode, width, &[self.value(a)]);
                for i in 0..count {
                    let computed = super::float::number(32, self.value(Operand::register(dst + i)));
                    let shade = match (unknown, packing) {
                        (true, _) => Some(Interval::ANY),
                        // It rounds nothing; denormals may be zeros.
                        (false, Packing::Half2x16) if open => {
                            Some(Permitted::new(16, false).settle(computed))
                        }
                        (false, _) if open => Some(rules.with_error(computed, 2.5)),
                        (false, _) => None,
                    };
                    self.set(dst + i, self.side_by_side_shade(elsewhere, 32, dst + i, shade));
                }
            }
            GlslFunction::Integer(_, a) => self.unknown(inst, dst, count, count, &[a], false),
            GlslFunction::FindBit { value, .. } => self.unknown(inst, dst, count, count, &[value], false),
            GlslFunction::Integer2(_, operands) => self.unknown(inst, dst, count, count, &operands, false),
            GlslFunction::Clamp { operands, .. } => self.unknown(inst, dst, count, count, &operands, false),
            GlslFunction::FrexpStruct { value, .. } => {
                self.unknown(inst, dst, 2 * count, count, &[value], open)
            }
            GlslFunction::Pack(_, a) => self.unknown(inst, dst, 1, count, &[a], open),
            GlslFunction::PackDouble(a) => self.unknown(inst, dst, 1, 2, &[a], open),
            GlslFunction::UnpackDouble(a) => self.unknown(inst, dst, 2, 1, &[a], open),
        }
    }

    /// Results of which nothing is known if an operand is no exact value.
    fn unknown(&mut self, inst: &Inst, dst: u32, results: u32, count: u32, operands: &[Operand], open: bool) {
        let components = operands.iter().flat_map(|operand| (0..count).map(|i| operand.offset(i)));
        let values: Vec<Scalar> = components.map(|operand| self.value(operand)).collect();
        let differs = self.elsewhere(inst, inst.opcode, 0, &values) != Elsewhere::Equally;
        let shaded = open || operands.iter().any(|operand| self.is_shaded(*operand, count));
        self.set_all(dst, (0..results).map(|_| (shaded && differs).then_some(Interval::ANY)));
    }

    /// A component-wise function of floats.
    #[allow(clippy::too_many_arguments, reason = "the instruction's own fields")]
    fn each<const N: usize>(
        &mut self,
        inst: &Inst,
        width: u8,
        count: u32,
        dst: u32,
        operands: [Operand; N],
        open: bool,
        function: impl Fn([Interval; N]) -> Interval,
    ) {
        for i in 0..count {
            let operands = operands.map(|operand| operand.offset(i));
            let elsewhere =
                self.elsewhere(inst, inst.opcode, width, &operands.map(|operand| self.value(operand)));
            let shaded = open || operands.iter().any(|operand| self.shade(*operand).is_some());
            let shade = if shaded {
                let interval = function(operands.map(|operand| self.interval(width, operand)));
                self.around(width, dst + i, interval)
            } else {
                None
            };
            self.set(dst + i, self.side_by_side_shade(elsewhere, width, dst + i, shade));
        }
    }

    fn vector(
        &mut self,
        inst: &Inst,
        rules: Permitted,
        function: VectorFunction,
        (dst, count): (u32, u32),
        open: bool,
    ) {
        let operands = GlslFunction::Vector(function);
        let is_matrix = matches!(function, VectorFunction::Determinant(_) | VectorFunction::MatrixInverse(_));
        let length = if is_matrix { count * count } else { count };
        // A scalar beside vectors has no components behind it that were its own.
        let components = |operand: Operand| {
            let scalar = matches!(function, VectorFunction::Refract { eta, .. } if eta == operand);
            (0..if scalar { 1 } else { length }).map(move |i| operand.offset(i))
        };
        let shaded =
            open || operands.operands().flat_map(components).any(|operand| self.shade(operand).is_some());
        let values: Vec<Scalar> =
            operands.operands().flat_map(components).map(|operand| self.value(operand)).collect();
        let elsewhere = self.elsewhere(inst, inst.opcode, rules.width(), &values);
        let vector = |operand: Operand| -> Vec<Interval> {
            (0..count).map(|i| self.interval(rules.width(), operand.offset(i))).collect()
        };
        let results: Vec<Interval> = match function {
            VectorFunction::Length(a) => {
                let a = vector(a);
                vec![rules.inherited(|rules| rules.length(&a))]
            }
            VectorFunction::Distance([a, b]) => {
                let (a, b) = (vector(a), vector(b));
                let distance = |rules: Permitted| {
                    let differences = a.iter().zip(&b).map(|(a, b)| rules.subtract(*a, *b));
                    rules.length(&differences.collect::<Vec<Interval>>())
                };
                vec![rules.inherited(distance)]
            }
            VectorFunction::Cross([a, b]) => {
                let (a, b) = (vector(a), vector(b));
                let minor = |i: usize, j: usize| {
                    rules.inherited(|rules| {
                        rules.subtract(rules.multiply(a[i], b[j]), rules.multiply(a[j], b[i]))
                    })
                };
                vec![minor(1, 2), minor(2, 0), minor(0, 1)]
            }
            VectorFunction::Normalize(a) => {
                let a = vector(a);
                let normalized = |component: Interval| {
                    rules.inherited(|rules| {
                        rules.multiply(component, rules.inverse_square_root(rules.dot(&squares(&a))))
                    })
                };
                a.iter().copied().map(normalized).collect()
            }
            VectorFunction::FaceForward([n, i, reference]) => {
                let pairs: Vec<(Interval, Interval)> = vector(reference).into_iter().zip(vector(i)).collect();
                let facing = rules.dot(&pairs);
                let turned = |component: Interval| match facing {
                    facing if facing.high < 0.0 => component,
                    facing if facing.low >= 0.0 => component.negate(),
                    _ => component.hull(component.negate()),
                };
                vector(n).into_iter().map(turned).collect()
            }
            VectorFunction::Reflect([i, n]) => {
                let (i, n) = (vector(i), vector(n));
                let pairs: Vec<(Interval, Interval)> = n.iter().copied().zip(i.iter().copied()).collect();
                let reflected = |(i, n): (&Interval, &Interval)| {
                    rules.inherited(|rules| {
                        let twice = rules.multiply(Interval::point(2.0), rules.dot(&pairs));
                        rules.subtract(*i, rules.multiply(twice, *n))
                    })
                };
                i.iter().zip(&n).map(reflected).collect()
            }
            // The first has a discontinuity, the others no bound.
            VectorFunction::Refract { .. } | VectorFunction::MatrixInverse(_) => {
                vec![Interval::ANY; length as usize]
            }
            VectorFunction::Determinant(_) => vec![Interval::ANY],
        };
        for (register, interval) in (dst..).zip(results) {
            let shade: Shade = if shaded { self.around(rules.width(), register, interval) } else { None };
            self.set(register, self.side_by_side_shade(elsewhere, rules.width(), register, shade));
        }
    }
}

fn squares(a: &[Interval]) -> Vec<(Interval, Interval)> {
    a.iter().map(|component| (*component, *component)).collect()
}

/// Fraction and whole number.
fn parts(a: Interval) -> [Interval; 2] {
    if a.is_any() {
        return [a, a];
    }
    let whole = a.exactly_monotone(f64::trunc);
    let fraction = if whole.low == whole.high {
        Interval::between(a.low - whole.low, a.high - whole.low)
    } else {
        Interval::between(-1.0, 1.0)
    };
    [fraction, whole]
}

fn one(rules: Permitted, function: FloatFunction, a: Interval) -> Interval {
    let result = match function {
        FloatFunction::Round if !a.is_any() => {
            // Ties go either way.
            Interval::between((a.low - 0.5).ceil(), (a.high + 0.5).floor())
        }
        FloatFunction::Round => a,
        FloatFunction::RoundEven => a.exactly_monotone(f64::round_ties_even),
        FloatFunction::Trunc => a.exactly_monotone(f64::trunc),
        FloatFunction::Floor => a.exactly_monotone(f64::floor),
        FloatFunction::Ceil => a.exactly_monotone(f64::ceil),
        FloatFunction::Sign => a.exactly_monotone(|a| if a == 0.0 { 0.0 } else { a.signum() }),
        FloatFunction::Abs if a.low >= 0.0 => a,
        FloatFunction::Abs if a.high <= 0.0 => a.negate(),
        FloatFunction::Abs if a.is_any() => a,
        FloatFunction::Abs => Interval::between(0.0, a.magnitude()),
        FloatFunction::Fract if a.is_any() => a,
        // What is subtracted from a positive number is exact.
        FloatFunction::Fract if a.low == a.high && a.low >= 0.0 => Interval::point(a.low.fract()),
        FloatFunction::Fract if a.low.floor() == a.high.floor() => {
            return rules.rounded(Interval::between(a.low - a.low.floor(), a.high - a.low.floor()));
        }
        FloatFunction::Fract => Interval::between(0.0, 1.0),
        FloatFunction::Radians => return rules.scale(a, std::f64::consts::PI / 180.0),
        FloatFunction::Degrees => return rules.scale(a, 180.0 / std::f64::consts::PI),
    };
    rules.settle(result)
}

pub(super) fn minimum(a: Interval, b: Interval) -> Interval {
    if a.is_any() || b.is_any() {
        return Interval::ANY;
    }
    Interval::between(a.low.min(b.low), a.high.min(b.high))
}

pub(super) fn maximum(a: Interval, b: Interval) -> Interval {
    minimum(a.negate(), b.negate()).negate()
}

fn two(rules: Permitted, function: FloatFunction2, [a, b]: [Interval; 2]) -> Interval {
    match function {
        FloatFunction2::Min | FloatFunction2::NMin => rules.settle(minimum(a, b)),
        FloatFunction2::Max | FloatFunction2::NMax => rules.settle(maximum(a, b)),
        // What a NaN leaves undefined is more than either.
        FloatFunction2::Step if a.is_any() || b.is_any() => Interval::ANY,
        FloatFunction2::Step if b.high < a.low => Interval::point(0.0),
        FloatFunction2::Step if b.low >= a.high => Interval::point(1.0),
        FloatFunction2::Step => Interval::between(0.0, 1.0),
        FloatFunction2::Atan2 => rules.arc_tangent(a, b),
        FloatFunction2::Pow => rules.inherited(|rules| {
            rules.exponential(rules.multiply(b, rules.logarithm(a, libm::log2)), libm::exp2)
        }),
    }
}

fn three(rules: Permitted, function: FloatFunction3, [a, b, c]: [Interval; 3]) -> Interval {
    match function {
        FloatFunction3::Clamp | FloatFunction3::NClamp => rules.settle(minimum(maximum(a, b), c)),
        FloatFunction3::Mix => rules.inherited(|rules| {
            let rest = rules.subtract(Interval::point(1.0), c);
            rules.add(rules.multiply(a, rest), rules.multiply(b, c))
        }),
        FloatFunction3::Fma => rules.inherited(|rules| rules.add(rules.multiply(a, b), c)),
        FloatFunction3::SmoothStep => rules.inherited(|rules| {
            let share = rules.divide(rules.subtract(c, a), rules.subtract(b, a));
            let share = minimum(maximum(share, Interval::point(0.0)), Interval::point(1.0));
            let curve = |share: f64| {
                let share = Interval::point(share);
                let rest = rules.subtract(Interval::point(3.0), rules.multiply(Interval::point(2.0), share));
                rules.multiply(rules.multiply(share, share), rest)
            };
            if share.is_any() {
                return share;
            }
            // The curve rises.
            curve(share.low).hull(curve(share.high))
        }),
    }
}

fn transcendental(rules: Permitted, function: Transcendental, a: Interval) -> Interval {
    rules.inherited(|rules| formula(rules, function, a))
}

/// As the table of precisions has it.
fn formula(rules: Permitted, function: Transcendental, a: Interval) -> Interval {
    let point = Interval::point;
    let exponential = |a: Interval| rules.exponential(a, libm::exp);
    let logarithm = |a: Interval| rules.logarithm(a, libm::log);
    let square_of = |a: Interval| rules.multiply(a, a);
    match function {
        Transcendental::Sin => rules.wave(a, libm::sin),
        Transcendental::Cos => rules.wave(a, libm::cos),
        Transcendental::Tan => rules.divide(rules.wave(a, libm::sin), rules.wave(a, libm::cos)),
        Transcendental::Asin => {
            rules.arc_tangent(a, rules.square_root(rules.subtract(point(1.0), square_of(a))))
        }
        Transcendental::Acos => {
            rules.arc_tangent(rules.square_root(rules.subtract(point(1.0), square_of(a))), a)
        }
        Transcendental::Atan => rules.arc_tangent(a, point(1.0)),
        Transcendental::Sinh => rules.sinh(a),
        Transcendental::Cosh => rules.cosh(a),
        Transcendental::Tanh => rules.divide(rules.sinh(a), rules.cosh(a)),
        Transcendental::Asinh => {
            logarithm(rules.add(a, rules.square_root(rules.add(square_of(a), point(1.0)))))
        }
        Transcendental::Acosh => {
            logarithm(rules.add(a, rules.square_root(rules.subtract(square_of(a), point(1.0)))))
        }
        Transcendental::Atanh => {
            let quotient = rules.divide(rules.add(point(1.0), a), rules.subtract(point(1.0), a));
            rules.multiply(logarithm(quotient), point(0.5))
        }
        Transcendental::Exp => exponential(a),
        Transcendental::Exp2 => rules.exponential(a, libm::exp2),
        Transcendental::Log => logarithm(a),
        Transcendental::Log2 => rules.logarithm(a, libm::log2),
        Transcendental::Sqrt => rules.square_root(a),
        Transcendental::InverseSqrt => rules.inverse_square_root(a),
    }
}

impl Permitted {
    fn length(self, a: &[Interval]) -> Interval {
        // A sum of squares is not negative, whatever its rounding.
        let sum = self.dot(&squares(a));
        self.square_root(if sum.is_any() { sum } else { maximum(sum, Interval::point(0.0)) })
    }

    /// By a constant that is rounded itself.
    fn scale(self, a: Interval, factor: f64) -> Interval {
        self.inherited(|rules| rules.multiply(a, rules.rounded(Interval::point(factor))))
    }

    fn sinh(self, a: Interval) -> Interval {
        let (up, down) = (self.exponential(a, libm::exp), self.exponential(a.negate(), libm::exp));
        self.multiply(self.subtract(up, down), Interval::point(0.5))
    }

    fn cosh(self, a: Interval) -> Interval {
        let (up, down) = (self.exponential(a, libm::exp), self.exponential(a.negate(), libm::exp));
        self.multiply(self.add(up, down), Interval::point(0.5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Permitted = Permitted::new(32, false);

    fn between(low: f64, high: f64) -> Interval {
        Interval::between(low, high)
    }

    /// Around the result of the function, and no wider than the tolerance.
    fn assert_near(interval: Interval, exact: f64, tolerance: f64, what: &str) {
        let near = exact - tolerance < interval.low && interval.high < exact + tolerance;
        assert!(interval.contains(exact) && near, "{what}: {interval:?} and not {exact}");
    }

    #[test]
    fn every_function_has_its_formula() {
        use Transcendental as T;
        type Row = (T, fn(f64) -> f64, f64);
        let table: [Row; 18] = [
            (T::Sin, f64::sin, 1.0),
            (T::Cos, f64::cos, 1.0),
            (T::Tan, f64::tan, 1.0),
            (T::Asin, f64::asin, 0.5),
            (T::Acos, f64::acos, 0.25),
            (T::Atan, f64::atan, 0.5),
            (T::Sinh, f64::sinh, 1.0),
            (T::Cosh, f64::cosh, 1.0),
            (T::Tanh, f64::tanh, 1.0),
            (T::Asinh, f64::asinh, 2.0),
            (T::Acosh, f64::acosh, 2.0),
            (T::Atanh, f64::atanh, 0.5),
            (T::Exp, f64::exp, 2.0),
            (T::Exp2, f64::exp2, 2.5),
            (T::Log, f64::ln, 5.0),
            (T::Log2, f64::log2, 5.0),
            (T::Sqrt, f64::sqrt, 2.0),
            (T::InverseSqrt, |a| 1.0 / a.sqrt(), 3.0),
        ];
        for (function, exact, at) in table {
            let interval = transcendental(RULES, function, Interval::point(at));
            assert_near(interval, exact(at), 4e-3, &format!("{function:?}"));
        }
        // The errors of sine and cosine add up.
        let tangent = transcendental(RULES, T::Tan, Interval::point(1.0));
        assert!(tangent.contains(1.0_f64.tan() + 4.0 / 2048.0));
        let power = two(RULES, FloatFunction2::Pow, [Interval::point(3.0), Interval::point(2.5)]);
        assert_near(power, 3.0_f64.powf(2.5), 1e-4, "power");
        let angle = two(RULES, FloatFunction2::Atan2, [Interval::point(1.0), Interval::point(-2.0)]);
        assert_near(angle, 1.0_f64.atan2(-2.0), 2e-3, "angle");
    }

    #[test]
    fn rounding_and_selecting_functions_of_intervals() {
        use FloatFunction as F;
        for (function, a, low, high) in [
            (F::Abs, between(-1.0, 2.0), 0.0, 2.0),
            (F::Abs, between(-3.0, -2.0), 2.0, 3.0),
            (F::Abs, between(2.0, 3.0), 2.0, 3.0),
            (F::Fract, between(1.9, 2.1), 0.0, 1.0),
            (F::Round, Interval::point(3.5), 3.0, 4.0),
            (F::Round, between(3.6, 4.4), 4.0, 4.0),
            (F::RoundEven, between(3.5, 4.5), 4.0, 4.0),
            (F::Floor, between(-1.5, 2.5), -2.0, 2.0),
            (F::Ceil, between(-1.5, 2.5), -1.0, 3.0),
            (F::Trunc, between(-1.5, 2.5), -1.0, 2.0),
            (F::Sign, between(-1.5, 2.5), -1.0, 1.0),
        ] {
            assert_eq!(one(RULES, function, a), between(low, high), "{function:?} of {a:?}");
        }
        assert!(one(RULES, F::Fract, Interval::point(0.0)).is_zero());
        let fraction = one(RULES, F::Fract, between(1.25, 1.5));
        assert!(fraction.contains(0.25) && fraction.contains(0.5) && !fraction.contains(0.51));
        use FloatFunction2 as F2;
        for (function, a, b, low, high) in [
            (F2::Step, between(1.0, 2.0), between(1.5, 3.0), 0.0, 1.0),
            (F2::Step, between(1.0, 2.0), between(2.0, 3.0), 1.0, 1.0),
            (F2::Step, between(1.0, 2.0), between(0.5, 0.9), 0.0, 0.0),
            (F2::Min, between(1.0, 4.0), between(2.0, 3.0), 1.0, 3.0),
            (F2::NMax, between(1.0, 4.0), between(2.0, 3.0), 2.0, 4.0),
        ] {
            assert_eq!(two(RULES, function, [a, b]), between(low, high), "{function:?} {a:?} {b:?}");
        }
        assert!(two(RULES, F2::Step, [Interval::point(0.5), Interval::ANY]).is_any());
        let clamped =
            three(RULES, FloatFunction3::Clamp, [between(0.0, 10.0), between(2.0, 2.5), between(3.0, 4.0)]);
        assert_eq!(clamped, between(2.0, 4.0));
        let smooth = [Interval::point(0.0), Interval::point(1.0), between(0.2, 0.8)];
        let smooth = three(RULES, FloatFunction3::SmoothStep, smooth);
        assert!(smooth.contains(0.104) && smooth.contains(0.896) && !smooth.contains(0.9), "{smooth:?}");
        let mixed = [1.0, 3.0, 0.25].map(Interval::point);
        assert_near(three(RULES, FloatFunction3::Mix, mixed), 1.5, 1e-5, "blend");
        assert_near(three(RULES, FloatFunction3::Fma, mixed), 3.25, 1e-5, "sum");
    }

    #[test]
    fn whole_parts_have_the_operands_sign() {
        assert_eq!(parts(Interval::point(-1.5)), [Interval::point(-0.5), Interval::point(-1.0)]);
        assert_eq!(parts(between(1.25, 1.5)), [between(0.25, 0.5), Interval::point(1.0)]);
        assert_eq!(parts(between(1.5, 2.5)), [between(-1.0, 1.0), between(1.0, 2.0)]);
    }
}
