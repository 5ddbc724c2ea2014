//! Entry points, functions and their parameters.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::{is_used, Edit};
use crate::module::{Key, Module};

/// Entry points beside the first, and functions that have code, the last first.
pub(super) fn functions(module: &Module) -> Vec<Edit> {
    let entries: Vec<Key> =
        module.insts.iter().filter(|inst| inst.op() == Op::EntryPoint).map(|inst| inst.key).collect();
    let entries = entries.into_iter().rev().map(Edit::Remove);
    let bodies = module.functions().into_iter().rev().filter_map(|function| {
        let is_empty = module.blocks(&function).first().is_none_or(|first| first.range.len() <= 2);
        let head = module.insts.get(function.start)?;
        (!is_empty).then_some(Edit::EmptyFunction(head.key))
    });
    entries.chain(bodies).collect()
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
    let last = module.keyed_new(last);
    module.insts.splice(first.range.start + 1..function.end - 1, [last]);
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

/// Parameters that their functions do not take.
pub(super) fn parameters(module: &Module) -> Vec<Edit> {
    let parameters = module.insts.iter().rev().filter(|inst| inst.op() == Op::FunctionParameter);
    let unused = parameters.filter(|inst| inst.code.result_id.is_some_and(|id| !is_used(module, id)));
    unused.map(|inst| Edit::RemoveParameter(inst.key)).collect()
}

/// Takes a parameter out of its function, of the function's type, and of calls.
pub(super) fn remove_parameter(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key)?;
    let parameter = module.insts.get(at).filter(|inst| inst.op() == Op::FunctionParameter)?;
    if is_used(module, parameter.code.result_id?) {
        return None;
    }
    let function = module.functions().into_iter().find(|function| function.contains(&at))?;
    let number = module
        .insts
        .get(function.start..at)?
        .iter()
        .filter(|inst| inst.op() == Op::FunctionParameter)
        .count();
    let head = module.insts.get(function.start)?;
    let (name, head, ty) = (head.code.result_id?, head.key, head.id(1)?);
    let mut signature = module.definition(ty)?.code.operands.clone();
    // The type of the result comes first.
    if number + 1 >= signature.len() {
        return None;
    }
    signature.remove(number + 1);
    module.insts.remove(at);
    let ty = module.declared(Op::TypeFunction, None, signature);
    let head = module.index(head)?;
    *module.insts.get_mut(head)?.code.operands.get_mut(1)? = Operand::IdRef(ty);
    for inst in module.insts.iter_mut().filter(|inst| inst.op() == Op::FunctionCall) {
        if inst.id(0) == Some(name) && inst.code.operands.len() > number + 1 {
            inst.code.operands.remove(number + 1);
        }
    }
    Some(())
}
