//! What branches depend on, and where selections merge.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::earlier::Scope;
use super::flow::keyed;
use super::Edit;
use crate::dominance::Dominance;
use crate::flow::targets;
use crate::module::{is_constant, Key, Module};

/// How many conditions are tried for a branch, and how many blocks to merge at.
const MANY: usize = 16;

/// Branches on conditions that are there already, with both ways to go; and on a number that is compared with a constant.
pub(super) fn conditions(module: &Module) -> Vec<Edit> {
    let scope = Scope::of(module);
    let truth = module.insts.iter().find(|inst| inst.op() == Op::TypeBool);
    let truth = truth.and_then(|inst| inst.code.result_id);
    let mut edits = Vec::new();
    for function in module.functions() {
        let dominance = Dominance::of(module, &function);
        for block in &dominance.blocks {
            let label = module.insts.get(block.range.start).map(|label| label.key);
            let (Some(last), Some(key)) = (module.terminator(block), label) else { continue };
            if targets(last).len() != 2 {
                continue;
            }
            edits.push(Edit::Compare(key));
            let Some(truth) = truth else { continue };
            let known = scope.values(&dominance, &function, block.range.end - 1, truth, MANY);
            edits.extend(
                known.into_iter().flat_map(|id| [false, true].map(|other| Edit::Decide(key, id, other))),
            );
        }
    }
    edits
}

/// Selections that need not say where they merge, or can do so elsewhere.
pub(super) fn merges(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for function in module.functions() {
        let blocks = module.blocks(&function);
        for (number, block) in blocks.iter().enumerate() {
            let Some(merge) = module.merge_at(block).and_then(|at| module.insts.get(at)) else { continue };
            let Some(key) = module.insts.get(block.range.start).map(|label| label.key) else { continue };
            if merge.op() == Op::SelectionMerge {
                edits.push(Edit::Unmerge(key));
            }
            let others = blocks.iter().skip(number + 1).map(|block| block.label).take(MANY);
            edits.extend(
                others.filter(|label| merge.id(0) != Some(*label)).map(|label| Edit::MergeAt(key, label)),
            );
        }
    }
    edits
}

/// Lets a block with two ways branch on another condition; `is_turned` takes each way where the other one was.
pub(super) fn decide(module: &mut Module, key: Key, condition: Word, is_turned: bool) -> Option<()> {
    let block = keyed(module, key)?;
    let last = module.terminator(&block)?;
    let [one, other] = targets(last)[..] else { return None };
    // The default of a switch is where none of its numbers is met.
    let (yes, no) = if (last.op() == Op::Switch) != is_turned { (other, one) } else { (one, other) };
    let operands = [condition, yes, no].map(Operand::IdRef).to_vec();
    let code = Instruction::new(Op::BranchConditional, None, None, operands);
    let last = module.insts.get_mut(block.range.end - 1)?;
    if last.code == code {
        return None;
    }
    last.code = code;
    Some(())
}

/// Lets a block that branches on a comparison with a constant go by the number that is compared.
pub(super) fn compare(module: &mut Module, key: Key) -> Option<()> {
    let block = keyed(module, key)?;
    let last = module.terminator(&block).filter(|last| last.op() == Op::BranchConditional)?;
    let [yes, no] = targets(last)[..] else { return None };
    let comparison = module.definition(last.id(0)?)?;
    let [one, other] = [module.definition(comparison.id(0)?)?, module.definition(comparison.id(1)?)?];
    let (number, constant) = if is_constant(one.op()) { (other, one) } else { (one, other) };
    let (met, rest) = match comparison.op() {
        Op::IEqual => (yes, no),
        Op::INotEqual => (no, yes),
        _ => return None,
    };
    let literal = constant.code.operands.first().filter(|_| constant.op() == Op::Constant)?.clone();
    let operands =
        vec![Operand::IdRef(number.code.result_id?), Operand::IdRef(rest), literal, Operand::IdRef(met)];
    module.insts.get_mut(block.range.end - 1)?.code = Instruction::new(Op::Switch, None, None, operands);
    Some(())
}

/// Removes the merge instruction of a selection.
pub(super) fn unmerge(module: &mut Module, key: Key) -> Option<()> {
    let block = keyed(module, key)?;
    let at = module.merge_at(&block)?;
    (module.insts.get(at)?.op() == Op::SelectionMerge).then_some(())?;
    module.insts.remove(at);
    Some(())
}

/// Lets a construct merge at another block.
pub(super) fn merge_at(module: &mut Module, key: Key, label: Word) -> Option<()> {
    let block = keyed(module, key)?;
    let at = module.merge_at(&block)?;
    let operand = module.insts.get_mut(at)?.code.operands.first_mut()?;
    if *operand == Operand::IdRef(label) {
        return None;
    }
    *operand = Operand::IdRef(label);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::edited;
    use super::super::Family;
    use super::*;
    use crate::module::tests::shader;

    const CODE: &str = "
        %x = OpLoad %uint %b
        %is_one = OpIEqual %bool %x %uint_1
        %number = OpSelect %uint %is_one %uint_2 %uint_0
        OpSelectionMerge %merge None
        OpSwitch %number %other 2 %one
        %one = OpLabel
        OpStore %a %uint_1
        OpBranch %merge
        %other = OpLabel
        OpStore %a %uint_2
        OpBranch %merge
        %merge = OpLabel";

    #[test]
    fn a_condition_that_is_there_decides() {
        let text =
            edited(&shader(CODE), Family::Conditions, |edit| matches!(edit, Edit::Decide(_, _, false)));
        assert!(text.contains("OpBranchConditional") && !text.contains("OpSelect "), "{text}");
        let first = |text: &str| text.find("OpStore %a %uint_1") < text.find("OpStore %a %uint_2");
        assert!(first(&text), "{text}");
        let turned =
            edited(&shader(CODE), Family::Conditions, |edit| matches!(edit, Edit::Decide(_, _, true)));
        let ways = |text: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.contains("OpBranchConditional")).unwrap();
            line.split(' ').skip(2).map(str::to_owned).collect()
        };
        assert_eq!(ways(&turned), ways(&text).into_iter().rev().collect::<Vec<_>>());
    }

    #[test]
    fn the_number_that_is_compared_decides() {
        let code = CODE.replace("OpSwitch %number %other 2 %one", "OpBranchConditional %is_one %one %other");
        let code = code.replace("%number = OpSelect %uint %is_one %uint_2 %uint_0\n", "");
        let text = edited(&shader(&code), Family::Conditions, |edit| matches!(edit, Edit::Compare(_)));
        assert!(text.contains("OpSwitch") && !text.contains("OpIEqual"), "{text}");
    }

    #[test]
    fn selections_merge_where_one_way_goes_on() {
        let code = "
            OpSelectionMerge %nowhere None
            OpBranchConditional %true %one %other
            %one = OpLabel
            OpStore %a %uint_1
            OpReturn
            %other = OpLabel
            OpStore %a %uint_2
            OpReturn
            %nowhere = OpLabel
            OpUnreachable
            OpFunctionEnd
            %unused = OpFunction %void None %signature
            %begin = OpLabel";
        let module = shader(code);
        let text = edited(&module, Family::Merges, |edit| matches!(edit, Edit::MergeAt(..)));
        assert!(!text.contains("OpUnreachable") && text.contains("OpSelectionMerge"), "{text}");
    }
}
