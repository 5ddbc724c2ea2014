//! How a path becomes a result of the search: an outcome, a race or another undefined behaviour, with its witness.

pub(crate) mod record;
pub(crate) mod witness;
