//! Which instructions only compute: they touch no memory, act on no other invocation, and may be repeated or moved.

use rspirv::spirv::Op;

/// Whether the instruction computes its result from its operands alone. Undefined behaviour (a division by zero) is
/// possible; [`is_total`] says where it is not.
pub(crate) fn is_pure(opcode: Op) -> bool {
    is_total(opcode) || is_division(opcode) || matches!(opcode, Op::ExtInst)
}

fn is_division(opcode: Op) -> bool {
    matches!(opcode, Op::UDiv | Op::SDiv | Op::UMod | Op::SMod | Op::SRem)
}

/// Whether, besides, it does so for every operand.
pub(crate) fn is_total(opcode: Op) -> bool {
    is_arithmetic(opcode) || is_comparison(opcode) || is_structural(opcode)
}

fn is_arithmetic(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::SNegate
            | Op::FNegate
            | Op::IAdd
            | Op::FAdd
            | Op::ISub
            | Op::FSub
            | Op::IMul
            | Op::FMul
            | Op::FDiv
            | Op::FRem
            | Op::FMod
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::OuterProduct
            | Op::Dot
            | Op::IAddCarry
            | Op::ISubBorrow
            | Op::UMulExtended
            | Op::SMulExtended
            | Op::ShiftLeftLogical
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::BitwiseAnd
            | Op::Not
            | Op::BitFieldInsert
            | Op::BitFieldSExtract
            | Op::BitFieldUExtract
            | Op::BitReverse
            | Op::BitCount
            | Op::ConvertFToU
            | Op::ConvertFToS
            | Op::ConvertSToF
            | Op::ConvertUToF
            | Op::UConvert
            | Op::SConvert
            | Op::FConvert
            | Op::QuantizeToF16
            | Op::Bitcast
    )
}

fn is_comparison(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::Any
            | Op::All
            | Op::IsNan
            | Op::IsInf
            | Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::LogicalOr
            | Op::LogicalAnd
            | Op::LogicalNot
            | Op::IEqual
            | Op::INotEqual
            | Op::UGreaterThan
            | Op::SGreaterThan
            | Op::UGreaterThanEqual
            | Op::SGreaterThanEqual
            | Op::ULessThan
            | Op::SLessThan
            | Op::ULessThanEqual
            | Op::SLessThanEqual
            | Op::FOrdEqual
            | Op::FUnordEqual
            | Op::FOrdNotEqual
            | Op::FUnordNotEqual
            | Op::FOrdLessThan
            | Op::FUnordLessThan
            | Op::FOrdGreaterThan
            | Op::FUnordGreaterThan
            | Op::FOrdLessThanEqual
            | Op::FUnordLessThanEqual
            | Op::FOrdGreaterThanEqual
            | Op::FUnordGreaterThanEqual
    )
}

fn is_structural(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::Select
            | Op::CopyObject
            | Op::CopyLogical
            | Op::Transpose
            | Op::VectorShuffle
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::Undef
    )
}
