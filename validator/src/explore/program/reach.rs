//! Which instructions an invocation may still reach from its call stack.

use crate::ir::{ControlOp, CooperativeOp, FunctionId, InstId, Op, Program};
use crate::model::relation::Relation;

/// Reachability in the control flow of a program, over blocks and calls.
pub(crate) struct Reach {
    functions: Vec<FunctionReach>,
    /// For each function, the functions that a call of it may execute, itself included.
    executes: Relation,
}

struct FunctionReach {
    /// The first instruction of each block, ascending by block.
    starts: Vec<u32>,
    /// The blocks that can follow each block, in any number of steps.
    follows: Relation,
    /// The calls in this function: index of the instruction, and callee.
    calls: Vec<(u32, FunctionId)>,
    /// The calls in this function that may be repeated when they return: a call for each component of a cooperative
    /// matrix.
    repeated: Vec<u32>,
}

impl Reach {
    pub(crate) fn new(program: &Program) -> Self {
        let functions: Vec<FunctionReach> = program
            .functions
            .iter()
            .map(|function| {
                let count = function.blocks.len();
                let starts: Vec<u32> = function.blocks.iter().map(|block| block.start).collect();
                let mut follows = Relation::new(count);
                let mut calls = Vec::new();
                let mut repeated = Vec::new();
                for (index, inst) in function.code.iter().enumerate() {
                    let from = block_of(&starts, index as u32);
                    let mut edge = |target: u32| {
                        if (from.max(target as usize)) < count {
                            follows.insert(from, target as usize);
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
                follows.close();
                FunctionReach { starts, follows, calls, repeated }
            })
            .collect();
        let count = functions.len();
        let mut executes = Relation::new(count);
        for (caller, function) in functions.iter().enumerate() {
            executes.insert(caller, caller);
            let callees = function.calls.iter().map(|(_, callee)| callee.0 as usize);
            callees.filter(|callee| *callee < count).for_each(|callee| executes.insert(caller, callee));
        }
        executes.close();
        Reach { functions, executes }
    }

    /// Whether an invocation may reach `target`, if `position` is its call stack: the innermost frame is the last one
    /// and has the instruction that runs next.
    pub(crate) fn may_reach(&self, position: &[InstId], target: InstId) -> bool {
        let innermost = position.len().saturating_sub(1);
        position.iter().enumerate().any(|(depth, at)| {
            let Some(function) = self.functions.get(at.function.0 as usize) else { return true };
            let returns = depth != innermost && !function.repeated.contains(&at.index);
            let from = at.index + u32::from(returns);
            let within = at.function == target.function && function.reaches(from, target.index);
            within
                || function.calls.iter().any(|(call, callee)| {
                    may_relate(&self.executes, callee.0 as usize, target.function.0 as usize)
                        && function.reaches(from, *call)
                })
        })
    }
}

impl FunctionReach {
    fn reaches(&self, from: u32, target: u32) -> bool {
        let (a, b) = (block_of(&self.starts, from), block_of(&self.starts, target));
        a == b && target >= from || may_relate(&self.follows, a, b)
    }
}

fn block_of(starts: &[u32], index: u32) -> usize {
    starts.partition_point(|start| *start <= index).saturating_sub(1)
}

/// Whether `a` is related to `b`. If one of them is out of range, the answer is that they may be.
fn may_relate(relation: &Relation, a: usize, b: usize) -> bool {
    a.max(b) >= relation.len() || relation.contains(a, b)
}
