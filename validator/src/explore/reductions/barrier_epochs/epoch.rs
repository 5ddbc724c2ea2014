//! Barrier epochs: the number of ordering barriers that a workgroup has passed, for each storage class. An access has
//! the time of its epoch.

use crate::event::{ClassSet, Order, Scope};
use crate::explore::state::arrivals::Arrived;

/// The storage classes that barriers order separately.
const CLASSES: [ClassSet; 3] = [ClassSet::UNIFORM, ClassSet::WORKGROUP, ClassSet::IMAGE];

/// The barriers that a workgroup has passed, counted by storage class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Epoch {
    /// The number of barriers that order.
    ordering: [u32; CLASSES.len()],
    /// The number of those of them that have MakeAvailable and MakeVisible.
    publishing: [u32; CLASSES.len()],
}

impl Epoch {
    /// Counts a barrier that all invocations of the workgroup pass.
    pub(crate) fn pass(&mut self, barrier: &Arrived) {
        let semantics = barrier.fence.semantics;
        for (index, class) in CLASSES.iter().enumerate() {
            if is_ordering(barrier, *class) {
                self.ordering[index] += 1;
                self.publishing[index] += u32::from(semantics.make_available && semantics.make_visible);
            }
        }
    }

    /// The number of barriers passed that order accesses of this class.
    pub(crate) fn orders(&self, class: ClassSet) -> u32 {
        self.of(class).unwrap_or_default().ordering
    }

    /// The counts that matter to an access of this class.
    pub(crate) fn of(&self, class: ClassSet) -> Option<Moment> {
        let index = CLASSES.iter().position(|candidate| *candidate == class)?;
        Some(Moment { ordering: self.ordering[index], publishing: self.publishing[index] })
    }
}

/// Whether a barrier that all invocations of a workgroup pass orders accesses of this class before it before those behind
/// it.
pub(crate) fn is_ordering(barrier: &Arrived, class: ClassSet) -> bool {
    let semantics = barrier.fence.semantics;
    matches!(semantics.order, Order::AcquireRelease | Order::SequentiallyConsistent)
        && barrier.execution >= Scope::Workgroup
        && barrier.fence.scope >= Scope::Workgroup
        && semantics.classes.contains(class)
}

/// The time of an access, in barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Moment {
    pub(crate) ordering: u32,
    pub(crate) publishing: u32,
}
