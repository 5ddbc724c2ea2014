//! How types lie in memory: explicitly where decorated (Offset, ArrayStride, MatrixStride with
//! RowMajor or ColMajor), naturally elsewhere.
//!
//! The natural layout puts each scalar at the next multiple of its size, a bool in 4 bytes and a
//! pointer in 16.

use std::collections::HashMap;

use super::error::Problem;
use super::types::{MatrixLayout, Type, TypeTable};
use crate::ir::{Leaf, LeafKind, Line, Shape, ShapeId};

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
    /// Where the members of a struct start, each with its placement.
    pub fn member_offset(&self, members: &[super::types::Member], index: usize, line: Line) -> Result<u64, Problem> {
        let mut end = 0;
        let mut offset = 0;
        for member in members.iter().take(index + 1) {
            let extent = self.extent(member.ty, member.placement(), line)?;
            offset = match member.offset {
                Some(offset) => u64::from(offset),
                None => round_up(end, extent.alignment),
            };
            end = offset + extent.size;
        }
        Ok(offset)
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
        let size = self.matrix(id, line)?;
        let scalar = u32::from(size.width / 8);
        Ok(match layout {
            Some(MatrixLayout { stride, row_major: true }) => MatrixStrides { column: scalar, row: stride },
            Some(MatrixLayout { stride, row_major: false }) => MatrixStrides { column: stride, row: scalar },
            None => MatrixStrides { column: size.rows.saturating_mul(scalar), row: scalar },
        })
    }

    /// Size and alignment of a type in memory.
    pub fn extent(&self, id: u32, placement: Placement, line: Line) -> Result<Extent, Problem> {
        match self.get(id, line)? {
            Type::Bool => Ok(Extent { size: 4, alignment: 4 }),
            Type::Int { width } | Type::Float { width } => {
                let size = u64::from(width / 8);
                Ok(Extent { size, alignment: size })
            }
            Type::Pointer { .. } => Ok(Extent { size: 16, alignment: 8 }),
            Type::Vector { component, count } => {
                let scalar = self.extent(*component, Placement::default(), line)?;
                let stride = placement.component_stride.map_or(scalar.size, u64::from);
                Ok(Extent { size: repeat(*count, stride, scalar.size), alignment: scalar.alignment })
            }
            Type::Matrix { .. } => {
                let size = self.matrix(id, line)?;
                let strides = self.matrix_strides(id, placement.matrix, line)?;
                let scalar = u64::from(size.width / 8);
                let column = repeat(size.rows, u64::from(strides.row), scalar);
                Ok(Extent { size: repeat(size.columns, u64::from(strides.column), column), alignment: scalar })
            }
            Type::Array { element, length, stride } => {
                let part = self.extent(*element, placement, line)?;
                let stride = match stride {
                    Some(stride) => u64::from(*stride),
                    None => round_up(part.size, part.alignment),
                };
                Ok(Extent { size: repeat(*length, stride, part.size), alignment: part.alignment })
            }
            Type::RuntimeArray { element, .. } => {
                let part = self.extent(*element, placement, line)?;
                Ok(Extent { size: 0, alignment: part.alignment })
            }
            Type::Struct { members, .. } => {
                let mut extent = Extent { size: 0, alignment: 1 };
                let mut end = 0;
                for member in members.iter() {
                    let part = self.extent(member.ty, member.placement(), line)?;
                    let offset = member.offset.map_or(round_up(end, part.alignment), u64::from);
                    end = offset + part.size;
                    extent.size = extent.size.max(end);
                    extent.alignment = extent.alignment.max(part.alignment);
                }
                Ok(extent)
            }
            Type::Void | Type::Function { .. } => {
                Err(Problem::invalid(line, "a type that memory can hold is expected here"))
            }
        }
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
        match self.get(id, line)? {
            Type::Bool => leaf(offset, LeafKind::Bool),
            Type::Int { width } | Type::Float { width } => leaf(offset, LeafKind::Number(width / 8)),
            Type::Pointer { .. } => {
                leaf(offset, LeafKind::PointerHalf)?;
                leaf(offset + 8, LeafKind::PointerHalf)
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
            Type::RuntimeArray { .. } => Ok(()),
            Type::Struct { members, .. } => {
                for (index, member) in members.iter().enumerate() {
                    let start = offset + self.member_offset(members, index, line)?;
                    self.leaves(member.ty, member.placement(), start, line, leaves)?;
                }
                Ok(())
            }
            Type::Void | Type::Function { .. } => {
                Err(Problem::invalid(line, "a type that memory can hold is expected here"))
            }
        }
    }
}

impl super::types::Member {
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
        let shape = ShapeId(u32::try_from(self.shapes.len()).unwrap_or(u32::MAX));
        self.shapes.push(Shape { leaves, size });
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
