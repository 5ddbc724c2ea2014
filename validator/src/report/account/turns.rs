//! The loops in which an invocation is at a place of its history, and in which turns of them.

use super::flow::Flow;
use super::way::entered;
use super::Code;
use crate::explain::History;
use crate::ir::Line;

/// The loops around the last instruction of a history, in words: `in turn 3 of the loop on line 370`; `None` outside of
/// loops, and where the beginning of the history is missing.
pub(in crate::report) fn of_history(history: &History, code: &Code<'_>) -> Option<String> {
    told(&Flow { code, history }, history.entries.len().checked_sub(1)?)
}

/// The same of a place in a history.
pub(super) fn told(flow: &Flow<'_, '_>, at: usize) -> Option<String> {
    let loops = around(flow, at)?;
    let mut words = loops.iter().map(|(line, turn)| format!("turn {turn} of the loop on line {line}"));
    let innermost = words.next()?;
    let outer = words.map(|outer| format!(", in {outer}")).collect::<String>();
    Some(format!("in {innermost}{outer}"))
}

/// The lines of the headers of the loops around a place and around the calls that it is in, the innermost first, with the
/// number of times that they were entered, from 1. `None` where the beginning of the history is missing.
fn around(flow: &Flow<'_, '_>, mut at: usize) -> Option<Vec<(Line, usize)>> {
    if !flow.history.is_whole {
        return None;
    }
    let entries = &flow.history.entries;
    let blocks = entered(flow);
    let mut all = Vec::new();
    loop {
        let depth = entries.get(at)?.depth;
        let call = entries[..at].iter().rposition(|entry| entry.depth < depth);
        let begin = call.map_or(0, |call| call + 1);
        let own =
            blocks.iter().filter(|(place, _)| (begin..=at).contains(place) && entries[*place].depth == depth);
        all.extend(of_blocks(flow, own.map(|(_, block)| *block)));
        match call {
            Some(call) => at = call,
            None => return Some(all),
        }
    }
}

/// The loops that are not left behind these blocks of one function. A loop is left at its merge block (Structured Control
/// Flow in the SPIR-V specification).
fn of_blocks(flow: &Flow<'_, '_>, blocks: impl Iterator<Item = Line>) -> Vec<(Line, usize)> {
    let merge = |header: Line| flow.code.merge_of_loop(header);
    let mut loops: Vec<(Line, usize)> = Vec::new();
    for block in blocks {
        if let Some(left) = loops.iter().position(|(header, _)| merge(*header) == Some(block)) {
            loops.truncate(left);
        }
        match loops.iter().position(|(header, _)| *header == block) {
            Some(known) => {
                loops.truncate(known + 1);
                loops[known].1 += 1;
            }
            None if merge(block).is_some() => loops.push((block, 1)),
            None => {}
        }
    }
    loops.reverse();
    loops
}
