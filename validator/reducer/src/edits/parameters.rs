//! Parameters of functions.

use std::ops::Range;

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use super::{is_used, replace_uses, Edit};
use crate::module::{is_constant, Key, Module};

/// Parameters that their functions do not take, and values that may stand for others: zero, and what is global and given to
/// them by a call.
pub(super) fn parameters(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for inst in module.insts.iter().rev().filter(|inst| inst.op() == Op::FunctionParameter) {
        if inst.code.result_id.is_some_and(|id| !is_used(module, id)) {
            edits.push(Edit::RemoveParameter(inst.key));
            continue;
        }
        edits.push(Edit::Zero(inst.key));
        let given = place_of(module, inst.key).map(|(_, name, number)| given(module, name, number));
        edits.extend(given.into_iter().flatten().map(|id| Edit::Resolve(inst.key, id)));
    }
    edits
}

/// The function of a parameter, its name, and the number of the parameter.
fn place_of(module: &Module, key: Key) -> Option<(Range<usize>, Word, usize)> {
    let at = module.index(key)?;
    let function = module.functions().into_iter().find(|function| function.contains(&at))?;
    let before = module.insts.get(function.start..at)?;
    let number = before.iter().filter(|inst| inst.op() == Op::FunctionParameter).count();
    let name = module.insts.get(function.start)?.code.result_id?;
    Some((function, name, number))
}

/// The constants and variables outside of functions that calls give to a parameter, each once.
fn given(module: &Module, name: Word, number: usize) -> Vec<Word> {
    let calls = module.insts.iter().filter(|inst| inst.op() == Op::FunctionCall && inst.id(0) == Some(name));
    let mut all: Vec<Word> = calls.filter_map(|call| call.id(number + 1)).collect();
    let globals = module.insts.get(..module.code_begins()).unwrap_or_default();
    all.retain(|id| {
        let defined = globals.iter().find(|inst| inst.code.result_id == Some(*id));
        defined.is_some_and(|inst| is_constant(inst.op()) || inst.op() == Op::Variable)
    });
    all.sort_unstable();
    all.dedup();
    all
}

/// Puts a value that is global in the place of a parameter.
pub(super) fn resolve(module: &mut Module, key: Key, id: Word) -> Option<()> {
    let parameter = module.keyed(key).filter(|inst| inst.op() == Op::FunctionParameter)?;
    let (own, ty) = (parameter.code.result_id?, parameter.code.result_type?);
    let is_alike = module.definition(id)?.code.result_type == Some(ty);
    is_alike.then_some(())?;
    replace_uses(module, own, id);
    remove(module, key)
}

/// Puts zero in the place of a parameter.
pub(super) fn zero(module: &mut Module, key: Key) -> Option<()> {
    let parameter = module.keyed(key).filter(|inst| inst.op() == Op::FunctionParameter)?;
    let zero = module.zero(parameter.code.result_type?)?;
    resolve(module, key, zero)
}

/// Takes a parameter out of its function, of the function's type, and of calls.
pub(super) fn remove(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key)?;
    let parameter = module.insts.get(at).filter(|inst| inst.op() == Op::FunctionParameter)?;
    if is_used(module, parameter.code.result_id?) {
        return None;
    }
    let (function, _, number) = place_of(module, key)?;
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

#[cfg(test)]
mod tests {
    use super::super::tests::{edited, with_function};
    use super::super::Family;
    use super::*;

    #[test]
    fn parameters_become_what_calls_give_or_zero() {
        let module = with_function();
        let given = edited(&module, Family::Parameters, |edit| matches!(edit, Edit::Resolve(..)));
        assert!(given.contains("OpIAdd %uint %uint_2 %uint_2"), "{given}");
        assert_eq!(given.matches("OpFunctionParameter").count(), 1, "{given}");
        let zero = edited(&module, Family::Parameters, |edit| matches!(edit, Edit::Zero(_)));
        assert!(zero.contains("OpIAdd %uint %uint_0 %uint_0"), "{zero}");
    }
}
