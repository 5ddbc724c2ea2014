//! Loops that wait for other invocations, and runs that never end.

pub(crate) mod lasso;
pub(crate) mod repeats;
