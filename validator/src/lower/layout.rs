//! How types lie in memory: explicitly where decorated (Offset, ArrayStride, MatrixStride with
//! RowMajor or ColMajor), naturally elsewhere.
//!
//! The natural layout puts each scalar at the next multiple of its size, a bool in 4 bytes and a
//! pointer in 16; a physical pointer is an address of 8 bytes.

use std::collections::HashMap;

use super::error::Problem;
use super::types::{MatrixLayout, MatrixSize, Member, Type, TypeTable};
use crate::event::StorageClass;
use crate::ir::{Leaf, LeafKind, Line, Shape, ShapeId, RAY_QUERY_SIZE};

/// Sizes are cut here, far beyond what is accepted, so that sums and products fit in 64 bits.
const HUGE: u64 = 1 << 40;
/// Shapes of more leaves than this are refused.
const MAX_LEAVES: usize = 1 << 22;

/// How what a pointer points to lies in memory, where its type alone does not say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Placement {
    /// For matrices and arrays of them: the layout that the struct member gives.
    pub matrix: Option<MatrixLayout>,
    /// For a column of a row-major matrix: bytes from one component to the next.
    pub component_stride: Option<u32>,
}

/// Size and alignment in bytes, both without a trailing runtime array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub size: u64,
    pub alignment: u64,
}

/// A matrix in memory: bytes between columns, bytes between rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatrixStrides {
    pub column: u32,
    pub row: u32,
}

impl TypeTable {
    /// Where each member of a struct starts.
    pub fn member_offsets(&self, members: &[Member], line: Line) -> Result<Vec<u64>, Problem> {
        let mut end = 0;
        let mut offsets = Vec::with_capacity(members.len());
        for member in members {
            let extent = self.extent(member.ty, member.placement(), line)?;
            let offset = member.offset.map_or(round_up(end, extent.alignment), u64::from);
            offsets.push(offset);
            end = offset + extent.size;
        }
        Ok(offsets)
    }

    /// Bytes from one element of an array to the next.
    pub fn array_stride(
        &self,
        element: u32,
        decorated: Option<u32>,
        placement: Placement,
        line: Line,
    ) -> Result<u32, Problem> {
        if let Some(stride) = decorated {
            return Ok(stride);
        }
        let extent = self.extent(element, placement, line)?;
        to_bytes(round_up(extent.size, extent.alignment), line)
    }

    /// Where the components of a matrix lie.
    pub fn matrix_strides(
        &self,
        id: u32,
        layout: Option<MatrixLayout>,
        line: Line,
    ) -> Result<MatrixStrides, Problem> {
        Ok(matrix_strides(self.matrix(id, line)?, layout))
    }

    /// Size and alignment of a type in memory.
    pub fn extent(&self, id: u32, placement: Placement, line: Line) -> Result<Extent, Problem> {
        if placement == Placement::default() {
            return self.natural_extent(id, line);
        }
        self.measure_extent(self.get(id, line)?, placement, line)?.ok_or_else(|| Problem::sizeless(line))
    }

    /// Size and alignment of a type whose parts are known; `None` if memory cannot hold it.
    pub(super) fn measure_extent(
        &self,
        ty: &Type,
        placement: Placement,
        line: Line,
    ) -> Result<Option<Extent>, Problem> {
        let extent = match ty {
            Type::Void | Type::Function { .. } => return Ok(None),
            Type::AccelerationStructure => Extent { size: 8, alignment: 8 },
            Type::RayQuery => Extent { size: u64::from(RAY_QUERY_SIZE), alignment: 8 },
            Type::Bool => Extent { size: 4, alignment: 4 },
            Type::Int { width } | Type::Float { width, .. } => {
                let size = u64::from(width / 8);
                Extent { size, alignment: size }
            }
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. }
            | Type::UntypedPointer { class: StorageClass::PhysicalStorageBuffer } => {
                Extent { size: 8, alignment: 8 }
            }
            Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::Image(_) | Type::Sampler => {
                Extent { size: 16, alignment: 8 }
            }
            Type::SampledImage(_) => Extent { size: 32, alignment: 8 },
            Type::Vector { component, count } => {
                let scalar = self.natural_extent(*component, line)?;
                let stride = placement.component_stride.map_or(scalar.size, u64::from);
                Extent { size: repeat(*count, stride, scalar.size), alignment: scalar.alignment }
            }
            Type::Matrix { column, columns } => {
                let lanes = self.lanes(*column, line)?;
                let size = MatrixSize { columns: *columns, rows: lanes.count, width: lanes.width };
                let strides = matrix_strides(size, placement.matrix);
                let scalar = u64::from(size.width / 8);
                let column = repeat(size.rows, u64::from(strides.row), scalar);
                Extent { size: repeat(size.columns, u64::from(strides.column), column), alignment: scalar }
            }
            Type::Array { element, length, stride } => {
                let part = self.extent(*element, placement, line)?;
                let stride = stride.map_or(round_up(part.size, part.alignment), u64::from);
                Extent { size: repeat(*length, stride, part.size), alignment: part.alignment }
            }
            Type::RuntimeArray { element, .. } => {
                Extent { size: 0, alignment: self.extent(*element, placement, line)?.alignment }
            }
            Type::Struct { members, .. } => {
                let mut extent = Extent { size: 0, alignment: 1 };
                for (member, offset) in members.iter().zip(self.member_offsets(members, line)?) {
                    let part = self.extent(member.ty, member.placement(), line)?;
                    extent.size = extent.size.max(offset + part.size);
                    extent.alignment = extent.alignment.max(part.alignment);
                }
                extent
            }
        };
        Ok(Some(Extent { size: extent.size.min(HUGE), ..extent }))
    }

    /// The size of a type in memory, without a trailing runtime array.
    pub fn size(&self, id: u32, placement: Placement, line: Line) -> Result<u32, Problem> {
        to_bytes(self.extent(id, placement, line)?.size, line)
    }

    fn leaves(
        &self,
        id: u32,
        placement: Placement,
        offset: u64,
        line: Line,
        leaves: &mut Vec<Leaf>,
    ) -> Result<(), Problem> {
        let mut leaf = |offset: u64, kind: LeafKind| -> Result<(), Problem> {
            if leaves.len() >= MAX_LEAVES {
                let what = format!("an object of more than {MAX_LEAVES} scalars");
                return Err(Problem::unsupported(what, line));
            }
            leaves.push(Leaf { offset: to_bytes(offset, line)?, kind });
            Ok(())
        };
        // Keeps arrays of nothing from being walked element by element.
        if !self.has_components(id, line)? {
            return Ok(());
        }
        match self.get(id, line)? {
            Type::Bool => leaf(offset, LeafKind::Bool),
            Type::AccelerationStructure => leaf(offset, LeafKind::Number(8)),
            Type::Int { width } | Type::Float { width, .. } => leaf(offset, LeafKind::Number(width / 8)),
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. }
            | Type::UntypedPointer { class: StorageClass::PhysicalStorageBuffer } => {
                leaf(offset, LeafKind::Number(8))?;
                leaf(offset + 8, LeafKind::PhysicalTag)
            }
            Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::Image(_) | Type::Sampler => {
                leaf(offset, LeafKind::PointerHalf)?;
                leaf(offset + 8, LeafKind::PointerHalf)
            }
            Type::SampledImage(_) => {
                (0..4).try_for_each(|half| leaf(offset + 8 * half, LeafKind::PointerHalf))
            }
            Type::Vector { component, count } => {
                let scalar = self.extent(*component, Placement::default(), line)?.size;
                let stride = placement.component_stride.map_or(scalar, u64::from);
                for index in 0..u64::from(*count) {
                    self.leaves(*component, Placement::default(), offset + index * stride, line, leaves)?;
                }
                Ok(())
            }
            Type::Matrix { column, columns } => {
                let strides = self.matrix_strides(id, placement.matrix, line)?;
                let inner = Placement { matrix: None, component_stride: Some(strides.row) };
                for index in 0..u64::from(*columns) {
                    self.leaves(*column, inner, offset + index * u64::from(strides.column), line, leaves)?;
                }
                Ok(())
            }
            Type::Array { element, length, stride } => {
                let stride = u64::from(self.array_stride(*element, *stride, placement, line)?);
                for index in 0..u64::from(*length) {
                    self.leaves(*element, placement, offset + index * stride, line, leaves)?;
                }
                Ok(())
            }
            Type::RuntimeArray { .. } | Type::RayQuery => Ok(()),
            Type::Struct { members, .. } => {
                for (member, start) in members.iter().zip(self.member_offsets(members, line)?) {
                    self.leaves(member.ty, member.placement(), offset + start, line, leaves)?;
                }
                Ok(())
            }
            Type::Void | Type::Function { .. } => Err(Problem::sizeless(line)),
        }
    }
}

fn matrix_strides(size: MatrixSize, layout: Option<MatrixLayout>) -> MatrixStrides {
    let scalar = u32::from(size.width / 8);
    match layout {
        Some(MatrixLayout { stride, row_major: true }) => MatrixStrides { column: scalar, row: stride },
        Some(MatrixLayout { stride, row_major: false }) => MatrixStrides { column: stride, row: scalar },
        None => MatrixStrides { column: size.rows.saturating_mul(scalar), row: scalar },
    }
}

impl Member {
    /// How this member lies in memory beyond what its type says.
    pub fn placement(&self) -> Placement {
        Placement { matrix: self.matrix, component_stride: None }
    }
}

/// The shapes of a program, each once.
#[derive(Debug, Default)]
pub(super) struct ShapeTable {
    pub shapes: Vec<Shape>,
    known: HashMap<(u32, Placement), ShapeId>,
}

impl ShapeTable {
    /// A word of 32 bits.
    pub fn word(&mut self) -> ShapeId {
        self.add(Shape { leaves: vec![Leaf { offset: 0, kind: LeafKind::Number(4) }], size: 4 })
    }

    fn add(&mut self, shape: Shape) -> ShapeId {
        let id = ShapeId(u32::try_from(self.shapes.len()).unwrap_or(u32::MAX));
        self.shapes.push(shape);
        id
    }

    /// A run of bytes without a type.
    pub fn bytes(&mut self, size: u32, line: Line) -> Result<ShapeId, Problem> {
        /// Larger copies are refused: each byte becomes a component.
        const MAX_COPY: u32 = 1 << 16;
        if size > MAX_COPY {
            return Err(Problem::unsupported(format!("a copy of {size} bytes"), line));
        }
        let leaves = (0..size).map(|offset| Leaf { offset, kind: LeafKind::Number(1) }).collect();
        Ok(self.add(Shape { leaves, size }))
    }

    /// The shape of a type.
    pub fn intern(
        &mut self,
        types: &TypeTable,
        id: u32,
        placement: Placement,
        line: Line,
    ) -> Result<ShapeId, Problem> {
        if let Some(&shape) = self.known.get(&(id, placement)) {
            return Ok(shape);
        }
        let mut leaves = Vec::new();
        types.leaves(id, placement, 0, line, &mut leaves)?;
        let end = |leaf: &Leaf| u64::from(leaf.offset) + u64::from(leaf.kind.bytes());
        let size = to_bytes(leaves.iter().map(end).max().unwrap_or(0), line)?;
        let shape = self.add(Shape { leaves, size });
        self.known.insert((id, placement), shape);
        Ok(shape)
    }
}

/// Offsets and sizes must leave room for a sum of two in 32 bits.
pub(super) fn to_bytes(size: u64, line: Line) -> Result<u32, Problem> {
    const MAX_BYTES: u64 = 1 << 30;
    match u32::try_from(size) {
        Ok(bytes) if size <= MAX_BYTES => Ok(bytes),
        Ok(_) | Err(_) => Err(Problem::unsupported(format!("an object of {size} bytes"), line)),
    }
}

const fn round_up(value: u64, alignment: u64) -> u64 {
    match alignment {
        0 => value,
        _ => value.div_ceil(alignment) * alignment,
    }
}

/// From the first byte of the first element to the last byte of the last one.
const fn repeat(count: u32, stride: u64, element: u64) -> u64 {
    match count {
        0 => 0,
        _ => (count as u64 - 1).saturating_mul(stride).saturating_add(element),
    }
}
