//! Barrier-separated phases: the ordering of plain accesses by workgroup barriers, without a graph.
//!
//! Where the model orders by barriers ([`orders_by_barriers`](crate::model::memory_model::MemoryModel)), two
//! accesses of one workgroup are location-ordered if a control barrier lies between them that is a release and an acquire barrier for their storage class, at Workgroup scope or wider, and
//! its semantics or the accesses themselves perform the availability and visibility operations.
//! Words whose accesses are all ordered like this need no events. The check errs on one side only:
//! what it does not see as ordered becomes events, which the model judges. Under other models no epoch ends.
//!
//! Nor do atomic updates need events that leave the same value in any order and whose results nobody
//! uses, as those of a histogram, as long as nothing else touches the word in between. They may
//! synchronise with each other, by release sequences and barriers around them; but whatever is not
//! ordered without that is not ordered in the execution where the updates that the one access leads to
//! come after all that lead to the other.

use crate::event::{Access, ClassSet, Commuting, Order, Scope};
use crate::explore::state::arrivals::Arrived;

/// The storage classes that barriers separate.
const CLASSES: [ClassSet; 3] = [ClassSet::UNIFORM, ClassSet::WORKGROUP, ClassSet::IMAGE];

/// The barriers that a workgroup has passed, counted by storage class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Epoch {
    /// Barriers that order.
    ordering: [u32; CLASSES.len()],
    /// Of these, barriers with MakeAvailable and MakeVisible.
    publishing: [u32; CLASSES.len()],
}

impl Epoch {
    /// All invocations of the workgroup pass a barrier.
    pub(crate) fn pass(&mut self, barrier: &Arrived) {
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

    /// Barriers passed that order accesses of this class.
    pub(crate) fn orders(&self, class: ClassSet) -> u32 {
        self.of(class).unwrap_or_default().ordering
    }

    /// The counts that matter to an access of this class.
    pub(crate) fn of(&self, class: ClassSet) -> Option<Moment> {
        let index = CLASSES.iter().position(|candidate| *candidate == class)?;
        Some(Moment { ordering: self.ordering[index], publishing: self.publishing[index] })
    }
}

/// When an access took place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Moment {
    ordering: u32,
    publishing: u32,
}

/// Who used a word so far, and when.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct WordUse {
    writer: Agents,
    written: Moment,
    /// Some write so far is private.
    private_write: bool,
    /// Before the last write came one of another invocation, or an update, that was not visible to its invocation: nor
    /// is it to a read there without an operation that makes it so.
    unseen_write: bool,
    /// Some write so far performs no availability operation at Workgroup scope.
    unavailable_write: bool,
    private_read: bool,
    /// The reference of the last write. Shader operations order nothing across references, not even
    /// accesses of one invocation.
    written_through: Option<u32>,
    reads: Reads,
    read_through: References,
    updates: Updates,
}

/// Reads of the latest phase in which there were any, and those before.
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

/// Atomic updates since the last write that leave the same value in any order.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Updates {
    /// What they do, and their size in bytes.
    kind: Option<(Commuting, u32)>,
    agents: Agents,
    last: Moment,
    /// Some are atomic only within their workgroup.
    narrow: bool,
}

/// Some invocations, as far as it matters who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Agents {
    #[default]
    Nobody,
    One {
        agent: u32,
        workgroup: u32,
    },
    /// Several of one workgroup.
    Workgroup(u32),
    Several,
}

impl Agents {
    fn with(self, by: &Use) -> Agents {
        match self {
            Agents::Nobody => Agents::One { agent: by.agent, workgroup: by.workgroup },
            Agents::One { agent, .. } if agent == by.agent => self,
            Agents::One { workgroup, .. } | Agents::Workgroup(workgroup) if workgroup == by.workgroup => {
                Agents::Workgroup(workgroup)
            }
            Agents::One { .. } | Agents::Workgroup(_) | Agents::Several => Agents::Several,
        }
    }

    fn and(self, others: Agents) -> Agents {
        match (self, others) {
            (Agents::Nobody, known) | (known, Agents::Nobody) => known,
            (Agents::One { .. }, Agents::One { .. }) if self == others => self,
            (
                Agents::One { workgroup: a, .. } | Agents::Workgroup(a),
                Agents::One { workgroup: b, .. } | Agents::Workgroup(b),
            ) if a == b => Agents::Workgroup(a),
            _ => Agents::Several,
        }
    }

    /// Whether all of them are this one.
    fn are_only(self, by: &Use) -> bool {
        match self {
            Agents::Nobody => true,
            Agents::One { agent, .. } => agent == by.agent,
            Agents::Workgroup(_) | Agents::Several => false,
        }
    }

    /// Whether all of them are of its workgroup.
    fn are_near(self, by: &Use) -> bool {
        match self {
            Agents::Nobody => true,
            Agents::One { workgroup, .. } | Agents::Workgroup(workgroup) => workgroup == by.workgroup,
            Agents::Several => false,
        }
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

/// An access of one word.
pub(crate) struct Use<'a> {
    pub(crate) agent: u32,
    pub(crate) workgroup: u32,
    pub(crate) access: &'a Access,
    pub(crate) reference: u32,
    pub(crate) now: Option<Moment>,
    /// The word is reached through one reference only.
    pub(crate) one_reference: bool,
}

/// An atomic update that commutes with others of its kind, at Workgroup scope or wider, of a word that is
/// reached through one reference only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update {
    pub(crate) kind: Commuting,
    pub(crate) scope: Scope,
}

impl WordUse {
    /// Whether all who used the word so far, as far as that is known, are among these invocations.
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

    /// Notes a read. False: it communicates with a write that no barrier orders before it.
    pub(crate) fn read(&mut self, by: &Use) -> bool {
        let ordered = self.sees_write(by) && self.sees_updates(by);
        self.reads.note(by);
        self.read_through = self.read_through.with(by.reference);
        self.private_read |= !by.access.non_private;
        ordered
    }

    /// Notes a write. False: it communicates with an access that no barrier orders before it.
    pub(crate) fn write(&mut self, by: &Use) -> bool {
        let ordered = self.follows_write(by) && self.follows_updates(by) && self.follows_reads(by);
        let since = |moment: Moment| by.now.is_some_and(|now| now.publishing > moment.publishing);
        let own = self.writer.are_only(by);
        self.unseen_write = !since(self.written) && (!own || self.unseen_write)
            || !self.updates.agents.are_only(by) && !since(self.updates.last);
        self.writer = Agents::Nobody.with(by);
        self.written = by.now.unwrap_or_default();
        self.written_through = Some(by.reference);
        self.private_write |= !by.access.non_private;
        self.unavailable_write |= by.access.available.is_none_or(|scope| scope < Scope::Workgroup);
        // What comes after this write comes after the reads, but for private ones.
        if !self.private_read {
            self.reads = Reads::default();
        }
        self.updates = Updates::default();
        ordered
    }

    /// Notes an update. `None`: it communicates, as a write may. `Some(true)`: it is not ordered with the
    /// update of another invocation, and need not be.
    pub(crate) fn update(&mut self, by: &Use, update: Update) -> Option<bool> {
        if !(self.sees_write(by) && self.follows_write(by) && self.follows_reads(by)) {
            return None;
        }
        let size = by.access.ranges.iter().map(|(_, length)| length).sum();
        let kind = Some((update.kind, size));
        let narrow = update.scope < Scope::QueueFamily;
        let Updates { kind: known, agents, narrow: some_narrow, .. } = self.updates;
        let joins = known == kind && (agents.are_near(by) || !narrow && !some_narrow);
        if !joins {
            if !(self.sees_updates(by) && self.follows_updates(by)) {
                return None;
            }
            self.updates = Updates::default();
        }
        let commutes = joins && !agents.are_only(by);
        self.updates = Updates {
            kind,
            agents: self.updates.agents.with(by),
            last: by.now.unwrap_or_default(),
            narrow: narrow || joins && some_narrow,
        };
        Some(commutes)
    }

    /// The last write is this invocation's own, or ordered before the read and visible to it.
    fn sees_write(&self, by: &Use) -> bool {
        if self.writer.are_only(by) {
            let published = by.now.is_some_and(|now| now.publishing > self.written.publishing);
            return (!self.unseen_write || published || sees(by))
                && self.written_through.is_none_or(|reference| reference == by.reference);
        }
        let published = by.now.is_some_and(|now| {
            now.publishing > self.written.publishing
                || !self.unavailable_write && sees(by) && now.ordering > self.written.ordering
        });
        published && self.is_write_public(by)
    }

    /// The last write is this invocation's own, or ordered before the write.
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

    /// As [`sees_write`](Self::sees_write). Updates are non-private and available at their scope.
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
