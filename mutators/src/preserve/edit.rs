//! What rewrites share: cutting blocks, replacing instructions and uses.

use rspirv::dr::{Block, Function, Instruction, Operand};
use rspirv::spirv::{Op, Word};

use crate::flow::rename_phi_sources;
use crate::{Module, Mutant};

/// The only mutant of a rewrite that changes many places at once; none where it changes nothing.
pub(crate) fn once<'m>(
    mutator: &'static str,
    module: &'m Module,
    rewrite: impl FnOnce(&mut Module) + 'm,
) -> Box<dyn Iterator<Item = Mutant> + 'm> {
    let mutants = std::iter::once_with(move || {
        let mut changed = module.clone();
        rewrite(&mut changed);
        Mutant { mutator, site: None, what: String::new(), module: changed }
    });
    Box::new(mutants.filter(|mutant| mutant.module.words() != module.words()))
}

/// Replaces instructions in blocks: `rewrite` gives what stands for one, or nothing where it stays.
pub(crate) fn replace_each(
    module: &mut Module,
    mut rewrite: impl FnMut(&mut Module, &Instruction) -> Option<Vec<Instruction>>,
) {
    for function in 0..module.data.functions.len() {
        for block in 0..module.data.functions[function].blocks.len() {
            let old = module.data.functions[function].blocks[block].instructions.clone();
            let mut new = Vec::with_capacity(old.len());
            for inst in old {
                match rewrite(module, &inst) {
                    Some(code) => new.extend(code),
                    None => new.push(inst),
                }
            }
            module.data.functions[function].blocks[block].instructions = new;
        }
    }
}

/// Operands that are ids.
pub(crate) fn ids(of: &[Word]) -> Vec<Operand> {
    of.iter().copied().map(Operand::IdRef).collect()
}

/// An instruction whose operands are ids.
pub(crate) fn with_ids(opcode: Op, of_type: Option<Word>, result: Option<Word>, of: &[Word]) -> Instruction {
    Instruction::new(opcode, of_type, result, ids(of))
}

/// An empty block.
pub(crate) fn block(label: Word, instructions: Vec<Instruction>) -> Block {
    Block { label: Some(Instruction::new(Op::Label, None, Some(label), vec![])), instructions }
}

/// Cuts a block before the instruction at `at`. The rest goes to a new block right behind, whose label is the result;
/// the first part is left without an end.
pub(crate) fn cut(module: &mut Module, function: usize, index: usize, at: usize) -> Option<Word> {
    let label = module.fresh_id();
    let body = module.data.functions.get_mut(function)?;
    let first = body.blocks.get_mut(index)?;
    let old = first.label_id()?;
    let rest = first.instructions.split_off(at.min(first.instructions.len()));
    rename_phi_sources(&mut body.blocks, old, label);
    body.blocks.insert(index + 1, block(label, rest));
    Some(label)
}

/// In a function, every use of an id becomes one of another.
pub(crate) fn replace_uses(function: &mut Function, from: Word, to: Word) {
    for inst in function.all_inst_iter_mut() {
        for id in inst.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
            if *id == from {
                *id = to;
            }
        }
    }
}

/// The ids that an instruction uses, its type not counted.
pub(crate) fn uses(inst: &Instruction) -> impl Iterator<Item = Word> + '_ {
    inst.operands.iter().filter_map(Operand::id_ref_any)
}

/// A branch.
pub(crate) fn branch(label: Word) -> Instruction {
    with_ids(Op::Branch, None, None, &[label])
}

/// A merge instruction without hints, and a branch on a condition.
pub(crate) fn conditional(merge: Word, condition: Word, yes: Word, no: Word) -> Vec<Instruction> {
    let control = Operand::SelectionControl(rspirv::spirv::SelectionControl::NONE);
    vec![
        Instruction::new(Op::SelectionMerge, None, None, vec![Operand::IdRef(merge), control]),
        with_ids(Op::BranchConditional, None, None, &[condition, yes, no]),
    ]
}
