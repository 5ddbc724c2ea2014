//! Operations on the invocations of a subgroup (SPIR-V specification 3.3.24, "Non-Uniform Instructions",
//! and their older relatives).

use super::{BinaryOp, FunctionId, MatrixAction, MatrixStep, Operand};
use crate::event::Scope;

/// An operation on the invocations of a subgroup that execute the same dynamic instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubgroupOp {
    pub kind: SubgroupKind,
    /// First register of the result.
    pub dst: u32,
}

/// A value that every invocation brings: a scalar or vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contribution {
    pub value: Operand,
    pub count: u32,
    /// Bits of a component.
    pub width: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubgroupKind {
    Elect,
    /// OpGroupNonUniformAll, OpGroupNonUniformAny.
    Vote {
        all: bool,
        value: Operand,
    },
    /// Floats are compared as floats.
    AllEqual {
        value: Contribution,
        float: bool,
    },
    Broadcast {
        value: Contribution,
        id: Operand,
        /// An `id` that differs between the invocations is undefined behaviour; else the result is undefined.
        strict: bool,
    },
    BroadcastFirst {
        value: Contribution,
    },
    Ballot {
        value: Operand,
    },
    InverseBallot {
        value: Operand,
    },
    BallotBitExtract {
        value: Operand,
        index: Operand,
    },
    BallotBitCount {
        operation: BallotCount,
        /// Bits of the result.
        width: u8,
        value: Operand,
    },
    BallotFind {
        most: bool,
        width: u8,
        value: Operand,
    },
    Shuffle {
        way: ShuffleWay,
        value: Contribution,
        /// The id, mask or delta.
        operand: Operand,
    },
    Arithmetic {
        op: SubgroupArithmetic,
        operation: GroupOperation,
        value: Contribution,
    },
    /// OpGroupNonUniformPartitionNV.
    Partition {
        value: Contribution,
        float: bool,
    },
    QuadBroadcast {
        value: Contribution,
        index: Operand,
    },
    /// `flip` is what the quad index of the source differs in.
    QuadSwap {
        value: Contribution,
        flip: u32,
    },
    QuadVote {
        all: bool,
        value: Operand,
    },
    Matrix(Box<MatrixStep>),
    /// A difference within the quad (SPIR-V specification 3.3.16, "Derivative Instructions").
    Derivative {
        of: Derivative,
        value: Contribution,
    },
}

/// Which differences within the quad a derivative instruction gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// OpDPdx and its relatives.
    X(Differences),
    /// OpDPdy and its relatives.
    Y(Differences),
    /// OpFwidth and its relatives: the sum of both magnitudes.
    Width(Differences),
    /// What an implicit level of detail is computed from, for all components: by x and by y within the invocation's own
    /// row and column, then the same within the other row and column.
    Gradients,
}

/// Where a difference is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differences {
    /// In the row or column of the invocation.
    Fine,
    /// In one of the two, the same for the whole quad.
    Coarse,
    /// Either of these.
    Either,
}

impl Derivative {
    /// Results for each component of the operand.
    pub const fn results(self) -> u32 {
        match self {
            Derivative::X(_) | Derivative::Y(_) | Derivative::Width(_) => 1,
            Derivative::Gradients => 4,
        }
    }
}

/// What OpGroupNonUniformBallotBitCount counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BallotCount {
    Reduce,
    InclusiveScan,
    ExclusiveScan,
}

/// Where the value of a shuffle comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShuffleWay {
    Index,
    Xor,
    Up,
    Down,
    /// OpGroupNonUniformRotateKHR.
    Rotate {
        cluster: Option<Operand>,
    },
}

/// Which invocations a group operation takes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOperation {
    Reduce,
    InclusiveScan,
    ExclusiveScan,
    ClusteredReduce {
        size: Operand,
    },
    /// The NV partitioned operations: each invocation's ballot names its subset.
    Partitioned {
        scan: Scan,
        ballot: Operand,
    },
}

/// How far a partitioned operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    Whole,
    Inclusive,
    Exclusive,
}

/// What a group operation does with two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubgroupArithmetic {
    /// IAdd, FAdd, IMul, FMul, BitwiseAnd, BitwiseOr, BitwiseXor, LogicalAnd, LogicalOr, LogicalNotEqual.
    Binary(BinaryOp),
    SMin,
    UMin,
    FMin,
    SMax,
    UMax,
    FMax,
}

impl SubgroupOp {
    /// Whose invocations take part.
    pub fn scope(&self) -> Scope {
        match &self.kind {
            SubgroupKind::Matrix(step) => step.scope.scope(),
            SubgroupKind::Elect
            | SubgroupKind::Vote { .. }
            | SubgroupKind::AllEqual { .. }
            | SubgroupKind::Broadcast { .. }
            | SubgroupKind::BroadcastFirst { .. }
            | SubgroupKind::Ballot { .. }
            | SubgroupKind::InverseBallot { .. }
            | SubgroupKind::BallotBitExtract { .. }
            | SubgroupKind::BallotBitCount { .. }
            | SubgroupKind::BallotFind { .. }
            | SubgroupKind::Shuffle { .. }
            | SubgroupKind::Arithmetic { .. }
            | SubgroupKind::Partition { .. }
            | SubgroupKind::QuadBroadcast { .. }
            | SubgroupKind::QuadSwap { .. }
            | SubgroupKind::QuadVote { .. }
            | SubgroupKind::Derivative { .. } => Scope::Subgroup,
        }
    }

    /// Whether it only computes: its result is a difference, and nobody notices that it ran.
    pub const fn is_derivative(&self) -> bool {
        matches!(self.kind, SubgroupKind::Derivative { .. })
    }

    /// The function that combines components.
    pub(super) fn callee(&self) -> Option<FunctionId> {
        match &self.kind {
            SubgroupKind::Matrix(step) => match &step.action {
                MatrixAction::Reduce(reduction) => Some(reduction.function),
                MatrixAction::Meet
                | MatrixAction::TakeLoaded { .. }
                | MatrixAction::GiveStored { .. }
                | MatrixAction::MulAdd(_)
                | MatrixAction::Transpose { .. } => None,
            },
            _ => None,
        }
    }

    pub(crate) fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        match &self.kind {
            SubgroupKind::Elect => {}
            SubgroupKind::Vote { value, .. }
            | SubgroupKind::Ballot { value }
            | SubgroupKind::InverseBallot { value }
            | SubgroupKind::BallotBitCount { value, .. }
            | SubgroupKind::BallotFind { value, .. }
            | SubgroupKind::QuadVote { value, .. } => visit(*value),
            SubgroupKind::AllEqual { value, .. }
            | SubgroupKind::BroadcastFirst { value }
            | SubgroupKind::Partition { value, .. }
            | SubgroupKind::QuadSwap { value, .. }
            | SubgroupKind::Derivative { value, .. } => visit(value.value),
            SubgroupKind::Broadcast { value, id, .. } => [value.value, *id].into_iter().for_each(visit),
            SubgroupKind::BallotBitExtract { value, index } => [*value, *index].into_iter().for_each(visit),
            SubgroupKind::QuadBroadcast { value, index } => [value.value, *index].into_iter().for_each(visit),
            SubgroupKind::Shuffle { way, value, operand } => {
                visit(value.value);
                visit(*operand);
                if let ShuffleWay::Rotate { cluster: Some(cluster) } = way {
                    visit(*cluster);
                }
            }
            SubgroupKind::Matrix(step) => step.visit_operands(visit),
            SubgroupKind::Arithmetic { operation, value, .. } => {
                visit(value.value);
                match operation {
                    GroupOperation::Reduce
                    | GroupOperation::InclusiveScan
                    | GroupOperation::ExclusiveScan => {}
                    GroupOperation::ClusteredReduce { size: operand }
                    | GroupOperation::Partitioned { ballot: operand, .. } => visit(*operand),
                }
            }
        }
    }
}
