//! Barrier-separated phases: the ordering of plain accesses by workgroup barriers, without a graph.
//!
//! Two accesses of one workgroup are location-ordered if a control barrier lies between them that
//! is a release and an acquire barrier for their storage class, at Workgroup scope or wider, and
//! its semantics or the accesses themselves perform the availability and visibility operations.
//! Words whose accesses are all ordered like this need no events. The check errs on one side only:
//! what it does not see as ordered becomes events, which the model judges.

use super::state::Arrived;
use crate::event::{Access, ClassSet, Order, Scope, StorageClass};

/// The storage classes that barriers separate.
const CLASSES: [ClassSet; 3] = [ClassSet::UNIFORM, ClassSet::WORKGROUP, ClassSet::IMAGE];

/// The barriers that a workgroup has passed, counted by storage class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Phase {
    /// Barriers that order.
    ordering: [u32; CLASSES.len()],
    /// Of these, barriers with MakeAvailable and MakeVisible.
    publishing: [u32; CLASSES.len()],
}

impl Phase {
    /// All invocations of the workgroup pass a barrier.
    pub(super) fn pass(&mut self, barrier: &Arrived) {
        let semantics = barrier.fence.semantics;
        let both = matches!(semantics.order, Order::AcquireRelease | Order::SequentiallyConsistent);
        if !both || barrier.execution < Scope::Workgroup || barrier.fence.scope < Scope::Workgroup {
            return;
        }
        for (index, class) in CLASSES.iter().enumerate() {
            if semantics.classes.contains(*class) {
                self.ordering[index] += 1;
                self.publishing[index] += u32::from(semantics.make_available && semantics.make_visible);
            }
        }
    }

    /// The counts that matter to an access of this class.
    pub(super) fn of(&self, class: ClassSet) -> Option<Moment> {
        let index = CLASSES.iter().position(|candidate| *candidate == class)?;
        Some(Moment { ordering: self.ordering[index], publishing: self.publishing[index] })
    }
}

/// When an access took place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    ordering: u32,
    publishing: u32,
}

/// Who used a word so far, and when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordUse {
    writer: Option<u32>,
    written: Moment,
    /// Some write so far is private.
    private_write: bool,
    /// Some write so far performs no availability operation at Workgroup scope.
    unavailable_write: bool,
    /// The reference of the last write. Shader operations order nothing across references, not even
    /// accesses of one invocation.
    written_through: Option<u32>,
    readers: Readers,
    read_through: Readers,
    read: Moment,
    private_read: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Readers {
    #[default]
    Nobody,
    One(u32),
    Several,
}

impl Readers {
    fn with(self, reader: u32) -> Readers {
        match self {
            Readers::Nobody => Readers::One(reader),
            Readers::One(other) if other == reader => self,
            Readers::One(_) | Readers::Several => Readers::Several,
        }
    }
}

/// An access of one word.
pub(super) struct Use<'a> {
    pub(super) agent: u32,
    pub(super) workgroup: u32,
    pub(super) workgroup_of: &'a dyn Fn(u32) -> u32,
    pub(super) access: &'a Access,
    pub(super) reference: u32,
    pub(super) now: Option<Moment>,
    /// The word is reached through one reference only.
    pub(super) one_reference: bool,
    pub(super) atomic: bool,
}

impl WordUse {
    /// Notes a read. False: it communicates with a write that no barrier orders before it.
    pub(super) fn read(&mut self, by: &Use) -> bool {
        let ordered = match self.writer {
            Some(writer) if writer != by.agent => {
                let published = by.now.is_some_and(|now| {
                    let visible = by.access.visible.is_some_and(|scope| scope >= Scope::Workgroup);
                    now.publishing > self.written.publishing
                        || !self.unavailable_write && visible && now.ordering > self.written.ordering
                });
                published && self.is_write_public(by)
            }
            Some(_) | None => self.written_through.is_none_or(|reference| reference == by.reference),
        };
        self.readers = self.readers.with(by.agent);
        self.read_through = self.read_through.with(by.reference);
        self.read = by.now.unwrap_or_default();
        self.private_read |= !by.access.non_private || by.atomic;
        ordered
    }

    /// Notes a write. False: it communicates with an access that no barrier orders before it.
    pub(super) fn write(&mut self, by: &Use) -> bool {
        let after_writes = match self.writer {
            Some(writer) if writer != by.agent => {
                let available = by.now.is_some_and(|now| {
                    now.publishing > self.written.publishing
                        || !self.unavailable_write && now.ordering > self.written.ordering
                });
                available && self.is_write_public(by)
            }
            Some(_) | None => self.written_through.is_none_or(|reference| reference == by.reference),
        };
        let same_reference = self.read_through.with(by.reference) == Readers::One(by.reference);
        let after_reads = match self.readers {
            Readers::Nobody => true,
            Readers::One(reader) if reader == by.agent => true,
            Readers::One(reader) => (by.workgroup_of)(reader) == by.workgroup && self.is_read_ordered(by),
            // Readers of other workgroups are not known any more.
            Readers::Several => by.access.class == StorageClass::Workgroup && self.is_read_ordered(by),
        };
        self.writer = Some(by.agent);
        self.written = by.now.unwrap_or_default();
        self.written_through = Some(by.reference);
        self.private_write |= !by.access.non_private || by.atomic;
        self.unavailable_write |= by.access.available.is_none_or(|scope| scope < Scope::Workgroup);
        after_writes && after_reads && same_reference
    }

    fn is_write_public(&self, by: &Use) -> bool {
        let same_workgroup = self.writer.is_some_and(|writer| (by.workgroup_of)(writer) == by.workgroup);
        same_workgroup && by.one_reference && by.access.non_private && !self.private_write && !by.atomic
    }

    fn is_read_ordered(&self, by: &Use) -> bool {
        let later = by.now.is_some_and(|now| now.ordering > self.read.ordering);
        later && by.one_reference && by.access.non_private && !self.private_read && !by.atomic
    }
}
