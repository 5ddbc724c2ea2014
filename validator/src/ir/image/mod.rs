//! Images: their types, how they lie in memory, samplers, and the operations on them.
//!
//! An image is an object of memory, a texel a run of bytes in the encoded format (Vulkan, "Formats").
//! A handle (the value of an image or sampler) is a pointer to the start of its object; a sampled
//! image is the image's handle, then the sampler's.

mod format;
mod layout;
mod op;
mod sampler;

pub use format::{Encoding, ImageFormat, TexelKind};
pub use layout::{ImageLayout, Position};
pub use op::{Coordinate, ImageAction, ImageOp, ImageOperands, Offset};
pub use sampler::{AddressMode, Border, CompareOp, Filter, Sampler};

/// The Dim operand of OpTypeImage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    One,
    Two,
    Three,
    Cube,
    Rect,
    /// A texel buffer.
    Buffer,
}

impl Dim {
    /// Its name as SPIR-V spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Dim::One => "1D",
            Dim::Two => "2D",
            Dim::Three => "3D",
            Dim::Cube => "Cube",
            Dim::Rect => "Rect",
            Dim::Buffer => "Buffer",
        }
    }

    /// Dimensions of a level: numbers in `WxHxD`.
    pub const fn dimensions(self) -> usize {
        match self {
            Dim::One | Dim::Buffer => 1,
            Dim::Two | Dim::Rect | Dim::Cube => 2,
            Dim::Three => 3,
        }
    }

    /// Coordinates of a lookup within one element: for a cube, of the direction.
    pub const fn coordinates(self) -> usize {
        match self {
            Dim::Cube => 3,
            Dim::One | Dim::Two | Dim::Three | Dim::Rect | Dim::Buffer => self.dimensions(),
        }
    }

    /// Layers of one element: the faces of a cube.
    pub const fn faces(self) -> u32 {
        match self {
            Dim::Cube => 6,
            Dim::One | Dim::Two | Dim::Three | Dim::Rect | Dim::Buffer => 1,
        }
    }
}

/// What a module says about an image in OpTypeImage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageType {
    pub dim: Dim,
    pub arrayed: bool,
    pub multisampled: bool,
    /// Used without a sampler (Sampled is 2): a storage image or storage texel buffer.
    pub storage: bool,
    /// `None` for Unknown.
    pub format: Option<ImageFormat>,
    /// What a texel is to the shader, from the Sampled Type.
    pub texel: TexelKind,
    /// Bits of a component of the Sampled Type: 32 or 64.
    pub width: u8,
}

/// What is bound for a variable that is no buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Image(ImageType),
    Sampler,
    /// A combined image sampler.
    SampledImage(ImageType),
    /// What rays are traced through. Its memory is 8 bytes, the handle.
    AccelerationStructure,
}

impl Resource {
    /// The image that it has.
    pub const fn image(self) -> Option<ImageType> {
        match self {
            Resource::Image(ty) | Resource::SampledImage(ty) => Some(ty),
            Resource::Sampler | Resource::AccelerationStructure => None,
        }
    }

    /// Whether it has a sampler.
    pub const fn has_sampler(self) -> bool {
        match self {
            Resource::Sampler | Resource::SampledImage(_) => true,
            Resource::Image(_) | Resource::AccelerationStructure => false,
        }
    }
}

impl ImageType {
    /// The format of an image of this type where nothing says another one.
    pub fn default_format(self) -> ImageFormat {
        self.format.unwrap_or(match (self.texel, self.width) {
            (TexelKind::Float, _) => ImageFormat::RGBA32F,
            (TexelKind::Sint, 64) => ImageFormat::R64I,
            (TexelKind::Uint, 64) => ImageFormat::R64UI,
            (TexelKind::Sint, _) => ImageFormat::RGBA32I,
            (TexelKind::Uint, _) => ImageFormat::RGBA32UI,
        })
    }

    /// Whether a texel of this format can be read and written as the Sampled Type says (Vulkan,
    /// "Compatibility Between SPIR-V Image Formats and Vulkan Formats").
    pub fn accepts(self, format: ImageFormat) -> bool {
        let wide = matches!(format.encoding(), Encoding::Sint(64) | Encoding::Uint(64));
        self.format.is_none_or(|declared| declared == format)
            && format.kind() == self.texel
            && wide == (self.width == 64)
    }
}
