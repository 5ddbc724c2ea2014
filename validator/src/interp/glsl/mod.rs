//! The extended instruction set GLSL.std.450 ("SPIR-V Extended Instructions for GLSL").
//!
//! What the set calls undefined, and what is mathematically not defined, gives an undefined value.
//! Formulas are evaluated step by step in the width of their operands, every step rounded;
//! transcendental functions are rounded once. Vulkan permits other results: see [`inexact`].

mod formula;
mod inexact;
mod integer;
mod linear;
mod packing;
mod selection;
mod split;
mod transcendental;

pub(super) use self::split::least_exponent;

use self::formula::Steps;
use super::evaluate::{convert, Evaluated, EvaluationError};
use super::float::{from_double, to_double};
use super::machine::{stop, Components, Machine, Step};
use crate::ir::{
    ConvertOp, FloatFunction, FloatFunction2, FloatFunction3, GlslFunction, GlslOp, Inst, VectorFunction,
};
use crate::value::Scalar;

impl Machine<'_> {
    pub(super) fn glsl(&mut self, op: &GlslOp, inst: &Inst) -> Step {
        let GlslOp { width, count, dst, .. } = *op;
        let line = inst.line;
        let bits = u32::from(width);
        match op.function {
            GlslFunction::Float(function, a) => {
                for i in 0..count {
                    let result = float(function, width, self.value(a.offset(i)));
                    self.state.set(dst + i, self.evaluated(result, line)?);
                }
            }
            GlslFunction::Transcendental(function, a) => {
                for i in 0..count {
                    let result = transcendental::one(function, width, self.value(a.offset(i)));
                    self.state.set(dst + i, self.evaluated(result, line)?);
                }
            }
            GlslFunction::Float2(function, [a, b]) => {
                for i in 0..count {
                    let result = float2(function, width, self.value(a.offset(i)), self.value(b.offset(i)));
                    self.state.set(dst + i, self.evaluated(result, line)?);
                }
            }
            GlslFunction::Float3(function, operands) => {
                for i in 0..count {
                    let result =
                        float3(function, width, operands.map(|operand| self.value(operand.offset(i))));
                    self.state.set(dst + i, self.evaluated(result, line)?);
                }
            }
            GlslFunction::Integer(function, a) => {
                for i in 0..count {
                    let result = integer::one(function, bits, self.value(a.offset(i)));
                    self.state.set(dst + i, result);
                }
            }
            GlslFunction::Integer2(function, [a, b]) => {
                for i in 0..count {
                    let (a, b) = (self.value(a.offset(i)), self.value(b.offset(i)));
                    self.state.set(dst + i, integer::two(function, bits, a, b));
                }
            }
            GlslFunction::Clamp { signed, operands } => {
                for i in 0..count {
                    let values = operands.map(|operand| self.value(operand.offset(i)));
                    self.state.set(dst + i, integer::clamp(signed, bits, values));
                }
            }
            GlslFunction::FindBit { bit, to, value } => {
                for i in 0..count {
                    let found = integer::find(bit, bits, u32::from(to), self.value(value.offset(i)));
                    self.state.set(dst + i, found);
                }
            }
            GlslFunction::ModfStruct(a) => {
                for i in 0..count {
                    let parts = split::modf(width, self.value(a.offset(i)));
                    let [fraction, whole] = parts.map_err(|error| stop(error, line))?;
                    self.state.set(dst + i, fraction);
                    self.state.set(dst + count + i, whole);
                }
            }
            GlslFunction::FrexpStruct { exponent_width, value } => {
                for i in 0..count {
                    let parts = split::frexp(width, exponent_width, self.value(value.offset(i)));
                    let [significand, exponent] = parts.map_err(|error| stop(error, line))?;
                    self.state.set(dst + i, significand);
                    self.state.set(dst + count + i, exponent);
                }
            }
            GlslFunction::Ldexp { exponent_width, significand, exponent } => {
                for i in 0..count {
                    let (significand, exponent) =
                        (self.value(significand.offset(i)), self.value(exponent.offset(i)));
                    let result = split::ldexp(width, exponent_width, significand, exponent);
                    self.state.set(dst + i, self.evaluated(result, line)?);
                }
            }
            GlslFunction::Pack(packing, a) => {
                let packed = packing::pack(packing, &self.values(a, count));
                self.state.set(dst, self.evaluated(packed, line)?);
            }
            GlslFunction::Unpack(packing, a) => {
                let a = self.value(a);
                for i in 0..count {
                    let component = packing::unpack(packing, a, i);
                    self.state.set(dst + i, self.evaluated(component, line)?);
                }
            }
            GlslFunction::PackDouble(a) => {
                let packed = packing::pack_double(self.value(a), self.value(a.offset(1)));
                self.state.set(dst, packed);
            }
            GlslFunction::UnpackDouble(a) => self.set_all(dst, &packing::unpack_double(self.value(a))),
            GlslFunction::Vector(function) => {
                let results =
                    self.vector_function(function, width, count).map_err(|error| stop(error, line))?;
                self.set_all(dst, &results);
            }
        }
        self.note_glsl(inst, op);
        Ok(())
    }

    fn vector_function(
        &self,
        function: VectorFunction,
        width: u8,
        count: u32,
    ) -> Result<Components, EvaluationError> {
        let steps = Steps(width);
        let vector = |operand| self.values(operand, count);
        let matrix = |operand| self.values(operand, count * count);
        let scalar = |value| Components::from_slice(&[value]);
        match function {
            VectorFunction::Length(a) => steps.length(&vector(a)).map(scalar),
            VectorFunction::Distance([a, b]) => steps.distance(&vector(a), &vector(b)).map(scalar),
            VectorFunction::Cross([a, b]) => steps.cross(&vector(a), &vector(b)),
            VectorFunction::Normalize(a) => steps.normalize(&vector(a)),
            VectorFunction::FaceForward([n, i, reference]) => {
                steps.face_forward(&vector(n), &vector(i), &vector(reference))
            }
            VectorFunction::Reflect([i, n]) => steps.reflect(&vector(i), &vector(n)),
            VectorFunction::Refract { incident, normal, eta, eta_width } => {
                let eta = convert(ConvertOp::FConvert, eta_width, width, self.value(eta))?;
                steps.refract(&vector(incident), &vector(normal), eta)
            }
            VectorFunction::Determinant(a) => linear::determinant(width, count, &matrix(a)).map(scalar),
            VectorFunction::MatrixInverse(a) => linear::inverse(width, count, &matrix(a)),
        }
    }
}

/// Per component of a float.
fn float(function: FloatFunction, width: u8, a: Scalar) -> Evaluated {
    match function {
        FloatFunction::Abs => selection::absolute(width, a),
        FloatFunction::Sign => selection::sign(width, a),
        FloatFunction::Round | FloatFunction::RoundEven => exactly(width, a, f64::round_ties_even),
        FloatFunction::Trunc => exactly(width, a, f64::trunc),
        FloatFunction::Floor => exactly(width, a, f64::floor),
        FloatFunction::Ceil => exactly(width, a, f64::ceil),
        FloatFunction::Fract => Steps(width).subtract(a, exactly(width, a, f64::floor)?),
        FloatFunction::Radians => Steps(width).scale(a, std::f64::consts::PI / 180.0),
        FloatFunction::Degrees => Steps(width).scale(a, 180.0 / std::f64::consts::PI),
    }
}

/// Per component of two floats.
fn float2(function: FloatFunction2, width: u8, a: Scalar, b: Scalar) -> Evaluated {
    match function {
        FloatFunction2::Min => selection::minimum(width, a, b),
        FloatFunction2::Max => selection::maximum(width, a, b),
        FloatFunction2::NMin => selection::number_minimum(width, a, b),
        FloatFunction2::NMax => selection::number_maximum(width, a, b),
        FloatFunction2::Step => selection::step(width, a, b),
        FloatFunction2::Atan2 => transcendental::arc_tangent(width, a, b),
        FloatFunction2::Pow => transcendental::power(width, a, b),
    }
}

/// Per component of three floats.
fn float3(function: FloatFunction3, width: u8, operands: [Scalar; 3]) -> Evaluated {
    match function {
        FloatFunction3::Clamp => selection::clamp(width, operands),
        FloatFunction3::NClamp => selection::number_clamp(width, operands),
        FloatFunction3::Mix => Steps(width).mix(operands),
        FloatFunction3::SmoothStep => Steps(width).smooth_step(operands),
        FloatFunction3::Fma => Steps(width).multiply_add(operands),
    }
}

/// A function of the exact value, rounded once; undefined if any bit of the operand is.
fn exactly(width: u8, a: Scalar, function: impl Fn(f64) -> f64) -> Evaluated {
    if !a.is_defined() {
        return Ok(Scalar::undefined(u32::from(width)));
    }
    from_double(width, function(to_double(width, a.bits)?))
}
