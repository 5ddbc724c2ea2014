//! One step of the search: an invocation runs until something must be decided, and what it did becomes events.
//!
//! For example, an invocation that stores to a shared word and then loads another one adds a write event and stops at
//! the load. `branch` decides what the load reads.

pub(crate) mod barrier_instances;
pub(crate) mod descriptors;
pub(crate) mod fulfilment;
pub(crate) mod loops;
pub(crate) mod noted_writes;
pub(crate) mod run;
pub(crate) mod view;
