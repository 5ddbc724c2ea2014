//! Which invocations have the same position among all others, as far as the scopes that a program names can distinguish
//! them.
//!
//! For example, if no instruction names the Subgroup scope, two invocations of different subgroups have the same
//! position.

use std::collections::BTreeSet;

use crate::dispatch::{Dispatch, Place};
use crate::event::Scope;
use crate::ir::{BarrierOp, Effect, MemoryOp, MemoryOperands, Op, Program};

/// The scopes that the instructions of a program name.
fn named(program: &Program) -> BTreeSet<Scope> {
    let mut scopes = BTreeSet::new();
    for inst in program.functions.iter().flat_map(|function| &function.code) {
        name(&inst.op, &mut |scope| {
            scopes.insert(scope);
        });
    }
    scopes
}

fn name(op: &Op, scope: &mut impl FnMut(Scope)) {
    let access = |operands: &MemoryOperands, scope: &mut dyn FnMut(Scope)| {
        [operands.make_available, operands.make_visible].into_iter().flatten().for_each(scope);
    };
    match op.effect() {
        Effect::Atomic(atomic) => scope(atomic.scope),
        Effect::Barrier(BarrierOp::Memory { scope: memory, .. }) => scope(*memory),
        Effect::Barrier(BarrierOp::Control { execution, memory, .. }) => {
            scope(*execution);
            scope(*memory);
        }
        Effect::Subgroup(op) => scope(op.scope()),
        Effect::Cooperative(op) => {
            scope(op.scope());
            op.access().iter().for_each(|one| access(&one.operands, scope));
        }
        Effect::Memory(MemoryOp::Load { operands, .. } | MemoryOp::Store { operands, .. }) => {
            access(operands, scope);
        }
        Effect::Memory(MemoryOp::Copy { target_operands, source_operands, .. }) => {
            access(target_operands, scope);
            access(source_operands, scope);
        }
        Effect::Image(image) => access(&image.operands.memory, scope),
        Effect::Memory(
            MemoryOp::Chain(_)
            | MemoryOp::ArrayLength { .. }
            | MemoryOp::Variable { .. }
            | MemoryOp::Uniform { .. }
            | MemoryOp::Difference { .. },
        )
        | Effect::Control(_)
        | Effect::Barrier(BarrierOp::Numbered(_) | BarrierOp::Device(_))
        | Effect::None => {}
    }
}

/// What distinguishes the positions of invocations.
pub(crate) struct ScopePosition<'a> {
    dispatch: &'a Dispatch,
    subgroups: bool,
    workgroups: bool,
}

impl<'a> ScopePosition<'a> {
    pub(crate) fn new(program: &Program, dispatch: &'a Dispatch) -> Self {
        let named = named(program);
        // Workgroup memory need not count here: an invocation that touches it does not do the same as one of another
        // workgroup, whose Workgroup memory is another one.
        let workgroups = named.contains(&Scope::Workgroup) || named.contains(&Scope::Subgroup);
        ScopePosition { dispatch, subgroups: named.contains(&Scope::Subgroup), workgroups }
    }

    /// Whether two invocations have the same position in relation to all others.
    pub(crate) fn is_alike(&self, a: u32, b: u32) -> bool {
        let groups = |place: &Place| {
            let subgroup = if self.subgroups { place.subgroup } else { 0 };
            [subgroup, if self.workgroups { place.workgroup } else { 0 }, place.queue_family]
        };
        let of = |index: u32| groups(&self.dispatch.places[index as usize]);
        let [one, other] = [of(a), of(b)];
        if one == other {
            return true;
        }
        (0..self.dispatch.places.len() as u32).filter(|index| ![a, b].contains(index)).all(|index| {
            let third = of(index);
            (0..third.len()).all(|level| (one[level] == third[level]) == (other[level] == third[level]))
        })
    }
}
