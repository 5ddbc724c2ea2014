//! What can be asked of a type that is known.

use super::{Kind, Known, Lanes, MatrixSize, ScalarType, Type, TypeTable, MAX_COMPONENTS};
use crate::event::StorageClass;
use crate::ir::{Decorations, Line};
use crate::lower::error::Problem;
use crate::lower::layout::Extent;

impl TypeTable {
    /// Size and alignment of a type in memory, where nothing but the type says how it lies there.
    pub fn natural_extent(&self, id: u32, line: Line) -> Result<Extent, Problem> {
        self.known(id, line)?.extent.ok_or_else(|| Problem::sizeless(line))
    }

    pub(super) fn known(&self, id: u32, line: Line) -> Result<&Known, Problem> {
        match self.known.get(&id) {
            Some(Ok(known)) => Ok(known),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(Problem::invalid(line, format!("%{id} is not a type"))),
        }
    }

    /// The type with this id.
    pub fn get(&self, id: u32, line: Line) -> Result<&Type, Problem> {
        Ok(&self.known(id, line)?.ty)
    }

    /// Number of register components of a value of this type.
    pub fn components(&self, id: u32, line: Line) -> Result<u32, Problem> {
        match self.known(id, line)?.components {
            components if components <= MAX_COMPONENTS => Ok(components),
            components => {
                Err(Problem::unsupported(format!("a value of {components} components or more"), line))
            }
        }
    }

    /// Whether a value of this type has any components at all.
    pub fn has_components(&self, id: u32, line: Line) -> Result<bool, Problem> {
        Ok(self.known(id, line)?.components != 0)
    }

    /// The united memory decorations of all struct members within this type.
    pub fn member_decorations(&self, id: u32, line: Line) -> Result<Decorations, Problem> {
        Ok(self.known(id, line)?.decorations)
    }

    /// Whether memory of this type holds physical pointers.
    pub fn holds_physical(&self, id: u32, line: Line) -> Result<bool, Problem> {
        Ok(self.known(id, line)?.physical)
    }

    /// The scalar or vector type with this id.
    pub fn lanes(&self, id: u32, line: Line) -> Result<Lanes, Problem> {
        if let (Some(_), Type::Array { element, length, .. }) = (self.cooperative(id), self.get(id, line)?) {
            return Ok(Lanes { count: *length, ..self.lanes(*element, line)? });
        }
        match *self.get(id, line)? {
            Type::Bool => Ok(Lanes { kind: Kind::Bool, width: 1, count: 1 }),
            Type::Int { width } => Ok(Lanes { kind: Kind::Int, width, count: 1 }),
            Type::Float { width, encoding } => {
                Ok(Lanes { kind: encoding.map_or(Kind::Float, Kind::Encoded), width, count: 1 })
            }
            Type::Vector { component, count } => Ok(Lanes { count, ..self.lanes(component, line)? }),
            Type::Void
            | Type::Matrix { .. }
            | Type::Array { .. }
            | Type::RuntimeArray { .. }
            | Type::Struct { .. }
            | Type::Pointer { .. }
            | Type::UntypedPointer { .. }
            | Type::Function { .. }
            | Type::AccelerationStructure
            | Type::RayQuery
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_) => Err(Problem::invalid(line, "a scalar or vector is expected here")),
        }
    }

    /// The matrix type with this id.
    pub fn matrix(&self, id: u32, line: Line) -> Result<MatrixSize, Problem> {
        match *self.get(id, line)? {
            Type::Matrix { column, columns } => {
                let lanes = self.lanes(column, line)?;
                Ok(MatrixSize { columns, rows: lanes.count, width: lanes.width })
            }
            _ => Err(Problem::invalid(line, "a matrix is expected here")),
        }
    }

    /// The pointer type with this id: storage class and what it points to.
    pub fn pointer(&self, id: u32, line: Line) -> Result<(StorageClass, u32), Problem> {
        match *self.get(id, line)? {
            Type::Pointer { class, pointee } => Ok((class, pointee)),
            Type::UntypedPointer { .. } => Err(Problem::invalid(line, "a typed pointer is expected here")),
            _ => Err(Problem::invalid(line, "a pointer is expected here")),
        }
    }

    /// The pointer type with this id, at which an access of this type goes: storage class and type.
    pub fn pointer_to(&self, id: u32, accessed: u32, line: Line) -> Result<(StorageClass, u32), Problem> {
        match *self.get(id, line)? {
            Type::UntypedPointer { class } => Ok((class, accessed)),
            _ => self.pointer(id, line),
        }
    }

    /// The storage class of a pointer type, typed or not.
    pub fn pointer_class(&self, id: u32) -> Option<StorageClass> {
        match self.known.get(&id) {
            Some(Ok(Known { ty: Type::Pointer { class, .. } | Type::UntypedPointer { class }, .. })) => {
                Some(*class)
            }
            _ => None,
        }
    }

    pub fn is_pointer(&self, id: u32) -> bool {
        self.pointer_class(id).is_some()
    }

    /// Whether this is a pointer type whose values are addresses.
    pub fn is_physical(&self, id: u32) -> bool {
        self.pointer_class(id) == Some(StorageClass::PhysicalStorageBuffer)
    }

    /// The type of the part of a composite at this index, and the part's first component.
    pub fn part(&self, id: u32, index: u32, line: Line) -> Result<(u32, u32), Problem> {
        let outside = || Problem::invalid(line, format!("there is no part {index} in this composite"));
        let uniform = |element: u32, count: u32| -> Result<(u32, u32), Problem> {
            if index >= count {
                return Err(outside());
            }
            let start = u64::from(self.components(element, line)?) * u64::from(index);
            Ok((element, u32::try_from(start).map_err(|_| outside())?))
        };
        // Bounds the sums below, too.
        self.components(id, line)?;
        match self.get(id, line)? {
            Type::Vector { component, count } => uniform(*component, *count),
            Type::Matrix { column, columns } => uniform(*column, *columns),
            Type::Array { element, length, .. } => uniform(*element, *length),
            Type::Struct { members, .. } => {
                let member = members.get(index as usize).ok_or_else(outside)?;
                let mut start = 0;
                for earlier in members.iter().take(index as usize) {
                    start += self.components(earlier.ty, line)?;
                }
                Ok((member.ty, start))
            }
            Type::Void
            | Type::Bool
            | Type::Int { .. }
            | Type::Float { .. }
            | Type::RuntimeArray { .. }
            | Type::Pointer { .. }
            | Type::UntypedPointer { .. }
            | Type::Function { .. }
            | Type::AccelerationStructure
            | Type::RayQuery
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_) => Err(Problem::invalid(line, "a composite is expected here")),
        }
    }

    /// Bits of each component of a value of this type.
    pub fn widths(&self, id: u32, line: Line) -> Result<Vec<u8>, Problem> {
        let mut widths = Vec::with_capacity(self.components(id, line)? as usize);
        self.for_each_scalar(id, line, &mut |scalar| match scalar {
            ScalarType::Number(width) => widths.push(width),
            ScalarType::Pointer | ScalarType::PhysicalPointer => widths.extend([64, 64]),
        })?;
        Ok(widths)
    }

    /// Visits the scalars and pointers of a value of this type in component order.
    pub fn for_each_scalar(
        &self,
        id: u32,
        line: Line,
        visit: &mut dyn FnMut(ScalarType),
    ) -> Result<(), Problem> {
        // Keeps arrays of nothing from being walked element by element.
        if self.components(id, line)? == 0 {
            return Ok(());
        }
        match self.get(id, line)? {
            Type::Void | Type::RuntimeArray { .. } | Type::Function { .. } | Type::RayQuery => {}
            Type::AccelerationStructure => visit(ScalarType::Number(64)),
            Type::Bool => visit(ScalarType::Number(1)),
            Type::Int { width } | Type::Float { width, .. } => visit(ScalarType::Number(*width)),
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. }
            | Type::UntypedPointer { class: StorageClass::PhysicalStorageBuffer } => {
                visit(ScalarType::PhysicalPointer)
            }
            Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::Image(_) | Type::Sampler => {
                visit(ScalarType::Pointer)
            }
            Type::SampledImage(_) => [ScalarType::Pointer; 2].into_iter().for_each(visit),
            Type::Vector { component: part, count }
            | Type::Matrix { column: part, columns: count }
            | Type::Array { element: part, length: count, .. } => {
                for _ in 0..*count {
                    self.for_each_scalar(*part, line, visit)?;
                }
            }
            Type::Struct { members, .. } => {
                for member in members.iter() {
                    self.for_each_scalar(member.ty, line, visit)?;
                }
            }
        }
        Ok(())
    }
}
