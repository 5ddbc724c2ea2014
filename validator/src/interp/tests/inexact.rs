//! Which float operations are recorded as ones that might have given another result.

use super::*;

const ALL_WIDTHS: u32 = 16 | 32 | 64;

/// Modes that leave nothing open but what single operations do.
const STRICT: FloatModes = FloatModes {
    denorm_preserve: ALL_WIDTHS,
    signed_zero_inf_nan_preserve: ALL_WIDTHS,
    rounding_mode_rte: ALL_WIDTHS,
    rounding_mode_rtz: 0,
    denorm_flush_to_zero: 0,
    fast_math: false,
    always_inexact: None,
    unbounded: false,
};

const FREE: FloatModes = FloatModes {
    denorm_preserve: 0,
    signed_zero_inf_nan_preserve: 0,
    rounding_mode_rte: 0,
    rounding_mode_rtz: 0,
    denorm_flush_to_zero: 0,
    fast_math: false,
    always_inexact: None,
    unbounded: false,
};

fn single(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// Whether the operation is recorded when it runs.
fn recorded(modes: FloatModes, no_contraction: bool, op: Op, constants: &[u64]) -> bool {
    let mut builder = Builder::new(16);
    builder.program.modes.floats = modes;
    builder.program.constants = constants.iter().map(|bits| Scalar::new(*bits)).collect();
    builder.body(vec![op]);
    builder.program.functions[0].code[0].no_contraction = no_contraction;
    let (mut invocation, _) = builder.first_stop();
    let inexact = invocation.take_inexact();
    assert!(inexact.iter().all(|operation| operation.line == 10));
    assert!(invocation.take_inexact().is_empty());
    !inexact.is_empty()
}

fn binary(op: BinaryOp, width: u8) -> Op {
    Op::Binary { op, width, count: 1, dst: 0, a: Operand::constant(0), b: Operand::constant(1) }
}

fn singles(modes: FloatModes, no_contraction: bool, op: BinaryOp, a: f32, b: f32) -> bool {
    recorded(modes, no_contraction, binary(op, 32), &[single(a), single(b)])
}

#[test]
fn what_no_rearrangement_changes_is_exact() {
    for op in [BinaryOp::FAdd, BinaryOp::FSub, BinaryOp::FMul] {
        assert!(!singles(FREE, false, op, 2.5, 3.0));
        assert!(singles(FREE, false, op, 0.1, 3.0));
        // Exact itself, but not if it is rearranged with what made or uses it.
        assert!(singles(FREE, false, op, 1.0 + 2.0_f32.powi(-11), 1.0));
        assert!(!singles(FREE, true, op, 1.0 + 2.0_f32.powi(-11), 1.0));
    }
}

#[test]
fn rounding_is_open_unless_a_mode_says_which() {
    let third = 1.0_f32 / 3.0;
    for op in [BinaryOp::FAdd, BinaryOp::FSub, BinaryOp::FMul] {
        assert!(singles(FREE, true, op, third, 1.7));
        assert!(!singles(STRICT, true, op, third, 1.7));
        assert!(singles(STRICT, false, op, third, 1.7));
        let fast = FloatModes { fast_math: true, ..STRICT };
        assert!(singles(fast, true, op, third, 1.7));
    }
    let no_rounding = FloatModes { rounding_mode_rte: 32, ..FREE };
    let doubles = [(1.0_f64 / 3.0).to_bits(), 1.7_f64.to_bits()];
    assert!(recorded(no_rounding, true, binary(BinaryOp::FMul, 64), &doubles));
    let exact = [1000.0625_f64.to_bits(), 3.5_f64.to_bits()];
    assert!(!recorded(no_rounding, true, binary(BinaryOp::FMul, 64), &exact));
    let far = [1.0_f64.to_bits(), 2.0_f64.powi(-80).to_bits()];
    assert!(recorded(no_rounding, true, binary(BinaryOp::FAdd, 64), &far));
    // The product lies so far below the least double that its error does, too.
    let tiny = [2.0_f64.powi(-1000).to_bits(), 2.0_f64.powi(-600).to_bits()];
    let kept = FloatModes { rounding_mode_rte: 0, ..STRICT };
    assert!(recorded(kept, true, binary(BinaryOp::FMul, 64), &tiny));
    // Of halves only the smallest are safe.
    assert!(recorded(FREE, false, binary(BinaryOp::FAdd, 16), &[0x4800, 0x3c00]));
    assert!(!recorded(FREE, false, binary(BinaryOp::FAdd, 16), &[0x4400, 0x3c00]));
    assert!(singles(FREE, false, BinaryOp::FAdd, 200.0, 3.0));
    // 65504 is the greatest half.
    assert!(recorded(kept, true, binary(BinaryOp::FAdd, 16), &[0x7bff, 0x7bff]));
}

#[test]
fn a_division_has_an_error_even_where_the_quotient_is_exact() {
    for op in [BinaryOp::FDiv, BinaryOp::FRem, BinaryOp::FMod] {
        assert!(singles(STRICT, true, op, 6.0, 3.0));
    }
}

#[test]
fn what_need_not_be_kept_is_open() {
    let tiny = f32::MIN_POSITIVE / 2.0;
    for value in [f32::NAN, f32::INFINITY, -0.0] {
        assert!(singles(FREE, true, BinaryOp::FMul, value, 2.0));
        let kept = FloatModes { signed_zero_inf_nan_preserve: 32, ..FREE };
        assert!(!singles(kept, true, BinaryOp::FMul, value, 2.0));
    }
    assert!(singles(FREE, true, BinaryOp::FMul, tiny, 2.0));
    let fast = FloatModes { fast_math: true, ..STRICT };
    assert!(singles(fast, false, BinaryOp::FOrdLessThan, f32::NAN, 2.0));
    let kept = FloatModes { denorm_preserve: 32, ..FREE };
    assert!(!singles(kept, true, BinaryOp::FMul, tiny, 2.0));
    // A zero may have either sign, whatever it was computed from.
    assert!(singles(FREE, false, BinaryOp::FSub, 1.0, 1.0));
    assert!(!singles(FREE, false, BinaryOp::FAdd, 0.0, 1.0));
}

#[test]
fn comparisons_are_exact_but_for_nan_infinity_and_denormals() {
    for op in [BinaryOp::FOrdLessThan, BinaryOp::FUnordEqual, BinaryOp::Ordered] {
        assert!(!singles(FREE, false, op, 0.1, 0.3));
        assert!(!singles(FREE, false, op, -0.0, 0.0));
        assert!(singles(FREE, false, op, f32::NAN, 0.3));
        assert!(singles(FREE, false, op, 0.3, f32::INFINITY));
        assert!(singles(FREE, false, op, 0.0, f32::MIN_POSITIVE / 2.0));
        assert!(!singles(STRICT, false, op, f32::NAN, f32::MIN_POSITIVE / 2.0));
    }
}

#[test]
fn integers_are_never_recorded() {
    for op in [BinaryOp::IAdd, BinaryOp::UDiv, BinaryOp::SLessThan, BinaryOp::BitwiseXor] {
        assert!(!recorded(FREE, false, binary(op, 32), &[0x7fc0_0000, 0x8000_0000]));
    }
}

#[test]
fn conversions_are_open_where_they_round() {
    let convert = |op, from, to| Op::Convert { op, from, to, count: 1, dst: 0, a: Operand::constant(0) };
    let narrow = convert(ConvertOp::FConvert, 32, 16);
    assert!(recorded(FREE, false, narrow.clone(), &[single(0.1)]));
    assert!(!recorded(FREE, false, narrow.clone(), &[single(0.5)]));
    assert!(!recorded(STRICT, false, narrow.clone(), &[single(0.1)]));
    // What is a normal float is a denormal half.
    assert!(recorded(FREE, false, narrow, &[single(2.0_f32.powi(-20))]));
    let signed = convert(ConvertOp::ConvertSToF, 32, 32);
    assert!(!recorded(FREE, false, signed.clone(), &[u64::from(-16_777_216_i32 as u32)]));
    assert!(recorded(FREE, false, signed.clone(), &[u64::from(-16_777_217_i32 as u32)]));
    assert!(!recorded(STRICT, false, signed.clone(), &[16_777_217]));
    assert!(!recorded(FREE, false, signed, &[0]));
    let unsigned = convert(ConvertOp::ConvertUToF, 64, 32);
    assert!(recorded(FREE, false, unsigned, &[u64::MAX]));
    // A fault that the value of the operand decides.
    let integer = convert(ConvertOp::ConvertFToS, 32, 32);
    assert!(recorded(FREE, false, integer.clone(), &[single(f32::NAN)]));
    assert!(!recorded(FREE, false, integer.clone(), &[single(1.7)]));
    assert!(!recorded(FREE, false, integer, &[single(-0.0)]));
    assert!(!recorded(FREE, false, convert(ConvertOp::UConvert, 32, 16), &[0x7fc0_0000]));
}

#[test]
fn negations_and_quantization() {
    let unary = |op| Op::Unary { op, width: 32, count: 1, dst: 0, a: Operand::constant(0) };
    assert!(!recorded(FREE, false, unary(UnaryOp::FNegate), &[single(0.1)]));
    assert!(recorded(FREE, false, unary(UnaryOp::FNegate), &[single(0.0)]));
    assert!(!recorded(STRICT, false, unary(UnaryOp::FNegate), &[single(0.0)]));
    assert!(recorded(FREE, false, unary(UnaryOp::IsNan), &[single(f32::NAN)]));
    assert!(!recorded(FREE, false, unary(UnaryOp::IsNan), &[single(1.0)]));
    assert!(recorded(FREE, false, unary(UnaryOp::SignBitSet), &[single(0.0)]));
    assert!(!recorded(FREE, false, unary(UnaryOp::SignBitSet), &[single(1.0)]));
    assert!(!recorded(STRICT, false, unary(UnaryOp::QuantizeToF16), &[single(0.5)]));
    assert!(recorded(STRICT, false, unary(UnaryOp::QuantizeToF16), &[single(0.1)]));
    assert!(!recorded(FREE, false, unary(UnaryOp::SNegate), &[single(f32::NAN)]));
}

#[test]
fn products_of_vectors_add_in_any_order() {
    let dot = Op::Matrix(MatrixOp::Dot {
        dst: 0,
        width: 32,
        count: 2,
        a: Operand::constant(0),
        b: Operand::constant(2),
    });
    let values = |first| [first, 2.0, 3.0, 4.0].map(single);
    assert!(!recorded(FREE, false, dot.clone(), &values(1.5)));
    assert!(recorded(FREE, false, dot.clone(), &values(0.1)));
    // No decoration says in which order.
    assert!(recorded(STRICT, true, dot, &values(0.1)));
}

#[test]
fn a_vector_times_a_scalar_is_products_of_components() {
    let times = Op::Matrix(MatrixOp::TimesScalar {
        dst: 0,
        width: 32,
        count: 2,
        a: Operand::constant(0),
        scalar: Operand::constant(2),
    });
    let values = |second| [1.5, second, 3.0].map(single);
    assert!(!recorded(FREE, false, times.clone(), &values(2.0)));
    assert!(recorded(FREE, false, times.clone(), &values(0.1)));
    assert!(recorded(FREE, true, times.clone(), &values(0.1)));
    assert!(!recorded(STRICT, true, times.clone(), &values(0.1)));
    assert!(recorded(STRICT, false, times, &values(0.1)));
}

#[test]
fn undefined_results_have_no_value_to_differ_in() {
    let mut builder = Builder::new(16);
    builder.program.constants = vec![Scalar::undefined(32), Scalar::new(single(2.0))];
    builder.body(vec![binary(BinaryOp::FAdd, 32)]);
    let (mut invocation, _) = builder.first_stop();
    assert!(invocation.take_inexact().is_empty());
}
