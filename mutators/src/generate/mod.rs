//! Compute programs from seeds, free of undefined behaviour by construction.
//!
//! [`GENERATORS`] lists what can be generated. The same generator and seed give the same program in every run of one
//! version of this crate. Every program
//! - is valid for Vulkan 1.3, with the entry point `main`;
//! - has no data race and no other undefined behaviour on the launch that it names, which includes the bytes of its
//!   buffers: there are no divisions by zero, no shifts by too much, no accesses out of bounds, no divergent barriers;
//! - has exactly one outcome on that launch, whatever the order in which invocations run: floats hold whole numbers on
//!   which every operation is exact;
//! - ends after at most a few hundred turns of loops per invocation;
//! - writes what it computed to buffers, so that a wrong result shows.
//!
//! ```no_run
//! use spirv_tv_mutators::generate::GENERATORS;
//! for generator in GENERATORS {
//!     let program = generator.generate(1);
//!     println!("{}: {} words, {:?} workgroups", generator.name(), program.words.len(), program.workgroups);
//! }
//! ```

mod build;
mod expression;
mod interface;
mod kernel;
mod layout;
mod statement;
#[cfg(any(test, feature = "proptest"))]
mod strategy;
mod structured;
mod types;
mod words;

#[cfg(any(test, feature = "proptest"))]
pub use strategy::{any_program, programs};

/// Every generator.
pub const GENERATORS: &[&dyn Generator] = structured::ALL;

/// Makes programs of one kind.
pub trait Generator: Sync {
    /// In kebab case, unique among [`GENERATORS`].
    fn name(&self) -> &'static str;

    /// What its programs are made of, in a line of plain English.
    fn about(&self) -> &'static str;

    /// The program of a seed.
    fn generate(&self, seed: u64) -> Program;
}

/// A compute program and the launch for which it is free of undefined behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The module, valid for Vulkan 1.3, with the entry point `main`.
    pub words: Vec<u32>,
    /// The number of workgroups in each dimension; none is 0.
    pub workgroups: [u32; 3],
    /// The number of invocations in a subgroup that the outcome depends on; `None` where it depends on none.
    pub subgroup_size: Option<u32>,
    /// The storage buffers, by set and binding. Each is exactly as long as the program needs it.
    pub buffers: Vec<Buffer>,
    /// The push constants; empty where the module has none.
    pub push_constants: Vec<u8>,
    /// Values of specialisation constants of 32 bits, by SpecId. The others keep their defaults.
    pub specialisation: Vec<(u32, u32)>,
}

/// A storage buffer of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// DescriptorSet.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// What it holds at first; a multiple of 4 bytes long.
    pub bytes: Vec<u8>,
}

/// The generator of this name.
pub fn generator(name: &str) -> Option<&'static dyn Generator> {
    GENERATORS.iter().copied().find(|generator| generator.name() == name)
}

#[cfg(test)]
mod tests;
