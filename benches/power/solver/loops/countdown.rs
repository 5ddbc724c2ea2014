//! Turns of a loop that are counted down to end it, as naga writes them: two words that begin with all bits set, of which the
//! lower one loses 1 in each turn, and the upper one where that was 0. The loop is left where both are 0, after 2^64 - 1
//! turns: long after an index that grows in each of them is out of bounds.

use std::collections::HashSet;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::super::evaluate::ids;
use super::Loops;

/// Whether a block leaves the loop with this header and latch in so late a turn only.
pub(super) fn is_exit(
    loops: &Loops<'_, '_>,
    block: usize,
    (header, latch): (usize, usize),
    inside: &HashSet<usize>,
) -> bool {
    let leads_inside = |label: Word| loops.graph.labels.get(&label).is_some_and(|to| inside.contains(to));
    let ends = || {
        let end = loops.function.blocks[block].instructions.last()?;
        let [condition, out, on] = ids(end).collect::<Vec<_>>()[..] else { return None };
        let compared = ids(loops.of(condition, Op::All)?).next()?;
        let counter = loops.compared(compared, |id| loops.is_filled(id, 0))?;
        let code = &loops.function.blocks[header].instructions;
        let phi = code.iter().find(|inst| inst.class.opcode == Op::Phi && inst.result_id == Some(counter))?;
        let is_counted =
            ids(phi).collect::<Vec<_>>().chunks_exact(2).all(|pair| match loops.graph.labels.get(&pair[1]) {
                Some(from) if *from == latch => loops.counts_down(pair[0], counter).is_some(),
                _ => loops.is_filled(pair[0], u64::from(u32::MAX)),
            });
        Some(is_counted && !leads_inside(out) && leads_inside(on))
    };
    ends() == Some(true)
}

impl Loops<'_, '_> {
    /// The instruction with this id, if it is such a one.
    fn of(&self, id: Word, opcode: Op) -> Option<&Instruction> {
        self.side.instructions.get(&id).copied().filter(|inst| inst.class.opcode == opcode)
    }

    /// What is compared with something by OpIEqual.
    fn compared(&self, id: Word, with: impl Fn(Word) -> bool) -> Option<Word> {
        match ids(self.of(id, Op::IEqual)?).collect::<Vec<_>>()[..] {
            [one, other] if with(other) => Some(one),
            [one, other] if with(one) => Some(other),
            _ => None,
        }
    }

    /// Whether a constant has two words that are both this number.
    fn is_filled(&self, id: Word, number: u64) -> bool {
        self.of(id, Op::ConstantComposite).is_some_and(|inst| {
            let parts: Vec<Word> = ids(inst).collect();
            parts.len() == 2 && parts.into_iter().all(|part| self.is_word(part, number))
        })
    }

    fn is_word(&self, id: Word, number: u64) -> bool {
        self.bounds.width(id) == Some(32) && self.bounds.constant(id) == Some(number)
    }

    /// Whether a value is the counter, of which the second word has lost 1, and the first one too where that was 0.
    fn counts_down(&self, id: Word, counter: Word) -> Option<()> {
        let [from, by] = ids(self.of(id, Op::ISub)?).collect::<Vec<_>>()[..] else { return None };
        let [high, low] = ids(self.of(by, Op::CompositeConstruct)?).collect::<Vec<_>>()[..] else {
            return None;
        };
        let [borrows, holds, fails] = ids(self.of(high, Op::Select)?).collect::<Vec<_>>()[..] else {
            return None;
        };
        let lower = self.compared(borrows, |id| self.is_word(id, 0))?;
        let extract = self.of(lower, Op::CompositeExtract)?;
        let is_lower = extract.operands == [Operand::IdRef(counter), Operand::LiteralBit32(1)];
        let is_unit = self.is_word(holds, 1) && self.is_word(fails, 0) && self.is_word(low, 1);
        (from == counter && is_lower && is_unit).then_some(())
    }
}
