use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{GlslStd450Op as Gl, Op, Word};

use super::{each_instruction, glsl};
use crate::{Module, Mutant, Mutator};

/// Skips an operation: its result is its first operand.
pub struct OperationSkipped;

/// Operations that have the type of their first operand.
const INSTRUCTIONS: &[Op] = &[
    Op::SNegate,
    Op::FNegate,
    Op::Not,
    Op::LogicalNot,
    Op::BitReverse,
    Op::BitFieldInsert,
    Op::BitFieldSExtract,
    Op::BitFieldUExtract,
    Op::Transpose,
    Op::UMod,
    Op::SMod,
    Op::SRem,
    Op::FMod,
    Op::FRem,
    Op::ShiftLeftLogical,
    Op::ShiftRightLogical,
    Op::ShiftRightArithmetic,
    Op::BitwiseAnd,
    Op::VectorTimesScalar,
    Op::MatrixTimesScalar,
    Op::VectorTimesMatrix,
    Op::CompositeInsert,
    Op::QuantizeToF16,
];

const FUNCTIONS: &[Gl] = &[
    Gl::Round,
    Gl::RoundEven,
    Gl::Trunc,
    Gl::FAbs,
    Gl::SAbs,
    Gl::FSign,
    Gl::SSign,
    Gl::Floor,
    Gl::Ceil,
    Gl::Fract,
    Gl::Radians,
    Gl::Degrees,
    Gl::Pow,
    Gl::Exp,
    Gl::Log,
    Gl::Exp2,
    Gl::Log2,
    Gl::Sqrt,
    Gl::InverseSqrt,
    Gl::MatrixInverse,
    Gl::FMin,
    Gl::UMin,
    Gl::SMin,
    Gl::FMax,
    Gl::UMax,
    Gl::SMax,
    Gl::NMin,
    Gl::NMax,
    Gl::FClamp,
    Gl::UClamp,
    Gl::SClamp,
    Gl::NClamp,
    Gl::FMix,
    Gl::Normalize,
    Gl::FaceForward,
    Gl::Reflect,
    Gl::Refract,
    Gl::Ldexp,
];

impl Mutator for OperationSkipped {
    fn name(&self) -> &'static str {
        "operation-skipped"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let Some(kept) = kept(module, inst) else { return Vec::new() };
            if inst.result_type.is_none() || module.type_of(kept) != inst.result_type {
                return Vec::new();
            }
            let operands = vec![Operand::IdRef(kept)];
            let copy = Instruction::new(Op::CopyObject, inst.result_type, inst.result_id, operands);
            let what =
                glsl::function(module, inst).map_or_else(String::new, |function| format!("{function:?}"));
            vec![(what, module.replacing(site, vec![copy]))]
        })
    }
}

/// The operand that is left: in OpCompositeInsert the object without its new part.
fn kept(module: &Module, inst: &Instruction) -> Option<Word> {
    let index = match glsl::function(module, inst) {
        Some(function) => FUNCTIONS.contains(&function).then_some(glsl::ARGUMENTS)?,
        None if inst.class.opcode == Op::CompositeInsert => 1,
        None => INSTRUCTIONS.contains(&inst.class.opcode).then_some(0)?,
    };
    inst.operands.get(index)?.id_ref_any()
}
