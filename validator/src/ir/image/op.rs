//! Operations on images (SPIR-V specification 3.3.10, "Image Instructions").

use super::ImageType;
use crate::ir::{MemoryOperands, Operand};

/// An image instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageOp {
    pub action: ImageAction,
    /// First register of the result; unused by a write.
    pub dst: u32,
    /// The image's handle; where a sampler is used, its handle follows.
    pub image: Operand,
    pub ty: ImageType,
    /// Absent in queries.
    pub coordinate: Option<Coordinate>,
    pub operands: ImageOperands,
}

/// Texel coordinates: integers, or floats where a sampler is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    pub first: Operand,
    pub count: u32,
    /// Bits of a component.
    pub width: u8,
    pub float: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageAction {
    /// OpImageRead and OpImageFetch: `count` components.
    Read {
        count: u32,
    },
    Write {
        texel: Operand,
        count: u32,
    },
    /// OpImageTexelPointer: the image operand is a pointer to the image; `bytes` is the size of what
    /// the result points to.
    TexelPointer {
        sample: Operand,
        bytes: u32,
    },
    /// `implicit`: derivatives say the level of detail. In fragments they are in `grad`, and those of the other row and
    /// column, which an implementation may take instead, lie behind them.
    Sample {
        projective: bool,
        reference: Option<Operand>,
        implicit: bool,
        count: u32,
    },
    /// One component of four texels, or four comparisons.
    Gather {
        component: Option<Operand>,
        reference: Option<Operand>,
    },
    /// OpImageQuerySize and OpImageQuerySizeLod, by whether there is a Lod operand.
    QuerySize {
        count: u32,
    },
    QueryLevels,
    QuerySamples,
    /// OpImageQueryLod: the level that a sample would take, and the level of detail; derivatives as those of an implicit
    /// sample.
    QueryLod,
}

impl ImageAction {
    /// Whether it writes texels. What a texel pointer leads to is written by the atomic instructions that use it.
    pub const fn writes(self) -> bool {
        match self {
            ImageAction::Write { .. } => true,
            ImageAction::Read { .. }
            | ImageAction::TexelPointer { .. }
            | ImageAction::Sample { .. }
            | ImageAction::Gather { .. }
            | ImageAction::QuerySize { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples
            | ImageAction::QueryLod => false,
        }
    }

    /// Whether it reads texels.
    pub const fn reads(self) -> bool {
        match self {
            ImageAction::Read { .. } | ImageAction::Sample { .. } | ImageAction::Gather { .. } => true,
            ImageAction::Write { .. }
            | ImageAction::TexelPointer { .. }
            | ImageAction::QuerySize { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples
            | ImageAction::QueryLod => false,
        }
    }
}

/// A texel offset: integers of this many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    pub first: Operand,
    pub count: u32,
    pub width: u8,
}

/// Image operands; what memory operands have, too, is in `memory`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageOperands {
    /// The level: an integer in OpImageFetch and queries, a float where a sampler is used; its width.
    pub lod: Option<(Operand, u8)>,
    /// What is added to an implicit level of detail.
    pub bias: Option<Operand>,
    /// Derivatives by x and y, with their components.
    pub grad: Option<(Operand, Operand, u32)>,
    pub min_lod: Option<Operand>,
    /// ConstOffset and Offset.
    pub offset: Option<Offset>,
    /// ConstOffsets: four offsets of two components, one after the other.
    pub offsets: Option<Offset>,
    pub sample: Option<Operand>,
    /// SignExtend (true) and ZeroExtend.
    pub extend: Option<bool>,
    pub memory: MemoryOperands,
}

impl ImageOp {
    /// Whether derivatives within the quad say the level of detail.
    pub const fn is_implicit(&self) -> bool {
        match self.action {
            ImageAction::Sample { implicit, .. } => implicit,
            ImageAction::QueryLod => true,
            ImageAction::Read { .. }
            | ImageAction::Write { .. }
            | ImageAction::TexelPointer { .. }
            | ImageAction::Gather { .. }
            | ImageAction::QuerySize { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples => false,
        }
    }

    /// Visits the first component of every operand that the instruction reads.
    pub fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        let operands = &self.operands;
        let grad = operands.grad.map(|(dx, dy, _)| [dx, dy]);
        let mut read: Vec<Option<Operand>> = vec![
            Some(self.image),
            self.coordinate.map(|coordinate| coordinate.first),
            operands.lod.map(|(lod, _)| lod),
            operands.bias,
            operands.min_lod,
            operands.offset.map(|offset| offset.first),
            operands.offsets.map(|offset| offset.first),
            operands.sample,
        ];
        read.extend(grad.into_iter().flatten().map(Some));
        match self.action {
            ImageAction::Write { texel, .. } => read.push(Some(texel)),
            ImageAction::TexelPointer { sample, .. } => read.push(Some(sample)),
            ImageAction::Sample { reference, .. } => read.push(reference),
            ImageAction::Gather { component, reference } => read.extend([component, reference]),
            ImageAction::Read { .. }
            | ImageAction::QuerySize { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples
            | ImageAction::QueryLod => {}
        }
        read.into_iter().flatten().for_each(visit);
    }

    /// The first register of the result.
    pub const fn destination(&self) -> Option<u32> {
        match self.action {
            ImageAction::Write { .. } => None,
            ImageAction::Read { .. }
            | ImageAction::TexelPointer { .. }
            | ImageAction::Sample { .. }
            | ImageAction::Gather { .. }
            | ImageAction::QuerySize { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples
            | ImageAction::QueryLod => Some(self.dst),
        }
    }
}
