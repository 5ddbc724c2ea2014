//! Invocations that have arrived at a barrier or a subgroup operation.

use crate::event::{Fence, InstanceName, Scope, Wait};
use crate::ir::Line;

/// An instance of a numbered barrier that some invocations have passed. An invocation that arrives later belongs to the
/// same instance.
#[derive(Clone)]
pub(crate) struct Meeting {
    pub(crate) name: InstanceName,
    pub(crate) instance: u32,
    pub(crate) passed: Vec<usize>,
}

/// An invocation at a control barrier.
pub(crate) struct Arrived {
    pub(crate) execution: Scope,
    pub(crate) fence: Fence,
    pub(crate) name: InstanceName,
    pub(crate) waits: Wait,
    pub(crate) line: Line,
}

/// An invocation at a subgroup operation.
pub(crate) struct Gathered {
    pub(crate) name: InstanceName,
    /// Subgroup, or Workgroup for cooperative matrices.
    pub(crate) scope: Scope,
    pub(crate) line: Line,
}
