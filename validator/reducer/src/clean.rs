//! What an edit leaves behind: blocks that nothing reaches, values that nobody takes any more.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::targets;
use crate::module::{is_annotation, is_constant, is_name, is_type, Inst, Key, Module};

/// How often each id is used, names, decorations and interfaces not counted.
pub(crate) struct Uses(FxHashMap<Word, usize>);

impl Uses {
    /// Of all modules of a case: what one of them uses has its counterpart in the other.
    pub(crate) fn of(modules: &[Module]) -> Self {
        let mut uses: FxHashMap<Word, usize> = FxHashMap::default();
        for inst in modules.iter().flat_map(|module| &module.insts) {
            let mut count = |id: Word| *uses.entry(id).or_default() += 1;
            inst.code.result_type.into_iter().for_each(&mut count);
            counted(inst).for_each(&mut count);
        }
        Uses(uses)
    }

    pub(crate) fn has(&self, id: Word) -> bool {
        self.0.contains_key(&id)
    }
}

/// The ids of an instruction that keep what they name.
fn counted(inst: &Inst) -> impl Iterator<Item = Word> + '_ {
    let op = inst.op();
    let skipped = match op {
        _ if is_name(op) => usize::MAX,
        // What an id decorates itself with counts.
        _ if is_annotation(op) => 1,
        _ => 0,
    };
    // The function of an entry point counts, its interface does not.
    let taken = if op == Op::EntryPoint { 1 } else { usize::MAX };
    inst.ids().skip(skipped).take(taken)
}

/// Removes what the edits made needless. `before` are the uses before them: what nobody used before stays, since its removal is
/// an edit of its own.
/// With `keeps_values` values of functions stay whose uses were removed: to compute them may be what the case is about.
pub(crate) fn clean(modules: &mut [Module], before: &Uses, keeps_values: bool) {
    modules.iter_mut().for_each(remove_unreachable_blocks);
    remove_uncalled_functions(modules);
    modules.iter_mut().for_each(replace_missing_values);
    remove_unused(modules, before, keeps_values);
    modules.iter_mut().for_each(remove_references);
}

/// Removes blocks that nothing reaches. Those that a construct needs stay, empty.
fn remove_unreachable_blocks(module: &mut Module) {
    for number in 0..module.functions().len() {
        let Some(function) = module.functions().into_iter().nth(number) else { break };
        let blocks = module.blocks(&function);
        let by_label: FxHashMap<Word, usize> =
            blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
        let mut reached: FxHashSet<Word> = FxHashSet::default();
        let mut open: Vec<Word> = blocks.first().map(|block| block.label).into_iter().collect();
        while let Some(label) = open.pop() {
            if !reached.insert(label) {
                continue;
            }
            let block = by_label.get(&label).and_then(|index| blocks.get(*index));
            if let Some(terminator) = block.and_then(|block| module.terminator(block)) {
                open.extend(targets(terminator));
            }
        }
        // The merge block and the continue target of headers that are reached, with the header.
        let mut stubs: FxHashMap<Word, Stub> = FxHashMap::default();
        for block in blocks.iter().filter(|block| reached.contains(&block.label)) {
            let Some(merge) = module.merge_at(block).and_then(|at| module.insts.get(at)) else { continue };
            if let Some(label) = merge.id(0) {
                stubs.insert(label, Stub::Merge);
            }
            if let (Op::LoopMerge, Some(label)) = (merge.op(), merge.id(1)) {
                stubs.insert(label, Stub::Continue(block.label));
            }
        }
        let mut removed: Vec<std::ops::Range<usize>> = Vec::new();
        let mut emptied: Vec<(std::ops::Range<usize>, Stub)> = Vec::new();
        for block in &blocks {
            match stubs.get(&block.label) {
                _ if reached.contains(&block.label) => {}
                Some(stub) => emptied.push((block.range.clone(), *stub)),
                None => removed.push(block.range.clone()),
            }
        }
        let mut changes: Vec<(std::ops::Range<usize>, Option<Stub>)> =
            removed.into_iter().map(|range| (range, None)).collect();
        changes.extend(emptied.into_iter().map(|(range, stub)| (range, Some(stub))));
        changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, stub) in changes {
            match stub {
                None => drop(module.insts.drain(range)),
                Some(stub) => empty(module, range, stub),
            }
        }
        mend_phis(module, number);
    }
}

/// What a block that is not reached is needed for.
#[derive(Clone, Copy)]
enum Stub {
    Merge,
    /// Of the loop with this header.
    Continue(Word),
}

fn empty(module: &mut Module, range: std::ops::Range<usize>, stub: Stub) {
    let code = match stub {
        Stub::Merge => Instruction::new(Op::Unreachable, None, None, Vec::new()),
        Stub::Continue(header) => Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(header)]),
    };
    let is_so = range.len() == 2 && module.insts.get(range.end - 1).is_some_and(|last| last.code == code);
    if let Some(key) = module.insts.get(range.end - 1).map(|last| last.key).filter(|_| !is_so) {
        module.insts.splice(range.start + 1..range.end, [Inst { key, code }]);
    }
}

/// A phi as its block wants it.
struct Phi {
    key: Key,
    result_type: Word,
    /// For each predecessor the value, where there is one, and the label.
    entries: Vec<(Option<Word>, Word)>,
}

/// Gives each phi of a function one entry for each predecessor; new ones are zero.
fn mend_phis(module: &mut Module, function: usize) {
    let Some(function) = module.functions().into_iter().nth(function) else { return };
    let blocks = module.blocks(&function);
    let mut predecessors: FxHashMap<Word, Vec<Word>> = FxHashMap::default();
    for block in &blocks {
        let Some(terminator) = module.terminator(block) else { continue };
        for target in targets(terminator) {
            let known = predecessors.entry(target).or_default();
            if !known.contains(&block.label) {
                known.push(block.label);
            }
        }
    }
    let mut phis: Vec<Phi> = Vec::new();
    for block in &blocks {
        let of_block = predecessors.get(&block.label).cloned().unwrap_or_default();
        let insts = module.insts.get(block.range.clone()).unwrap_or_default();
        for phi in insts.iter().filter(|inst| inst.op() == Op::Phi) {
            let Some(result_type) = phi.code.result_type else { continue };
            let entries: Vec<(Word, Word)> =
                phi.ids().collect::<Vec<_>>().chunks(2).filter_map(pair).collect();
            let value =
                |label: Word| entries.iter().find(|(_, from)| *from == label).map(|(value, _)| *value);
            let wanted: Vec<(Option<Word>, Word)> =
                of_block.iter().map(|label| (value(*label), *label)).collect();
            let is_whole = entries.len() == wanted.len() && wanted.iter().all(|(value, _)| value.is_some());
            if !is_whole {
                phis.push(Phi { key: phi.key, result_type, entries: wanted });
            }
        }
    }
    for Phi { key, result_type, entries } in phis {
        let mut operands = Vec::new();
        for (value, label) in entries {
            // Without a zero the phi lacks an entry, and the module is refused.
            let Some(value) = value.or_else(|| module.zero(result_type)) else { continue };
            operands.extend([Operand::IdRef(value), Operand::IdRef(label)]);
        }
        if let Some(phi) = module.index(key).and_then(|index| module.insts.get_mut(index)) {
            phi.code.operands = operands;
        }
    }
}

fn pair(words: &[Word]) -> Option<(Word, Word)> {
    match words {
        [value, label] => Some((*value, *label)),
        _ => None,
    }
}

/// Removes functions that no module calls: what one calls has its counterpart in the other.
fn remove_uncalled_functions(modules: &mut [Module]) {
    let entries = modules.iter().flat_map(|module| &module.insts).filter(|inst| inst.op() == Op::EntryPoint);
    let mut called: FxHashSet<Word> = entries.filter_map(|inst| inst.ids().next()).collect();
    if called.is_empty() {
        return;
    }
    let functions: Vec<Vec<std::ops::Range<usize>>> = modules.iter().map(Module::functions).collect();
    loop {
        let known = called.len();
        for (module, functions) in modules.iter().zip(&functions) {
            for function in functions {
                let Some(insts) = module.insts.get(function.clone()) else { continue };
                let name = insts.first().and_then(|inst| inst.code.result_id);
                if name.is_some_and(|name| called.contains(&name)) {
                    // Any id in its code may be one of a function: some instructions take functions.
                    called.extend(insts.iter().flat_map(Inst::ids));
                }
            }
        }
        if called.len() == known {
            break;
        }
    }
    for (module, functions) in modules.iter_mut().zip(functions) {
        for function in functions.into_iter().rev() {
            let name = module.insts.get(function.start).and_then(|inst| inst.code.result_id);
            if name.is_some_and(|name| !called.contains(&name)) {
                drop(module.insts.drain(function));
            }
        }
    }
}

/// Values whose definitions are gone are zero.
fn replace_missing_values(module: &mut Module) {
    let defined: FxHashSet<Word> = module.insts.iter().filter_map(|inst| inst.code.result_id).collect();
    let mut missing: Vec<(Key, usize)> = Vec::new();
    for inst in module.insts.iter().skip(module.code_begins()) {
        let places = inst.code.operands.iter().enumerate();
        let gone =
            places.filter(|(_, operand)| operand.id_ref_any().is_some_and(|id| !defined.contains(&id)));
        missing.extend(gone.map(|(place, _)| (inst.key, place)));
    }
    for (key, place) in missing {
        let wanted = module.index(key).and_then(|index| type_wanted(module, index, place));
        let Some(zero) = wanted.and_then(|wanted| module.zero(wanted)) else { continue };
        let inst = module.index(key).and_then(|index| module.insts.get_mut(index));
        let operand = inst.and_then(|inst| inst.code.operands.get_mut(place));
        if let Some(id) = operand.and_then(Operand::id_ref_any_mut) {
            *id = zero;
        }
    }
}

/// The type that an operand must have, where the instruction says it.
fn type_wanted(module: &Module, index: usize, place: usize) -> Option<Word> {
    let inst = module.insts.get(index)?;
    match inst.op() {
        Op::Store if place == 1 => {
            let pointer = module.definition(module.definition(inst.id(0)?)?.code.result_type?)?;
            pointer.id(1)
        }
        Op::BranchConditional if place == 0 => {
            module.insts.iter().find(|inst| inst.op() == Op::TypeBool)?.code.result_id
        }
        Op::Phi => inst.code.result_type,
        Op::Select if place > 0 => inst.code.result_type,
        _ => {
            let other = inst.ids().enumerate().find_map(|(other, id)| {
                let ty = module.definition(id).filter(|_| other != place)?.code.result_type?;
                Some(ty)
            });
            // Operands of arithmetic are of one type, mostly that of the result.
            inst.code.result_type.or(other)
        }
    }
}

/// Removes values and declarations that were used before and are not any more, with what only they used.
fn remove_unused(modules: &mut [Module], before: &Uses, keeps_values: bool) {
    loop {
        let now = Uses::of(modules);
        let mut removed = 0;
        for module in modules.iter_mut() {
            let begins = module.code_begins();
            let known = module.insts.len();
            let mut index = 0;
            module.insts.retain(|inst| {
                let is_global = index < begins;
                index += 1;
                let Some(result) = inst.code.result_id else { return true };
                let is_needless = match is_global {
                    true => is_declaration(inst.op()),
                    false => is_pure(inst.op()) && !keeps_values,
                };
                let was_needed = before.has(result) || (is_global && is_constant(inst.op()));
                now.has(result) || !is_needless || !was_needed
            });
            removed += known - module.insts.len();
        }
        if removed == 0 {
            return;
        }
    }
}

fn is_declaration(op: Op) -> bool {
    is_type(op) || is_constant(op) || matches!(op, Op::Variable | Op::ExtInstImport | Op::String)
}

/// Whether an instruction only computes its result, from its operands alone.
pub(crate) fn is_pure(op: Op) -> bool {
    let name = format!("{op:?}");
    let has_effects =
        ["Atomic", "Group", "Subgroup", "RayQuery", "CooperativeMatrixLoad", "Image", "EmitMesh", "Kill"];
    let is_not = matches!(
        op,
        Op::Load
            | Op::FunctionCall
            | Op::Function
            | Op::FunctionParameter
            | Op::Label
            | Op::ExtInst
            | Op::CooperativeMatrixLoadKHR
            | Op::IsHelperInvocationEXT
            | Op::ReadClockKHR
    );
    !is_not && !has_effects.iter().any(|part| name.starts_with(part))
}

/// Removes names and decorations of what is gone, and lists of interfaces that name it.
fn remove_references(module: &mut Module) {
    let defined: FxHashSet<Word> = module.insts.iter().filter_map(|inst| inst.code.result_id).collect();
    let is_there = |id: Option<Word>| id.is_some_and(|id| defined.contains(&id));
    module.insts.retain(|inst| match inst.op() {
        Op::EntryPoint | Op::ExecutionMode | Op::ExecutionModeId => is_there(inst.ids().next()),
        op if is_name(op) || is_annotation(op) => is_there(inst.id(0)),
        _ => true,
    });
    for inst in module.insts.iter_mut().filter(|inst| inst.op() == Op::EntryPoint) {
        inst.code.operands.retain(|operand| operand.id_ref_any().is_none_or(|id| defined.contains(&id)));
    }
    let called: FxHashSet<Word> = module
        .insts
        .iter()
        .filter(|inst| inst.op() == Op::EntryPoint)
        .filter_map(|inst| inst.ids().next())
        .collect();
    module.insts.retain(|inst| {
        let is_mode = matches!(inst.op(), Op::ExecutionMode | Op::ExecutionModeId);
        !is_mode || inst.id(0).is_some_and(|id| called.contains(&id))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::tests::{is_valid, shader, text};

    #[test]
    fn values_that_nobody_takes_any_more_go_with_what_only_they_took() {
        let mut module = shader(
            "%sum = OpIAdd %uint %uint_1 %uint_2\n%unused = OpIMul %uint %uint_2 %uint_2\nOpStore %a %sum",
        );
        let uses = Uses::of(std::slice::from_ref(&module));
        module.insts.retain(|inst| inst.op() != Op::Store);
        clean(std::slice::from_mut(&mut module), &uses, false);
        let text = text(&module);
        assert!(!text.contains("OpIAdd"), "{text}");
        // Nobody took it before.
        assert!(text.contains("OpIMul"), "{text}");
        assert!(is_valid(&module), "{text}");
    }

    #[test]
    fn blocks_that_nothing_reaches_go_and_phis_with_them() {
        let code = "OpSelectionMerge %merge None
            OpBranchConditional %true %left %right
            %left = OpLabel
            %x = OpIAdd %uint %uint_1 %uint_2
            OpBranch %merge
            %right = OpLabel
            OpBranch %merge
            %merge = OpLabel
            %phi = OpPhi %uint %x %left %uint_1 %right
            OpStore %a %phi";
        let mut module = shader(code);
        let uses = Uses::of(std::slice::from_ref(&module));
        let branch = module.insts.iter().position(|inst| inst.op() == Op::SelectionMerge).unwrap();
        let merge = module.insts[branch].id(0).unwrap();
        module.insts.remove(branch);
        module.insts[branch].code = Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(merge)]);
        clean(std::slice::from_mut(&mut module), &uses, false);
        let text = text(&module);
        assert!(is_valid(&module), "{text}");
        assert!(!text.contains("OpIAdd") && text.contains("OpPhi %uint %uint_0"), "{text}");
    }
}
