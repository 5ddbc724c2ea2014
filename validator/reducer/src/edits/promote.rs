//! Variables of functions that are only loaded and stored: values take their place.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Edit;
use crate::flow::{targets, Block};
use crate::module::{is_annotation, is_name, Inst, Key, Module};
use crate::twins::Twins;

/// The variables of functions, the last first.
pub(super) fn variables(module: &Module) -> Vec<Edit> {
    let code = module.insts.iter().skip(module.code_begins()).rev();
    code.filter(|inst| inst.op() == Op::Variable).map(|inst| Edit::Promote(inst.key)).collect()
}

/// A phi for a variable, where blocks join.
struct Phi {
    id: Word,
    key: Key,
    /// What it joins: values, and the labels that they come from.
    entries: Vec<(Word, Word)>,
}

/// Puts values in the place of a variable: each load is what was stored last, on several ways a phi of that. What was not
/// stored is zero.
pub(super) fn promote(module: &mut Module, key: Key, twins: &mut Twins) -> Option<()> {
    let at = module.index(key)?;
    let (function, _) = module.block_of(at)?;
    let variable = module.insts.get(at).filter(|inst| inst.op() == Op::Variable)?;
    let own = variable.code.result_id?;
    let ty = module.definition(variable.code.result_type?)?.id(1)?;
    let first = variable.id(1);
    is_only_accessed(module, own).then_some(())?;
    let first = first.or_else(|| module.zero(ty))?;
    // The zero may be a new declaration.
    let moved = module.index(key)? - at;
    let function = function.start + moved..function.end + moved;
    let blocks = module.blocks(&function);
    let from = predecessors(module, &blocks);
    let mut known: FxHashMap<Word, Word> = FxHashMap::default();
    let mut phis: FxHashMap<Word, Phi> = FxHashMap::default();
    for block in blocks.iter().skip(1) {
        if from.get(&block.label).is_some_and(|from| from.len() > 1) {
            let label = module.insts.get(block.range.start)?.key;
            let (id, phi) = twins.named(module, key, label);
            known.insert(block.label, id);
            phis.insert(block.label, Phi { id, key: phi, entries: Vec::new() });
        }
    }
    // What a block stores last, if it stores something.
    let mut stored: FxHashMap<Word, Word> = FxHashMap::default();
    for block in &blocks {
        for inst in module.insts.get(block.range.clone())? {
            if let (Op::Store, Some(pointer), Some(value)) = (inst.op(), inst.id(0), inst.id(1)) {
                if pointer == own {
                    stored.insert(block.label, value);
                }
            }
        }
    }
    let at_begin = |label: Word| {
        let (mut label, mut left) = (label, blocks.len());
        loop {
            if let Some(phi) = known.get(&label) {
                return *phi;
            }
            let Some([only]) = from.get(&label).map(Vec::as_slice).filter(|_| left > 0) else { return first };
            if let Some(value) = stored.get(only) {
                return *value;
            }
            (label, left) = (*only, left - 1);
        }
    };
    let at_end = |label: Word| stored.get(&label).copied().unwrap_or_else(|| at_begin(label));
    for (label, phi) in &mut phis {
        let all = from.get(label).into_iter().flatten();
        phi.entries = all.map(|from| (at_end(*from), *from)).collect();
    }
    let mut replaced: FxHashMap<Word, Word> = FxHashMap::default();
    for block in &blocks {
        let mut now = at_begin(block.label);
        for inst in module.insts.get(block.range.clone())? {
            match (inst.op(), inst.code.result_id) {
                (Op::Load, Some(result)) if inst.id(0) == Some(own) => drop(replaced.insert(result, now)),
                (Op::Store, _) if inst.id(0) == Some(own) => now = inst.id(1)?,
                _ => {}
            }
        }
    }
    module.insts.retain(|inst| !takes(inst, own) && inst.code.result_id != Some(own));
    settle(module, &mut phis, &mut replaced);
    for block in blocks {
        let Some(phi) = phis.remove(&block.label) else { continue };
        let operands = phi.entries.iter().flat_map(|(value, label)| [*value, *label].map(Operand::IdRef));
        let code = Instruction::new(Op::Phi, Some(ty), Some(phi.id), operands.collect());
        let begin = module.insts.iter().position(|inst| inst.code.result_id == Some(block.label))?;
        module.insts.insert(begin + 1, Inst { key: phi.key, code });
    }
    Some(())
}

fn takes(inst: &Inst, id: Word) -> bool {
    !is_name(inst.op()) && !is_annotation(inst.op()) && inst.ids().any(|other| other == id)
}

fn is_only_accessed(module: &Module, id: Word) -> bool {
    let mut uses = module.insts.iter().filter(|inst| takes(inst, id));
    uses.all(|inst| match inst.op() {
        Op::Load => true,
        Op::Store => inst.id(0) == Some(id) && inst.id(1) != Some(id),
        _ => false,
    })
}

/// The blocks that go to each block, each once.
fn predecessors(module: &Module, blocks: &[Block]) -> FxHashMap<Word, Vec<Word>> {
    let mut all: FxHashMap<Word, Vec<Word>> = FxHashMap::default();
    for block in blocks {
        for target in module.terminator(block).map(targets).unwrap_or_default() {
            let known = all.entry(target).or_default();
            if !known.contains(&block.label) {
                known.push(block.label);
            }
        }
    }
    all
}

/// Makes the replacements, without the phis that nobody needs.
fn settle(module: &mut Module, phis: &mut FxHashMap<Word, Phi>, replaced: &mut FxHashMap<Word, Word>) {
    let last = |replaced: &FxHashMap<Word, Word>, id: Word| {
        let (mut id, mut left) = (id, replaced.len());
        while let Some(next) = replaced.get(&id).filter(|_| left > 0) {
            (id, left) = (*next, left - 1);
        }
        id
    };
    // A phi of one value is that value.
    loop {
        let mut single = None;
        for (label, phi) in phis.iter() {
            let mut values: Vec<Word> = phi.entries.iter().map(|(value, _)| last(replaced, *value)).collect();
            values.retain(|value| *value != phi.id);
            values.sort_unstable();
            values.dedup();
            if let [value] = values[..] {
                single = single.max(Some((*label, phi.id, value)));
            }
        }
        let Some((label, id, value)) = single else { break };
        phis.remove(&label);
        replaced.insert(id, value);
    }
    for id in module.insts.iter_mut().flat_map(|inst| &mut inst.code.operands) {
        if let Some(id) = id.id_ref_any_mut() {
            *id = last(replaced, *id);
        }
    }
    for (value, _) in phis.values_mut().flat_map(|phi| &mut phi.entries) {
        *value = last(replaced, *value);
    }
    let by_id: FxHashMap<Word, Word> = phis.iter().map(|(label, phi)| (phi.id, *label)).collect();
    let mut needed: FxHashSet<Word> = FxHashSet::default();
    let taken = module.insts.iter().flat_map(|inst| inst.ids().collect::<Vec<_>>());
    let mut open: Vec<Word> = taken.filter_map(|id| by_id.get(&id).copied()).collect();
    while let Some(label) = open.pop() {
        if needed.insert(label) {
            let entries = phis.get(&label).into_iter().flat_map(|phi| &phi.entries);
            open.extend(entries.filter_map(|(value, _)| by_id.get(value).copied()));
        }
    }
    phis.retain(|label, _| needed.contains(label));
}

#[cfg(test)]
mod tests {
    use super::super::tests::edited;
    use super::super::Family;
    use super::*;
    use crate::module::tests::{module, DECLARATIONS};

    fn with_variable(code: &str) -> Module {
        let local = "%local = OpTypePointer Function %uint\n%block = OpTypePointer";
        let text = DECLARATIONS.replace("%block = OpTypePointer", local).replace(
            "%entry = OpLabel",
            "%entry = OpLabel\n%v = OpVariable %local Function %uint_2\n%w = OpVariable %local Function",
        );
        module(&format!("{text}{code}\nOpReturn\nOpFunctionEnd\n"))
    }

    #[test]
    fn what_was_stored_takes_the_place_of_variables() {
        let module = with_variable(
            "%x = OpLoad %uint %v
            OpStore %v %uint_100
            %y = OpLoad %uint %v
            OpStore %a %x
            OpStore %b %y
            %z = OpLoad %uint %w",
        );
        let of = |number: usize| {
            let variables = module.insts.iter().filter(|inst| {
                inst.op() == Op::Variable
                    && inst.code.operands.first()
                        == Some(&Operand::StorageClass(rspirv::spirv::StorageClass::Function))
            });
            variables.map(|inst| inst.key).nth(number).unwrap()
        };
        let text = edited(&module, Family::Variables, |edit| *edit == Edit::Promote(of(0)));
        assert!(text.contains("OpStore %a %uint_2\n") && text.contains("OpStore %b %uint_100\n"), "{text}");
        let both = edited(&module, Family::Variables, |edit| *edit == Edit::Promote(of(1)));
        assert_eq!(both.matches("OpVariable %_ptr_Function").count(), 1, "{both}");
    }

    #[test]
    fn ways_that_join_have_phis_where_they_are_needed() {
        let code = "
            OpBranch %header
            %header = OpLabel
            OpLoopMerge %out %continue None
            OpBranch %test
            %test = OpLabel
            %i = OpLoad %uint %v
            %in = OpULessThan %bool %i %uint_100
            OpBranchConditional %in %body %out
            %body = OpLabel
            OpSelectionMerge %joined None
            OpBranchConditional %in %then %joined
            %then = OpLabel
            OpBranch %joined
            %joined = OpLabel
            OpBranch %continue
            %continue = OpLabel
            %old = OpLoad %uint %v
            %next = OpIAdd %uint %old %uint_1
            OpStore %v %next
            OpBranch %header
            %out = OpLabel
            %end = OpLoad %uint %v
            OpStore %a %end";
        let module = with_variable(code);
        let variable = module.insts.iter().find(|inst| inst.op() == Op::Variable && inst.id(1).is_some());
        let key = variable.unwrap().key;
        let text = edited(&module, Family::Variables, |edit| *edit == Edit::Promote(key));
        // One for the loop; the selection in it stores nothing.
        assert_eq!(text.matches("OpPhi").count(), 1, "{text}");
        assert_eq!(text.matches("OpLoad").count(), 0, "{text}");
    }
}
