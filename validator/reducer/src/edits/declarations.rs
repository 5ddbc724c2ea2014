//! What stands in front of functions: names, decorations, modes, capabilities, and what nothing uses.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashSet;

use super::{is_used, Edit};
use crate::module::{is_name, Key, Module};

/// Sets of extended instructions that say nothing of what is computed.
const DEBUG_SETS: [&str; 2] = ["NonSemantic.", "OpenCL.DebugInfo"];

/// Names, lines, sources and debug information, the last first.
pub(super) fn debug(module: &Module) -> Vec<Edit> {
    let is_debug_set = |operand: Option<&Operand>| match operand {
        Some(Operand::LiteralString(name)) => DEBUG_SETS.iter().any(|prefix| name.starts_with(prefix)),
        _ => false,
    };
    let imports = module.insts.iter().filter(|inst| inst.op() == Op::ExtInstImport);
    let sets: FxHashSet<Word> = imports
        .filter(|inst| is_debug_set(inst.code.operands.first()))
        .filter_map(|inst| inst.code.result_id)
        .collect();
    let is_debug = |op: Op, set: Option<Word>| match op {
        Op::Source
        | Op::SourceContinued
        | Op::SourceExtension
        | Op::String
        | Op::ModuleProcessed
        | Op::Line
        | Op::NoLine => true,
        Op::ExtInst => set.is_some_and(|set| sets.contains(&set)),
        _ => is_name(op),
    };
    let all = module.insts.iter().rev().filter(|inst| is_debug(inst.op(), inst.id(0)));
    all.map(|inst| Edit::Remove(inst.key)).collect()
}

/// Everything else that can be removed in front of functions, and variables that entry points list.
pub(super) fn declarations(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for inst in module.insts.iter().take(module.code_begins()).rev() {
        let is_needless = match inst.op() {
            Op::MemoryModel | Op::EntryPoint => false,
            _ => inst.code.result_id.is_none_or(|id| !is_used(module, id)),
        };
        edits.extend(is_needless.then_some(Edit::Remove(inst.key)));
        if inst.op() == Op::EntryPoint {
            edits.extend(inst.ids().skip(1).map(|id| Edit::Unlist(inst.key, id)));
        }
    }
    edits
}

/// Removes an instruction that nothing depends on.
pub(super) fn remove(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key)?;
    let id = module.insts.get(at)?.code.result_id;
    if id.is_some_and(|id| is_used(module, id)) {
        return None;
    }
    module.insts.remove(at);
    Some(())
}

/// Takes a variable off the list of an entry point.
pub(super) fn unlist(module: &mut Module, key: Key, id: Word) -> Option<()> {
    let at = module.index(key)?;
    // The execution model, the function and the name come first.
    let operands = &mut module.insts.get_mut(at)?.code.operands;
    let number = operands.iter().skip(3).position(|operand| operand.id_ref_any() == Some(id))? + 3;
    operands.remove(number);
    Some(())
}
