//! Turns of loops: what an invocation does when it returns to the header of a loop.

pub(crate) mod arrivals;
pub(crate) mod configurations;
pub(crate) mod exits;
pub(crate) mod segments;
pub(crate) mod turns;
