//! Conversions at the ends of every IEEE format, and matrices of 16 and 64 bits.

use super::*;
use crate::interp::evaluate::{self, EvaluationError};

fn converted(op: ConvertOp, from: u8, to: u8, bits: u64) -> u64 {
    evaluate::convert(op, from, to, Scalar::new(bits)).unwrap().bits
}

#[test]
fn between_floats() {
    let single = |value: f32| u64::from(value.to_bits());
    let narrow = |value: f32| converted(ConvertOp::FConvert, 32, 16, single(value));
    for (value, half) in [
        (0.0, 0x0000),
        (-0.0, 0x8000),
        (65_504.0, 0x7bff),
        (65_519.996, 0x7bff),
        // Half way to what would be next: the even one is infinite.
        (65_520.0, 0x7c00),
        (-f32::MAX, 0xfc00),
        (f32::INFINITY, 0x7c00),
        // The least normal value, the greatest denormal one, the least one.
        (2.0_f32.powi(-14), 0x0400),
        (2.0_f32.powi(-14) - 2.0_f32.powi(-24), 0x03ff),
        (2.0_f32.powi(-24), 0x0001),
        // Half way to zero, and a bit more.
        (2.0_f32.powi(-25), 0x0000),
        (2.0_f32.powi(-25) * 1.000_001, 0x0001),
        (-2.0_f32.powi(-25), 0x8000),
        (f32::MIN_POSITIVE, 0x0000),
        (f32::NAN, 0x7e00),
    ] {
        assert_eq!(narrow(value), half, "{value}");
    }
    let to_single = |value: f64| converted(ConvertOp::FConvert, 64, 32, value.to_bits());
    let beyond = f64::from(f32::MAX) + 2.0_f64.powi(103);
    for (value, bits) in [
        (f64::from(f32::MAX), single(f32::MAX)),
        (beyond, 0x7f80_0000),
        (beyond - 2.0_f64.powi(80), single(f32::MAX)),
        (f64::NEG_INFINITY, 0xff80_0000),
        (2.0_f64.powi(-149), 1),
        (2.0_f64.powi(-150), 0),
        (-2.0_f64.powi(-150) * 1.5, 0x8000_0001),
        (5e-324, 0),
        (1.0 + 2.0_f64.powi(-24), single(1.0)),
        (1.0 + 3.0 * 2.0_f64.powi(-24), single(1.0 + 2.0_f32.powi(-22))),
    ] {
        assert_eq!(to_single(value), bits, "{value}");
    }
    let widen = |half: u64| f64::from_bits(converted(ConvertOp::FConvert, 16, 64, half));
    assert_eq!(widen(0x0001), 2.0_f64.powi(-24));
    assert_eq!(widen(0xfbff), -65_504.0);
    assert_eq!(widen(0xfc00), f64::NEG_INFINITY);
    assert!(widen(0x7c01).is_nan());
    assert_eq!(converted(ConvertOp::FConvert, 32, 64, 1), 2.0_f64.powi(-149).to_bits());
}

#[test]
fn from_integers() {
    let signed = |from, to, bits| converted(ConvertOp::ConvertSToF, from, to, bits);
    assert_eq!(signed(8, 16, 0x80), 0xd800);
    assert_eq!(signed(16, 16, 0x8000), 0xf800);
    assert_eq!(signed(32, 16, 0x7fff_ffff), 0x7c00);
    assert_eq!(signed(64, 64, 1 << 63), (-9_223_372_036_854_775_808.0_f64).to_bits());
    // 2^53 + 1 is a tie, and 2^24 + 3 another one.
    assert_eq!(signed(64, 64, (1 << 53) + 1), 9_007_199_254_740_992.0_f64.to_bits());
    assert_eq!(signed(32, 32, (1 << 24) + 3), u64::from(16_777_220.0_f32.to_bits()));
    assert_eq!(converted(ConvertOp::ConvertUToF, 64, 32, u64::MAX), 0x5f80_0000);
    assert_eq!(converted(ConvertOp::ConvertUToF, 16, 32, 0), 0);
}

#[test]
fn to_integers() {
    let convert = |op, from, to, bits| match evaluate::convert(op, from, to, Scalar::new(bits)) {
        Ok(value) => Some(value.bits),
        Err(EvaluationError::Undefined { kind: UndefinedKind::InvalidConversion, .. }) => None,
        Err(other) => panic!("{other:?}"),
    };
    let (signed, unsigned) = (ConvertOp::ConvertFToS, ConvertOp::ConvertFToU);
    let double = |value: f64| value.to_bits();
    for (op, from, to, bits, expected) in [
        (signed, 16, 16, 0xf800, Some(0x8000)),
        (signed, 16, 16, 0x7800, None),
        (signed, 16, 32, 0x7bff, Some(65_504)),
        (signed, 16, 32, 0x7c00, None),
        (unsigned, 16, 8, 0x5bff, Some(255)),
        (unsigned, 16, 8, 0x5c00, None),
        (signed, 64, 64, double(-9_223_372_036_854_775_808.0), Some(1 << 63)),
        (signed, 64, 64, double(9_223_372_036_854_775_808.0), None),
        (unsigned, 64, 64, double(18_446_744_073_709_549_568.0), Some(u64::MAX - 2047)),
        (unsigned, 64, 64, double(18_446_744_073_709_551_616.0), None),
        (unsigned, 64, 32, double(4_294_967_295.9), Some(u64::from(u32::MAX))),
        (unsigned, 64, 32, double(-0.999), Some(0)),
        (signed, 64, 8, double(-128.9), Some(0x80)),
        (signed, 64, 8, double(-129.0), None),
        (signed, 64, 32, double(-5e-324), Some(0)),
        (unsigned, 64, 32, double(f64::NAN), None),
    ] {
        assert_eq!(convert(op, from, to, bits), expected, "{op:?} {from} {to} {bits:#x}");
    }
}

#[test]
fn matrices_of_other_widths() {
    let product = |width, values: &[u64]| {
        let mut builder = Builder::new(8);
        let scalars: Vec<Scalar> = values.iter().map(|bits| Scalar::new(*bits)).collect();
        let (a, b) = (builder.constants(&scalars), Operand::constant(4));
        let op = MatrixOp::MatrixTimesVector { dst: 0, width, rows: 2, columns: 2, a, b };
        builder.body(vec![Op::Matrix(op)]);
        let registers = builder.finish();
        [registers[0].bits, registers[1].bits]
    };
    // Columns (1, 2) and (3, 4) times (5, 6).
    assert_eq!(product(16, &[0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600]), [0x4dc0, 0x5040]);
    let doubles = [1.0, 2.0, 3.0, 4.0, 0.1, 0.2].map(f64::to_bits);
    let expected = [1.0 * 0.1 + 3.0 * 0.2, 2.0 * 0.1 + 4.0 * 0.2].map(f64::to_bits);
    assert_eq!(product(64, &doubles), expected);
    // 2048 + 1 rounds at every step.
    assert_eq!(product(16, &[0x6800, 0, 0x3c00, 0, 0x3c00, 0x3c00])[0], 0x6800);
}
