//! Which memory an invocation read.

use std::collections::BTreeSet;

use super::flow::Flow;
use super::Code;
use crate::explain::History;

/// Loads that are looked at.
const LOADS: usize = 1 << 10;

/// The places in blocks that an invocation read in front of a place of its history, or up to its end, the last first: the
/// keys of the memory and the first bytes.
pub(in crate::report) fn reads(
    history: &History,
    code: &Code<'_>,
    until: Option<usize>,
) -> Vec<(String, usize)> {
    let flow = Flow { code, history };
    let end = until.unwrap_or(usize::MAX).min(history.entries.len());
    let mut known = BTreeSet::new();
    let loads = (0..end).rev().filter_map(|at| flow.reached(at)).take(LOADS);
    loads.filter(|place| known.insert(place.clone())).collect()
}
