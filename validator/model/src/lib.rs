//! Memory models: what they say of an execution graph. [`memory_model::MemoryModel`] is what a model answers;
//! [`vulkan`] is the first.
//!
//! A [`graph::Graph`] has events, each of an agent, with program order and reads-from. [`vulkan::relations`] derives what
//! the model says of it, relation by relation. [`consistency::executions`] says whether the graph is an execution, and
//! [`consistency::Judge`] finds its data races and what it leaves in memory.
//!
//! ```
//! use spirv_tv_model::consistency::{executions, Judge};
//! use spirv_tv_model::event::{ClassSet, FunctionId, InstId, Order, Scope};
//! use spirv_tv_model::graph::{Agent, Event, Graph, Kind};
//! use spirv_tv_model::vulkan::Variant;
//!
//! // A plain write of one unit by each of two invocations.
//! let write = |agent| Event {
//!     agent,
//!     kind: Kind::Write,
//!     units: vec![0].into(),
//!     sources: Default::default(),
//!     read: Default::default(),
//!     written: Default::default(),
//!     reference: 0,
//!     class: ClassSet::UNIFORM,
//!     atomic: false,
//!     scope: Scope::Device,
//!     order: Order::Relaxed,
//!     semantics: ClassSet::default(),
//!     make_available: false,
//!     make_visible: false,
//!     non_private: true,
//!     available: None,
//!     visible: None,
//!     volatile: false,
//!     inst: InstId { function: FunctionId(0), index: 0 },
//!     line: 0,
//!     place: None,
//! };
//! let agent = |workgroup| Agent { subgroup: workgroup, workgroup, queue_family: 0 };
//! let graph = Graph {
//!     events: vec![write(0).into(), write(1).into()],
//!     agents: [agent(0), agent(1)].into(),
//!     ..Graph::default()
//! };
//! let variant = Variant::default();
//! let allowed = executions(&graph, variant).expect("few writes have few orders");
//! let judge = Judge { graph: &graph, relations: &allowed[0], variant };
//! assert_eq!(judge.data_races().len(), 1);
//! ```
//!
//! | module | sections of the appendix "Memory Model" |
//! | --- | --- |
//! | [`graph`], [`event`] | Agent, Memory Location, Memory Operation, Reference, Program-Order, Scope, Atomic Operation, Scoped Modification Order, Memory Semantics |
//! | [`release_sequence`] | Release Sequence |
//! | [`vulkan`] | Synchronizes-With, System-Synchronizes-With, Inter-Thread-Happens-Before, Happens-Before |
//! | [`operations`], [`location_order`] | Availability and Visibility Semantics, Availability, Visibility, and Domain Operations, Location-Ordered |
//! | [`consistency`] | Data Race, Visible-To, Acyclicity |
//!
//! [`growing`] says the same of a graph to which events are added at its end, and [`future`] what the future of such a
//! graph depends on. `docs/model.md` of the repository goes through the model rule by rule: what computes each, where else
//! it stands, and the tests that fail without it.
//!
//! The crate knows nothing of programs. [`event`] and [`value`] are the vocabulary that it shares with the interpreter of
//! [spirv-tv](https://github.com/spirv-tv/spirv-tv): accesses and barriers, and bytes that may be undefined.

#![forbid(unsafe_code)]

mod closure;
mod coherence;
pub mod consistency;
pub mod event;
pub mod explain;
mod fences;
pub mod future;
pub mod graph;
pub mod growing;
pub mod location_order;
pub mod memory_model;
pub mod operations;
pub mod relation;
pub mod release_sequence;
pub mod value;
pub mod vulkan;
