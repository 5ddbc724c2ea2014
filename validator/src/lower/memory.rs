//! Memory instructions (SPIR-V specification 3.3.8).

use std::collections::HashSet;

use rspirv::spirv::{MemoryAccess, Op as Opcode};

use super::barriers::decode_scope;
use super::decorations::Decoration;
use super::error::Problem;
use super::function::FunctionBuilder;
use super::layout::Placement;
use super::program::decorations_of;
use super::types::{Type, TypeTable};
use super::values::Values;
use super::variables::initializer;
use crate::event::StorageClass;
use crate::ir::{Chain, Decorations, Function, Local, MemoryOp, MemoryOperands, Op, Operand, ShapeId};
use crate::module::Instruction;

/// What an access touches.
#[derive(Clone, Copy)]
struct Target {
    pointer: Operand,
    class: StorageClass,
    pointee: u32,
    shape: ShapeId,
}

/// Whether some descriptor must be the same for the invocations of a subgroup.
pub(super) fn asks_for_uniform(functions: &[Function]) -> bool {
    let asks = |op: &Op| matches!(op, Op::Memory(MemoryOp::Uniform { .. }));
    functions.iter().any(|function| function.code.iter().any(|inst| asks(&inst.op)))
}

impl FunctionBuilder<'_, '_> {
    /// Lowers a memory instruction.
    pub fn memory(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        match opcode {
            Opcode::Variable => self.local(instruction),
            Opcode::Load => self.load(instruction),
            Opcode::Store => self.store(instruction),
            Opcode::CopyMemory => self.copy_memory(instruction),
            Opcode::CopyMemorySized => self.copy_memory_sized(instruction),
            Opcode::AccessChain
            | Opcode::InBoundsAccessChain
            | Opcode::PtrAccessChain
            | Opcode::InBoundsPtrAccessChain
            | Opcode::UntypedAccessChainKHR
            | Opcode::UntypedInBoundsAccessChainKHR
            | Opcode::UntypedPtrAccessChainKHR
            | Opcode::UntypedInBoundsPtrAccessChainKHR => self.access_chain(opcode, instruction),
            Opcode::UntypedVariableKHR => self.local(instruction),
            Opcode::ArrayLength => self.array_length(instruction, None),
            Opcode::UntypedArrayLengthKHR => self.array_length(instruction, instruction.word(0)),
            _ => Err(Problem::unsupported(instruction.name(), instruction.line)),
        }
    }

    /// A variable of the function's own.
    fn local(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let declared = variable_type(self.types(), instruction)?;
        let (class, pointee) = (declared.class, declared.pointee);
        self.local_ids.extend(instruction.result);
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
            initializer: initializer(globals, declared.initializer, pointee, line)?,
            decorations: decorations_of(globals, instruction.result.unwrap_or(0)),
            line,
        };
        self.locals.push(local);
        Ok(())
    }

    /// The memory that an access through the pointer at this operand position touches. Decorations
    /// of members that the access covers are united onto the pointer first.
    ///
    /// `accessed` is the type of an access through an untyped pointer.
    fn target(
        &mut self,
        instruction: &Instruction,
        position: usize,
        accessed: Option<u32>,
    ) -> Result<Target, Problem> {
        let line = instruction.line;
        let id = self.word(instruction, position)?;
        let pointer = self.value_or_address(id, line)?;
        let (class, pointee) = match accessed {
            Some(accessed) => self.types().pointer_to(pointer.ty, accessed, line)?,
            None => self.types().pointer(pointer.ty, line)?,
        };
        let placement = self.pointee(id).placement;
        let shape = self.program.shapes.intern(&self.program.globals.types, pointee, placement, line)?;
        let decorations = self.types().member_decorations(pointee, line)?;
        let mut operand = pointer.operand;
        if decorations != Decorations::default() {
            let dst = self.register(pointer.ty, line)?;
            self.decorate(dst, operand, class, decorations, instruction);
            operand = Operand::register(dst);
        }
        Ok(Target { pointer: operand, class, pointee, shape })
    }

    /// A pointer with more decorations.
    fn decorate(
        &mut self,
        dst: u32,
        base: Operand,
        class: StorageClass,
        decorations: Decorations,
        instruction: &Instruction,
    ) {
        let physical = class == StorageClass::PhysicalStorageBuffer;
        let chain = Chain { dst, base, offset: 0, indices: Vec::new(), decorations, physical };
        self.emit(Op::Memory(MemoryOp::Chain(chain)), instruction);
    }

    fn load(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let result = self.result(instruction)?;
        let target = self.target(instruction, 0, Some(result.ty))?;
        if target.pointee != result.ty {
            let message = "the result is not of the type that the pointer leads to";
            return Err(Problem::invalid(instruction.line, message));
        }
        // An acceleration structure's handle lies in memory; the others' are pointers.
        let is_structure =
            matches!(self.types().get(result.ty, instruction.line)?, Type::AccelerationStructure);
        if target.class == StorageClass::UniformConstant && !is_structure {
            return self.load_handle(result, target.pointer, instruction);
        }
        let (operands, _) = self.memory_operands(instruction, 1)?;
        self.access_descriptor(instruction, 0, target.class, target.pointer);
        let op = MemoryOp::Load {
            dst: result.operand.index(),
            pointer: target.pointer,
            class: target.class,
            shape: target.shape,
            operands,
        };
        self.emit(Op::Memory(op), instruction);
        if self.types().is_physical(result.ty) {
            let decorations = self.held_decorations(self.word(instruction, 0)?);
            if decorations != Decorations::default() {
                let class = StorageClass::PhysicalStorageBuffer;
                self.decorate(result.operand.index(), result.operand, class, decorations, instruction);
            }
        }
        Ok(())
    }

    fn store(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let object = self.operand(instruction, 1)?;
        let target = self.target(instruction, 0, Some(object.ty))?;
        self.keep_placement(instruction, 1)?;
        if target.pointee != object.ty {
            let message = "the object is not of the type that the pointer leads to";
            return Err(Problem::invalid(instruction.line, message));
        }
        let (operands, _) = self.memory_operands(instruction, 2)?;
        self.access_descriptor(instruction, 0, target.class, target.pointer);
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

    /// Stores a part of an instruction's result through the pointer at this operand position, as
    /// OpStore without memory operands does. Gives the type that the pointer leads to.
    pub fn store_part(
        &mut self,
        instruction: &Instruction,
        position: usize,
        object: Operand,
    ) -> Result<u32, Problem> {
        let target = self.target(instruction, position, None)?;
        self.access_descriptor(instruction, position, target.class, target.pointer);
        let op = MemoryOp::Store {
            pointer: target.pointer,
            object,
            class: target.class,
            shape: target.shape,
            operands: MemoryOperands::default(),
        };
        self.emit(Op::Memory(op), instruction);
        Ok(target.pointee)
    }

    /// Of two sets of memory operands the first is the target's; a single one is for both, but
    /// what makes available is the target's and what makes visible the source's.
    fn copy_memory(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        // Of an untyped pointer the other one says the type.
        let mut typed = |position: usize| self.typed_pointee(instruction, position);
        let (left, right) = (typed(0)?, typed(1)?);
        let target = self.target(instruction, 0, left.or(right))?;
        let source = self.target(instruction, 1, right.or(left))?;
        let (first, position) = self.memory_operands(instruction, 2)?;
        let (second, _) = self.memory_operands(instruction, position)?;
        let second = if position < instruction.operands.len() { second } else { first };
        if target.pointee != source.pointee {
            let message = "the pointers lead to different types";
            return Err(Problem::invalid(instruction.line, message));
        }
        self.access_descriptor(instruction, 0, target.class, target.pointer);
        self.access_descriptor(instruction, 1, source.class, source.pointer);
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

    /// Says that the descriptor of the resource that is accessed through an operand must be the same for the
    /// subgroup, if the operand is not decorated NonUniform.
    fn access_descriptor(
        &mut self,
        instruction: &Instruction,
        position: usize,
        class: StorageClass,
        pointer: Operand,
    ) {
        let is_resource = matches!(class, StorageClass::Uniform | StorageClass::StorageBuffer);
        if is_resource {
            self.access_part(instruction, position, pointer, 0);
        }
    }

    /// The same for an operand that is an image, a texel's pointer, or a sampled image, whose parts 0 and 1 are
    /// image and sampler. `pointer` holds the part.
    pub fn access_part(&mut self, instruction: &Instruction, position: usize, pointer: Operand, part: usize) {
        let operand = instruction.word(position);
        if self.program.indexes_descriptors && !self.is_non_uniform(operand, part) {
            self.emit(Op::Memory(MemoryOp::Uniform { pointer }), instruction);
        }
    }

    /// Whether an operand is decorated NonUniform, or is a part of one that is, or is put together from one.
    fn is_non_uniform(&self, operand: Option<u32>, part: usize) -> bool {
        let mut next = operand;
        let mut seen = HashSet::new();
        while let Some(id) = next.filter(|id| seen.insert(*id)) {
            if self.program.globals.decorations.has(id, Decoration::NonUniform) {
                return true;
            }
            next = self.definition(id).and_then(|made| match made.op() {
                Some(Opcode::Image | Opcode::ImageTexelPointer) => made.word(0),
                Some(Opcode::SampledImage) => made.word(part),
                _ => None,
            });
        }
        false
    }

    /// Memory operands from this position on, and the position behind them.
    pub fn memory_operands(
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

    /// The length of a runtime array; `structure` is the type behind an untyped pointer.
    fn array_length(&mut self, instruction: &Instruction, structure: Option<u32>) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let position = usize::from(structure.is_some());
        let pointer = self.operand(instruction, position)?;
        let number = self.word(instruction, position + 1)? as usize;
        let types = self.types();
        let (_, pointee) = match structure {
            Some(structure) => types.pointer_to(pointer.ty, structure, line)?,
            None => types.pointer(pointer.ty, line)?,
        };
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
            pointer: pointer.operand,
            offset: super::layout::to_bytes(offset, line)?,
            stride: types.array_stride(*element, *stride, member.placement(), line)?,
        };
        self.emit(Op::Memory(op), instruction);
        Ok(())
    }

    /// What the typed pointer at this operand position points to; `None` for an untyped one.
    fn typed_pointee(&mut self, instruction: &Instruction, position: usize) -> Result<Option<u32>, Problem> {
        let pointer = self.operand(instruction, position)?;
        match *self.types().get(pointer.ty, instruction.line)? {
            Type::UntypedPointer { .. } => Ok(None),
            _ => Ok(Some(self.types().pointer(pointer.ty, instruction.line)?.1)),
        }
    }

    /// Refuses to let a pointer out of sight whose memory lies otherwise than its type says: nothing
    /// would tell where it comes back.
    pub fn keep_placement(&self, instruction: &Instruction, position: usize) -> Result<(), Problem> {
        let id = self.word(instruction, position)?;
        if self.pointee(id).placement == Placement::default() {
            return Ok(());
        }
        let what = format!("{} of a pointer into a matrix", instruction.name());
        Err(Problem::unsupported(what, instruction.line))
    }

    /// What AliasedPointer and RestrictPointer say of the physical pointers in the variable that this
    /// pointer leads into.
    fn held_decorations(&self, pointer: u32) -> Decorations {
        let mut id = pointer;
        let mut seen = HashSet::new();
        // Chains lead back to their variable; a pointer that was chosen has none.
        while seen.insert(id) {
            match self.definition(id) {
                Some(made)
                    if matches!(made.op(), Some(Opcode::AccessChain | Opcode::InBoundsAccessChain)) =>
                {
                    id = made.word(0).unwrap_or(0);
                }
                Some(_) | None => break,
            }
        }
        let held = self.program.globals.decorations.of(id);
        Decorations {
            aliased: held.contains(&Decoration::AliasedPointer),
            restrict: held.contains(&Decoration::RestrictPointer),
            ..Decorations::default()
        }
    }

    /// OpCopyMemorySized with a constant size.
    fn copy_memory_sized(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let size = self.word(instruction, 2)?;
        if !self.program.globals.constants.contains(size) {
            return Err(Problem::unsupported("OpCopyMemorySized of a size that is no constant", line));
        }
        let size = super::layout::to_bytes(self.program.globals.integer(size, line)?, line)?;
        let shape = self.program.shapes.bytes(size, line)?;
        let mut side = |position: usize| -> Result<(Operand, StorageClass), Problem> {
            let pointer = self.operand(instruction, position)?;
            let class = self.types().pointer_class(pointer.ty);
            let class = class.ok_or_else(|| Problem::invalid(line, "a pointer is expected here"))?;
            Ok((pointer.operand, class))
        };
        let (target, target_class) = side(0)?;
        let (source, source_class) = side(1)?;
        let (first, position) = self.memory_operands(instruction, 3)?;
        let (second, _) = self.memory_operands(instruction, position)?;
        let second = if position < instruction.operands.len() { second } else { first };
        let op = MemoryOp::Copy {
            target,
            target_class,
            target_shape: shape,
            target_operands: MemoryOperands { make_visible: None, ..first },
            source,
            source_class,
            source_shape: shape,
            source_operands: MemoryOperands { make_available: None, ..second },
        };
        self.emit(Op::Memory(op), instruction);
        Ok(())
    }
}

/// What an OpVariable or OpUntypedVariableKHR declares.
pub(super) struct Declared {
    pub class: StorageClass,
    /// The type of the memory; for an untyped variable without a data type that of nothing.
    pub pointee: u32,
    pub initializer: Option<u32>,
}

/// Takes a variable's declaration apart.
pub(super) fn variable_type(types: &TypeTable, instruction: &Instruction) -> Result<Declared, Problem> {
    let line = instruction.line;
    let ty = instruction.result_type.unwrap_or(0);
    if instruction.op() == Some(Opcode::UntypedVariableKHR) {
        let Some(data) = instruction.word(1) else {
            return Err(Problem::unsupported("OpUntypedVariableKHR without a data type", line));
        };
        let (class, pointee) = types.pointer_to(ty, data, line)?;
        return Ok(Declared { class, pointee, initializer: instruction.word(2) });
    }
    let (class, pointee) = types.pointer(ty, line)?;
    Ok(Declared { class, pointee, initializer: instruction.word(1) })
}
