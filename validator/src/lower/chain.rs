//! Access chains: from a pointer to a composite to a pointer to a part of it.

use rspirv::spirv::Op as Opcode;

use super::decorations::Decoration;
use super::error::Problem;
use super::function::{FunctionBuilder, Pointee};
use super::layout::{to_bytes, Placement};
use super::program::descriptor_array;
use super::types::{Kind, Type};
use super::values::{Value, Values};
use crate::event::StorageClass;
use crate::ir::{Bound, Chain, ChainIndex, Decorations, Line, MemoryOp, Op};
use crate::module::Instruction;

/// What an access chain instruction has besides indices.
struct Form {
    /// A base type, as the first operand.
    untyped: bool,
    /// An Element operand, in front of the indices.
    element: bool,
}

impl Form {
    fn of(opcode: Opcode) -> Self {
        Form {
            untyped: matches!(
                opcode,
                Opcode::UntypedAccessChainKHR
                    | Opcode::UntypedInBoundsAccessChainKHR
                    | Opcode::UntypedPtrAccessChainKHR
                    | Opcode::UntypedInBoundsPtrAccessChainKHR
            ),
            element: matches!(
                opcode,
                Opcode::PtrAccessChain
                    | Opcode::InBoundsPtrAccessChain
                    | Opcode::UntypedPtrAccessChainKHR
                    | Opcode::UntypedInBoundsPtrAccessChainKHR
            ),
        }
    }
}

/// Where a chain has come to.
struct Walk {
    ty: u32,
    placement: Placement,
    /// Constant part of the way, in bytes.
    offset: u64,
    /// Bytes from the start of the object, while that is a constant.
    from_start: Option<u64>,
    decorations: Decorations,
    indices: Vec<ChainIndex>,
}

impl Walk {
    fn forward(&mut self, bytes: u64) {
        self.offset = self.offset.saturating_add(bytes);
        self.from_start = self.from_start.map(|start| start.saturating_add(bytes));
    }
}

impl FunctionBuilder<'_, '_> {
    /// Lowers an access chain: typed or not, with an element of the base or without.
    pub fn access_chain(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let Form { untyped, element } = Form::of(opcode);
        let position = usize::from(untyped);
        let result = self.result(instruction)?;
        let base_id = self.word(instruction, position)?;
        let base = self.value_or_address(base_id, line)?;
        let (class, pointee) = match untyped {
            true => self.types().pointer_to(base.ty, self.word(instruction, 0)?, line)?,
            false => self.types().pointer(base.ty, line)?,
        };
        let physical = class == StorageClass::PhysicalStorageBuffer;
        // What an untyped pointer leads to is said here, not where it was made.
        let known = if untyped { Pointee::unknown() } else { self.pointee(base_id) };
        let mut walk = Walk {
            ty: pointee,
            placement: known.placement,
            offset: 0,
            from_start: known.start.filter(|_| !physical),
            decorations: Decorations::default(),
            indices: Vec::new(),
        };
        let mut indices = instruction.words_from(position + 1);
        if let (true, Some((&first, rest))) = (element, indices.split_first()) {
            let strided = if untyped { pointee } else { base.ty };
            self.element(&mut walk, strided, first, line)?;
            indices = rest;
        }
        if let (
            StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant,
            Some((&first, rest)),
        ) = (class, indices.split_first())
        {
            if let Some((element, length)) = descriptor_array(&self.program.globals, pointee, line)? {
                self.descriptor(&mut walk, first, (element, length), line)?;
                indices = rest;
            }
        }
        for &index in indices {
            self.step(&mut walk, index, line)?;
        }
        if self.types().pointer_to(result.ty, walk.ty, line)? != (class, walk.ty) {
            return Err(Problem::invalid(line, "the result type does not fit where the chain leads"));
        }
        if let Some(id) = instruction.result {
            self.pointees.insert(id, Pointee { placement: walk.placement, start: walk.from_start });
        }
        let chain = Chain {
            dst: result.operand.index(),
            base: base.operand,
            offset: to_bytes(walk.offset, line)?,
            indices: walk.indices,
            decorations: walk.decorations,
            physical,
        };
        self.emit(Op::Memory(MemoryOp::Chain(chain)), instruction);
        Ok(())
    }

    /// The Element operand: elements of the array that the base stands in, which is as long as the
    /// object. `strided` is the type that may be decorated with their stride.
    fn element(&mut self, walk: &mut Walk, strided: u32, index: u32, line: Line) -> Result<(), Problem> {
        let stride = self.element_stride(strided, walk.ty, walk.placement, line)?;
        let (value, width) = self.index(index, line)?;
        walk.from_start = None;
        walk.indices.push(ChainIndex { index: value.operand, width, stride, bound: Bound::Unbounded });
        Ok(())
    }

    /// Bytes from one element to the next of the array that a pointer points into.
    pub fn element_stride(
        &self,
        strided: u32,
        element: u32,
        placement: Placement,
        line: Line,
    ) -> Result<u32, Problem> {
        let decorated = self.program.globals.decorations.find(strided, |decoration| match decoration {
            Decoration::ArrayStride(stride) => Some(*stride),
            _ => None,
        });
        self.types().array_stride(element, decorated, placement, line)
    }

    /// The index into an array of descriptors.
    fn descriptor(
        &mut self,
        walk: &mut Walk,
        index: u32,
        (element, length): (u32, u32),
        line: Line,
    ) -> Result<(), Problem> {
        let (value, width) = self.index(index, line)?;
        let bound = Bound::Descriptor(length);
        self.program.indexes_descriptors |= !value.operand.is_constant();
        walk.indices.push(ChainIndex { index: value.operand, width, stride: 0, bound });
        walk.ty = element;
        Ok(())
    }

    fn index(&mut self, id: u32, line: Line) -> Result<(Value, u8), Problem> {
        let value = self.value_or_address(id, line)?;
        let lanes = self.types().lanes(value.ty, line)?;
        if lanes.kind == Kind::Int && lanes.count == 1 {
            Ok((value, lanes.width))
        } else {
            Err(Problem::invalid(line, "an index is not an integer"))
        }
    }

    /// One index further.
    fn step(&mut self, walk: &mut Walk, index: u32, line: Line) -> Result<(), Problem> {
        let types = &self.program.globals.types;
        let (element, stride, bound, placement) = match types.get(walk.ty, line)? {
            Type::Struct { members, .. } => {
                let number =
                    usize::try_from(self.program.globals.integer(index, line)?).unwrap_or(usize::MAX);
                let offsets = types.member_offsets(members, line)?;
                let (Some(member), Some(offset)) = (members.get(number), offsets.get(number)) else {
                    return Err(Problem::invalid(line, format!("the struct has no member {number}")));
                };
                walk.decorations = walk.decorations.union(member.decorations);
                walk.forward(*offset);
                walk.placement = member.placement();
                walk.ty = member.ty;
                return Ok(());
            }
            Type::Vector { component, count } => {
                let size = types.size(*component, Placement::default(), line)?;
                let stride = walk.placement.component_stride.unwrap_or(size);
                (*component, stride, Bound::Elements(*count), Placement::default())
            }
            Type::Matrix { column, columns } => {
                let strides = types.matrix_strides(walk.ty, walk.placement.matrix, line)?;
                let scalar = types.natural_extent(*column, line)?.alignment;
                // A column that lies together needs no placement of its own.
                let apart = u64::from(strides.row) != scalar;
                let component_stride = apart.then_some(strides.row);
                let placement = Placement { matrix: None, component_stride };
                (*column, strides.column, Bound::Elements(*columns), placement)
            }
            Type::Array { element, length, stride } => {
                let stride = types.array_stride(*element, *stride, walk.placement, line)?;
                let bound = match types.cooperative(walk.ty) {
                    Some(spread) => Bound::Held(spread),
                    None => Bound::Elements(*length),
                };
                (*element, stride, bound, walk.placement)
            }
            Type::RuntimeArray { element, stride } => {
                let stride = types.array_stride(*element, *stride, walk.placement, line)?;
                // Where the array starts is not known in all memory: the object's size bounds the access.
                let bound = match walk.from_start {
                    Some(start) => Bound::RuntimeArray { start: to_bytes(start, line)? },
                    None => Bound::Unbounded,
                };
                (*element, stride, bound, walk.placement)
            }
            Type::Void
            | Type::Bool
            | Type::Int { .. }
            | Type::Float { .. }
            | Type::Pointer { .. }
            | Type::UntypedPointer { .. }
            | Type::Function { .. }
            | Type::AccelerationStructure
            | Type::RayQuery
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_) => {
                return Err(Problem::invalid(line, "an index leads into a type without parts"));
            }
        };
        let constant = match self.program.globals.constants.contains(index) {
            true => self.program.globals.integer(index, line).ok(),
            false => None,
        };
        // Indices are signed: a negative one leaves every array.
        let width = self.index(index, line)?.1;
        let constant = constant.filter(|number| number >> (width - 1) == 0);
        walk.ty = element;
        walk.placement = placement;
        match (bound, constant) {
            (Bound::Elements(count), Some(number)) if number < u64::from(count) => {
                walk.forward(number.saturating_mul(u64::from(stride)));
            }
            (
                Bound::Elements(_)
                | Bound::RuntimeArray { .. }
                | Bound::Unbounded
                | Bound::Descriptor(_)
                | Bound::Held(_),
                _,
            ) => {
                let (value, width) = self.index(index, line)?;
                walk.from_start = None;
                walk.indices.push(ChainIndex { index: value.operand, width, stride, bound });
            }
        }
        Ok(())
    }
}
