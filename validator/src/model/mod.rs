//! Memory models: what they say of an execution graph. One model a file. `docs/model.md` goes through the Vulkan model rule by
//! rule: what computes each, where else it stands, and the tests that fail without it.

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
