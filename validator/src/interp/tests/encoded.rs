//! bfloat16 and the 8-bit formats.

use super::*;
use crate::interp::encoded::{decode, encode};
use crate::interp::evaluate::{encoded_convert, EvaluationError};
use FloatEncoding::{BFloat16, Float8E4M3, Float8E5M2};
use NumberFormat::{Encoded, Float, Signed, Unsigned};

const ENCODINGS: [FloatEncoding; 3] = [BFloat16, Float8E4M3, Float8E5M2];

fn power(exponent: i32) -> f64 {
    2.0_f64.powi(exponent)
}

#[test]
fn values_of_encodings() {
    let infinity = f64::INFINITY;
    for (encoding, bits, value) in [
        (BFloat16, 0x3f80, 1.0),
        (BFloat16, 0x8000, -0.0),
        (BFloat16, 0x0001, power(-133)),
        (BFloat16, 0x0080, power(-126)),
        (BFloat16, 0xff7f, -255.0 * power(120)),
        (BFloat16, 0xff80, -infinity),
        (Float8E4M3, 0x38, 1.0),
        (Float8E4M3, 0x80, -0.0),
        (Float8E4M3, 0x07, 7.0 * power(-9)),
        (Float8E4M3, 0x08, power(-6)),
        (Float8E4M3, 0xfe, -448.0),
        (Float8E5M2, 0x3c, 1.0),
        (Float8E5M2, 0x01, power(-16)),
        (Float8E5M2, 0x7b, 57_344.0),
        (Float8E5M2, 0x7c, infinity),
    ] {
        assert_eq!(decode(encoding, bits).to_bits(), value.to_bits(), "{encoding:?} {bits:#x}");
    }
    for (encoding, bits) in
        [(BFloat16, 0x7f81), (BFloat16, 0xffff), (Float8E4M3, 0x7f), (Float8E4M3, 0xff), (Float8E5M2, 0x7d)]
    {
        assert!(decode(encoding, bits).is_nan(), "{encoding:?} {bits:#x}");
    }
}

#[test]
fn every_value_is_its_own_nearest_one() {
    for encoding in ENCODINGS {
        for bits in 0..1 << encoding.width() {
            let value = decode(encoding, bits);
            for saturates in [false, true] {
                // No finite value saturates.
                if !value.is_nan() && (value.is_finite() || !saturates) {
                    assert_eq!(encode(encoding, value, saturates), bits, "{encoding:?} {bits:#x}");
                }
            }
        }
    }
}

#[test]
fn ties_go_to_even_and_what_lies_between_to_the_nearest() {
    for encoding in ENCODINGS {
        let sign = 1 << (encoding.width() - 1);
        for bits in 0..sign - 1 {
            let (low, high) = (decode(encoding, bits), decode(encoding, bits + 1));
            if !high.is_finite() {
                break;
            }
            let middle = (low + high) / 2.0;
            let even = bits + (bits & 1);
            let a_bit = (high - low) / 1024.0;
            assert_eq!(encode(encoding, middle, false), even, "{encoding:?} {bits:#x}");
            assert_eq!(encode(encoding, middle - a_bit, false), bits, "{encoding:?} {bits:#x}");
            assert_eq!(encode(encoding, middle + a_bit, false), bits + 1, "{encoding:?} {bits:#x}");
            assert_eq!(encode(encoding, -middle, false), sign | even, "{encoding:?} {bits:#x}");
        }
    }
}

#[test]
fn what_is_too_large_and_too_small() {
    for (encoding, value, plain, saturated) in [
        // Half way to what would be next: to even, which is the greatest value, or beyond it.
        (Float8E4M3, 464.0, 0x7e, 0x7e),
        (Float8E4M3, 464.1, 0x7f, 0x7e),
        (Float8E4M3, -1e9, 0xff, 0xfe),
        (Float8E4M3, f64::INFINITY, 0x7f, 0x7e),
        (Float8E5M2, 61_439.0, 0x7b, 0x7b),
        (Float8E5M2, 61_440.0, 0x7c, 0x7b),
        (Float8E5M2, f64::NEG_INFINITY, 0xfc, 0xfb),
        (BFloat16, f64::from(f32::MAX), 0x7f80, 0x7f7f),
        (Float8E4M3, power(-10), 0x00, 0x00),
        (Float8E4M3, -power(-30), 0x80, 0x80),
        (BFloat16, 1e-310, 0x0000, 0x0000),
        (Float8E5M2, f64::NAN, 0x7e, 0x7e),
        (Float8E4M3, f64::NAN, 0x7f, 0x7f),
    ] {
        assert_eq!(encode(encoding, value, false), plain, "{encoding:?} {value}");
        assert_eq!(encode(encoding, value, true), saturated, "{encoding:?} {value}");
    }
}

fn converted(from: NumberFormat, to: NumberFormat, bits: u64) -> u64 {
    encoded_convert(from, to, false, Scalar::new(bits)).unwrap().bits
}

#[test]
fn conversions_from_and_to_other_numbers() {
    assert_eq!(converted(Float(32), Encoded(BFloat16), u64::from(1.5_f32.to_bits())), 0x3fc0);
    assert_eq!(converted(Float(16), Encoded(Float8E5M2), 0x3c00), 0x3c);
    assert_eq!(converted(Float(64), Encoded(BFloat16), (-2.0_f64).to_bits()), 0xc000);
    assert_eq!(converted(Encoded(BFloat16), Float(32), 0x0001), 0x0001_0000);
    assert_eq!(converted(Encoded(BFloat16), Float(16), 0x7f7f), 0x7c00);
    assert_eq!(converted(Encoded(Float8E5M2), Encoded(Float8E4M3), 0x7b), 0x7f);
    assert_eq!(converted(Signed(32), Encoded(BFloat16), 0xffff_fffd), 0xc040);
    assert_eq!(converted(Unsigned(8), Encoded(Float8E4M3), 0xff), 0x78);
    assert_eq!(converted(Encoded(BFloat16), Signed(8), 0xbfe0), 0xff);
    // A tie, and just above one: a way over 64-bit floats would not tell them apart.
    assert_eq!(converted(Unsigned(64), Encoded(BFloat16), (1 << 60) + (1 << 52)), 0x5d80);
    assert_eq!(converted(Unsigned(64), Encoded(BFloat16), (1 << 60) + (1 << 52) + 1), 0x5d81);
    let invalid = |from, to, value| {
        let result = encoded_convert(from, to, false, value);
        matches!(result, Err(EvaluationError::Undefined { kind: UndefinedKind::InvalidConversion, .. }))
    };
    assert!(invalid(Encoded(BFloat16), Unsigned(32), Scalar::new(0xbf80)));
    assert!(invalid(Encoded(Float8E4M3), Signed(32), Scalar::new(0x7f)));
    assert!(invalid(Encoded(BFloat16), Signed(32), Scalar::undefined(16)));
    let partly = Scalar { bits: 0x3f80, undef: 1 };
    assert_eq!(encoded_convert(Encoded(BFloat16), Float(32), false, partly), Ok(Scalar::undefined(32)));
}

fn run(op: EncodedOp, constants: &[u64]) -> (u64, bool) {
    let mut builder = Builder::new(8);
    builder.program.constants = constants.iter().map(|bits| Scalar::new(*bits)).collect();
    builder.body(vec![Op::Encoded(op)]);
    let (mut invocation, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::Finished | Stop::Fault(_)), "{stop:?}");
    (invocation.registers[0].bits, !invocation.take_inexact().is_empty())
}

#[test]
fn conversions_are_open_where_they_round_or_meet_special_values() {
    let open = |from, to, bits| {
        let a = Operand::constant(0);
        run(EncodedOp::Convert { from, to, saturates: false, count: 1, dst: 0, a }, &[bits]).1
    };
    let single = |value: f32| u64::from(value.to_bits());
    assert!(!open(Float(32), Encoded(BFloat16), single(1.5)));
    assert!(open(Float(32), Encoded(BFloat16), single(0.1)));
    assert!(open(Float(32), Encoded(BFloat16), single(-0.0)));
    assert!(open(Float(32), Encoded(Float8E4M3), single(1000.0)));
    assert!(open(Encoded(Float8E4M3), Float(32), 0x01));
    assert!(!open(Encoded(Float8E4M3), Float(32), 0x38));
    assert!(!open(Encoded(BFloat16), Signed(32), 0x3fe0));
    assert!(!open(Signed(32), Encoded(BFloat16), 255));
    assert!(open(Signed(32), Encoded(BFloat16), 257));
    // Infinities and NaNs, before a conversion to an integer fails; but no least normal value.
    assert!(open(Encoded(Float8E5M2), Float(32), 0x7c));
    assert!(open(Encoded(Float8E5M2), Signed(32), 0x7e));
    assert!(!open(Encoded(Float8E4M3), Float(32), 0x08));
    assert!(!open(Float(16), Encoded(BFloat16), 0x0400));
}

#[test]
fn dot_products_are_rounded_once() {
    let dot = |values: &[u64]| {
        let (a, b) = (Operand::constant(0), Operand::constant(2));
        run(EncodedOp::Dot { encoding: BFloat16, count: 2, dst: 0, a, b }, values)
    };
    // 1.5 × 2 + 2 × 0.5
    assert_eq!(dot(&[0x3fc0, 0x4000, 0x4000, 0x3f00]), (0x4080, true));
    assert_eq!(dot(&[0x3f80, 0x4000, 0x4000, 0x3f80]), (0x4080, false));
    // A zero of either sign; products that are too large for every order; what is not known.
    assert_eq!(dot(&[0x3f80, 0x3f80, 0x3f80, 0xbf80]), (0, true));
    assert_eq!(dot(&[0x4040, 0x3f80, 0x3f80, 0x3f80]), (0x4080, true));
    let (a, b) = (Operand::constant(0), Operand::constant(1));
    let mut builder = Builder::new(8);
    builder.program.constants = vec![Scalar::new(0x3f80), Scalar::undefined(16)];
    builder.body(vec![Op::Encoded(EncodedOp::Dot { encoding: BFloat16, count: 1, dst: 0, a, b })]);
    assert_eq!(builder.finish()[0], Scalar::undefined(16));
    // 256 × 1 + 1 × 1 lies between two values.
    assert_eq!(dot(&[0x4380, 0x3f80, 0x3f80, 0x3f80]), (0x4380, true));
}
