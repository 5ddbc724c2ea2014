//! Memory models: what they say of an execution graph. One model a file.

pub mod consistency;
pub mod graph;
pub mod relation;
pub mod release_sequence;
pub mod vulkan;
