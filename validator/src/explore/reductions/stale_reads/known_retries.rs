//! The turns of retry loops that were tried before, so that each is tried only once in a round.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// Whether a turn of a spin loop is idle, by a number for all that this depends on.
#[derive(Default)]
pub(crate) struct IdleTurns(pub(crate) Mutex<FxHashMap<u128, bool>>);

/// How an invocation continues after a read.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// A number for what the invocation does next that others may notice, and for what memory then holds. It is `None`
    /// if the invocation does more than read.
    pub(crate) number: Option<u128>,
    /// Whether it ends.
    pub(crate) ends: bool,
}

/// How invocations continue, by a number for what this depends on.
#[derive(Default)]
pub(crate) struct Turns(Mutex<FxHashMap<u128, Option<Turn>>>);

impl Turns {
    /// What is known. The inner value is `None` if the turn depends on memory, too.
    pub(crate) fn get(&self, number: u128) -> Option<Option<Turn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&number).copied()
    }

    pub(crate) fn insert(&self, number: u128, turn: Option<Turn>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, turn);
    }
}
