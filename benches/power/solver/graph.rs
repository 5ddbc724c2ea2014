//! The control-flow graph that both functions share.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Function, Operand};
use rspirv::spirv::{Op, Word};

/// Blocks by their places in the function.
pub struct Graph {
    pub labels: HashMap<Word, usize>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// The immediate dominator of each block that is reached.
    dominators: Vec<Option<usize>>,
}

impl Graph {
    pub fn of(function: &Function) -> Self {
        let labels: HashMap<Word, usize> =
            (0..).zip(&function.blocks).filter_map(|(at, block)| Some((block.label_id()?, at))).collect();
        let targets = |block: &rspirv::dr::Block| {
            let end = block.instructions.last();
            let operands = end.filter(|inst| is_branch(inst.class.opcode)).map(|inst| &inst.operands);
            let ids = operands.into_iter().flatten().filter_map(|operand| match operand {
                Operand::IdRef(id) => labels.get(id).copied(),
                _ => None,
            });
            ids.collect::<Vec<usize>>()
        };
        let successors: Vec<Vec<usize>> = function.blocks.iter().map(targets).collect();
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (from, targets) in successors.iter().enumerate() {
            targets.iter().for_each(|to| predecessors[*to].push(from));
        }
        let dominators = dominators(&successors, &predecessors);
        Graph { labels, successors, predecessors, dominators }
    }

    pub fn successors(&self, block: usize) -> &[usize] {
        &self.successors[block]
    }

    pub fn predecessors(&self, block: usize) -> &[usize] {
        &self.predecessors[block]
    }

    /// The block and those that dominate it, from the inside out.
    pub fn dominating(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(block), |at| self.dominators[*at].filter(|up| up != at))
    }

    /// The loop with this header, if it has one way back: where that begins, and all blocks.
    pub fn natural_loop(&self, header: usize) -> Option<(usize, HashSet<usize>)> {
        let is_back = |from: &&usize| self.dominating(**from).any(|up| up == header);
        let mut back = self.predecessors(header).iter().filter(is_back);
        let latch = *back.next().filter(|_| back.next().is_none())?;
        let mut inside = HashSet::from([header]);
        let mut next = vec![latch];
        while let Some(block) = next.pop() {
            if inside.insert(block) {
                next.extend(self.predecessors(block));
            }
        }
        Some((latch, inside))
    }

    /// Whether control may come back to a block.
    pub fn is_in_loop(&self, block: usize) -> bool {
        self.reached(block, None).contains(&block)
    }

    /// Whether control comes from one block to another one before it ends.
    pub fn must_pass(&self, from: usize, by: usize) -> bool {
        let others = self.reached(from, Some(by));
        from != by && others.iter().all(|block| !self.successors(*block).is_empty())
    }

    /// The blocks that are reached from one, but not by way of another one.
    fn reached(&self, from: usize, without: Option<usize>) -> HashSet<usize> {
        let (mut found, mut next) = (HashSet::new(), vec![from]);
        while let Some(block) = next.pop() {
            let new = self.successors(block).iter().filter(|to| Some(**to) != without);
            next.extend(new.copied().filter(|to| found.insert(*to)));
        }
        found
    }

    /// The only block that this one is entered from.
    pub fn entered_from(&self, block: usize) -> Option<usize> {
        match self.predecessors[block][..] {
            [from] => Some(from),
            _ => None,
        }
    }
}

pub fn is_branch(opcode: Op) -> bool {
    matches!(opcode, Op::Branch | Op::BranchConditional | Op::Switch)
}

/// As Cooper, Harvey and Kennedy compute them.
fn dominators(successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    let mut stack = vec![(0, 0)];
    if let Some(first) = seen.first_mut() {
        *first = true;
    }
    while let Some((block, next)) = stack.pop() {
        match successors.get(block).and_then(|targets| targets.get(next)) {
            Some(target) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[*target], true) {
                    stack.push((*target, 0));
                }
            }
            None => order.push(block),
        }
    }
    let mut number = vec![0; successors.len().max(1)];
    order.iter().enumerate().for_each(|(at, block)| number[*block] = at);
    let mut found: Vec<Option<usize>> = vec![None; successors.len().max(1)];
    found[0] = Some(0);
    loop {
        let mut changed = false;
        for block in order.iter().rev().copied().filter(|block| *block != 0) {
            let known = predecessors[block].iter().copied().filter(|from| found[*from].is_some());
            let meet = known.reduce(|mut one, mut other| {
                while one != other {
                    while number[one] < number[other] {
                        one = found[one].unwrap();
                    }
                    while number[other] < number[one] {
                        other = found[other].unwrap();
                    }
                }
                one
            });
            changed |= found[block] != meet;
            found[block] = meet;
        }
        if !changed {
            return found;
        }
    }
}
