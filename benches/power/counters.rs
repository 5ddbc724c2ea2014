//! Counters of loops: steps that are taken only behind a test that bounds the counter.
//!
//! A counter is a variable of one function, or an OpPhi. It steps by a constant; that it is bounded follows from the control
//! flow graph: without the edge on which the test holds, the step is reached neither from the function's beginning nor from
//! where the counter is written.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Function, Instruction, Module};
use rspirv::spirv::{Op, Word};

use super::{ids, Bounds, GREATEST};

/// A test that a counter passed.
pub(super) struct Test {
    /// The value that the counter is compared with.
    pub with: Word,
    /// The counter may be that value.
    includes: bool,
    /// A counter with its sign bit set passes.
    pub is_signed: bool,
}

impl Test {
    /// The greatest value of a counter that passed, where it was compared with at most this.
    pub fn greatest(&self, bound: u64) -> u64 {
        if self.includes {
            bound
        } else {
            bound.saturating_sub(1)
        }
    }
}

/// The tests of the steps of all counters, by the steps' ids.
pub(super) fn tests(module: &Module, bounds: &Bounds<'_>) -> HashMap<Word, Test> {
    module.functions.iter().flat_map(|function| tests_of(function, bounds)).collect()
}

fn tests_of(function: &Function, bounds: &Bounds<'_>) -> Vec<(Word, Test)> {
    let blocks: Vec<&[Instruction]> = function.blocks.iter().map(|block| &block.instructions[..]).collect();
    let labels: HashMap<Word, usize> =
        (0..).zip(&function.blocks).filter_map(|(at, block)| Some((block.label_id()?, at))).collect();
    let mut found = Vec::new();
    for (home, code) in blocks.iter().enumerate() {
        for (number, step) in code.iter().enumerate().filter(|(_, inst)| inst.class.opcode == Op::IAdd) {
            let (Some(id), [counter, by]) = (step.result_id, &ids(step).collect::<Vec<_>>()[..]) else {
                continue;
            };
            let Some(counter) = bounds.counter(*counter) else { continue };
            let is_elsewhere = bounds.writes_of(counter)
                != blocks.iter().map(|code| writes(code, counter, bounds)).sum::<usize>();
            let is_step = bounds.constant(*by).is_some_and(|by| by <= GREATEST);
            if !is_step || is_elsewhere || writes(&code[..number], counter, bounds) > 0 {
                continue;
            }
            let written =
                (0..blocks.len()).filter(|at| *at == home || writes(blocks[*at], counter, bounds) > 0);
            let starts: Vec<usize> = written.collect();
            let tests = blocks.iter().enumerate().filter_map(|(at, code)| {
                let (test, holds) = test_in(code, counter, bounds)?;
                let edge = (at, *labels.get(&holds)?);
                (!is_reached_without(edge, (&starts, home), &blocks, &labels)).then_some(test)
            });
            found.extend(tests.take(1).map(|test| (id, test)));
        }
    }
    found
}

/// The test of a counter by which a block ends, and where it goes if that holds.
fn test_in(code: &[Instruction], counter: Word, bounds: &Bounds<'_>) -> Option<(Test, Word)> {
    let end = code.last().filter(|inst| inst.class.opcode == Op::BranchConditional)?;
    let [condition, holds, fails] = ids(end).collect::<Vec<_>>()[..] else { return None };
    let compare = code.iter().find(|inst| inst.result_id == Some(condition))?;
    let [first, second] = ids(compare).collect::<Vec<_>>()[..] else { return None };
    let (includes, is_signed) = match compare.class.opcode {
        Op::ULessThan => (false, false),
        Op::SLessThan => (false, true),
        Op::ULessThanEqual => (true, false),
        Op::SLessThanEqual => (true, true),
        _ => return None,
    };
    let is_loaded_here = code.iter().any(|inst| inst.result_id == Some(first)) || first == counter;
    let is_written = writes(code, counter, bounds) > 0;
    let is_test = holds != fails && !is_written && is_loaded_here && bounds.counter(first) == Some(counter);
    is_test.then_some((Test { with: second, includes, is_signed }, holds))
}

/// How often this code writes a variable.
fn writes(code: &[Instruction], counter: Word, bounds: &Bounds<'_>) -> usize {
    let is_write = |inst: &&Instruction| {
        inst.class.opcode == Op::Store
            && ids(inst).next().is_some_and(|pointer| bounds.root(pointer) == counter)
    };
    code.iter().filter(is_write).count()
}

/// Whether a block is reached from the first one, or from behind one of these, without this edge.
fn is_reached_without(
    edge: (usize, usize),
    (starts, home): (&[usize], usize),
    blocks: &[&[Instruction]],
    labels: &HashMap<Word, usize>,
) -> bool {
    let successors = |at: usize| {
        let targets = blocks[at].last().into_iter().flat_map(ids).filter_map(|id| labels.get(&id).copied());
        targets.filter(move |target| (at, *target) != edge).collect::<Vec<_>>()
    };
    if home == 0 {
        return true;
    }
    let mut next: Vec<usize> = starts.iter().chain(&[0]).flat_map(|start| successors(*start)).collect();
    let mut reached: HashSet<usize> = HashSet::new();
    while let Some(block) = next.pop() {
        if block == home {
            return true;
        }
        if reached.insert(block) {
            next.extend(successors(block));
        }
    }
    false
}
