use rspirv::dr::Operand;
use rspirv::spirv::{Capability, GroupOperation, Op, Scope, Word};

use crate::generate::interface::SUBGROUP;
use crate::generate::kernel::Kernel;
use crate::generate::types::{Ty, INT, UINT};

const ARITHMETIC: [Op; 7] = [
    Op::GroupNonUniformIAdd,
    Op::GroupNonUniformIMul,
    Op::GroupNonUniformSMin,
    Op::GroupNonUniformSMax,
    Op::GroupNonUniformBitwiseAnd,
    Op::GroupNonUniformBitwiseOr,
    Op::GroupNonUniformBitwiseXor,
];

const LOGICAL: [Op; 3] =
    [Op::GroupNonUniformLogicalAnd, Op::GroupNonUniformLogicalOr, Op::GroupNonUniformLogicalXor];

const OPERATIONS: [GroupOperation; 3] =
    [GroupOperation::Reduce, GroupOperation::InclusiveScan, GroupOperation::ExclusiveScan];

impl Kernel {
    /// An operation of the whole subgroup, whose result goes to a variable.
    pub(super) fn subgroup_operation(&mut self) {
        let count = self.random.u32(1..5);
        let scalar = self.pick_scalar();
        let ty = if count == 1 { scalar } else { Ty::vector(scalar, count) };
        let (value, ty) = match self.random.u32(..10) {
            0 => (self.vote(), Ty::Bool),
            1..=2 => self.ballot(),
            3 => (self.broadcast(&ty), ty),
            4 => (self.shuffle(&ty), ty),
            5 => (self.quad(&ty), ty),
            6 => (self.reduced(&LOGICAL, &Ty::Bool), Ty::Bool),
            7 => {
                // Results of unsigned ones are unsigned.
                let ty = ty.with_scalar(UINT);
                (self.reduced(&[Op::GroupNonUniformUMin, Op::GroupNonUniformUMax], &ty), ty)
            }
            _ => (self.reduced(&ARITHMETIC, &ty), ty),
        };
        if let Some((target, _)) = self.place(&ty) {
            self.store(target, value);
        }
        self.scope.values.push((value, ty));
    }

    fn pick_scalar(&mut self) -> Ty {
        if self.random.bool() {
            UINT
        } else {
            INT
        }
    }

    /// An instruction with the scope, and operands behind it.
    fn of_subgroup(&mut self, opcode: Op, ty: &Ty, capability: Capability, operands: Vec<Operand>) -> Word {
        self.b.capability(capability);
        let of_type = self.b.ty(ty);
        let scope = self.b.uint(Scope::Subgroup as u32);
        let operands = [Operand::IdScope(scope)].into_iter().chain(operands).collect();
        self.b.result(opcode, of_type, operands)
    }

    fn vote(&mut self) -> Word {
        let vote = Capability::GroupNonUniformVote;
        match self.random.u32(..4) {
            0 => self.of_subgroup(Op::GroupNonUniformElect, &Ty::Bool, Capability::GroupNonUniform, vec![]),
            1 => {
                let value = self.value(&UINT, 1);
                self.of_subgroup(Op::GroupNonUniformAllEqual, &Ty::Bool, vote, vec![Operand::IdRef(value)])
            }
            _ => {
                let opcode = self.pick(&[Op::GroupNonUniformAll, Op::GroupNonUniformAny]);
                let value = self.value(&Ty::Bool, 2);
                self.of_subgroup(opcode, &Ty::Bool, vote, vec![Operand::IdRef(value)])
            }
        }
    }

    /// A ballot, or what can be read from one.
    fn ballot(&mut self) -> (Word, Ty) {
        let capability = Capability::GroupNonUniformBallot;
        let mask = Ty::vector(UINT, 4);
        let value = self.value(&Ty::Bool, 2);
        let ballot = Op::GroupNonUniformBallot;
        let ballot = self.of_subgroup(ballot, &mask, capability, vec![Operand::IdRef(value)]);
        match self.random.u32(..5) {
            0 => (ballot, mask),
            1 => {
                let operands = vec![Operand::IdRef(ballot)];
                let opcode = Op::GroupNonUniformInverseBallot;
                (self.of_subgroup(opcode, &Ty::Bool, capability, operands), Ty::Bool)
            }
            2 => {
                let index = self.below(SUBGROUP, 1);
                let operands = [ballot, index].map(Operand::IdRef).to_vec();
                let opcode = Op::GroupNonUniformBallotBitExtract;
                (self.of_subgroup(opcode, &Ty::Bool, capability, operands), Ty::Bool)
            }
            3 => {
                let operation = Operand::GroupOperation(self.pick(&OPERATIONS));
                let operands = vec![operation, Operand::IdRef(ballot)];
                let opcode = Op::GroupNonUniformBallotBitCount;
                (self.of_subgroup(opcode, &UINT, capability, operands), UINT)
            }
            // The least and the greatest bit of an empty ballot are undefined.
            _ => {
                let yes = self.b.ty(&Ty::Bool);
                let yes = self.b.global(Op::ConstantTrue, Some(yes), vec![]);
                let all = Op::GroupNonUniformBallot;
                let all = self.of_subgroup(all, &mask, capability, vec![Operand::IdRef(yes)]);
                let zero = self.b.uint(0);
                let first = self.b.op_with(Op::CompositeExtract, &UINT, &[ballot], &[0]);
                let is_empty = self.b.op(Op::IEqual, &Ty::Bool, &[first, zero]);
                let bits = self.b.op(Op::Select, &mask, &[is_empty, all, ballot]);
                let opcode = self.pick(&[Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB]);
                (self.of_subgroup(opcode, &UINT, capability, vec![Operand::IdRef(bits)]), UINT)
            }
        }
    }

    fn broadcast(&mut self, ty: &Ty) -> Word {
        let value = self.value(ty, 1);
        let capability = Capability::GroupNonUniformBallot;
        if self.random.bool() {
            let operands = vec![Operand::IdRef(value)];
            return self.of_subgroup(Op::GroupNonUniformBroadcastFirst, ty, capability, operands);
        }
        let from = self.random.u32(..SUBGROUP);
        let operands = [value, self.b.uint(from)].map(Operand::IdRef).to_vec();
        self.of_subgroup(Op::GroupNonUniformBroadcast, ty, capability, operands)
    }

    fn shuffle(&mut self, ty: &Ty) -> Word {
        let value = self.value(ty, 1);
        let capability = Capability::GroupNonUniformShuffle;
        if self.random.bool() {
            let index = self.below(SUBGROUP, 1);
            let operands = [value, index].map(Operand::IdRef).to_vec();
            return self.of_subgroup(Op::GroupNonUniformShuffle, ty, capability, operands);
        }
        let mask = self.random.u32(..SUBGROUP);
        let operands = [value, self.b.uint(mask)].map(Operand::IdRef).to_vec();
        self.of_subgroup(Op::GroupNonUniformShuffleXor, ty, capability, operands)
    }

    fn quad(&mut self, ty: &Ty) -> Word {
        let value = self.value(ty, 1);
        let swap = self.random.bool();
        let number = self.random.u32(..if swap { 3 } else { 4 });
        let operands = [value, self.b.uint(number)].map(Operand::IdRef).to_vec();
        let opcode = if swap { Op::GroupNonUniformQuadSwap } else { Op::GroupNonUniformQuadBroadcast };
        self.of_subgroup(opcode, ty, Capability::GroupNonUniformQuad, operands)
    }

    /// A reduction or scan of the subgroup, or of clusters of it.
    fn reduced(&mut self, opcodes: &[Op], ty: &Ty) -> Word {
        let (value, opcode) = (self.value(ty, 1), self.pick(opcodes));
        if self.features.clusters && self.random.bool() {
            let size = self.pick(&[1, 2, 4, 8]);
            let cluster = Operand::GroupOperation(GroupOperation::ClusteredReduce);
            let operands = vec![cluster, Operand::IdRef(value), Operand::IdRef(self.b.uint(size))];
            return self.of_subgroup(opcode, ty, Capability::GroupNonUniformClustered, operands);
        }
        let operation = Operand::GroupOperation(self.pick(&OPERATIONS));
        let operands = vec![operation, Operand::IdRef(value)];
        self.of_subgroup(opcode, ty, Capability::GroupNonUniformArithmetic, operands)
    }
}
