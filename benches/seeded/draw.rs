//! Which mistakes are planted in the result of a pass.

use std::collections::BTreeSet;

use spirv_tv_mutators::{Module, Mutant, WEAKENINGS, WRONG};

use crate::Options;

/// How many mutants of one mutator are kept until it is known how many are needed.
const KEPT: usize = 6;

/// Chance that depends on a name.
fn chance(name: &str, seed: u64) -> fastrand::Rng {
    let mixed = name.bytes().fold(seed, |mixed, byte| mixed.wrapping_mul(0x0100_0000_01B3) ^ u64::from(byte));
    fastrand::Rng::with_seed(mixed)
}

/// Puts things in an order that depends on a name.
pub fn shuffle<T>(things: &mut [T], name: &str, seed: u64) {
    chance(name, seed).shuffle(things);
}

/// Some valid mutants at these positions (`Site::position`), from the mutators in turns; chance says which of each
/// mutator, and which mutators come first. Where one invocation is alone, none of them is a weakening.
pub fn draw(
    module: &Module,
    places: &BTreeSet<usize>,
    is_alone: bool,
    name: &str,
    options: &Options,
) -> Vec<Mutant> {
    let Options { each: count, seed, .. } = *options;
    let mut chance = chance(name, seed);
    let mut kinds: Vec<Vec<Mutant>> = Vec::new();
    let weakenings = if is_alone { &[] } else { WEAKENINGS };
    for mutator in WRONG.iter().chain(weakenings) {
        let is_there = |mutant: &Mutant| mutant.site.is_some_and(|site| places.contains(&site.position));
        // Each of those seen so far stays with the same probability.
        let mut kept: Vec<Mutant> = Vec::new();
        for (seen, mutant) in mutator.mutants(module, seed).filter(is_there).enumerate() {
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
