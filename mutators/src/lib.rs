//! Rewrites of SPIR-V modules: *weakenings*, each of which takes some synchronisation away or breaks an order
//! ([`weaken`]), *wrong* changes, each of which makes one mistake as a broken optimiser might ([`wrong`]), *preserving*
//! rewrites, which change the text and not the meaning ([`preserve`], and [`donor`] with functions of other modules), and
//! *strengthenings*, which add synchronisation ([`strengthen`]). And programs from seeds ([`generate`]).
//!
//! A translation validator has to catch the first two and to accept the others: a preserving rewrite and its module
//! refine each other, a strengthening refines its module. All are written
//! behind one trait, [`Mutator`], one file each; changes that are alike share a file.
//!
//! [`litmus`] has programs whose roles communicate.
//!
//! To add one: its file in `weaken/`, `wrong/`, `preserve/` or `strengthen/`, its entry in [`WEAKENINGS`], [`WRONG`],
//! [`PRESERVING`] or [`STRENGTHENING`], a test of what it makes in the `tests.rs` beside; for a weakening, a module in
//! `corpus/mutants/` that has something for it. What the validator says of it is tested with the corpus and with
//! generated programs (`tests/mutants.rs`, `tests/preserving.rs`, `tests/generated.rs`); wrong changes are for
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

pub mod donor;
mod flow;
pub mod generate;
pub mod litmus;
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
pub use wrong::{with_zeros, CLEARED, SIGNED_ZERO, WIDENED_COMPARISON, WRONG};
