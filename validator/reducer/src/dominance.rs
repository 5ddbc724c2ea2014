//! Which values are there where an instruction stands.

use std::ops::Range;

use rspirv::spirv::Word;
use rustc_hash::FxHashMap;

use crate::flow::{targets, Block};
use crate::module::Module;

/// The blocks of a function, with those that lie on every way to each of them.
pub(crate) struct Dominance {
    pub(crate) blocks: Vec<Block>,
    /// For each block the one that is passed last on every way to it; itself for the first one, nothing where no way leads.
    parents: Vec<Option<usize>>,
}

impl Dominance {
    /// Of a function of a module (Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm).
    pub(crate) fn of(module: &Module, function: &Range<usize>) -> Self {
        let blocks = module.blocks(function);
        let by_label: FxHashMap<Word, usize> =
            blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
        let next: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| {
                let labels = module.terminator(block).map(targets).unwrap_or_default();
                labels.iter().filter_map(|label| by_label.get(label).copied()).collect()
            })
            .collect();
        let order = reverse_postorder(&next);
        let mut rank = vec![usize::MAX; blocks.len()];
        for (number, block) in order.iter().enumerate() {
            rank.get_mut(*block).into_iter().for_each(|rank| *rank = number);
        }
        let mut parents: Vec<Option<usize>> = vec![None; blocks.len()];
        parents.first_mut().into_iter().for_each(|first| *first = Some(0));
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
        for (from, all) in next.iter().enumerate() {
            all.iter().filter_map(|to| Some((*to, rank.get(from)?))).for_each(|(to, rank)| {
                let known = predecessors.get_mut(to).filter(|_| *rank != usize::MAX);
                known.into_iter().for_each(|known| known.push(from));
            });
        }
        let meet = |parents: &[Option<usize>], mut one: usize, mut other: usize| {
            while one != other {
                let later = if rank.get(one) > rank.get(other) { &mut one } else { &mut other };
                *later = parents.get(*later).copied().flatten()?;
            }
            Some(one)
        };
        loop {
            let mut is_changed = false;
            for block in order.iter().skip(1) {
                let known = predecessors.get(*block).into_iter().flatten();
                let mut known = known.filter(|from| parents.get(**from).copied().flatten().is_some());
                let Some(first) = known.next() else { continue };
                let new = known.try_fold(*first, |one, other| meet(&parents, one, *other));
                if let Some(parent) = parents.get_mut(*block).filter(|parent| **parent != new) {
                    *parent = new;
                    is_changed = true;
                }
            }
            if !is_changed {
                return Dominance { blocks, parents };
            }
        }
    }

    /// The ranges of instructions that were executed when the one at this index is: those of its own block in front of it,
    /// and then those of the blocks on every way to it, the nearest first.
    pub(crate) fn before(&self, index: usize) -> Vec<Range<usize>> {
        let Some(mut at) = self.blocks.iter().position(|block| block.range.contains(&index)) else {
            return Vec::new();
        };
        let mut all: Vec<Range<usize>> =
            self.blocks.get(at).map(|block| block.range.start..index).into_iter().collect();
        while let Some(parent) = self.parents.get(at).copied().flatten().filter(|parent| *parent != at) {
            all.extend(self.blocks.get(parent).map(|block| block.range.clone()));
            at = parent;
        }
        all
    }
}

/// The blocks that are reached from the first one, each in front of those that it alone leads to.
fn reverse_postorder(next: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut order = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        open.push((0, 0));
    }
    while let Some((block, number)) = open.last_mut() {
        match next.get(*block).and_then(|all| all.get(*number)) {
            Some(to) => {
                *number += 1;
                if let Some(seen) = seen.get_mut(*to).filter(|seen| !**seen) {
                    *seen = true;
                    open.push((*to, 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::tests::shader;

    #[test]
    fn what_lies_on_every_way_is_found() {
        let module = shader(
            "OpBranch %header
            %header = OpLabel
            OpLoopMerge %out %continue None
            OpBranchConditional %true %left %out
            %left = OpLabel
            OpSelectionMerge %joined None
            OpBranchConditional %true %then %joined
            %then = OpLabel
            OpBranch %joined
            %joined = OpLabel
            OpBranch %continue
            %continue = OpLabel
            OpBranch %header
            %out = OpLabel",
        );
        let function = module.functions().remove(0);
        let dominance = Dominance::of(&module, &function);
        let number = |block: usize| {
            let before = dominance.before(dominance.blocks[block].range.end - 1);
            let starts: Vec<usize> = dominance.blocks.iter().map(|block| block.range.start).collect();
            let blocks = before.iter().map(|range| starts.iter().position(|start| *start == range.start));
            blocks.map(|block| block.unwrap()).collect::<Vec<_>>()
        };
        // entry, header, left, then, joined, continue, out
        assert_eq!(number(5), [5, 4, 2, 1, 0]);
        assert_eq!(number(3), [3, 2, 1, 0]);
        assert_eq!(number(6), [6, 1, 0]);
    }
}
