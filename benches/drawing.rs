//! Which mutants of a module are tried, for the benchmarks that plant mistakes.

use fastrand::Rng;
use spirv_tv_mutators::{Module, Mutant, Mutator};

/// Chance that depends on a name.
pub fn chance(name: &str, seed: u64) -> Rng {
    let mixed = name.bytes().fold(seed, |mixed, byte| mixed.wrapping_mul(0x0100_0000_01B3) ^ u64::from(byte));
    Rng::with_seed(mixed)
}

/// How many are drawn, and of which.
pub struct Drawing<'a> {
    pub mutators: Vec<&'a dyn Mutator>,
    /// How many mutants of one mutator are kept until it is known how many are needed.
    pub kept: usize,
    pub count: usize,
    pub seed: u64,
}

impl Drawing<'_> {
    /// At most `count` valid mutants that are wanted, from the mutators in turns; chance says which of each mutator, and
    /// which mutators come first.
    pub fn draw(
        &self,
        module: &Module,
        chance: &mut Rng,
        is_wanted: impl Fn(&Mutant) -> bool,
    ) -> Vec<Mutant> {
        let mut kinds: Vec<Vec<Mutant>> = Vec::new();
        for mutator in &self.mutators {
            // Each of those seen so far stays with the same probability.
            let mut kept: Vec<Mutant> = Vec::new();
            for (seen, mutant) in mutator.mutants(module, self.seed).filter(&is_wanted).enumerate() {
                if kept.len() < self.kept {
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
        while drawn.len() < self.count && kinds.iter().any(|kind| !kind.is_empty()) {
            for kind in &mut kinds {
                while let Some(mutant) = kind.pop() {
                    if mutant.module.validate().is_ok() {
                        drawn.push(mutant);
                        break;
                    }
                }
            }
        }
        drawn.truncate(self.count);
        drawn
    }
}
