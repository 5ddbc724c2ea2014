//! Which registers and Function variables hold values that may still be read, at the header of each loop.
//!
//! A backward dataflow analysis on values (runs of registers), φ moves being done on the edges. The run of
//! a variable's address stands for the variable's contents: the address itself never changes in a frame.

use super::{Block, Inst, Local, Loop, MemoryOp, Op, Operand};

/// The values of a function: runs of registers, ascending.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    runs: Vec<(u32, u32)>,
}

impl Runs {
    /// Takes up a run of `count` registers from `start`, behind all earlier ones.
    pub fn push(&mut self, start: u32, count: u32) {
        if count != 0 {
            self.runs.push((start, count));
        }
    }

    /// The number of the run that a register is in.
    fn of(&self, register: u32) -> Option<usize> {
        let after = self.runs.partition_point(|&(start, _)| start <= register);
        let index = after.checked_sub(1)?;
        let &(start, count) = self.runs.get(index)?;
        (register - start < count).then_some(index)
    }

    fn of_operand(&self, operand: Operand) -> Option<usize> {
        if operand.is_constant() {
            None
        } else {
            self.of(operand.index())
        }
    }
}

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn new(size: usize) -> Self {
        Set(vec![0; size.div_ceil(64)])
    }

    fn change(&mut self, number: Option<usize>, present: bool) {
        let Some(number) = number else { return };
        if let Some(word) = self.0.get_mut(number / 64) {
            let bit = 1 << (number % 64);
            *word = if present { *word | bit } else { *word & !bit };
        }
    }

    fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    fn unite(&mut self, other: &Set) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

/// The loops with these headers: what is live there after the φ moves of the edge that led there, and which
/// of `locals` are dead. Registers in `fixed` (addresses of module-scope variables, which never change) are
/// left out.
pub(crate) fn loops(
    headers: &[u32],
    blocks: &[Block],
    code: &[Inst],
    runs: &Runs,
    fixed: &[u32],
    locals: &[Local],
) -> Vec<Loop> {
    if headers.is_empty() {
        return Vec::new();
    }
    let code_of = |index: usize| {
        let start = blocks.get(index).map_or(code.len(), |block| block.start as usize);
        let end = blocks.get(index + 1).map_or(code.len(), |block| block.start as usize);
        code.get(start..end).unwrap_or(&[])
    };
    let mut live = vec![Set::new(runs.runs.len()); blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..blocks.len()).rev() {
            let before = live_before(code_of(index), &live, runs, locals);
            if let Some(known) = live.get_mut(index) {
                changed |= *known != before;
                *known = before;
            }
        }
    }
    let run_of_local = |local: &Local| runs.of(local.register);
    let fixed: Vec<usize> = fixed
        .iter()
        .filter_map(|&register| runs.of(register))
        .chain(locals.iter().filter_map(run_of_local))
        .collect();
    let escaping = escaping(code, runs);
    let found = |header: &u32| {
        let set = live.get(*header as usize);
        let is_live = |number: &usize| set.is_some_and(|set| set.contains(*number));
        let live_runs = (0..runs.runs.len()).filter(|number| is_live(number) && !fixed.contains(number));
        let is_dead = |local: &Local| {
            run_of_local(local).is_some_and(|number| !is_live(&number) && !escaping.contains(number))
        };
        Loop {
            header: *header,
            live: live_runs
                .filter_map(|number| runs.runs.get(number))
                .flat_map(|&(start, count)| start..start + count)
                .collect(),
            dead: (0..).zip(locals).filter(|(_, local)| is_dead(local)).map(|(index, _)| index).collect(),
            communicates: false,
        }
    };
    headers.iter().map(found).collect()
}

/// The values that are used otherwise than as the address of a load or a store.
fn escaping(code: &[Inst], runs: &Runs) -> Set {
    let mut set = Set::new(runs.runs.len());
    for inst in code {
        let mut escape = |operand| set.change(runs.of_operand(operand), true);
        match &inst.op {
            Op::Memory(MemoryOp::Load { .. }) => {}
            Op::Memory(MemoryOp::Store { object, .. }) => escape(*object),
            op => {
                op.visit_operands(&mut escape);
                for edge in op.edges() {
                    edge.moves.iter().for_each(|&(_, operand, _)| escape(operand));
                }
            }
        }
    }
    set
}

/// What is live before a block's instructions, given what is live before its successors.
fn live_before(code: &[Inst], live: &[Set], runs: &Runs, locals: &[Local]) -> Set {
    let mut set = Set::new(runs.runs.len());
    for inst in code.iter().rev() {
        for edge in inst.op.edges() {
            let Some(target) = live.get(edge.target as usize) else { continue };
            let mut before = target.clone();
            for &(register, _, _) in &edge.moves {
                before.change(runs.of(register), false);
            }
            for &(_, operand, _) in &edge.moves {
                before.change(runs.of_operand(operand), true);
            }
            set.unite(&before);
        }
        set.change(inst.op.destination().and_then(|register| runs.of(register)), false);
        inst.op.visit_operands(&mut |operand| set.change(runs.of_operand(operand), true));
        if let Op::Memory(MemoryOp::Store { pointer, shape, .. }) = &inst.op {
            let overwrites = |local: &Local| {
                !pointer.is_constant() && local.register == pointer.index() && local.shape == *shape
            };
            if locals.iter().any(overwrites) {
                set.change(runs.of_operand(*pointer), false);
            }
        }
    }
    set
}
