//! Loops that wait for other invocations, and runs that never end.

pub(crate) mod arrivals;
pub(crate) mod configurations;
pub(crate) mod exits;
pub(crate) mod lasso;
pub(crate) mod repeats;
pub(crate) mod segments;
pub(crate) mod turns;
