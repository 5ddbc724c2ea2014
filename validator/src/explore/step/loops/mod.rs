//! Turns of loops: what an invocation notes when it comes back to the header of a loop.

pub(crate) mod arrivals;
pub(crate) mod configurations;
pub(crate) mod exits;
pub(crate) mod segments;
pub(crate) mod turns;
