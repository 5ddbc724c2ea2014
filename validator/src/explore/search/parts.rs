//! Parts of a search that run on several threads, and their results, merged in search order.

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::explore::context;
use crate::explore::state::found;
use crate::explore::state::{Found, Round};

/// Executions from which on those that one stands for are put together on several threads, and the parts of that.
pub(crate) const LARGE_EXPANSION: f64 = 4096.0;

pub(crate) const EXPANSION_PARTS: usize = 64;

/// Where a part stands among others, in search order.
#[derive(Clone, Copy)]
pub(crate) struct SearchPosition<'a> {
    /// The part that these are parts of.
    whole: Option<&'a SearchPosition<'a>>,
    index: usize,
    /// The first part after which nothing counts.
    stopped: &'a AtomicUsize,
}

impl SearchPosition<'_> {
    /// Whether nothing that the part still finds counts.
    fn is_superseded(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) < self.index
            || self.whole.is_some_and(SearchPosition::is_superseded)
    }
}

/// Whether nothing that is still found at this place counts.
pub(crate) fn is_superseded(place: Option<&SearchPosition>) -> bool {
    place.is_some_and(SearchPosition::is_superseded)
}

/// Does the parts of some work, at this place, on several threads, and puts together what they found, in their
/// order.
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
