//! Memory models: what they say of an execution graph. [`memory_model::MemoryModel`] is what a model answers;
//! [`vulkan`] is the first. `docs/model.md` of the repository goes through
//! the Vulkan model rule by rule: what computes each, where else it stands, and the tests that fail without it.

#![forbid(unsafe_code)]

mod coherence;
#[allow(missing_docs)]
pub mod consistency;
#[allow(missing_docs)]
pub mod event;
#[allow(missing_docs)]
pub mod explain;
#[allow(missing_docs)]
pub mod future;
#[allow(missing_docs)]
pub mod graph;
#[allow(missing_docs)]
pub mod growing;
#[allow(missing_docs)]
pub mod location_order;
#[allow(missing_docs)]
pub mod memory_model;
#[allow(missing_docs)]
pub mod operations;
#[allow(missing_docs)]
pub mod relation;
#[allow(missing_docs)]
pub mod release_sequence;
pub mod value;
#[allow(missing_docs)]
pub mod vulkan;
