//! Wrong changes: each makes one mistake in one instruction, as a broken optimiser might.
//!
//! Most mutants compute something else than the module. Some do not, because the changed value is not used, the
//! other operator gives the same for the operands that occur, or what is dropped was not needed: whoever counts
//! how many are noticed has to say how such mutants are told apart.

mod branch;
mod built_in;
mod cleared;
mod component;
mod constant;
mod dropped;
mod function;
mod glsl;
mod identity;
mod index;
mod neighbours;
mod swapped;
mod widened;
mod zeros;

use crate::mutator::each_instruction;
use crate::Mutator;

/// Every wrong change.
pub const WRONG: &[&dyn Mutator] = &[
    &neighbours::OPERATOR,
    &neighbours::SIGNEDNESS,
    &neighbours::BOUND,
    &neighbours::COMPARISON,
    &neighbours::ORDERED,
    &neighbours::SUBGROUP,
    &neighbours::ATOMIC,
    &function::WrongFunction,
    &constant::WrongConstant,
    &index::WrongIndex,
    &component::WrongComponent,
    &swapped::OperandsSwapped,
    &identity::OperationSkipped,
    &dropped::STORE,
    &dropped::CONTROL_BARRIER,
    &branch::GuardDropped,
    &branch::BranchNegated,
    &branch::CasesSwapped,
    &built_in::BuiltInZero,
    &built_in::WrongBuiltIn,
];

/// The mistake of compilers that lose signs of zeros. It is not in [`WRONG`]: only a module that declares
/// SignedZeroInfNanPreserve can tell.
pub const SIGNED_ZERO: &dyn Mutator = &zeros::SignedZero;

/// The mistake of compilers that get comparisons of widened numbers wrong. It is not in [`WRONG`], whose mistakes are made in one
/// instruction by chance: this one is made in all.
pub const WIDENED_COMPARISON: &dyn Mutator = &widened::WidenedComparison;

pub use zeros::with_zeros;

/// No mistake, but what shows about which instructions a compiler fails: one opcode after the other is taken out.
pub const CLEARED: &dyn Mutator = &cleared::Cleared;

#[cfg(test)]
mod tests;
