//! Turns of a loop that are counted down to end it, as naga writes them: a variable of two words that begins with all bits
//! set, of which the lower one loses 1 in each turn, and the upper one where that was 0. The loop is left where both are 0.
//!
//! A mistake in it shows after so many turns only that no launch comes there. That is run and not proved: what counts turns,
//! for [`TURNS`] of them, in which the loop must not be left.

use std::collections::HashMap;

use rspirv::dr::{Block, Instruction, Module, Operand};
use rspirv::spirv::{Op, Word};

use spirv_tv_mutators::Mutant;

use super::{ids, instructions};

/// Turns that are run: more instructions than the budget of a check has.
const TURNS: u32 = 1 << 22;

/// Whether what was changed only counts such turns in both modules, which have the same instructions but for one.
pub(super) fn counts_turns(before: &Module, after: impl FnOnce() -> Option<Module>, position: usize) -> bool {
    let counts = |module: &Module| {
        let blocks = module.functions.iter().flat_map(|function| &function.blocks);
        let mut guards = blocks.filter_map(|block| Guard::of(block, module));
        let changed = instructions(module).nth(position).and_then(|inst| inst.result_id);
        guards.any(|guard| guard.contains(changed) && guard.is_never_left(module))
    };
    counts(before) && after().is_some_and(|after| counts(&after))
}

/// Whether a guard no longer counts, so that it is never left: what it stores is dropped, or the branch that would leave
/// the loop.
pub(super) fn is_dropped(module: &Module, mutant: &Mutant, position: usize) -> bool {
    let Some(changed) = instructions(module).nth(position) else { return false };
    let is_part = |guard: &Guard<'_>| match (mutant.mutator, mutant.what.as_str()) {
        ("store-dropped", _) => guard.step.last().is_some_and(|store| std::ptr::eq(*store, changed)),
        ("guard-dropped", "never") => ids(changed).next() == Some(guard.condition),
        _ => false,
    };
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    blocks
        .filter_map(|block| Guard::of(block, module))
        .any(|guard| is_part(&guard) && guard.is_never_left(module))
}

/// The code that counts, in the two blocks behind a loop's header.
struct Guard<'m> {
    variable: Word,
    /// What is computed before the branch that leaves the loop.
    test: &'m [Instruction],
    /// What is computed behind it.
    step: Vec<&'m Instruction>,
    condition: Word,
}

impl<'m> Guard<'m> {
    /// That of a block which ends by the test.
    fn of(block: &'m Block, module: &'m Module) -> Option<Self> {
        let [test @ .., merge, end] = &block.instructions[..] else { return None };
        if merge.class.opcode != Op::SelectionMerge || end.class.opcode != Op::BranchConditional {
            return None;
        }
        let [condition, _, goes_on] = ids(end).collect::<Vec<_>>()[..] else { return None };
        let load = test.first().filter(|inst| inst.class.opcode == Op::Load)?;
        let variable = ids(load).next()?;
        let function =
            module.functions.iter().find(|one| one.blocks.iter().any(|it| std::ptr::eq(it, block)))?;
        let next = function.blocks.iter().find(|one| one.label_id() == Some(goes_on))?;
        let end = next.instructions.iter().position(|inst| inst.class.opcode == Op::Store)?;
        let step: Vec<&Instruction> = next.instructions[..=end].iter().collect();
        // Nothing else has to do with it.
        let own: Vec<Word> =
            test.iter().chain(step.iter().copied()).filter_map(|inst| inst.result_id).collect();
        let is_foreign = |inst: &&Instruction| {
            let is_inside = inst.result_id.is_some_and(|id| own.contains(&id))
                || step.last().is_some_and(|store| std::ptr::eq(*store, *inst))
                || ids(inst).next() == Some(condition) && inst.class.opcode == Op::BranchConditional;
            !is_inside && ids(inst).any(|id| own.contains(&id) || id == variable)
        };
        let stored = step.last().and_then(|store| ids(store).next());
        let is_alone = !instructions(module).any(|inst| is_foreign(&inst));
        (is_alone && stored == Some(variable)).then_some(Guard { variable, test, step, condition })
    }

    fn contains(&self, id: Option<Word>) -> bool {
        let mut own = self.test.iter().chain(self.step.iter().copied());
        id.is_some() && own.any(|inst| inst.result_id == id)
    }

    /// Whether the loop is not left by the guard in so many turns.
    fn is_never_left(&self, module: &Module) -> bool {
        let mut values: HashMap<Word, Vec<u32>> = HashMap::new();
        for inst in &module.types_global_values {
            let of = |values: &HashMap<Word, Vec<u32>>| value(inst, values);
            if let Some((id, value)) = inst.result_id.zip(of(&values)) {
                values.insert(id, value);
            }
        }
        let variable = module.all_inst_iter().find(|inst| inst.result_id == Some(self.variable));
        let Some(initial) = variable.and_then(|inst| values.get(&ids(inst).next()?).cloned()) else {
            return false;
        };
        values.insert(self.variable, initial);
        for _ in 0..TURNS {
            for inst in self.test.iter().chain(self.step.iter().copied()) {
                let (target, value) = match inst.class.opcode {
                    Op::Store => (ids(inst).next(), ids(inst).nth(1).and_then(|id| values.get(&id).cloned())),
                    _ => (inst.result_id, value(inst, &values)),
                };
                let Some((target, value)) = target.zip(value) else { return false };
                values.insert(target, value);
                if target == self.condition && values[&target] != [0] {
                    return false;
                }
            }
        }
        true
    }
}

/// What an instruction gives, component by component; `None` where it is none that counts.
fn value(inst: &Instruction, values: &HashMap<Word, Vec<u32>>) -> Option<Vec<u32>> {
    let operands: Vec<&Vec<u32>> = ids(inst).map(|id| values.get(&id)).collect::<Option<_>>()?;
    let literal = || {
        inst.operands.iter().find_map(|operand| match operand {
            Operand::LiteralBit32(literal) => Some(*literal),
            _ => None,
        })
    };
    let both = |of: fn(u32, u32) -> u32| match operands[..] {
        [a, b] => Some(a.iter().zip(b).map(|(a, b)| of(*a, *b)).collect()),
        _ => None,
    };
    match inst.class.opcode {
        Op::Constant => Some(vec![literal()?]),
        Op::ConstantComposite | Op::CompositeConstruct => {
            Some(operands.into_iter().flatten().copied().collect())
        }
        Op::Load => operands.first().map(|value| value.to_vec()),
        Op::CompositeExtract => Some(vec![*operands.first()?.get(literal()? as usize)?]),
        Op::IEqual => both(|a, b| u32::from(a == b)),
        Op::INotEqual => both(|a, b| u32::from(a != b)),
        Op::ISub => both(u32::wrapping_sub),
        Op::IAdd => both(u32::wrapping_add),
        Op::IMul => both(u32::wrapping_mul),
        Op::All => Some(vec![u32::from(operands.first()?.iter().all(|it| *it != 0))]),
        Op::Any => Some(vec![u32::from(operands.first()?.iter().any(|it| *it != 0))]),
        Op::Select => match operands[..] {
            [condition, a, b] if condition.len() == 1 => Some(if condition[0] != 0 { a } else { b }.clone()),
            _ => None,
        },
        _ => None,
    }
}
