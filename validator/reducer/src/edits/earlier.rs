//! Which values can stand for a value: what it is computed of, what was computed before it, what is global.

use std::ops::Range;

use rspirv::spirv::{Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::values::is_fixed;
use super::{is_used, Edit};
use crate::dominance::Dominance;
use crate::module::{Inst, Key, Module};

/// How many values are tried in the place of one, with other edits.
const FEW: usize = 3;

/// How many are tried where nothing else is left.
const MANY: usize = 64;

/// How many operands of operands are looked at for one value.
const OPERANDS: usize = 64;

/// The values that are nearest, for each value.
pub(super) fn few(module: &Module) -> Vec<Edit> {
    let all = candidates(module, FEW);
    all.into_iter().flat_map(|(key, ids)| ids.into_iter().map(move |id| Edit::Alias(key, id))).collect()
}

/// All values that can stand for others: the nearest of each, and then the next ones. Behind them stands one.
pub(super) fn many(module: &Module) -> Vec<Edit> {
    let all = candidates(module, MANY);
    let longest = all.iter().map(|(_, ids)| ids.len()).max().unwrap_or(0);
    let ranked = (0..longest).flat_map(|rank| {
        all.iter().rev().filter_map(move |(key, ids)| Some(Edit::Alias(*key, *ids.get(rank)?)))
    });
    ranked.chain(all.iter().rev().map(|(key, _)| Edit::One(*key))).chain(variables(module)).collect()
}

/// Variables of the module in whose place the one in front of them of the same type can stand.
fn variables(module: &Module) -> Vec<Edit> {
    let mut last: FxHashMap<Word, Word> = FxHashMap::default();
    let mut edits = Vec::new();
    let globals = module.insts.get(..module.code_begins()).unwrap_or_default();
    for inst in globals.iter().filter(|inst| inst.op() == Op::Variable) {
        let (Some(ty), Some(id)) = (inst.code.result_type, inst.code.result_id) else { continue };
        let other = last.insert(ty, id);
        edits.extend(other.map(|other| Edit::Alias(inst.key, other)));
    }
    edits
}

/// What is there where something stands: constants and variables of the module, and values that were computed on every way.
pub(super) struct Scope<'m> {
    module: &'m Module,
    definitions: FxHashMap<Word, (usize, &'m Inst)>,
    globals: Vec<&'m Inst>,
}

impl<'m> Scope<'m> {
    pub(super) fn of(module: &'m Module) -> Self {
        let indexed = module.insts.iter().enumerate();
        let definitions = indexed.filter_map(|(at, inst)| Some((inst.code.result_id?, (at, inst)))).collect();
        let globals = module.insts.get(..module.code_begins()).unwrap_or_default();
        let globals = globals.iter().filter(|inst| inst.code.result_type.is_some()).collect();
        Scope { module, definitions, globals }
    }

    /// The values of a type in front of the instruction at this index, the nearest first, up to `most`: parameters of the
    /// function are the last ones.
    pub(super) fn values(
        &self,
        dominance: &Dominance,
        function: &Range<usize>,
        at: usize,
        ty: Word,
        most: usize,
    ) -> Vec<Word> {
        let begins = dominance.blocks.first().map_or(function.end, |first| first.range.start);
        let ranges = dominance.before(at).into_iter().chain(std::iter::once(function.start..begins));
        let values = ranges.flat_map(|range| self.module.insts.get(range).unwrap_or_default().iter().rev());
        let alike = values.filter(|inst| {
            inst.code.result_type == Some(ty) && !matches!(inst.op(), Op::Label | Op::Function)
        });
        alike.filter_map(|inst| inst.code.result_id).take(most).collect()
    }

    /// The constants and variables of a type, the first ones first.
    pub(super) fn globals(&self, ty: Word) -> impl Iterator<Item = Word> + '_ {
        let alike = self.globals.iter().filter(move |inst| inst.code.result_type == Some(ty));
        alike.filter_map(|inst| inst.code.result_id)
    }

    /// What a value is computed of, of the same type, and was computed on every way to it: operands, and then their
    /// operands.
    fn operands(&self, dominance: &Dominance, at: usize, inst: &Inst) -> Vec<Word> {
        let before = dominance.before(at);
        let is_there = |at: usize| before.iter().any(|range| range.contains(&at));
        let mut seen: FxHashSet<Word> = FxHashSet::default();
        let mut open: Vec<Word> = inst.ids().collect();
        let mut found = Vec::new();
        let mut next = 0;
        while let Some(id) = open.get(next).copied().filter(|_| next < OPERANDS) {
            next += 1;
            let Some((at, operand)) = self.definitions.get(&id).filter(|_| seen.insert(id)) else { continue };
            if !is_there(*at) {
                continue;
            }
            if operand.code.result_type == inst.code.result_type {
                found.push(id);
            }
            open.extend(operand.ids());
        }
        found
    }
}

/// For each value of a function that something takes, what can stand for it, up to `most`.
fn candidates(module: &Module, most: usize) -> Vec<(Key, Vec<Word>)> {
    let scope = Scope::of(module);
    let mut all = Vec::new();
    for function in module.functions() {
        let dominance = Dominance::of(module, &function);
        for at in function.clone() {
            let Some(inst) = module.insts.get(at) else { continue };
            let (Some(ty), Some(id)) = (inst.code.result_type, inst.code.result_id) else { continue };
            if is_fixed(inst.op()) || !is_used(module, id) {
                continue;
            }
            let mut known = FxHashSet::from_iter([id]);
            let mut ids = scope.operands(&dominance, at, inst);
            ids.extend(scope.values(&dominance, &function, at, ty, most));
            ids.extend(scope.globals(ty));
            ids.retain(|other| known.insert(*other));
            ids.truncate(most);
            all.push((inst.key, ids));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::tests::edited;
    use super::super::Family;
    use super::*;
    use crate::module::tests::{module, shader, DECLARATIONS};

    #[test]
    fn a_variable_of_a_function_can_stand_for_another_one() {
        let text = DECLARATIONS.replace(
            "%entry = OpLabel",
            "%entry = OpLabel\n%v = OpVariable %local Function\n%w = OpVariable %local Function",
        );
        let text =
            text.replace("%main = OpFunction ", "%local = OpTypePointer Function %uint\n%main = OpFunction ");
        let code = "OpStore %v %uint_1\nOpStore %w %uint_2\n%x = OpLoad %uint %v\nOpStore %a %x";
        let module = module(&format!("{text}{code}\nOpReturn\nOpFunctionEnd\n"));
        let variables: Vec<&Inst> = module
            .insts
            .iter()
            .filter(|inst| {
                inst.op() == Op::Variable && module.code_begins() <= module.index(inst.key).unwrap()
            })
            .collect();
        let wanted = Edit::Alias(variables[1].key, variables[0].code.result_id.unwrap());
        let text = edited(&module, Family::Earlier, |edit| *edit == wanted);
        assert_eq!(text.matches(" Function\n").count(), 1, "{text}");
    }

    #[test]
    fn every_value_that_is_there_can_stand_for_another_one() {
        let module = shader(
            "%x = OpLoad %uint %b
            %y = OpIMul %uint %x %uint_100
            OpSelectionMerge %merge None
            OpBranchConditional %true %then %merge
            %then = OpLabel
            %hidden = OpIMul %uint %x %uint_2
            OpStore %b %hidden
            OpBranch %merge
            %merge = OpLabel
            %turned = OpSNegate %uint %y
            %back = OpSNegate %uint %turned
            OpStore %a %back",
        );
        let with =
            |op: Op, number: usize| module.insts.iter().filter(|inst| inst.op() == op).nth(number).unwrap();
        let (back, result) =
            (with(Op::SNegate, 1).key, |op, number| with(op, number).code.result_id.unwrap());
        let all = many(&module);
        let ids: Vec<Word> = all
            .iter()
            .filter_map(|edit| match edit {
                Edit::Alias(key, id) if *key == back => Some(*id),
                _ => None,
            })
            .collect();
        // What it is computed of first, then what was computed before, then constants; nothing of another way.
        let computed = [result(Op::SNegate, 0), result(Op::IMul, 0), result(Op::Load, 0)];
        assert_eq!(ids[..3], computed);
        assert!(!ids.contains(&result(Op::IMul, 1)) && ids.len() > 3, "{ids:?}");
        let text = edited(&module, Family::Earlier, |edit| *edit == Edit::Alias(back, computed[1]));
        assert!(!text.contains("OpSNegate"), "{text}");
        let text = edited(&module, Family::Earlier, |edit| *edit == Edit::One(back));
        assert!(text.contains("OpStore %a %uint_1\n"), "{text}");
    }
}
