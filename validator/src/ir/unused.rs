//! Which atomic instructions only update memory: nobody uses their results.

use std::collections::BTreeSet;

use super::{Function, Op};

/// Sets [`AtomicOp::result_used`](super::AtomicOp::result_used) in all functions.
pub fn mark_unused_results(functions: &mut [Function]) {
    for function in functions {
        let mut read = BTreeSet::new();
        for inst in &function.code {
            inst.op.visit_operands(&mut |operand| {
                if !operand.is_constant() {
                    read.insert(operand.index());
                }
            });
            for edge in inst.op.edges() {
                let sources = edge.moves.iter().map(|(_, operand, _)| operand);
                read.extend(sources.filter(|operand| !operand.is_constant()).map(|operand| operand.index()));
            }
        }
        for inst in &mut function.code {
            if let Op::Atomic(op) = &mut inst.op {
                op.result_used = read.contains(&op.dst);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Scope, Semantics, StorageClass};
    use crate::ir::{AtomicKind, AtomicOp, ControlOp, Edge, Inst, Operand};

    fn atomic(dst: u32) -> Op {
        Op::Atomic(AtomicOp {
            kind: AtomicKind::IIncrement,
            dst,
            pointer: Operand::register(0),
            class: StorageClass::Workgroup,
            width: 32,
            scope: Scope::Workgroup,
            semantics: Semantics::default(),
            unequal: Semantics::default(),
            result_used: true,
        })
    }

    fn used(rest: Op) -> bool {
        let code = [atomic(2), rest].map(|op| Inst::plain(op, 1));
        let mut functions = [Function {
            name: None,
            id: 1,
            code: code.into(),
            blocks: Vec::new(),
            registers: 4,
            parameters: Vec::new(),
            locals: Vec::new(),
            loops: Vec::new(),
            results: Default::default(),
            runs: Default::default(),
            fixed: Vec::new(),
            definitions: Vec::new(),
            line: 1,
        }];
        mark_unused_results(&mut functions);
        match &functions[0].code[0].op {
            Op::Atomic(op) => op.result_used,
            _ => unreachable!(),
        }
    }

    #[test]
    fn operands_and_moves_use_a_result() {
        let moves = vec![(3, Operand::register(2), 1)];
        let edge = Edge { target: 0, moves, enters: Vec::new(), repeats: None };
        assert!(!used(Op::Nop));
        assert!(used(Op::Copy { dst: 3, a: Operand::register(2), count: 1 }));
        assert!(!used(Op::Copy { dst: 3, a: Operand::constant(2), count: 1 }));
        assert!(used(Op::Control(ControlOp::Branch(edge))));
    }
}
