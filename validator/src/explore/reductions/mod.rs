//! Reductions: ways to leave out executions whose outcomes others have.

pub(crate) mod barrier_epochs;
pub(crate) mod components;
pub(crate) mod early_races;
pub(crate) mod independent_suffixes;
pub(crate) mod merging;
pub(crate) mod stale_reads;
pub(crate) mod symmetry;
