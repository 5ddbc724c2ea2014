//! Which mutants of a module are checked.

use spirv_tv_mutators::{Module, Mutant, WRONG};

use crate::drawing::{chance, Drawing};

/// At most `count` valid mutants. Each module has its own chances, by its name.
pub fn draw(module: &Module, name: &str, count: usize, seed: u64) -> Vec<Mutant> {
    let drawing = Drawing { mutators: WRONG.to_vec(), kept: 12, count, seed };
    drawing.draw(module, &mut chance(name, seed), |_| true)
}
