//! The commuting updates of one word since it was last written.

use crate::event::{Commuting, Scope};
use crate::explore::reductions::barrier_epochs::agents::{Agents, Use};
use crate::explore::reductions::barrier_epochs::epoch::Moment;

/// An atomic update that commutes with others of its kind. Its scope is Workgroup or wider, and its word is reached
/// through one reference only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update {
    pub(crate) kind: Commuting,
    pub(crate) scope: Scope,
}

/// Atomic updates since the last write that leave the same value in any order.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct Updates {
    /// The operation that they perform, and its size in bytes.
    kind: Option<(Commuting, u32)>,
    pub(crate) agents: Agents,
    pub(crate) last: Moment,
    /// Whether some of them are atomic only within their workgroup.
    narrow: bool,
}

impl Updates {
    /// Whether an update performs the same operation as these, and is atomic with respect to them.
    pub(crate) fn are_joined_by(&self, by: &Use, update: Update) -> bool {
        let is_wide = update.scope >= Scope::QueueFamily && !self.narrow;
        self.kind == Some((update.kind, size_of_use(by))) && (self.agents.are_near(by) || is_wide)
    }

    /// Adds an update. It returns true if the update is not ordered with the update of another invocation.
    pub(crate) fn add(&mut self, by: &Use, update: Update) -> bool {
        let commutes = !self.agents.are_only(by);
        *self = Updates {
            kind: Some((update.kind, size_of_use(by))),
            agents: self.agents.with(by),
            last: by.now.unwrap_or_default(),
            narrow: self.narrow || update.scope < Scope::QueueFamily,
        };
        commutes
    }
}

/// The number of bytes that an update accesses.
fn size_of_use(by: &Use) -> u32 {
    by.access.ranges.iter().map(|(_, length)| length).sum()
}
