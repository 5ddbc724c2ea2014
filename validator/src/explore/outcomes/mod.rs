//! What a search found, and how an execution becomes an outcome with its witness.

pub(crate) mod completion;
pub(crate) mod found;
pub(crate) mod record;
pub(crate) mod set;
pub(crate) mod witness;
