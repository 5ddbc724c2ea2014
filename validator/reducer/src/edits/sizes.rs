//! Local sizes.

use rspirv::dr::Operand;
use rspirv::spirv::{ExecutionMode, Op};

use super::Edit;
use crate::module::Module;

/// Smaller local sizes: one invocation in a dimension, half of them, one less.
pub(super) fn sizes(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for inst in module.insts.iter().filter(|inst| inst.op() == Op::ExecutionMode) {
        if inst.code.operands.get(1) != Some(&Operand::ExecutionMode(ExecutionMode::LocalSize)) {
            continue;
        }
        for (number, operand) in inst.code.operands.iter().enumerate().skip(2) {
            let Operand::LiteralBit32(size) = operand else { continue };
            let mut smaller = vec![1, size / 2, size.saturating_sub(1)];
            smaller.retain(|other| *other > 0 && other < size);
            smaller.dedup();
            edits.extend(smaller.into_iter().map(|other| Edit::SetLiteral(inst.key, number, other.into())));
        }
    }
    edits
}
