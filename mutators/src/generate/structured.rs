//! Sequential programs with structure: each generator has features of its own.

use super::kernel::Kernel;
use super::types::{Ty, INT, UINT};
use super::{Generator, Program};

/// What programs of a generator are made of.
#[derive(Clone, Copy)]
pub(super) struct Features {
    name: &'static str,
    about: &'static str,
    /// Statements of the entry point.
    pub statements: u32,
    /// Widths of integers.
    pub integers: &'static [u32],
    /// Selections, switches, loops.
    pub flow: bool,
}

impl Generator for Features {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn generate(&self, seed: u64) -> Program {
        Kernel::program(*self, seed)
    }
}

/// Integers under control flow.
const CONTROL_FLOW: Features = Features {
    name: "control-flow",
    about: "integers of 32 bits under nested selections, switches and loops with breaks and continues",
    statements: 28,
    integers: &[32],
    flow: true,
};

/// Every one.
pub(super) const ALL: &[&dyn Generator] = &[&CONTROL_FLOW];

impl Kernel {
    /// The types of the program's variables.
    pub(super) fn types(&mut self) -> Vec<Ty> {
        let mut types = vec![UINT, UINT, INT];
        for &width in self.features.integers {
            types.push(Ty::Int { width, signed: self.random.bool() });
        }
        types
    }
}
