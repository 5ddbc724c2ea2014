//! Instructions of the extended instruction set GLSL.std.450, without those of fragment shaders.

use super::Operand;

/// An instruction of GLSL.std.450.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlslOp {
    pub function: GlslFunction,
    /// The instruction's number in the set.
    pub number: u8,
    /// Bits of a component of the first operand.
    pub width: u8,
    /// Components of the first operand; rows and columns of a matrix.
    pub count: u32,
    pub dst: u32,
}

/// What an instruction computes, and from what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlslFunction {
    /// Per component of a float, to a like one.
    Float(FloatFunction, Operand),
    /// Per component of a float, to a like one.
    Transcendental(Transcendental, Operand),
    /// Per component of two floats.
    Float2(FloatFunction2, [Operand; 2]),
    /// Per component of three floats.
    Float3(FloatFunction3, [Operand; 3]),
    /// Per component of an integer, to a like one.
    Integer(IntegerFunction, Operand),
    /// Per component of two integers.
    Integer2(IntegerFunction2, [Operand; 2]),
    /// Per component: the first between the second and the third.
    Clamp {
        signed: bool,
        operands: [Operand; 3],
    },
    /// The number of a bit, in components of `to` bits.
    FindBit {
        bit: FoundBit,
        to: u8,
        value: Operand,
    },
    /// All fractions, then all whole numbers.
    ModfStruct(Operand),
    /// All significands, then all exponents, which are integers of `exponent_width` bits.
    FrexpStruct {
        exponent_width: u8,
        value: Operand,
    },
    /// Exponents are signed integers of `exponent_width` bits.
    Ldexp {
        exponent_width: u8,
        significand: Operand,
        exponent: Operand,
    },
    /// A vector of 32-bit floats into one integer, its first component lowest.
    Pack(Packing, Operand),
    /// One integer into a vector of 32-bit floats; `GlslOp::count` is of the result.
    Unpack(Packing, Operand),
    /// Two integers of 32 bits into a float of 64, the first one lower.
    PackDouble(Operand),
    UnpackDouble(Operand),
    Vector(VectorFunction),
}

/// What takes vectors or matrices as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorFunction {
    /// To a scalar.
    Length(Operand),
    /// To a scalar.
    Distance([Operand; 2]),
    /// Of three components.
    Cross([Operand; 2]),
    Normalize(Operand),
    /// N, I, Nref.
    FaceForward([Operand; 3]),
    /// I, N.
    Reflect([Operand; 2]),
    /// `eta` is a scalar of `eta_width` bits.
    Refract {
        incident: Operand,
        normal: Operand,
        eta: Operand,
        eta_width: u8,
    },
    /// Of a matrix with `GlslOp::count` columns of as many components.
    Determinant(Operand),
    MatrixInverse(Operand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFunction {
    Round,
    RoundEven,
    Trunc,
    Floor,
    Ceil,
    Fract,
    Abs,
    Sign,
    Radians,
    Degrees,
}

/// Exponential, logarithmic and trigonometric functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transcendental {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    InverseSqrt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFunction2 {
    /// The operands are y and x.
    Atan2,
    Pow,
    Min,
    Max,
    /// Of a NaN and another value, the other one.
    NMin,
    NMax,
    /// The operands are the edge and x.
    Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFunction3 {
    Clamp,
    NClamp,
    /// x, y, and the weight of y.
    Mix,
    /// Both edges and x.
    SmoothStep,
    Fma,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerFunction {
    Abs,
    Sign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerFunction2 {
    UMin,
    SMin,
    UMax,
    SMax,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBit {
    /// The lowest one.
    Lowest,
    /// The highest one.
    Highest,
    /// The highest that differs from the sign.
    HighestSigned,
}

/// How floats lie in an integer of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Snorm4x8,
    Unorm4x8,
    Snorm2x16,
    Unorm2x16,
    Half2x16,
}

impl Packing {
    /// Components, and bits of each.
    pub const fn fields(self) -> (u32, u32) {
        match self {
            Packing::Snorm4x8 | Packing::Unorm4x8 => (4, 8),
            Packing::Snorm2x16 | Packing::Unorm2x16 | Packing::Half2x16 => (2, 16),
        }
    }

    /// The integer that stands for 1; `None` for halves.
    pub const fn one(self) -> Option<f64> {
        match self {
            Packing::Snorm4x8 => Some(127.0),
            Packing::Unorm4x8 => Some(255.0),
            Packing::Snorm2x16 => Some(32_767.0),
            Packing::Unorm2x16 => Some(65_535.0),
            Packing::Half2x16 => None,
        }
    }

    /// Whether components go down to -1.
    pub const fn is_signed(self) -> bool {
        matches!(self, Packing::Snorm4x8 | Packing::Snorm2x16)
    }
}

impl GlslFunction {
    /// The operands that are read.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        let operands = match *self {
            GlslFunction::Float(_, a)
            | GlslFunction::Transcendental(_, a)
            | GlslFunction::Integer(_, a)
            | GlslFunction::FindBit { value: a, .. }
            | GlslFunction::ModfStruct(a)
            | GlslFunction::FrexpStruct { value: a, .. }
            | GlslFunction::Pack(_, a)
            | GlslFunction::Unpack(_, a)
            | GlslFunction::PackDouble(a)
            | GlslFunction::UnpackDouble(a)
            | GlslFunction::Vector(
                VectorFunction::Length(a)
                | VectorFunction::Normalize(a)
                | VectorFunction::Determinant(a)
                | VectorFunction::MatrixInverse(a),
            ) => [Some(a), None, None],
            GlslFunction::Float2(_, [a, b])
            | GlslFunction::Integer2(_, [a, b])
            | GlslFunction::Ldexp { significand: a, exponent: b, .. }
            | GlslFunction::Vector(
                VectorFunction::Distance([a, b])
                | VectorFunction::Cross([a, b])
                | VectorFunction::Reflect([a, b]),
            ) => [Some(a), Some(b), None],
            GlslFunction::Float3(_, [a, b, c])
            | GlslFunction::Clamp { operands: [a, b, c], .. }
            | GlslFunction::Vector(
                VectorFunction::FaceForward([a, b, c])
                | VectorFunction::Refract { incident: a, normal: b, eta: c, .. },
            ) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }
}
