use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use crate::generate::kernel::{Kernel, Variable};
use crate::generate::types::Ty;

/// A step from a composite to a member.
#[derive(Clone, Copy)]
enum Step {
    /// A member of a struct.
    Member(u32),
    /// Any of so many components, columns or elements.
    Any(u32),
}

/// Every way from a type to a member of another type, at any depth, none included.
fn ways(from: &Ty, to: &Ty) -> Vec<Vec<Step>> {
    let mut found = if from == to { vec![Vec::new()] } else { Vec::new() };
    let steps: Vec<(Step, Ty)> = match from {
        Ty::Struct(members) => (0..).map(Step::Member).zip(members.iter().cloned()).collect(),
        _ => {
            let members = from.members();
            let count = members.len() as u32;
            members.into_iter().take(1).map(|member| (Step::Any(count), member)).collect()
        }
    };
    for (step, member) in steps {
        found.extend(ways(&member, to).into_iter().map(|way| [vec![step], way].concat()));
    }
    found
}

impl Kernel {
    /// A member of this type of a composite that is there, by value or through a pointer.
    pub(super) fn member(&mut self, ty: &Ty) -> Option<Word> {
        if self.random.bool() {
            let (pointer, _) = self.place(ty)?;
            return Some(self.b.op(Op::Load, ty, &[pointer]));
        }
        let composites: Vec<Ty> =
            self.pool.iter().filter(|of| *of != ty && !ways(of, ty).is_empty()).cloned().collect();
        let of = self.random.choice(composites)?;
        let value = self.value(&of, 1);
        if matches!(&of, Ty::Vector(..)) && self.random.bool() {
            let index = self.below(of.members().len() as u32, 1);
            return Some(self.b.op(Op::VectorExtractDynamic, ty, &[value, index]));
        }
        let way = self.random.choice(ways(&of, ty))?;
        let literals: Vec<u32> = way.into_iter().map(|step| self.literal(step)).collect();
        Some(self.b.op_with(Op::CompositeExtract, ty, &[value], &literals))
    }

    fn literal(&mut self, step: Step) -> u32 {
        match step {
            Step::Member(index) => index,
            Step::Any(count) => self.random.u32(..count),
        }
    }

    /// A pointer to a value of this type in a variable, and that variable.
    pub(in crate::generate) fn place(&mut self, ty: &Ty) -> Option<(Word, Variable)> {
        let mut places = Vec::new();
        for variable in &self.scope.variables {
            places.extend(ways(&variable.ty, ty).into_iter().map(|way| (variable.clone(), way)));
        }
        let (variable, way) = self.random.choice(places)?;
        if way.is_empty() {
            return Some((variable.pointer, variable));
        }
        let mut operands = vec![Operand::IdRef(variable.pointer)];
        for step in way {
            let index = match step {
                Step::Any(count) if self.random.u32(..3) > 0 => self.below(count, 1),
                step => {
                    let literal = self.literal(step);
                    self.b.uint(literal)
                }
            };
            operands.push(Operand::IdRef(index));
        }
        let pointer = self.b.pointer(variable.class, ty);
        let opcode = self.pick(&[Op::AccessChain, Op::InBoundsAccessChain]);
        Some((self.b.result(opcode, pointer, operands), variable))
    }

    /// A vector, array or struct of new members, or one with a member changed.
    pub(super) fn composite(&mut self, ty: &Ty, depth: u32) -> Word {
        let members = ty.members();
        match (self.random.u32(..6), ty) {
            (0, _) => {
                let index = self.random.usize(..members.len());
                let part = self.value(&members[index], depth);
                let whole = self.value(ty, depth);
                self.b.op_with(Op::CompositeInsert, ty, &[part, whole], &[index as u32])
            }
            (1, Ty::Vector(of, count)) => {
                let (whole, part) = (self.value(ty, depth), self.value(of, depth));
                let index = self.below(*count, depth);
                self.b.op(Op::VectorInsertDynamic, ty, &[whole, part, index])
            }
            (2..=3, Ty::Vector(of, count)) => {
                let counts = [self.random.u32(2..5), self.random.u32(2..5)];
                let parts = counts.map(|count| self.value(&Ty::vector((**of).clone(), count), depth));
                let components: Vec<u32> =
                    (0..*count).map(|_| self.random.u32(..counts[0] + counts[1])).collect();
                self.b.op_with(Op::VectorShuffle, ty, &parts, &components)
            }
            (2, Ty::Array(..) | Ty::Struct(_)) => {
                let condition = self.value(&Ty::Bool, depth);
                let operands = [condition, self.value(ty, depth), self.value(ty, depth)];
                self.b.op(Op::Select, ty, &operands)
            }
            _ => {
                let parts: Vec<Word> = members.iter().map(|member| self.value(member, depth)).collect();
                self.b.op(Op::CompositeConstruct, ty, &parts)
            }
        }
    }
}
