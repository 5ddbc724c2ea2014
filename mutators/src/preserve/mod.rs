//! Rewrites that keep the meaning: module and mutant must refine each other.

mod accesses;
mod barriers;
mod branches;
mod commute;
mod dead;
pub(crate) mod edit;
mod identities;
mod inline;
mod moves;
pub(crate) mod opaque;
mod outline;
mod renumber;
mod reorder;
mod selects;
mod split;
mod unused;
mod variables;
mod vectors;

use crate::Mutator;

/// Every preserving rewrite.
pub const PRESERVING: &[&dyn Mutator] = &[
    &renumber::Renumber,
    &reorder::BlocksReordered,
    &inline::Inline,
    &split::BlocksSplit,
    &unused::UnusedAdded,
    &commute::Commute,
    &identities::Identities,
    &identities::Copies,
    &identities::ConstantsSummed,
    &vectors::VectorsScalarised,
    &vectors::CompositesSplit,
    &accesses::AccessesSplit,
    &branches::BranchesSwapped,
    &branches::BranchToSwitch,
    &branches::SelectToBranch,
    &selects::BranchToSelect,
    &branches::SelectionHints,
    &barriers::BarriersSplit,
    &dead::DeadCode,
    &dead::UnreachableElse,
    &dead::LoopOnce,
    &variables::PhiToVariable,
    &variables::ParametersByPointer,
    &moves::Moves,
    &outline::Outline,
];

#[cfg(test)]
mod tests;
