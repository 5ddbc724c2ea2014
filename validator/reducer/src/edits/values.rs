//! Instructions: those with effects, and values.

use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashMap;

use super::{is_used, replace_uses, Edit};
use crate::flow::is_terminator;
use crate::module::{Key, Module};

/// How many earlier values of one type are tried in the place of one.
const EARLIER: usize = 3;

/// Whether an instruction is there for others alone.
fn is_fixed(op: Op) -> bool {
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

/// Values in whose place an operand or an earlier value of the same type can stand.
pub(super) fn bypasses(module: &Module) -> Vec<Edit> {
    let begins = module.code_begins();
    let definitions = module.definitions();
    let type_of = |id: Word| definitions.get(&id).and_then(|inst| inst.code.result_type);
    let mut edits = Vec::new();
    // Values of the function so far, and what is global, by type.
    let mut globals: FxHashMap<Word, Vec<Word>> = FxHashMap::default();
    for inst in module.insts.get(..begins).unwrap_or_default() {
        if let (Some(ty), Some(id)) = (inst.code.result_type, inst.code.result_id) {
            globals.entry(ty).or_default().push(id);
        }
    }
    let mut earlier = globals.clone();
    for inst in module.insts.get(begins..).unwrap_or_default() {
        if inst.op() == Op::Function {
            earlier.clone_from(&globals);
            continue;
        }
        let (Some(ty), Some(id)) = (inst.code.result_type, inst.code.result_id) else { continue };
        let fixed = is_fixed(inst.op()) || inst.op() == Op::Variable;
        if !fixed && is_used(module, id) {
            edits.push(Edit::Undefine(inst.key));
            let operands = inst.code.operands.iter().enumerate();
            let alike = operands.filter(|(_, operand)| {
                operand.id_ref_any().is_some_and(|other| other != id && type_of(other) == Some(ty))
            });
            edits.extend(alike.map(|(number, _)| Edit::Bypass(inst.key, number)));
            let known = earlier.get(&ty).map(Vec::as_slice).unwrap_or_default();
            edits.extend(known.iter().take(EARLIER).map(|other| Edit::Alias(inst.key, *other)));
        }
        earlier.entry(ty).or_default().push(id);
    }
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

/// Zero in the place of a value.
pub(super) fn zero(module: &mut Module, key: Key) -> Option<()> {
    let inst = module.keyed(key).filter(|inst| !is_fixed(inst.op()))?;
    let ty = inst.code.result_type?;
    let zero = module.zero(ty)?;
    replace(module, key, zero)
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
