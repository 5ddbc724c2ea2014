//! One step: an invocation runs until something must be decided.

pub(crate) mod barrier_instances;
pub(crate) mod descriptors;
pub(crate) mod fulfilment;
pub(crate) mod loops;
pub(crate) mod noted_writes;
pub(crate) mod run;
pub(crate) mod view;
