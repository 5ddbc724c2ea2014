//! Strengthenings: each adds synchronisation, or orders more. What is made refines the module, which may have
//! behaviours besides.

mod atomics;
mod fences;
mod semantics;

use crate::Mutator;

/// Every strengthening.
pub const STRENGTHENING: &[&dyn Mutator] = &[
    &semantics::StrongerOrder,
    &semantics::WiderScope,
    &semantics::MoreClasses,
    &fences::FencesAdded,
    &atomics::PlainToAtomic,
    &atomics::PrivateToNonPrivate,
];

#[cfg(test)]
mod tests;
