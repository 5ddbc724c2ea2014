//! What is to be run.

use ash::vk;

/// A module with everything that it is launched on.
#[derive(Clone, Debug, Default)]
pub struct Job<'a> {
    /// SPIR-V, valid for Vulkan 1.3.
    pub words: &'a [u32],
    /// The name of a GLCompute entry point.
    pub entry: &'a str,
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// Values of specialisation constants by SpecId, little-endian; a bool has four bytes.
    pub specialisation: Vec<(u32, Vec<u8>)>,
    /// Push constants from offset 0; empty for a module without any.
    pub push: Vec<u8>,
    /// The descriptors that the module uses.
    pub bindings: Vec<Binding>,
    /// Contents of buffers that only addresses lead to; their indices follow those of the bindings.
    pub unbound: Vec<Vec<u8>>,
    /// Addresses of buffers, written before the launch.
    pub addresses: Vec<Address>,
    /// The invocations that a subgroup must have; `None` where the device chooses.
    pub subgroup_size: Option<u32>,
}

/// A descriptor and what it leads to.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The descriptor set.
    pub set: u32,
    /// The binding number in the set.
    pub binding: u32,
    /// Element of an array of descriptors.
    pub element: u32,
    /// What the descriptor leads to.
    pub resource: Resource,
}

/// What a descriptor leads to. Bytes are initial contents; texels are packed tightly.
#[derive(Clone, Debug)]
pub enum Resource {
    /// A storage buffer as large as its contents.
    StorageBuffer(Vec<u8>),
    /// A uniform buffer as large as its contents.
    UniformBuffer(Vec<u8>),
    /// A storage texel buffer.
    StorageTexelBuffer {
        /// The format of its texels.
        format: vk::Format,
        /// Its texels.
        bytes: Vec<u8>,
    },
    /// A uniform texel buffer.
    UniformTexelBuffer {
        /// The format of its texels.
        format: vk::Format,
        /// Its texels.
        bytes: Vec<u8>,
    },
    /// An image that is read and written without a sampler, in layout GENERAL.
    StorageImage(Image),
    /// An image that a separate sampler samples.
    SampledImage(Image),
    /// An image with its sampler.
    CombinedImageSampler(Image, Sampler),
    /// A sampler without an image.
    Sampler(Sampler),
    /// The same memory as the resource of an earlier binding (its index), a storage buffer.
    Alias(usize),
}

/// An image, all of it bound through one view.
#[derive(Clone, Debug)]
pub struct Image {
    /// The dimension of the view, which says the dimension of the image.
    pub view: vk::ImageViewType,
    /// The format of image and view.
    pub format: vk::Format,
    /// Width, height, depth of level 0; 1 where the dimension does not exist.
    pub extent: [u32; 3],
    /// Array layers; six a cube.
    pub layers: u32,
    /// Mip levels, from the largest.
    pub levels: u32,
    /// Level after level, each layer after layer.
    pub bytes: Vec<u8>,
}

/// A sampler. Without anisotropy and custom border colours.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// The filter where the image is magnified.
    pub magnify: vk::Filter,
    /// The filter where it is minified.
    pub minify: vk::Filter,
    /// How the mip level is chosen.
    pub mipmap: vk::SamplerMipmapMode,
    /// What coordinates outside of the image mean, for u, v and w.
    pub address: [vk::SamplerAddressMode; 3],
    /// The colour outside of the image, for CLAMP_TO_BORDER.
    pub border: vk::BorderColor,
    /// The comparison with a reference depth; `None` where there is none.
    pub compare: Option<vk::CompareOp>,
    /// Coordinates count texels rather than going from 0 to 1.
    pub unnormalised: bool,
    /// Levels of detail are clamped to this range.
    pub lod: [f32; 2],
    /// It is added to the level of detail, in levels.
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
    /// The byte of that buffer that the address leads to.
    pub byte: u64,
}
