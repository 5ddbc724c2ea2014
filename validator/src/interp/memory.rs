//! Variables, loads, stores and copies (SPIR-V 3.3.8, "Memory Instructions").

use super::access::{bytes_of, components_of, set_components, AccessPlan, Bytes};
use super::invocation::Copied;
use super::machine::{fault, Components, Machine, Step};
use super::own_memory::OwnAddress;
use super::{Invocation, Pointer, Stop, Written};
use crate::event::{StorageClass, UndefinedKind, INDEX_OUT_OF_BOUNDS};
use crate::ir::{CooperativeOp, Line, MemoryOp, MemoryOperands, Op, Operand, Program, Shape, ShapeId};
use crate::value::{mask, Byte, Scalar};

/// One side of a load, store or copy.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) pointer: Operand,
    pub(super) class: StorageClass,
    pub(super) shape: ShapeId,
    pub(super) operands: MemoryOperands,
}

impl Machine<'_> {
    pub(super) fn memory_op(&mut self, op: &MemoryOp, line: Line) -> Step {
        match op {
            MemoryOp::Variable { dst, variable } => {
                let declared = &self.program.variables[*variable as usize];
                let shared = self.dispatch.object(*variable, self.state.index);
                let object = shared.unwrap_or(Pointer::OWN | variable);
                let pointer = Pointer::to_object(object, *variable, declared.decorations);
                self.set_all(*dst, &pointer.encode());
            }
            MemoryOp::Chain(chain) if chain.physical => self.physical_chain(chain, line)?,
            MemoryOp::Chain(chain) => self.chain(chain, line)?,
            MemoryOp::Difference { dst, a, b, stride, width } => {
                let difference = self.difference(*a, *b, *stride, *width, line)?;
                self.state.set(*dst, difference);
            }
            MemoryOp::Load { dst, pointer, class, shape, operands } => {
                let target = Target { pointer: *pointer, class: *class, shape: *shape, operands: *operands };
                let program = self.program;
                let shape = &program.shapes[shape.0 as usize];
                match self.place(target, shape, false, line)? {
                    AccessTarget::Own(address) => {
                        for (register, leaf) in (*dst..).zip(&shape.leaves) {
                            let value = self.state.own.load(address, leaf.offset, leaf.kind);
                            self.state.set(register, value);
                        }
                    }
                    AccessTarget::Shared(plan) if shape.leaves.is_empty() => {
                        self.read_bytes(plan)?;
                    }
                    AccessTarget::Shared(plan) => {
                        let bytes = self.read_bytes(plan)?;
                        let first = (self.state.frame.registers + *dst) as usize;
                        let registers = &mut self.state.registers[first..][..shape.leaves.len()];
                        set_components(shape, &bytes, registers);
                    }
                    AccessTarget::Outside(pointer) => {
                        let components = self.load_outside(pointer, target, shape, line)?;
                        self.set_all(*dst, &components);
                    }
                }
            }
            MemoryOp::Store { pointer, object, class, shape, operands } => {
                let target = Target { pointer: *pointer, class: *class, shape: *shape, operands: *operands };
                let program = self.program;
                let shape = &program.shapes[shape.0 as usize];
                match self.place(target, shape, true, line)? {
                    AccessTarget::Own(address) => {
                        for (i, leaf) in (0..).zip(&shape.leaves) {
                            let value = self.value(object.offset(i));
                            self.state.own.store(address, leaf.offset, leaf.kind, value);
                        }
                    }
                    AccessTarget::Shared(plan) => {
                        let components = self.values(*object, shape.leaves.len() as u32);
                        return self.write_shared(plan, shape, &components);
                    }
                    AccessTarget::Outside(pointer) => {
                        let components = self.values(*object, shape.leaves.len() as u32);
                        return self.store_outside(pointer, target, shape, &components, line);
                    }
                }
            }
            MemoryOp::Copy {
                target,
                target_class,
                target_shape,
                target_operands,
                source,
                source_class,
                source_shape,
                source_operands,
            } => {
                let source = Target {
                    pointer: *source,
                    class: *source_class,
                    shape: *source_shape,
                    operands: *source_operands,
                };
                let target = Target {
                    pointer: *target,
                    class: *target_class,
                    shape: *target_shape,
                    operands: *target_operands,
                };
                return self.copy(source, target, line);
            }
            MemoryOp::Uniform { pointer } => self.note_descriptor(*pointer, line),
            MemoryOp::ArrayLength { dst, pointer, offset, stride } => {
                let pointer = self.resolve(*pointer, line)?;
                let start = u64::from(pointer.offset) + u64::from(*offset);
                let size = match pointer.own_object() {
                    Some(object) => self.state.own.size(object),
                    None => self.memory.told_size(pointer.object),
                };
                let bytes = u64::from(size).saturating_sub(start);
                let length = bytes.checked_div(u64::from(*stride)).unwrap_or(0);
                self.state.set(*dst, Scalar::new(length));
            }
        }
        self.state.advance();
        Ok(())
    }

    /// OpCopyMemory: the read, then the write. What was read is kept in between, where the
    /// invocation may stop.
    fn copy(&mut self, source: Target, target: Target, line: Line) -> Step {
        let program = self.program;
        let supplied = self.state.copied.take();
        let was_supplied = supplied.is_some();
        let components = match supplied {
            Some(copied) => Components::from_vec(copied.0),
            None => {
                let shape = &program.shapes[source.shape.0 as usize];
                match self.place(source, shape, false, line)? {
                    AccessTarget::Own(address) => {
                        let leaves = shape.leaves.iter();
                        leaves.map(|leaf| self.state.own.load(address, leaf.offset, leaf.kind)).collect()
                    }
                    AccessTarget::Shared(plan) => self.read_shared(plan, shape)?,
                    AccessTarget::Outside(pointer) => self.load_outside(pointer, source, shape, line)?,
                }
            }
        };
        let shape = &program.shapes[target.shape.0 as usize];
        match self.place(target, shape, true, line)? {
            AccessTarget::Own(address) => {
                for (leaf, value) in shape.leaves.iter().zip(&components) {
                    self.state.own.store(address, leaf.offset, leaf.kind, *value);
                }
                self.state.advance();
                Ok(())
            }
            AccessTarget::Shared(plan) => self.write_shared(plan, shape, &components),
            AccessTarget::Outside(pointer) => {
                let stored = self.store_outside(pointer, target, shape, &components, line);
                // A choice starts the instruction again, but not the read that stopped it.
                if was_supplied && matches!(&stored, Err(stop) if matches!(**stop, Stop::Choose { .. })) {
                    self.state.copied = Some(Box::new(Copied(components.into_vec())));
                }
                stored
            }
        }
    }

    /// The pointer that an operand holds, which must point into an object.
    #[inline(always)]
    pub(super) fn resolve(&self, operand: Operand, line: Line) -> Result<Pointer, Box<Stop>> {
        let components = [self.value(operand), self.value(operand.offset(1))];
        let Some(pointer) = Pointer::decode(components) else {
            return Err(fault(UndefinedKind::UndefinedAddress, line, "the pointer is undefined"));
        };
        if pointer.is_null() {
            return Err(fault(UndefinedKind::NullAccess, line, "the pointer is null"));
        }
        if pointer.out_of_bounds {
            return Err(fault(UndefinedKind::OutOfBounds, line, INDEX_OUT_OF_BOUNDS));
        }
        Ok(pointer)
    }

    /// The pointer of this storage class that an operand holds, which must point into an object.
    #[inline(always)]
    pub(super) fn resolve_in(
        &self,
        class: StorageClass,
        operand: Operand,
        line: Line,
    ) -> Result<Pointer, Box<Stop>> {
        match class {
            StorageClass::PhysicalStorageBuffer => self.resolve_physical(operand, line),
            _ => self.resolve(operand, line),
        }
    }

    /// Where an access goes, after all checks. Handed back through memory, it would cost as much as the access.
    #[inline(always)]
    fn place(
        &mut self,
        target: Target,
        shape: &Shape,
        write: bool,
        line: Line,
    ) -> Result<AccessTarget, Box<Stop>> {
        self.state.uncertain = false;
        let is_private = matches!(target.class, StorageClass::Function | StorageClass::Private);
        if is_private && !target.operands.volatile && self.state.names.is_empty() {
            let components = [self.value(target.pointer), self.value(target.pointer.offset(1))];
            let own = Pointer::own_and_plain(components);
            if let Some(address) =
                own.and_then(|(object, offset)| self.state.own.locate(object, offset, shape.size))
            {
                return Ok(AccessTarget::Own(address));
            }
        }
        let pointer = self.resolve_in(target.class, target.pointer, line)?;
        let is_volatile = target.operands.volatile || pointer.decorations.volatile;
        self.state.effects += u64::from(is_volatile || write && !is_private);
        match pointer.own_object() {
            Some(object) => match self.state.own.locate(object, pointer.offset, shape.size) {
                Some(address) => {
                    self.check_qualifiers(pointer, write, line)?;
                    self.name_shape(pointer, shape, write, line)?;
                    Ok(AccessTarget::Own(address))
                }
                None => Err(outside(pointer.offset, shape.size, self.state.own.size(object), line)),
            },
            None if self.is_outside(pointer, shape.size)
                || !write && self.counts_as_outside(pointer, shape.size) =>
            {
                self.check_qualifiers(pointer, write, line)?;
                Ok(AccessTarget::Outside(pointer))
            }
            None => {
                let plan = self.plan(pointer, target, shape, write, line)?;
                self.name_shape(pointer, shape, write, line)?;
                Ok(AccessTarget::Shared(plan))
            }
        }
    }

    /// Notes that what a shape has behind a pointer is accessed by the pointer's name.
    #[inline]
    fn name_shape(&mut self, pointer: Pointer, shape: &Shape, write: bool, line: Line) -> Step {
        if self.state.names.is_empty() {
            return Ok(());
        }
        for leaf in &shape.leaves {
            let offset = pointer.offset + leaf.offset;
            self.name_bytes(Pointer { offset, ..pointer }, leaf.kind.bytes(), write, line)?;
        }
        Ok(())
    }

    /// Reads by a shape that no instruction names.
    pub(super) fn load_shaped(
        &mut self,
        target: Target,
        shape: &Shape,
        line: Line,
    ) -> Result<Components, Box<Stop>> {
        match self.place(target, shape, false, line)? {
            AccessTarget::Own(address) => {
                let leaves = shape.leaves.iter();
                Ok(leaves.map(|leaf| self.state.own.load(address, leaf.offset, leaf.kind)).collect())
            }
            AccessTarget::Shared(plan) => self.read_shared(plan, shape),
            AccessTarget::Outside(pointer) => {
                Err(outside(pointer.offset, shape.size, self.object_size(pointer), line))
            }
        }
    }

    /// Writes by a shape that no instruction names, and goes on behind the instruction.
    pub(super) fn store_shaped(
        &mut self,
        target: Target,
        shape: &Shape,
        components: &[Scalar],
        line: Line,
    ) -> Step {
        match self.place(target, shape, true, line)? {
            AccessTarget::Own(address) => {
                for (leaf, value) in shape.leaves.iter().zip(components) {
                    self.state.own.store(address, leaf.offset, leaf.kind, *value);
                }
                self.state.advance();
                Ok(())
            }
            AccessTarget::Shared(plan) => self.write_shared(plan, shape, components),
            AccessTarget::Outside(pointer) => {
                Err(outside(pointer.offset, shape.size, self.object_size(pointer), line))
            }
        }
    }

    /// Size of the object that a pointer points into.
    pub(super) fn object_size(&self, pointer: Pointer) -> u32 {
        match pointer.own_object() {
            Some(object) => self.state.own.size(object),
            None => self.memory.size(pointer.object),
        }
    }

    fn read_shared(&mut self, plan: AccessPlan, shape: &Shape) -> Result<Components, Box<Stop>> {
        Ok(components_of(shape, &self.read_bytes(plan)?))
    }

    /// The bytes of an access's ranges.
    #[inline]
    pub(super) fn read_bytes(&mut self, plan: AccessPlan) -> Result<Bytes, Box<Stop>> {
        let mut bytes = plan.buffer();
        let is_open = self.is_left_open(&plan.access);
        if bytes.is_empty() || is_open || self.memory.read(&plan.access, None, &mut bytes) {
            self.blur(&mut bytes);
            Ok(bytes)
        } else {
            Err(Box::new(Stop::Read(plan.access)))
        }
    }

    /// Writes and goes on behind the instruction.
    fn write_shared(&mut self, plan: AccessPlan, shape: &Shape, components: &[Scalar]) -> Step {
        let mut bytes = plan.buffer();
        bytes_of(shape, components, &mut bytes);
        self.write_bytes(plan, bytes)
    }

    /// Writes these bytes of an access's ranges, and goes on behind the instruction.
    pub(super) fn write_bytes(&mut self, plan: AccessPlan, mut bytes: Bytes) -> Step {
        self.state.uncertain = self.may_be_overwritten(plan.access.object);
        self.blur(&mut bytes);
        self.state.advance();
        if bytes.is_empty() || self.state.helper || self.is_left_open(&plan.access) {
            return Ok(());
        }
        let written = self.memory.write(&plan.access, None, &bytes);
        if self.settle(written) {
            return Ok(());
        }
        Err(Box::new(Stop::Write(plan.access, bytes.into_vec())))
    }

    /// Notes a settled write. False where it is none.
    pub(super) fn settle(&mut self, written: Written) -> bool {
        self.state.activity.changes += u64::from(written == Written::Changed);
        written != Written::Event
    }

    /// OpPtrDiff. Pointers into different objects have no difference.
    fn difference(
        &self,
        a: Operand,
        b: Operand,
        stride: u32,
        width: u8,
        line: Line,
    ) -> Result<Scalar, Box<Stop>> {
        let (a, b) = (self.resolve(a, line)?, self.resolve(b, line)?);
        let bytes = i64::from(a.offset) - i64::from(b.offset);
        let stride = i64::from(stride.max(1));
        if a.object != b.object || bytes % stride != 0 {
            let detail = "the pointers do not point to elements of one array";
            return Err(fault(UndefinedKind::UndefinedOperand, line, detail));
        }
        Ok(Scalar::new((bytes / stride) as u64 & mask(u32::from(width))))
    }

    /// OpPtrEqual: the same location, whatever way the pointers took. Aliased bindings are the same.
    pub(super) fn pointers_equal(&self, a: Operand, b: Operand) -> Scalar {
        let decode = |operand: Operand| Pointer::decode([self.value(operand), self.value(operand.offset(1))]);
        let location = |pointer: Pointer| {
            let shared = self.dispatch.objects.get(pointer.object as usize);
            let memory = shared.map_or(pointer.object, |object| object.memory);
            (shared.is_some(), memory, pointer.offset)
        };
        match (decode(a), decode(b)) {
            (Some(a), Some(b)) => Scalar::new(u64::from(location(a) == location(b))),
            (None, _) | (_, None) => Scalar::undefined(1),
        }
    }
}

impl Invocation {
    /// Answers [`Stop::Read`]: one byte per byte of the access's ranges, in their order.
    pub fn supply(&mut self, program: &Program, bytes: &[Byte]) {
        let blurred = self.uncertain.then(|| vec![Byte::Undef; bytes.len()]);
        let bytes = blurred.as_deref().unwrap_or(bytes);
        let op = &self.function(program).code[self.frame.pc as usize].op;
        if let Op::Memory(MemoryOp::Load { dst, shape, .. }) = op {
            let components = components_of(&program.shapes[shape.0 as usize], bytes);
            for (register, value) in (*dst..).zip(components) {
                self.set(register, value);
            }
            self.advance();
        } else if let Op::Memory(MemoryOp::Copy { source_shape, .. }) = op {
            let components = components_of(&program.shapes[source_shape.0 as usize], bytes);
            self.copied = Some(Box::new(Copied(components.into_vec())));
            self.forget_choices();
        } else if let Op::Cooperative(CooperativeOp::Load { .. }) = op {
            // Which components these are, the instruction knows when it runs again.
            let scalar = |byte: &Byte| match byte {
                Byte::Known(byte) => Scalar::new(u64::from(*byte)),
                Byte::Undef => Scalar::undefined(8),
            };
            self.copied = Some(Box::new(Copied(bytes.iter().map(scalar).collect())));
        } else if let Op::Image(_) = op {
            self.supply_texels(bytes);
        }
    }
}

/// Where an access goes.
enum AccessTarget {
    Own(OwnAddress),
    Shared(AccessPlan),
    /// Not wholly inside of a buffer whose bounds are checked.
    Outside(Pointer),
}

/// The stop for an access that leaves its object.
pub(super) fn outside(offset: u32, size: u32, object_size: u32, line: Line) -> Box<Stop> {
    let detail =
        format!("an access of {size} bytes at byte {offset} leaves an object of {object_size} bytes");
    fault(UndefinedKind::OutOfBounds, line, detail)
}
