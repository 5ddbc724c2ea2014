//! Entry points, functions and their parameters.

use std::ops::Range;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use super::{is_used, replace_uses, Edit};
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

/// Calls of functions that have one block.
fn calls(module: &Module) -> Vec<Edit> {
    let calls = module.insts.iter().rev().filter(|inst| inst.op() == Op::FunctionCall);
    let inlined = calls.filter(|call| call.id(0).is_some_and(|callee| only_block(module, callee).is_some()));
    inlined.map(|call| Edit::Inline(call.key)).collect()
}

/// The parameters of a function that has one block, and the code of that.
fn only_block(module: &Module, name: u32) -> Option<(Vec<u32>, &[Inst])> {
    let is_it = |function: &Range<usize>| {
        module.insts.get(function.start).is_some_and(|head| head.code.result_id == Some(name))
    };
    let function = module.functions().into_iter().find(is_it)?;
    let blocks = module.blocks(&function);
    let [block] = &blocks[..] else { return None };
    let parameters = module.insts.get(function.start..block.range.start)?;
    let parameters = parameters.iter().filter(|inst| inst.op() == Op::FunctionParameter);
    let parameters = parameters.filter_map(|inst| inst.code.result_id).collect();
    Some((parameters, module.insts.get(block.range.start + 1..block.range.end)?))
}

/// Puts the code of a function in the place of a call.
pub(super) fn inline(module: &mut Module, key: Key) -> Option<()> {
    let call = module.keyed(key).filter(|inst| inst.op() == Op::FunctionCall)?;
    let (callee, result) = (call.id(0)?, call.code.result_id?);
    let arguments: Vec<u32> = call.ids().skip(1).collect();
    let (parameters, code) = only_block(module, callee)?;
    let mut ids: FxHashMap<u32, u32> = parameters.into_iter().zip(arguments).collect();
    // Variables belong to the first block of their function.
    if code.iter().any(|inst| inst.op() == Op::Variable) {
        return None;
    }
    let mut code: Vec<Instruction> = code.iter().map(|inst| inst.code.clone()).collect();
    let last = code.pop()?;
    for inst in &mut code {
        for id in inst.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
            *id = ids.get(id).copied().unwrap_or(*id);
        }
        if let Some(id) = inst.result_id {
            let new = module.fresh_id();
            ids.insert(id, new);
            inst.result_id = Some(new);
        }
    }
    let returned = match last.class.opcode {
        Op::Return => None,
        Op::ReturnValue => last.operands.first().and_then(Operand::id_ref_any),
        _ => return None,
    };
    let code: Vec<Inst> = code.into_iter().map(|code| module.keyed_new(code)).collect();
    let at = module.index(key)?;
    module.insts.splice(at..at + 1, code);
    if let Some(returned) = returned {
        replace_uses(module, result, ids.get(&returned).copied().unwrap_or(returned));
    }
    Some(())
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
