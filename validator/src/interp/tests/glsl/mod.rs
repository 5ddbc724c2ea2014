//! Instructions of GLSL.std.450: values from the specification at the edges of their domains.

mod floats;
mod inexact;
mod integers;
mod packing;
mod transcendental;
mod vectors;

use super::*;

/// The results of an instruction on constants; operand `i` begins at constant `i * count`.
fn results(
    function: GlslFunction,
    width: u8,
    count: u32,
    constants: &[Scalar],
    results: usize,
) -> Vec<Scalar> {
    let mut builder = Builder::new(32);
    builder.program.constants = constants.to_vec();
    builder.body(vec![Op::Glsl(GlslOp { function, number: 0, width, count, dst: 0 })]);
    builder.finish()[..results].to_vec()
}

fn operand(index: u32) -> Operand {
    Operand::constant(index)
}

fn single(value: f32) -> Scalar {
    Scalar::new(u64::from(value.to_bits()))
}

fn double(value: f64) -> Scalar {
    Scalar::new(value.to_bits())
}

fn half(bits: u64) -> Scalar {
    Scalar::new(bits)
}

const NAN: f32 = f32::NAN;
const INFINITY: f32 = f32::INFINITY;
/// The least denormal.
const TINY: f32 = 1.0e-45;

fn undefined(width: u32) -> Scalar {
    Scalar::undefined(width)
}

/// Equal, where all NaNs are.
#[track_caller]
fn assert_single(actual: Scalar, expected: f32, what: &str) {
    if expected.is_nan() {
        assert!(actual.is_defined() && f32::from_bits(actual.bits as u32).is_nan(), "{what}: {actual:?}");
    } else {
        assert_eq!(actual, single(expected), "{what}: {}", f32::from_bits(actual.bits as u32));
    }
}

fn float(function: FloatFunction, a: f32) -> Scalar {
    results(GlslFunction::Float(function, operand(0)), 32, 1, &[single(a)], 1)[0]
}

fn float2(function: FloatFunction2, a: f32, b: f32) -> Scalar {
    let function = GlslFunction::Float2(function, [operand(0), operand(1)]);
    results(function, 32, 1, &[single(a), single(b)], 1)[0]
}

fn float3(function: FloatFunction3, values: [f32; 3]) -> Scalar {
    let function = GlslFunction::Float3(function, [operand(0), operand(1), operand(2)]);
    results(function, 32, 1, &values.map(single), 1)[0]
}
