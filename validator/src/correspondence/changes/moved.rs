//! What moved, and across what.

use std::cmp::Ordering;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::aligned::{Aligned, Named};
use super::{is_access, is_flow, noun, Change, ChangeKind};
use crate::ir::Line;

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
    let loops = [loop_around(&aligned.before, from), loop_around(&aligned.after, to)];
    if let (true, Some((how, line))) = (acts, into_or_out_of(loops)) {
        return Some(Change {
            kind,
            lines: vec![moved.inst.line, line],
            lines_of_before: vec![aligned.before[from].inst.line],
            sentence: format!(
                "the {} on line {} (before: line {}) moved {how}: {}",
                noun(moved.inst.opcode),
                moved.inst.line,
                aligned.before[from].inst.line,
                moved.own_text()
            ),
        });
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
            moved.own_text()
        ),
    })
}

/// The innermost loop that an instruction is in: its line, and how many are around the instruction.
fn loop_around(code: &[Named<'_, '_>], at: usize) -> (usize, Option<Line>) {
    let mut open: Vec<(&str, Line)> = Vec::new();
    let mut label = None;
    for one in code.iter().take(at + 1) {
        match one.inst.opcode {
            "OpLabel" => {
                label = Some(one.inst.line);
                open.retain(|(merge, _)| one.inst.result != Some(*merge));
            }
            "OpLoopMerge" => {
                let line = label.unwrap_or(one.inst.line);
                open.extend(one.inst.operands.first().map(|merge| (*merge, line)));
            }
            _ => {}
        }
    }
    (open.len(), open.last().map(|(_, line)| *line))
}

/// Whether something moved out of a loop of before, or into one of after, and the loop's line.
fn into_or_out_of([(old, old_line), (new, new_line)]: [(usize, Option<Line>); 2]) -> Option<(String, Line)> {
    match (old.cmp(&new), old_line, new_line) {
        (Ordering::Greater, Some(line), _) => {
            Some((format!("out of the loop on line {line} of before"), line))
        }
        (Ordering::Less, _, Some(line)) => Some((format!("into the loop on line {line}"), line)),
        _ => None,
    }
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
