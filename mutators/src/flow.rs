//! Control flow of a function, as far as rewrites of it need.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::dr::{Block, Function, Instruction, Operand};
use rspirv::spirv::{Op, Word};

/// The labels that an instruction names: targets of branches and, if `structural`, merge blocks and
/// continue targets.
fn labels(inst: &Instruction, structural: bool) -> Vec<Word> {
    // Ids that are no labels (conditions, selectors) are no blocks either, and drop out later.
    let names_labels = match inst.class.opcode {
        Op::Branch | Op::BranchConditional | Op::Switch => true,
        Op::SelectionMerge | Op::LoopMerge => structural,
        _ => false,
    };
    let operands = if names_labels { inst.operands.as_slice() } else { &[] };
    operands.iter().filter_map(Operand::id_ref_any).collect()
}

/// Whether the block begins a loop.
pub(crate) fn is_loop_header(block: &Block) -> bool {
    block.instructions.iter().any(|inst| inst.class.opcode == Op::LoopMerge)
}

/// The blocks of a function's continue constructs: from a continue target on to the branch back. They may not be left
/// in another way.
pub(crate) fn continue_constructs(function: &Function) -> BTreeSet<Word> {
    let blocks: BTreeMap<Word, &Block> =
        function.blocks.iter().filter_map(|block| Some((block.label_id()?, block))).collect();
    let mut found = BTreeSet::new();
    for (header, block) in &blocks {
        let merge = block.instructions.iter().find(|inst| inst.class.opcode == Op::LoopMerge);
        let targets: Vec<Word> =
            merge.iter().flat_map(|inst| &inst.operands).filter_map(Operand::id_ref_any).collect();
        let &[merge, first] = targets.as_slice() else { continue };
        let mut left = vec![first];
        while let Some(label) = left.pop() {
            if label != *header && label != merge && found.insert(label) {
                let code = blocks.get(&label).map_or(&[][..], |block| &block.instructions);
                left.extend(
                    code.iter().flat_map(|inst| labels(inst, true)).filter(|id| blocks.contains_key(id)),
                );
            }
        }
    }
    found
}

/// Whether the block combines an image and a sampler, which has to be used in the same block.
pub(crate) fn combines_image(block: &Block) -> bool {
    block.instructions.iter().any(|inst| inst.class.opcode == Op::SampledImage)
}

/// Where the last instructions of a block begin that must stay together: a merge and a branch.
pub(crate) fn tail(block: &Block) -> usize {
    let merge = { block.instructions.iter() }
        .position(|inst| matches!(inst.class.opcode, Op::SelectionMerge | Op::LoopMerge));
    merge.unwrap_or(block.instructions.len().saturating_sub(1))
}

/// How many instructions must stay first in a block: variables and OpPhi, with the lines that they come from.
pub(crate) fn head(block: &Block) -> usize {
    let bound = |inst: &Instruction| matches!(inst.class.opcode, Op::Variable | Op::Phi);
    block.instructions.iter().rposition(bound).map_or(0, |last| last + 1)
}

/// In every OpPhi of these blocks, the way from `from` becomes one from `to`.
pub(crate) fn rename_phi_sources(blocks: &mut [Block], from: Word, to: Word) {
    let phis = { blocks.iter_mut() }
        .flat_map(|block| &mut block.instructions)
        .filter(|inst| inst.class.opcode == Op::Phi);
    for phi in phis {
        for operand in phi.operands.iter_mut().skip(1).step_by(2) {
            if *operand == Operand::IdRef(from) {
                *operand = Operand::IdRef(to);
            }
        }
    }
}

/// Per block of a function, the blocks that dominate it, itself included. What dominates a block
/// that cannot be reached is told by the structure: there, merge blocks and continue targets count as
/// successors of their header. A block that is not reached that way either is dominated by all.
pub(crate) fn dominators(function: &Function) -> Vec<BTreeSet<usize>> {
    let real = Graph::of(function, false);
    let structural = Graph::of(function, true).dominators();
    let reachable = real.reachable();
    let both = real.dominators().into_iter().zip(structural).enumerate();
    both.map(|(node, (real, structural))| if reachable.contains(&node) { real } else { structural }).collect()
}

/// The blocks of a function as a graph, with the entry as node 0.
struct Graph {
    predecessors: Vec<BTreeSet<usize>>,
}

impl Graph {
    fn of(function: &Function, structural: bool) -> Self {
        let blocks = function.blocks.iter().enumerate();
        let index: BTreeMap<Word, usize> =
            blocks.clone().filter_map(|(index, block)| Some((block.label_id()?, index))).collect();
        let mut predecessors = vec![BTreeSet::new(); function.blocks.len()];
        for (from, block) in blocks {
            for label in block.instructions.iter().flat_map(|inst| labels(inst, structural)) {
                if let Some(&to) = index.get(&label) {
                    predecessors[to].insert(from);
                }
            }
        }
        Graph { predecessors }
    }

    fn reachable(&self) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([0]);
        loop {
            let nodes = self.predecessors.iter().enumerate();
            let next = nodes.filter(|(_, from)| !from.is_disjoint(&reached)).map(|(node, _)| node);
            let known = reached.len();
            reached = next.chain([0]).collect();
            if reached.len() == known {
                return reached;
            }
        }
    }

    fn dominators(&self) -> Vec<BTreeSet<usize>> {
        let all: BTreeSet<usize> = (0..self.predecessors.len()).collect();
        let mut dominators = vec![all; self.predecessors.len()];
        if let Some(entry) = dominators.first_mut() {
            *entry = BTreeSet::from([0]);
        }
        loop {
            let mut changed = false;
            for node in 1..dominators.len() {
                let mut sets = self.predecessors[node].iter().map(|from| &dominators[*from]);
                let Some(first) = sets.next().cloned() else { continue };
                let mut common = sets.fold(first, |common, set| &common & set);
                common.insert(node);
                changed |= common != dominators[node];
                dominators[node] = common;
            }
            if !changed {
                return dominators;
            }
        }
    }
}
