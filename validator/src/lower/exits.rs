//! How invocations leave loops that they would run for ever: the merge block, and the values of the loop.

use std::collections::HashSet;

use rspirv::spirv::Op as Opcode;

use super::function::FunctionBuilder;
use super::values::{Value, Values};
use crate::ir::flow::NaturalLoop;
use crate::ir::{Edge, Exit};
use crate::module::Instruction;

impl FunctionBuilder<'_, '_> {
    /// The exit of a loop.
    pub fn exit(&self, lp: &NaturalLoop) -> Exit {
        let blocks = lp.body.iter().enumerate().filter(|(_, inside)| **inside).map(|(block, _)| block);
        let results =
            blocks.flat_map(|block| self.instructions_of(block)).filter_map(|at| self.instruction_at(at));
        let mut made = HashSet::new();
        let mut undefined = Vec::new();
        for result in results {
            let (Some(id), Some(value)) = (result.result, self.known_result(&result)) else { continue };
            made.insert(id);
            self.forget(value, &result, &mut undefined);
        }
        let edge = self.exit_edge(lp, &made, &mut undefined);
        Exit { edge, undefined, ..Exit::default() }
    }

    /// The edge to the merge block. A φ there has what every edge from the loop brings, if that was made before
    /// the loop; else it is undefined.
    fn exit_edge(
        &self,
        lp: &NaturalLoop,
        made: &HashSet<u32>,
        undefined: &mut Vec<(u32, u8)>,
    ) -> Option<Edge> {
        let merge = self.body.blocks.get(lp.header)?.loop_merge?;
        let block = self.body.blocks.get(merge).filter(|block| !block.unreachable)?;
        let target = self.block_numbers.get(merge).copied().flatten()?;
        let is_inside = |label: u32| {
            let at = self.body.block(label, block.line);
            at.is_ok_and(|at| lp.body.get(at).copied().unwrap_or(false))
        };
        let mut moves = Vec::new();
        for phi in block.instructions.clone().filter_map(|at| self.instruction_at(at)) {
            match phi.op() {
                Some(Opcode::Phi) => {}
                Some(Opcode::Line | Opcode::NoLine | Opcode::ExtInst) => continue,
                _ => break,
            }
            let Some(result) = self.known_result(&phi) else { continue };
            let taken: HashSet<u32> = phi
                .operands
                .chunks_exact(2)
                .filter_map(|pair| match *pair {
                    [value, label] if is_inside(label) => Some(value),
                    _ => None,
                })
                .collect();
            let mut taken = taken.into_iter();
            let source = match (taken.next(), taken.next()) {
                (Some(id), None) if !made.contains(&id) => self.value(id, phi.line).ok(),
                _ => None,
            };
            match source {
                Some(source) => {
                    let count = self.types().components(result.ty, phi.line).unwrap_or(0);
                    moves.push((result.operand.index(), source.operand, count));
                }
                None => self.forget(result, &phi, undefined),
            }
        }
        let (enters, repeats) = self.flow.crossed(lp.header, merge);
        Some(Edge { target, moves, enters, repeats })
    }

    fn instruction_at(&self, at: usize) -> Option<Instruction<'_>> {
        self.program.globals.module.instruction(at)
    }

    /// The registers of a result that could be lowered.
    fn known_result(&self, instruction: &Instruction) -> Option<Value> {
        instruction.result?;
        self.result(instruction).ok()
    }

    fn forget(&self, value: Value, instruction: &Instruction, undefined: &mut Vec<(u32, u8)>) {
        // A type without widths was refused with the instruction.
        let widths = self.types().widths(value.ty, instruction.line).unwrap_or_default();
        undefined.extend((value.operand.index()..).zip(widths));
    }
}
