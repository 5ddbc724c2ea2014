//! Calls: the code of a function in the place of a call.

use std::ops::Range;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashMap;

use super::{replace_uses, Edit};
use crate::module::{Inst, Key, Module};
use crate::twins::Twins;

/// Calls of functions that have code, the last first.
pub(super) fn calls(module: &Module) -> Vec<Edit> {
    let calls = module.insts.iter().rev().filter(|inst| inst.op() == Op::FunctionCall);
    calls.map(|call| Edit::Inline(call.key)).collect()
}

/// The function with this name.
fn named(module: &Module, name: Word) -> Option<Range<usize>> {
    let is_it = |function: &Range<usize>| {
        module.insts.get(function.start).is_some_and(|head| head.code.result_id == Some(name))
    };
    module.functions().into_iter().find(is_it)
}

/// The code of a function with other names, cut at its returns.
struct Copied {
    variables: Vec<Inst>,
    /// From behind the first label; returns go to the block behind the call.
    code: Vec<Inst>,
    /// The label of each block that returns, or of the caller's where it is the first one, and what it returns.
    returns: Vec<(Word, Option<Word>)>,
}

/// Puts the code of a function in the place of a call. The block of the call is cut in two, unless the function has one
/// block.
pub(super) fn inline(module: &mut Module, key: Key, twins: &mut Twins) -> Option<()> {
    let at = module.index(key)?;
    let call = module.insts.get(at).filter(|inst| inst.op() == Op::FunctionCall)?.code.clone();
    let name = call.operands.first()?.id_ref_any()?;
    let callee = named(module, name)?;
    let (caller, block) = module.block_of(at)?;
    let is_whole = module.blocks(&callee).len() == 1;
    let merge = module.merge_at(&block).and_then(|at| module.insts.get(at));
    // A loop is gone back to at the block that has its merge instruction.
    if callee.contains(&at) || (!is_whole && merge.is_some_and(|merge| merge.op() == Op::LoopMerge)) {
        return None;
    }
    let (behind, _) = twins.named(module, key, key);
    let copied = copied(module, key, &callee, &call, block.label, behind, twins)?;
    let (result, result_type) = (call.result_id?, call.result_type?);
    let mut code = copied.code;
    let value = match (&copied.returns[..], is_whole) {
        ([(_, value)], true) => {
            code.pop();
            *value
        }
        (returns, _) => {
            let label = Instruction::new(Op::Label, None, Some(behind), Vec::new());
            let label = twins.inst(module, key, key, label);
            code.push(label);
            let entries = returns.iter().filter_map(|(from, value)| Some([(*value)?, *from]));
            let operands: Vec<Operand> = entries.flatten().map(Operand::IdRef).collect();
            match returns {
                [(_, value)] => *value,
                _ if operands.is_empty() => None,
                _ => {
                    let (_, phi) = twins.named(module, key, callee_key(module, &callee)?);
                    let code_of = Instruction::new(Op::Phi, Some(result_type), Some(result), operands);
                    code.push(Inst { key: phi, code: code_of });
                    None
                }
            }
        }
    };
    if !is_whole {
        // Phis behind the call say where they come from.
        for inst in module.insts.get_mut(caller.clone())?.iter_mut().filter(|inst| inst.op() == Op::Phi) {
            for id in inst.code.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
                *id = if *id == block.label { behind } else { *id };
            }
        }
    }
    module.insts.splice(at..at + 1, code);
    let first = module.blocks(&caller).into_iter().next()?;
    module.insts.splice(first.range.start + 1..first.range.start + 1, copied.variables);
    if let Some(value) = value {
        replace_uses(module, result, value);
    }
    Some(())
}

fn callee_key(module: &Module, callee: &Range<usize>) -> Option<Key> {
    Some(module.insts.get(callee.start)?.key)
}

fn copied(
    module: &mut Module,
    place: Key,
    callee: &Range<usize>,
    call: &Instruction,
    from: Word,
    behind: Word,
    twins: &mut Twins,
) -> Option<Copied> {
    let whole: Vec<Inst> = module.insts.get(callee.clone())?.to_vec();
    let parameters = whole.iter().filter(|inst| inst.op() == Op::FunctionParameter);
    let parameters = parameters.filter_map(|inst| inst.code.result_id);
    let arguments = call.operands.iter().skip(1).filter_map(Operand::id_ref_any);
    let mut ids: FxHashMap<Word, Word> = parameters.zip(arguments).collect();
    let begin = whole.iter().position(|inst| inst.op() == Op::Label)?;
    ids.insert(whole.get(begin)?.code.result_id?, from);
    let body = whole.get(begin + 1..whole.len() - 1)?;
    let mut named = Vec::new();
    for inst in body {
        let (id, key) = twins.named(module, place, inst.key);
        named.push(key);
        if let Some(own) = inst.code.result_id {
            ids.insert(own, id);
        }
    }
    let mut copied = Copied { variables: Vec::new(), code: Vec::new(), returns: Vec::new() };
    let mut label = from;
    for (inst, key) in body.iter().zip(named) {
        let mut code = inst.code.clone();
        code.result_id = code.result_id.map(|id| ids.get(&id).copied().unwrap_or(id));
        for id in code.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
            *id = ids.get(id).copied().unwrap_or(*id);
        }
        match (inst.op(), code.result_id) {
            (Op::Label, Some(own)) => label = own,
            (Op::Return | Op::ReturnValue, _) => {
                copied.returns.push((label, code.operands.first().and_then(Operand::id_ref_any)));
                code = Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(behind)]);
            }
            _ => {}
        }
        let inst = Inst { key, code };
        match inst.op() {
            Op::Variable => copied.variables.push(inst),
            _ => copied.code.push(inst),
        }
    }
    Some(copied)
}

#[cfg(test)]
mod tests {
    use super::super::tests::edited;
    use super::super::Family;
    use super::*;
    use crate::case::Case;
    use crate::module::tests::{is_valid, module, text, DECLARATIONS};

    const CALLEE: &str = "
        %f = OpFunction %uint None %scale
        %p = OpFunctionParameter %uint
        %body = OpLabel
        %local = OpVariable %function Function
        OpStore %local %p
        %is_small = OpULessThan %bool %p %uint_100
        OpSelectionMerge %joined None
        OpBranchConditional %is_small %then %joined
        %then = OpLabel
        OpStore %b %p
        OpBranch %joined
        %joined = OpLabel
        %twice = OpPhi %uint %p %body %uint_2 %then
        OpReturnValue %twice
        OpFunctionEnd";

    fn with_blocks(more: &str) -> Module {
        let declared = "%scale = OpTypeFunction %uint %uint
            %function = OpTypePointer Function %uint
            %main = OpFunction";
        let callee = CALLEE.replace("OpStore %b %p", &format!("{more}OpStore %local %uint_1"));
        let text = DECLARATIONS.replace("%main = OpFunction", declared);
        module(&format!(
            "{text}
            OpSelectionMerge %merge None
            OpBranchConditional %true %yes %merge
            %yes = OpLabel
            %r = OpFunctionCall %uint %f %uint_2
            OpBranch %merge
            %merge = OpLabel
            %last = OpPhi %uint %uint_1 %entry %r %yes
            OpStore %a %last
            OpReturn
            OpFunctionEnd{callee}"
        ))
    }

    #[test]
    fn functions_of_several_blocks_take_the_place_of_calls() {
        let text = edited(&with_blocks(""), Family::Functions, |edit| matches!(edit, Edit::Inline(_)));
        assert!(!text.contains("OpFunctionCall") && text.matches("OpPhi").count() == 2, "{text}");
        assert_eq!(text.matches("OpFunctionEnd").count(), 1, "{text}");
    }

    #[test]
    fn what_both_modules_of_a_pair_take_in_corresponds() {
        let before = with_blocks("%sum = OpIAdd %uint %p %p\n");
        let after = with_blocks("");
        let gone = before.insts.iter().position(|inst| inst.op() == Op::IAdd).unwrap();
        let pairs: Vec<(usize, usize)> =
            (0..before.len()).filter(|at| *at != gone).zip(0..after.len()).collect();
        let after = after.numbered_as(&before, &pairs);
        let case = Case { modules: vec![before, after], launch: () };
        let edits = Family::Functions.edits(&case.modules[0]);
        let inline = edits.iter().find(|edit| matches!(edit, Edit::Inline(_))).unwrap();
        let made = case.edited(std::slice::from_ref(inline), &[0, 1], false).unwrap();
        assert!(made.modules.iter().all(is_valid), "{}", text(&made.modules[0]));
        assert_eq!(made.size().difference, case.size().difference);
    }
}
