//! Barriers, and the scopes and memory semantics that instructions name by constants
//! (SPIR-V specification 3.2.27, 3.2.25, 3.3.20).

use rspirv::spirv::{Op as Opcode, Scope as Number};

use super::error::Problem;
use super::function::FunctionBuilder;
use crate::event::{ClassSet, Order, Scope, Semantics};
use crate::ir::{BarrierOp, Line, MemoryModel, Op};
use crate::module::Instruction;

const ACQUIRE: u64 = 0x2;
const RELEASE: u64 = 0x4;
const ACQUIRE_RELEASE: u64 = 0x8;
const SEQUENTIALLY_CONSISTENT: u64 = 0x10;
const ORDERS: u64 = ACQUIRE | RELEASE | ACQUIRE_RELEASE | SEQUENTIALLY_CONSISTENT;
const MAKE_AVAILABLE: u64 = 0x2000;
const MAKE_VISIBLE: u64 = 0x4000;
const VOLATILE: u64 = 0x8000;

impl FunctionBuilder<'_, '_> {
    /// Lowers OpMemoryBarrier or OpControlBarrier.
    pub fn barrier(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        let op = match opcode {
            Opcode::MemoryBarrier => BarrierOp::Memory {
                scope: self.scope(instruction, 0)?,
                semantics: self.semantics(instruction, 1)?,
            },
            _ => BarrierOp::Control {
                execution: self.scope(instruction, 0)?,
                memory: self.scope(instruction, 1)?,
                semantics: self.semantics(instruction, 2)?,
            },
        };
        self.emit(Op::Barrier(op), instruction);
        Ok(())
    }

    /// The scope that the constant at this operand position gives.
    pub fn scope(&self, instruction: &Instruction, position: usize) -> Result<Scope, Problem> {
        let id = self.word(instruction, position)?;
        decode_scope(self.program.globals.integer(id, instruction.line)?, instruction.line)
    }

    /// The memory semantics that the constant at this operand position gives.
    pub fn semantics(&self, instruction: &Instruction, position: usize) -> Result<Semantics, Problem> {
        let id = self.word(instruction, position)?;
        let semantics =
            decode_semantics(self.program.globals.integer(id, instruction.line)?, instruction.line)?;
        let vulkan = self.program.memory_model == MemoryModel::Vulkan;
        if vulkan && semantics.order == Order::SequentiallyConsistent {
            let message = "SequentiallyConsistent is not allowed under the Vulkan memory model";
            return Err(Problem::invalid(instruction.line, message));
        }
        Ok(semantics)
    }
}

/// Decodes a scope's number.
pub(super) fn decode_scope(number: u64, line: Line) -> Result<Scope, Problem> {
    let unsupported = |name: String| Err(Problem::unsupported(format!("scope {name}"), line));
    match u32::try_from(number).ok().and_then(Number::from_u32) {
        Some(Number::CrossDevice) => Ok(Scope::CrossDevice),
        Some(Number::Device) => Ok(Scope::Device),
        Some(Number::Workgroup) => Ok(Scope::Workgroup),
        Some(Number::Subgroup) => Ok(Scope::Subgroup),
        Some(Number::Invocation) => Ok(Scope::Invocation),
        Some(Number::QueueFamily) => Ok(Scope::QueueFamily),
        Some(scope @ Number::ShaderCallKHR) => unsupported(format!("{scope:?}")),
        None => unsupported(number.to_string()),
    }
}

/// Decodes a memory semantics mask.
pub(super) fn decode_semantics(mask: u64, line: Line) -> Result<Semantics, Problem> {
    let known = ORDERS | u64::from(ClassSet::ALL.0) | MAKE_AVAILABLE | MAKE_VISIBLE | VOLATILE;
    if mask & !known != 0 {
        return Err(Problem::unsupported(format!("memory semantics {:#x}", mask & !known), line));
    }
    let order = match mask & ORDERS {
        0 => Order::Relaxed,
        ACQUIRE => Order::Acquire,
        RELEASE => Order::Release,
        ACQUIRE_RELEASE => Order::AcquireRelease,
        SEQUENTIALLY_CONSISTENT => Order::SequentiallyConsistent,
        _ => return Err(Problem::invalid(line, "memory semantics with more than one order")),
    };
    Ok(Semantics {
        order,
        classes: ClassSet((mask & u64::from(ClassSet::ALL.0)) as u16),
        make_available: mask & MAKE_AVAILABLE != 0,
        make_visible: mask & MAKE_VISIBLE != 0,
        volatile: mask & VOLATILE != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semantics_are_decoded_bit_by_bit() {
        let semantics = decode_semantics(0x8 | 0x40 | 0x100 | 0x2000 | 0x4000, 1).unwrap();
        assert_eq!(semantics.order, Order::AcquireRelease);
        assert_eq!(semantics.classes, ClassSet::UNIFORM.union(ClassSet::WORKGROUP));
        assert!(semantics.make_available && semantics.make_visible && !semantics.volatile);
    }

    #[test]
    fn two_orders_are_invalid_and_unknown_bits_unsupported() {
        assert!(matches!(decode_semantics(0x2 | 0x4, 7), Err(Problem::Invalid { line: 7, .. })));
        assert!(matches!(decode_semantics(0x1_0000, 7), Err(Problem::Unsupported(_))));
    }

    #[test]
    fn scopes_are_numbered_as_spirv_does() {
        assert_eq!(decode_scope(5, 1), Ok(Scope::QueueFamily));
        assert_eq!(decode_scope(6, 1), Err(Problem::unsupported("scope ShaderCallKHR", 1)));
    }
}
