//! Which mistakes are planted in the result of a pass.

use std::collections::BTreeSet;

use spirv_tv_mutators::{Module, Mutant, WEAKENINGS, WRONG};

use crate::drawing::{chance, Drawing};
use crate::Options;

/// How many mutants of one mutator are kept at least until it is known how many are needed.
const KEPT: usize = 6;

/// Puts things in an order that depends on a name.
pub fn shuffle<T>(things: &mut [T], name: &str, seed: u64) {
    chance(name, seed).shuffle(things);
}

/// Some valid mutants at these positions (`Site::position`). Where one invocation is alone, none of them is a weakening.
pub fn draw(
    module: &Module,
    places: &BTreeSet<usize>,
    is_alone: bool,
    name: &str,
    options: &Options,
) -> Vec<Mutant> {
    let weakenings = if is_alone { &[] } else { WEAKENINGS };
    let mutators = WRONG.iter().chain(weakenings).copied().collect();
    let drawing = Drawing { mutators, kept: options.each.max(KEPT), count: options.each, seed: options.seed };
    let is_there = |mutant: &Mutant| mutant.site.is_some_and(|site| places.contains(&site.position));
    drawing.draw(module, &mut chance(name, options.seed), is_there)
}
