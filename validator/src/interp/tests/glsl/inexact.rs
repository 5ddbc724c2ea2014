//! Which instructions are recorded as ones that might have given another result.

use super::*;
use crate::interp::float::from_double;

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

const STRICT: FloatModes =
    FloatModes { denorm_preserve: 32, signed_zero_inf_nan_preserve: 32, rounding_mode_rte: 32 | 16, ..FREE };

fn recorded_with(modes: FloatModes, function: GlslFunction, count: u32, constants: &[Scalar]) -> bool {
    let mut builder = Builder::new(32);
    builder.program.modes.floats = modes;
    builder.program.constants = constants.to_vec();
    builder.body(vec![Op::Glsl(GlslOp { function, number: 9, width: 32, count, dst: 0 })]);
    let (mut invocation, _) = builder.first_stop();
    let inexact = invocation.take_inexact();
    assert!(inexact.iter().all(|operation| operation.line == 10 && operation.extended == 9));
    !inexact.is_empty()
}

fn recorded(modes: FloatModes, function: GlslFunction, values: &[f32]) -> bool {
    let constants: Vec<Scalar> = values.iter().copied().map(single).collect();
    recorded_with(modes, function, 1, &constants)
}

fn one(function: FloatFunction) -> GlslFunction {
    GlslFunction::Float(function, operand(0))
}

#[test]
fn rounding_and_selecting_is_exact() {
    for function in [
        FloatFunction::RoundEven,
        FloatFunction::Round,
        FloatFunction::Trunc,
        FloatFunction::Floor,
        FloatFunction::Ceil,
        FloatFunction::Abs,
        FloatFunction::Sign,
        FloatFunction::Fract,
    ] {
        assert!(!recorded(FREE, one(function), &[1.3]), "{function:?}");
        for free in [NAN, INFINITY, -0.0, TINY] {
            assert!(recorded(FREE, one(function), &[free]), "{function:?} {free}");
        }
    }
    assert!(recorded(STRICT, one(FloatFunction::Round), &[2.5]), "a tie goes either way");
    assert!(!recorded(FREE, one(FloatFunction::RoundEven), &[2.5]));
    assert!(recorded(FREE, one(FloatFunction::Trunc), &[-0.5]), "the zero's sign");
    // 1 - 2^-26 is no float of 32 bits.
    assert!(recorded(FREE, one(FloatFunction::Fract), &[-(2.0_f32.powi(-26))]));
    assert!(!recorded(STRICT, one(FloatFunction::Fract), &[-(2.0_f32.powi(-26))]));
    // The modes for denormals are about these alone.
    assert!(!recorded(STRICT, one(FloatFunction::Abs), &[TINY]));
    assert!(recorded(STRICT, one(FloatFunction::Floor), &[-TINY]));
    for function in [FloatFunction::Radians, FloatFunction::Degrees] {
        assert!(recorded(STRICT, one(function), &[1.0]));
        assert!(!recorded(FREE, one(function), &[0.0]));
    }
}

#[test]
fn comparing_instructions_are_exact_but_for_nan_and_signs_of_zero() {
    for function in [FloatFunction2::Min, FloatFunction2::Max, FloatFunction2::NMin, FloatFunction2::NMax] {
        let function = GlslFunction::Float2(function, [operand(0), operand(1)]);
        assert!(!recorded(FREE, function, &[0.1, 0.0]));
        assert!(recorded(STRICT, function, &[NAN, 1.0]));
        assert!(recorded(STRICT, function, &[0.0, -0.0]));
        assert!(recorded(FREE, function, &[1.0, TINY]));
        assert!(!recorded(STRICT, function, &[1.0, TINY]));
    }
    let step = GlslFunction::Float2(FloatFunction2::Step, [operand(0), operand(1)]);
    assert!(!recorded(FREE, step, &[0.1, -0.0]));
    assert!(recorded(STRICT, step, &[TINY, 1.0]));
    let operands = [operand(0), operand(1), operand(2)];
    for function in [FloatFunction3::Clamp, FloatFunction3::NClamp] {
        assert!(!recorded(FREE, GlslFunction::Float3(function, operands), &[0.1, 0.0, 1.0]));
        assert!(recorded(FREE, GlslFunction::Float3(function, operands), &[0.1, -0.0, 1.0]));
    }
}

#[test]
fn formulas_inherit_the_errors_of_their_steps() {
    let operands = [operand(0), operand(1), operand(2)];
    for function in [FloatFunction3::Mix, FloatFunction3::Fma] {
        assert!(!recorded(FREE, GlslFunction::Float3(function, operands), &[1.5, 2.0, 0.25]));
        assert!(recorded(STRICT, GlslFunction::Float3(function, operands), &[0.1, 2.0, 0.25]));
    }
    assert!(recorded(FREE, GlslFunction::Float3(FloatFunction3::Fma, operands), &[1.0, 1.0, -1.0]));
    assert!(recorded(STRICT, GlslFunction::Float3(FloatFunction3::SmoothStep, operands), &[0.0, 2.0, 1.0]));
    for function in [FloatFunction2::Pow, FloatFunction2::Atan2] {
        let function = GlslFunction::Float2(function, [operand(0), operand(1)]);
        assert!(recorded(STRICT, function, &[1.0, 1.0]));
    }
    for function in [Transcendental::Sqrt, Transcendental::Sin, Transcendental::Exp2] {
        assert!(recorded(STRICT, GlslFunction::Transcendental(function, operand(0)), &[1.0]));
    }
}

#[test]
fn vectors_are_exact_where_they_only_multiply_and_add_small_numbers() {
    let run = |function: VectorFunction, values: &[f32]| {
        let constants: Vec<Scalar> = values.iter().copied().map(single).collect();
        recorded_with(FREE, GlslFunction::Vector(function), 3, &constants)
    };
    let (a, b, c) = (operand(0), operand(3), operand(6));
    let cross = VectorFunction::Cross([a, b]);
    assert!(!run(cross, &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]));
    assert!(run(cross, &[1.0, 2.0, 3.0, 4.0, 5.0, 0.1]));
    let reflect = VectorFunction::Reflect([a, b]);
    assert!(!run(reflect, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]));
    assert!(run(reflect, &[1.0, 2.0, 3.0, 4.0, 5.0, 16.0]));
    assert!(run(reflect, &[1.0, 2.0, 3.0, 4.0, 5.0, 8.5]));
    assert!(run(cross, &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]), "the signs of zeros");
    let face = VectorFunction::FaceForward([a, b, c]);
    assert!(!run(face, &[0.1, 0.1, 0.1, 4.0, 5.0, 6.0, 1.0, 1.0, 1.0]));
    assert!(run(face, &[0.1, 0.1, 0.1, 0.1, 5.0, 6.0, 1.0, 1.0, 1.0]));
    assert!(run(face, &[-0.0, 0.1, 0.1, 4.0, 5.0, 6.0, 1.0, 1.0, 1.0]));
    assert!(run(VectorFunction::Length(a), &[0.0, 3.0, 4.0]));
    assert!(run(VectorFunction::Normalize(a), &[0.0, 0.0, 1.0]));
}

#[test]
fn parts_are_exact() {
    let modf = GlslFunction::ModfStruct(operand(0));
    assert!(!recorded(FREE, modf, &[1.3]));
    assert!(recorded(FREE, modf, &[-1.0]), "the sign of the fraction");
    let frexp = GlslFunction::FrexpStruct { exponent_width: 32, value: operand(0) };
    assert!(!recorded(FREE, frexp, &[1.3]));
    assert!(recorded(STRICT, frexp, &[TINY]));
    let ldexp = |exponent: i32, a: f32| {
        let function =
            GlslFunction::Ldexp { exponent_width: 32, significand: operand(0), exponent: operand(1) };
        recorded_with(STRICT, function, 1, &[single(a), Scalar::new(u64::from(exponent as u32))])
    };
    assert!(!ldexp(5, 1.3));
    assert!(!ldexp(-126, 1.3));
    assert!(ldexp(-127, 4.0), "may be flushed");
    assert!(ldexp(-126, 0.5), "a denormal");
}

#[test]
fn ldexp_may_flush_below_the_least_normal_exponent() {
    for width in [16, 32, 64] {
        let least = crate::interp::glsl::least_exponent(width);
        let is_normal = |exponent: i64| {
            let power = from_double(width, 2.0_f64.powi(exponent as i32)).unwrap();
            crate::interp::float::is_normal(width, power).unwrap() == Scalar::new(1)
        };
        assert!(is_normal(least) && !is_normal(least - 1), "{width}");
    }
}

#[test]
fn packing_is_open_at_ties_and_unpacking_divides() {
    let pack = |modes, packing, a: f32| recorded(modes, GlslFunction::Pack(packing, operand(0)), &[a]);
    assert!(!pack(FREE, Packing::Unorm4x8, 0.2));
    assert!(!pack(FREE, Packing::Unorm4x8, 7.0));
    assert!(pack(STRICT, Packing::Unorm4x8, 0.5), "127.5");
    assert!(!pack(FREE, Packing::Half2x16, 1.5));
    assert!(pack(FREE, Packing::Half2x16, 0.1));
    assert!(!pack(STRICT, Packing::Half2x16, 0.1));
    assert!(pack(STRICT, Packing::Half2x16, 2.0_f32.powi(-20)), "a denormal half");
    // Products that rounding may bring into the middle between two integers.
    for middle in (0..65_535_u16).step_by(101) {
        let near = (f32::from(middle) + 0.5) / 65_535.0;
        assert!(pack(STRICT, Packing::Unorm2x16, near), "{middle}");
    }
    let double = |function, constants: &[Scalar]| recorded_with(STRICT, function, 2, constants);
    let words = |high: u64| [Scalar::new(1), Scalar::new(high)];
    assert!(double(GlslFunction::PackDouble(operand(0)), &words(0)), "a denormal");
    assert!(!double(GlslFunction::PackDouble(operand(0)), &words(0x3ff0_0000)));
    assert!(double(GlslFunction::UnpackDouble(operand(0)), &[Scalar::new(1)]));
    assert!(!double(GlslFunction::UnpackDouble(operand(0)), &[Scalar::new(1.5_f64.to_bits())]));
    let unpack = |packing, bits| {
        let (count, _) = Packing::fields(packing);
        recorded_with(STRICT, GlslFunction::Unpack(packing, operand(0)), count, &[Scalar::new(bits)])
    };
    assert!(unpack(Packing::Unorm4x8, 0x7f));
    assert!(!unpack(Packing::Unorm4x8, 0));
    assert!(!unpack(Packing::Half2x16, 0x3c00_3555));
    assert!(unpack(Packing::Half2x16, 0x3c00_0001), "a denormal half");
}

#[test]
fn integers_are_exact() {
    let two = GlslFunction::Integer2(IntegerFunction2::SMin, [operand(0), operand(1)]);
    assert!(!recorded(FREE, two, &[NAN, -0.0]));
    let find = GlslFunction::FindBit { bit: FoundBit::Highest, to: 32, value: operand(0) };
    assert!(!recorded(FREE, find, &[NAN]));
}
