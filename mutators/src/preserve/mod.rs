//! Rewrites that keep the meaning: module and mutant must refine each other.

mod commute;
mod inline;
mod renumber;
mod reorder;
mod split;
mod unused;

use crate::Mutator;

/// Every preserving rewrite.
pub const PRESERVING: &[&dyn Mutator] = &[
    &renumber::Renumber,
    &reorder::BlocksReordered,
    &inline::Inline,
    &split::BlocksSplit,
    &unused::UnusedAdded,
    &commute::Commute,
];

#[cfg(test)]
mod tests;
