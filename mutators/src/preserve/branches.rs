use fastrand::Rng;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, SelectionControl, Word};

use super::edit::{block, branch, conditional, cut, once, replace_each, with_ids};
use crate::flow::{combines_image, is_loop_header};
use crate::{Module, Mutant, Mutator};

/// Negates conditions of branches that were computed in the same block, and swaps their targets. A condition from outside of
/// an endless loop would become something that the loop computes.
pub struct BranchesSwapped;

/// Branches by OpSwitch on a word in place of a condition.
pub struct BranchToSwitch;

/// Chooses by a branch and an OpPhi in place of OpSelect.
pub struct SelectToBranch;

impl Mutator for BranchesSwapped {
    fn name(&self) -> &'static str {
        "branches-swapped"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| {
            let boolean = changed.type_id(Op::TypeBool, Vec::new());
            for function in 0..changed.data.functions.len() {
                for block in 0..changed.data.functions[function].blocks.len() {
                    let negated = changed.fresh_id();
                    let code = &mut changed.data.functions[function].blocks[block];
                    let tail = crate::flow::tail(code);
                    let results: Vec<Word> =
                        code.instructions.iter().filter_map(|inst| inst.result_id).collect();
                    let Some(last) = code.instructions.last_mut() else { continue };
                    if last.class.opcode != Op::BranchConditional || last.operands.len() != 3 {
                        continue;
                    }
                    let condition = last.operands[0].id_ref_any().filter(|id| results.contains(id));
                    let Some(condition) = condition else { continue };
                    last.operands.swap(1, 2);
                    last.operands[0] = Operand::IdRef(negated);
                    let not = with_ids(Op::LogicalNot, Some(boolean), Some(negated), &[condition]);
                    code.instructions.insert(tail, not);
                }
            }
        })
    }
}

impl Mutator for BranchToSwitch {
    fn name(&self) -> &'static str {
        "branch-to-switch"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| {
            let outer = targets_of_loops(changed);
            let uint = changed.type_id(Op::TypeInt, [32, 0].map(Operand::LiteralBit32).to_vec());
            for function in 0..changed.data.functions.len() {
                for block in 0..changed.data.functions[function].blocks.len() {
                    let code = &changed.data.functions[function].blocks[block].instructions;
                    let [.., merge, last] = code.as_slice() else { continue };
                    let is_selection = merge.class.opcode == Op::SelectionMerge
                        && last.class.opcode == Op::BranchConditional;
                    let [condition, yes, no, ..] = last.operands.as_slice() else { continue };
                    if !is_selection || yes == no || [yes, no].iter().any(|label| outer.contains(label)) {
                        continue;
                    }
                    let Some(condition) = condition.id_ref_any() else { continue };
                    let mut operands = vec![no.clone(), Operand::LiteralBit32(1), yes.clone()];
                    let tail = code.len() - 2;
                    let (one, zero) = (changed.constant(uint, 1), changed.constant(uint, 0));
                    let selector = changed.fresh_id();
                    operands.insert(0, Operand::IdRef(selector));
                    let select = with_ids(Op::Select, Some(uint), Some(selector), &[condition, one, zero]);
                    let code = &mut changed.data.functions[function].blocks[block].instructions;
                    code.pop();
                    code.push(Instruction::new(Op::Switch, None, None, operands));
                    code.insert(tail, select);
                }
            }
        })
    }
}

/// Merge blocks and continue targets of loops: a switch inside of a loop does not go there by its cases.
fn targets_of_loops(module: &Module) -> Vec<Operand> {
    let merges = module.data.all_inst_iter().filter(|inst| inst.class.opcode == Op::LoopMerge);
    merges.flat_map(|inst| inst.operands.iter().take(2).cloned()).collect()
}

impl Mutator for SelectToBranch {
    fn name(&self) -> &'static str {
        "select-to-branch"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mut random = Rng::with_seed(seed);
        once(self.name(), module, move |changed| {
            for function in 0..changed.data.functions.len() {
                let mut index = 0;
                while index < changed.data.functions[function].blocks.len() {
                    // What is cut off is looked at next.
                    expand(changed, function, index, &mut random);
                    index += 1;
                }
            }
        })
    }
}

/// Expands the first OpSelect of a block that has one condition.
fn expand(module: &mut Module, function: usize, index: usize, random: &mut Rng) -> Option<()> {
    let body = &module.data.functions[function].blocks[index];
    if is_loop_header(body) || combines_image(body) {
        return None;
    }
    let boolean = module.type_id(Op::TypeBool, Vec::new());
    let body = &module.data.functions[function].blocks[index];
    let at = body.instructions.iter().position(|inst| {
        let condition = inst.operands.first().and_then(Operand::id_ref_any);
        inst.class.opcode == Op::Select
            && condition.and_then(|condition| module.type_of(condition)) == Some(boolean)
    })?;
    let select = body.instructions[at].clone();
    let label = body.label_id()?;
    let operands: Vec<Word> = select.operands.iter().filter_map(Operand::id_ref_any).collect();
    let &[condition, yes, no] = operands.as_slice() else { return None };
    let merge = cut(module, function, index, at)?;
    let (then, other) = (module.fresh_id(), module.fresh_id());
    // Half of them have one block that may be skipped.
    let skips = random.bool();
    let blocks = &mut module.data.functions[function].blocks;
    let no_label = if skips { merge } else { other };
    blocks[index].instructions.extend(conditional(merge, condition, then, no_label));
    let incoming = [yes, then, no, if skips { label } else { other }];
    blocks[index + 1].instructions[0] = with_ids(Op::Phi, select.result_type, select.result_id, &incoming);
    let mut arms = vec![block(then, vec![branch(merge)])];
    if !skips {
        arms.push(block(other, vec![branch(merge)]));
    }
    blocks.splice(index + 1..index + 1, arms);
    Some(())
}

/// Says of selections that they should, or should not, be flattened: hints that mean nothing.
pub struct SelectionHints;

impl Mutator for SelectionHints {
    fn name(&self) -> &'static str {
        "selection-hints"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mut random = Rng::with_seed(seed);
        once(self.name(), module, move |changed| {
            replace_each(changed, |_, inst| {
                let mut hinted = inst.clone();
                let control = [SelectionControl::FLATTEN, SelectionControl::DONT_FLATTEN];
                match hinted.operands.get_mut(1) {
                    Some(Operand::SelectionControl(hint)) => *hint = control[random.usize(..2)],
                    _ => return None,
                }
                Some(vec![hinted])
            });
        })
    }
}
