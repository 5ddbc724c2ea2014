//! A way of one invocation through the program, when the invocation runs by itself.

use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::explore::program::units::UnitKey;
use crate::explore::reductions::barrier_epochs::epoch::Epoch;
use crate::interp::{Invocation, Pauses};
use crate::ir::{LoopId, Program};
use crate::value::Byte;

/// The time of an access, as far as barriers order it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// The workgroup of the invocation. It is `None` if barriers order nothing.
    pub(crate) workgroup: Option<u32>,
    /// The number of passed barriers that order accesses of the class.
    pub(crate) ordering: u32,
    pub(crate) reference: u32,
    pub(crate) non_private: bool,
}

impl Moment {
    /// Whether a barrier orders this access before a later one. A read does not take what a write behind it gives.
    pub(crate) fn is_before(&self, later: &Moment) -> bool {
        self.workgroup.is_some()
            && self.workgroup == later.workgroup
            && self.ordering < later.ordering
            && self.reference == later.reference
            && self.non_private
            && later.non_private
    }
}

/// Bytes by memory and offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnBytes {
    bytes: FxHashMap<(u32, u32), Byte>,
    /// The sum of the hashes of all bytes, which does not depend on their order.
    sum: u128,
}

impl OwnBytes {
    pub(crate) fn get(&self, at: (u32, u32)) -> Option<Byte> {
        self.bytes.get(&at).copied()
    }

    pub(crate) fn insert(&mut self, at: (u32, u32), byte: Byte) {
        let old = self.bytes.insert(at, byte);
        let old = old.map_or(0, |old| hash_of(&(at, old)));
        self.sum = self.sum.wrapping_sub(old).wrapping_add(hash_of(&(at, byte)));
    }
}

impl PartialEq for OwnBytes {
    fn eq(&self, other: &OwnBytes) -> bool {
        self.sum == other.sum && self.bytes == other.bytes
    }
}

fn hash_of(value: &impl Hash) -> u128 {
    let mut hasher = SipHasher13::new();
    value.hash(&mut hasher);
    hasher.finish128().as_u128()
}

/// A way through the program.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) index: u32,
    pub(crate) invocation: Invocation,
    /// What the invocation wrote.
    pub(crate) own: OwnBytes,
    /// The number of writes that changed it.
    pub(crate) changes: u64,
    pub(crate) epoch: Epoch,
    /// Whether the way repeats itself except for barriers. Then barriers do not order what follows.
    pub(crate) unordered: bool,
    /// How often the invocation updated each unit.
    pub(crate) updates: FxHashMap<UnitKey, u32>,
    /// Whether undefined values stand for values that it may have read.
    pub(crate) guesses: bool,
    /// Whether it reached behaviour that is undefined for all values.
    pub(crate) faulted: bool,
    arrivals: Vec<Arrival>,
}

/// One of the last arrivals at a loop header.
#[derive(Clone)]
struct Arrival {
    depth: u32,
    loop_id: LoopId,
    invocation: Arc<Invocation>,
    changes: u64,
    /// What it had written, if that was little, and its updates.
    written: Option<Arc<(OwnBytes, FxHashMap<UnitKey, u32>)>>,
    epoch: Epoch,
    unordered: bool,
}

/// A count that stands for an endless number of updates.
const ENDLESSLY: u32 = u32::MAX;

/// The number of updates of one unit by one invocation that read known values. Further ones read an undefined value.
const MAX_UPDATES: u32 = 128;

/// The number of arrivals at one header that are remembered. What the turns read may lead back to an arrival before the
/// last one.
const MAX_ARRIVALS: usize = 8;

/// The number of bytes that an arrival at a loop header may remember.
const MAX_REMEMBERED: usize = 256;

impl Path {
    pub(crate) fn new(index: u32, invocation: Invocation) -> Path {
        Path {
            index,
            invocation,
            own: OwnBytes::default(),
            changes: 0,
            epoch: Epoch::default(),
            unordered: false,
            updates: FxHashMap::default(),
            guesses: false,
            faulted: false,
            arrivals: Vec::new(),
        }
    }

    /// Whether the turn that ends left everything as it was at an earlier arrival. If only barriers were passed or
    /// units updated, one more turn stands for all later ones.
    pub(crate) fn comes_back(&mut self, program: &Program, depth: u32, loop_id: LoopId) -> bool {
        let at_header = |last: &&Arrival| last.depth == depth && last.loop_id == loop_id;
        let mut last = self.arrivals.iter().rev().filter(at_header);
        let wrote_the_same =
            |last: &Arrival| last.written.as_ref().is_some_and(|written| written.0 == self.own);
        let same = last.find(|last| {
            (last.changes == self.changes || wrote_the_same(last))
                && last.unordered == self.unordered
                && self.invocation.same_state(&last.invocation, program)
        });
        let Some(last) = same else { return false };
        let mut stays = self.unordered || self.epoch == last.epoch;
        self.unordered |= !stays;
        let updated = last.written.as_ref().filter(|_| last.changes != self.changes);
        if let Some((_, before)) = updated.map(|updated| &**updated) {
            for (unit, count) in &mut self.updates {
                if before.get(unit) != Some(count) {
                    *count = ENDLESSLY;
                    stays = false;
                }
            }
        }
        stays
    }

    /// Whether it has updated a unit so often that it may do so for ever with new values. Then an undefined value
    /// stands for them.
    pub(crate) fn keeps_updating(&self, unit: &UnitKey) -> bool {
        self.updates.get(unit).is_some_and(|count| (MAX_UPDATES..ENDLESSLY).contains(count))
    }

    /// A number for all on which the rest of the way depends. It is `None` if the rest depends on more.
    pub(crate) fn future(&self, pauses: &Pauses) -> Option<u128> {
        let mut hasher = SipHasher13::new();
        // A way passes barriers without waiting for others.
        let meets = false;
        if !self.invocation.hash_future(pauses, meets, &mut hasher) {
            return None;
        }
        let updates = self.updates.iter().map(|update| hash_of(&update)).fold(0, u128::wrapping_add);
        (self.own.sum, updates, self.epoch, self.unordered, self.guesses, self.faulted).hash(&mut hasher);
        Some(hasher.finish128().as_u128())
    }

    pub(crate) fn arrive(&mut self, depth: u32, loop_id: LoopId) {
        self.arrivals.retain(|last| last.depth < depth || last.depth == depth && last.loop_id <= loop_id);
        let is_here = |last: &Arrival| last.depth == depth && last.loop_id == loop_id;
        let first = self.arrivals.partition_point(|last| !is_here(last));
        if self.arrivals.len() - first >= MAX_ARRIVALS {
            self.arrivals.remove(first);
        }
        let invocation = Arc::new(self.invocation.clone());
        let is_little = self.own.bytes.len() <= MAX_REMEMBERED;
        let written = is_little.then(|| Arc::new((self.own.clone(), self.updates.clone())));
        let Path { changes, epoch, unordered, .. } = *self;
        self.arrivals.push(Arrival { depth, loop_id, invocation, changes, written, epoch, unordered });
    }
}
