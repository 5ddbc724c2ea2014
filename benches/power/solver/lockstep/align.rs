//! Which instructions of two blocks correspond: those with the same id, and those without one in their order. An optimiser
//! deletes what nobody reads, which may be in one of both only.

use std::collections::HashSet;

use rspirv::dr::Instruction;
use rspirv::spirv::Op;

/// Instructions that correspond, or one that has no counterpart.
pub(super) enum Pair<'m> {
    Both(&'m Instruction, &'m Instruction),
    Before(&'m Instruction),
    After(&'m Instruction),
}

/// All instructions of both blocks.
pub(super) fn align<'m>(before: &'m [Instruction], after: &'m [Instruction]) -> Vec<Pair<'m>> {
    let ids =
        |code: &[Instruction]| -> HashSet<u32> { code.iter().filter_map(|inst| inst.result_id).collect() };
    let (ours, theirs) = (ids(before), ids(after));
    let lacks = |ids: &HashSet<u32>, inst: &Instruction| inst.result_id.is_some_and(|id| !ids.contains(&id));
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let is_store = |inst: Option<&&Instruction>| inst.is_some_and(|inst| inst.class.opcode == Op::Store);
        let is_lost = is_store(before.peek()) && !is_store(after.peek());
        if let Some(one) = before.next_if(|inst| lacks(&theirs, inst)) {
            pairs.push(Pair::Before(one));
        } else if let Some(other) = after.next_if(|inst| lacks(&ours, inst)) {
            pairs.push(Pair::After(other));
        } else if let Some(one) = before.next_if(|_| is_lost) {
            pairs.push(Pair::Before(one));
        } else {
            match (before.next(), after.next()) {
                (Some(one), Some(other)) => pairs.push(Pair::Both(one, other)),
                (Some(one), None) => pairs.push(Pair::Before(one)),
                (None, Some(other)) => pairs.push(Pair::After(other)),
                (None, None) => return pairs,
            }
        }
    }
}
