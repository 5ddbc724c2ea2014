//! Instructions of GLSL.std.450.

use rspirv::spirv::GlslStd450Op as Glsl;

use super::error::Problem;
use super::function::FunctionBuilder;
use super::types::{Kind, Lanes, MatrixSize, Type};
use super::values::Values;
use crate::ir::{
    CompositeOp, FloatFunction as F, FloatFunction2 as F2, FloatFunction3 as F3, FoundBit, GlslFunction,
    GlslOp, IntegerFunction, IntegerFunction2, Op, Operand, Packing, Transcendental as T, VectorFunction,
};
use crate::module::Instruction;

/// The words in front of the operands: the set and the instruction's number in it.
const HEAD: usize = 2;

/// An instruction being lowered.
struct Extended<'a, 'b, 'm, 'i> {
    builder: &'a mut FunctionBuilder<'b, 'm>,
    instruction: &'a Instruction<'i>,
    glsl: Glsl,
    dst: u32,
    result_type: u32,
}

impl FunctionBuilder<'_, '_> {
    /// Lowers an instruction of GLSL.std.450.
    pub fn glsl(&mut self, glsl: Glsl, instruction: &Instruction) -> Result<(), Problem> {
        let result = self.result(instruction)?;
        let mut extended = Extended {
            builder: self,
            instruction,
            glsl,
            dst: result.operand.index(),
            result_type: result.ty,
        };
        match glsl {
            Glsl::Modf => extended.with_pointer(|extended| {
                let (operand, lanes) = extended.floats(0)?;
                Ok((GlslFunction::ModfStruct(operand), lanes, lanes))
            }),
            Glsl::Frexp => extended.with_pointer(|extended| {
                let (operand, lanes) = extended.floats(0)?;
                let exponents = Lanes { kind: Kind::Int, width: 32, ..lanes };
                let function = GlslFunction::FrexpStruct { exponent_width: exponents.width, value: operand };
                Ok((function, lanes, exponents))
            }),
            _ => {
                let (function, lanes) = extended.function()?;
                let dst = extended.dst;
                extended.emit(function, lanes, dst);
                Ok(())
            }
        }
    }
}

impl Extended<'_, '_, '_, '_> {
    fn invalid(&self, message: &str) -> Problem {
        Problem::invalid(self.instruction.line, format!("OpExtInst {:?}: {message}", self.glsl))
    }

    fn require(&self, condition: bool, message: &str) -> Result<(), Problem> {
        if condition {
            Ok(())
        } else {
            Err(self.invalid(message))
        }
    }

    fn emit(&mut self, function: GlslFunction, lanes: Lanes, dst: u32) {
        let op = GlslOp { function, number: self.glsl as u8, width: lanes.width, count: lanes.count, dst };
        self.builder.emit(Op::Glsl(op), self.instruction);
    }

    fn lanes_of(&self, ty: u32) -> Result<Lanes, Problem> {
        self.builder.types().lanes(ty, self.instruction.line)
    }

    fn result(&self) -> Result<Lanes, Problem> {
        self.lanes_of(self.result_type)
    }

    /// The scalar or vector at this operand position.
    fn lanes(&mut self, position: usize) -> Result<(Operand, Lanes), Problem> {
        let value = self.builder.operand(self.instruction, HEAD + position)?;
        Ok((value.operand, self.lanes_of(value.ty)?))
    }

    fn of_kind(&mut self, position: usize, kind: Kind) -> Result<(Operand, Lanes), Problem> {
        let (operand, lanes) = self.lanes(position)?;
        self.require(lanes.kind == kind, "an operand has the wrong type")?;
        Ok((operand, lanes))
    }

    fn floats(&mut self, position: usize) -> Result<(Operand, Lanes), Problem> {
        self.of_kind(position, Kind::Float)
    }

    /// The operand at this position, which must have exactly these components.
    fn expect(&mut self, position: usize, expected: Lanes) -> Result<Operand, Problem> {
        let (operand, lanes) = self.lanes(position)?;
        self.require(lanes == expected, "an operand has the wrong type")?;
        Ok(operand)
    }

    /// `N` operands of the result's type, which has components of this kind.
    fn like_result<const N: usize>(&mut self, kind: Kind) -> Result<([Operand; N], Lanes), Problem> {
        let lanes = self.result()?;
        self.require(lanes.kind == kind, "the result has the wrong type")?;
        let mut operands = [Operand::constant(0); N];
        for (position, operand) in operands.iter_mut().enumerate() {
            // Integers may differ in signedness.
            *operand = self.expect(position, lanes)?;
        }
        Ok((operands, lanes))
    }

    fn float(&mut self, function: F) -> Result<(GlslFunction, Lanes), Problem> {
        self.like_result(Kind::Float).map(|([a], lanes)| (GlslFunction::Float(function, a), lanes))
    }

    fn transcendental(&mut self, function: T) -> Result<(GlslFunction, Lanes), Problem> {
        self.like_result(Kind::Float).map(|([a], lanes)| (GlslFunction::Transcendental(function, a), lanes))
    }

    fn float2(&mut self, function: F2) -> Result<(GlslFunction, Lanes), Problem> {
        self.like_result(Kind::Float)
            .map(|(operands, lanes)| (GlslFunction::Float2(function, operands), lanes))
    }

    fn float3(&mut self, function: F3) -> Result<(GlslFunction, Lanes), Problem> {
        self.like_result(Kind::Float)
            .map(|(operands, lanes)| (GlslFunction::Float3(function, operands), lanes))
    }

    fn integer(&mut self, function: IntegerFunction) -> Result<(GlslFunction, Lanes), Problem> {
        self.like_result(Kind::Int).map(|([a], lanes)| (GlslFunction::Integer(function, a), lanes))
    }

    fn integer2(&mut self, function: IntegerFunction2) -> Result<(GlslFunction, Lanes), Problem> {
        self.like_result(Kind::Int)
            .map(|(operands, lanes)| (GlslFunction::Integer2(function, operands), lanes))
    }

    fn clamp(&mut self, signed: bool) -> Result<(GlslFunction, Lanes), Problem> {
        self.like_result(Kind::Int).map(|(operands, lanes)| (GlslFunction::Clamp { signed, operands }, lanes))
    }

    fn find(&mut self, bit: FoundBit) -> Result<(GlslFunction, Lanes), Problem> {
        let (value, lanes) = self.of_kind(0, Kind::Int)?;
        let result = self.result()?;
        let like = result.kind == Kind::Int && result.count == lanes.count;
        self.require(like, "the result has the wrong type")?;
        Ok((GlslFunction::FindBit { bit, to: result.width, value }, lanes))
    }

    /// The types of both members of the result.
    fn members(&self) -> Result<[Lanes; 2], Problem> {
        match self.builder.types().get(self.result_type, self.instruction.line)? {
            Type::Struct { members, .. } => match **members {
                [first, second] => Ok([self.lanes_of(first.ty)?, self.lanes_of(second.ty)?]),
                _ => Err(self.invalid("the result is not a struct of two members")),
            },
            _ => Err(self.invalid("the result is not a struct of two members")),
        }
    }

    fn modf_struct(&mut self) -> Result<(GlslFunction, Lanes), Problem> {
        let (operand, lanes) = self.floats(0)?;
        self.require(self.members()? == [lanes, lanes], "a member has the wrong type")?;
        Ok((GlslFunction::ModfStruct(operand), lanes))
    }

    fn frexp_struct(&mut self) -> Result<(GlslFunction, Lanes), Problem> {
        let (value, lanes) = self.floats(0)?;
        let [significand, exponent] = self.members()?;
        let like = significand == lanes && exponent.kind == Kind::Int && exponent.count == lanes.count;
        self.require(like, "a member has the wrong type")?;
        Ok((GlslFunction::FrexpStruct { exponent_width: exponent.width, value }, lanes))
    }

    fn ldexp(&mut self) -> Result<(GlslFunction, Lanes), Problem> {
        let ([significand], lanes) = self.like_result(Kind::Float)?;
        let (exponent, exponents) = self.of_kind(1, Kind::Int)?;
        self.require(exponents.count == lanes.count, "the exponent has the wrong type")?;
        Ok((GlslFunction::Ldexp { exponent_width: exponents.width, significand, exponent }, lanes))
    }

    fn pack(&mut self, packing: Packing) -> Result<(GlslFunction, Lanes), Problem> {
        let (components, _) = packing.fields();
        let lanes = Lanes { kind: Kind::Float, width: 32, count: components };
        let operand = self.expect(0, lanes)?;
        let word = Lanes { kind: Kind::Int, width: 32, count: 1 };
        self.require(self.result()? == word, "the result is no integer of 32 bits")?;
        Ok((GlslFunction::Pack(packing, operand), lanes))
    }

    fn unpack(&mut self, packing: Packing) -> Result<(GlslFunction, Lanes), Problem> {
        let operand = self.expect(0, Lanes { kind: Kind::Int, width: 32, count: 1 })?;
        let (components, _) = packing.fields();
        let lanes = Lanes { kind: Kind::Float, width: 32, count: components };
        self.require(self.result()? == lanes, "the result has the wrong type")?;
        Ok((GlslFunction::Unpack(packing, operand), lanes))
    }

    /// Between a float of 64 bits and two integers of 32.
    fn double(&mut self, pack: bool) -> Result<(GlslFunction, Lanes), Problem> {
        let halves = Lanes { kind: Kind::Int, width: 32, count: 2 };
        let double = Lanes { kind: Kind::Float, width: 64, count: 1 };
        let (from, to) = if pack { (halves, double) } else { (double, halves) };
        let operand = self.expect(0, from)?;
        self.require(self.result()? == to, "the result has the wrong type")?;
        let function =
            if pack { GlslFunction::PackDouble(operand) } else { GlslFunction::UnpackDouble(operand) };
        Ok((function, from))
    }

    /// To a scalar of the operands' components.
    fn scalar_of<const N: usize>(&mut self) -> Result<([Operand; N], Lanes), Problem> {
        let (_, lanes) = self.floats(0)?;
        let scalar = Lanes { count: 1, ..lanes };
        self.require(self.result()? == scalar, "the result is not a component of the operand")?;
        let mut operands = [Operand::constant(0); N];
        for (position, operand) in operands.iter_mut().enumerate() {
            *operand = self.expect(position, lanes)?;
        }
        Ok((operands, lanes))
    }

    fn refract(&mut self) -> Result<(GlslFunction, Lanes), Problem> {
        let ([incident, normal], lanes) = self.like_result(Kind::Float)?;
        let (eta, scalar) = self.floats(2)?;
        self.require(scalar.count == 1, "eta is not a scalar")?;
        let function = VectorFunction::Refract { incident, normal, eta, eta_width: scalar.width };
        Ok((GlslFunction::Vector(function), lanes))
    }

    /// A square matrix.
    fn matrix(&mut self) -> Result<(Operand, Lanes, u32), Problem> {
        let value = self.builder.operand(self.instruction, HEAD)?;
        let MatrixSize { columns, rows, width } =
            self.builder.types().matrix(value.ty, self.instruction.line)?;
        self.require(columns == rows, "the matrix is not square")?;
        Ok((value.operand, Lanes { kind: Kind::Float, width, count: columns }, value.ty))
    }

    fn determinant(&mut self) -> Result<(GlslFunction, Lanes), Problem> {
        let (operand, lanes, _) = self.matrix()?;
        self.require(self.result()? == Lanes { count: 1, ..lanes }, "the result has the wrong type")?;
        Ok((GlslFunction::Vector(VectorFunction::Determinant(operand)), lanes))
    }

    fn matrix_inverse(&mut self) -> Result<(GlslFunction, Lanes), Problem> {
        let (operand, lanes, ty) = self.matrix()?;
        self.require(self.result_type == ty, "the result is not of the matrix's type")?;
        Ok((GlslFunction::Vector(VectorFunction::MatrixInverse(operand)), lanes))
    }

    /// Modf and Frexp with a pointer: the first part is the result, the second is stored.
    fn with_pointer(
        &mut self,
        parts: impl FnOnce(&mut Self) -> Result<(GlslFunction, Lanes, Lanes), Problem>,
    ) -> Result<(), Problem> {
        let (function, lanes, stored) = parts(self)?;
        self.require(self.result()? == lanes, "the result has the wrong type")?;
        let both = self.builder.registers(2 * lanes.count, self.instruction.line)?;
        self.emit(function, lanes, both);
        let first =
            CompositeOp::Extract { dst: self.dst, a: Operand::register(both), start: 0, count: lanes.count };
        self.builder.emit(Op::Composite(first), self.instruction);
        let pointee =
            self.builder.store_part(self.instruction, HEAD + 1, Operand::register(both + lanes.count))?;
        self.require(self.lanes_of(pointee)? == stored, "the pointer leads to the wrong type")
    }

    /// Everything without a pointer.
    fn function(&mut self) -> Result<(GlslFunction, Lanes), Problem> {
        match self.glsl {
            Glsl::Round => self.float(F::Round),
            Glsl::RoundEven => self.float(F::RoundEven),
            Glsl::Trunc => self.float(F::Trunc),
            Glsl::FAbs => self.float(F::Abs),
            Glsl::FSign => self.float(F::Sign),
            Glsl::Floor => self.float(F::Floor),
            Glsl::Ceil => self.float(F::Ceil),
            Glsl::Fract => self.float(F::Fract),
            Glsl::Radians => self.float(F::Radians),
            Glsl::Degrees => self.float(F::Degrees),
            Glsl::Sin => self.transcendental(T::Sin),
            Glsl::Cos => self.transcendental(T::Cos),
            Glsl::Tan => self.transcendental(T::Tan),
            Glsl::Asin => self.transcendental(T::Asin),
            Glsl::Acos => self.transcendental(T::Acos),
            Glsl::Atan => self.transcendental(T::Atan),
            Glsl::Sinh => self.transcendental(T::Sinh),
            Glsl::Cosh => self.transcendental(T::Cosh),
            Glsl::Tanh => self.transcendental(T::Tanh),
            Glsl::Asinh => self.transcendental(T::Asinh),
            Glsl::Acosh => self.transcendental(T::Acosh),
            Glsl::Atanh => self.transcendental(T::Atanh),
            Glsl::Exp => self.transcendental(T::Exp),
            Glsl::Log => self.transcendental(T::Log),
            Glsl::Exp2 => self.transcendental(T::Exp2),
            Glsl::Log2 => self.transcendental(T::Log2),
            Glsl::Sqrt => self.transcendental(T::Sqrt),
            Glsl::InverseSqrt => self.transcendental(T::InverseSqrt),
            Glsl::Atan2 => self.float2(F2::Atan2),
            Glsl::Pow => self.float2(F2::Pow),
            Glsl::FMin => self.float2(F2::Min),
            Glsl::FMax => self.float2(F2::Max),
            Glsl::NMin => self.float2(F2::NMin),
            Glsl::NMax => self.float2(F2::NMax),
            Glsl::Step => self.float2(F2::Step),
            Glsl::FClamp => self.float3(F3::Clamp),
            Glsl::NClamp => self.float3(F3::NClamp),
            Glsl::FMix => self.float3(F3::Mix),
            Glsl::SmoothStep => self.float3(F3::SmoothStep),
            Glsl::Fma => self.float3(F3::Fma),
            Glsl::SAbs => self.integer(IntegerFunction::Abs),
            Glsl::SSign => self.integer(IntegerFunction::Sign),
            Glsl::UMin => self.integer2(IntegerFunction2::UMin),
            Glsl::SMin => self.integer2(IntegerFunction2::SMin),
            Glsl::UMax => self.integer2(IntegerFunction2::UMax),
            Glsl::SMax => self.integer2(IntegerFunction2::SMax),
            Glsl::UClamp => self.clamp(false),
            Glsl::SClamp => self.clamp(true),
            Glsl::FindILsb => self.find(FoundBit::Lowest),
            Glsl::FindSMsb => self.find(FoundBit::HighestSigned),
            Glsl::FindUMsb => self.find(FoundBit::Highest),
            Glsl::ModfStruct => self.modf_struct(),
            Glsl::FrexpStruct => self.frexp_struct(),
            Glsl::Ldexp => self.ldexp(),
            Glsl::PackSnorm4x8 => self.pack(Packing::Snorm4x8),
            Glsl::PackUnorm4x8 => self.pack(Packing::Unorm4x8),
            Glsl::PackSnorm2x16 => self.pack(Packing::Snorm2x16),
            Glsl::PackUnorm2x16 => self.pack(Packing::Unorm2x16),
            Glsl::PackHalf2x16 => self.pack(Packing::Half2x16),
            Glsl::UnpackSnorm4x8 => self.unpack(Packing::Snorm4x8),
            Glsl::UnpackUnorm4x8 => self.unpack(Packing::Unorm4x8),
            Glsl::UnpackSnorm2x16 => self.unpack(Packing::Snorm2x16),
            Glsl::UnpackUnorm2x16 => self.unpack(Packing::Unorm2x16),
            Glsl::UnpackHalf2x16 => self.unpack(Packing::Half2x16),
            Glsl::PackDouble2x32 => self.double(true),
            Glsl::UnpackDouble2x32 => self.double(false),
            Glsl::Length => {
                let ([a], lanes) = self.scalar_of()?;
                Ok((GlslFunction::Vector(VectorFunction::Length(a)), lanes))
            }
            Glsl::Distance => {
                let (operands, lanes) = self.scalar_of()?;
                Ok((GlslFunction::Vector(VectorFunction::Distance(operands)), lanes))
            }
            Glsl::Cross => {
                let (operands, lanes) = self.like_result(Kind::Float)?;
                self.require(lanes.count == 3, "the vectors do not have three components")?;
                Ok((GlslFunction::Vector(VectorFunction::Cross(operands)), lanes))
            }
            Glsl::Normalize => {
                let ([a], lanes) = self.like_result(Kind::Float)?;
                Ok((GlslFunction::Vector(VectorFunction::Normalize(a)), lanes))
            }
            Glsl::FaceForward => {
                let (operands, lanes) = self.like_result(Kind::Float)?;
                Ok((GlslFunction::Vector(VectorFunction::FaceForward(operands)), lanes))
            }
            Glsl::Reflect => {
                let (operands, lanes) = self.like_result(Kind::Float)?;
                Ok((GlslFunction::Vector(VectorFunction::Reflect(operands)), lanes))
            }
            Glsl::Refract => self.refract(),
            Glsl::Determinant => self.determinant(),
            Glsl::MatrixInverse => self.matrix_inverse(),
            Glsl::Modf
            | Glsl::Frexp
            | Glsl::IMix
            | Glsl::InterpolateAtCentroid
            | Glsl::InterpolateAtSample
            | Glsl::InterpolateAtOffset => Err(Problem::unsupported(
                format!("OpExtInst GLSL.std.450 {:?}", self.glsl),
                self.instruction.line,
            )),
        }
    }
}
