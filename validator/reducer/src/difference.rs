//! How much two modules differ. What is reduced of a pair is the mistake between them: no edit may make another one of it.

use rspirv::dr::Operand;
use rspirv::spirv::Word;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::module::{is_constant, is_name, is_type, Inst, Key, Module};

/// What an instruction counts that only one module has, one that stands elsewhere, and an operand that is another one.
const ALONE: u64 = 3;
const MOVED: u64 = 2;
const OPERAND: u64 = 1;

/// How deep types and constants are compared.
const DEPTH: usize = 8;

/// Whether an instruction counts by itself: types and constants count where they are used.
fn counts(inst: &Inst) -> bool {
    !is_type(inst.op()) && !is_constant(inst.op()) && !is_name(inst.op())
}

/// How much two modules differ, whose keys say what corresponds.
pub(crate) fn of(before: &Module, after: &Module) -> u64 {
    let old: FxHashMap<Key, (usize, &Inst)> = before
        .insts
        .iter()
        .enumerate()
        .filter(|(_, inst)| counts(inst))
        .map(|(at, inst)| (inst.key, (at, inst)))
        .collect();
    let both = Both { before: before.definitions(), after: after.definitions() };
    let mut difference = 0;
    let mut places: Vec<usize> = Vec::new();
    let mut known: FxHashSet<Key> = FxHashSet::default();
    for inst in after.insts.iter().filter(|inst| counts(inst)) {
        match old.get(&inst.key) {
            Some((at, other)) => {
                places.push(*at);
                known.insert(inst.key);
                difference += both.differences(other, inst);
            }
            None => difference += ALONE,
        }
    }
    let alone = old.keys().filter(|key| !known.contains(key)).count();
    let moved = places.len() - longest_rising(&places);
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    difference + ALONE * count(alone) + MOVED * count(moved)
}

struct Both<'m> {
    before: FxHashMap<Word, &'m Inst>,
    after: FxHashMap<Word, &'m Inst>,
}

impl Both<'_> {
    /// What two instructions that correspond differ in.
    fn differences(&self, old: &Inst, new: &Inst) -> u64 {
        if old.code == new.code {
            return 0;
        }
        if old.op() != new.op() {
            return ALONE;
        }
        let longest = old.code.operands.len().max(new.code.operands.len());
        let other = (0..longest).filter(|index| {
            let operands = [old.code.operands.get(*index), new.code.operands.get(*index)];
            match operands {
                [Some(old), Some(new)] => !self.is_same(old, new, DEPTH),
                _ => true,
            }
        });
        OPERAND * u64::try_from(other.count()).unwrap_or(u64::MAX)
    }

    fn is_same(&self, old: &Operand, new: &Operand, depth: usize) -> bool {
        match (old.id_ref_any(), new.id_ref_any()) {
            (Some(old), Some(new)) => {
                let both = self.before.get(&old).zip(self.after.get(&new));
                let is_global = both.is_some_and(|(inst, _)| is_type(inst.op()) || is_constant(inst.op()));
                match both.filter(|_| is_global && depth > 0) {
                    // Ids of types and constants say nothing.
                    Some((one, other)) => {
                        let types = match (one.code.result_type, other.code.result_type) {
                            (Some(one), Some(other)) => {
                                self.is_same(&Operand::IdRef(one), &Operand::IdRef(other), depth - 1)
                            }
                            (one, other) => one == other,
                        };
                        let operands = one.code.operands.iter().zip(&other.code.operands);
                        one.op() == other.op()
                            && types
                            && one.code.operands.len() == other.code.operands.len()
                            && { operands }.all(|(one, other)| self.is_same(one, other, depth - 1))
                    }
                    None => old == new,
                }
            }
            _ => old == new,
        }
    }
}

/// The length of the longest rising part of a sequence, not all of it in one piece.
fn longest_rising(places: &[usize]) -> usize {
    let mut ends: Vec<usize> = Vec::new();
    for place in places {
        let at = ends.partition_point(|end| end < place);
        match ends.get_mut(at) {
            Some(end) => *end = *place,
            None => ends.push(*place),
        }
    }
    ends.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::tests::shader;

    #[test]
    fn modules_differ_in_what_one_has_alone_in_order_and_in_operands() {
        let before = shader("OpStore %a %uint_1\nOpStore %b %uint_2");
        let same: Vec<(usize, usize)> = (0..before.len()).map(|at| (at, at)).collect();
        assert_eq!(of(&before, &before), 0);
        let renumbered = shader("OpStore %a %uint_1\nOpStore %b %uint_2").numbered_as(&before, &same);
        assert_eq!(of(&before, &renumbered), 0);
        let stores = before.len() - 4;
        // The stores changed places.
        let swapped: Vec<(usize, usize)> = same
            .iter()
            .map(|(old, new)| match *new {
                new if new == stores => (stores + 1, new),
                new if new == stores + 1 => (stores, new),
                new => (*old, new),
            })
            .collect();
        let moved = shader("OpStore %b %uint_2\nOpStore %a %uint_1").numbered_as(&before, &swapped);
        assert_eq!(of(&before, &moved), MOVED);
        let other = shader("OpStore %a %uint_1\nOpStore %b %uint_100").numbered_as(&before, &same);
        assert_eq!(of(&before, &other), OPERAND);
        let without: Vec<(usize, usize)> =
            (0..before.len()).filter(|at| *at != stores).zip(0..before.len() - 1).collect();
        let fewer = shader("OpStore %b %uint_2").numbered_as(&before, &without);
        assert_eq!(of(&before, &fewer), ALONE);
    }

    #[test]
    fn the_longest_rising_part_is_found() {
        assert_eq!(longest_rising(&[0, 1, 2]), 3);
        assert_eq!(longest_rising(&[3, 0, 1, 2]), 3);
        assert_eq!(longest_rising(&[2, 1, 0]), 1);
        assert_eq!(longest_rising(&[]), 0);
    }
}
