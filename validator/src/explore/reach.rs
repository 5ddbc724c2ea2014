//! Which instructions an invocation may still come to.

use crate::ir::{ControlOp, CooperativeOp, FunctionId, InstId, Op, Program};

/// Control-flow reachability of a program, over blocks and calls.
pub(super) struct Reach {
    functions: Vec<FunctionReach>,
}

struct FunctionReach {
    /// First instruction of each block, ascending by block.
    starts: Vec<u32>,
    /// Blocks that can follow each block, in any number of steps.
    follows: Vec<Vec<bool>>,
    /// Calls in this function: instruction index and callee.
    calls: Vec<(u32, FunctionId)>,
    /// Those of them that go on with further calls.
    repeated: Vec<u32>,
    /// Functions that a call of this one may execute, itself included.
    executes: Vec<bool>,
}

impl Reach {
    pub(super) fn new(program: &Program) -> Self {
        let mut functions: Vec<FunctionReach> = program
            .functions
            .iter()
            .map(|function| {
                let count = function.blocks.len();
                let mut follows = vec![vec![false; count]; count];
                let mut calls = Vec::new();
                let mut repeated = Vec::new();
                for (index, inst) in function.code.iter().enumerate() {
                    let from =
                        block_of(&function.blocks.iter().map(|b| b.start).collect::<Vec<_>>(), index as u32);
                    let mut edge = |target: u32| {
                        if let Some(slot) = follows.get_mut(from).and_then(|row| row.get_mut(target as usize))
                        {
                            *slot = true;
                        }
                    };
                    match &inst.op {
                        Op::Control(ControlOp::Branch(to)) => edge(to.target),
                        Op::Control(ControlOp::BranchConditional { yes, no, .. }) => {
                            edge(yes.target);
                            edge(no.target);
                        }
                        Op::Control(ControlOp::Switch { default, cases, .. }) => {
                            edge(default.target);
                            cases.iter().for_each(|(_, case)| edge(case.target));
                        }
                        _ => {}
                    }
                    calls.extend(inst.op.callee().map(|function| (index as u32, function)));
                    if let Op::Cooperative(CooperativeOp::Each(_)) = &inst.op {
                        repeated.push(index as u32);
                    }
                }
                close(&mut follows);
                let starts = function.blocks.iter().map(|block| block.start).collect();
                FunctionReach { starts, follows, calls, repeated, executes: Vec::new() }
            })
            .collect();
        let count = functions.len();
        let mut executes = vec![vec![false; count]; count];
        for (caller, function) in functions.iter().enumerate() {
            executes[caller][caller] = true;
            for (_, callee) in &function.calls {
                if let Some(slot) = executes[caller].get_mut(callee.0 as usize) {
                    *slot = true;
                }
            }
        }
        close(&mut executes);
        for (function, row) in functions.iter_mut().zip(executes) {
            function.executes = row;
        }
        Reach { functions }
    }

    /// Whether an invocation whose call stack is `position` (innermost last, the instruction that
    /// runs next) may come to `target`.
    pub(super) fn may_reach(&self, position: &[InstId], target: InstId) -> bool {
        let innermost = position.len().saturating_sub(1);
        position.iter().enumerate().any(|(depth, at)| {
            let Some(function) = self.functions.get(at.function.0 as usize) else { return true };
            let returns = depth != innermost && !function.repeated.contains(&at.index);
            let from = at.index + u32::from(returns);
            let within = at.function == target.function && function.comes_to(from, target.index);
            within
                || function.calls.iter().any(|(call, callee)| {
                    let executes = self.functions.get(callee.0 as usize).map(|callee| &callee.executes);
                    executes.and_then(|row| row.get(target.function.0 as usize)).copied().unwrap_or(true)
                        && function.comes_to(from, *call)
                })
        })
    }
}

impl FunctionReach {
    fn comes_to(&self, from: u32, target: u32) -> bool {
        let (a, b) = (block_of(&self.starts, from), block_of(&self.starts, target));
        a == b && target >= from || self.follows.get(a).and_then(|row| row.get(b)).copied().unwrap_or(true)
    }
}

fn block_of(starts: &[u32], index: u32) -> usize {
    starts.partition_point(|start| *start <= index).saturating_sub(1)
}

fn close(matrix: &mut [Vec<bool>]) {
    for middle in 0..matrix.len() {
        let through = matrix[middle].clone();
        for row in matrix.iter_mut() {
            if row[middle] {
                for (slot, more) in row.iter_mut().zip(&through) {
                    *slot |= more;
                }
            }
        }
    }
}
