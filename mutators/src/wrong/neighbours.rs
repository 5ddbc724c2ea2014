use rspirv::dr::Instruction;
use rspirv::spirv::Op;

use super::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Replaces an opcode by another one of its group, with the same operands.
pub struct Neighbours {
    name: &'static str,
    groups: &'static [&'static [Op]],
}

/// Arithmetic, shifts, bits, logic and derivatives.
pub const OPERATOR: Neighbours = Neighbours {
    name: "wrong-operator",
    groups: &[
        &[Op::IAdd, Op::ISub, Op::IMul],
        &[Op::FAdd, Op::FSub, Op::FMul, Op::FDiv],
        &[Op::UDiv, Op::UMod],
        &[Op::SDiv, Op::SRem],
        &[Op::SRem, Op::SMod],
        &[Op::FRem, Op::FMod],
        &[Op::SNegate, Op::Not],
        &[Op::IAddCarry, Op::ISubBorrow],
        &[Op::ShiftLeftLogical, Op::ShiftRightLogical],
        &[Op::ShiftLeftLogical, Op::ShiftRightArithmetic],
        &[Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor],
        &[Op::BitReverse, Op::BitCount],
        &[Op::LogicalAnd, Op::LogicalOr],
        &[Op::LogicalEqual, Op::LogicalNotEqual],
        &[Op::Any, Op::All],
        &[Op::IsNan, Op::IsInf],
        &[Op::DPdx, Op::DPdy],
        &[Op::DPdxFine, Op::DPdyFine],
        &[Op::DPdxCoarse, Op::DPdyCoarse],
        &[Op::MatrixTimesVector, Op::VectorTimesMatrix],
    ],
};

/// Signed for unsigned: division, comparison, shifts, bit fields, conversions.
pub const SIGNEDNESS: Neighbours = Neighbours {
    name: "wrong-signedness",
    groups: &[
        &[Op::SDiv, Op::UDiv],
        &[Op::UMod, Op::SRem],
        &[Op::UMod, Op::SMod],
        &[Op::UMulExtended, Op::SMulExtended],
        &[Op::ShiftRightLogical, Op::ShiftRightArithmetic],
        &[Op::BitFieldSExtract, Op::BitFieldUExtract],
        &[Op::SLessThan, Op::ULessThan],
        &[Op::SLessThanEqual, Op::ULessThanEqual],
        &[Op::SGreaterThan, Op::UGreaterThan],
        &[Op::SGreaterThanEqual, Op::UGreaterThanEqual],
        &[Op::SConvert, Op::UConvert],
        &[Op::ConvertSToF, Op::ConvertUToF],
        &[Op::ConvertFToS, Op::ConvertFToU],
        &[Op::SDot, Op::UDot, Op::SUDot],
        &[Op::SDotAccSat, Op::UDotAccSat, Op::SUDotAccSat],
        &[Op::AtomicSMin, Op::AtomicUMin],
        &[Op::AtomicSMax, Op::AtomicUMax],
        &[Op::GroupNonUniformSMin, Op::GroupNonUniformUMin],
        &[Op::GroupNonUniformSMax, Op::GroupNonUniformUMax],
    ],
};

/// A comparison that is off by one: with equality, or without.
pub const BOUND: Neighbours = Neighbours {
    name: "wrong-bound",
    groups: &[
        &[Op::SLessThan, Op::SLessThanEqual],
        &[Op::SGreaterThan, Op::SGreaterThanEqual],
        &[Op::ULessThan, Op::ULessThanEqual],
        &[Op::UGreaterThan, Op::UGreaterThanEqual],
        &[Op::FOrdLessThan, Op::FOrdLessThanEqual],
        &[Op::FOrdGreaterThan, Op::FOrdGreaterThanEqual],
        &[Op::FUnordLessThan, Op::FUnordLessThanEqual],
        &[Op::FUnordGreaterThan, Op::FUnordGreaterThanEqual],
    ],
};

/// A comparison the other way.
pub const COMPARISON: Neighbours = Neighbours {
    name: "wrong-comparison",
    groups: &[
        &[Op::IEqual, Op::INotEqual],
        &[Op::FOrdEqual, Op::FOrdNotEqual],
        &[Op::FUnordEqual, Op::FUnordNotEqual],
        &[Op::PtrEqual, Op::PtrNotEqual],
        &[Op::SLessThan, Op::SGreaterThan],
        &[Op::SLessThan, Op::SGreaterThanEqual],
        &[Op::SLessThanEqual, Op::SGreaterThan],
        &[Op::SLessThanEqual, Op::SGreaterThanEqual],
        &[Op::ULessThan, Op::UGreaterThan],
        &[Op::ULessThan, Op::UGreaterThanEqual],
        &[Op::ULessThanEqual, Op::UGreaterThan],
        &[Op::ULessThanEqual, Op::UGreaterThanEqual],
        &[Op::FOrdLessThan, Op::FOrdGreaterThan],
        &[Op::FOrdLessThan, Op::FOrdGreaterThanEqual],
        &[Op::FOrdLessThanEqual, Op::FOrdGreaterThan],
        &[Op::FOrdLessThanEqual, Op::FOrdGreaterThanEqual],
        &[Op::FUnordLessThan, Op::FUnordGreaterThan],
        &[Op::FUnordLessThan, Op::FUnordGreaterThanEqual],
        &[Op::FUnordLessThanEqual, Op::FUnordGreaterThan],
        &[Op::FUnordLessThanEqual, Op::FUnordGreaterThanEqual],
    ],
};

/// A comparison of floats that answers otherwise for NaN only.
pub const ORDERED: Neighbours = Neighbours {
    name: "wrong-nan",
    groups: &[
        &[Op::FOrdEqual, Op::FUnordEqual],
        &[Op::FOrdNotEqual, Op::FUnordNotEqual],
        &[Op::FOrdLessThan, Op::FUnordLessThan],
        &[Op::FOrdLessThanEqual, Op::FUnordLessThanEqual],
        &[Op::FOrdGreaterThan, Op::FUnordGreaterThan],
        &[Op::FOrdGreaterThanEqual, Op::FUnordGreaterThanEqual],
    ],
};

/// Another operation of the subgroup.
pub const SUBGROUP: Neighbours = Neighbours {
    name: "wrong-subgroup-operation",
    groups: &[
        &[Op::GroupNonUniformIAdd, Op::GroupNonUniformIMul],
        &[Op::GroupNonUniformFAdd, Op::GroupNonUniformFMul],
        &[Op::GroupNonUniformSMin, Op::GroupNonUniformSMax],
        &[Op::GroupNonUniformUMin, Op::GroupNonUniformUMax],
        &[Op::GroupNonUniformFMin, Op::GroupNonUniformFMax],
        &[Op::GroupNonUniformBitwiseAnd, Op::GroupNonUniformBitwiseOr, Op::GroupNonUniformBitwiseXor],
        &[Op::GroupNonUniformLogicalAnd, Op::GroupNonUniformLogicalOr, Op::GroupNonUniformLogicalXor],
        &[Op::GroupNonUniformAll, Op::GroupNonUniformAny],
        &[Op::GroupNonUniformShuffle, Op::GroupNonUniformShuffleXor],
        &[Op::GroupNonUniformShuffleUp, Op::GroupNonUniformShuffleDown],
        &[Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB],
    ],
};

/// Another atomic.
pub const ATOMIC: Neighbours = Neighbours {
    name: "wrong-atomic",
    groups: &[
        &[Op::AtomicIIncrement, Op::AtomicIDecrement],
        &[Op::AtomicIAdd, Op::AtomicISub, Op::AtomicExchange],
        &[Op::AtomicSMin, Op::AtomicSMax],
        &[Op::AtomicUMin, Op::AtomicUMax],
        &[Op::AtomicFMinEXT, Op::AtomicFMaxEXT],
        &[Op::AtomicAnd, Op::AtomicOr, Op::AtomicXor],
    ],
};

impl Neighbours {
    fn of(&self, opcode: Op) -> impl Iterator<Item = Op> + '_ {
        let groups = self.groups.iter().filter(move |group| group.contains(&opcode));
        groups.flat_map(|group| group.iter().copied()).filter(move |other| *other != opcode)
    }
}

impl Mutator for Neighbours {
    fn name(&self) -> &'static str {
        self.name
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name, module, |site, inst| {
            let changes = self.of(inst.class.opcode).map(|opcode| {
                let mut operands = inst.operands.clone();
                if matches!(opcode, Op::VectorTimesMatrix | Op::MatrixTimesVector) {
                    operands.reverse();
                }
                let changed = Instruction::new(opcode, inst.result_type, inst.result_id, operands);
                (format!("{opcode:?}"), module.replacing(site, vec![changed]))
            });
            changes.collect()
        })
    }
}
