//! Entry points and functions.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::inline::calls;
use super::Edit;
use crate::module::{Inst, Key, Module};

/// Entry points beside the first, functions that have code, and calls, the last first.
pub(super) fn functions(module: &Module) -> Vec<Edit> {
    let entries: Vec<Key> =
        module.insts.iter().filter(|inst| inst.op() == Op::EntryPoint).map(|inst| inst.key).collect();
    let entries = entries.into_iter().rev().map(Edit::Remove);
    let bodies = module.functions().into_iter().rev().filter_map(|function| {
        let is_empty = module.blocks(&function).first().is_none_or(|first| first.range.len() <= 2);
        let head = module.insts.get(function.start)?;
        (!is_empty).then_some(Edit::EmptyFunction(head.key))
    });
    entries.chain(bodies).chain(calls(module)).collect()
}

/// Leaves a function one block, which returns.
pub(super) fn empty(module: &mut Module, key: Key) -> Option<()> {
    let head = module.index(key)?;
    let result_type = module.insts.get(head)?.code.result_type?;
    let last = returning(module, result_type)?;
    // The result's zero may be a new declaration.
    let head = module.index(key)?;
    let function = module.functions().into_iter().find(|function| function.start == head)?;
    let first = module.blocks(&function).into_iter().next()?;
    if first.range.len() <= 2 {
        return None;
    }
    let key = module.terminator(&first)?.key;
    module.insts.splice(first.range.start + 1..function.end - 1, [Inst { key, code: last }]);
    Some(())
}

/// What returns from a function with this type of result: zero, unless there is nothing to return.
pub(super) fn returning(module: &mut Module, result_type: u32) -> Option<Instruction> {
    if module.definition(result_type)?.op() == Op::TypeVoid {
        return Some(Instruction::new(Op::Return, None, None, Vec::new()));
    }
    let zero = module.zero(result_type)?;
    Some(Instruction::new(Op::ReturnValue, None, None, vec![Operand::IdRef(zero)]))
}
