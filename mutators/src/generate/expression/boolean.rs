use rspirv::spirv::{Op, Word};

use crate::generate::kernel::Kernel;
use crate::generate::types::{Ty, INT, UINT};

const LOGIC: [Op; 4] = [Op::LogicalAnd, Op::LogicalOr, Op::LogicalEqual, Op::LogicalNotEqual];

const INTEGERS: [Op; 10] = [
    Op::IEqual,
    Op::INotEqual,
    Op::ULessThan,
    Op::ULessThanEqual,
    Op::UGreaterThan,
    Op::UGreaterThanEqual,
    Op::SLessThan,
    Op::SLessThanEqual,
    Op::SGreaterThan,
    Op::SGreaterThanEqual,
];

const FLOATS: [Op; 12] = [
    Op::FOrdEqual,
    Op::FOrdNotEqual,
    Op::FOrdLessThan,
    Op::FOrdLessThanEqual,
    Op::FOrdGreaterThan,
    Op::FOrdGreaterThanEqual,
    Op::FUnordEqual,
    Op::FUnordNotEqual,
    Op::FUnordLessThan,
    Op::FUnordLessThanEqual,
    Op::FUnordGreaterThan,
    Op::FUnordGreaterThanEqual,
];

impl Kernel {
    /// A bool or a vector of bools.
    pub(super) fn boolean(&mut self, ty: &Ty, depth: u32) -> Word {
        match self.random.u32(..8) {
            0 => {
                let value = self.value(ty, depth);
                self.b.op(Op::LogicalNot, ty, &[value])
            }
            1 => {
                let operands = [self.value(ty, depth), self.value(ty, depth)];
                let opcode = self.pick(&LOGIC);
                self.b.op(opcode, ty, &operands)
            }
            2 if *ty == Ty::Bool => {
                let (count, opcode) = (self.random.u32(2..5), self.pick(&[Op::Any, Op::All]));
                let value = self.value(&Ty::vector(Ty::Bool, count), depth);
                self.b.op(opcode, ty, &[value])
            }
            _ => {
                let scalars = self.scalars().into_iter().filter(|scalar| *scalar != Ty::Bool);
                let scalars: Vec<Ty> = scalars.chain([UINT, INT]).collect();
                let scalar = self.random.choice(scalars).unwrap_or(UINT);
                let is_float = matches!(scalar, Ty::Float(_));
                let of = ty.with_scalar(scalar);
                let operands = [self.value(&of, depth), self.value(&of, depth)];
                let opcode = if is_float { self.pick(&FLOATS) } else { self.pick(&INTEGERS) };
                self.b.op(opcode, ty, &operands)
            }
        }
    }

    /// A condition of a branch.
    pub(in crate::generate) fn condition(&mut self) -> Word {
        self.boolean(&Ty::Bool, 1)
    }

    /// A condition that all invocations of a workgroup decide alike.
    pub(in crate::generate) fn uniform_condition(&mut self) -> Word {
        let operands = [self.uniform(), self.uniform()];
        let opcode = self.pick(&INTEGERS);
        self.b.op(opcode, &Ty::Bool, &operands)
    }

    /// A word that is the same in the whole workgroup.
    pub(in crate::generate) fn uniform(&mut self) -> Word {
        let known = self.scope.uniforms.clone();
        match self.random.choice(known).filter(|_| self.random.u32(..4) > 0) {
            Some(word) => word,
            None => {
                let value = self.random.u32(..6);
                self.b.uint(value)
            }
        }
    }
}
