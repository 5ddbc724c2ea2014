//! Turns of retry loops that were tried before.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// Whether a turn of a spin loop is idle, by what that depends on.
#[derive(Default)]
pub(crate) struct IdleTurns(pub(crate) Mutex<FxHashMap<u128, bool>>);

/// How an invocation goes on behind a read.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// What it does next that others may notice, and what memory then holds; `None` where it does more than read.
    pub(crate) number: Option<u128>,
    /// It ends.
    pub(crate) ends: bool,
}

/// How invocations go on, by what that depends on.
#[derive(Default)]
pub(crate) struct Turns(Mutex<FxHashMap<u128, Option<Turn>>>);

impl Turns {
    /// What is known; nothing where that hangs on memory, too.
    pub(crate) fn get(&self, number: u128) -> Option<Option<Turn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&number).copied()
    }

    pub(crate) fn insert(&self, number: u128, turn: Option<Turn>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, turn);
    }
}
