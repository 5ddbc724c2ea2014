//! The generators: each has features of its own.

use super::kernel::Kernel;
use super::types::{Ty, INT, UINT};
use super::{words, Generator, Program};

/// What programs of a generator are made of.
#[derive(Clone, Copy)]
pub(super) struct Features {
    name: &'static str,
    about: &'static str,
    /// Statements of the entry point.
    pub statements: u32,
    /// Widths of integers, in bits.
    pub integers: &'static [u32],
    /// Widths of floats, in bits.
    pub floats: &'static [u32],
    /// Vectors.
    pub vectors: bool,
    /// Arrays, structs and, with floats of 32 bits, matrices.
    pub composites: bool,
    /// Selections, switches, loops.
    pub flow: bool,
    /// Functions that the entry point calls.
    pub functions: bool,
    /// Push constants and specialisation constants.
    pub constants: bool,
    /// A buffer of structs with a layout.
    pub memory: bool,
    /// Values handed to other invocations of the workgroup through memory, with barriers.
    pub exchange: bool,
    /// Atomics in buffers and Workgroup variables.
    pub atomics: bool,
    /// Operations of subgroups.
    pub subgroups: bool,
    /// Among them reductions of clusters of a subgroup, which not every device has.
    pub clusters: bool,
}

/// The least: 32-bit integers in one block.
const LEAST: Features = Features {
    name: "",
    about: "",
    statements: 24,
    integers: &[32],
    floats: &[],
    vectors: false,
    composites: false,
    flow: false,
    functions: false,
    constants: false,
    memory: false,
    exchange: false,
    atomics: false,
    subgroups: false,
    clusters: false,
};

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

const CONTROL_FLOW: Features = Features {
    name: "control-flow",
    about: "integers of 32 bits under nested selections, switches and loops with breaks and continues",
    statements: 28,
    flow: true,
    ..LEAST
};

const INTEGERS: Features = Features {
    name: "integers",
    about: "every operation on integers of 8 to 64 bits and on vectors of them",
    integers: &[8, 16, 32, 64],
    vectors: true,
    ..LEAST
};

const FLOATS: Features = Features {
    name: "floats",
    about: "floats of 16 to 64 bits that hold whole numbers, vectors and matrices of them, without rounding",
    integers: &[32, 16],
    floats: &[16, 32, 64],
    vectors: true,
    composites: true,
    ..LEAST
};

const COMPOSITES: Features = Features {
    name: "composites",
    about: "arrays, structs, vectors and matrices, whose members are read and written by constant and computed indices",
    floats: &[32],
    vectors: true,
    composites: true,
    flow: true,
    ..LEAST
};

const FUNCTIONS: Features = Features {
    name: "functions",
    about:
        "functions with parameters by value and by pointer, early returns, and variables of the whole module",
    vectors: true,
    composites: true,
    flow: true,
    functions: true,
    ..LEAST
};

const CONSTANTS: Features = Features {
    name: "constants",
    about: "push constants, specialisation constants and operations on them, in arithmetic and in conditions",
    flow: true,
    vectors: true,
    constants: true,
    ..LEAST
};

const MEMORY: Features = Features {
    name: "memory",
    about: "a buffer of structs with members of many types and widths, which each invocation reads and writes its own of",
    integers: &[8, 16, 32, 64],
    floats: &[16, 32, 64],
    vectors: true,
    composites: true,
    memory: true,
    ..LEAST
};

const EXCHANGE: Features = Features {
    name: "exchange",
    about: "values handed to other invocations of a workgroup through Workgroup variables and buffers, with barriers",
    vectors: true,
    flow: true,
    exchange: true,
    ..LEAST
};

const ATOMICS: Features = Features {
    name: "atomics",
    about: "atomics whose order does not matter, on counters of the dispatch and of a workgroup",
    flow: true,
    atomics: true,
    ..LEAST
};

const SUBGROUPS: Features = Features {
    name: "subgroups",
    about: "votes, ballots, shuffles, reductions and scans of subgroups of 8, all of which take part",
    flow: true,
    vectors: true,
    subgroups: true,
    ..LEAST
};

const CLUSTERS: Features = Features {
    name: "clusters",
    about:
        "operations of subgroups as well, with reductions of clusters, which need a capability of their own",
    clusters: true,
    ..SUBGROUPS
};

const MIXED: Features = Features {
    name: "mixed",
    about: "something of everything, but subgroups",
    statements: 36,
    integers: &[16, 32, 64],
    floats: &[32],
    vectors: true,
    composites: true,
    flow: true,
    functions: true,
    constants: true,
    memory: true,
    exchange: true,
    atomics: true,
    ..LEAST
};

/// Every one.
pub(super) const ALL: &[&dyn Generator] = &[
    &CONTROL_FLOW,
    &INTEGERS,
    &FLOATS,
    &COMPOSITES,
    &FUNCTIONS,
    &CONSTANTS,
    &MEMORY,
    &EXCHANGE,
    &ATOMICS,
    &SUBGROUPS,
    &CLUSTERS,
    &MIXED,
];

impl Kernel {
    /// The types of the program's variables.
    pub(super) fn types(&mut self) -> Vec<Ty> {
        let mut scalars = vec![UINT, INT];
        for &width in self.features.integers {
            scalars.push(Ty::Int { width, signed: self.random.bool() });
        }
        scalars.extend(self.features.floats.iter().copied().map(Ty::Float));
        let mut types = scalars.clone();
        types.push(Ty::Bool);
        if self.features.vectors {
            for _ in 0..3 {
                let scalar = self.random.choice(&scalars).cloned().unwrap_or(UINT);
                types.push(Ty::vector(scalar, self.random.u32(2..5)));
            }
        }
        if self.features.composites {
            if self.features.floats.contains(&32) {
                types.push(Ty::Matrix(self.random.u32(2..5), self.random.u32(2..5)));
            }
            for _ in 0..2 {
                let of = self.random.choice(&types).cloned().unwrap_or(UINT);
                types.push(Ty::Array(Box::new(of), self.random.u32(2..5)));
                let members = (0..self.random.u32(1..4))
                    .map(|_| self.random.choice(&types).cloned().unwrap_or(INT))
                    .collect();
                types.push(Ty::Struct(members));
            }
        }
        types.extend([UINT, UINT]);
        // Deep composites have many words.
        types.retain(|ty| words::count(ty) <= 32);
        types
    }
}
