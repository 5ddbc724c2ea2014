use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{GlslStd450Op as Gl, Op};

use super::{each_instruction, glsl};
use crate::{Module, Mutant, Mutator};

/// Swaps two operands whose order matters.
pub struct OperandsSwapped;

/// Which operands of an instruction are swapped, in pairs.
const INSTRUCTIONS: &[(Op, &[(usize, usize)])] = &[
    (Op::ISub, &[(0, 1)]),
    (Op::FSub, &[(0, 1)]),
    (Op::UDiv, &[(0, 1)]),
    (Op::SDiv, &[(0, 1)]),
    (Op::FDiv, &[(0, 1)]),
    (Op::UMod, &[(0, 1)]),
    (Op::SRem, &[(0, 1)]),
    (Op::SMod, &[(0, 1)]),
    (Op::FRem, &[(0, 1)]),
    (Op::FMod, &[(0, 1)]),
    (Op::ISubBorrow, &[(0, 1)]),
    (Op::MatrixTimesMatrix, &[(0, 1)]),
    (Op::OuterProduct, &[(0, 1)]),
    (Op::ShiftLeftLogical, &[(0, 1)]),
    (Op::ShiftRightLogical, &[(0, 1)]),
    (Op::ShiftRightArithmetic, &[(0, 1)]),
    (Op::BitFieldInsert, &[(0, 1), (2, 3)]),
    (Op::BitFieldSExtract, &[(1, 2)]),
    (Op::BitFieldUExtract, &[(1, 2)]),
    (Op::SLessThan, &[(0, 1)]),
    (Op::SLessThanEqual, &[(0, 1)]),
    (Op::SGreaterThan, &[(0, 1)]),
    (Op::SGreaterThanEqual, &[(0, 1)]),
    (Op::ULessThan, &[(0, 1)]),
    (Op::ULessThanEqual, &[(0, 1)]),
    (Op::UGreaterThan, &[(0, 1)]),
    (Op::UGreaterThanEqual, &[(0, 1)]),
    (Op::FOrdLessThan, &[(0, 1)]),
    (Op::FOrdLessThanEqual, &[(0, 1)]),
    (Op::FOrdGreaterThan, &[(0, 1)]),
    (Op::FOrdGreaterThanEqual, &[(0, 1)]),
    (Op::FUnordLessThan, &[(0, 1)]),
    (Op::FUnordLessThanEqual, &[(0, 1)]),
    (Op::FUnordGreaterThan, &[(0, 1)]),
    (Op::FUnordGreaterThanEqual, &[(0, 1)]),
    (Op::Select, &[(1, 2)]),
    (Op::Phi, &[(0, 2)]),
    (Op::FunctionCall, &[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]),
    (Op::AtomicCompareExchange, &[(4, 5)]),
];

/// Which arguments of a function of GLSL.std.450 are swapped, in pairs.
const FUNCTIONS: &[(Gl, &[(usize, usize)])] = &[
    (Gl::Atan2, &[(0, 1)]),
    (Gl::Pow, &[(0, 1)]),
    (Gl::FMix, &[(0, 1)]),
    (Gl::Step, &[(0, 1)]),
    (Gl::SmoothStep, &[(0, 1)]),
    (Gl::Fma, &[(0, 2)]),
    (Gl::Cross, &[(0, 1)]),
    (Gl::FaceForward, &[(0, 1), (1, 2)]),
    (Gl::Reflect, &[(0, 1)]),
    (Gl::Refract, &[(0, 1)]),
    (Gl::FClamp, &[(0, 1), (1, 2)]),
    (Gl::NClamp, &[(0, 1), (1, 2)]),
    (Gl::SClamp, &[(0, 1), (1, 2)]),
    (Gl::UClamp, &[(0, 1), (1, 2)]),
];

impl Mutator for OperandsSwapped {
    fn name(&self) -> &'static str {
        "operands-swapped"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let mut changes = Vec::new();
            for (first, second) in pairs(module, inst) {
                let (one, other) = (inst.operands.get(first), inst.operands.get(second));
                if let (Some(Operand::IdRef(one)), Some(Operand::IdRef(other))) = (one, other) {
                    if one != other {
                        let mut changed = inst.clone();
                        changed.operands.swap(first, second);
                        let what = format!("operands {first} and {second}");
                        changes.push((what, module.replacing(site, vec![changed])));
                    }
                }
            }
            changes
        })
    }
}

fn pairs(module: &Module, inst: &Instruction) -> Vec<(usize, usize)> {
    if let Some(function) = glsl::function(module, inst) {
        let found = FUNCTIONS.iter().filter(|(other, _)| *other == function);
        let shifted = |(first, second): &(usize, usize)| (first + glsl::ARGUMENTS, second + glsl::ARGUMENTS);
        return found.flat_map(|(_, pairs)| pairs.iter().map(shifted)).collect();
    }
    let found = INSTRUCTIONS.iter().filter(|(opcode, _)| *opcode == inst.class.opcode);
    found.flat_map(|(_, pairs)| pairs.iter().copied()).collect()
}
