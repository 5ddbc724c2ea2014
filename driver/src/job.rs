//! What is to be run.

use ash::vk;

/// A module with everything that it is launched on.
#[derive(Clone, Debug, Default)]
pub struct Job<'a> {
    /// SPIR-V, valid for Vulkan 1.3.
    pub words: &'a [u32],
    pub entry: &'a str,
    pub workgroups: [u32; 3],
    /// Values of specialisation constants by SpecId, little-endian; a bool has four bytes.
    pub specialisation: Vec<(u32, Vec<u8>)>,
    pub push: Vec<u8>,
    pub bindings: Vec<Binding>,
    /// Contents of buffers that only addresses lead to; their indices follow those of the bindings.
    pub unbound: Vec<Vec<u8>>,
    /// Addresses of buffers, written before the launch.
    pub addresses: Vec<Address>,
}

/// A descriptor and what it leads to.
#[derive(Clone, Debug)]
pub struct Binding {
    pub set: u32,
    pub binding: u32,
    /// Element of an array of descriptors.
    pub element: u32,
    pub resource: Resource,
}

/// What a descriptor leads to. Bytes are initial contents; texels are packed tightly.
#[derive(Clone, Debug)]
pub enum Resource {
    StorageBuffer(Vec<u8>),
    UniformBuffer(Vec<u8>),
    StorageTexelBuffer {
        format: vk::Format,
        bytes: Vec<u8>,
    },
    UniformTexelBuffer {
        format: vk::Format,
        bytes: Vec<u8>,
    },
    StorageImage(Image),
    SampledImage(Image),
    CombinedImageSampler(Image, Sampler),
    Sampler(Sampler),
    /// The same memory as the resource of an earlier binding (its index), a storage buffer.
    Alias(usize),
}

/// An image, all of it bound through one view.
#[derive(Clone, Debug)]
pub struct Image {
    pub view: vk::ImageViewType,
    pub format: vk::Format,
    /// Width, height, depth of level 0; 1 where the dimension does not exist.
    pub extent: [u32; 3],
    /// Array layers; six a cube.
    pub layers: u32,
    pub levels: u32,
    /// Level after level, each layer after layer.
    pub bytes: Vec<u8>,
}

/// A sampler. Without anisotropy and custom border colours.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    pub magnify: vk::Filter,
    pub minify: vk::Filter,
    pub mipmap: vk::SamplerMipmapMode,
    pub address: [vk::SamplerAddressMode; 3],
    pub border: vk::BorderColor,
    pub compare: Option<vk::CompareOp>,
    pub unnormalised: bool,
    /// Levels of detail are clamped to this range.
    pub lod: [f32; 2],
    pub lod_bias: f32,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler {
            magnify: vk::Filter::NEAREST,
            minify: vk::Filter::NEAREST,
            mipmap: vk::SamplerMipmapMode::NEAREST,
            address: [vk::SamplerAddressMode::CLAMP_TO_EDGE; 3],
            border: vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
            compare: None,
            unnormalised: false,
            lod: [0.0, vk::LOD_CLAMP_NONE],
            lod_bias: 0.0,
        }
    }
}

/// Writes the address of a storage buffer into the push constants or another buffer.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// Index of the buffer that takes the address; the push constants for `None`.
    pub within: Option<usize>,
    /// Where in it, in bytes.
    pub offset: usize,
    /// Index of the buffer that is pointed to, and the byte of it.
    pub target: usize,
    pub byte: u64,
}
