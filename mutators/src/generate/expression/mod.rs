//! Values of a type, from what can be read where they stand.

mod boolean;
mod composite;
mod float;
mod integer;

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use super::kernel::{Kernel, Variable};
use super::types::{bound, Ty, UINT};

impl Kernel {
    /// A value of a type; `depth` operations at most are nested in it.
    pub(super) fn value(&mut self, ty: &Ty, depth: u32) -> Word {
        if depth == 0 || self.random.u32(..6) == 0 {
            return self.leaf(ty);
        }
        let value = self.made(ty, depth - 1);
        self.scope.values.push((value, ty.clone()));
        value
    }

    /// The result of an operation.
    fn made(&mut self, ty: &Ty, depth: u32) -> Word {
        if self.random.u32(..6) == 0 {
            if let Some(value) = self.member(ty) {
                return value;
            }
        }
        if self.random.u32(..6) == 0 {
            if let Some(value) = self.call(ty) {
                return value;
            }
        }
        match ty {
            Ty::Matrix(..) => return self.matrix(ty, depth),
            Ty::Vector(..) if self.random.u32(..3) == 0 => return self.composite(ty, depth),
            _ => {}
        }
        match ty.shape() {
            Some((Ty::Bool, _)) => self.boolean(ty, depth),
            Some((Ty::Int { .. }, _)) => self.integer(ty, depth),
            Some((Ty::Float(_), _)) => self.float(ty, depth),
            _ => self.composite(ty, depth),
        }
    }

    /// The scalar types of the pool's scalars and vectors.
    fn scalars(&self) -> Vec<Ty> {
        self.pool.iter().filter_map(|ty| ty.shape()).map(|(scalar, _)| scalar.clone()).collect()
    }

    /// A value that is there: an earlier result, a variable, the input, or a constant.
    pub(super) fn leaf(&mut self, ty: &Ty) -> Word {
        match self.random.u32(..8) {
            0..=1 => {
                let known: Vec<Word> = { self.scope.values.iter() }
                    .filter(|(_, of)| of == ty)
                    .map(|(value, _)| *value)
                    .collect();
                if let Some(value) = self.random.choice(known) {
                    return value;
                }
            }
            2..=5 => {
                if let Some(variable) = self.variable(ty) {
                    return self.b.op(Op::Load, ty, &[variable.pointer]);
                }
            }
            6 if self.random.bool() => {
                if let Some(value) = self.specialised(ty) {
                    return value;
                }
            }
            6 => return self.unflatten(ty, &mut Kernel::input),
            _ => {}
        }
        self.constant(ty)
    }

    /// A variable of a type.
    pub(super) fn variable(&mut self, ty: &Ty) -> Option<Variable> {
        let fitting: Vec<Variable> =
            self.scope.variables.iter().filter(|variable| variable.ty == *ty).cloned().collect();
        self.random.choice(fitting)
    }

    /// A constant: often an edge of the type.
    pub(super) fn constant(&mut self, ty: &Ty) -> Word {
        let id = self.b.ty(ty);
        match ty {
            Ty::Bool => {
                let opcode = if self.random.bool() { Op::ConstantTrue } else { Op::ConstantFalse };
                self.b.global(opcode, Some(id), vec![])
            }
            Ty::Int { width, .. } => {
                let value = match self.random.u32(..4) {
                    0 => self.random.u64(..4),
                    1 => u64::MAX - self.random.u64(..2),
                    2 => (1 << (width - 1)) - self.random.u64(..2),
                    _ => self.random.u64(..),
                };
                self.b.integer(ty, value)
            }
            Ty::Float(width) => {
                let bound = bound(*width) as i32;
                let value = self.random.i32(-bound..=bound) as f32;
                self.b.float(*width, value)
            }
            Ty::Vector(..) | Ty::Matrix(..) | Ty::Array(..) | Ty::Struct(_) => {
                let members = ty.members();
                let parts = members.iter().map(|member| Operand::IdRef(self.constant(member))).collect();
                self.b.global(Op::ConstantComposite, Some(id), parts)
            }
        }
    }

    /// An unsigned value below a limit of 1 or more.
    pub(super) fn below(&mut self, limit: u32, depth: u32) -> Word {
        let value = self.value(&UINT, depth);
        let (opcode, operand) = match limit.is_power_of_two() {
            true => (Op::BitwiseAnd, limit - 1),
            false => (Op::UMod, limit),
        };
        let operand = self.b.uint(operand);
        self.b.op(opcode, &UINT, &[value, operand])
    }

    /// A value of a type that the same pattern of bits has in every component.
    pub(super) fn pattern(&mut self, ty: &Ty, value: u64) -> Word {
        match ty.shape() {
            Some((scalar, _)) => {
                let scalar = self.b.integer(&scalar.clone(), value);
                self.b.splat(ty, scalar)
            }
            None => self.constant(ty),
        }
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.random.usize(..among.len())]
    }
}
