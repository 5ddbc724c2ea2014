//! What of a program was executed: the functions that were entered, the sides of branches that were taken, and the ways
//! that comparisons, truth values, bounds and choices of the lesser or greater went.
//!
//! A [`Dispatch`](crate::dispatch::Dispatch) carries what its executions have covered. Whatever runs on it, a search or a
//! single interleaving, adds to that.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;

use crate::ir::{Block, ControlOp, Function, FunctionId, Inst, InstId, Line, Op, Program};

/// What was covered so far; nothing is noted where nobody asks. Clones share it, and it makes no dispatch another one.
#[derive(Clone, Debug, Default)]
pub struct Coverage(Option<Arc<Vec<Taken>>>);

/// What was covered of a function.
#[derive(Debug, Default)]
struct Taken {
    entered: AtomicBool,
    /// For each instruction, a bit for each of its edges that was taken ([`Op::edges`](crate::ir::Op::edges)); for one that
    /// tells values apart, a bit for each way that it went.
    sides: Vec<AtomicU32>,
}

impl PartialEq for Coverage {
    fn eq(&self, _: &Coverage) -> bool {
        true
    }
}

/// Sides of one instruction that are told apart.
const MOST_SIDES: u32 = 32;

impl Coverage {
    /// Nothing of the program is covered yet.
    pub fn of(program: &Program) -> Coverage {
        let taken = |function: &Function| Taken {
            entered: AtomicBool::new(false),
            sides: function.code.iter().map(|_| AtomicU32::new(0)).collect(),
        };
        Coverage(Some(Arc::new(program.functions.iter().map(taken).collect())))
    }

    /// A function is called.
    #[inline]
    pub fn enter(&self, function: FunctionId) {
        let Some(taken) = self.0.as_deref().and_then(|taken| taken.get(function.0 as usize)) else { return };
        if !taken.entered.load(Ordering::Relaxed) {
            taken.entered.store(true, Ordering::Relaxed);
        }
    }

    /// A side of a branch is taken, or a way of an instruction that tells values apart.
    #[inline]
    pub fn take(&self, branch: InstId, side: u32) {
        let Some(functions) = self.0.as_deref() else { return };
        let taken = functions.get(branch.function.0 as usize);
        let Some(sides) = taken.and_then(|taken| taken.sides.get(branch.index as usize)) else { return };
        let bit = 1 << side.min(MOST_SIDES - 1);
        // Most are known already, and threads share them.
        if sides.load(Ordering::Relaxed) & bit == 0 {
            sides.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Adds what another one covers of the same program. Returns whether something of it was not covered yet.
    pub fn add(&self, other: &Coverage) -> bool {
        let functions = self.0.iter().flat_map(|taken| taken.iter());
        let others = other.0.iter().flat_map(|taken| taken.iter());
        let mut is_new = false;
        for (taken, other) in functions.zip(others) {
            let entered = other.entered.load(Ordering::Relaxed);
            is_new |= entered & !taken.entered.fetch_or(entered, Ordering::Relaxed);
            for (sides, other) in taken.sides.iter().zip(&other.sides) {
                let taken = other.load(Ordering::Relaxed);
                is_new |= taken & !sides.fetch_or(taken, Ordering::Relaxed) != 0;
            }
        }
        is_new
    }

    /// Whether another one covers something of the same program that this does not.
    pub fn lacks_of(&self, other: &Coverage) -> bool {
        let functions = self.0.iter().flat_map(|taken| taken.iter());
        let others = other.0.iter().flat_map(|taken| taken.iter());
        functions.zip(others).any(|(taken, other)| {
            let is_entered = |taken: &Taken| taken.entered.load(Ordering::Relaxed);
            let mut sides = taken.sides.iter().zip(&other.sides);
            is_entered(other) && !is_entered(taken)
                || sides
                    .any(|(sides, other)| other.load(Ordering::Relaxed) & !sides.load(Ordering::Relaxed) != 0)
        })
    }

    /// How much is covered: functions and sides.
    pub fn extent(&self) -> u32 {
        let of = |taken: &Taken| {
            let sides = taken.sides.iter().map(|sides| sides.load(Ordering::Relaxed).count_ones());
            u32::from(taken.entered.load(Ordering::Relaxed)) + sides.sum::<u32>()
        };
        self.0.iter().flat_map(|taken| taken.iter()).map(of).sum()
    }

    /// Whether the side of this number of an instruction was taken.
    pub fn has(&self, at: InstId, number: u32) -> bool {
        let taken = self.0.as_deref().and_then(|taken| taken.get(at.function.0 as usize));
        let sides = taken.and_then(|taken| taken.sides.get(at.index as usize));
        let bit = 1 << number.min(MOST_SIDES - 1);
        sides.is_some_and(|sides| sides.load(Ordering::Relaxed) & bit != 0)
    }

    /// The blocks that were reached, by function and number.
    fn reached(&self, program: &Program) -> BTreeSet<(u32, u32)> {
        let mut reached = BTreeSet::new();
        let functions = self.0.iter().flat_map(|taken| taken.iter());
        for (number, (taken, function)) in (0..).zip(functions.zip(&program.functions)) {
            if taken.entered.load(Ordering::Relaxed) {
                reached.insert((number, 0));
            }
            for (index, inst) in (0..).zip(&function.code) {
                let branch = InstId { function: FunctionId(number), index };
                let taken = (0..).zip(inst.op.edges()).filter(|(side, _)| self.has(branch, *side));
                reached.extend(taken.map(|(_, edge)| (number, edge.target)));
            }
        }
        reached
    }

    /// Whether one of these blocks was reached.
    pub fn reaches(&self, program: &Program, blocks: &BTreeSet<(u32, u32)>) -> bool {
        !blocks.is_empty() && self.reached(program).iter().any(|block| blocks.contains(block))
    }

    /// The instructions in front of branches that were executed, but never to all their targets: function and indices of
    /// their blocks.
    pub fn half_taken(&self, program: &Program) -> Vec<(FunctionId, std::ops::Range<u32>)> {
        let mut found = Vec::new();
        for (function, code) in (0..).map(FunctionId).zip(&program.functions) {
            for (_, range) in blocks(code) {
                let is_half = range.clone().any(|index| {
                    let edges = code.code.get(index as usize).map_or(0, |inst| inst.op.edges().len());
                    let branch = InstId { function, index };
                    let taken = (0..).take(edges).filter(|number| self.has(branch, *number));
                    (1..edges).contains(&taken.count())
                });
                if is_half {
                    found.push((function, range));
                }
            }
        }
        found
    }

    /// What was executed of the program, and what was not.
    pub fn executed(&self, program: &Program) -> Executed {
        let reached = self.reached(program);
        let mut executed = Executed::default();
        for (number, function) in (0..).zip(&program.functions) {
            for (block, code) in blocks(function) {
                let is_reached = reached.contains(&(number, block));
                let lines = if is_reached { &mut executed.ran } else { &mut executed.not_ran };
                lines.extend(
                    code.clone().filter_map(|index| function.code.get(index as usize)).map(|inst| inst.line),
                );
                if !is_reached {
                    continue;
                }
                for index in code {
                    let Some(inst) = function.code.get(index as usize) else { continue };
                    let branch = InstId { function: FunctionId(number), index };
                    let all = inst.op.edges();
                    for number in (0..).take(all.len()) {
                        if !self.has(branch, number) {
                            executed.not_taken.insert((inst.line, number));
                        } else {
                            executed.taken.insert((inst.line, number));
                        }
                    }
                }
            }
        }
        executed.not_ran = &executed.not_ran - &executed.ran;
        executed
    }
}

/// The blocks that have instructions on these lines, by function and number.
pub fn blocks_on(program: &Program, lines: &BTreeSet<Line>) -> BTreeSet<(u32, u32)> {
    let mut found = BTreeSet::new();
    for (number, function) in (0..).zip(&program.functions) {
        for (block, mut code) in blocks(function) {
            let is_on =
                |index: u32| function.code.get(index as usize).is_some_and(|it| lines.contains(&it.line));
            if code.any(is_on) {
                found.insert((number, block));
            }
        }
    }
    found
}

/// The blocks that some input may lead to: all but those behind branches that constants decide otherwise, and functions
/// that are called from nowhere else.
pub fn may_be_reached(program: &Program) -> BTreeSet<(u32, u32)> {
    let called = |inst: &Inst| match &inst.op {
        Op::Control(ControlOp::Call { function, .. }) => Some(function.0),
        _ => None,
    };
    let code = program.functions.iter().flat_map(|function| &function.code);
    let callees: BTreeSet<u32> = code.filter_map(called).collect();
    let mut open: Vec<(u32, u32)> = (0..program.functions.len() as u32)
        .filter(|number| !callees.contains(number))
        .map(|number| (number, 0))
        .collect();
    let mut reached = BTreeSet::new();
    while let Some(at) = open.pop() {
        let Some(function) = program.functions.get(at.0 as usize).filter(|_| reached.insert(at)) else {
            continue;
        };
        let Some((_, range)) = blocks(function).find(|(block, _)| *block == at.1) else { continue };
        for inst in range.filter_map(|index| function.code.get(index as usize)) {
            open.extend(called(inst).map(|callee| (callee, 0)));
            let decided = match &inst.op {
                Op::Control(ControlOp::BranchConditional { condition, yes, no })
                    if condition.is_constant() =>
                {
                    let value = program.constants.get(condition.index() as usize);
                    value
                        .filter(|value| value.is_defined())
                        .map(|value| if value.bits == 0 { no } else { yes })
                }
                _ => None,
            };
            match decided {
                Some(edge) => open.push((at.0, edge.target)),
                None => open.extend(inst.op.edges().iter().map(|edge| (at.0, edge.target))),
            }
        }
    }
    reached
}

/// The number of the block that the instruction of this index is in.
pub fn block_at(function: &Function, index: u32) -> Option<u32> {
    blocks(function).find(|(_, range)| range.contains(&index)).map(|(number, _)| number)
}

/// The blocks of a function with the indices of their instructions.
fn blocks(function: &Function) -> impl Iterator<Item = (u32, std::ops::Range<u32>)> + '_ {
    let mut starts: Vec<(u32, u32)> =
        (0..).zip(&function.blocks).map(|(number, block): (u32, &Block)| (block.start, number)).collect();
    starts.sort_unstable();
    let ends: Vec<u32> =
        starts.iter().skip(1).map(|(start, _)| *start).chain([function.code.len() as u32]).collect();
    starts.into_iter().zip(ends).map(|((start, number), end)| (number, start..end))
}

/// What was executed of a program.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// Lines with instructions that were executed.
    pub ran: BTreeSet<Line>,
    /// Lines with instructions none of which was.
    pub not_ran: BTreeSet<Line>,
    /// Sides that were taken, by the branch's line and the side's number.
    pub taken: BTreeSet<(Line, u32)>,
    /// Sides that were not taken, of branches that were executed.
    pub not_taken: BTreeSet<(Line, u32)>,
}

impl Executed {
    /// Adds what another launch executed. What one of them did not may be what the other one did.
    pub fn merge(&mut self, other: Executed) {
        self.ran.extend(other.ran);
        self.not_ran.extend(other.not_ran);
        self.taken.extend(other.taken);
        self.not_taken.extend(other.not_taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{self, LowerOptions};
    use crate::module::{Module, ReadOptions};

    /// A constant decides whether what is on line 20 runs, and the function on line 26 is called there alone.
    const MODULE: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%p_word = OpTypePointer Private %uint
%one = OpConstant %uint 1
%flag = OpSpecConstantFalse %bool
%word = OpVariable %p_word Private
%main = OpFunction %void None %function
%entry = OpLabel
OpSelectionMerge %end None
OpBranchConditional %flag %yes %no
%no = OpLabel
OpBranch %end
%yes = OpLabel
OpStore %word %one
%call = OpFunctionCall %void %callee
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
%callee = OpFunction %void None %function
%body = OpLabel
OpStore %word %one
OpReturn
OpFunctionEnd
";

    #[test]
    fn what_constants_decide_against_is_not_reached() {
        let may_run = |text: &str| {
            let options = ReadOptions { lenient: true, ..ReadOptions::default() };
            let module = Module::from_text(text, "reached.spvasm", &options).unwrap();
            let program = lower::lower(&module, &LowerOptions::default()).unwrap();
            let reached = may_be_reached(&program);
            [18, 20, 24, 28].map(|line| !blocks_on(&program, &BTreeSet::from([line])).is_disjoint(&reached))
        };
        assert_eq!(may_run(MODULE), [true, false, true, false]);
        assert_eq!(may_run(&MODULE.replace("ConstantFalse", "ConstantTrue")), [false, true, true, true]);
    }
}
