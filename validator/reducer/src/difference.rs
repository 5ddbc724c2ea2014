//! How much two modules differ. What is reduced of a pair is the mistake between them: no edit may make another one of it.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::module::{is_constant, is_name, is_type, Inst, Key, Module};

/// In what two modules differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Instructions that only one module has.
    pub(crate) alone: u64,
    /// Instructions that have another opcode.
    pub(crate) changed: u64,
    /// Instructions that stand elsewhere.
    pub(crate) moved: u64,
    /// Operands that are others.
    pub(crate) operands: u64,
}

impl Difference {
    /// How much that is.
    pub(crate) fn cost(self) -> u64 {
        3 * (self.alone + self.changed) + 2 * self.moved + self.operands
    }

    /// Whether it has nothing that the other one does not have.
    pub(crate) fn is_within(self, other: Difference) -> bool {
        self.alone <= other.alone
            && self.changed <= other.changed
            && self.moved <= other.moved
            && self.operands <= other.operands
    }
}

/// How deep types and constants are compared.
const DEPTH: usize = 8;

/// Whether an instruction counts by itself: types and constants count where they are used.
fn counts(inst: &Inst) -> bool {
    !is_type(inst.op()) && !is_constant(inst.op()) && !is_name(inst.op())
}

/// How much two modules differ, whose keys say what corresponds.
pub(crate) fn of(before: &Module, after: &Module) -> Difference {
    let old: FxHashMap<Key, (usize, &Inst)> = before
        .insts
        .iter()
        .enumerate()
        .filter(|(_, inst)| counts(inst))
        .map(|(at, inst)| (inst.key, (at, inst)))
        .collect();
    let both = Both { before: before.definitions(), after: after.definitions() };
    let mut difference = Difference::default();
    let mut places: Vec<usize> = Vec::new();
    let mut known: FxHashSet<Key> = FxHashSet::default();
    for inst in after.insts.iter().filter(|inst| counts(inst)) {
        match old.get(&inst.key) {
            Some((at, other)) => {
                places.push(*at);
                known.insert(inst.key);
                both.note(other, inst, &mut difference);
            }
            None => difference.alone += 1,
        }
    }
    let alone = old.keys().filter(|key| !known.contains(key)).count();
    let moved = places.len() - longest_rising(&places);
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    Difference { alone: difference.alone + count(alone), moved: count(moved), ..difference }
}

/// How many instructions others may see: accesses of memory that is not the invocation's own, and barriers.
pub(crate) fn visible(module: &Module) -> usize {
    let definitions = module.definitions();
    let is_shared = |pointer: Option<Word>| {
        let ty = pointer.and_then(|id| definitions.get(&id)).and_then(|inst| inst.code.result_type);
        let class = ty.and_then(|ty| definitions.get(&ty)).and_then(|ty| ty.code.operands.first());
        let own = [
            StorageClass::Function,
            StorageClass::Private,
            StorageClass::Input,
            StorageClass::UniformConstant,
        ];
        !own.iter().any(|own| class == Some(&Operand::StorageClass(*own)))
    };
    let is_visible = |inst: &&Inst| match inst.op() {
        Op::Load | Op::Store | Op::CopyMemory => is_shared(inst.id(0)),
        Op::ImageRead | Op::ImageWrite | Op::ControlBarrier | Op::MemoryBarrier => true,
        op => format!("{op:?}").starts_with("Atomic"),
    };
    module.insts.iter().filter(is_visible).count()
}

struct Both<'m> {
    before: FxHashMap<Word, &'m Inst>,
    after: FxHashMap<Word, &'m Inst>,
}

impl Both<'_> {
    /// Notes what two instructions that correspond differ in.
    fn note(&self, old: &Inst, new: &Inst, difference: &mut Difference) {
        if old.code == new.code {
            return;
        }
        if old.op() != new.op() {
            difference.changed += 1;
            return;
        }
        let longest = old.code.operands.len().max(new.code.operands.len());
        let other = (0..longest).filter(|index| {
            let operands = [old.code.operands.get(*index), new.code.operands.get(*index)];
            match operands {
                [Some(old), Some(new)] => !self.is_same(old, new, DEPTH),
                _ => true,
            }
        });
        difference.operands += u64::try_from(other.count()).unwrap_or(u64::MAX);
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
        let none = Difference::default();
        assert_eq!(of(&before, &before), none);
        let renumbered = shader("OpStore %a %uint_1\nOpStore %b %uint_2").numbered_as(&before, &same);
        assert_eq!(of(&before, &renumbered), none);
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
        assert_eq!(of(&before, &moved), Difference { moved: 1, ..none });
        let other = shader("OpStore %a %uint_1\nOpStore %b %uint_100").numbered_as(&before, &same);
        assert_eq!(of(&before, &other), Difference { operands: 1, ..none });
        let atomic = shader("OpAtomicStore %a %uint_1 %uint_0 %uint_1\nOpStore %b %uint_2")
            .numbered_as(&before, &same);
        assert_eq!(of(&before, &atomic), Difference { changed: 1, ..none });
        let without: Vec<(usize, usize)> =
            (0..before.len()).filter(|at| *at != stores).zip(0..before.len() - 1).collect();
        let fewer = shader("OpStore %b %uint_2").numbered_as(&before, &without);
        assert_eq!(of(&before, &fewer), Difference { alone: 1, ..none });
    }

    #[test]
    fn the_longest_rising_part_is_found() {
        assert_eq!(longest_rising(&[0, 1, 2]), 3);
        assert_eq!(longest_rising(&[3, 0, 1, 2]), 3);
        assert_eq!(longest_rising(&[2, 1, 0]), 1);
        assert_eq!(longest_rising(&[]), 0);
    }
}
