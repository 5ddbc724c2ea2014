//! Instructions on pointers as values: conversions of physical ones, differences and comparisons
//! (SPIR-V specification 3.3.11 and 3.3.8).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::function::FunctionBuilder;
use super::layout::Placement;
use super::types::{Kind, Lanes};
use super::values::Values;
use crate::event::StorageClass;
use crate::ir::{BinaryOp, CompositeOp, ConvertOp, Line, MemoryOp, Op, Operand};
use crate::module::Instruction;
use crate::value::Scalar;

/// Bits of an address.
const ADDRESS: u8 = 64;

impl FunctionBuilder<'_, '_> {
    /// Whether the result or the first operand is a physical pointer.
    pub fn on_physical(&self, instruction: &Instruction) -> bool {
        let operand = instruction.word(0).and_then(|id| self.value(id, instruction.line).ok());
        let types = [instruction.result_type, operand.map(|value| value.ty)];
        types.into_iter().flatten().any(|ty| self.types().is_physical(ty))
    }

    /// Lowers a conversion from or to physical pointers, a comparison of them, or a difference.
    pub fn pointer(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let dst = result.operand.index();
        let from = self.operand(instruction, 0)?;
        let physical = [from.ty, result.ty].map(|ty| self.types().is_physical(ty));
        if let (Opcode::ConvertUToPtr | Opcode::Bitcast, [false, true]) = (opcode, physical) {
            self.note_address(self.word(instruction, 0)?, result.ty, line);
        }
        let op = match (opcode, physical[0], physical[1]) {
            (Opcode::ConvertUToPtr, false, true) => {
                let lanes = self.integers(from.ty, line)?;
                if lanes.count != 1 {
                    return Err(Problem::invalid(line, "OpConvertUToPtr takes a scalar"));
                }
                self.made_of(dst, from.operand, line)?
            }
            (Opcode::ConvertPtrToU, true, false) => {
                let lanes = self.integers(result.ty, line)?;
                if lanes.count != 1 {
                    return Err(Problem::invalid(line, "OpConvertPtrToU makes a scalar"));
                }
                let (op, from, to, a) = (ConvertOp::UConvert, ADDRESS, lanes.width, from.operand);
                Op::Convert { op, from, to, count: 1, dst, a }
            }
            (Opcode::Bitcast, true, true) => Op::Copy { dst, a: from.operand, count: 2 },
            (Opcode::Bitcast, true, false) => {
                let lanes = self.address_sized(result.ty, line)?;
                match lanes.width {
                    ADDRESS => Op::Copy { dst, a: from.operand, count: 1 },
                    to => {
                        let (op, from, a) = (ConvertOp::Bitcast, ADDRESS, from.operand);
                        Op::Convert { op, from, to, count: 1, dst, a }
                    }
                }
            }
            (Opcode::Bitcast, false, true) => {
                let lanes = self.address_sized(from.ty, line)?;
                let mut address = from.operand;
                if lanes.width != ADDRESS {
                    let joined = self.register(result.ty, line)?;
                    let (op, from, to) = (ConvertOp::Bitcast, lanes.width, ADDRESS);
                    let join = Op::Convert { op, from, to, count: lanes.count, dst: joined, a: address };
                    self.emit(join, instruction);
                    address = Operand::register(joined);
                }
                self.made_of(dst, address, line)?
            }
            (Opcode::PtrEqual | Opcode::PtrNotEqual, true, false) => {
                let other = self.operand(instruction, 1)?;
                if !self.types().is_physical(other.ty) {
                    return Err(Problem::invalid(line, "pointers of different kinds are compared"));
                }
                let op = if opcode == Opcode::PtrEqual { BinaryOp::IEqual } else { BinaryOp::INotEqual };
                Op::Binary { op, width: ADDRESS, count: 1, dst, a: from.operand, b: other.operand }
            }
            (Opcode::PtrDiff, false, false) => self.difference(instruction, dst)?,
            _ => return Err(Problem::unsupported(self.told(instruction, from.ty), line)),
        };
        self.emit(op, instruction);
        Ok(())
    }

    /// The pointer of an address.
    fn made_of(&mut self, dst: u32, address: Operand, line: Line) -> Result<Op, Problem> {
        let no_flags = self.program.globals.constants.scalar(Scalar::new(0), line)?;
        Ok(Op::Composite(CompositeOp::Construct { dst, parts: vec![(address, 1), (no_flags, 1)] }))
    }

    fn difference(&mut self, instruction: &Instruction, dst: u32) -> Result<Op, Problem> {
        let line = instruction.line;
        let (a, b) = (self.operand(instruction, 0)?, self.operand(instruction, 1)?);
        let result = self.result(instruction)?;
        let width = self.integers(result.ty, line)?.width;
        if a.ty != b.ty {
            return Err(Problem::invalid(line, "the pointers are of different types"));
        }
        let (_, element) = self.types().pointer(a.ty, line)?;
        let stride = self.element_stride(a.ty, element, Placement::default(), line)?;
        Ok(Op::Memory(MemoryOp::Difference { dst, a: a.operand, b: b.operand, stride, width }))
    }

    fn integers(&self, ty: u32, line: Line) -> Result<Lanes, Problem> {
        let lanes = self.types().lanes(ty, line)?;
        match lanes.kind {
            Kind::Int => Ok(lanes),
            Kind::Bool | Kind::Float | Kind::Encoded(_) => {
                Err(Problem::invalid(line, "an integer is expected here"))
            }
        }
    }

    /// Numbers that together are as wide as an address.
    fn address_sized(&self, ty: u32, line: Line) -> Result<Lanes, Problem> {
        let lanes = self.types().lanes(ty, line)?;
        let bits = u64::from(lanes.width) * u64::from(lanes.count);
        if lanes.kind == Kind::Bool || bits != u64::from(ADDRESS) {
            return Err(Problem::invalid(line, "OpBitcast: the operand and the result differ in size"));
        }
        Ok(lanes)
    }

    /// The instruction with the storage class of the pointer that it is not supported for.
    fn told(&self, instruction: &Instruction, from: u32) -> String {
        let class: Option<StorageClass> = self
            .types()
            .pointer_class(from)
            .or_else(|| self.types().pointer_class(instruction.result_type.unwrap_or(0)));
        match class {
            Some(class) => format!("{} of a {class:?} pointer", instruction.name()),
            None => instruction.name(),
        }
    }
}
