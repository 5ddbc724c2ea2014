//! Rewrites of SPIR-V modules, in three families: *weakenings*, each of which takes some
//! synchronisation away or breaks an order ([`weaken`]), *wrong* changes, each of which makes one mistake as a
//! broken optimiser might ([`wrong`]), and *preserving* rewrites, which change the text and not the
//! meaning ([`preserve`]).
//!
//! A translation validator has to catch the first two and to accept the third. All are written
//! behind one trait, [`Mutator`], one file each; wrong changes that are a table of opcodes share a file.
//!
//! To add one: its file in `weaken/`, `wrong/` or `preserve/`, its entry in [`WEAKENINGS`], [`WRONG`] or
//! [`PRESERVING`], a test of what it makes in the `tests.rs` beside; for a weakening, a module in
//! `corpus/mutants/` that has something for it. What the validator says of it is tested with the corpus
//! (`tests/mutants.rs`, `tests/preserving.rs`); wrong changes are for
//! `benches/power.rs`.
//!
//! ```no_run
//! use spirv_tv_mutators::{Module, Mutants, WEAKENINGS};
//! # fn words() -> Vec<u32> { Vec::new() }
//! let module = Module::load(&words(), Default::default())?;
//! let Mutants { valid, invalid } = Mutants::of(&module, WEAKENINGS, 0);
//! for mutant in valid {
//!     println!("{}: {} words", mutant.name(), mutant.module.words().len());
//! }
//! println!("{} mutants were invalid", invalid.len());
//! # Ok::<(), spirv_tv_mutators::LoadError>(())
//! ```

#![forbid(unsafe_code)]

mod flow;
pub mod generate;
mod memory;
mod module;
mod mutator;
pub mod preserve;
mod pure;
mod site;
pub mod strengthen;
pub mod weaken;
pub mod wrong;

pub use module::{LoadError, Module};
pub use mutator::{Mutant, Mutants, Mutator};
pub use preserve::PRESERVING;
pub use site::Site;
pub use strengthen::STRENGTHENING;
pub use weaken::WEAKENINGS;
pub use wrong::WRONG;
