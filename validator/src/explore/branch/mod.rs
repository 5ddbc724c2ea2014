//! Branching: which choices an invocation has where it stands (at reads, barriers and subgroup operations), what
//! happens if none can continue ([`quiescence`]), and which choices can lead to an execution.
//!
//! The search resolves one read at a time. There is one branch for every write of the graph from which the read may
//! take its value, and one in which the read waits for a later write ([`reads`]). So each execution graph is reached by
//! exactly one sequence of choices and visited once, without a record of the graphs that were visited. This is truly
//! stateless exploration of execution graphs as in TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly
//! stateless, optimal dynamic partial order reduction", POPL 2022). Waiting takes the place of TruSt's backward
//! revisits.

pub(crate) mod barriers;
pub(crate) mod completion;
pub(crate) mod load_buffering;
pub(crate) mod outlook;
pub(crate) mod promises;
pub(crate) mod quiescence;
pub(crate) mod reads;
pub(crate) mod spinning;
pub(crate) mod subgroups;
pub(crate) mod waiting;
pub(crate) mod writers;
