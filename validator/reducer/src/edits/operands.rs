//! Operands of instructions.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashSet;

use super::Edit;
use crate::module::{is_constant, is_type, Key, Module};

/// Operands that are computed, or constants that are not zero, which zero may stand for.
pub(super) fn operands(module: &Module) -> Vec<Edit> {
    let begins = module.code_begins();
    let definitions = module.definitions();
    let globals: FxHashSet<Word> = module
        .insts
        .iter()
        .take(begins)
        .filter(|inst| is_constant(inst.op()))
        .filter_map(|inst| inst.code.result_id)
        .collect();
    let mut edits = Vec::new();
    for inst in module.insts.iter().skip(begins).rev() {
        if matches!(inst.op(), Op::Function | Op::Label | Op::LoopMerge | Op::SelectionMerge | Op::Branch) {
            continue;
        }
        for (number, operand) in inst.code.operands.iter().enumerate() {
            let Operand::IdRef(id) = operand else { continue };
            let Some(definition) = definitions.get(id) else { continue };
            let has_value = definition.code.result_type.is_some() && !is_type(definition.op());
            if has_value && !globals.contains(id) && definition.op() != Op::Variable {
                edits.push(Edit::ZeroOperand(inst.key, number));
            }
        }
    }
    edits
}

/// Makes an operand zero.
pub(super) fn zero(module: &mut Module, key: Key, number: usize) -> Option<()> {
    let id = module.keyed(key)?.id(number)?;
    let ty = module.definition(id)?.code.result_type?;
    let zero = module.zero(ty)?;
    let at = module.index(key)?;
    let operand = module.insts.get_mut(at)?.code.operands.get_mut(number)?.id_ref_any_mut()?;
    if *operand == zero {
        return None;
    }
    *operand = zero;
    Some(())
}
