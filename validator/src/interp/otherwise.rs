//! Float operations that are computed otherwise than by default: rounded in another direction, with denormals flushed,
//! fused, in 16 bits, or as if there were no NaNs and signs of zeros (see `ir/evaluation.rs`).

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::arithmetic::sign_extend;
use super::evaluate::{self, Evaluated};
use super::float::{double, half, single, to_double, Format, UNKNOWN_WIDTH};
use super::machine::{Machine, Step};
use crate::ir::{
    single_results, BinaryKind, BinaryOp, ConvertOp, Evaluation, FloatBinary, Flushes, Inst, MatrixOp, Op,
    Rounding, Specials, UnaryOp,
};
use crate::value::Scalar;

/// A product of two factors, and whether it is the first operand of the sum that it is fused with.
type Product = (bool, [Scalar; 2]);

impl Machine<'_> {
    /// Runs an instruction as it is to be evaluated.
    #[cold]
    pub(super) fn otherwise(&mut self, inst: &Inst, evaluation: &Evaluation) -> Step {
        let line = inst.line;
        match &inst.op {
            Op::Binary { op, width, count, dst, a, b } => {
                let BinaryKind::Float(kind) = op.kind() else { return self.compute(inst) };
                for i in 0..*count {
                    let operands = [self.value(a.offset(i)), self.value(b.offset(i))];
                    let fused = evaluation.fused.map(|fused| {
                        let [x, y] = fused.factors;
                        let y = if fused.scalar { y } else { y.offset(i) };
                        (fused.first, [self.value(x.offset(i)), self.value(y)])
                    });
                    let result = self.evaluated(binary(evaluation, *op, *width, operands, fused), line)?;
                    self.note_binary(inst, kind, *width, [operands[0], operands[1], result]);
                    let is_number = !matches!(kind, FloatBinary::Compare | FloatBinary::Order);
                    self.finish(inst, evaluation, dst + i, result, is_number.then_some(*width));
                }
            }
            Op::Matrix(MatrixOp::TimesScalar { dst, width, count, a, scalar }) => {
                for i in 0..*count {
                    let operands = [self.value(a.offset(i)), self.value(*scalar)];
                    let result = binary(evaluation, BinaryOp::FMul, *width, operands, None);
                    let result = self.evaluated(result, line)?;
                    self.note_binary(inst, FloatBinary::Multiply, *width, [operands[0], operands[1], result]);
                    self.finish(inst, evaluation, dst + i, result, Some(*width));
                }
            }
            Op::Convert { op, from, to, count, dst, a } => match *op {
                op @ (ConvertOp::FConvert | ConvertOp::ConvertSToF | ConvertOp::ConvertUToF) => {
                    for i in 0..*count {
                        let a = self.value(a.offset(i));
                        self.note_converted(inst, op, *from, a);
                        let result = self.evaluated(convert(evaluation, op, [*from, *to], a), line)?;
                        self.note_conversion(inst, op, [*from, *to], a, result);
                        self.finish(inst, evaluation, dst + i, result, Some(*to));
                    }
                }
                ConvertOp::ConvertFToU
                | ConvertOp::ConvertFToS
                | ConvertOp::UConvert
                | ConvertOp::SConvert
                | ConvertOp::Bitcast => return self.compute(inst),
            },
            Op::Unary { op: UnaryOp::IsNan | UnaryOp::IsInf, count, dst, a, .. }
                if evaluation.specials == Specials::Finite =>
            {
                for i in 0..*count {
                    let defined = self.value(a.offset(i)).is_defined();
                    let result = if defined { Scalar::new(0) } else { Scalar::undefined(1) };
                    self.state.set(dst + i, result);
                }
            }
            _ => {
                self.compute(inst)?;
                if let Some((dst, count)) = single_results(&inst.op) {
                    for register in dst..dst + count {
                        let result = self.state.register(register);
                        self.finish(inst, evaluation, register, result, Some(32));
                    }
                }
            }
        }
        Ok(())
    }

    /// Sets a result: a float of this width in the format, flushed, and with the sign that it is to have.
    fn finish(
        &mut self,
        inst: &Inst,
        evaluation: &Evaluation,
        register: u32,
        result: Scalar,
        width: Option<u8>,
    ) {
        let mut value = result;
        if let Some(width) = width.filter(|_| result.is_defined()) {
            if evaluation.half && width == 32 {
                value = to_half(value);
            }
            if evaluation.flushes != Flushes::None {
                value = flush(width, value);
                if value != result {
                    // Which zero it becomes is open.
                    self.record(inst);
                }
            }
            if evaluation.specials != Specials::Kept && is_zero(width, value) {
                value = Scalar::new(0);
            }
        }
        self.state.set(register, value);
    }
}

/// A binary operation, of which `fused` is the product that is one of the operands.
fn binary(
    evaluation: &Evaluation,
    op: BinaryOp,
    width: u8,
    [a, b]: [Scalar; 2],
    fused: Option<Product>,
) -> Evaluated {
    if !(a.is_defined() && b.is_defined()) {
        return evaluate::binary(op, width, a, b);
    }
    let narrow = evaluation.half && width == 32;
    let operand = |value: Scalar| {
        let value = if narrow && is_rounded_correctly(op) { to_half(value) } else { value };
        if evaluation.flushes == Flushes::All {
            flush(width, value)
        } else {
            value
        }
    };
    let (a, b) = (operand(a), operand(b));
    if evaluation.specials == Specials::Finite {
        let product = op == BinaryOp::FMul && (is_zero(width, a) || is_zero(width, b));
        if product || op == BinaryOp::FSub && a == b {
            return Ok(Scalar::new(0));
        }
    }
    match op {
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul => {
            let round = direction(evaluation.rounding);
            match width {
                16 => {
                    Ok(half(arithmetic(op, [a, b], fused, round, |bits| Half::from_bits(u128::from(bits)))))
                }
                32 => {
                    let result: Single =
                        arithmetic(op, [a, b], fused, round, |bits| Single::from_bits(u128::from(bits)));
                    Ok(single(f32::from_bits(result.to_bits() as u32)))
                }
                64 => {
                    let result: Double =
                        arithmetic(op, [a, b], fused, round, |bits| Double::from_bits(u128::from(bits)));
                    Ok(double(f64::from_bits(result.to_bits() as u64)))
                }
                _ => Err(UNKNOWN_WIDTH),
            }
        }
        other => evaluate::binary(other, width, a, b),
    }
}

/// Whether its result is the exact one of its operands, rounded.
fn is_rounded_correctly(op: BinaryOp) -> bool {
    match op.kind() {
        BinaryKind::Float(
            FloatBinary::Add | FloatBinary::Subtract | FloatBinary::Multiply | FloatBinary::Divide,
        ) => true,
        BinaryKind::Float(
            FloatBinary::Remainder | FloatBinary::Modulo | FloatBinary::Compare | FloatBinary::Order,
        )
        | BinaryKind::IntegerDivision
        | BinaryKind::Other => false,
    }
}

/// A sum, difference or product of one format. A zero has the sign that it has by default: that is no matter of
/// rounding.
fn arithmetic<F: Float>(
    op: BinaryOp,
    operands: [Scalar; 2],
    fused: Option<Product>,
    round: Round,
    float: impl Fn(u64) -> F,
) -> F {
    let result = rounded(op, operands, fused, round, &float);
    if result.is_zero() && round == Round::TowardNegative {
        return rounded(op, operands, fused, Round::NearestTiesToEven, &float);
    }
    result
}

fn rounded<F: Float>(
    op: BinaryOp,
    [a, b]: [Scalar; 2],
    fused: Option<Product>,
    round: Round,
    float: &impl Fn(u64) -> F,
) -> F {
    let (x, y) = (float(a.bits), float(b.bits));
    let negated = op == BinaryOp::FSub;
    if let Some((first, [p, q])) = fused.filter(|(_, factors)| factors.iter().all(|it| it.is_defined())) {
        let (p, q) = (float(p.bits), float(q.bits));
        return match first {
            true => p.mul_add_r(q, if negated { -y } else { y }, round).value,
            false => (if negated { -p } else { p }).mul_add_r(q, x, round).value,
        };
    }
    match op {
        BinaryOp::FMul => x.mul_r(y, round).value,
        _ if negated => x.sub_r(y, round).value,
        _ => x.add_r(y, round).value,
    }
}

/// A conversion to a float.
fn convert(evaluation: &Evaluation, op: ConvertOp, [from, to]: [u8; 2], a: Scalar) -> Evaluated {
    let by_default = evaluation.rounding == Rounding::NearestEven && evaluation.flushes != Flushes::All;
    if by_default || !a.is_defined() {
        return evaluate::convert(op, from, to, a);
    }
    let round = direction(evaluation.rounding);
    // Every integer and every float of the other formats is one of these.
    let integer = match op {
        ConvertOp::ConvertSToF => Some(i128::from(sign_extend(a.bits, u32::from(from)))),
        ConvertOp::ConvertUToF => Some(i128::from(a.bits)),
        _ => None,
    };
    let a = match integer {
        None if evaluation.flushes == Flushes::All => flush(from, a),
        _ => a,
    };
    let wide = Double::from_bits(u128::from(to_double(from.max(16), a.bits).map_or(0, f64::to_bits)));
    match to {
        16 => {
            let value: Half = match integer {
                Some(integer) => Half::from_i128_r(integer, round).value,
                None => wide.convert_r(round, &mut false).value,
            };
            Ok(half(value))
        }
        32 => {
            let value: Single = match integer {
                Some(integer) => Single::from_i128_r(integer, round).value,
                None => wide.convert_r(round, &mut false).value,
            };
            Ok(single(f32::from_bits(value.to_bits() as u32)))
        }
        64 => {
            let value = match integer {
                Some(integer) => Double::from_i128_r(integer, round).value,
                None => wide,
            };
            Ok(double(f64::from_bits(value.to_bits() as u64)))
        }
        _ => Err(UNKNOWN_WIDTH),
    }
}

fn direction(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::TowardZero => Round::TowardZero,
        Rounding::Upward => Round::TowardPositive,
        Rounding::Downward => Round::TowardNegative,
    }
}

/// A float of 32 bits with the range and precision of 16.
fn to_half(value: Scalar) -> Scalar {
    if !value.is_defined() {
        return value;
    }
    let narrow: Half = Single::from_bits(u128::from(value.bits)).convert(&mut false).value;
    let wide: Single = narrow.convert(&mut false).value;
    single(f32::from_bits(wide.to_bits() as u32))
}

/// A zero of the same sign instead of a denormal.
fn flush(width: u8, value: Scalar) -> Scalar {
    match Format::of_width(width) {
        Ok(format) if value.bits & format.exponent == 0 => Scalar { bits: value.bits & format.sign, ..value },
        _ => value,
    }
}

fn is_zero(width: u8, value: Scalar) -> bool {
    Format::of_width(width).is_ok_and(|format| value.is_defined() && value.bits & !format.sign == 0)
}
