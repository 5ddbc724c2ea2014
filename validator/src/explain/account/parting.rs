//! Where invocations part that come to a control barrier and those that do not.

use std::collections::BTreeMap;

use super::tracer::Taken;
use crate::ir::Line;

/// A branch at which invocations went different ways, of which only one leads to a control barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The branch's line.
    pub line: Line,
    /// Those that come to the barrier.
    pub there: Vec<u32>,
    /// The line of the block that they went to at the branch.
    pub there_to: Line,
    /// Those that do not.
    pub others: Vec<u32>,
    /// The line of the block that they went to at the branch.
    pub others_to: Line,
}

/// The first branch at which the ways of two invocations part, one of those that come to the barrier and one of the
/// others, with all who went as these two.
pub(super) fn of(there: &[u32], others: &[u32], taken: &BTreeMap<u32, Vec<Taken>>) -> Option<Parting> {
    let ways = |invocation: &u32| taken.get(invocation).map_or(&[][..], |ways| &ways[..]);
    let (one, other) = (ways(there.first()?), ways(others.first()?));
    let at = one.iter().zip(other).position(|(a, b)| a != b)?;
    let (a, b) = (one.get(at)?, other.get(at)?);
    if a.line != b.line {
        return None;
    }
    let like = |way: Taken, all: &[u32]| {
        all.iter().copied().filter(|invocation| ways(invocation).get(at) == Some(&way)).collect::<Vec<u32>>()
    };
    Some(Parting {
        line: a.line,
        there: like(*a, there),
        there_to: a.to,
        others: like(*b, others),
        others_to: b.to,
    })
}
