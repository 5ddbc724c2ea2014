//! Memory models: what they say of an execution graph. One model a file.

mod coherence;
pub mod consistency;
pub mod future;
pub mod graph;
pub mod growing;
pub(crate) mod location_order;
pub(crate) mod operations;
pub mod relation;
pub mod release_sequence;
pub mod vulkan;
