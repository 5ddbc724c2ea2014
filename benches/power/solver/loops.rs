//! Counters that are indices in every turn of a loop.
//!
//! A counter that grows by a small step, and leads to an element of an array but for what stays the same in the loop, leaves
//! that array before it has grown by its length. So what it is compared with is hardly greater than the length: otherwise
//! before's behaviour is undefined in a later turn. That turn comes, as the only way out of the loop is the comparison, and
//! nothing in it can take forever. Another way out may be there that is taken after 2^64 turns only ([`countdown`]).

mod countdown;

use std::collections::HashSet;

use rspirv::dr::{Function, Instruction};
use rspirv::spirv::{Op, Word};

use super::super::equivalent::Bounds;
use super::evaluate::ids;
use super::graph::Graph;
use super::side::{Extent, Side};
use super::terms::Terms;

/// Steps that are greater might pass over what is out of bounds.
const MOST_STEP: u64 = 1 << 16;

/// What a counter is compared with, in a block.
pub struct Limit {
    pub block: usize,
    pub counter: Word,
    pub bound: Word,
    /// What the counter is at first, where that is known.
    pub first: Option<Word>,
    /// The counter may be the bound in a turn.
    pub includes: bool,
    /// Where a turn goes on after the comparison.
    pub turn: usize,
    /// A bound that is greater than the first value is so by this at most.
    pub most: u64,
    /// The bound is at most this, where the counter begins with small numbers.
    pub greatest: Option<u64>,
    /// The counter is at most so much greater there.
    pub step: u64,
}

/// The loops of a function.
pub struct Loops<'l, 'm> {
    pub function: &'m Function,
    pub graph: &'l Graph,
    pub side: &'l mut Side<'m>,
    pub bounds: &'l Bounds<'m>,
    pub terms: &'l mut Terms,
}

/// One loop.
struct Loop {
    header: usize,
    latch: usize,
    inside: HashSet<usize>,
    /// The block of the comparison.
    exit: usize,
}

/// A counter: its OpPhi, its greatest first value, and its step.
struct Counter {
    phi: Word,
    starts: Vec<Word>,
    first: u64,
    step: u64,
}

impl Loops<'_, '_> {
    /// The limits of all loops.
    pub fn limits(&mut self) -> Vec<Limit> {
        let headers = self.function.blocks.iter().enumerate();
        let headers = headers.filter(|(_, block)| opcodes(&block.instructions, &[Op::LoopMerge]));
        let loops: Vec<Loop> = headers.filter_map(|(header, _)| self.loop_at(header)).collect();
        loops.iter().filter_map(|one| self.limit(one)).collect()
    }

    /// The loop with this header, if it has one way back and one way out, and nothing in it can take forever.
    fn loop_at(&self, header: usize) -> Option<Loop> {
        let graph = self.graph;
        let dominates = |one: usize, other: usize| graph.dominating(other).any(|block| block == one);
        let (latch, inside) = graph.natural_loop(header)?;
        let edges = || inside.iter().flat_map(|from| graph.successors(*from).iter().map(|to| (*from, *to)));
        let is_simple =
            edges().all(|(from, to)| to == header || !inside.contains(&to) || !dominates(to, from));
        let is_plain = inside.iter().all(|block| {
            let code = &self.function.blocks[*block].instructions;
            dominates(header, *block) && !opcodes(code, &[Op::FunctionCall, Op::ControlBarrier])
        });
        let leaving = edges().filter(|(_, to)| !inside.contains(to)).map(|(from, _)| from);
        let exits: HashSet<usize> =
            leaving.filter(|from| !countdown::is_exit(self, *from, (header, latch), &inside)).collect();
        let exit = *exits.iter().next().filter(|exit| exits.len() == 1 && dominates(**exit, latch))?;
        (is_simple && is_plain).then_some(Loop { header, latch, inside, exit })
    }

    fn limit(&mut self, one: &Loop) -> Option<Limit> {
        let end = self.function.blocks[one.exit].instructions.last()?;
        let [condition, holds, _] = ids(end).collect::<Vec<_>>()[..] else { return None };
        let stays = self.graph.labels.get(&holds).is_some_and(|holds| one.inside.contains(holds));
        let compare = *self.side.instructions.get(&condition).filter(|_| stays)?;
        let [first, second] = ids(compare).collect::<Vec<_>>()[..] else { return None };
        let (counter, bound) = match compare.class.opcode {
            Op::ULessThan | Op::ULessThanEqual => (first, second),
            Op::UGreaterThan | Op::UGreaterThanEqual => (second, first),
            _ => return None,
        };
        let includes = matches!(compare.class.opcode, Op::ULessThanEqual | Op::UGreaterThanEqual);
        let counter = self.counter(counter, one).filter(|_| self.bounds.width(bound) == Some(32))?;
        if !self.is_invariant(bound, one) {
            return None;
        }
        let always = one.inside.iter().copied();
        let always: Vec<usize> =
            always.filter(|at| self.graph.dominating(one.latch).any(|up| up == *at)).collect();
        let mut least: Option<u64> = None;
        for block in always {
            for inst in &self.function.blocks[block].instructions {
                let length = self.shortest_by(inst, &counter, one);
                least = [least, length].into_iter().flatten().min();
            }
        }
        // In the turn in which it is greater than that, it has grown by the length.
        let most = least? + 2 * counter.step;
        let Counter { phi, step, ref starts, first } = counter;
        let greatest = Some(most + first).filter(|greatest| greatest + step <= u64::from(u32::MAX));
        let turn = *self.graph.labels.get(&holds)?;
        let first = <[Word; 1]>::try_from(&starts[..]).ok().map(|[start]| start);
        Some(Limit { block: one.exit, counter: phi, bound, first, includes, turn, most, greatest, step })
    }

    fn counter(&self, id: Word, one: &Loop) -> Option<Counter> {
        let code = &self.function.blocks[one.header].instructions;
        let phi = code.iter().find(|inst| inst.class.opcode == Op::Phi && inst.result_id == Some(id))?;
        let (mut starts, mut first, mut step) = (Vec::new(), 0, None);
        for pair in ids(phi).collect::<Vec<_>>().chunks_exact(2) {
            match self.graph.labels.get(&pair[1]) {
                Some(from) if *from == one.latch => step = self.step(pair[0], id),
                _ => {
                    starts.push(pair[0]);
                    first = first.max(self.bounds.get(pair[0]));
                }
            }
        }
        Some(Counter { phi: id, starts, first, step: step? })
    }

    /// By how much a counter grows to this value.
    fn step(&self, id: Word, counter: Word) -> Option<u64> {
        let inst = self.side.instructions.get(&id).filter(|inst| inst.class.opcode == Op::IAdd)?;
        let by = match ids(inst).collect::<Vec<_>>()[..] {
            [from, by] if from == counter => by,
            [by, from] if from == counter => by,
            _ => return None,
        };
        self.bounds.constant(by).filter(|by| (1..=MOST_STEP).contains(by))
    }

    /// The length of the shortest array that an instruction accesses at the counter, but for what stays the same.
    fn shortest_by(&mut self, inst: &Instruction, counter: &Counter, one: &Loop) -> Option<u64> {
        if !matches!(inst.class.opcode, Op::Load | Op::Store) {
            return None;
        }
        let pointer = ids(inst).next()?;
        let value = self.side.value(pointer, self.terms)?;
        let extents = self.side.extents(&value, self.terms)?;
        let indices = self.indices(pointer)?;
        if indices.len() != extents.len() {
            return None;
        }
        let pairs = indices.into_iter().zip(extents);
        let lengths: Vec<u64> = pairs
            .filter_map(|(index, (_, extent))| match extent {
                Extent::Elements(count) if self.follows(index, counter, one) => Some(count),
                Extent::Elements(_) | Extent::Unknown => None,
            })
            .collect();
        lengths.into_iter().filter(|count| *count <= u64::from(u32::MAX) - MOST_STEP).min()
    }

    /// The indices that lead from a variable to where a pointer points.
    fn indices(&self, pointer: Word) -> Option<Vec<Word>> {
        let inst = self.side.instructions.get(&pointer)?;
        match inst.class.opcode {
            Op::Variable => Some(Vec::new()),
            Op::AccessChain | Op::InBoundsAccessChain => {
                let mut operands = ids(inst);
                let mut indices = self.indices(operands.next()?)?;
                indices.extend(operands);
                Some(indices)
            }
            _ => None,
        }
    }

    /// Whether a value is the counter, but for something that is added and stays the same.
    fn follows(&mut self, id: Word, counter: &Counter, one: &Loop) -> bool {
        if id == counter.phi {
            return true;
        }
        let Some(inst) = self.side.instructions.get(&id).copied() else { return false };
        let operands: Vec<Word> = ids(inst).collect();
        match (inst.class.opcode, &operands[..]) {
            (Op::CopyObject | Op::Bitcast, [of]) => {
                self.bounds.width(*of) == Some(32) && self.follows(*of, counter, one)
            }
            (Op::IAdd, [a, b]) => {
                self.follows(*a, counter, one) && self.is_invariant(*b, one)
                    || self.follows(*b, counter, one) && self.is_invariant(*a, one)
            }
            (Op::ISub, [a, b]) => self.follows(*a, counter, one) && self.is_invariant(*b, one),
            _ => false,
        }
    }

    /// Whether a value is the same in all turns of a loop.
    fn is_invariant(&mut self, id: Word, one: &Loop) -> bool {
        let Some(inst) = self.side.instructions.get(&id).copied() else { return false };
        let is_here = |block: &usize| {
            self.function.blocks[*block].instructions.iter().any(|inst| inst.result_id == Some(id))
        };
        if !one.inside.iter().any(is_here) {
            return true;
        }
        match inst.class.opcode {
            // Memory that nobody writes.
            Op::Load => {
                let pointer = ids(inst).next().and_then(|pointer| self.side.value(pointer, self.terms));
                pointer.is_some_and(|pointer| self.side.constant_memory(&pointer, self.terms).is_some())
            }
            Op::CopyObject
            | Op::Bitcast
            | Op::CompositeExtract
            | Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::ShiftLeftLogical
            | Op::ShiftRightLogical => {
                ids(inst).collect::<Vec<_>>().into_iter().all(|of| self.is_invariant(of, one))
            }
            _ => false,
        }
    }
}

/// Whether one of these instructions is there.
fn opcodes(code: &[Instruction], wanted: &[Op]) -> bool {
    code.iter().any(|inst| wanted.contains(&inst.class.opcode))
}
