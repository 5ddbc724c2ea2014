//! Invocations that arrived at a barrier or a subgroup operation.

use crate::event::{Fence, InstanceName, Scope, Wait};
use crate::ir::Line;

/// A numbered barrier of one scope instance that invocations passed. Who comes later belongs to it, too.
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
