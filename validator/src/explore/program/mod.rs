//! What the text of a program and the dispatch determine before anything runs: which instructions may be reached, which
//! may write where, which barriers have numbers, and which scopes distinguish invocations.

pub(crate) mod aliasing;
pub(crate) mod barrier_numbers;
pub(crate) mod instance_order;
pub(crate) mod may_write;
pub(crate) mod reach;
pub(crate) mod scopes;
pub(crate) mod units;
pub(crate) mod unwritten;
pub(crate) mod updates;
