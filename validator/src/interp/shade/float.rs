//! The core instructions on floats.

use super::super::float::to_double;
use rspirv::spirv::Op as Opcode;

use super::computations::{Elsewhere, Following};
use super::interval::{ulp, Denormals, Interval, Permitted};
use super::{Observer, Shade};
use crate::ir::{
    single_results, BinaryKind, BinaryOp, CompositeOp, ConvertOp, FloatBinary, Inst, MemoryOp, Op, Operand,
    UnaryOp,
};
use crate::value::Scalar;

/// What a defined float is; nothing is known of others.
pub(super) fn number(width: u8, value: Scalar) -> Interval {
    if !value.is_defined() {
        return Interval::ANY;
    }
    to_double(width, value.bits).map_or(Interval::ANY, Interval::point)
}

impl Observer<'_, '_> {
    /// What an operand may be: its interval, or the number that it is.
    pub(super) fn interval(&self, width: u8, operand: Operand) -> Interval {
        let interval = self.shade(operand).unwrap_or_else(|| number(width, self.value(operand)));
        if self.relaxed && width == 32 {
            Permitted::relaxed(interval)
        } else {
            interval
        }
    }

    /// Widens what an instruction decorated RelaxedPrecision has given: any move of a float may lose precision, too.
    pub(super) fn relax(&mut self, inst: &Inst) {
        let results = match (&inst.op, single_results(&inst.op)) {
            (_, Some(results)) => Some(results),
            (Op::Memory(MemoryOp::Load { dst, shape, .. }), None) => {
                Some((*dst, self.shape(*shape).leaves.len() as u32))
            }
            (Op::Copy { dst, count, .. } | Op::Select { dst, count, .. }, None) => Some((*dst, *count)),
            (Op::Composite(CompositeOp::Extract { dst, count, .. }), None) => Some((*dst, *count)),
            (Op::Composite(CompositeOp::Shuffle { dst, components, .. }), None) => {
                Some((*dst, components.len() as u32))
            }
            (Op::Composite(CompositeOp::Construct { dst, parts }), None) => {
                Some((*dst, parts.iter().map(|(_, count)| count).sum()))
            }
            (Op::Composite(CompositeOp::ExtractDynamic { dst, .. }), None) => Some((*dst, 1)),
            _ => None,
        };
        let side_by_side = matches!(self.following, Following::SideBySide(_));
        let Some((dst, count)) = results else {
            // Where anything may be decorated, what gives no floats of 32 bits is not.
            if inst.relaxed && !side_by_side {
                self.depend(inst);
            }
            return;
        };
        self.relaxed = false;
        for register in dst..dst + count {
            let value = Operand::register(register);
            // What the other side has, too, has lost as much there.
            let lost = self.shade(value).is_some() || !side_by_side;
            if lost && self.value(value).is_defined() {
                let interval = Permitted::relaxed(self.interval(32, value));
                self.set(register, Some(interval));
            }
        }
    }

    /// The rules for an instruction of this width.
    pub(super) fn permitted(&self, inst: &Inst, width: u8) -> Permitted {
        let modes = self.machine.program.modes.floats;
        let contracts = !inst.no_contraction || modes.fast_math;
        if self.relaxed && width == 32 {
            return Permitted::new(16, contracts);
        }
        let denormals = match (modes.preserves_denormals(width), modes.flushes_denormals(width)) {
            (true, _) => Denormals::Kept,
            (false, true) => Denormals::Zeros,
            (false, false) => Denormals::Either,
        };
        Permitted::new(width, contracts).with_denormals(denormals)
    }

    /// The interval of a float result, around what was computed; `None` where that is undefined.
    pub(super) fn around(&self, width: u8, register: u32, interval: Interval) -> Shade {
        let computed = self.value(Operand::register(register));
        computed.is_defined().then(|| interval.hull(number(width, computed)))
    }

    pub(super) fn unary(
        &mut self,
        inst: &Inst,
        op: UnaryOp,
        width: u8,
        a: Operand,
        dst: u32,
        open: bool,
    ) -> Shade {
        let shade = self.shade(a);
        let elsewhere = self.elsewhere(inst, inst.opcode, width, &[self.value(a)]);
        if shade.is_none() && !open || elsewhere == Elsewhere::Equally {
            return None;
        }
        let interval = self.interval(width, a);
        match op {
            UnaryOp::FNegate => self.around(width, dst, interval.negate()),
            UnaryOp::QuantizeToF16 => {
                let rounded = Permitted::new(16, false).rounded(interval);
                self.around(width, dst, rounded)
            }
            // None of the numbers in a bounded interval is special.
            UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite if !open && !interval.is_any() => None,
            UnaryOp::SignBitSet if !open && (interval.low > 0.0 || interval.high < 0.0) => None,
            UnaryOp::IsNan
            | UnaryOp::IsInf
            | UnaryOp::IsFinite
            | UnaryOp::IsNormal
            | UnaryOp::SignBitSet
            | UnaryOp::SNegate
            | UnaryOp::Not
            | UnaryOp::LogicalNot
            | UnaryOp::BitReverse
            | UnaryOp::BitCount
            | UnaryOp::CountLeadingZeros
            | UnaryOp::CountTrailingZeros => Some(Interval::ANY),
        }
    }

    pub(super) fn binary(
        &mut self,
        inst: &Inst,
        op: BinaryOp,
        width: u8,
        [a, b]: [Operand; 2],
        dst: u32,
        open: bool,
    ) -> Shade {
        let shaded = self.shade(a).is_some() || self.shade(b).is_some();
        let elsewhere = self.binary_elsewhere(inst, op, width, [a, b]);
        let compares = matches!(op.kind(), BinaryKind::Float(FloatBinary::Compare | FloatBinary::Order));
        if !shaded && !open || elsewhere == Elsewhere::Equally && compares {
            return None;
        }
        let rules = self.permitted(inst, width);
        let (x, y) = (self.interval(width, a), self.interval(width, b));
        let order = compare(x, y).filter(|_| !open);
        let float = |observer: &Self, interval| {
            observer.side_by_side_shade(elsewhere, width, dst, observer.around(width, dst, interval))
        };
        let decided = |decided: Option<bool>| match decided {
            Some(_) => None,
            None => Some(Interval::ANY),
        };
        match op.kind() {
            BinaryKind::Float(FloatBinary::Add) => float(self, rules.add(x, y)),
            BinaryKind::Float(FloatBinary::Subtract) => float(self, rules.subtract(x, y)),
            BinaryKind::Float(FloatBinary::Multiply) => float(self, rules.multiply(x, y)),
            BinaryKind::Float(FloatBinary::Divide) => float(self, rules.divide(x, y)),
            BinaryKind::Float(FloatBinary::Remainder) => {
                float(self, remainder(rules, x, y, f64::trunc, |x, y| x % y))
            }
            BinaryKind::Float(FloatBinary::Modulo) => float(self, remainder(rules, x, y, f64::floor, modulo)),
            BinaryKind::Float(FloatBinary::Compare) => decided(order),
            BinaryKind::Float(FloatBinary::Order) => {
                decided((!open && !x.is_any() && !y.is_any()).then_some(true))
            }
            BinaryKind::IntegerDivision => {
                // By what may be zero it is a fault for some values.
                self.depend(inst);
                Some(Interval::ANY)
            }
            BinaryKind::Other => Some(Interval::ANY),
        }
    }

    /// Whether the other side computes it, too: sums and products of two have them in any order.
    fn binary_elsewhere(
        &mut self,
        inst: &Inst,
        op: BinaryOp,
        width: u8,
        operands: [Operand; 2],
    ) -> Elsewhere {
        let mut values = operands.map(|operand| self.value(operand));
        match op.kind() {
            BinaryKind::Float(FloatBinary::Add | FloatBinary::Multiply) => values.sort_by_key(|it| it.bits),
            BinaryKind::Float(
                FloatBinary::Subtract
                | FloatBinary::Divide
                | FloatBinary::Remainder
                | FloatBinary::Modulo
                | FloatBinary::Compare
                | FloatBinary::Order,
            ) => {}
            // Integers, which are open only where they come of floats that are.
            BinaryKind::IntegerDivision | BinaryKind::Other => return Elsewhere::Never,
        }
        self.elsewhere(inst, inst.opcode, width, &values)
    }

    #[allow(clippy::too_many_arguments, reason = "the operation's own fields")]
    pub(super) fn convert(
        &mut self,
        inst: &Inst,
        op: ConvertOp,
        [from, to]: [u8; 2],
        count: u32,
        dst: u32,
        a: Operand,
        open: bool,
    ) {
        if op == ConvertOp::Bitcast && from != to {
            let total = count * u32::from(from) / u32::from(to);
            let shade = self.is_shaded(a, count).then_some(Interval::ANY);
            self.set_all(dst, (0..total).map(|_| shade));
            return;
        }
        for i in 0..count {
            let operand = a.offset(i);
            let shade = self.shade(operand);
            let elsewhere = self.elsewhere(inst, inst.opcode, from, &[self.value(operand)]);
            let result =
                if shade.is_none() && !open || elsewhere == Elsewhere::Equally && op != ConvertOp::Bitcast {
                    None
                } else {
                    self.converted(inst, op, [from, to], operand, dst + i)
                };
            self.set(dst + i, result);
        }
    }

    fn converted(
        &mut self,
        inst: &Inst,
        op: ConvertOp,
        [from, to]: [u8; 2],
        operand: Operand,
        dst: u32,
    ) -> Shade {
        match op {
            ConvertOp::FConvert => {
                let rounded = Permitted::new(to, false).rounded(self.interval(from, operand));
                self.around(to, dst, rounded)
            }
            ConvertOp::ConvertSToF | ConvertOp::ConvertUToF if self.shade(operand).is_none() => {
                // Rounded either way; a step below the result is as large as one above, or smaller.
                let computed = number(to, self.value(Operand::register(dst)));
                let step = ulp(to, computed.magnitude());
                self.around(to, dst, computed.widen(step))
            }
            ConvertOp::ConvertFToS | ConvertOp::ConvertFToU => {
                let interval = self.interval(from, operand);
                if interval.is_any() || interval.low.trunc() != interval.high.trunc() {
                    self.depend(inst);
                    return Some(Interval::ANY);
                }
                None
            }
            ConvertOp::Bitcast => self.shade(operand),
            ConvertOp::ConvertSToF | ConvertOp::ConvertUToF | ConvertOp::UConvert | ConvertOp::SConvert => {
                Some(Interval::ANY)
            }
        }
    }

    /// The product of two components.
    pub(super) fn product(&mut self, inst: &Inst, width: u8, dst: u32, [a, b]: [Operand; 2], open: bool) {
        let shaded = open || self.shade(a).is_some() || self.shade(b).is_some();
        let mut values = [self.value(a), self.value(b)];
        values.sort_by_key(|it| it.bits);
        let elsewhere = self.elsewhere(inst, Opcode::FMul as u16, width, &values);
        let interval = self.permitted(inst, width).multiply(self.interval(width, a), self.interval(width, b));
        let shade = if shaded { self.around(width, dst, interval) } else { None };
        self.set(dst, self.side_by_side_shade(elsewhere, width, dst, shade));
    }

    /// The sum of products, in any order and with any contraction.
    pub(super) fn dot(
        &mut self,
        inst: &Inst,
        width: u8,
        dst: u32,
        pairs: Vec<(Operand, Operand)>,
        open: bool,
    ) {
        let values: Vec<Scalar> = pairs.iter().flat_map(|(a, b)| [self.value(*a), self.value(*b)]).collect();
        let elsewhere = self.elsewhere(inst, Opcode::Dot as u16, width, &values);
        let shaded = open || pairs.iter().any(|(a, b)| self.shade(*a).is_some() || self.shade(*b).is_some());
        let shade = if shaded {
            let intervals: Vec<(Interval, Interval)> =
                pairs.iter().map(|(a, b)| (self.interval(width, *a), self.interval(width, *b))).collect();
            let rules = Permitted::new(if self.relaxed && width == 32 { 16 } else { width }, true);
            self.around(width, dst, rules.dot(&intervals))
        } else {
            None
        };
        self.set(dst, self.side_by_side_shade(elsewhere, width, dst, shade));
    }
}

/// What is left of a division: the first operand without the second times the whole part of the
/// quotient, which may be on either side of an integer. The error counts to both sides of the exact
/// result, wherever in the interval that lies where the operands are no single numbers.
fn remainder(
    rules: Permitted,
    x: Interval,
    y: Interval,
    whole: impl Fn(f64) -> f64,
    exact: impl Fn(f64, f64) -> f64,
) -> Interval {
    let quotient = rules.divide(x, y).exactly_monotone(whole);
    let left = rules.subtract(x, rules.multiply(y, quotient));
    if left.is_any() {
        return left;
    }
    if x.low == x.high && y.low == y.high {
        let exact = exact(x.low, y.low);
        let error = (exact - left.low).max(left.high - exact);
        return Interval::point(exact).widen(error).hull(left);
    }
    left.widen(left.high - left.low)
}

/// The exact remainder with the divisor's sign.
fn modulo(x: f64, y: f64) -> f64 {
    match x % y {
        left if left != 0.0 && left.is_sign_negative() != y.is_sign_negative() => left + y,
        left => left,
    }
}

/// Whether a comparison of any kind has one answer: all pairs are in the same order.
fn compare(a: Interval, b: Interval) -> Option<bool> {
    let equal = a.low == a.high && b.low == b.high && a.low == b.low;
    (equal || a.is_disjoint(b)).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_have_the_sign_of_either_operand() {
        let rules = Permitted::new(32, false);
        let [a, b] = [-7.5, 2.0].map(Interval::point);
        let truncated = |a, b| remainder(rules, a, b, f64::trunc, |x, y| x % y);
        let floored = |a, b| remainder(rules, a, b, f64::floor, modulo);
        assert!(truncated(a, b).contains(-1.5) && !truncated(a, b).contains(0.5));
        assert!(floored(a, b).contains(0.5) && !floored(a, b).contains(-1.5));
        // A quotient far from a whole number leaves no more than rounding open.
        let clear = [1.5, 1.0].map(Interval::point);
        assert!(
            !truncated(clear[0], clear[1]).contains(0.4999) && !floored(clear[0], clear[1]).contains(0.0)
        );
        // One near it may be on either side of it, and the error on either side of 0: of the exact result's size,
        // and no greater.
        let same = Interval::point(0.3);
        for of_same in [truncated(same, same), floored(same, same)] {
            assert!(of_same.contains(0.3) && of_same.contains(0.0) && of_same.contains(-0.29));
            assert!(!of_same.contains(0.31) && !of_same.contains(-0.31), "{of_same:?}");
        }
        let wide = Interval::between(0.29, 0.31);
        assert!(floored(wide, same).contains(0.31) && floored(wide, same).contains(-0.29));
    }

    #[test]
    fn comparisons_are_decided_by_all_pairs() {
        let interval = Interval::between;
        assert_eq!(compare(interval(1.0, 2.0), interval(2.5, 3.0)), Some(true));
        assert_eq!(compare(interval(1.0, 2.0), interval(2.0, 3.0)), None);
        assert_eq!(compare(Interval::point(2.0), Interval::point(2.0)), Some(true));
        assert_eq!(compare(interval(1.0, 2.0), interval(1.0, 2.0)), None);
    }
}
