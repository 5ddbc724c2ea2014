//! Control flow and calls (SPIR-V specification 3.3.9 and 3.3.17).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::function::FunctionBuilder;
use super::layout::Placement;
use super::program::input_words;
use super::types::{Kind, Lanes, Type};
use super::values::{Value, Values};
use crate::ir::{ControlOp, Edge, Line, Op, NO_REGISTER};
use crate::module::Instruction;
use crate::value::mask;

impl FunctionBuilder<'_, '_> {
    /// Lowers a branch, a call or another end of a block.
    pub fn control(
        &mut self,
        opcode: Opcode,
        instruction: &Instruction,
        block: usize,
    ) -> Result<(), Problem> {
        let op = match opcode {
            Opcode::Branch => ControlOp::Branch(self.edge(instruction, 0, block)?),
            Opcode::BranchConditional => {
                let condition = self.scalar(instruction, 0, Kind::Bool)?.0.operand;
                let yes = self.edge(instruction, 1, block)?;
                ControlOp::BranchConditional { condition, yes, no: self.edge(instruction, 2, block)? }
            }
            Opcode::Switch => self.switch(instruction, block)?,
            Opcode::FunctionCall => self.call(instruction)?,
            Opcode::Return => ControlOp::Return,
            Opcode::ReturnValue => self.return_value(instruction)?,
            Opcode::Unreachable => ControlOp::Unreachable,
            Opcode::Kill | Opcode::TerminateInvocation => {
                self.discard(instruction)?;
                ControlOp::Kill
            }
            Opcode::DemoteToHelperInvocation => {
                self.discard(instruction)?;
                ControlOp::Demote
            }
            Opcode::IsHelperInvocationEXT => {
                ControlOp::IsHelper { dst: self.result(instruction)?.operand.index() }
            }
            _ => return Err(Problem::unsupported(instruction.name(), instruction.line)),
        };
        self.emit(Op::Control(op), instruction);
        Ok(())
    }

    /// A scalar operand of this kind.
    pub fn scalar(
        &mut self,
        instruction: &Instruction,
        position: usize,
        kind: Kind,
    ) -> Result<(Value, Lanes), Problem> {
        let value = self.operand(instruction, position)?;
        let lanes = self.types().lanes(value.ty, instruction.line)?;
        if lanes.kind != kind || lanes.count != 1 {
            let message = format!("{}: an operand has the wrong type", instruction.name());
            return Err(Problem::invalid(instruction.line, message));
        }
        Ok((value, lanes))
    }

    fn switch(&mut self, instruction: &Instruction, block: usize) -> Result<ControlOp, Problem> {
        let (selector, lanes) = self.scalar(instruction, 0, Kind::Int)?;
        let words = self.program.globals.index.case_words(self.word(instruction, 0)?);
        let mut cases = Vec::new();
        let mut position = 2;
        while position < instruction.operands.len() {
            let mut literal = 0;
            for word in 0..words {
                literal |= u64::from(self.word(instruction, position + word)?) << (32 * word);
            }
            let literal = literal & mask(u32::from(lanes.width));
            self.program.harvested.extend(input_words(literal, lanes.width));
            cases.push((literal, self.edge(instruction, position + words, block)?));
            position += words + 1;
        }
        Ok(ControlOp::Switch {
            selector: selector.operand,
            width: lanes.width,
            default: self.edge(instruction, 1, block)?,
            cases,
        })
    }

    /// The edge from a block to the one whose label is at this operand position.
    fn edge(&mut self, instruction: &Instruction, position: usize, source: usize) -> Result<Edge, Problem> {
        let label = self.word(instruction, position)?;
        let target = self.body.block(label, instruction.line)?;
        let number = self.block_numbers.get(target).copied().flatten();
        let number = number.ok_or_else(|| Problem::invalid(instruction.line, "a branch leads nowhere"))?;
        let (enters, repeats) = self.flow.crossed(source, target);
        Ok(Edge { target: number, moves: self.moves(source, target, instruction.line)?, enters, repeats })
    }

    /// What the φ instructions of `target` take from `source`.
    fn moves(
        &mut self,
        source: usize,
        target: usize,
        line: Line,
    ) -> Result<Vec<(u32, crate::ir::Operand, u32)>, Problem> {
        let parent = self.body.blocks.get(source).map_or(0, |block| block.label);
        let range = self.body.blocks.get(target).map_or(0..0, |block| block.instructions.clone());
        let mut moves = Vec::new();
        for at in range {
            let Some(phi) = self.program.globals.module.instruction(at) else { continue };
            match phi.op() {
                Some(Opcode::Phi) => {}
                Some(Opcode::Line | Opcode::NoLine | Opcode::ExtInst) => continue,
                _ => break,
            }
            let pairs = phi.operands.chunks_exact(2);
            let taken = pairs.filter_map(|pair| match *pair {
                [value, label] if label == parent => Some(value),
                _ => None,
            });
            let Some(id) = taken.take(1).next() else {
                let message = format!("OpPhi has no value for the way from %{parent}");
                return Err(Problem::invalid(phi.line, message));
            };
            let result = self.result(&phi)?;
            let value = self.value_or_address(id, line)?;
            if value.ty != result.ty {
                return Err(Problem::invalid(phi.line, "OpPhi takes a value of another type"));
            }
            let count = self.types().components(result.ty, line)?;
            moves.push((result.operand.index(), value.operand, count));
        }
        Ok(moves)
    }

    /// Checks where a φ of pointers leads; its moves are made with the edges.
    pub fn phi(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let Some(id) = instruction.result else { return Ok(()) };
        if !self.types().is_pointer(instruction.result_type.unwrap_or(0)) {
            return Ok(());
        }
        let sources: Vec<u32> = instruction.operands.iter().step_by(2).copied().collect();
        self.join_pointees(id, &sources, instruction.line)
    }

    fn call(&mut self, instruction: &Instruction) -> Result<ControlOp, Problem> {
        let line = instruction.line;
        let callee = self.word(instruction, 0)?;
        let (result, parameters) = self.signature(callee, line)?;
        // First of all, so that the callee is searched even if this call makes no sense.
        let function = self.program.function(callee);
        if instruction.result_type != Some(result) {
            return Err(Problem::invalid(line, "the call has another result type than the function"));
        }
        let mut arguments = Vec::new();
        for (position, &id) in instruction.words_from(1).iter().enumerate() {
            let argument = self.value_or_address(id, line)?;
            if parameters.get(position) != Some(&argument.ty) {
                return Err(Problem::invalid(line, "an argument is not of the parameter's type"));
            }
            if self.pointee(id).placement != Placement::default() {
                return Err(Problem::unsupported("a pointer into a matrix as an argument", line));
            }
            arguments.push(argument.operand);
        }
        if arguments.len() != parameters.len() {
            return Err(Problem::invalid(line, "the call has the wrong number of arguments"));
        }
        let dst = match self.types().components(result, line)? {
            0 => NO_REGISTER,
            _ => self.result(instruction)?.operand.index(),
        };
        Ok(ControlOp::Call { function, dst, arguments })
    }

    /// The result type and the parameter types of a function.
    pub(super) fn signature(&self, function: u32, line: Line) -> Result<(u32, Vec<u32>), Problem> {
        let globals = &self.program.globals;
        let head = globals.index.function(function).and_then(|range| globals.module.instruction(range.start));
        let Some(head) = head else {
            return Err(Problem::invalid(line, format!("%{function} is not a function")));
        };
        match globals.types.get(head.word(1).unwrap_or(0), head.line)? {
            Type::Function { result, parameters } => Ok((*result, parameters.to_vec())),
            _ => Err(Problem::invalid(head.line, "OpFunction does not name a function type")),
        }
    }

    fn return_value(&mut self, instruction: &Instruction) -> Result<ControlOp, Problem> {
        let value = self.operand(instruction, 0)?;
        self.keep_placement(instruction, 0)?;
        if value.ty != self.result_type {
            return Err(Problem::invalid(instruction.line, "the value is not of the function's result type"));
        }
        let count = self.types().components(value.ty, instruction.line)?;
        Ok(ControlOp::ReturnValue { value: value.operand, count })
    }
}
