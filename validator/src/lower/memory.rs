//! Memory instructions (SPIR-V specification 3.3.8).

use rspirv::spirv::{MemoryAccess, Op as Opcode};

use super::barriers::decode_scope;
use super::error::Problem;
use super::function::FunctionBuilder;
use super::layout::Placement;
use super::program::decorations_of;
use super::types::Type;
use super::values::Values;
use super::variables::initializer;
use crate::event::StorageClass;
use crate::ir::{Chain, Decorations, Local, MemoryOp, MemoryOperands, Op, Operand, ShapeId};
use crate::module::Instruction;

/// What an access touches.
#[derive(Clone, Copy)]
struct Target {
    pointer: Operand,
    class: StorageClass,
    pointee: u32,
    shape: ShapeId,
}

impl FunctionBuilder<'_, '_> {
    /// Lowers a memory instruction.
    pub fn memory(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        match opcode {
            Opcode::Variable => self.local(instruction),
            Opcode::Load => self.load(instruction),
            Opcode::Store => self.store(instruction),
            Opcode::CopyMemory => self.copy_memory(instruction),
            Opcode::AccessChain | Opcode::InBoundsAccessChain => self.access_chain(instruction),
            Opcode::ArrayLength => self.array_length(instruction),
            _ => Err(Problem::unsupported(instruction.name(), instruction.line)),
        }
    }

    /// A variable of the function's own.
    fn local(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let (class, pointee) = self.types().pointer(result.ty, line)?;
        if class != StorageClass::Function {
            let message = format!("a variable in a function has the storage class {class:?}");
            return Err(Problem::invalid(line, message));
        }
        let globals = &self.program.globals;
        let shape = self.program.shapes.intern(&globals.types, pointee, Placement::default(), line)?;
        let local = Local {
            register: result.operand.index(),
            size: globals.types.size(pointee, Placement::default(), line)?,
            shape,
            initializer: initializer(globals, instruction.word(1), pointee, line)?,
            decorations: decorations_of(globals, instruction.result.unwrap_or(0)),
            line,
        };
        self.locals.push(local);
        Ok(())
    }

    /// The memory that an access through the pointer at this operand position touches. Decorations
    /// of members that the access covers are united onto the pointer first.
    fn target(&mut self, instruction: &Instruction, position: usize) -> Result<Target, Problem> {
        let line = instruction.line;
        let id = self.word(instruction, position)?;
        let pointer = self.value_or_address(id, line)?;
        let (class, pointee) = self.types().pointer(pointer.ty, line)?;
        let placement = self.pointee(id).placement;
        let shape = self.program.shapes.intern(&self.program.globals.types, pointee, placement, line)?;
        let decorations = self.types().member_decorations(pointee, line)?;
        let mut operand = pointer.operand;
        if decorations != Decorations::default() {
            let dst = self.register(pointer.ty, line)?;
            let chain = Chain { dst, base: operand, offset: 0, indices: Vec::new(), decorations };
            self.emit(Op::Memory(MemoryOp::Chain(chain)), instruction);
            operand = Operand::register(dst);
        }
        Ok(Target { pointer: operand, class, pointee, shape })
    }

    fn load(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let result = self.result(instruction)?;
        let target = self.target(instruction, 0)?;
        if target.pointee != result.ty {
            let message = "the result is not of the type that the pointer leads to";
            return Err(Problem::invalid(instruction.line, message));
        }
        let (operands, _) = self.memory_operands(instruction, 1)?;
        let op = MemoryOp::Load {
            dst: result.operand.index(),
            pointer: target.pointer,
            class: target.class,
            shape: target.shape,
            operands,
        };
        self.emit(Op::Memory(op), instruction);
        Ok(())
    }

    fn store(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let object = self.operand(instruction, 1)?;
        let target = self.target(instruction, 0)?;
        if target.pointee != object.ty {
            let message = "the object is not of the type that the pointer leads to";
            return Err(Problem::invalid(instruction.line, message));
        }
        let (operands, _) = self.memory_operands(instruction, 2)?;
        let op = MemoryOp::Store {
            pointer: target.pointer,
            object: object.operand,
            class: target.class,
            shape: target.shape,
            operands,
        };
        self.emit(Op::Memory(op), instruction);
        Ok(())
    }

    /// Of two sets of memory operands the first is the target's; a single one is for both, but
    /// what makes available is the target's and what makes visible the source's.
    fn copy_memory(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let target = self.target(instruction, 0)?;
        let source = self.target(instruction, 1)?;
        let (first, position) = self.memory_operands(instruction, 2)?;
        let (second, _) = self.memory_operands(instruction, position)?;
        let second = if position < instruction.operands.len() { second } else { first };
        if target.pointee != source.pointee {
            let message = "the pointers lead to different types";
            return Err(Problem::invalid(instruction.line, message));
        }
        let op = MemoryOp::Copy {
            target: target.pointer,
            target_class: target.class,
            target_shape: target.shape,
            target_operands: MemoryOperands { make_visible: None, ..first },
            source: source.pointer,
            source_class: source.class,
            source_shape: source.shape,
            source_operands: MemoryOperands { make_available: None, ..second },
        };
        self.emit(Op::Memory(op), instruction);
        Ok(())
    }

    /// Memory operands from this position on, and the position behind them.
    fn memory_operands(
        &self,
        instruction: &Instruction,
        position: usize,
    ) -> Result<(MemoryOperands, usize), Problem> {
        let line = instruction.line;
        let Some(mask) = instruction.word(position) else {
            return Ok((MemoryOperands::default(), position));
        };
        let mask = MemoryAccess::from_bits_retain(mask);
        let mut next = position + 1;
        let mut word = || {
            next += 1;
            self.word(instruction, next - 1)
        };
        let mut operands = MemoryOperands {
            volatile: mask.contains(MemoryAccess::VOLATILE),
            nontemporal: mask.contains(MemoryAccess::NONTEMPORAL),
            non_private: mask.contains(MemoryAccess::NON_PRIVATE_POINTER),
            ..MemoryOperands::default()
        };
        if mask.contains(MemoryAccess::ALIGNED) {
            operands.aligned = Some(word()?);
        }
        if mask.contains(MemoryAccess::MAKE_POINTER_AVAILABLE) {
            operands.make_available = Some(decode_scope(self.program.globals.integer(word()?, line)?, line)?);
        }
        if mask.contains(MemoryAccess::MAKE_POINTER_VISIBLE) {
            operands.make_visible = Some(decode_scope(self.program.globals.integer(word()?, line)?, line)?);
        }
        let known = MemoryAccess::VOLATILE
            | MemoryAccess::ALIGNED
            | MemoryAccess::NONTEMPORAL
            | MemoryAccess::MAKE_POINTER_AVAILABLE
            | MemoryAccess::MAKE_POINTER_VISIBLE
            | MemoryAccess::NON_PRIVATE_POINTER;
        if !known.contains(mask) {
            let unknown = (mask & !known).bits();
            return Err(Problem::unsupported(format!("memory operand {unknown:#x}"), line));
        }
        Ok((operands, next))
    }

    fn array_length(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let structure = self.operand(instruction, 0)?;
        let number = self.word(instruction, 1)? as usize;
        let types = self.types();
        let (_, pointee) = types.pointer(structure.ty, line)?;
        let invalid = || Problem::invalid(line, "OpArrayLength does not name a runtime array");
        let Type::Struct { members, .. } = types.get(pointee, line)? else { return Err(invalid()) };
        let offsets = types.member_offsets(members, line)?;
        let (Some(member), Some(&offset)) = (members.get(number), offsets.get(number)) else {
            return Err(invalid());
        };
        let Type::RuntimeArray { element, stride } = types.get(member.ty, line)? else {
            return Err(invalid());
        };
        let op = MemoryOp::ArrayLength {
            dst: result.operand.index(),
            pointer: structure.operand,
            offset: super::layout::to_bytes(offset, line)?,
            stride: types.array_stride(*element, *stride, member.placement(), line)?,
        };
        self.emit(Op::Memory(op), instruction);
        Ok(())
    }
}
