use rspirv::dr::{Block, Function};

use crate::flow::dominators;
use crate::{Module, Mutant, Mutator};

/// Puts the blocks of every function in another order, in which each one still stands behind those
/// that dominate it.
pub struct BlocksReordered;

impl Mutator for BlocksReordered {
    fn name(&self) -> &'static str {
        "blocks-reordered"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mutants = std::iter::once_with(move || {
            let mut changed = module.clone();
            let mut random = fastrand::Rng::with_seed(seed);
            for function in &mut changed.data.functions {
                reorder(function, &mut random);
            }
            Mutant { mutator: self.name(), site: None, what: String::new(), module: changed }
        });
        Box::new(mutants.filter(|mutant| mutant.module.words() != module.words()))
    }
}

fn reorder(function: &mut Function, random: &mut fastrand::Rng) {
    let dominators = dominators(function);
    let mut placed: Vec<usize> = Vec::new();
    let mut left: Vec<usize> = (0..dominators.len()).collect();
    while !left.is_empty() {
        let is_ready = |node: usize| {
            let mut others = dominators[node].iter().filter(|other| **other != node);
            others.all(|other| placed.contains(other))
        };
        let ready: Vec<usize> = (0..left.len()).filter(|index| is_ready(left[*index])).collect();
        // Unreachable blocks are never ready, and come last.
        let chosen = random.choice(&ready).copied().unwrap_or(0);
        placed.push(left.remove(chosen));
    }
    let mut blocks: Vec<Option<Block>> = function.blocks.drain(..).map(Some).collect();
    function.blocks = placed.into_iter().filter_map(|index| blocks[index].take()).collect();
}
