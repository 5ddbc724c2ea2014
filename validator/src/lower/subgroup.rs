//! Operations on the invocations of a subgroup (SPIR-V specification 3.3.24, "Non-Uniform Instructions"; the
//! Groups capability; SPV_KHR_shader_ballot, SPV_KHR_subgroup_vote, SPV_KHR_subgroup_rotate,
//! SPV_KHR_quad_control, SPV_NV_shader_subgroup_partitioned).

use std::collections::BTreeSet;

use rspirv::spirv::{GroupOperation as Operation, Op as Opcode};

use super::error::{Problem, Problems};
use super::function::FunctionBuilder;
use super::types::{Kind, Lanes};
use super::values::Values;
use crate::event::Scope;
use crate::ir::{
    BallotCount, BarrierOp, BinaryOp, Contribution, Derivative, Differences, Function, FunctionId,
    GroupOperation, Op, Operand, Scan, ShuffleWay, SubgroupArithmetic, SubgroupKind, SubgroupOp,
};
use crate::module::Instruction;

/// Whether some instruction acts on the invocations of a subgroup at the same dynamic instance.
pub(super) fn tangles(functions: &[Function]) -> bool {
    let acts = |op: &Op| match op {
        Op::Subgroup(_) => true,
        Op::Barrier(BarrierOp::Control { execution, .. }) => *execution == Scope::Subgroup,
        _ => false,
    };
    functions.iter().any(|function| function.code.iter().any(|inst| acts(&inst.op)))
}

/// Whether some instruction exchanges values with other invocations of the subgroup.
pub(super) fn meets_others(functions: &[Function]) -> bool {
    functions.iter().any(|function| function.code.iter().any(|inst| matches!(inst.op, Op::Subgroup(_))))
}

/// Whether some instruction acts on more than the quad, which helper invocations may or may not take part in (Vulkan,
/// "Helper Invocations").
pub(super) fn counts_helpers(functions: &[Function]) -> bool {
    let mut kinds = functions.iter().flat_map(|function| &function.code).filter_map(|inst| match &inst.op {
        Op::Subgroup(op) => Some(&op.kind),
        _ => None,
    });
    kinds.any(|kind| match kind {
        SubgroupKind::Derivative { .. }
        | SubgroupKind::QuadBroadcast { .. }
        | SubgroupKind::QuadSwap { .. }
        | SubgroupKind::QuadVote { .. }
        // These act on the invocation alone.
        | SubgroupKind::BallotBitExtract { .. }
        | SubgroupKind::BallotBitCount { .. }
        | SubgroupKind::BallotFind { .. } => false,
        SubgroupKind::Elect
        | SubgroupKind::Vote { .. }
        | SubgroupKind::AllEqual { .. }
        | SubgroupKind::Broadcast { .. }
        | SubgroupKind::BroadcastFirst { .. }
        | SubgroupKind::Ballot { .. }
        | SubgroupKind::InverseBallot { .. }
        | SubgroupKind::Shuffle { .. }
        | SubgroupKind::Arithmetic { .. }
        | SubgroupKind::Partition { .. }
        | SubgroupKind::Matrix(_) => true,
    })
}

/// Refuses tangled instructions in functions that an instruction on cooperative matrices calls for each component,
/// where the invocations are anywhere (SPV_NV_cooperative_matrix2, validation rules).
pub(super) fn refuse_in_component_functions(functions: &[Function], problems: &mut Problems) {
    let callees = |function: &Function, counts: fn(&Op) -> bool| -> Vec<usize> {
        let code = function.code.iter().filter(|inst| counts(&inst.op));
        code.filter_map(|inst| inst.op.callee()).map(|FunctionId(number)| number as usize).collect()
    };
    let for_components = |op: &Op| matches!(op, Op::Cooperative(_) | Op::Subgroup(_));
    let mut reached = BTreeSet::new();
    let mut next: Vec<usize> = functions.iter().flat_map(|one| callees(one, for_components)).collect();
    while let Some(number) = next.pop() {
        let Some(function) = functions.get(number).filter(|_| reached.insert(number)) else { continue };
        let is_tangled = |op: &Op| matches!(op, Op::Subgroup(_) | Op::Barrier(BarrierOp::Control { .. }));
        if let Some(inst) = function.code.iter().find(|inst| is_tangled(&inst.op)) {
            let message = "a tangled instruction in a function that is called for each component of a matrix";
            problems.add(Problem::invalid(inst.line, message));
        }
        next.extend(callees(function, |_| true));
    }
}

/// Four words with a bit for each invocation.
const BALLOT: Lanes = Lanes { kind: Kind::Int, width: 32, count: 4 };
const PREDICATE: Lanes = Lanes { kind: Kind::Bool, width: 1, count: 1 };

impl FunctionBuilder<'_, '_> {
    /// Lowers a subgroup operation; `None` if the instruction is none.
    pub fn subgroup(&mut self, opcode: Opcode, instruction: &Instruction) -> Option<Result<(), Problem>> {
        let mut lowering = Lowering { builder: self, opcode, instruction, first: 1 };
        let kind = lowering.kind()?;
        let scoped = match lowering.first {
            0 => Ok(()),
            _ => lowering.require_subgroup(),
        };
        Some(scoped.and(kind).and_then(|kind| {
            let dst = self.result(instruction)?.operand.index();
            self.emit(Op::Subgroup(SubgroupOp { kind, dst }), instruction);
            Ok(())
        }))
    }
}

/// A subgroup instruction.
struct Lowering<'l, 'b, 'm> {
    builder: &'l mut FunctionBuilder<'b, 'm>,
    opcode: Opcode,
    instruction: &'l Instruction<'l>,
    /// Position of the first operand behind the scope; 0 where the instruction has no scope.
    first: usize,
}

impl Lowering<'_, '_, '_> {
    fn kind(&mut self) -> Option<Result<SubgroupKind, Problem>> {
        if let Some(arithmetic) = arithmetic_of(self.opcode) {
            return Some(self.arithmetic(arithmetic));
        }
        self.first = match self.opcode {
            Opcode::SubgroupBallotKHR
            | Opcode::SubgroupFirstInvocationKHR
            | Opcode::SubgroupAllKHR
            | Opcode::SubgroupAnyKHR
            | Opcode::SubgroupAllEqualKHR
            | Opcode::SubgroupReadInvocationKHR
            | Opcode::GroupNonUniformQuadAllKHR
            | Opcode::GroupNonUniformQuadAnyKHR
            | Opcode::GroupNonUniformPartitionNV
            | Opcode::DPdx
            | Opcode::DPdy
            | Opcode::Fwidth
            | Opcode::DPdxFine
            | Opcode::DPdyFine
            | Opcode::FwidthFine
            | Opcode::DPdxCoarse
            | Opcode::DPdyCoarse
            | Opcode::FwidthCoarse => 0,
            _ => 1,
        };
        Some(match self.opcode {
            Opcode::GroupNonUniformElect => self.result_is(PREDICATE).map(|()| SubgroupKind::Elect),
            Opcode::GroupNonUniformAll | Opcode::GroupAll | Opcode::SubgroupAllKHR => self.vote(true),
            Opcode::GroupNonUniformAny | Opcode::GroupAny | Opcode::SubgroupAnyKHR => self.vote(false),
            Opcode::GroupNonUniformAllEqual | Opcode::SubgroupAllEqualKHR => self.all_equal(),
            Opcode::GroupNonUniformBroadcast => self.broadcast(true),
            Opcode::SubgroupReadInvocationKHR => self.broadcast(false),
            Opcode::GroupNonUniformBroadcastFirst | Opcode::SubgroupFirstInvocationKHR => {
                self.contribution(0).map(|value| SubgroupKind::BroadcastFirst { value })
            }
            Opcode::GroupNonUniformBallot | Opcode::SubgroupBallotKHR => self
                .result_is(BALLOT)
                .and_then(|()| Ok(SubgroupKind::Ballot { value: self.is(0, PREDICATE)? })),
            Opcode::GroupNonUniformInverseBallot => self
                .result_is(PREDICATE)
                .and_then(|()| Ok(SubgroupKind::InverseBallot { value: self.is(0, BALLOT)? })),
            Opcode::GroupNonUniformBallotBitExtract => self.result_is(PREDICATE).and_then(|()| {
                Ok(SubgroupKind::BallotBitExtract { value: self.is(0, BALLOT)?, index: self.integer(1)? })
            }),
            Opcode::GroupNonUniformBallotBitCount => self.ballot_bit_count(),
            Opcode::GroupNonUniformBallotFindLSB => self.ballot_find(false),
            Opcode::GroupNonUniformBallotFindMSB => self.ballot_find(true),
            Opcode::GroupNonUniformShuffle => self.shuffle(ShuffleWay::Index),
            Opcode::GroupNonUniformShuffleXor => self.shuffle(ShuffleWay::Xor),
            Opcode::GroupNonUniformShuffleUp => self.shuffle(ShuffleWay::Up),
            Opcode::GroupNonUniformShuffleDown => self.shuffle(ShuffleWay::Down),
            Opcode::GroupNonUniformRotateKHR => self.rotate(),
            Opcode::GroupNonUniformPartitionNV => self.partition(),
            Opcode::GroupNonUniformQuadBroadcast => self.quad_broadcast(),
            Opcode::GroupNonUniformQuadSwap => self.quad_swap(),
            Opcode::GroupNonUniformQuadAllKHR => self.quad_vote(true),
            Opcode::GroupNonUniformQuadAnyKHR => self.quad_vote(false),
            Opcode::DPdx => self.derivative(Derivative::X(Differences::Either)),
            Opcode::DPdy => self.derivative(Derivative::Y(Differences::Either)),
            Opcode::Fwidth => self.derivative(Derivative::Width(Differences::Either)),
            Opcode::DPdxFine => self.derivative(Derivative::X(Differences::Fine)),
            Opcode::DPdyFine => self.derivative(Derivative::Y(Differences::Fine)),
            Opcode::FwidthFine => self.derivative(Derivative::Width(Differences::Fine)),
            Opcode::DPdxCoarse => self.derivative(Derivative::X(Differences::Coarse)),
            Opcode::DPdyCoarse => self.derivative(Derivative::Y(Differences::Coarse)),
            Opcode::FwidthCoarse => self.derivative(Derivative::Width(Differences::Coarse)),
            _ => return None,
        })
    }

    fn require_subgroup(&self) -> Result<(), Problem> {
        match self.builder.scope(self.instruction, 0)? {
            Scope::Subgroup => Ok(()),
            other => {
                let what = format!("{} at scope {}", self.instruction.name(), other.name());
                Err(Problem::unsupported(what, self.instruction.line))
            }
        }
    }

    fn invalid(&self, message: &str) -> Problem {
        Problem::invalid(self.instruction.line, format!("{}: {message}", self.instruction.name()))
    }

    fn lanes(&self, ty: u32) -> Result<Lanes, Problem> {
        self.builder.types().lanes(ty, self.instruction.line)
    }

    fn result_lanes(&self) -> Result<Lanes, Problem> {
        self.lanes(self.instruction.result_type.unwrap_or(0))
    }

    fn result_is(&self, expected: Lanes) -> Result<(), Problem> {
        match self.result_lanes()? {
            lanes if lanes == expected => Ok(()),
            _ => Err(self.invalid("the result has the wrong type")),
        }
    }

    /// The operand at a position behind the scope.
    fn any(&mut self, position: usize) -> Result<(Operand, Lanes), Problem> {
        let value = self.builder.operand(self.instruction, self.first + position)?;
        Ok((value.operand, self.lanes(value.ty)?))
    }

    fn is(&mut self, position: usize, expected: Lanes) -> Result<Operand, Problem> {
        match self.any(position)? {
            (operand, lanes) if lanes == expected => Ok(operand),
            _ => Err(self.invalid("an operand has the wrong type")),
        }
    }

    fn integer(&mut self, position: usize) -> Result<Operand, Problem> {
        match self.any(position)? {
            (operand, Lanes { kind: Kind::Int, count: 1, .. }) => Ok(operand),
            _ => Err(self.invalid("an operand has the wrong type")),
        }
    }

    /// The operand whose type is that of the result.
    fn contribution(&mut self, position: usize) -> Result<Contribution, Problem> {
        let lanes = self.result_lanes()?;
        let value = self.is(position, lanes)?;
        Ok(Contribution { value, count: lanes.count, width: lanes.width })
    }

    fn vote(&mut self, all: bool) -> Result<SubgroupKind, Problem> {
        self.result_is(PREDICATE)?;
        Ok(SubgroupKind::Vote { all, value: self.is(0, PREDICATE)? })
    }

    fn all_equal(&mut self) -> Result<SubgroupKind, Problem> {
        self.result_is(PREDICATE)?;
        let (value, lanes) = self.any(0)?;
        let value = Contribution { value, count: lanes.count, width: lanes.width };
        Ok(SubgroupKind::AllEqual { value, float: lanes.kind == Kind::Float })
    }

    fn broadcast(&mut self, strict: bool) -> Result<SubgroupKind, Problem> {
        Ok(SubgroupKind::Broadcast { value: self.contribution(0)?, id: self.integer(1)?, strict })
    }

    /// The literal of a group operation.
    fn operation(&self, position: usize) -> Result<Operation, Problem> {
        let literal = self.builder.word(self.instruction, self.first + position)?;
        Operation::from_u32(literal).ok_or_else(|| {
            Problem::unsupported(
                format!("{} with group operation {literal}", self.instruction.name()),
                self.instruction.line,
            )
        })
    }

    fn ballot_bit_count(&mut self) -> Result<SubgroupKind, Problem> {
        let operation = match self.operation(0)? {
            Operation::Reduce => BallotCount::Reduce,
            Operation::InclusiveScan => BallotCount::InclusiveScan,
            Operation::ExclusiveScan => BallotCount::ExclusiveScan,
            _ => return Err(self.invalid("the group operation is none of Reduce and the scans")),
        };
        let width = self.integer_result()?;
        Ok(SubgroupKind::BallotBitCount { operation, width, value: self.is(1, BALLOT)? })
    }

    fn integer_result(&self) -> Result<u8, Problem> {
        match self.result_lanes()? {
            Lanes { kind: Kind::Int, count: 1, width } => Ok(width),
            _ => Err(self.invalid("the result has the wrong type")),
        }
    }

    fn ballot_find(&mut self, most: bool) -> Result<SubgroupKind, Problem> {
        let width = self.integer_result()?;
        Ok(SubgroupKind::BallotFind { most, width, value: self.is(0, BALLOT)? })
    }

    fn shuffle(&mut self, way: ShuffleWay) -> Result<SubgroupKind, Problem> {
        Ok(SubgroupKind::Shuffle { way, value: self.contribution(0)?, operand: self.integer(1)? })
    }

    fn rotate(&mut self) -> Result<SubgroupKind, Problem> {
        let cluster = match self.instruction.word(self.first + 2) {
            Some(_) => Some(self.integer(2)?),
            None => None,
        };
        self.shuffle(ShuffleWay::Rotate { cluster })
    }

    fn partition(&mut self) -> Result<SubgroupKind, Problem> {
        self.result_is(BALLOT)?;
        let (value, lanes) = self.any(0)?;
        let value = Contribution { value, count: lanes.count, width: lanes.width };
        Ok(SubgroupKind::Partition { value, float: lanes.kind == Kind::Float })
    }

    fn quad_broadcast(&mut self) -> Result<SubgroupKind, Problem> {
        Ok(SubgroupKind::QuadBroadcast { value: self.contribution(0)?, index: self.integer(1)? })
    }

    fn quad_swap(&mut self) -> Result<SubgroupKind, Problem> {
        let value = self.contribution(0)?;
        let id = self.builder.word(self.instruction, self.first + 1)?;
        let direction = self.builder.program.globals.integer(id, self.instruction.line)?;
        let flip = match direction {
            0 => 1,
            1 => 2,
            2 => 3,
            _ => return Err(self.invalid("the direction is none of 0, 1 and 2")),
        };
        Ok(SubgroupKind::QuadSwap { value, flip })
    }

    fn quad_vote(&mut self, all: bool) -> Result<SubgroupKind, Problem> {
        self.result_is(PREDICATE)?;
        Ok(SubgroupKind::QuadVote { all, value: self.is(0, PREDICATE)? })
    }

    /// A derivative, which only the quads of fragments have.
    fn derivative(&mut self, of: Derivative) -> Result<SubgroupKind, Problem> {
        let (line, fragment) = (self.instruction.line, self.builder.program.globals.fragment);
        if !fragment {
            return Err(Problem::unsupported(self.instruction.name(), line));
        }
        if self.result_lanes()?.kind != Kind::Float {
            return Err(self.invalid("the result has the wrong type"));
        }
        Ok(SubgroupKind::Derivative { of, value: self.contribution(0)? })
    }

    fn arithmetic(&mut self, (op, kind): (SubgroupArithmetic, Kind)) -> Result<SubgroupKind, Problem> {
        let lanes = self.result_lanes()?;
        if lanes.kind != kind {
            return Err(self.invalid("the result has the wrong type"));
        }
        let partitioned = |lowering: &mut Self, scan| {
            Ok(GroupOperation::Partitioned { scan, ballot: lowering.is(2, BALLOT)? })
        };
        let operation = match self.operation(0)? {
            Operation::Reduce => GroupOperation::Reduce,
            Operation::InclusiveScan => GroupOperation::InclusiveScan,
            Operation::ExclusiveScan => GroupOperation::ExclusiveScan,
            Operation::ClusteredReduce => GroupOperation::ClusteredReduce { size: self.integer(2)? },
            Operation::PartitionedReduceNV => partitioned(self, Scan::Whole)?,
            Operation::PartitionedInclusiveScanNV => partitioned(self, Scan::Inclusive)?,
            Operation::PartitionedExclusiveScanNV => partitioned(self, Scan::Exclusive)?,
        };
        Ok(SubgroupKind::Arithmetic { op, operation, value: self.contribution(1)? })
    }
}

/// What a group operation does, and with values of which kind.
fn arithmetic_of(opcode: Opcode) -> Option<(SubgroupArithmetic, Kind)> {
    use SubgroupArithmetic::{Binary, FMax, FMin, SMax, SMin, UMax, UMin};
    Some(match opcode {
        Opcode::GroupNonUniformIAdd | Opcode::GroupIAdd => (Binary(BinaryOp::IAdd), Kind::Int),
        Opcode::GroupNonUniformFAdd | Opcode::GroupFAdd => (Binary(BinaryOp::FAdd), Kind::Float),
        Opcode::GroupNonUniformIMul | Opcode::GroupIMulKHR => (Binary(BinaryOp::IMul), Kind::Int),
        Opcode::GroupNonUniformFMul | Opcode::GroupFMulKHR => (Binary(BinaryOp::FMul), Kind::Float),
        Opcode::GroupNonUniformSMin | Opcode::GroupSMin => (SMin, Kind::Int),
        Opcode::GroupNonUniformUMin | Opcode::GroupUMin => (UMin, Kind::Int),
        Opcode::GroupNonUniformFMin | Opcode::GroupFMin => (FMin, Kind::Float),
        Opcode::GroupNonUniformSMax | Opcode::GroupSMax => (SMax, Kind::Int),
        Opcode::GroupNonUniformUMax | Opcode::GroupUMax => (UMax, Kind::Int),
        Opcode::GroupNonUniformFMax | Opcode::GroupFMax => (FMax, Kind::Float),
        Opcode::GroupNonUniformBitwiseAnd | Opcode::GroupBitwiseAndKHR => {
            (Binary(BinaryOp::BitwiseAnd), Kind::Int)
        }
        Opcode::GroupNonUniformBitwiseOr | Opcode::GroupBitwiseOrKHR => {
            (Binary(BinaryOp::BitwiseOr), Kind::Int)
        }
        Opcode::GroupNonUniformBitwiseXor | Opcode::GroupBitwiseXorKHR => {
            (Binary(BinaryOp::BitwiseXor), Kind::Int)
        }
        Opcode::GroupNonUniformLogicalAnd | Opcode::GroupLogicalAndKHR => {
            (Binary(BinaryOp::LogicalAnd), Kind::Bool)
        }
        Opcode::GroupNonUniformLogicalOr | Opcode::GroupLogicalOrKHR => {
            (Binary(BinaryOp::LogicalOr), Kind::Bool)
        }
        Opcode::GroupNonUniformLogicalXor | Opcode::GroupLogicalXorKHR => {
            (Binary(BinaryOp::LogicalNotEqual), Kind::Bool)
        }
        _ => return None,
    })
}
