//! A function's parameters and basic blocks, as the module lists them
//! (SPIR-V specification 2.4, "Logical Layout of a Module").

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::index::Index;
use crate::ir::Line;
use crate::module::{Instruction, Module};

/// A function, taken apart.
#[derive(Debug)]
pub(super) struct Body<'m> {
    /// OpFunction.
    pub head: Instruction<'m>,
    /// OpFunctionParameter.
    pub parameters: Vec<Instruction<'m>>,
    /// In module order, the entry block first.
    pub blocks: Vec<BasicBlock>,
    labels: HashMap<u32, usize>,
}

/// A basic block.
#[derive(Debug)]
pub(super) struct BasicBlock {
    pub label: u32,
    pub line: Line,
    /// The instructions after the label, the terminator included.
    pub instructions: Range<usize>,
    /// Blocks that the terminator names, each once, in its order.
    pub successors: Vec<usize>,
    /// The merge block of an OpLoopMerge.
    pub loop_merge: Option<usize>,
    /// What an OpSelectionMerge or OpLoopMerge says: merge block and continue target.
    pub construct: Option<(usize, Option<usize>)>,
    /// Nothing but an OpUnreachable, or a branch to such a block.
    pub unreachable: bool,
}

impl<'m> Body<'m> {
    pub fn new(module: &'m Module, index: &Index, range: Range<usize>) -> Result<Self, Problem> {
        let mut instructions = range.filter_map(|at| module.instruction(at));
        let Some(head) = instructions.next() else {
            return Err(Problem::invalid(0, "a function has no instructions"));
        };
        let mut body = Body { head, parameters: Vec::new(), blocks: Vec::new(), labels: HashMap::new() };
        let mut open: Option<BasicBlock> = None;
        for instruction in instructions {
            let line = instruction.line;
            match (instruction.op(), &mut open) {
                (Some(Opcode::FunctionParameter), None) => body.parameters.push(instruction),
                (Some(Opcode::Label), None) => {
                    let label = instruction.result.unwrap_or(0);
                    if body.labels.insert(label, body.blocks.len()).is_some() {
                        return Err(Problem::invalid(line, format!("a second block has the label %{label}")));
                    }
                    let start = instruction.index + 1;
                    open = Some(BasicBlock {
                        label,
                        line,
                        instructions: start..start,
                        successors: Vec::new(),
                        loop_merge: None,
                        construct: None,
                        unreachable: false,
                    });
                }
                (Some(Opcode::Label), Some(_)) => {
                    return Err(Problem::invalid(line, "the block before this label has no terminator"));
                }
                (Some(Opcode::FunctionEnd), Some(_)) => {
                    return Err(Problem::invalid(line, "the last block of this function has no terminator"));
                }
                (opcode, Some(block)) => {
                    block.instructions.end = instruction.index + 1;
                    if opcode.is_some_and(terminates) {
                        body.blocks.extend(open.take());
                    }
                }
                (Some(Opcode::FunctionEnd | Opcode::Line | Opcode::NoLine | Opcode::ExtInst), None) => {}
                (_, None) => return Err(Problem::invalid(line, "an instruction stands outside of a block")),
            }
        }
        body.connect(module, index)?;
        Ok(body)
    }

    /// The index of the block with this label.
    pub fn block(&self, label: u32, line: Line) -> Result<usize, Problem> {
        let missing = || Problem::invalid(line, format!("%{label} is not a block of this function"));
        self.labels.get(&label).copied().ok_or_else(missing)
    }

    fn connect(&mut self, module: &Module, index: &Index) -> Result<(), Problem> {
        let mut forwards = HashMap::new();
        for at in 0..self.blocks.len() {
            let Some(range) = self.blocks.get(at).map(|block| block.instructions.clone()) else { break };
            let mut successors = Vec::new();
            let mut loop_merge = None;
            let mut construct = None;
            let mut idle = true;
            let mut unreachable = false;
            for instruction in range.filter_map(|at| module.instruction(at)) {
                unreachable = idle && instruction.op() == Some(Opcode::Unreachable);
                let is_branch = idle && instruction.op() == Some(Opcode::Branch);
                idle &= instruction.op().is_some_and(is_idle);
                for label in targets(&instruction, index) {
                    let target = self.block(label, instruction.line)?;
                    if target == 0 {
                        return Err(Problem::invalid(instruction.line, "a branch leads to the entry block"));
                    }
                    if !successors.contains(&target) {
                        successors.push(target);
                    }
                    if is_branch {
                        forwards.insert(at, target);
                    }
                }
                if instruction.op() == Some(Opcode::LoopMerge) {
                    let label = instruction.word(0).unwrap_or(0);
                    let merge = self.block(label, instruction.line)?;
                    loop_merge = Some(merge);
                    let label = instruction.word(1).unwrap_or(0);
                    construct = Some((merge, Some(self.block(label, instruction.line)?)));
                }
                if instruction.op() == Some(Opcode::SelectionMerge) {
                    let label = instruction.word(0).unwrap_or(0);
                    construct = Some((self.block(label, instruction.line)?, None));
                }
            }
            if let Some(block) = self.blocks.get_mut(at) {
                block.successors = successors;
                block.loop_merge = loop_merge;
                block.construct = construct;
                block.unreachable = unreachable;
            }
        }
        self.pass_back_unreachable(&forwards);
        Ok(())
    }

    /// Marks the blocks from which nothing but branches lead to an unreachable one. `forwards` tells where such a
    /// branch leads, by block.
    fn pass_back_unreachable(&mut self, forwards: &HashMap<usize, usize>) {
        let mut seen = HashSet::new();
        for start in forwards.keys().copied() {
            let fresh = std::iter::successors(Some(start), |at| forwards.get(at).copied());
            let way: Vec<usize> = fresh.take_while(|at| seen.insert(*at)).collect();
            let last = way.last().map(|last| forwards.get(last).copied().unwrap_or(*last));
            let ends = last.and_then(|last| self.blocks.get(last)).is_some_and(|block| block.unreachable);
            for at in way {
                if let Some(block) = self.blocks.get_mut(at) {
                    block.unreachable |= ends;
                }
            }
        }
    }
}

/// Whether a block ends with an instruction of this opcode.
fn terminates(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Branch
            | Opcode::BranchConditional
            | Opcode::Switch
            | Opcode::Kill
            | Opcode::Return
            | Opcode::ReturnValue
            | Opcode::Unreachable
            | Opcode::TerminateInvocation
            | Opcode::IgnoreIntersectionKHR
            | Opcode::TerminateRayKHR
            | Opcode::EmitMeshTasksEXT
    )
}

/// Whether an instruction of this opcode may stand in a block that is nothing but its terminator: what it gives,
/// nobody can use.
fn is_idle(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Phi | Opcode::Undef | Opcode::Nop | Opcode::Line | Opcode::NoLine | Opcode::ExtInst
    )
}

/// The labels that a terminator names.
fn targets(instruction: &Instruction, index: &Index) -> Vec<u32> {
    match instruction.op() {
        Some(Opcode::Branch) => instruction.operands.iter().take(1).copied().collect(),
        Some(Opcode::BranchConditional) => instruction.operands.iter().skip(1).take(2).copied().collect(),
        Some(Opcode::Switch) => {
            let literal = index.case_words(instruction.word(0).unwrap_or(0));
            let cases = instruction.words_from(2).iter().skip(literal).step_by(literal + 1);
            instruction.operands.iter().skip(1).take(1).chain(cases).copied().collect()
        }
        _ => Vec::new(),
    }
}
