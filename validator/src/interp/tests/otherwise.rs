//! Float operations that are computed otherwise than by default.

use super::*;
use crate::ir::{Evaluation, Flushes, Fused, Rounding, Specials};

/// The results of one instruction that is evaluated so.
fn results(evaluation: Evaluation, op: Op, constants: &[u64], count: usize) -> Vec<u64> {
    let mut builder = Builder::new(16);
    builder.program.constants = constants.iter().map(|bits| Scalar::new(*bits)).collect();
    builder.body(vec![op]);
    builder.program.functions[0].code[0].evaluation = Some(Box::new(evaluation));
    builder.finish()[..count].iter().map(|value| value.bits).collect()
}

fn binary(op: BinaryOp, width: u8) -> Op {
    Op::Binary { op, width, count: 1, dst: 0, a: Operand::constant(0), b: Operand::constant(1) }
}

fn singles(evaluation: Evaluation, op: BinaryOp, a: f32, b: f32) -> f32 {
    let bits = [a, b].map(|value| u64::from(value.to_bits()));
    f32::from_bits(results(evaluation, binary(op, 32), &bits, 1)[0] as u32)
}

const BY_DEFAULT: Evaluation = Evaluation {
    rounding: Rounding::NearestEven,
    flushes: Flushes::None,
    specials: Specials::Kept,
    half: false,
    fused: None,
};

fn rounded(rounding: Rounding) -> Evaluation {
    Evaluation { rounding, ..BY_DEFAULT }
}

fn specials(specials: Specials) -> Evaluation {
    Evaluation { specials, ..BY_DEFAULT }
}

fn flushing(flushes: Flushes) -> Evaluation {
    Evaluation { flushes, ..BY_DEFAULT }
}

const HALF: Evaluation = Evaluation { half: true, ..BY_DEFAULT };

#[test]
fn sums_and_products_are_rounded_in_the_direction_that_is_asked_for() {
    let next = f32::from_bits(1.0_f32.to_bits() + 1);
    let tiny = 2.0_f32.powi(-24) * 1.5;
    for (rounding, up, down) in [
        (Rounding::NearestEven, next, -next),
        (Rounding::TowardZero, 1.0, -1.0),
        (Rounding::Upward, next, -1.0),
        (Rounding::Downward, 1.0, -next),
    ] {
        assert_eq!(singles(rounded(rounding), BinaryOp::FAdd, 1.0, tiny), up);
        assert_eq!(singles(rounded(rounding), BinaryOp::FSub, -1.0, tiny), down);
        let product = singles(rounded(rounding), BinaryOp::FMul, next, next);
        let above = f32::from_bits(next.to_bits() + 2);
        assert_eq!(
            product,
            if rounding == Rounding::Upward { above } else { f32::from_bits(next.to_bits() + 1) }
        );
        // The sign of an exact zero has no direction, nor has anything else.
        assert_eq!(singles(rounded(rounding), BinaryOp::FSub, 1.0, 1.0).to_bits(), 0);
        assert_eq!(singles(rounded(rounding), BinaryOp::FDiv, 1.0, 3.0), 1.0 / 3.0);
    }
    // 1 + 2^-12 in 16 bits, and 1 + 2^-53 in 64.
    let halves = |rounding| results(rounded(rounding), binary(BinaryOp::FAdd, 16), &[0x3c00, 0x0c00], 1)[0];
    assert_eq!([Rounding::NearestEven, Rounding::Upward].map(halves), [0x3c00, 0x3c01]);
    let doubles = |rounding| {
        let bits = [1.0_f64, 2.0_f64.powi(-53)].map(f64::to_bits);
        f64::from_bits(results(rounded(rounding), binary(BinaryOp::FAdd, 64), &bits, 1)[0])
    };
    assert_eq!([Rounding::NearestEven, Rounding::Upward].map(doubles), [1.0, 1.0 + f64::EPSILON]);
}

#[test]
fn conversions_are_rounded_in_the_direction_that_is_asked_for() {
    let convert = |op, from, to, bits: u64, rounding| {
        let op = Op::Convert { op, from, to, count: 1, dst: 0, a: Operand::constant(0) };
        results(rounded(rounding), op, &[bits], 1)[0]
    };
    let zero = Rounding::TowardZero;
    let single = |value: f32| u64::from(value.to_bits());
    assert_eq!(convert(ConvertOp::ConvertUToF, 32, 32, 0xffff_ffff, zero), single(4_294_967_040.0));
    assert_eq!(
        convert(ConvertOp::ConvertUToF, 32, 32, 0xffff_ffff, Rounding::NearestEven),
        single(4_294_967_296.0)
    );
    assert_eq!(
        convert(ConvertOp::ConvertSToF, 32, 32, 0x8000_0001, Rounding::Upward),
        single(-2_147_483_500.0)
    );
    assert_eq!(convert(ConvertOp::ConvertSToF, 32, 64, 0xffff_ffff, zero), (-1.0_f64).to_bits());
    // 2049 is no half.
    assert_eq!(convert(ConvertOp::FConvert, 32, 16, single(2049.0), Rounding::Upward), 0x6801);
    assert_eq!(convert(ConvertOp::FConvert, 32, 16, single(2049.0), zero), 0x6800);
    assert_eq!(
        convert(ConvertOp::FConvert, 64, 32, (1.0 + 2.0_f64.powi(-25)).to_bits(), Rounding::Upward),
        { single(f32::from_bits(1.0_f32.to_bits() + 1)) }
    );
    assert_eq!(convert(ConvertOp::FConvert, 16, 32, 0x3c00, zero), single(1.0));
}

#[test]
fn denormals_are_flushed_from_results_or_from_operands_too() {
    let least = f32::MIN_POSITIVE;
    let (result, all) = (flushing(Flushes::Result), flushing(Flushes::All));
    for evaluation in [result, all] {
        assert_eq!(singles(evaluation, BinaryOp::FMul, least, -0.5).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(singles(evaluation, BinaryOp::FMul, least, 1.5), least * 1.5);
    }
    // A denormal operand that a normal result shows.
    assert_eq!(singles(result, BinaryOp::FMul, least / 2.0, 4.0), least * 2.0);
    assert_eq!(singles(all, BinaryOp::FMul, least / 2.0, 4.0), 0.0);
    let greater = |evaluation| {
        let bits = [least / 2.0, 0.0].map(|value| u64::from(value.to_bits()));
        results(evaluation, binary(BinaryOp::FOrdGreaterThan, 32), &bits, 1)[0]
    };
    assert_eq!([result, all].map(greater), [1, 0]);
    let narrow =
        Op::Convert { op: ConvertOp::FConvert, from: 32, to: 16, count: 1, dst: 0, a: Operand::constant(0) };
    assert_eq!(results(result, narrow, &[u64::from(2.0_f32.powi(-20).to_bits())], 1), [0]);
}

#[test]
fn signs_of_zeros_and_numbers_that_are_none_may_be_lost() {
    let (zeros, finite) = (specials(Specials::PositiveZeros), specials(Specials::Finite));
    for evaluation in [zeros, finite] {
        assert_eq!(singles(evaluation, BinaryOp::FMul, -1.0, 0.0).to_bits(), 0);
        assert_eq!(singles(evaluation, BinaryOp::FMul, -1.0, 2.0), -2.0);
    }
    assert!(singles(zeros, BinaryOp::FMul, f32::NAN, 0.0).is_nan());
    assert_eq!(singles(finite, BinaryOp::FMul, f32::NAN, 0.0), 0.0);
    assert_eq!(singles(finite, BinaryOp::FSub, f32::INFINITY, f32::INFINITY), 0.0);
    assert!(singles(finite, BinaryOp::FAdd, f32::NAN, 1.0).is_nan());
    for (op, bits) in [(UnaryOp::IsNan, f32::NAN), (UnaryOp::IsInf, f32::INFINITY)] {
        let op = Op::Unary { op, width: 32, count: 1, dst: 0, a: Operand::constant(0) };
        let found = |evaluation| results(evaluation, op.clone(), &[u64::from(bits.to_bits())], 1)[0];
        assert_eq!([zeros, finite].map(found), [1, 0]);
    }
}

#[test]
fn sixteen_bits_round_operands_and_results() {
    let fine = 1.0 + 2.0_f32.powi(-12);
    assert_eq!(singles(HALF, BinaryOp::FAdd, 1.0, 2.0_f32.powi(-12)), 1.0);
    // The difference would be a half, but an operand is none.
    assert_eq!(singles(HALF, BinaryOp::FSub, fine, 1.0), 0.0);
    assert_eq!(singles(HALF, BinaryOp::FAdd, 60_000.0, 60_000.0), f32::INFINITY);
    assert_eq!(singles(HALF, BinaryOp::FDiv, 1.0, 3.0), 0.333_251_95);
    // Of a remainder the result alone.
    assert_eq!(singles(HALF, BinaryOp::FRem, fine, 1.0), 2.0_f32.powi(-12));
    let sums =
        results(HALF, binary(BinaryOp::FAdd, 64), &[fine, 0.0].map(|value| f64::from(value).to_bits()), 1);
    assert_eq!(f64::from_bits(sums[0]), f64::from(fine));
    let dot = Op::Matrix(MatrixOp::Dot {
        dst: 0,
        width: 32,
        count: 1,
        a: Operand::constant(0),
        b: Operand::constant(1),
    });
    let bits = [fine, 1.0].map(|value| u64::from(value.to_bits()));
    assert_eq!(results(HALF, dot, &bits, 1), [u64::from(1.0_f32.to_bits())]);
}

#[test]
fn a_fused_product_is_not_rounded() {
    let x = 1.0 + 2.0_f32.powi(-12);
    let rounded = x * x;
    let exact = f64::from(x) * f64::from(x);
    assert_ne!(f64::from(rounded), exact);
    let evaluated = |op, first, operands: [f32; 2]| {
        let fused = Fused { first, factors: [Operand::constant(2); 2], scalar: false };
        let constants = [operands[0], operands[1], x].map(|value| u64::from(value.to_bits()));
        let evaluation = Evaluation { fused: Some(fused), ..BY_DEFAULT };
        f32::from_bits(results(evaluation, binary(op, 32), &constants, 1)[0] as u32)
    };
    let error = (exact - f64::from(rounded)) as f32;
    assert_eq!(evaluated(BinaryOp::FAdd, true, [rounded, -rounded]), error);
    assert_eq!(evaluated(BinaryOp::FAdd, false, [-rounded, rounded]), error);
    assert_eq!(evaluated(BinaryOp::FSub, true, [rounded, rounded]), error);
    assert_eq!(evaluated(BinaryOp::FSub, false, [rounded, rounded]), -error);
    // A vector times a scalar: the second factor is the same for all components.
    let fused = Fused { first: true, factors: [Operand::constant(0), Operand::constant(2)], scalar: true };
    let evaluation = Evaluation { fused: Some(fused), ..BY_DEFAULT };
    let constants = [x, 3.0, x, -rounded, 1.0, rounded, 3.0 * x].map(|value| u64::from(value.to_bits()));
    let sums = Op::Binary {
        op: BinaryOp::FAdd,
        width: 32,
        count: 2,
        dst: 0,
        a: Operand::constant(5),
        b: Operand::constant(3),
    };
    let sums: Vec<f32> = results(evaluation, sums, &constants, 2)
        .into_iter()
        .map(|bits| f32::from_bits(bits as u32))
        .collect();
    assert_eq!(sums, [error, 3.0_f32.mul_add(x, 1.0)]);
}
