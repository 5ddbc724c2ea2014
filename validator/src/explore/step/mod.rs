//! One step: an invocation runs until something must be decided.

pub(crate) mod contact;
pub(crate) mod descriptors;
pub(crate) mod run;
pub(crate) mod view;
