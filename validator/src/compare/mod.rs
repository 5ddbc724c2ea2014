//! Comparison: does the module after refine the module before, on one launch and input?
//!
//! This module implements docs/semantics.md, section 1. It never guesses a verdict. If a budget or a bound cut
//! the search of *before*, the part that was cut might have a new behaviour of after, so such a behaviour is
//! inconclusive.

mod matching;
mod parts;
mod reason;
mod refinement;
mod trace;
mod verdict;

pub use matching::{admits, Difference, ObjectMatch};
pub use parts::{are_comparable, has_same_objects};
pub use reason::{open_operation, Cut, Names, Note, Obstacle, Reason};
pub use refinement::{
    refines, same_program, vacuous, Allowed, CompareOptions, Comparison, Side, Subject, Violation,
};
pub use verdict::{Verdict, ViolationKind};
