//! Which mutants of a module are checked.

use spirv_tv_mutators::{Module, Mutant, WRONG};

/// How many mutants of one mutator are kept until it is known how many are needed.
const KEPT: usize = 12;

/// At most `count` valid mutants, from the mutators in turns; chance says which of each mutator, and which mutators
/// come first. Each module has its own chances, by its name.
pub fn draw(module: &Module, name: &str, count: usize, seed: u64) -> Vec<Mutant> {
    let mixed = name.bytes().fold(seed, |mixed, byte| mixed.wrapping_mul(0x0100_0000_01B3) ^ u64::from(byte));
    let mut chance = fastrand::Rng::with_seed(mixed);
    let mut kinds: Vec<Vec<Mutant>> = Vec::new();
    for mutator in WRONG {
        // Each of those seen so far stays with the same probability.
        let mut kept: Vec<Mutant> = Vec::new();
        for (seen, mutant) in mutator.mutants(module, seed).enumerate() {
            if kept.len() < KEPT {
                kept.push(mutant);
            } else if let Some(place) = kept.get_mut(chance.usize(..=seen)) {
                *place = mutant;
            }
        }
        chance.shuffle(&mut kept);
        kinds.push(kept);
    }
    chance.shuffle(&mut kinds);
    let mut drawn = Vec::new();
    while drawn.len() < count && kinds.iter().any(|kind| !kind.is_empty()) {
        for kind in &mut kinds {
            while let Some(mutant) = kind.pop() {
                if mutant.module.validate().is_ok() {
                    drawn.push(mutant);
                    break;
                }
            }
        }
    }
    drawn.truncate(count);
    drawn
}
