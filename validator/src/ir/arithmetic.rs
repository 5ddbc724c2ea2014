//! Operations that compute: on components one by one, on bit fields, on vectors and matrices.

use super::Operand;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    SNegate,
    FNegate,
    Not,
    LogicalNot,
    BitReverse,
    BitCount,
    IsNan,
    IsInf,
    IsFinite,
    IsNormal,
    SignBitSet,
    QuantizeToF16,
    /// OpUCountLeadingZerosINTEL.
    CountLeadingZeros,
    /// OpUCountTrailingZerosINTEL.
    CountTrailingZeros,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    IAdd,
    ISub,
    IMul,
    UDiv,
    SDiv,
    UMod,
    SRem,
    SMod,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
    FMod,
    ShiftRightLogical,
    ShiftRightArithmetic,
    ShiftLeftLogical,
    BitwiseOr,
    BitwiseXor,
    BitwiseAnd,
    IEqual,
    INotEqual,
    UGreaterThan,
    SGreaterThan,
    UGreaterThanEqual,
    SGreaterThanEqual,
    ULessThan,
    SLessThan,
    ULessThanEqual,
    SLessThanEqual,
    FOrdEqual,
    FUnordEqual,
    FOrdNotEqual,
    FUnordNotEqual,
    FOrdLessThan,
    FUnordLessThan,
    FOrdGreaterThan,
    FUnordGreaterThan,
    FOrdLessThanEqual,
    FUnordLessThanEqual,
    FOrdGreaterThanEqual,
    FUnordGreaterThanEqual,
    LessOrGreater,
    Ordered,
    Unordered,
    LogicalEqual,
    LogicalNotEqual,
    LogicalOr,
    LogicalAnd,
    PtrEqual,
    PtrNotEqual,
    Integer(IntelFunction),
}

/// SPV_INTEL_shader_integer_functions2: functions of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntelFunction {
    AbsISub,
    AbsUSub,
    IAddSat,
    UAddSat,
    IAverage,
    UAverage,
    IAverageRounded,
    UAverageRounded,
    ISubSat,
    USubSat,
    IMul32x16,
    UMul32x16,
}

/// What a binary operation is, as far as floats and faults go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryKind {
    Float(FloatBinary),
    /// A division of integers, which may be by zero.
    IntegerDivision,
    /// On integers, booleans and pointers; it has a result whatever its operands are.
    Other,
}

/// A binary operation of floats, as the environment's table of precisions tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatBinary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Modulo,
    /// A comparison of the numbers that the operands are.
    Compare,
    /// Whether both operands are numbers.
    Order,
}

impl BinaryOp {
    /// Whether the result is a truth value.
    pub const fn is_condition(self) -> bool {
        let is_logical = matches!(
            self,
            BinaryOp::LogicalEqual
                | BinaryOp::LogicalNotEqual
                | BinaryOp::LogicalOr
                | BinaryOp::LogicalAnd
                | BinaryOp::Ordered
                | BinaryOp::Unordered
        );
        is_logical
            || self.compares_integers()
            || matches!(self.kind(), BinaryKind::Float(FloatBinary::Compare))
    }

    /// Whether it compares integers.
    pub const fn compares_integers(self) -> bool {
        matches!(
            self,
            BinaryOp::IEqual
                | BinaryOp::INotEqual
                | BinaryOp::UGreaterThan
                | BinaryOp::SGreaterThan
                | BinaryOp::UGreaterThanEqual
                | BinaryOp::SGreaterThanEqual
                | BinaryOp::ULessThan
                | BinaryOp::SLessThan
                | BinaryOp::ULessThanEqual
                | BinaryOp::SLessThanEqual
        )
    }

    /// Whether it tells the equal from the different, whichever is greater.
    pub const fn compares_equality(self) -> bool {
        matches!(
            self,
            BinaryOp::IEqual
                | BinaryOp::INotEqual
                | BinaryOp::FOrdEqual
                | BinaryOp::FUnordEqual
                | BinaryOp::FOrdNotEqual
                | BinaryOp::FUnordNotEqual
        )
    }

    /// Whether it shifts to the right.
    pub const fn shifts_right(self) -> bool {
        matches!(self, BinaryOp::ShiftRightLogical | BinaryOp::ShiftRightArithmetic)
    }

    /// Whether it compares signed integers by their order.
    pub const fn compares_signed(self) -> bool {
        matches!(
            self,
            BinaryOp::SGreaterThan
                | BinaryOp::SGreaterThanEqual
                | BinaryOp::SLessThan
                | BinaryOp::SLessThanEqual
        )
    }

    pub const fn kind(self) -> BinaryKind {
        match self {
            BinaryOp::FAdd => BinaryKind::Float(FloatBinary::Add),
            BinaryOp::FSub => BinaryKind::Float(FloatBinary::Subtract),
            BinaryOp::FMul => BinaryKind::Float(FloatBinary::Multiply),
            BinaryOp::FDiv => BinaryKind::Float(FloatBinary::Divide),
            BinaryOp::FRem => BinaryKind::Float(FloatBinary::Remainder),
            BinaryOp::FMod => BinaryKind::Float(FloatBinary::Modulo),
            BinaryOp::FOrdEqual
            | BinaryOp::FUnordEqual
            | BinaryOp::FOrdNotEqual
            | BinaryOp::FUnordNotEqual
            | BinaryOp::FOrdLessThan
            | BinaryOp::FUnordLessThan
            | BinaryOp::FOrdGreaterThan
            | BinaryOp::FUnordGreaterThan
            | BinaryOp::FOrdLessThanEqual
            | BinaryOp::FUnordLessThanEqual
            | BinaryOp::FOrdGreaterThanEqual
            | BinaryOp::FUnordGreaterThanEqual
            | BinaryOp::LessOrGreater => BinaryKind::Float(FloatBinary::Compare),
            BinaryOp::Ordered | BinaryOp::Unordered => BinaryKind::Float(FloatBinary::Order),
            BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::UMod | BinaryOp::SRem | BinaryOp::SMod => {
                BinaryKind::IntegerDivision
            }
            BinaryOp::Integer(_)
            | BinaryOp::IAdd
            | BinaryOp::ISub
            | BinaryOp::IMul
            | BinaryOp::ShiftRightLogical
            | BinaryOp::ShiftRightArithmetic
            | BinaryOp::ShiftLeftLogical
            | BinaryOp::BitwiseOr
            | BinaryOp::BitwiseXor
            | BinaryOp::BitwiseAnd
            | BinaryOp::IEqual
            | BinaryOp::INotEqual
            | BinaryOp::UGreaterThan
            | BinaryOp::SGreaterThan
            | BinaryOp::UGreaterThanEqual
            | BinaryOp::SGreaterThanEqual
            | BinaryOp::ULessThan
            | BinaryOp::SLessThan
            | BinaryOp::ULessThanEqual
            | BinaryOp::SLessThanEqual
            | BinaryOp::LogicalEqual
            | BinaryOp::LogicalNotEqual
            | BinaryOp::LogicalOr
            | BinaryOp::LogicalAnd
            | BinaryOp::PtrEqual
            | BinaryOp::PtrNotEqual => BinaryKind::Other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtendedOp {
    IAddCarry,
    ISubBorrow,
    UMulExtended,
    SMulExtended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvertOp {
    ConvertFToU,
    ConvertFToS,
    ConvertSToF,
    ConvertUToF,
    UConvert,
    SConvert,
    FConvert,
    /// Between vectors of different component widths; `count` is of the source, widths in bits.
    Bitcast,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BitFieldOp {
    /// `offset` and `bits` are scalars of `offset_width` / `count_width` bits.
    Insert {
        dst: u32,
        width: u8,
        count: u32,
        base: Operand,
        insert: Operand,
        offset: Operand,
        bits: Operand,
    },
    Extract {
        dst: u32,
        width: u8,
        count: u32,
        signed: bool,
        base: Operand,
        offset: Operand,
        bits: Operand,
    },
}

/// Matrices are column after column. `width` is the float width in bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixOp {
    Dot {
        dst: u32,
        width: u8,
        count: u32,
        a: Operand,
        b: Operand,
    },
    /// VectorTimesScalar and MatrixTimesScalar.
    TimesScalar {
        dst: u32,
        width: u8,
        count: u32,
        a: Operand,
        scalar: Operand,
    },
    /// `a` has `rows` components, `b` is `columns` × `rows`.
    VectorTimesMatrix {
        dst: u32,
        width: u8,
        rows: u32,
        columns: u32,
        a: Operand,
        b: Operand,
    },
    /// `a` is `columns` × `rows`, `b` has `columns` components.
    MatrixTimesVector {
        dst: u32,
        width: u8,
        rows: u32,
        columns: u32,
        a: Operand,
        b: Operand,
    },
    /// `a` is `inner` columns of `rows`, `b` is `columns` columns of `inner`.
    MatrixTimesMatrix {
        dst: u32,
        width: u8,
        rows: u32,
        inner: u32,
        columns: u32,
        a: Operand,
        b: Operand,
    },
    /// `a` has `rows` components, `b` has `columns`.
    OuterProduct {
        dst: u32,
        width: u8,
        rows: u32,
        columns: u32,
        a: Operand,
        b: Operand,
    },
    /// The operand has `columns` columns of `rows`.
    Transpose {
        dst: u32,
        rows: u32,
        columns: u32,
        a: Operand,
    },
}
