//! Statements: what a kernel does between reading its inputs and writing its results.

mod atomic;
mod call;
mod exchange;
mod flow;
mod subgroup;

pub(super) use call::Callee;

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use super::kernel::Kernel;
use super::structured::Features;

/// Where a statement stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Constructs around it.
    depth: u32,
    /// The loop around it that it may leave.
    around: Option<Around>,
    /// Whether the whole workgroup comes here together.
    uniform: bool,
}

/// Where the body of a loop may jump to.
#[derive(Clone, Copy)]
pub(super) struct Around {
    merge: Word,
    next: Word,
}

impl Place {
    /// Inside of a selection. Where invocations part in a loop that they run together, none leaves the loop alone.
    fn inside(self, uniform: bool) -> Place {
        let around = self.around.filter(|_| uniform == self.uniform);
        Place { depth: self.depth + 1, around, uniform }
    }
}

impl Kernel {
    /// Statements until the budget is spent.
    pub(super) fn body(&mut self) {
        let place = Place { depth: 0, around: None, uniform: self.scope.returns.is_none() };
        while self.budget > 0 {
            self.statement(place);
        }
    }

    fn statement(&mut self, place: Place) {
        self.budget = self.budget.saturating_sub(1);
        if self.random.u32(..3) == 0 && self.with_others(place) {
            return;
        }
        match self.random.u32(..12) {
            7..=8 if self.features.flow && place.depth < 3 => self.selection(place),
            9 if self.features.flow && place.depth < 3 => self.switch(place),
            10..=11 if self.features.flow && place.depth < 3 => self.repetition(place),
            6 if place.around.is_some() => self.leave(place),
            5 if self.scope.returns.is_some() && place.depth > 0 => self.early_return(),
            4 if self.features.composites => self.copy(),
            2..=3 if self.features.memory => self.element(),
            _ => self.assignment(),
        }
    }

    /// A statement whose result or effect involves other invocations, if the features have one for the place.
    fn with_others(&mut self, place: Place) -> bool {
        let Features { exchange, atomics, subgroups, .. } = self.features;
        let mut possible: Vec<fn(&mut Kernel)> = Vec::new();
        if exchange && place.uniform {
            possible.push(Kernel::exchange);
        }
        if atomics && place.uniform {
            possible.push(Kernel::tally);
        }
        if atomics {
            possible.push(Kernel::count);
        }
        if subgroups && place.uniform {
            possible.extend([Kernel::subgroup_operation as fn(&mut Kernel); 2]);
        }
        let chosen = self.random.choice(possible);
        chosen.inspect(|statement| statement(self)).is_some()
    }

    /// A few statements in a block of their own. What they compute dominates nothing behind them.
    fn block(&mut self, place: Place) {
        let (values, uniforms) = (self.scope.values.len(), self.scope.uniforms.len());
        for _ in 0..self.random.u32(1..4) {
            self.statement(place);
        }
        self.scope.values.truncate(values);
        self.scope.uniforms.truncate(uniforms);
    }

    /// Stores a new value to a variable or a part of one.
    fn assignment(&mut self) {
        let index = self.random.usize(..self.pool.len());
        let ty = self.pool[index].clone();
        let depth = self.random.u32(1..4);
        let value = self.value(&ty, depth);
        if let Some((place, _)) = self.place(&ty) {
            self.store(place, value);
        }
    }

    /// Copies memory from one variable to another.
    fn copy(&mut self) {
        let index = self.random.usize(..self.pool.len());
        let ty = self.pool[index].clone();
        let (Some((to, target)), Some((from, source))) = (self.place(&ty), self.place(&ty)) else { return };
        if target.pointer != source.pointer {
            self.b.emit(Op::CopyMemory, [to, from].map(Operand::IdRef).to_vec());
        }
    }
}
