//! Which memory an invocation read.

use std::collections::BTreeSet;

use super::flow::{Flow, Origin};
use super::Code;
use crate::explain::History;

/// Loads that are looked at.
const LOADS: usize = 1 << 10;

/// Instructions that a value is followed back through.
const FOLLOWED: usize = 1 << 10;

/// The places in blocks that an invocation read in front of a place of its history, or up to its end: first those that the
/// instruction there takes what it computes with from, the nearest first, then the others, the last first. They are the keys
/// of the memory and the first bytes.
pub(in crate::report) fn reads(
    history: &History,
    code: &Code<'_>,
    until: Option<usize>,
) -> Vec<(String, usize)> {
    let flow = Flow { code, history };
    let end = until.unwrap_or(usize::MAX).min(history.entries.len());
    let mut known = BTreeSet::new();
    let own = behind(&flow, until.unwrap_or(end.saturating_sub(1)));
    let loads = (0..end).rev().filter_map(|at| flow.reached(at)).take(LOADS);
    let all = own.into_iter().filter_map(|at| flow.reached(at)).chain(loads);
    all.filter(|place| known.insert(place.clone())).collect()
}

/// The instructions that the one at a place takes values from, directly or by others, the nearest first.
fn behind(flow: &Flow<'_, '_>, at: usize) -> Vec<usize> {
    let mut all = vec![at];
    let mut known = BTreeSet::from([at]);
    let mut next = 0;
    while let Some(inst) = all.get(next).and_then(|at| flow.inst(*at)).filter(|_| all.len() < FOLLOWED) {
        let operands = inst.operands.iter().filter(|operand| operand.starts_with('%'));
        let origins: Vec<Origin<'_>> = operands.map(|id| flow.origin(all[next], id)).collect();
        for origin in origins {
            match origin {
                Origin::Instance(at) if known.insert(at) => all.push(at),
                _ => {}
            }
        }
        next += 1;
    }
    all
}
