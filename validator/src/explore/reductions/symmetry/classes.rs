//! Classes of invocations that may change places.
//!
//! A *class* is a set of invocations that have the same position in the scopes and whose first communication is the
//! same read-modify-write of one unit. If all invocations write that unit only by read-modify-writes that are mutually
//! ordered, each of these reads what another one wrote, in one chain from the initial value. So in every execution the
//! first read-modify-writes of the class come in some order. If the members of the class do the same when they read the
//! same, exchanging them gives another execution. Of these executions the search visits only the one in which the
//! read-modify-writes come in the order of the invocations' numbers (the *canonical* one): no member does its first
//! read before the member in front of it (it is *gated*).
//!
//! For example, 64 invocations each do `slot = atomicAdd(next, 1); out[slot] = slot`. There are 64! orders of the
//! additions. The search visits the one in which invocation k reads k.
//!
//! It is checked that the members do the same. What an invocation has read so far is its *history*. Whenever an
//! invocation of a class reads in a canonical execution, all members of its class run by themselves
//! ([`replay`](crate::explore::reductions::symmetry::replay)) with that history. They must do the same, and reach the
//! same read or their end. Then every execution is a canonical one in which members have changed places. Proof: take
//! the events of an execution in an order of program order and reads-from. Each member of a class reaches its event by
//! a history that the member whose place it has also had in a canonical execution. So the latter does the same there,
//! and the axioms do not distinguish the two.
//!
//! Turns of spin loops that are left out must be left out for all members. Where reads speculate, the order of events
//! does not exist. If a read speculates, or if a path is cut or waits for ever, the round is repeated without symmetry.
//! For memory without events see [`orbit`](crate::explore::reductions::symmetry::orbit), and for values that
//! distinguish invocations see [`relabelling`](crate::explore::reductions::symmetry::relabelling).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::explore::reductions::symmetry::leaves::{Leaf, Own};
use crate::explore::reductions::symmetry::replay::{self, Deed, End, Ground, Run};
use crate::ir::{placed_stores, InstId, Program};
use crate::model::graph::Unit;
use crate::value::Byte;

/// The number of invocations of a dispatch up to which classes are looked for.
pub(crate) const MAX_INVOCATIONS: usize = 1024;

/// The number of runs that the histories of a class may keep.
const MAX_RUNS: usize = 1 << 21;

/// The history of an invocation that has read nothing.
pub(crate) const NOTHING: u32 = 0;

/// The history of an invocation that has read something which depends on the places of the invocations in a class.
pub(crate) const PARTED: u32 = u32::MAX;

/// The number of instructions with varied values up to which a class is kept.
pub(crate) const MAX_VARIED: usize = 16;

/// The classes of a round.
pub(crate) struct Symmetry {
    pub(crate) classes: Vec<Class>,
    /// For each invocation, its class and its number in the class.
    pub(crate) places: Vec<Option<(usize, usize)>>,
    /// The initial contents of each memory.
    pub(crate) initial: Vec<Vec<Byte>>,
}

/// Invocations that may change places.
pub(crate) struct Class {
    /// The members, ascending.
    pub(crate) members: Vec<u32>,
    /// The unit of their first read-modify-writes.
    pub(crate) unit: Unit,
    histories: Mutex<Histories>,
}

/// What the members of a class do, by what they have read so far.
struct Histories {
    nodes: Vec<History>,
    /// The history that follows a history when these bytes are read.
    next: FxHashMap<(u32, SmallVec<[Byte; 8]>), u32>,
    /// The stores to whose addresses alone the result of the first read matters. It is `None` if that is not the case,
    /// or was found to fail.
    placing: Option<Placing>,
}

/// What the members do if the result of their first read decides only where they place something.
struct Placing {
    stores: Vec<InstId>,
    /// What each member leaves, once all of them were run with one result.
    own: Option<Arc<Own>>,
}

#[derive(Default)]
struct History {
    /// Where all members stop. It is `None` if they do not do the same.
    end: Option<End>,
    /// Instructions that write values which differ between members, and that were not known to do so.
    unknown: Vec<InstId>,
    /// Whether instructions that are known to be varied write values which differ between members.
    is_varied: bool,
    runs: Arc<Vec<Run>>,
    /// What the members did without events, if they are finished.
    leaf: Option<Arc<Leaf>>,
}

impl Symmetry {
    /// The class of an invocation, and the number of the invocation there.
    pub(crate) fn place(&self, index: usize) -> Option<(&Class, usize)> {
        let (class, number) = self.place_number(index)?;
        Some((&self.classes[class], number))
    }

    /// The number of the class of an invocation, and the number of the invocation there.
    pub(crate) fn place_number(&self, index: usize) -> Option<(usize, usize)> {
        self.places[index]
    }
}

/// Invocations that begin alike.
pub(crate) struct Start {
    pub(crate) deeds: Vec<Deed>,
    pub(crate) end: End,
    pub(crate) unit: Unit,
    pub(crate) members: Vec<u32>,
    pub(crate) runs: Vec<Run>,
}

impl Class {
    pub(crate) fn new(program: &Program, start: Start) -> Self {
        let stores = match &start.end {
            End::Reading { access, .. } => placed_stores(program, access.inst),
            End::Finished | End::Spins => None,
        };
        let placing = stores.map(|stores| Placing { stores, own: None });
        let first = History { end: Some(start.end), runs: Arc::new(start.runs), ..History::default() };
        let histories = Histories { nodes: vec![first], next: FxHashMap::default(), placing };
        Class { members: start.members, unit: start.unit, histories: Mutex::new(histories) }
    }
}

impl Class {
    fn histories(&self) -> MutexGuard<'_, Histories> {
        // A panic in another thread leaves complete entries only.
        self.histories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The history that follows when these bytes are read.
    pub(crate) fn next(&self, ground: &Ground, history: u32, bytes: &[Byte]) -> Next {
        let mut histories = self.histories();
        let key = (history, SmallVec::from_slice(bytes));
        let next = match histories.next.get(&key) {
            Some(next) => *next,
            None => {
                if histories.nodes.len() * self.members.len() >= MAX_RUNS {
                    return Next::Different;
                }
                let next = histories.nodes.len() as u32;
                let placed = if history == NOTHING { histories.placed(ground, bytes) } else { None };
                let node =
                    placed.unwrap_or_else(|| histories.nodes[history as usize].followed_by(ground, bytes));
                histories.nodes.push(node);
                histories.next.insert(key, next);
                next
            }
        };
        let node = &histories.nodes[next as usize];
        match &node.end {
            _ if !node.unknown.is_empty() => Next::Unknown(node.unknown.clone()),
            None => Next::Different,
            Some(_) if node.is_varied => Next::Varied(next),
            Some(_) => Next::Same(next),
        }
    }

    /// The runs of the members with a history that ends at a read, and that read.
    pub(crate) fn runs(&self, history: u32) -> Option<(Arc<Vec<Run>>, End)> {
        let histories = self.histories();
        let node = histories.nodes.get(history as usize)?;
        Some((node.runs.clone(), node.end.clone()?))
    }

    /// What the members did without events, if they are finished at the end of a history.
    pub(crate) fn leaf(&self, history: u32) -> Option<Arc<Leaf>> {
        self.histories().nodes.get(history as usize)?.leaf.clone()
    }

    pub(crate) fn spins(&self, history: u32) -> bool {
        self.histories().nodes[history as usize].end == Some(End::Spins)
    }
}

impl Histories {
    /// What follows the first read, if the result only chooses a place: one member runs with this result, and all
    /// members have run with one other result.
    fn placed(&mut self, ground: &Ground, bytes: &[Byte]) -> Option<History> {
        // If this fails once, `placing` stays `None`, and all members run with every result.
        let mut placing = self.placing.take()?;
        let ground = Ground { placing: &placing.stores, ..*ground };
        let first = &self.nodes[NOTHING as usize];
        let end = first.end.as_ref()?;
        let go = |run: &Run| {
            let mut run = run.clone();
            let (deeds, end) = run.answer(&ground, end, bytes)?;
            let is_quiet = deeds.iter().all(|deed| matches!(deed, Deed::Updated(..) | Deed::Fence(_)));
            (is_quiet && end == End::Finished).then_some((run, deeds))
        };
        let (one, deeds) = go(first.runs.first()?)?;
        let own = match &placing.own {
            Some(own) => Arc::clone(own),
            None => {
                let all: Vec<(Run, Vec<Deed>)> = first.runs.iter().map(go).collect::<Option<_>>()?;
                let places =
                    |run: &Run| run.memory().placed.iter().map(|(place, _)| *place).collect::<Vec<_>>();
                let there = places(&one);
                if all.iter().any(|(run, other)| *other != deeds || places(run) != there) {
                    return None;
                }
                Arc::new(Own::new(&ground, all.iter().map(|(run, _)| run.memory())))
            }
        };
        let placed = &one.memory().placed;
        if !placed.iter().map(|(_, byte)| byte).eq(own.placed.first()?) {
            return None;
        }
        let leaf = Leaf::placing(&ground, Arc::clone(&own), placed);
        placing.own = Some(own);
        self.placing = Some(placing);
        Some(History { end: Some(End::Finished), leaf: Some(Arc::new(leaf)), ..History::default() })
    }
}

impl History {
    fn followed_by(&self, ground: &Ground, bytes: &[Byte]) -> History {
        let mut next = History::default();
        let Some(end) = &self.end else { return next };
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut common: Option<(Vec<Deed>, End)> = None;
        for run in self.runs.iter() {
            let mut run = run.clone();
            let Some(done) = run.answer(ground, end, bytes) else { return next };
            let common = common.get_or_insert_with(|| done.clone());
            if !replay::have_same_shape(common, &done) {
                return next;
            }
            let different = common.0.iter().zip(&done.0).filter(|(a, b)| a != b);
            for (inst, _) in different.filter_map(|(deed, _)| deed.write()) {
                match ground.knowledge.varied.contains(&inst) {
                    true => next.is_varied = true,
                    false => next.unknown.push(inst),
                }
            }
            runs.push(run);
        }
        next.end = common.map(|(_, end)| end);
        match next.end {
            Some(End::Finished) => {
                next.leaf = Some(Arc::new(Leaf::new(ground, runs.iter().map(Run::memory))));
            }
            Some(End::Reading { .. } | End::Spins) | None => next.runs = Arc::new(runs),
        }
        next
    }
}

/// What follows a history when something is read.
pub(crate) enum Next {
    Same(u32),
    /// The members do the same except for what instructions write that are known to be varied.
    Varied(u32),
    /// The members do the same except for what these instructions write.
    Unknown(Vec<InstId>),
    Different,
}
