//! The atomic read-modify-writes of a program that always write, in contrast to compare-exchanges.

use crate::ir::{AtomicKind, InstId, Op, Program};

/// Whether an instruction is a read-modify-write that always writes.
pub(crate) fn always_updates(program: &Program, inst: InstId) -> bool {
    atomic(program, inst).is_some_and(is_update)
}

fn is_update(kind: &AtomicKind) -> bool {
    !matches!(kind, AtomicKind::Load | AtomicKind::Store { .. } | AtomicKind::CompareExchange { .. })
}

/// Whether a program has atomics with which a class of symmetric invocations may begin.
pub(crate) fn has_first_updates(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|inst| matches!(&inst.op, Op::Atomic(op) if is_update(&op.kind)))
}

pub(crate) fn atomic(program: &Program, inst: InstId) -> Option<&AtomicKind> {
    match &program.functions.get(inst.function.0 as usize)?.code.get(inst.index as usize)?.op {
        Op::Atomic(op) => Some(&op.kind),
        _ => None,
    }
}
