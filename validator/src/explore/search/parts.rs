//! Work in parts on several threads. The results of the parts are merged in search order, so that they do not depend on
//! the number of threads.

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::explore::context;
use crate::explore::state::found;
use crate::explore::state::{Found, Round};

/// The number of executions of an orbit from which on they are made on several threads, and the number of parts of that
/// work.
pub(crate) const LARGE_EXPANSION: f64 = 4096.0;

pub(crate) const EXPANSION_PARTS: usize = 64;

/// The place of a part among others, in search order.
#[derive(Clone, Copy)]
pub(crate) struct SearchPosition<'a> {
    /// The part that contains these parts.
    whole: Option<&'a SearchPosition<'a>>,
    index: usize,
    /// The first part after which nothing counts.
    stopped: &'a AtomicUsize,
}

impl SearchPosition<'_> {
    /// Whether nothing counts that this part still finds.
    fn is_superseded(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) < self.index
            || self.whole.is_some_and(SearchPosition::is_superseded)
    }
}

/// Whether nothing counts that is still found at this place.
pub(crate) fn is_superseded(place: Option<&SearchPosition>) -> bool {
    place.is_some_and(SearchPosition::is_superseded)
}

/// Works on the parts of some work on several threads, and combines what they found in their order.
pub(crate) fn in_parts<T: Send>(
    round: &Round,
    parts: Vec<T>,
    place: Option<&SearchPosition>,
    found: &mut Found,
    work: impl Fn(T, &SearchPosition, &mut Found) + Send + Sync,
) {
    let stopped = AtomicUsize::new(usize::MAX);
    let work = |(index, part)| {
        let mut found = Found::default();
        work(part, &SearchPosition { whole: place, index, stopped: &stopped }, &mut found);
        if found.stop {
            stopped.fetch_min(index, Ordering::Relaxed);
        }
        found
    };
    let all = || parts.into_par_iter().enumerate().with_max_len(1).map(work).collect::<Vec<Found>>();
    let parts = match context::pool(round.context) {
        Some(pool) => pool.install(all),
        None => all(),
    };
    for part in parts {
        found::merge(found, part);
        if found.stop {
            return;
        }
    }
}
