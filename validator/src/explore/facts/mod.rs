//! What a search knows about the program beforehand, learned in rounds up to a fixed point.

pub(crate) mod discoveries;
pub(crate) mod knowledge;
pub(crate) mod touched;
