use rspirv::dr::Operand;
use rspirv::spirv::{LoopControl, Op, SelectionControl, Word};

use super::{Around, Place};
use crate::generate::kernel::Kernel;
use crate::generate::types::{Ty, UINT};

/// How often a block may run in a program, at most.
pub(super) const TURNS: u32 = 200;

impl Kernel {
    pub(super) fn jump(&mut self, label: Word) {
        self.b.emit(Op::Branch, vec![Operand::IdRef(label)]);
    }

    fn merge(&mut self, merge: Word) {
        let control = Operand::SelectionControl(SelectionControl::NONE);
        self.b.emit(Op::SelectionMerge, vec![Operand::IdRef(merge), control]);
    }

    fn split(&mut self, condition: Word, yes: Word, no: Word) {
        self.b.emit(Op::BranchConditional, [condition, yes, no].map(Operand::IdRef).to_vec());
    }

    /// Leaves the loop, or goes on with its next turn, on a condition.
    pub(super) fn leave(&mut self, place: Place) {
        let Some(around) = place.around else { return };
        let target = if self.random.bool() { around.merge } else { around.next };
        let condition = if place.uniform { self.uniform_condition() } else { self.condition() };
        let (out, stay) = (self.b.fresh(), self.b.fresh());
        self.merge(stay);
        self.split(condition, out, stay);
        self.b.open(out);
        self.jump(target);
        self.b.open(stay);
    }

    /// Code on a condition, which opens no other block.
    pub(super) fn guarded(&mut self, condition: Word, code: impl FnOnce(&mut Kernel)) {
        let (then, merge) = (self.b.fresh(), self.b.fresh());
        self.merge(merge);
        self.split(condition, then, merge);
        self.b.open(then);
        code(self);
        self.jump(merge);
        self.b.open(merge);
    }

    /// Returns from the function on a condition.
    pub(super) fn early_return(&mut self) {
        let Some(ty) = self.scope.returns.clone() else { return };
        let condition = self.condition();
        let (out, stay) = (self.b.fresh(), self.b.fresh());
        self.merge(stay);
        self.split(condition, out, stay);
        self.b.open(out);
        let known = self.scope.values.len();
        let value = self.value(&ty, 1);
        self.scope.values.truncate(known);
        self.b.emit(Op::ReturnValue, vec![Operand::IdRef(value)]);
        self.b.open(stay);
    }

    /// Two ways, or one that can be skipped. Each may give a value to an OpPhi.
    pub(super) fn selection(&mut self, place: Place) {
        let uniform = place.uniform && self.random.bool();
        let condition = if uniform { self.uniform_condition() } else { self.condition() };
        let inner = place.inside(uniform);
        let merge = self.b.fresh();
        let (yes, no) = (self.b.fresh(), if self.random.u32(..3) == 0 { merge } else { self.b.fresh() });
        let index = self.random.usize(..self.pool.len());
        let ty = self.pool[index].clone();
        let mut incoming = Vec::new();
        if no == merge {
            let value = self.leaf(&ty);
            incoming.extend([value, self.b.current()]);
        }
        self.merge(merge);
        self.split(condition, yes, no);
        for label in [yes, no].into_iter().filter(|label| *label != merge) {
            self.b.open(label);
            self.block(inner);
            let known = self.scope.values.len();
            let value = self.value(&ty, 1);
            self.scope.values.truncate(known);
            incoming.extend([value, self.b.current()]);
            self.jump(merge);
        }
        self.b.open(merge);
        let chosen = self.b.op(Op::Phi, &ty, &incoming);
        self.scope.values.push((chosen, ty));
    }

    /// A switch of four targets, one of which falls through to another.
    pub(super) fn switch(&mut self, place: Place) {
        let uniform = place.uniform && self.random.bool();
        let selector = if uniform { self.uniform() } else { self.below(8, 1) };
        let inner = place.inside(uniform);
        let labels: [Word; 4] = std::array::from_fn(|_| self.b.fresh());
        let merge = self.b.fresh();
        self.merge(merge);
        let mut operands = vec![Operand::IdRef(selector), Operand::IdRef(labels[3])];
        for (value, label) in [(1, 0), (2, 1), (5, 2), (6, 1)] {
            operands.extend([Operand::LiteralBit32(value), Operand::IdRef(labels[label])]);
        }
        self.b.emit(Op::Switch, operands);
        for (index, label) in labels.into_iter().enumerate() {
            self.b.open(label);
            self.block(inner);
            self.jump(if index == 0 { labels[1] } else { merge });
        }
        self.b.open(merge);
    }

    /// A loop of up to five turns, which tests before or behind its body.
    pub(super) fn repetition(&mut self, place: Place) {
        let count = self.random.u32(1..6);
        if self.scope.turns * count > TURNS {
            return self.leave(place);
        }
        let uniform = place.uniform && self.random.bool();
        let tests_first = self.random.u32(..3) > 0;
        let before = self.b.current();
        let [header, test, body, next, merge] = std::array::from_fn(|_| self.b.fresh());
        let (zero, one, limit) = (self.b.uint(0), self.b.uint(1), self.b.uint(count));
        let advanced = self.b.fresh();
        self.jump(header);
        self.b.open(header);
        let uint = self.b.ty(&UINT);
        let counter = self.b.op(Op::Phi, &UINT, &[zero, before, advanced, next]);
        let control = Operand::LoopControl(LoopControl::NONE);
        self.b.emit(Op::LoopMerge, vec![Operand::IdRef(merge), Operand::IdRef(next), control]);
        if tests_first {
            self.jump(test);
            self.b.open(test);
            let more = self.b.op(Op::ULessThan, &Ty::Bool, &[counter, limit]);
            self.split(more, body, merge);
        } else {
            self.jump(body);
        }
        self.b.open(body);
        self.scope.turns *= count;
        self.scope.cost = self.scope.cost.max(self.scope.turns);
        self.scope.values.push((counter, UINT));
        if uniform {
            self.scope.uniforms.push(counter);
        }
        self.block(Place { depth: place.depth + 1, around: Some(Around { merge, next }), uniform });
        self.scope.values.retain(|(value, _)| *value != counter);
        self.scope.uniforms.retain(|value| *value != counter);
        self.scope.turns /= count;
        self.jump(next);
        self.b.open(next);
        let operands = [counter, one].map(Operand::IdRef).to_vec();
        self.b.result_as(advanced, Op::IAdd, uint, operands);
        if tests_first {
            self.jump(header);
        } else {
            let more = self.b.op(Op::ULessThan, &Ty::Bool, &[advanced, limit]);
            self.split(more, header, merge);
        }
        self.b.open(merge);
    }
}
