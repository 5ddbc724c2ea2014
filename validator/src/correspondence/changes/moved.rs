//! What moved, and across what.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::aligned::{Aligned, Named};
use super::{is_access, is_flow, noun, Change, ChangeKind};

/// Instructions of after that moved. One across which several others moved is told once, as what moved.
pub(super) fn changes(aligned: &Aligned<'_, '_>) -> Vec<Change> {
    let all = aligned.same.iter().chain(&aligned.changed).chain(&aligned.moved);
    let of_before: HashMap<usize, usize, FxBuildHasher> = all.map(|(old, new)| (*new, *old)).collect();
    aligned.moved.iter().filter_map(|(old, new)| change(aligned, &of_before, *old, *new)).collect()
}

fn change(
    aligned: &Aligned<'_, '_>,
    of_before: &HashMap<usize, usize, FxBuildHasher>,
    old: usize,
    new: usize,
) -> Option<Change> {
    let moved = &aligned.after[new];
    // What stands on the other side in before.
    let crossed = |at: &usize| of_before.get(at).is_some_and(|other| (*at < new) != (*other < old));
    let across: Vec<usize> = (0..aligned.after.len()).filter(|at| *at != new).filter(crossed).collect();
    let rank = |at: &usize| {
        let distance = at.abs_diff(new);
        (weight(&aligned.after[*at]), distance)
    };
    let nearest = across.into_iter().min_by_key(rank)?;
    // Which of two changed places is told as a move across the other: a plain access, across what orders it.
    let swaps =
        weight(moved) < weight(&aligned.after[nearest]) && is_access(aligned.after[nearest].inst.opcode);
    let (from, to, across) = match (swaps, of_before.get(&nearest)) {
        (true, Some(other)) => (*other, nearest, new),
        _ => (old, new, nearest),
    };
    let (moved, other) = (&aligned.after[to], &aligned.after[across]);
    let acts = is_access(moved.inst.opcode) || is_barrier(moved);
    let kind = match (acts, weight(other)) {
        (true, 0 | 1) => ChangeKind::Ordering,
        (true, _) => ChangeKind::Access,
        // A label moves with what stands behind it.
        (false, _) if is_flow(moved.inst.opcode) => ChangeKind::Computation,
        (false, _) => ChangeKind::Value,
    };
    if !acts && weight(other) > 3 {
        return None;
    }
    let side = if across < to { "behind" } else { "in front of" };
    Some(Change {
        kind,
        lines: vec![moved.inst.line, other.inst.line],
        lines_of_before: vec![aligned.before[from].inst.line],
        sentence: format!(
            "the {} on line {} (before: line {}) moved {side} the {} on line {}: {}",
            noun(moved.inst.opcode),
            moved.inst.line,
            aligned.before[from].inst.line,
            noun(other.inst.opcode),
            other.inst.line,
            moved.text
        ),
    })
}

fn is_barrier(one: &Named<'_, '_>) -> bool {
    matches!(one.inst.opcode, "OpControlBarrier" | "OpMemoryBarrier")
}

/// What is told first of what something moved across.
fn weight(one: &Named<'_, '_>) -> usize {
    match one.inst.opcode {
        "OpControlBarrier" | "OpMemoryBarrier" => 0,
        opcode if opcode.starts_with("OpAtomic") => 1,
        opcode if is_access(opcode) => 2,
        "OpBranchConditional" | "OpSwitch" => 3,
        _ => 4,
    }
}
