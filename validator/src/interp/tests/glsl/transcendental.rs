//! Transcendental functions: their domains, and values that are known exactly.

use super::*;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, PI};
use Transcendental as T;

fn one(function: T, a: f32) -> Scalar {
    results(GlslFunction::Transcendental(function, operand(0)), 32, 1, &[single(a)], 1)[0]
}

#[test]
fn values() {
    let table: &[(T, f32, f32)] = &[
        (T::Sin, 0.0, 0.0),
        (T::Sin, -0.0, -0.0),
        (T::Sin, FRAC_PI_2, 1.0),
        (T::Cos, 0.0, 1.0),
        (T::Cos, PI, -1.0),
        (T::Tan, FRAC_PI_4, 1.0),
        (T::Asin, 1.0, FRAC_PI_2),
        (T::Asin, -1.0, -FRAC_PI_2),
        (T::Acos, 1.0, 0.0),
        (T::Acos, -1.0, PI),
        (T::Atan, 1.0, FRAC_PI_4),
        (T::Atan, -INFINITY, -FRAC_PI_2),
        (T::Sinh, 0.0, 0.0),
        (T::Sinh, INFINITY, INFINITY),
        (T::Cosh, 0.0, 1.0),
        (T::Tanh, INFINITY, 1.0),
        (T::Asinh, -0.0, -0.0),
        (T::Acosh, 1.0, 0.0),
        (T::Atanh, 0.0, 0.0),
        (T::Exp, 0.0, 1.0),
        (T::Exp, 1.0, std::f32::consts::E),
        (T::Exp, -INFINITY, 0.0),
        (T::Exp, 1000.0, INFINITY),
        (T::Log, 1.0, 0.0),
        (T::Log, 2.0, LN_2),
        (T::Log, INFINITY, INFINITY),
        (T::Exp2, 10.0, 1024.0),
        (T::Exp2, -149.0, TINY),
        (T::Exp2, 128.0, INFINITY),
        (T::Log2, 1024.0, 10.0),
        (T::Log2, TINY, -149.0),
        (T::Log2, std::f32::consts::E, LOG2_E),
        (T::Sqrt, 2.0, std::f32::consts::SQRT_2),
        (T::Sqrt, 0.0, 0.0),
        (T::Sqrt, -0.0, -0.0),
        (T::Sqrt, INFINITY, INFINITY),
        (T::InverseSqrt, 0.25, 2.0),
        (T::InverseSqrt, INFINITY, 0.0),
        (T::Sin, NAN, NAN),
        (T::Log, NAN, NAN),
        (T::Sqrt, NAN, NAN),
        (T::Asin, NAN, NAN),
    ];
    for (function, a, expected) in table {
        let actual = one(*function, *a);
        // The argument itself is rounded.
        if matches!(function, T::Cos) && expected.abs() == 1.0 || *expected != PI {
            assert_single(actual, *expected, &format!("{function:?} {a}"));
        }
    }
    assert_single(one(T::Acos, -1.0), PI, "half a turn");
}

#[test]
fn outside_of_the_domain_the_result_is_undefined() {
    for (function, values) in [
        (T::Asin, &[1.000_000_1, -1.000_000_1, INFINITY][..]),
        (T::Acos, &[1.000_000_1, -2.0]),
        (T::Acosh, &[0.999_999_94, -1.0]),
        (T::Atanh, &[1.0, -1.0, 2.0]),
        (T::Log, &[0.0, -0.0, -TINY, -INFINITY]),
        (T::Log2, &[0.0, -1.0]),
        (T::Sqrt, &[-TINY, -INFINITY]),
        (T::InverseSqrt, &[0.0, -0.0, -1.0]),
    ] {
        for a in values {
            assert_eq!(one(function, *a), undefined(32), "{function:?} {a}");
        }
    }
    let operand = GlslFunction::Transcendental(T::Exp, operand(0));
    assert_eq!(results(operand, 32, 1, &[Scalar { bits: 0, undef: 1 }], 1), [undefined(32)]);
}

#[test]
fn angles_and_powers() {
    let angle = |y, x| float2(FloatFunction2::Atan2, y, x);
    assert_single(angle(1.0, 0.0), FRAC_PI_2, "up");
    assert_single(angle(-1.0, 0.0), -FRAC_PI_2, "down");
    assert_single(angle(0.0, -1.0), PI, "left");
    assert_single(angle(1.0, 1.0), FRAC_PI_4, "between");
    for y in [0.0, -0.0] {
        assert_eq!(angle(y, 0.0), undefined(32));
        assert_eq!(angle(0.0, y), undefined(32));
    }
    let power = |x, y| float2(FloatFunction2::Pow, x, y);
    assert_single(power(2.0, 10.0), 1024.0, "of two");
    assert_single(power(9.0, 0.5), 3.0, "root");
    assert_single(power(5.0, 0.0), 1.0, "nothing");
    assert_single(power(0.0, 2.0), 0.0, "of zero");
    assert_single(power(2.0, 1000.0), INFINITY, "too large");
    for (x, y) in [(-1.0, 2.0), (0.0, 0.0), (0.0, -1.0), (-0.0, 0.0)] {
        assert_eq!(power(x, y), undefined(32), "{x} to the {y}");
    }
}

#[test]
fn halves_and_doubles_are_rounded_once() {
    let function = |function| GlslFunction::Transcendental(function, operand(0));
    // The square root of 2: 1.4142.
    assert_eq!(results(function(T::Sqrt), 16, 1, &[half(0x4000)], 1), [half(0x3da8)]);
    assert_eq!(results(function(T::Exp2), 16, 1, &[half(0x4c00)], 1), [half(0x7c00)]);
    assert_eq!(results(function(T::Sqrt), 64, 1, &[double(2.0)], 1), [double(2.0_f64.sqrt())]);
}
