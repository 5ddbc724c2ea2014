//! Comparison: does the module after refine the module before, on one launch and input?
//!
//! Implements docs/semantics.md, section 1. A verdict is never guessed: what a budget or a bound cut off
//! from *before* might have admitted a new behaviour, so that such a behaviour is then inconclusive.

mod matching;
mod parts;
mod reason;
mod refinement;
mod trace;
mod verdict;

pub use matching::{Difference, ObjectMatch};
pub use parts::{are_comparable, has_same_objects};
pub use reason::{Cut, Names, Note, Reason};
pub use refinement::{
    refines, same_program, vacuous, Allowed, CompareOptions, Comparison, Side, Subject, Violation,
};
pub use verdict::{Verdict, ViolationKind};
