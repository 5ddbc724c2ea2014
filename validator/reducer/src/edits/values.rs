//! Instructions: those with effects, and values.

use rspirv::spirv::{Op, Word};

use super::earlier::few;
use super::{constants, is_used, parameters, replace_uses, Edit};
use crate::flow::is_terminator;
use crate::module::{Key, Module};

/// Whether an instruction is there for others alone.
pub(super) fn is_fixed(op: Op) -> bool {
    is_terminator(op)
        || matches!(
            op,
            Op::Function
                | Op::FunctionEnd
                | Op::FunctionParameter
                | Op::Label
                | Op::LoopMerge
                | Op::SelectionMerge
        )
}

/// Every instruction of the functions: effects are removed, values are removed where nobody takes them, and zero otherwise.
pub(super) fn instructions(module: &Module) -> Vec<Edit> {
    let begins = module.code_begins();
    let code = module.insts.get(begins..).unwrap_or_default();
    let edits = code.iter().rev().filter(|inst| !is_fixed(inst.op())).map(|inst| match inst.code.result_id {
        Some(id) if is_used(module, id) => Edit::Zero(inst.key),
        Some(_) | None => Edit::Remove(inst.key),
    });
    edits.collect()
}

/// Values in whose place an undefined one, an operand or a value near by can stand.
pub(super) fn bypasses(module: &Module) -> Vec<Edit> {
    let begins = module.code_begins();
    let definitions = module.definitions();
    let type_of = |id: Word| definitions.get(&id).and_then(|inst| inst.code.result_type);
    let mut edits = Vec::new();
    for inst in module.insts.get(begins..).unwrap_or_default() {
        let (Some(ty), Some(id)) = (inst.code.result_type, inst.code.result_id) else { continue };
        if is_fixed(inst.op()) || inst.op() == Op::Variable || !is_used(module, id) {
            continue;
        }
        edits.push(Edit::Undefine(inst.key));
        let operands = inst.code.operands.iter().enumerate();
        let alike = operands.filter(|(_, operand)| {
            operand.id_ref_any().is_some_and(|other| other != id && type_of(other) == Some(ty))
        });
        edits.extend(alike.map(|(number, _)| Edit::Bypass(inst.key, number)));
    }
    edits.extend(few(module));
    edits.reverse();
    edits
}

/// Puts another id in the place of a value, and removes it.
fn replace(module: &mut Module, key: Key, by: Word) -> Option<()> {
    let at = module.index(key)?;
    let id = module.insts.get(at)?.code.result_id?;
    if id == by {
        return None;
    }
    module.insts.remove(at);
    replace_uses(module, id, by);
    Some(())
}

/// Zero in the place of a value; a parameter goes with its arguments.
pub(super) fn zero(module: &mut Module, key: Key) -> Option<()> {
    let inst = module.keyed(key)?;
    if inst.op() == Op::FunctionParameter {
        return parameters::zero(module, key);
    }
    (!is_fixed(inst.op())).then_some(())?;
    let ty = inst.code.result_type?;
    let zero = module.zero(ty)?;
    replace(module, key, zero)
}

/// One in the place of a number, true in that of a truth value.
pub(super) fn one(module: &mut Module, key: Key) -> Option<()> {
    let ty = module.keyed(key).filter(|inst| !is_fixed(inst.op()))?.code.result_type?;
    let one = constants::one(module, ty)?;
    replace(module, key, one)
}

/// An undefined value in the place of one.
pub(super) fn undefine(module: &mut Module, key: Key) -> Option<()> {
    let inst = module.keyed(key).filter(|inst| !is_fixed(inst.op()) && inst.op() != Op::Undef)?;
    let ty = inst.code.result_type?;
    let has_values =
        module.definition(ty).is_some_and(|ty| ty.op() != Op::TypeVoid && ty.op() != Op::TypePointer);
    has_values.then_some(())?;
    let undefined = module.declared(Op::Undef, Some(ty), Vec::new());
    replace(module, key, undefined)
}

/// An operand in the place of a value.
pub(super) fn bypass(module: &mut Module, key: Key, number: usize) -> Option<()> {
    let inst = module.keyed(key).filter(|inst| !is_fixed(inst.op()))?;
    let operand = inst.id(number)?;
    let is_alike = module.definition(operand)?.code.result_type == inst.code.result_type;
    is_alike.then_some(())?;
    replace(module, key, operand)
}

/// Another value of the same type in the place of one.
pub(super) fn alias(module: &mut Module, key: Key, id: Word) -> Option<()> {
    let inst = module.keyed(key).filter(|inst| !is_fixed(inst.op()))?;
    let is_alike = module.definition(id)?.code.result_type == inst.code.result_type;
    is_alike.then_some(())?;
    replace(module, key, id)
}
