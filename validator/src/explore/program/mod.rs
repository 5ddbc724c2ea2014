//! What is read off the program and the dispatch, before anything runs.

pub(crate) mod aliasing;
pub(crate) mod barrier_numbers;
pub(crate) mod instance_order;
pub(crate) mod may_write;
pub(crate) mod reach;
pub(crate) mod scopes;
pub(crate) mod units;
pub(crate) mod updates;
