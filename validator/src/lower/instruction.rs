//! One instruction of a body: which family lowers it.

use rspirv::spirv::{GlslStd450Op, Op as Opcode};

use super::error::Problem;
use super::function::FunctionBuilder;
use super::types::Kind;
use super::values::{Computation, Values};
use crate::ir::{Line, Op};
use crate::module::Instruction;

/// Whether this is a type or a constant, which stand before all functions.
fn is_declaration(instruction: &Instruction) -> bool {
    let name = instruction.name();
    ["OpType", "OpConstant", "OpSpecConstant"].iter().any(|family| name.starts_with(family))
}

/// The name that the extended instructions for GLSL are imported by.
const GLSL_STD_450: &str = "GLSL.std.450";

impl FunctionBuilder<'_, '_> {
    /// Lowers an instruction of a block into the end of the code.
    pub fn instruction(&mut self, instruction: &Instruction, block: usize) -> Result<(), Problem> {
        let Some(opcode) = instruction.op() else {
            return Err(Problem::unsupported(instruction.name(), instruction.line));
        };
        match opcode {
            Opcode::Nop | Opcode::Line | Opcode::NoLine | Opcode::LoopMerge | Opcode::SelectionMerge => {
                Ok(())
            }
            // Its moves are on the edges.
            Opcode::Phi => self.phi(instruction),
            Opcode::ExtInst | Opcode::ExtInstWithForwardRefsKHR => self.extended(instruction),
            Opcode::Branch
            | Opcode::BranchConditional
            | Opcode::Switch
            | Opcode::FunctionCall
            | Opcode::Return
            | Opcode::ReturnValue
            | Opcode::Unreachable
            | Opcode::Kill
            | Opcode::TerminateInvocation
            | Opcode::DemoteToHelperInvocation
            | Opcode::IsHelperInvocationEXT => self.control(opcode, instruction, block),
            Opcode::Variable
            | Opcode::Load
            | Opcode::Store
            | Opcode::CopyMemory
            | Opcode::CopyMemorySized
            | Opcode::AccessChain
            | Opcode::InBoundsAccessChain
            | Opcode::PtrAccessChain
            | Opcode::InBoundsPtrAccessChain
            | Opcode::UntypedVariableKHR
            | Opcode::UntypedAccessChainKHR
            | Opcode::UntypedInBoundsAccessChainKHR
            | Opcode::UntypedPtrAccessChainKHR
            | Opcode::UntypedInBoundsPtrAccessChainKHR
            | Opcode::ArrayLength
            | Opcode::UntypedArrayLengthKHR => self.memory(opcode, instruction),
            Opcode::ConvertUToPtr | Opcode::ConvertPtrToU | Opcode::PtrDiff => {
                self.pointer(opcode, instruction)
            }
            Opcode::Bitcast | Opcode::PtrEqual | Opcode::PtrNotEqual if self.on_physical(instruction) => {
                self.pointer(opcode, instruction)
            }
            Opcode::MemoryBarrier | Opcode::ControlBarrier => self.barrier(opcode, instruction),
            // What a clock says is anybody's guess, at every use.
            Opcode::ReadClockKHR => {
                let result = self.result(instruction)?;
                let widths = self.types().widths(result.ty, instruction.line)?;
                self.emit(Op::Undef { dst: result.operand.index(), widths }, instruction);
                Ok(())
            }
            Opcode::AssumeTrueKHR => {
                let condition = self.scalar(instruction, 0, Kind::Bool)?.0.operand;
                self.emit(Op::Assume { condition }, instruction);
                Ok(())
            }
            _ => {
                if let Some(lowered) = self.atomic(opcode, instruction) {
                    return lowered;
                }
                if let Some(lowered) = self.ray(opcode, instruction) {
                    return lowered;
                }
                if let Some(lowered) = self.image(opcode, instruction) {
                    return lowered;
                }
                if let Some(lowered) = self.subgroup(opcode, instruction) {
                    return lowered;
                }
                if let Some(lowered) = self.cooperative(opcode, instruction) {
                    return lowered;
                }
                if let Some(lowered) = self.tensor(opcode, instruction) {
                    return lowered;
                }
                match self.compute(opcode, instruction) {
                    Some(lowered) => lowered,
                    None if is_declaration(instruction) => {
                        let message = format!("{} stands inside a function", instruction.name());
                        Err(Problem::invalid(instruction.line, message))
                    }
                    None => Err(Problem::unsupported(instruction.name(), instruction.line)),
                }
            }
        }
    }

    fn compute(&mut self, opcode: Opcode, instruction: &Instruction) -> Option<Result<(), Problem>> {
        let result_type = instruction.result_type?;
        if self.types().is_pointer(result_type) || takes_pointers(opcode) {
            let prepared = self.prepare_pointers(opcode, instruction);
            if let Err(problem) = prepared {
                return Some(Err(problem));
            }
        }
        let dst = match self.result(instruction) {
            Ok(value) => value.operand.index(),
            Err(problem) => return Some(Err(problem)),
        };
        if let Err(problem) = self.tangle_matrices(opcode, instruction) {
            return Some(Err(problem));
        }
        let computation = Computation {
            opcode,
            result_type,
            dst,
            operands: instruction.operands,
            line: instruction.line,
            values: self,
        };
        let lowered = computation.lower()?;
        Some(lowered.map(|op| self.emit(op, instruction)))
    }

    /// Makes addresses of the variables among the operands, and notes where the result leads.
    fn prepare_pointers(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        let pointers: &[u32] = match opcode {
            Opcode::CopyObject | Opcode::PtrEqual | Opcode::PtrNotEqual => instruction.operands,
            Opcode::Select => instruction.words_from(1),
            _ => &[],
        };
        for &id in pointers {
            self.value_or_address(id, instruction.line)?;
        }
        if let (Opcode::CopyObject | Opcode::Select, Some(result)) = (opcode, instruction.result) {
            self.join_pointees(result, pointers, instruction.line)?;
        }
        Ok(())
    }

    /// Notes that a pointer is one of these; all must lead to memory of one layout.
    pub fn join_pointees(&mut self, result: u32, sources: &[u32], line: Line) -> Result<(), Problem> {
        let mut pointees = sources.iter().map(|&id| self.pointee(id));
        let Some(mut joined) = pointees.next() else { return Ok(()) };
        for other in pointees {
            if other.placement != joined.placement {
                return Err(Problem::unsupported("a pointer to matrices of different layouts", line));
            }
            if other.start != joined.start {
                joined.start = None;
            }
        }
        self.pointees.insert(result, joined);
        Ok(())
    }

    fn extended(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        if self.is_non_semantic(instruction) {
            return Ok(());
        }
        let set = instruction.word(0).and_then(|id| self.program.globals.index.import(id)).unwrap_or("?");
        let number = instruction.word(1).unwrap_or(0);
        if let (GLSL_STD_450, Some(glsl)) = (set, GlslStd450Op::from_u32(number)) {
            return self.glsl(glsl, instruction);
        }
        let known = rspirv::grammar::ext_inst_table(set)
            .and_then(|table| table.iter().find(|grammar| u32::from(grammar.opcode) == number));
        let name = known.map_or_else(|| number.to_string(), |grammar| grammar.opname.to_owned());
        Err(Problem::unsupported(format!("OpExtInst {set} {name}"), instruction.line))
    }
}

/// Whether the operands of a computation may be pointers though its result is none.
fn takes_pointers(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::PtrEqual | Opcode::PtrNotEqual)
}
