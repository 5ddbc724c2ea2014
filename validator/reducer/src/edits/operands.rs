//! Operands of instructions: constants in the place of what is computed.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Edit;
use crate::module::{is_constant, is_type, Key, Module};

/// How many constants are tried for an operand.
const CONSTANTS: usize = 16;

/// Operands that are computed, which zero may stand for.
pub(super) fn operands(module: &Module) -> Vec<Edit> {
    computed(module).into_iter().map(|(key, number, _)| Edit::ZeroOperand(key, number)).collect()
}

/// Operands that are computed, and constants of the module that may stand for them, the first ones of each.
pub(super) fn constants(module: &Module) -> Vec<Edit> {
    let mut by_type: FxHashMap<Word, Vec<Word>> = FxHashMap::default();
    for inst in module.insts.iter().take(module.code_begins()).filter(|inst| is_constant(inst.op())) {
        if let (Some(ty), Some(id)) = (inst.code.result_type, inst.code.result_id) {
            by_type.entry(ty).or_default().push(id);
        }
    }
    let of = |ty: Word| by_type.get(&ty).into_iter().flatten().take(CONSTANTS).copied();
    let all = computed(module).into_iter();
    all.flat_map(|(key, number, ty)| of(ty).map(move |id| Edit::SetOperand(key, number, id))).collect()
}

/// Each operand that is computed: its instruction, its number, and its type.
fn computed(module: &Module) -> Vec<(Key, usize, Word)> {
    let begins = module.code_begins();
    let definitions = module.definitions();
    let globals: FxHashSet<Word> = module
        .insts
        .iter()
        .take(begins)
        .filter(|inst| is_constant(inst.op()))
        .filter_map(|inst| inst.code.result_id)
        .collect();
    let mut all = Vec::new();
    for inst in module.insts.iter().skip(begins).rev() {
        if matches!(inst.op(), Op::Function | Op::Label | Op::LoopMerge | Op::SelectionMerge | Op::Branch) {
            continue;
        }
        for (number, operand) in inst.code.operands.iter().enumerate() {
            let Operand::IdRef(id) = operand else { continue };
            let Some(definition) = definitions.get(id) else { continue };
            let Some(ty) = definition.code.result_type.filter(|_| !is_type(definition.op())) else {
                continue;
            };
            if !globals.contains(id) && definition.op() != Op::Variable {
                all.push((inst.key, number, ty));
            }
        }
    }
    all
}

/// Makes an operand zero.
pub(super) fn zero(module: &mut Module, key: Key, number: usize) -> Option<()> {
    let id = module.keyed(key)?.id(number)?;
    let ty = module.definition(id)?.code.result_type?;
    let zero = module.zero(ty)?;
    set(module, key, number, zero)
}

/// Makes an operand another value of its type.
pub(super) fn set(module: &mut Module, key: Key, number: usize, id: Word) -> Option<()> {
    let type_of = |id: Word| module.definition(id)?.code.result_type;
    let old = module.keyed(key)?.id(number)?;
    (old != id && type_of(old) == type_of(id)).then_some(())?;
    let at = module.index(key)?;
    *module.insts.get_mut(at)?.code.operands.get_mut(number)?.id_ref_any_mut()? = id;
    Some(())
}
