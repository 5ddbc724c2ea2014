//! Behaviours of a module on one launch and input (docs/semantics.md, section 2), as the explorer finds them
//! and the comparison and the reports use them.

mod count;
mod paths;
pub(crate) mod permuted;
mod product;
mod reason;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use count::Count;
pub use paths::{EndKind, PathEnd, Paths};
pub(crate) use permuted::Normal;
pub use permuted::{Permuted, Places, Slot};
pub use product::{Part, Product};
pub use reason::{Bound, Bug, Deadline, Stopped, Undecided};

use crate::event::{Fault, UndefinedKind};
use crate::ir::{Inexact, Line};
use crate::value::Byte;
use crate::witness::Witness;

/// One behaviour that is not undefined.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Outcome {
    /// How the run ends.
    pub end: End,
    /// Final bytes of each observed object, in object order; empty for a hang.
    pub memory: Vec<Vec<Byte>>,
    /// Per invocation (in dispatch order), its volatile accesses; empty if nobody made any.
    pub volatile: Vec<Vec<VolatileAccess>>,
    /// What the search was asked to remark on ([`Settings::remark`](crate::explore::Settings::remark)).
    pub remarks: Vec<u32>,
}

impl Outcome {
    /// A run that waits for ever, with these volatile traces.
    pub fn hang(volatile: Vec<Vec<VolatileAccess>>) -> Self {
        Outcome { end: End::Hang, memory: Vec::new(), volatile, remarks: Vec::new() }
    }

    /// About how many bytes it takes to store it in a set, with a witness.
    pub(crate) fn stored_bytes(&self, witness: &Witness) -> u64 {
        // Tables grow by doubling.
        let entry = size_of::<(Outcome, Witness)>() * 3 / 2;
        let memory = self.memory.iter().map(|bytes| ALLOCATION + size_of_val(&bytes[..]));
        let traces = self.volatile.iter().map(|trace| ALLOCATION + size_of_val(&trace[..]));
        (entry + memory.sum::<usize>() + traces.sum::<usize>() + witness.execution.own_bytes()) as u64
    }
}

/// Bytes that an allocation takes besides what is in it: a pointer, a length, a capacity, and rounding.
pub(crate) const ALLOCATION: usize = 40;

/// How a run that is not undefined ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// Every invocation came to its end.
    Terminated,
    /// Some invocation waits for ever.
    Hang,
}

/// An entry of a volatile trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VolatileAccess {
    /// One access.
    One {
        /// The object that is accessed, by its number in the dispatch.
        object: u32,
        /// The first byte that is accessed, from the start of the object.
        offset: u32,
        /// Whether it writes; otherwise it reads.
        write: bool,
        /// Whether it is atomic.
        atomic: bool,
        /// The bytes that are read or written.
        bytes: Vec<Byte>,
    },
    /// Any number of failing spin iterations, with what each of them may see.
    Repeated(BTreeSet<Vec<VolatileAccess>>),
}

/// An undefined behaviour with the lines that take part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Undefined {
    /// Which kind of undefined behaviour it is.
    pub kind: UndefinedKind,
    /// The lines of the instructions that take part, 1-based; 0 where a line is not known.
    pub lines: Vec<Line>,
    /// What happens there, for people.
    pub detail: String,
}

impl From<Fault> for Undefined {
    fn from(fault: Fault) -> Self {
        Undefined { kind: fault.kind, lines: vec![fault.line], detail: fault.detail }
    }
}

/// Everything that the explorer found out about one module on one launch and input.
#[derive(Clone, Debug, Default)]
pub struct Behaviours {
    /// Outcomes, sorted, each with a witness (see [`Witness`]).
    pub outcomes: Vec<(Outcome, Witness)>,
    /// Where there are very many outcomes, what they are made of; none of them is in `outcomes` then.
    pub product: Option<Arc<Product>>,
    /// How many outcomes there were, where they are not kept any more.
    pub forgotten: Option<Count>,
    /// Undefined behaviours, sorted and distinct, each with a witness.
    pub undefined: Vec<(Undefined, Witness)>,
    /// Distinct consistent classes of (reads-from, final values).
    pub executions: Count,
    /// Complete executions that the engine visited.
    pub explored: u64,
    /// Every path that the search started, up to the result that ended it.
    pub paths: Paths,
    /// Every outcome is there (no budget ended the search).
    pub complete: bool,
    /// A bound cut something.
    pub bounded: Option<Bound>,
    /// The search ended at an outcome that it was to find: it may not have found others.
    pub ends_at_target: bool,
    /// The budget that ended the search early.
    pub stopped: Option<Stopped>,
    /// What could not be decided, sorted.
    pub undecided: Vec<Undecided>,
    /// Values that writes produced, in the units of the search.
    pub produced: Produced,
    /// Float operations that ran and might have given other results.
    pub inexact: BTreeSet<Inexact>,
    /// Whether a read speculated: then what the other module of a pair produces counts, too.
    pub speculates: bool,
    /// An access outside of a buffer may have gone in several ways, or made others uncertain (`--out-of-bounds robust`).
    pub has_strays: bool,
    /// Keys of buffers and images that writes outside may have changed anywhere.
    pub written_astray: BTreeSet<String>,
    /// Keys of those that are written, and that reads outside may have read anywhere.
    pub read_astray: BTreeSet<String>,
    /// Whether what such reads give is undefined instead of being told value by value.
    pub open_reads: OpenReads,
}

/// Which reads outside of buffers are undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenReads {
    /// None of them.
    #[default]
    None,
    /// Those of which the values are not known, or go in too many ways.
    Some,
    /// All of them, since the search took too many executions.
    All,
}

impl Behaviours {
    /// What went wrong in the search, so that nothing follows from it.
    pub fn bug(&self) -> Option<&Bug> {
        self.undecided.iter().find_map(|why| match why {
            Undecided::Bug(bug) => Some(bug),
            Undecided::Reconvergence { .. } | Undecided::Unsupported { .. } => None,
        })
    }

    /// Paths given up that the model has nothing against: those that others stand for, and those that wait for ever.
    pub fn blocked(&self) -> u64 {
        let rejected = self.paths.ended_as(EndKind::Rejected) - self.discarded();
        rejected + self.paths.ended_as(EndKind::Equal) + self.paths.ended_as(EndKind::Cut)
    }

    /// Sources of reads that the model turned out not to allow.
    pub fn discarded(&self) -> u64 {
        self.paths.ended(PathEnd::Consistency)
    }

    /// How many outcomes there are.
    pub fn count(&self) -> Count {
        let kept = || self.product.as_ref().map_or(self.outcomes.len().into(), |product| product.count());
        self.forgotten.clone().unwrap_or_else(kept)
    }

    /// All but the outcomes, and the values in them.
    pub fn without_outcomes(&self) -> Behaviours {
        Behaviours {
            outcomes: Vec::new(),
            product: None,
            forgotten: Some(self.count()),
            undefined: self.undefined.clone(),
            executions: self.executions.clone(),
            explored: self.explored,
            paths: self.paths.clone(),
            complete: self.complete,
            bounded: self.bounded,
            ends_at_target: self.ends_at_target,
            stopped: self.stopped,
            undecided: self.undecided.clone(),
            produced: Produced::new(),
            inexact: self.inexact.clone(),
            speculates: self.speculates,
            has_strays: self.has_strays,
            written_astray: self.written_astray.clone(),
            read_astray: self.read_astray.clone(),
            open_reads: self.open_reads,
        }
    }

    /// The outcomes that are listed: all but those in factored form, and none where those of several groups are kept as
    /// what they are made of.
    pub fn listed(&self) -> &[(Outcome, Witness)] {
        match self.product.as_deref().map(|product| &product.parts[..]) {
            Some([part]) => &part.outcomes,
            Some(_) | None => &self.outcomes,
        }
    }

    /// The outcomes that are in factored form.
    pub fn factored(&self) -> impl Iterator<Item = &Permuted> {
        self.product.iter().flat_map(|product| &product.parts).flat_map(|part| &part.permuted)
    }

    /// The first outcomes, sorted.
    pub fn first(&self, count: usize) -> Vec<Outcome> {
        match &self.product {
            Some(product) => product.first(count),
            None => self.outcomes.iter().take(count).map(|(outcome, _)| outcome.clone()).collect(),
        }
    }

    /// Makes what is listed the one part of a product, as it is that of another with the same objects.
    pub fn become_part(&mut self, other: &Product) {
        let same_size = |(outcome, _): &(Outcome, Witness)| {
            let sizes = outcome.memory.iter().map(Vec::len);
            outcome.end == End::Hang || sizes.eq(other.initial.iter().map(Vec::len))
        };
        if let (None, [part]) = (&self.product, &other.parts[..]) {
            if !self.outcomes.iter().all(same_size) {
                return;
            }
            let outcomes = std::mem::take(&mut self.outcomes);
            let (members, owned) = (part.members.clone(), part.owned.clone());
            let part = Part { members, outcomes, permuted: Vec::new(), owned };
            let Product { initial, invocations, .. } = other;
            let (initial, invocations) = (initial.clone(), *invocations);
            self.product = Some(Arc::new(Product { parts: vec![part], initial, invocations }));
        }
    }

    /// Multiplies the outcomes out, where they are kept as what they are made of: as many as there are until so many
    /// bytes, that time, or the first that `target` names.
    pub fn multiply_out(
        &mut self,
        max_memory: u64,
        deadline: Option<Deadline>,
        target: &dyn Fn(&Outcome) -> bool,
    ) {
        let Some(product) = self.product.take() else { return };
        let mut bytes = 0_u64;
        let outcomes = product.multiply_out(|outcome, more| {
            self.ends_at_target = more > 0 && target(outcome);
            bytes = bytes.saturating_add(more);
            if bytes >= max_memory {
                self.stopped = Some(Stopped::MaxMemory);
            } else if let Some(deadline) = deadline.filter(Deadline::is_over) {
                self.stopped = Some(deadline.option);
            }
            self.stopped.is_none() && !self.ends_at_target
        });
        self.complete &= self.stopped.is_none() && !self.ends_at_target;
        self.outcomes = outcomes.into_iter().collect();
        self.outcomes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    }
}

/// Values that writes produced, by object key and byte offset: what load buffering may speculate.
pub type Produced = BTreeMap<(String, u32), BTreeSet<Vec<Byte>>>;
