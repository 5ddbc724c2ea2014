//! Which registers hold values that may still be read, at the header of each loop.
//!
//! A backward dataflow analysis on values (runs of registers), φ moves being done on the edges.

use super::{Block, Inst, Operand};

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

/// The registers that are live on entry to each of these blocks, after the φ moves of the edge that
/// led there. Runs in `fixed` (addresses of variables, which never change in a frame) are left out.
pub(crate) fn live_registers(
    headers: &[u32],
    blocks: &[Block],
    code: &[Inst],
    runs: &Runs,
    fixed: &[u32],
) -> Vec<Vec<u32>> {
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
            let before = live_before(code_of(index), &live, runs);
            if let Some(known) = live.get_mut(index) {
                changed |= *known != before;
                *known = before;
            }
        }
    }
    let fixed: Vec<usize> = fixed.iter().filter_map(|&register| runs.of(register)).collect();
    let registers = |header: &u32| {
        let set = live.get(*header as usize);
        let is_live =
            |number: &usize| set.is_some_and(|set| set.contains(*number)) && !fixed.contains(number);
        let live_runs = (0..runs.runs.len()).filter(is_live).filter_map(|number| runs.runs.get(number));
        live_runs.flat_map(|&(start, count)| start..start + count).collect()
    };
    headers.iter().map(registers).collect()
}

/// What is live before a block's instructions, given what is live before its successors.
fn live_before(code: &[Inst], live: &[Set], runs: &Runs) -> Set {
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
    }
    set
}
