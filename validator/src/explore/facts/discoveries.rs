//! What one round discovers for the next one.
//!
//! For example, two invocations access a word that the round took for the memory of one of them. The round notes the
//! word in [`Discoveries::shared`], and accesses of that word are events in the next round
//! ([`knowledge`](crate::explore::facts::knowledge)).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::behaviour::VolatileAccess;
use crate::dispatch::Stray;
use crate::event::ClassSet;
use crate::explore::facts::touched::Touched;
use crate::explore::program::units::UnitKey;
use crate::interp::Outside;
use crate::ir::InstId;
use crate::model::graph::{Unit, UnitBytes};

/// Bytes whose accesses no barrier seemed to order. Each access takes all of these bytes or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RaceCandidate {
    pub(crate) memory: u32,
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// How an instruction writes, as far as the order of its writes depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Manner {
    pub(crate) reference: u32,
    pub(crate) class: ClassSet,
    pub(crate) non_private: bool,
}

/// How a round treats a word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Unshared,
    /// The word is one unit.
    Whole(Unit),
    /// The word is four units, one for each byte. This is the first of them.
    Bytes(Unit),
}

/// What a round noticed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discoveries {
    pub(crate) shared: BTreeSet<UnitKey>,
    /// The access that made the first of the shared words seem shared, if it was a plain one.
    pub(crate) race_candidate: Option<RaceCandidate>,
    pub(crate) split: BTreeSet<UnitKey>,
    pub(crate) writers: BTreeMap<UnitKey, BTreeSet<(u32, InstId)>>,
    pub(crate) manners: BTreeMap<(u32, InstId), BTreeSet<Manner>>,
    /// Values that writes of executions gave.
    pub(crate) produced: BTreeMap<UnitKey, BTreeSet<UnitBytes>>,
    /// Values that read-modify-writes of executions would have given, had they read other values.
    pub(crate) attempted: BTreeMap<UnitKey, BTreeSet<UnitBytes>>,
    pub(crate) orders_matter: bool,
    pub(crate) spin_reads: BTreeSet<InstId>,
    pub(crate) spin_units: BTreeMap<(u32, InstId), BTreeSet<UnitKey>>,
    pub(crate) asymmetric: BTreeSet<u32>,
    pub(crate) varied: BTreeSet<InstId>,
    pub(crate) spin_traces: BTreeMap<(u32, InstId), BTreeSet<Vec<VolatileAccess>>>,
    /// Values that writes gave on some path.
    pub(crate) seen: BTreeMap<UnitKey, BTreeSet<UnitBytes>>,
    /// Units for which the round relied on the assumption that no other values are written than those seen before.
    pub(crate) relied: BTreeSet<UnitKey>,
    /// Steps between states with the same future form a cycle.
    pub(crate) futures_form_cycle: bool,
    /// An invocation leaves an endless loop while it stands at a read of that loop.
    pub(crate) leaves_loops: bool,
    /// What the invocations of a group touched, if the group is explored by itself.
    pub(crate) touched: Touched,
    /// Words that reads waited for when a cycle of load buffering was closed.
    pub(crate) closed: BTreeSet<UnitKey>,
    /// On the path of a scout: words that are events, each with an invocation that accesses it.
    pub(crate) meets: BTreeSet<(UnitKey, u32)>,
    /// Words that are no events, each with an invocation that read it where another invocation's value would have been
    /// possible.
    pub(crate) read: FxHashSet<(UnitKey, u32)>,
    /// Units whose writers or values mattered. Another round is needed if more of these are found.
    pub(crate) wanted_writers: BTreeSet<UnitKey>,
    pub(crate) wanted_values: BTreeSet<UnitKey>,
    /// What accesses outside of buffers were seen, with the first version of robust access.
    pub(crate) outside: SeenOutside,
}

/// Accesses outside of buffers on some path.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenOutside {
    /// What they make uncertain that was not known, by location space.
    pub(crate) strays: BTreeMap<u32, Stray>,
    /// Values were told one by one.
    pub(crate) listed: bool,
    /// Values were not told one by one.
    pub(crate) open: bool,
}

impl SeenOutside {
    pub(crate) fn note(&mut self, outside: Outside) {
        match outside {
            Outside::Stray(space, stray) => {
                let known = self.strays.entry(space).or_default();
                *known = known.and(stray);
            }
            Outside::Listed => self.listed = true,
            Outside::Open => self.open = true,
        }
    }

    fn merge(&mut self, other: SeenOutside) {
        other.strays.into_iter().for_each(|(space, stray)| self.note(Outside::Stray(space, stray)));
        self.listed |= other.listed;
        self.open |= other.open;
    }
}

impl Discoveries {
    pub(crate) fn merge(&mut self, other: Discoveries) {
        self.shared.extend(other.shared);
        self.race_candidate = self.race_candidate.or(other.race_candidate);
        self.split.extend(other.split);
        self.orders_matter |= other.orders_matter;
        self.futures_form_cycle |= other.futures_form_cycle;
        self.leaves_loops |= other.leaves_loops;
        self.relied.extend(other.relied);
        merge_sets(&mut self.seen, other.seen);
        self.spin_reads.extend(other.spin_reads);
        self.asymmetric.extend(other.asymmetric);
        self.varied.extend(other.varied);
        self.wanted_writers.extend(other.wanted_writers);
        self.wanted_values.extend(other.wanted_values);
        self.touched.merge(other.touched);
        self.closed.extend(other.closed);
        self.meets.extend(other.meets);
        self.read.extend(other.read);
        self.outside.merge(other.outside);
        merge_sets(&mut self.writers, other.writers);
        merge_sets(&mut self.manners, other.manners);
        merge_sets(&mut self.produced, other.produced);
        merge_sets(&mut self.attempted, other.attempted);
        merge_sets(&mut self.spin_traces, other.spin_traces);
        merge_sets(&mut self.spin_units, other.spin_units);
    }
}

fn merge_sets<K: Ord, V: Ord>(into: &mut BTreeMap<K, BTreeSet<V>>, from: BTreeMap<K, BTreeSet<V>>) {
    for (key, values) in from {
        into.entry(key).or_default().extend(values);
    }
}
