//! Rounding, selecting and splitting instructions.

use super::*;

#[test]
fn rounding_at_ties_zeros_and_beyond_integers() {
    const LARGE: f32 = 16_777_217.0;
    let table: [(FloatFunction, &[(f32, f32)]); 7] = [
        (
            FloatFunction::RoundEven,
            &[
                (0.5, 0.0),
                (1.5, 2.0),
                (2.5, 2.0),
                (-0.5, -0.0),
                (-1.5, -2.0),
                (0.499_999_97, 0.0),
                (3.7, 4.0),
            ],
        ),
        (FloatFunction::Round, &[(0.75, 1.0), (-0.75, -1.0), (1.25, 1.0), (-7.0, -7.0)]),
        (FloatFunction::Trunc, &[(1.9, 1.0), (-1.9, -1.0), (-0.9, -0.0), (TINY, 0.0)]),
        (FloatFunction::Floor, &[(1.9, 1.0), (-1.1, -2.0), (-TINY, -1.0), (-0.0, -0.0), (0.9, 0.0)]),
        (FloatFunction::Ceil, &[(1.1, 2.0), (-1.9, -1.0), (TINY, 1.0), (-0.9, -0.0)]),
        (FloatFunction::Fract, &[(1.25, 0.25), (-1.25, 0.75), (3.0, 0.0), (-TINY, 1.0), (0.1, 0.1)]),
        (FloatFunction::Sign, &[(3.5, 1.0), (-TINY, -1.0), (0.0, 0.0), (-0.0, 0.0)]),
    ];
    for (function, values) in table {
        for (a, expected) in values {
            assert_single(float(function, *a), *expected, &format!("{function:?} {a}"));
        }
    }
    let rounding = [
        FloatFunction::Round,
        FloatFunction::RoundEven,
        FloatFunction::Trunc,
        FloatFunction::Floor,
        FloatFunction::Ceil,
    ];
    for function in rounding {
        for a in [LARGE, -LARGE, INFINITY, -INFINITY, NAN, f32::MAX] {
            assert_single(float(function, a), a, &format!("{function:?} {a}"));
        }
    }
    assert_single(float(FloatFunction::Fract, INFINITY), NAN, "the fraction of an infinity");
    assert_single(float(FloatFunction::Sign, INFINITY), 1.0, "sign");
    // ±1 and ±0 differ in the sign and the exponent.
    assert_eq!(float(FloatFunction::Sign, NAN), Scalar { bits: 0, undef: 0xbf80_0000 });
}

#[test]
fn magnitudes_are_bits() {
    let absolute = |bits, undef| {
        let a = Scalar { bits, undef };
        results(GlslFunction::Float(FloatFunction::Abs, operand(0)), 32, 1, &[a], 1)[0]
    };
    assert_eq!(absolute(0x8000_0000, 0), Scalar::new(0));
    assert_eq!(absolute(0xffc1_2345, 0), Scalar::new(0x7fc1_2345));
    assert_eq!(absolute(0xbf80_0000, 0), single(1.0));
    assert_eq!(absolute(0x3f80_0000, 0x8000_0001), Scalar { bits: 0x3f80_0000, undef: 1 });
}

#[test]
fn degrees_and_radians() {
    assert_single(float(FloatFunction::Radians, 180.0), std::f32::consts::PI, "half a turn");
    assert_single(float(FloatFunction::Degrees, std::f32::consts::PI), 180.0, "half a turn");
    assert_single(float(FloatFunction::Radians, -0.0), -0.0, "nothing");
}

#[test]
fn the_smaller_and_the_greater() {
    let table = [(1.0, 2.0), (2.0, 1.0), (-1.0, 1.0), (-INFINITY, 3.0), (TINY, 0.0), (f32::MAX, INFINITY)];
    for (a, b) in table {
        for function in [FloatFunction2::Min, FloatFunction2::NMin] {
            assert_single(float2(function, a, b), a.min(b), &format!("{function:?} {a} {b}"));
        }
        for function in [FloatFunction2::Max, FloatFunction2::NMax] {
            assert_single(float2(function, a, b), a.max(b), &format!("{function:?} {a} {b}"));
        }
    }
    // Of equal operands the first: zeros are equal.
    assert_single(float2(FloatFunction2::Min, 0.0, -0.0), 0.0, "zeros");
    assert_single(float2(FloatFunction2::Min, -0.0, 0.0), -0.0, "zeros");
    assert_single(float2(FloatFunction2::Max, -0.0, 0.0), -0.0, "zeros");
    for function in [FloatFunction2::NMin, FloatFunction2::NMax] {
        assert_single(float2(function, -0.0, 0.0), -0.0, "zeros");
        assert_single(float2(function, 0.0, -0.0), 0.0, "zeros");
    }
}

#[test]
fn a_nan_beside_a_number() {
    for function in [FloatFunction2::NMin, FloatFunction2::NMax] {
        assert_single(float2(function, NAN, 2.0), 2.0, "the other one");
        assert_single(float2(function, 2.0, NAN), 2.0, "the other one");
        assert_single(float2(function, NAN, NAN), NAN, "no other one");
    }
    for function in [FloatFunction2::Min, FloatFunction2::Max] {
        // 0x7fc00000 and 0x40000000 agree in one bit.
        let either = Scalar { bits: 0x4000_0000, undef: 0x3fc0_0000 };
        assert_eq!(float2(function, NAN, 2.0), either);
        assert_eq!(float2(function, 2.0, NAN), either);
        assert_single(float2(function, NAN, NAN), NAN, "both");
    }
    assert_single(float3(FloatFunction3::NClamp, [NAN, 1.0, 2.0]), 1.0, "the least");
    let clamped = float3(FloatFunction3::Clamp, [NAN, 1.0, 2.0]);
    for possible in [1.0, 2.0] {
        assert_eq!(single(possible).bits & !clamped.undef, clamped.bits);
    }
    assert_eq!(clamped.undef & !0x7fc0_0000, 0);
}

#[test]
fn clamps() {
    for function in [FloatFunction3::Clamp, FloatFunction3::NClamp] {
        for (a, expected) in [(0.5, 1.0), (1.0, 1.0), (1.5, 1.5), (2.0, 2.0), (9.0, 2.0), (INFINITY, 2.0)] {
            assert_single(float3(function, [a, 1.0, 2.0]), expected, &format!("{function:?} {a}"));
        }
        assert_single(float3(function, [5.0, 3.0, 3.0]), 3.0, "one value is left");
        assert_eq!(float3(function, [1.5, 2.0, 1.0]), undefined(32), "bounds in the wrong order");
        assert_single(float3(function, [-TINY, 0.0, 1.0]), 0.0, "a denormal");
    }
}

#[test]
fn steps() {
    assert_single(float2(FloatFunction2::Step, 1.0, 0.5), 0.0, "below");
    assert_single(float2(FloatFunction2::Step, 1.0, 1.0), 1.0, "at the edge");
    assert_single(float2(FloatFunction2::Step, 0.0, -0.0), 1.0, "at the edge");
    assert_single(float2(FloatFunction2::Step, 1.0, NAN), 1.0, "not below");
    let smooth = |x| float3(FloatFunction3::SmoothStep, [1.0, 3.0, x]);
    for (x, expected) in [(0.0, 0.0), (1.0, 0.0), (1.5, 0.15625), (2.0, 0.5), (3.0, 1.0), (INFINITY, 1.0)] {
        assert_single(smooth(x), expected, &format!("SmoothStep {x}"));
    }
    assert_eq!(float3(FloatFunction3::SmoothStep, [1.0, 1.0, 5.0]), undefined(32));
    assert_eq!(float3(FloatFunction3::SmoothStep, [2.0, 1.0, 5.0]), undefined(32));
}

#[test]
fn blends() {
    assert_single(float3(FloatFunction3::Mix, [2.0, 10.0, 0.25]), 4.0, "a quarter");
    assert_single(float3(FloatFunction3::Mix, [2.0, 10.0, 0.0]), 2.0, "the first");
    assert_single(float3(FloatFunction3::Mix, [2.0, 10.0, 1.0]), 10.0, "the second");
    assert_single(float3(FloatFunction3::Mix, [2.0, 10.0, 2.0]), 18.0, "beyond");
    // The difference of both would be rounded.
    assert_single(float3(FloatFunction3::Mix, [1e8, 1.0, 1.0]), 1.0, "weighted one by one");
    assert_single(float3(FloatFunction3::Fma, [2.0, 3.0, 4.0]), 10.0, "exact");
    // Both steps are rounded: fused it would be 2^-24.
    let a = 1.0 + f32::EPSILON / 2.0_f32.powi(0);
    let product = a * a;
    assert_single(float3(FloatFunction3::Fma, [a, a, -product]), 0.0, "unfused");
}

#[test]
fn undefined_operands() {
    let two = GlslFunction::Float2(FloatFunction2::Min, [operand(0), operand(1)]);
    let partly = Scalar { bits: 0x3f80_0000, undef: 1 };
    assert_eq!(results(two, 32, 1, &[partly, single(9.0)], 1), [undefined(32)]);
    let three = GlslFunction::Float3(FloatFunction3::NClamp, [operand(0), operand(1), operand(2)]);
    assert_eq!(results(three, 32, 1, &[single(0.0), partly, single(9.0)], 1), [undefined(32)]);
    let one = GlslFunction::Float(FloatFunction::Floor, operand(0));
    assert_eq!(results(one, 32, 2, &[partly, single(9.5)], 2), [undefined(32), single(9.0)]);
}

#[test]
fn other_widths() {
    let one = |function, width, a| results(GlslFunction::Float(function, operand(0)), width, 1, &[a], 1)[0];
    // 2.5 and 2.0 as halves.
    assert_eq!(one(FloatFunction::RoundEven, 16, half(0x4100)), half(0x4000));
    assert_eq!(one(FloatFunction::Abs, 16, half(0xfc00)), half(0x7c00));
    assert_eq!(one(FloatFunction::Fract, 16, half(0x8001)), half(0x3c00));
    let large = 2_251_799_813_685_249.5;
    assert_eq!(one(FloatFunction::Floor, 64, double(large)), double(2_251_799_813_685_249.0));
    assert_eq!(one(FloatFunction::Sign, 64, double(-1e-320)), double(-1.0));
}

fn modf(a: Scalar, width: u8) -> [Scalar; 2] {
    let parts = results(GlslFunction::ModfStruct(operand(0)), width, 1, &[a], 2);
    [parts[0], parts[1]]
}

#[test]
fn fractions_and_whole_numbers_have_the_operands_sign() {
    for (a, fraction, whole) in
        [(3.25, 0.25, 3.0), (-3.25, -0.25, -3.0), (-2.0, -0.0, -2.0), (0.5, 0.5, 0.0), (-0.5, -0.5, -0.0)]
    {
        assert_eq!(modf(single(a), 32), [single(fraction), single(whole)], "{a}");
    }
    assert_eq!(modf(single(-INFINITY), 32), [single(-0.0), single(-INFINITY)]);
    // -1.5 as a half.
    assert_eq!(modf(half(0xbe00), 16), [half(0xb800), half(0xbc00)]);
    assert_eq!(modf(undefined(32), 32), [undefined(32), undefined(32)]);
}

#[test]
fn vectors_of_parts_lie_one_after_the_other() {
    let parts = results(GlslFunction::ModfStruct(operand(0)), 32, 2, &[single(1.5), single(2.25)], 4);
    assert_eq!(parts, [0.5, 0.25, 1.0, 2.0].map(single));
}

#[test]
fn significands_and_exponents() {
    let frexp = |a: Scalar, width| {
        let function = GlslFunction::FrexpStruct { exponent_width: 32, value: operand(0) };
        let parts = results(function, width, 1, &[a], 2);
        (parts[0], parts[1])
    };
    let exponent = |value: i32| Scalar::new(u64::from(value as u32));
    for (a, significand, power) in
        [(1.0, 0.5, 1), (-8.0, -0.5, 4), (0.75, 0.75, 0), (f32::MAX, 0.999_999_94, 128), (TINY, 0.5, -148)]
    {
        assert_eq!(frexp(single(a), 32), (single(significand), exponent(power)), "{a}");
    }
    assert_eq!(frexp(single(0.0), 32), (single(0.0), exponent(0)));
    assert_eq!(frexp(single(-0.0), 32), (single(-0.0), exponent(0)));
    for a in [INFINITY, NAN] {
        assert_eq!(frexp(single(a), 32), (undefined(32), undefined(32)));
    }
    assert_eq!(frexp(double(5e-324), 64), (double(0.5), exponent(-1073)));
    assert_eq!(frexp(half(0x0001), 16), (half(0x3800), exponent(-23)));
    let vector = GlslFunction::FrexpStruct { exponent_width: 32, value: operand(0) };
    let parts = results(vector, 32, 2, &[single(1.5), single(-6.0)], 4);
    assert_eq!(parts, [single(0.75), single(-0.75), exponent(1), exponent(3)]);
}

#[test]
fn products_with_powers_of_two() {
    let ldexp = |a: Scalar, exponent: i32, width| {
        let function =
            GlslFunction::Ldexp { exponent_width: 32, significand: operand(0), exponent: operand(1) };
        results(function, width, 1, &[a, Scalar::new(u64::from(exponent as u32))], 1)[0]
    };
    assert_eq!(ldexp(single(0.75), 3, 32), single(6.0));
    assert_eq!(ldexp(single(-0.5), 128, 32), single(-2.0_f32.powi(127)));
    assert_eq!(ldexp(single(1.0), 128, 32), undefined(32), "the product is too large");
    assert_eq!(ldexp(single(TINY), 129, 32), undefined(32), "the exponent is");
    assert_eq!(ldexp(single(0.5), -148, 32), single(TINY));
    assert_eq!(ldexp(single(1.0), i32::MIN, 32), single(0.0));
    assert_eq!(ldexp(single(-0.0), 5, 32), single(-0.0));
    assert_eq!(ldexp(single(INFINITY), 1, 32), single(INFINITY));
    assert_eq!(ldexp(double(0.5), 1024, 64), double(2.0_f64.powi(1023)));
    assert_eq!(ldexp(double(0.5), 1025, 64), undefined(64));
    assert_eq!(ldexp(half(0x3800), 16, 16), half(0x7800));
    assert_eq!(ldexp(half(0x3c00), 16, 16), undefined(16));
    let narrow = GlslFunction::Ldexp { exponent_width: 8, significand: operand(0), exponent: operand(1) };
    assert_eq!(results(narrow, 32, 1, &[single(1.0), Scalar::new(0xff)], 1), [single(0.5)]);
}
