//! Floating-point operations and conversions.

use super::*;
use crate::interp::evaluate::{self, EvaluationError};

const NAN: u64 = 0x7fc0_0000;

fn single(value: f32) -> Scalar {
    Scalar::new(u64::from(value.to_bits()))
}

fn apply(op: BinaryOp, a: f32, b: f32) -> Scalar {
    evaluate::binary(op, 32, single(a), single(b)).unwrap()
}

#[test]
fn arithmetic_rounds_to_nearest_even() {
    assert_eq!(apply(BinaryOp::FAdd, 16_777_216.0, 1.0), single(16_777_216.0));
    assert_eq!(apply(BinaryOp::FAdd, 16_777_216.0, 3.0), single(16_777_220.0));
    assert_eq!(apply(BinaryOp::FSub, 1.0, 0.75), single(0.25));
    assert_eq!(apply(BinaryOp::FMul, f32::MIN_POSITIVE, 0.5), Scalar::new(0x0040_0000));
    assert_eq!(apply(BinaryOp::FDiv, 1.0, 3.0), single(1.0 / 3.0));
    assert_eq!(apply(BinaryOp::FDiv, 1.0, -0.0), single(f32::NEG_INFINITY));
}

#[test]
fn every_nan_is_the_same() {
    let payload = Scalar::new(0xffc1_2345);
    assert_eq!(evaluate::binary(BinaryOp::FAdd, 32, payload, single(1.0)), Ok(Scalar::new(NAN)));
    assert_eq!(apply(BinaryOp::FDiv, 0.0, 0.0), Scalar::new(NAN));
    assert_eq!(apply(BinaryOp::FSub, f32::INFINITY, f32::INFINITY), Scalar::new(NAN));
    // A negation is no arithmetic.
    assert_eq!(evaluate::unary(UnaryOp::FNegate, 32, payload), Ok(Scalar::new(0x7fc1_2345)));
}

#[test]
fn remainders_follow_dividend_or_divisor() {
    assert_eq!(apply(BinaryOp::FRem, -5.5, 2.0), single(-1.5));
    assert_eq!(apply(BinaryOp::FRem, 5.5, -2.0), single(1.5));
    assert_eq!(apply(BinaryOp::FMod, -5.5, 2.0), single(0.5));
    assert_eq!(apply(BinaryOp::FMod, 5.5, -2.0), single(-0.5));
    assert_eq!(apply(BinaryOp::FMod, 4.0, -2.0), single(0.0));
    assert_eq!(apply(BinaryOp::FRem, 1.0, -0.0), Scalar::undefined(32));
    assert_eq!(apply(BinaryOp::FMod, 1.0, 0.0), Scalar::undefined(32));
}

#[test]
fn an_undefined_bit_makes_a_result_undefined() {
    let partly = Scalar { bits: 0x3f80_0000, undef: 1 };
    for op in [BinaryOp::FAdd, BinaryOp::FMul, BinaryOp::FRem, BinaryOp::FDiv] {
        assert_eq!(evaluate::binary(op, 32, partly, single(2.0)), Ok(Scalar::undefined(32)));
    }
    assert_eq!(evaluate::binary(BinaryOp::FOrdEqual, 32, partly, single(2.0)), Ok(Scalar::undefined(1)));
    assert_eq!(evaluate::unary(UnaryOp::IsNan, 32, partly), Ok(Scalar::undefined(1)));
    assert_eq!(evaluate::unary(UnaryOp::SignBitSet, 32, partly), Ok(Scalar::new(0)));
}

/// Results for less, equal, greater and unordered operands.
#[test]
fn comparisons() {
    let table = [
        (BinaryOp::FOrdEqual, [0, 1, 0, 0]),
        (BinaryOp::FUnordEqual, [0, 1, 0, 1]),
        (BinaryOp::FOrdNotEqual, [1, 0, 1, 0]),
        (BinaryOp::FUnordNotEqual, [1, 0, 1, 1]),
        (BinaryOp::FOrdLessThan, [1, 0, 0, 0]),
        (BinaryOp::FUnordLessThan, [1, 0, 0, 1]),
        (BinaryOp::FOrdGreaterThan, [0, 0, 1, 0]),
        (BinaryOp::FUnordGreaterThan, [0, 0, 1, 1]),
        (BinaryOp::FOrdLessThanEqual, [1, 1, 0, 0]),
        (BinaryOp::FUnordLessThanEqual, [1, 1, 0, 1]),
        (BinaryOp::FOrdGreaterThanEqual, [0, 1, 1, 0]),
        (BinaryOp::FUnordGreaterThanEqual, [0, 1, 1, 1]),
        (BinaryOp::LessOrGreater, [1, 0, 1, 0]),
        (BinaryOp::Ordered, [1, 1, 1, 0]),
        (BinaryOp::Unordered, [0, 0, 0, 1]),
    ];
    let operands = [(1.0, 2.0), (0.0, -0.0), (2.0, 1.0), (f32::NAN, 1.0)];
    for (op, expected) in table {
        for ((a, b), expected) in operands.into_iter().zip(expected) {
            assert_eq!(apply(op, a, b), Scalar::new(expected), "{op:?} {a} {b}");
        }
    }
}

/// NaN, infinite, finite, normal, sign bit.
#[test]
fn classification_in_every_width() {
    let table = [
        (32, 0xffc0_0001, [1, 0, 0, 0, 1]),
        (32, 0x7f80_0000, [0, 1, 0, 0, 0]),
        (32, 0x8000_0000, [0, 0, 1, 0, 1]),
        (32, 0x0000_0001, [0, 0, 1, 0, 0]),
        (32, 0x3f80_0000, [0, 0, 1, 1, 0]),
        (16, 0x7c01, [1, 0, 0, 0, 0]),
        (16, 0xfc00, [0, 1, 0, 0, 1]),
        (16, 0x0400, [0, 0, 1, 1, 0]),
        (16, 0x03ff, [0, 0, 1, 0, 0]),
        (64, 0x7ff0_0000_0000_0001, [1, 0, 0, 0, 0]),
        (64, 0xfff0_0000_0000_0000, [0, 1, 0, 0, 1]),
        (64, 0x0010_0000_0000_0000, [0, 0, 1, 1, 0]),
    ];
    let ops = [UnaryOp::IsNan, UnaryOp::IsInf, UnaryOp::IsFinite, UnaryOp::IsNormal, UnaryOp::SignBitSet];
    for (width, bits, expected) in table {
        for (op, expected) in ops.into_iter().zip(expected) {
            let result = evaluate::unary(op, width, Scalar::new(bits));
            assert_eq!(result, Ok(Scalar::new(expected)), "{op:?} {bits:#x}");
        }
    }
}

#[test]
fn other_widths() {
    let half = |op, a: u64, b: u64| evaluate::binary(op, 16, Scalar::new(a), Scalar::new(b)).unwrap().bits;
    assert_eq!(half(BinaryOp::FAdd, 0x3c00, 0x3c00), 0x4000);
    // 2048 + 1 is a tie, and rounds to the even 2048.
    assert_eq!(half(BinaryOp::FAdd, 0x6800, 0x3c00), 0x6800);
    assert_eq!(half(BinaryOp::FMul, 0x7bff, 0x4000), 0x7c00);
    assert_eq!(half(BinaryOp::FDiv, 0, 0), 0x7e00);
    // -5.5 and 2
    assert_eq!(half(BinaryOp::FRem, 0xc580, 0x4000), 0xbe00);
    assert_eq!(half(BinaryOp::FMod, 0xc580, 0x4000), 0x3800);
    let tenth = Scalar::new(0.1_f64.to_bits());
    let sum = evaluate::binary(BinaryOp::FAdd, 64, tenth, Scalar::new(0.2_f64.to_bits()));
    assert_eq!(sum, Ok(Scalar::new((0.1_f64 + 0.2).to_bits())));
    let unknown = evaluate::binary(BinaryOp::FAdd, 8, Scalar::new(0), Scalar::new(0));
    assert!(matches!(unknown, Err(EvaluationError::Unsupported(_))));
}

#[test]
fn conversions_round_once() {
    let convert = |op, from, to, bits| evaluate::convert(op, from, to, Scalar::new(bits)).unwrap().bits;
    assert_eq!(convert(ConvertOp::ConvertSToF, 32, 32, 0xffff_ffff), u64::from((-1.0_f32).to_bits()));
    assert_eq!(convert(ConvertOp::ConvertUToF, 32, 32, 0xffff_ffff), u64::from(4_294_967_296_f32.to_bits()));
    assert_eq!(convert(ConvertOp::ConvertUToF, 32, 16, 65_519), 0x7bff);
    assert_eq!(convert(ConvertOp::ConvertUToF, 32, 16, 65_520), 0x7c00);
    // A way over 64 bits would round this 64-bit integer twice.
    let integer = (1_u64 << 60) + (1 << 36) + 1;
    let nearest = (1_u64 << 60) + (1 << 37);
    assert_eq!(convert(ConvertOp::ConvertUToF, 64, 32, integer), u64::from((nearest as f32).to_bits()));
    assert_eq!(convert(ConvertOp::FConvert, 32, 16, u64::from(0.1_f32.to_bits())), 0x2e66);
    assert_eq!(convert(ConvertOp::FConvert, 16, 32, 0x0001), u64::from(2_f32.powi(-24).to_bits()));
    // Just above a tie of 16 bits, which 32 bits do not tell from the tie.
    let above_tie = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40);
    assert_eq!(convert(ConvertOp::FConvert, 64, 16, above_tie.to_bits()), 0x3c01);
    assert_eq!(convert(ConvertOp::FConvert, 64, 32, f64::NAN.to_bits()), NAN);
}

#[test]
fn conversions_to_integers() {
    let to_signed = |value: f32| evaluate::convert(ConvertOp::ConvertFToS, 32, 32, single(value));
    let to_unsigned = |value: f32| evaluate::convert(ConvertOp::ConvertFToU, 32, 32, single(value));
    assert_eq!(to_signed(-1.9), Ok(Scalar::new(0xffff_ffff)));
    assert_eq!(to_signed(-2_147_483_648.0), Ok(Scalar::new(0x8000_0000)));
    assert_eq!(to_unsigned(-0.9), Ok(Scalar::new(0)));
    assert_eq!(to_unsigned(4_294_967_040.0), Ok(Scalar::new(0xffff_ff00)));
    let invalid = |result: evaluate::Evaluated| {
        matches!(result, Err(EvaluationError::Undefined { kind: UndefinedKind::InvalidConversion, .. }))
    };
    assert!(invalid(to_signed(2_147_483_648.0)));
    assert!(invalid(to_unsigned(-1.0)));
    assert!(invalid(to_unsigned(f32::INFINITY)));
    assert!(invalid(to_signed(f32::NAN)));
    assert!(invalid(evaluate::convert(ConvertOp::ConvertFToU, 32, 32, Scalar::undefined(32))));
}

#[test]
fn quantization() {
    let quantize = |value: f32| evaluate::unary(UnaryOp::QuantizeToF16, 32, single(value)).unwrap();
    assert_eq!(quantize(0.1), single(0.099_975_586));
    assert_eq!(quantize(65_520.0), single(f32::INFINITY));
    assert_eq!(quantize(-1e9), single(f32::NEG_INFINITY));
    assert_eq!(quantize(-0.0), single(-0.0));
    assert_eq!(quantize(f32::NAN), Scalar::new(NAN));
    assert_eq!(quantize(6.1e-5), Scalar { bits: 0, undef: 1 << 31 });
    assert_eq!(quantize(6.103_515_6e-5), single(6.103_515_6e-5));
}

#[test]
fn a_quantized_zero_has_either_sign() {
    let mut builder = Builder::new(1);
    let tiny = builder.constant(single(1e-6));
    builder.body(vec![Op::Unary { op: UnaryOp::QuantizeToF16, width: 32, count: 1, dst: 0, a: tiny }]);
    assert_eq!(builder.every_way(0), [single(0.0), single(-0.0)]);
}

#[test]
fn products_of_vectors_and_matrices() {
    let mut builder = Builder::new(40);
    let floats = |builder: &mut Builder, values: &[f32]| {
        let scalars: Vec<Scalar> = values.iter().map(|value| single(*value)).collect();
        builder.constants(&scalars)
    };
    // Two columns of three rows.
    let matrix = floats(&mut builder, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let three = floats(&mut builder, &[1.0, 10.0, 100.0]);
    let two = floats(&mut builder, &[1.0, 10.0]);
    // Three columns of two rows.
    let wide = floats(&mut builder, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    builder.body(
        [
            MatrixOp::Dot { dst: 0, width: 32, count: 3, a: matrix, b: three },
            MatrixOp::VectorTimesMatrix { dst: 1, width: 32, rows: 3, columns: 2, a: three, b: matrix },
            MatrixOp::MatrixTimesVector { dst: 3, width: 32, rows: 3, columns: 2, a: matrix, b: two },
            MatrixOp::MatrixTimesMatrix {
                dst: 6,
                width: 32,
                rows: 3,
                inner: 2,
                columns: 3,
                a: matrix,
                b: wide,
            },
            MatrixOp::OuterProduct { dst: 15, width: 32, rows: 3, columns: 2, a: three, b: two },
            MatrixOp::Transpose { dst: 21, rows: 3, columns: 2, a: matrix },
            MatrixOp::TimesScalar { dst: 27, width: 32, count: 2, a: two, scalar: two.offset(1) },
        ]
        .map(Op::Matrix)
        .into(),
    );
    let result: Vec<f32> =
        builder.finish().iter().take(29).map(|value| f32::from_bits(value.bits as u32)).collect();
    assert_eq!(result[0], 321.0);
    assert_eq!(result[1..3], [321.0, 654.0]);
    assert_eq!(result[3..6], [41.0, 52.0, 63.0]);
    assert_eq!(result[6..15], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 7.0, 9.0]);
    assert_eq!(result[15..21], [1.0, 10.0, 100.0, 10.0, 100.0, 1000.0]);
    assert_eq!(result[21..27], [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(result[27..29], [10.0, 100.0]);
}

#[test]
fn sums_run_in_order_and_are_not_fused() {
    let mut builder = Builder::new(1);
    let a = [1e8, 1.0, -1e8].map(single);
    let a = builder.constants(&a);
    let b = builder.constants(&[1.0, 1.0, 1.0].map(single));
    builder.body(vec![Op::Matrix(MatrixOp::Dot { dst: 0, width: 32, count: 3, a, b })]);
    assert_eq!(builder.finish()[0], single(0.0));
}
