//! Constructs, branches and blocks.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::functions::returning;
use super::Edit;
use crate::flow::{targets, Block};
use crate::module::{Inst, Key, Module};

/// All blocks with the keys of their labels, in order.
fn all_blocks(module: &Module) -> Vec<(Key, Block)> {
    let functions = module.functions();
    let blocks = functions.iter().flat_map(|function| module.blocks(function));
    blocks.filter_map(|block| Some((module.insts.get(block.range.start)?.key, block))).collect()
}

/// The block with the label of this key.
pub(super) fn keyed(module: &Module, key: Key) -> Option<Block> {
    let label = module.keyed(key).filter(|inst| inst.op() == Op::Label)?.code.result_id?;
    module.labelled(label).map(|(_, block)| block)
}

fn branch(to: Word) -> Instruction {
    Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(to)])
}

/// Constructs to be skipped, and loops to be gone through once, the outer ones first.
pub(super) fn constructs(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (key, block) in all_blocks(module) {
        let Some(merge) = module.merge_at(&block).and_then(|at| module.insts.get(at)) else { continue };
        edits.push(Edit::SkipConstruct(key));
        if merge.op() == Op::LoopMerge {
            edits.push(Edit::Once(key));
        }
    }
    edits
}

/// Branches to be decided, cases to be removed, blocks to be ended or to be joined.
pub(super) fn blocks(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (key, block) in all_blocks(module) {
        let Some(terminator) = module.terminator(&block) else { continue };
        let targets = targets(terminator);
        match terminator.op() {
            Op::Branch => edits.extend([Edit::MergeBlocks(key), Edit::Forward(key)]),
            Op::Switch => edits
                .extend((1..targets.len()).rev().map(|number| Edit::RemoveCase(terminator.key, number - 1))),
            _ => {}
        }
        if terminator.op() != Op::Branch {
            edits.extend((0..targets.len()).map(|number| Edit::Take(key, number)));
        }
        if !targets.is_empty() {
            edits.push(Edit::Return(key));
        }
    }
    edits
}

/// Replaces the terminator of a block, and its merge instruction. The key stays: where the other module of a pair is not
/// edited, both ends still correspond.
fn end_with(module: &mut Module, block: &Block, terminator: Instruction) {
    let last = block.range.end - 1;
    let begin = module.merge_at(block).unwrap_or(last);
    let Some(key) = module.terminator(block).map(|last| last.key) else { return };
    module.insts.splice(begin..block.range.end, [Inst { key, code: terminator }]);
}

/// Lets a header go to its merge block.
pub(super) fn skip(module: &mut Module, key: Key) -> Option<()> {
    let block = keyed(module, key)?;
    let merge = module.insts.get(module.merge_at(&block)?)?.id(0)?;
    end_with(module, &block, branch(merge));
    Some(())
}

/// Lets a block go to one of its targets only. What was a selection is none any more; a loop stays one.
pub(super) fn take(module: &mut Module, key: Key, number: usize) -> Option<()> {
    let block = keyed(module, key)?;
    // A switch may have the default alone.
    let last = module.terminator(&block).filter(|last| last.op() != Op::Branch)?;
    let target = *targets(last).get(number)?;
    let is_loop = module.merge_at(&block).and_then(|at| module.insts.get(at)).map(|inst| inst.op())
        == Some(Op::LoopMerge);
    match is_loop {
        true => module.insts.get_mut(block.range.end - 1)?.code = branch(target),
        false => end_with(module, &block, branch(target)),
    }
    Some(())
}

/// Lets a loop end where it would begin again.
pub(super) fn once(module: &mut Module, key: Key) -> Option<()> {
    let block = keyed(module, key)?;
    let merge = module.insts.get(module.merge_at(&block)?).filter(|inst| inst.op() == Op::LoopMerge)?;
    let (out, repeated) = (merge.id(0)?, merge.id(1)?);
    // The way into the loop is the one that does not leave it at once.
    let all = targets(module.terminator(&block)?);
    let inside = all.iter().copied().find(|target| *target != out).unwrap_or(out);
    end_with(module, &block, branch(inside));
    let (_, last) = module.labelled(repeated)?;
    let header = block.label;
    // Behind the loop, a phi of its header has what the turn computed; in it, what it began with.
    let insts = module.insts.get(block.range.clone())?;
    let phis: Vec<(Word, Word)> = insts
        .iter()
        .filter(|inst| inst.op() == Op::Phi)
        .filter_map(|phi| {
            let ids: Vec<Word> = phi.ids().collect();
            let value =
                ids.chunks(2).find(|entry| entry.get(1) == Some(&repeated)).and_then(|entry| entry.first());
            Some((phi.code.result_id?, *value?))
        })
        .collect();
    let (function, behind) = module.labelled(out)?;
    for inst in module.insts.get_mut(behind.range.start..function.end)? {
        for id in inst.code.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
            if let Some((_, value)) = phis.iter().find(|(phi, _)| phi == id) {
                *id = *value;
            }
        }
    }
    let back = module.blocks(&module.block_of(last.range.start)?.0);
    let back = back.into_iter().filter(|other| {
        module.terminator(other).is_some_and(|terminator| targets(terminator).contains(&header))
            && other.range.start > block.range.start
    });
    for other in back.collect::<Vec<_>>() {
        module.insts.get_mut(other.range.end - 1)?.code = branch(out);
    }
    Some(())
}

/// Lets a block return.
pub(super) fn end(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key)?;
    let (function, _) = module.block_of(at)?;
    let result_type = module.insts.get(function.start)?.code.result_type?;
    let terminator = returning(module, result_type)?;
    let block = keyed(module, key)?;
    if targets(module.terminator(&block)?).is_empty() {
        return None;
    }
    end_with(module, &block, terminator);
    Some(())
}

/// Takes a case out of a switch.
pub(super) fn remove_case(module: &mut Module, key: Key, number: usize) -> Option<()> {
    let at = module.index(key)?;
    let switch = module.insts.get_mut(at).filter(|inst| inst.op() == Op::Switch)?;
    // The selector and the default label come first; each case is a literal and a label.
    let case = 2 + 2 * number;
    if case + 2 > switch.code.operands.len() {
        return None;
    }
    switch.code.operands.drain(case..case + 2);
    Some(())
}

/// Joins a block with the one that it alone goes to.
pub(super) fn merge(module: &mut Module, key: Key) -> Option<()> {
    let block = keyed(module, key)?;
    let last = module.terminator(&block).filter(|inst| inst.op() == Op::Branch)?;
    let target = last.id(0)?;
    // A loop that continues there continues at the block itself then.
    let continues = |inst: &Inst| inst.op() == Op::LoopMerge && inst.id(0) != Some(target);
    let label_used =
        |inst: &&Inst| inst.op() != Op::Phi && !continues(inst) && inst.ids().any(|id| id == target);
    // Who goes there, or merges there.
    if module.insts.iter().filter(label_used).count() != 1 {
        return None;
    }
    let (_, next) = module.labelled(target)?;
    if next.range.start <= block.range.start {
        return None;
    }
    // A construct has one header: its merge instruction goes in front of the other block's end.
    let header = module.merge_at(&block).map(|at| module.insts.get(at).cloned());
    let has_own = module.merge_at(&next).is_some();
    if header.is_some() && has_own {
        return None;
    }
    let mut moved: Vec<Inst> = module.insts.drain(next.range.clone()).skip(1).collect();
    let begin = block.range.end - if header.is_some() { 2 } else { 1 };
    if let Some(header) = header.flatten() {
        moved.insert(moved.len().saturating_sub(1), header);
    }
    let mut replaced: Vec<(Word, Word)> = Vec::new();
    moved.retain(|inst| match (inst.op(), inst.code.result_id, inst.id(0)) {
        (Op::Phi, Some(result), Some(value)) => {
            replaced.push((result, value));
            false
        }
        _ => true,
    });
    module.insts.splice(begin..block.range.end, moved);
    for (phi, value) in replaced {
        super::replace_uses(module, phi, value);
    }
    // Phis behind it say where they come from.
    super::replace_uses(module, target, block.label);
    Some(())
}

/// Lets those that go to a block with nothing in it go where it goes.
pub(super) fn forward(module: &mut Module, key: Key) -> Option<()> {
    let block = keyed(module, key)?;
    let last = module.terminator(&block).filter(|inst| inst.op() == Op::Branch)?;
    let target = last.id(0)?;
    if block.range.len() != 2 || target == block.label {
        return None;
    }
    let (function, _) = module.block_of(block.range.start)?;
    // The first block has no predecessors; the one behind the function's head is it.
    let first = module.blocks(&function).into_iter().next()?;
    if first.label == block.label {
        return None;
    }
    let mut is_gone_to = false;
    for inst in module.insts.get_mut(function)? {
        if !matches!(inst.op(), Op::Branch | Op::BranchConditional | Op::Switch) {
            continue;
        }
        for id in inst.code.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
            if *id == block.label {
                *id = target;
                is_gone_to = true;
            }
        }
    }
    is_gone_to.then_some(())
}
