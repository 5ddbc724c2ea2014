//! Where an invocation goes another way in after than in before, or comes to an instruction with other values.

use std::collections::{BTreeMap, BTreeSet};

use super::descent::{sentence, Difference};
use super::flow::Flow;
use super::{descent, Code};
use crate::explain::History;
use crate::ir::Line;

/// The branch at which an invocation goes another way in after than in before, or the instructions from which on its
/// condition differs; where it goes the same way up to the end of `new`, and `to_the_end`, those from which on what the last
/// instructions take differs. `counterparts` has for lines of after those of before.
pub(super) fn other_way(
    [old, new]: [&History; 2],
    codes: [&Code<'_>; 2],
    counterparts: &BTreeMap<Line, Line>,
    to_the_end: bool,
) -> Option<Difference> {
    if !old.is_whole || !new.is_whole {
        return None;
    }
    let [old, new] = [Flow { code: codes[0], history: old }, Flow { code: codes[1], history: new }];
    let known: BTreeSet<Line> = counterparts.values().copied().collect();
    let of_after = ends_of_blocks(&new).filter_map(|(at, line)| Some((at, *counterparts.get(&line)?)));
    let mut of_before = ends_of_blocks(&old).filter(|(_, line)| known.contains(line));
    let mut last: Option<[usize; 2]> = None;
    let part = |last: Option<[usize; 2]>| last.and_then(|last| parting(&old, &new, last));
    for (other, its) in of_after {
        match of_before.next() {
            Some((at, line)) if line == its => last = Some([at, other]),
            Some(_) => return part(last),
            // Before ends there, or what is known of it.
            None => return to_the_end.then(|| part(last)).flatten(),
        }
    }
    if !to_the_end {
        return None;
    }
    // The same instruction as often as after has come to it.
    let end = new.history.entries.len().checked_sub(1)?;
    let line = new.line(end);
    if !counterparts.contains_key(&line) {
        let same = same_access(&old, &new, end);
        let found = same.and_then(|at| descent::from(&old, &new, [at, end]));
        return found.or_else(|| part(last));
    }
    let times = new.history.entries.iter().filter(|entry| entry.line == line).count();
    let its = *counterparts.get(&line)?;
    let mut places = old.history.entries.iter().enumerate().filter(|(_, entry)| entry.line == its);
    match places.nth(times.checked_sub(1)?) {
        Some((at, _)) => descent::from(&old, &new, [at, end]),
        // Before does not come there.
        None => part(last),
    }
}

/// The access of before that corresponds to one of after in other code: as many of its kind go to the same variable up to
/// there.
fn same_access(old: &Flow<'_, '_>, new: &Flow<'_, '_>, end: usize) -> Option<usize> {
    let wanted = access(new, end)?;
    let times = (0..=end).filter(|at| access(new, *at).as_ref() == Some(&wanted)).count();
    let mut places = (0..old.history.entries.len()).filter(|at| access(old, *at).as_ref() == Some(&wanted));
    places.nth(times.checked_sub(1)?)
}

/// The opcode of an access and the memory that it goes to.
fn access<'t>(flow: &Flow<'_, 't>, at: usize) -> Option<(&'t str, String)> {
    let inst = flow.inst(at)?;
    let pointer = match inst.opcode {
        "OpStore" | "OpAtomicStore" => inst.operands.first()?,
        "OpLoad" => inst.operands.get(1)?,
        opcode if opcode.starts_with("OpAtomic") => inst.operands.get(1)?,
        _ => return None,
    };
    Some((inst.opcode, flow.code.types().key(flow.variable(at, pointer)?)?))
}

/// The instructions that end blocks, in the order of their execution, with their lines.
fn ends_of_blocks<'f>(flow: &'f Flow<'_, '_>) -> impl Iterator<Item = (usize, Line)> + 'f {
    let ends = ["OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue"];
    let entries = flow.history.entries.iter().enumerate();
    entries.filter_map(move |(at, entry)| {
        let inst = flow.inst(at)?;
        ends.contains(&inst.opcode).then_some((at, entry.line))
    })
}

/// A branch that both modules have, which leads to different blocks.
fn parting(old: &Flow<'_, '_>, new: &Flow<'_, '_>, [at, other]: [usize; 2]) -> Option<Difference> {
    let decides = |flow: &Flow<'_, '_>, at: usize| {
        flow.inst(at).is_some_and(|inst| matches!(inst.opcode, "OpBranchConditional" | "OpSwitch"))
    };
    if !decides(old, at) || !decides(new, other) {
        return None;
    }
    if let Some(found) = descent::from(old, new, [at, other]).filter(|found| found.is_origin) {
        return Some(found);
    }
    Some(Difference {
        lines: vec![
            format!("before goes another way from here on (invocation {}):", new.history.invocation),
            format!("  before, line {}: {}", old.line(at), sentence(old, at)?),
            format!("  after, line {}: {}", new.line(other), sentence(new, other)?),
        ],
        at: [old.line(at), new.line(other)],
        is_origin: true,
    })
}
