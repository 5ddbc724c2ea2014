//! Which executed instructions of GLSL.std.450 might have given another result than they did.
//!
//! The environment's table of precisions calls rounding, splitting and selecting instructions
//! correctly rounded: they are exact, up to values that need not be kept. Formulas inherit the errors
//! of their steps: they are exact for small and round operands where they neither divide nor take a
//! root. Everything else has an error, or no bound at all. The modes that keep NaNs, infinities and the
//! sign of zero are about core instructions, not about these.

use super::super::float::to_double;
use super::super::inexact::{is_free, is_multiple, is_rounded, is_tame, Role};
use super::super::machine::Machine;
use super::{packing, split};
use crate::ir::{
    FloatBinary, FloatFunction, FloatFunction2, FloatFunction3, FloatModes, GlslFunction, GlslOp, Inst,
    Operand, Packing, VectorFunction,
};
use crate::value::Scalar;

/// What the environment says of an instruction, where its values are ones that must be kept.
enum Precision {
    /// The result is the exact one.
    Exact,
    /// For operands that are small and round.
    ExactIfTame,
    /// For operands of which products of three and sums of these are exact.
    ExactIfTiny,
    Open,
}

impl Machine<'_> {
    /// Records the instruction, which has run, if its result was open.
    pub(super) fn note_glsl(&mut self, inst: &Inst, op: &GlslOp) {
        if self.is_open(op) {
            self.record(inst);
        }
    }

    fn is_open(&self, op: &GlslOp) -> bool {
        let GlslOp { width, count, dst, .. } = *op;
        let components = |first: Operand, count| (0..count).map(move |i| self.value(first.offset(i)));
        let results = |count| components(Operand::register(dst), count);
        match op.function {
            GlslFunction::Integer(..)
            | GlslFunction::Integer2(..)
            | GlslFunction::Clamp { .. }
            | GlslFunction::FindBit { .. } => false,
            GlslFunction::Transcendental(..) => true,
            GlslFunction::Float(function, a) => {
                let kept = matches!(
                    function,
                    FloatFunction::Abs
                        | FloatFunction::Sign
                        | FloatFunction::Radians
                        | FloatFunction::Degrees
                );
                self.any_free(components(a, count), width, kept)
                    || self.any_free(results(count), width, kept)
                    || components(a, count)
                        .zip(results(count))
                        .any(|(a, result)| self.float_is_open(function, width, a, result))
            }
            GlslFunction::Float2(function, [a, b]) => match function {
                FloatFunction2::Atan2 | FloatFunction2::Pow => true,
                // The result is an operand, or a constant.
                FloatFunction2::Min | FloatFunction2::Max | FloatFunction2::NMin | FloatFunction2::NMax => {
                    self.any_free(components(a, count).chain(components(b, count)), width, true)
                }
                FloatFunction2::Step => {
                    let modes = self.modes(false);
                    let mut operands = components(a, count).chain(components(b, count));
                    operands.any(|value| is_free(modes, width, value, Role::Compared))
                }
            },
            GlslFunction::Float3(function, operands) => {
                let precision = match function {
                    FloatFunction3::Clamp | FloatFunction3::NClamp => Precision::Exact,
                    FloatFunction3::Mix | FloatFunction3::Fma => Precision::ExactIfTame,
                    FloatFunction3::SmoothStep => Precision::Open,
                };
                let values = operands.into_iter().flat_map(|operand| components(operand, count));
                let zeros = matches!(precision, Precision::ExactIfTame)
                    && results(count).any(|value| is_free(self.modes(true), width, value, Role::Result));
                zeros || self.are_open(&precision, width, values, true)
            }
            GlslFunction::ModfStruct(a) => {
                self.any_free(components(a, count).chain(results(2 * count)), width, false)
            }
            // The significand is no denormal.
            GlslFunction::FrexpStruct { value, .. } => self.any_free(components(value, count), width, false),
            GlslFunction::Ldexp { exponent_width, significand, exponent } => {
                let flushes = |exponent: Scalar| {
                    let exponent =
                        super::super::arithmetic::sign_extend(exponent.bits, exponent_width.into());
                    exponent < split::least_exponent(width)
                };
                self.any_free(components(significand, count).chain(results(count)), width, false)
                    || components(exponent, count).any(flushes)
            }
            GlslFunction::Pack(packing, a) => components(a, count).any(|a| self.pack_is_open(packing, a)),
            GlslFunction::Unpack(Packing::Half2x16, _) => results(count).any(|value| {
                // Denormal halves are normal floats.
                let half = to_double(32, value.bits).and_then(|value| super::from_double(16, value));
                half.is_ok_and(|half| is_free(self.modes(true), 16, half, Role::Operand))
            }),
            // A division, which has an error unless it is that of a zero.
            GlslFunction::Unpack(..) => results(count).any(|value| value.is_defined() && value.bits != 0),
            GlslFunction::PackDouble(_) => self.any_free(results(1), 64, true),
            GlslFunction::UnpackDouble(a) => self.any_free(components(a, 1), 64, true),
            GlslFunction::Vector(function) => self.vector_is_open(function, width, count, dst),
        }
    }

    /// The module's modes, as far as they are about the instruction.
    fn modes(&self, preserves_denormals: bool) -> FloatModes {
        let modes = self.program.modes.floats;
        FloatModes {
            denorm_preserve: if preserves_denormals { modes.denorm_preserve } else { 0 },
            signed_zero_inf_nan_preserve: 0,
            ..modes
        }
    }

    /// Whether one of the values need not be kept.
    fn any_free(
        &self,
        mut values: impl Iterator<Item = Scalar>,
        width: u8,
        preserves_denormals: bool,
    ) -> bool {
        let modes = self.modes(preserves_denormals);
        values.any(|value| is_free(modes, width, value, Role::Operand))
    }

    fn float_is_open(&self, function: FloatFunction, width: u8, a: Scalar, result: Scalar) -> bool {
        if !a.is_defined() {
            return false;
        }
        match function {
            FloatFunction::RoundEven
            | FloatFunction::Trunc
            | FloatFunction::Floor
            | FloatFunction::Ceil
            | FloatFunction::Abs
            | FloatFunction::Sign => false,
            // A tie goes either way.
            FloatFunction::Round => to_double(width, a.bits).is_ok_and(|a| a.fract().abs() == 0.5),
            FloatFunction::Fract => {
                let floor = super::exactly(width, a, f64::floor);
                floor.is_ok_and(|floor| is_rounded(FloatBinary::Subtract, width, [a, floor, result]))
                    && !self.program.modes.floats.rounds_to_even(width)
            }
            FloatFunction::Radians | FloatFunction::Degrees => result.bits != 0,
        }
    }

    fn are_open(
        &self,
        precision: &Precision,
        width: u8,
        mut values: impl Iterator<Item = Scalar>,
        preserves_denormals: bool,
    ) -> bool {
        let modes = self.modes(preserves_denormals);
        values.any(|value| {
            let steady = match precision {
                Precision::Exact => true,
                Precision::ExactIfTame => is_tame(width, value),
                Precision::ExactIfTiny => {
                    let (unit, most) = if width == 16 { (1.0, 2.0) } else { (8.0, 8.0) };
                    is_multiple(width, value, unit, most)
                }
                Precision::Open => false,
            };
            !steady || is_free(modes, width, value, Role::Operand)
        })
    }

    fn pack_is_open(&self, packing: Packing, a: Scalar) -> bool {
        if !a.is_defined() {
            return false;
        }
        let modes = self.modes(packing == Packing::Half2x16);
        if is_free(modes, 32, a, Role::Operand) {
            return true;
        }
        let value = f32::from_bits(a.bits as u32);
        match packing.one() {
            None => {
                let half = super::from_double(16, f64::from(value));
                half.is_ok_and(|half| {
                    let rounds = to_double(16, half.bits).is_ok_and(|back| back != f64::from(value));
                    rounds && !modes.rounds_to_even(16) || is_free(modes, 16, half, Role::Operand)
                })
            }
            Some(one) => {
                // The product may be rounded up or down before it is rounded to an integer, which may go
                // either way in the middle between two.
                let scaled = f64::from(packing::scaled(packing, value, one));
                (scaled.fract().abs() - 0.5).abs() <= scaled.abs() * f64::from(f32::EPSILON)
            }
        }
    }

    fn vector_is_open(&self, function: VectorFunction, width: u8, count: u32, dst: u32) -> bool {
        let vectors = |operands: &[Operand]| -> Vec<Scalar> {
            let components = |operand: &Operand| self.values(*operand, count);
            operands.iter().flat_map(components).collect()
        };
        let zeros = || {
            let mut results = (0..count).map(|i| self.value(Operand::register(dst + i)));
            results.any(|value| is_free(self.modes(false), width, value, Role::Result))
        };
        let (precision, operands) = match function {
            VectorFunction::Cross(operands) => (Precision::ExactIfTame, vectors(&operands)),
            VectorFunction::FaceForward([n, i, reference]) => {
                let exact = vectors(&[n]).into_iter();
                if self.are_open(&Precision::Exact, width, exact, false) {
                    return true;
                }
                (Precision::ExactIfTame, vectors(&[i, reference]))
            }
            VectorFunction::Reflect(operands) => (Precision::ExactIfTiny, vectors(&operands)),
            VectorFunction::Length(_)
            | VectorFunction::Distance(_)
            | VectorFunction::Normalize(_)
            | VectorFunction::Refract { .. }
            | VectorFunction::Determinant(_)
            | VectorFunction::MatrixInverse(_) => return true,
        };
        zeros() || self.are_open(&precision, width, operands.into_iter(), false)
    }
}
