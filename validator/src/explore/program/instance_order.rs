//! Which dynamic instances of subgroup operations and barriers may follow which others in one invocation.
//!
//! The name of an instance consists of instructions and iteration counts (docs/semantics.md, section 4.7). For example,
//! an invocation in iteration 2 of a loop can still reach the instance of that loop's barrier in iteration 3, but not
//! the one in iteration 1.

use crate::dispatch::Dispatch;
use crate::event::InstanceName;
use crate::interp::barrier::loops_around;
use crate::ir::{FunctionId, InstId, LoopId, Op, Program};

/// The invocations of each subgroup, ascending.
pub(crate) fn subgroups(dispatch: &Dispatch) -> Vec<Vec<usize>> {
    let count = dispatch.places.iter().map(|place| place.subgroup as usize + 1).max().unwrap_or(0);
    let mut subgroups = vec![Vec::new(); count];
    for (index, place) in dispatch.places.iter().enumerate() {
        if let Some(members) = subgroups.get_mut(place.subgroup as usize) {
            members.push(index);
        }
    }
    subgroups
}

/// The invocations of each workgroup, ascending.
pub(crate) fn workgroups(dispatch: &Dispatch) -> Vec<Vec<usize>> {
    let count = dispatch.places.iter().map(|place| place.workgroup as usize + 1).max().unwrap_or(0);
    let mut workgroups = vec![Vec::new(); count];
    for (index, place) in dispatch.places.iter().enumerate() {
        if let Some(members) = workgroups.get_mut(place.workgroup as usize) {
            members.push(index);
        }
    }
    workgroups
}

/// Determines which named instances an invocation may still reach from where it is. The blocks and the iterations of
/// the loops around them determine this.
pub(crate) struct InstanceOrder<'a> {
    program: &'a Program,
    /// For each function and block, the set of blocks that follow it without a back edge. A block follows itself.
    forward: Vec<Vec<Vec<u64>>>,
}

impl<'a> InstanceOrder<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let forward = match program.modes.tangles {
            true => program.functions.iter().map(forward).collect(),
            false => Vec::new(),
        };
        InstanceOrder { program, forward }
    }

    /// Whether an invocation at `from` may still reach the instance `to`.
    pub(crate) fn may_come(&self, from: &InstanceName, to: &InstanceName) -> bool {
        for ((at, iterations), (target, wanted)) in from.path.iter().zip(&to.path) {
            if (at, iterations) != (target, wanted) {
                return self.reaches(*at, iterations, *target, wanted);
            }
        }
        true
    }

    /// The same within one activation of a function.
    fn reaches(&self, at: InstId, iterations: &[u32], target: InstId, wanted: &[u32]) -> bool {
        let (own, others) = (loops_around(self.program, at), loops_around(self.program, target));
        let mut common = 0;
        for (id, other) in own.iter().zip(others) {
            if id != other {
                break;
            }
            match iterations.get(common).cmp(&wanted.get(common)) {
                std::cmp::Ordering::Less => return true,
                std::cmp::Ordering::Greater => return false,
                std::cmp::Ordering::Equal => common += 1,
            }
        }
        let FunctionId(function) = at.function;
        let (Some(code), Some(forward)) =
            (self.program.functions.get(function as usize), self.forward.get(function as usize))
        else {
            return true;
        };
        let block = |inst: InstId| code.blocks.partition_point(|block| block.start <= inst.index) - 1;
        let (from, to) = (block(at), block(target));
        if from == to && target.index > at.index {
            return true;
        }
        let reaches =
            |source: usize| forward.get(source).is_some_and(|row| row[to / 64] >> (to % 64) & 1 == 1);
        // Loops around `at` that do not contain the target may be entered again at their headers.
        let header = |id: &LoopId| code.loops.get(id.0 as usize).map(|inner| inner.header as usize);
        from != to && reaches(from) || own.iter().skip(common).filter_map(header).any(reaches)
    }
}

/// For each block, the set of blocks that follow it without a back edge.
fn forward(function: &crate::ir::Function) -> Vec<Vec<u64>> {
    let count = function.blocks.len();
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, block) in function.blocks.iter().enumerate() {
        let end = function.blocks.get(number + 1).map_or(function.code.len(), |next| next.start as usize);
        let last = function.code.get(block.start as usize..end).and_then(<[_]>::last);
        let edges = last.map_or(Vec::new(), |inst| match &inst.op {
            op @ Op::Control(_) => op.edges(),
            _ => Vec::new(),
        });
        successors[number] =
            edges.iter().filter(|edge| edge.repeats.is_none()).map(|edge| edge.target as usize).collect();
    }
    let mut follows: Vec<Option<Vec<u64>>> = vec![None; count];
    for start in 0..count {
        // A depth-first search: the sets of the blocks that follow a block are complete before its own set is made.
        let mut stack = vec![(start, 0)];
        while let Some((block, next)) = stack.pop() {
            if follows[block].is_some() {
                continue;
            }
            match successors[block].get(next) {
                Some(&successor) => {
                    stack.push((block, next + 1));
                    if follows[successor].is_none() && stack.len() <= count {
                        stack.push((successor, 0));
                    }
                }
                None => {
                    let mut row = vec![0; count.div_ceil(64)];
                    row[block / 64] |= 1 << (block % 64);
                    for successor in &successors[block] {
                        for (word, more) in row.iter_mut().zip(follows[*successor].iter().flatten()) {
                            *word |= more;
                        }
                    }
                    follows[block] = Some(row);
                }
            }
        }
    }
    follows.into_iter().map(Option::unwrap_or_default).collect()
}
