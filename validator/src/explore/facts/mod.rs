//! What a search knows about the program. It learns this in rounds, until a round finds out nothing new.

pub(crate) mod discoveries;
pub(crate) mod knowledge;
pub(crate) mod touched;
