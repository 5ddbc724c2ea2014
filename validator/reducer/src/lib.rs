//! Makes SPIR-V modules smaller while something stays as it is.
//!
//! A [`Case`] is one module, or two that belong together, with what they are launched on. An [`Oracle`] says whether a case
//! still shows what it is about. [`reduce`] tries [`Edit`]s, family by family and in chunks that are halved (delta
//! debugging), and those of some families one by one once nothing else helps, until no single edit is left that makes the case
//! smaller and that the oracle accepts.
//!
//! In a pair corresponding instructions have one [`Key`], so that an edit is made in both modules
//! ([`Module::numbered_as`]). Where that does not do, it is tried in each of them alone. No edit may make the modules differ in
//! more than they did: the mistake that is reduced would become another one. What an edit adds to both has one key as well.
//!
//! What edits make need not be valid: the rules of validation are not repeated here. The oracle refuses what is invalid.
//!
//! To add an edit: a variant of [`Edit`] with its function in the file of its family in `edits/`, what gives it to be tried in
//! `edits/mod.rs`, and a test beside it.

#![forbid(unsafe_code)]

mod case;
mod clean;
mod cost;
mod difference;
mod dominance;
mod drive;
mod edits;
mod flow;
mod module;
mod twins;

pub use case::{Case, Launch};
pub use drive::{reduce, Answer, Counts, Limits, Observer, Oracle, Reduced, Stopped};
pub use edits::{Edit, Family};
pub use module::{Key, LoadError, Module};
