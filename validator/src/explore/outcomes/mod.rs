//! What a search found, and how an execution becomes an outcome with its witness.

pub(crate) mod record;
pub(crate) mod witness;
