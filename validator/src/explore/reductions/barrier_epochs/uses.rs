//! The uses of one word so far, and whether barriers order them.
//!
//! For example, invocation 0 writes a word in epoch 0, and invocation 1 reads it in epoch 1. The barrier in between
//! orders them. If both accesses are in epoch 0, the word communicates and becomes a unit of the graph.

use crate::event::Scope;
use crate::explore::reductions::barrier_epochs::agents::{Agents, Use};
use crate::explore::reductions::barrier_epochs::epoch::Moment;
use crate::explore::reductions::commuting_updates::updates::{Update, Updates};

/// Which invocations used a word so far, and when.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct WordUse {
    writer: Agents,
    written: Moment,
    /// Whether some write so far is private.
    private_write: bool,
    /// Whether a write of another invocation, or an update, came before the last write and was not visible to the
    /// invocation of the last write. Then it is not visible to a read of that invocation either, unless an operation
    /// makes it visible.
    invisible_write: bool,
    /// Whether some write so far performs no availability operation at Workgroup scope.
    unavailable_write: bool,
    private_read: bool,
    /// The reference of the last write. Shader operations order nothing across references, not even the accesses of one
    /// invocation.
    written_through: Option<u32>,
    reads: Reads,
    read_through: References,
    updates: Updates,
}

/// The reads of the latest epoch in which there were any, and those of earlier epochs.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Reads {
    readers: Agents,
    at: Moment,
    earlier: Agents,
    earlier_at: Moment,
}

impl Reads {
    fn note(&mut self, by: &Use) {
        let now = by.now.unwrap_or_default();
        if now.ordering > self.at.ordering && self.readers != Agents::Nobody {
            self.earlier = self.earlier.and(self.readers);
            self.earlier_at = self.at;
            self.readers = Agents::Nobody;
        }
        self.readers = self.readers.with(by);
        self.at = now;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum References {
    #[default]
    None,
    One(u32),
    Several,
}

impl References {
    fn with(self, reference: u32) -> References {
        match self {
            References::None => References::One(reference),
            References::One(other) if other == reference => self,
            References::One(_) | References::Several => References::Several,
        }
    }
}

impl WordUse {
    /// Whether all invocations that used the word so far are among these, as far as they are known.
    pub(crate) fn is_only_by(&self, among: impl Fn(u32) -> bool) -> bool {
        let all = [self.writer, self.reads.readers, self.reads.earlier, self.updates.agents];
        all.iter().all(|agents| match agents {
            Agents::Nobody => true,
            Agents::One { agent, .. } => among(*agent),
            Agents::Workgroup(_) | Agents::Several => false,
        })
    }

    pub(crate) fn is_written(&self) -> bool {
        [self.writer, self.updates.agents].iter().any(|agents| *agents != Agents::Nobody)
    }

    /// Notes a read. It returns false if the read communicates with a write that no barrier orders before it.
    pub(crate) fn read(&mut self, by: &Use) -> bool {
        let ordered = self.sees_write(by) && self.sees_updates(by);
        self.reads.note(by);
        self.read_through = self.read_through.with(by.reference);
        self.private_read |= !by.access.non_private;
        ordered
    }

    /// Notes a write. It returns false if the write communicates with an access that no barrier orders before it.
    pub(crate) fn write(&mut self, by: &Use) -> bool {
        let ordered = self.follows_write(by) && self.follows_updates(by) && self.follows_reads(by);
        let since = |moment: Moment| by.now.is_some_and(|now| now.publishing > moment.publishing);
        let own = self.writer.are_only(by);
        self.invisible_write = !since(self.written) && (!own || self.invisible_write)
            || !self.updates.agents.are_only(by) && !since(self.updates.last);
        self.writer = Agents::Nobody.with(by);
        self.written = by.now.unwrap_or_default();
        self.written_through = Some(by.reference);
        self.private_write |= !by.access.non_private;
        self.unavailable_write |= by.access.available.is_none_or(|scope| scope < Scope::Workgroup);
        // An access that is ordered after this write is also ordered after the earlier reads, except for private ones.
        if !self.private_read {
            self.reads = Reads::default();
        }
        self.updates = Updates::default();
        ordered
    }

    /// Notes an update. It returns `None` if the update communicates, as a write may. It returns `Some(true)` if the
    /// update is not ordered with the update of another invocation and need not be.
    pub(crate) fn update(&mut self, by: &Use, update: Update) -> Option<bool> {
        if !(self.sees_write(by) && self.follows_write(by) && self.follows_reads(by)) {
            return None;
        }
        if !self.updates.are_joined_by(by, update) {
            if !(self.sees_updates(by) && self.follows_updates(by)) {
                return None;
            }
            self.updates = Updates::default();
        }
        Some(self.updates.add(by, update))
    }

    /// Whether the last write is by the same invocation, or is ordered before the read and visible to it.
    fn sees_write(&self, by: &Use) -> bool {
        if self.writer.are_only(by) {
            let published = by.now.is_some_and(|now| now.publishing > self.written.publishing);
            return (!self.invisible_write || published || sees(by))
                && self.written_through.is_none_or(|reference| reference == by.reference);
        }
        let published = by.now.is_some_and(|now| {
            now.publishing > self.written.publishing
                || !self.unavailable_write && sees(by) && now.ordering > self.written.ordering
        });
        published && self.is_write_public(by)
    }

    /// Whether the last write is by the same invocation, or is ordered before this write.
    fn follows_write(&self, by: &Use) -> bool {
        if self.writer.are_only(by) {
            return self.written_through.is_none_or(|reference| reference == by.reference);
        }
        let available = by.now.is_some_and(|now| {
            now.publishing > self.written.publishing
                || !self.unavailable_write && now.ordering > self.written.ordering
        });
        available && self.is_write_public(by)
    }

    fn is_write_public(&self, by: &Use) -> bool {
        self.writer.are_near(by) && by.one_reference && by.access.non_private && !self.private_write
    }

    fn follows_reads(&self, by: &Use) -> bool {
        let same_reference = self.read_through.with(by.reference) == References::One(by.reference);
        let ordered = |readers: Agents, at: Moment| {
            readers.are_only(by)
                || readers.are_near(by)
                    && by.now.is_some_and(|now| now.ordering > at.ordering)
                    && by.one_reference
                    && by.access.non_private
                    && !self.private_read
        };
        let Reads { readers, at, earlier, earlier_at } = self.reads;
        same_reference && ordered(readers, at) && ordered(earlier, earlier_at)
    }

    /// The same as [`sees_write`](Self::sees_write) for updates. They are non-private, and available at their scope.
    fn sees_updates(&self, by: &Use) -> bool {
        let Updates { agents, last, .. } = self.updates;
        agents.are_only(by)
            || by.now.is_some_and(|now| {
                now.publishing > last.publishing || sees(by) && now.ordering > last.ordering
            }) && self.are_updates_public(by)
    }

    fn follows_updates(&self, by: &Use) -> bool {
        let Updates { agents, last, .. } = self.updates;
        agents.are_only(by)
            || by.now.is_some_and(|now| now.ordering > last.ordering) && self.are_updates_public(by)
    }

    fn are_updates_public(&self, by: &Use) -> bool {
        self.updates.agents.are_near(by) && by.one_reference && by.access.non_private
    }
}

/// Whether the access performs a visibility operation that reaches its workgroup.
fn sees(by: &Use) -> bool {
    by.access.visible.is_some_and(|scope| scope >= Scope::Workgroup)
}
