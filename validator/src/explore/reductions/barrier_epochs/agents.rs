//! The invocations that access a word, as far as the order by barriers depends on them.
//!
//! The barriers of a workgroup order only accesses of its own invocations. So four cases suffice: no invocation, one,
//! several of one workgroup, and several of different workgroups.

use crate::event::Access;
use crate::explore::reductions::barrier_epochs::epoch::Moment;

/// A set of invocations, as far as it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Agents {
    #[default]
    Nobody,
    One {
        agent: u32,
        workgroup: u32,
    },
    /// Several invocations of one workgroup.
    Workgroup(u32),
    Several,
}

impl Agents {
    pub(crate) fn with(self, by: &Use) -> Agents {
        match self {
            Agents::Nobody => Agents::One { agent: by.agent, workgroup: by.workgroup },
            Agents::One { agent, .. } if agent == by.agent => self,
            Agents::One { workgroup, .. } | Agents::Workgroup(workgroup) if workgroup == by.workgroup => {
                Agents::Workgroup(workgroup)
            }
            Agents::One { .. } | Agents::Workgroup(_) | Agents::Several => Agents::Several,
        }
    }

    pub(crate) fn and(self, others: Agents) -> Agents {
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

    /// Whether the set contains no other invocation than the one of this access.
    pub(crate) fn are_only(self, by: &Use) -> bool {
        match self {
            Agents::Nobody => true,
            Agents::One { agent, .. } => agent == by.agent,
            Agents::Workgroup(_) | Agents::Several => false,
        }
    }

    /// Whether all of the set are in the workgroup of this access.
    pub(crate) fn are_near(self, by: &Use) -> bool {
        match self {
            Agents::Nobody => true,
            Agents::One { workgroup, .. } | Agents::Workgroup(workgroup) => workgroup == by.workgroup,
            Agents::Several => false,
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
    /// Whether the word is reached through one reference only.
    pub(crate) one_reference: bool,
}
