//! A way of one invocation through the program, by itself.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::knowledge::UnitKey;
use super::super::phases::Phase;
use crate::interp::Invocation;
use crate::ir::{LoopId, Program};
use crate::value::Byte;

/// When an access takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    pub(super) workgroup: u32,
    /// Barriers passed that order accesses of the class.
    pub(super) ordering: u32,
    pub(super) reference: u32,
    pub(super) non_private: bool,
}

impl Moment {
    /// Whether a barrier orders a read before a write: what the write gives it does not read.
    pub(super) fn is_before(&self, write: &Moment) -> bool {
        self.workgroup == write.workgroup
            && self.ordering < write.ordering
            && self.reference == write.reference
            && self.non_private
            && write.non_private
    }
}

/// Bytes by memory and offset.
pub(super) type OwnBytes = FxHashMap<(u32, u32), Byte>;

/// A way through the program.
#[derive(Clone)]
pub(super) struct Path {
    pub(super) index: u32,
    pub(super) invocation: Invocation,
    /// What the invocation wrote.
    pub(super) own: OwnBytes,
    /// Writes that changed it.
    pub(super) changes: u64,
    pub(super) phase: Phase,
    /// How often it updated a unit.
    pub(super) updates: FxHashMap<UnitKey, u32>,
    /// Undefined values stand for such as it may have read.
    pub(super) guesses: bool,
    arrivals: Vec<Arrival>,
}

/// The last arrival at a loop header.
#[derive(Clone)]
struct Arrival {
    depth: u32,
    loop_id: LoopId,
    invocation: Arc<Invocation>,
    changes: u64,
}

impl Path {
    pub(super) fn new(index: u32, invocation: Invocation) -> Path {
        Path {
            index,
            invocation,
            own: OwnBytes::default(),
            changes: 0,
            phase: Phase::default(),
            updates: FxHashMap::default(),
            guesses: false,
            arrivals: Vec::new(),
        }
    }

    /// Whether the iteration that ends changed nothing and came back to the state at the last arrival.
    pub(super) fn comes_back(&self, program: &Program, depth: u32, loop_id: LoopId) -> bool {
        let last = self.arrivals.iter().find(|last| last.depth == depth && last.loop_id == loop_id);
        last.is_some_and(|last| {
            last.changes == self.changes && self.invocation.same_state(&last.invocation, program)
        })
    }

    pub(super) fn arrive(&mut self, depth: u32, loop_id: LoopId) {
        self.arrivals.retain(|last| last.depth < depth || last.depth == depth && last.loop_id < loop_id);
        let (changes, invocation) = (self.changes, Arc::new(self.invocation.clone()));
        self.arrivals.push(Arrival { depth, loop_id, invocation, changes });
    }
}
