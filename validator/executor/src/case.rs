//! What is to be run. Sizes and offsets are in bytes, and numbers in memory are little-endian.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A module with everything that it is launched on.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// SPIR-V, valid for Vulkan 1.3.
    pub words: Vec<u32>,
    /// The name of a GLCompute entry point.
    pub entry: String,
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// Invocations of a workgroup in x, y and z, as the module says with these specialisation constants.
    pub local_size: [u32; 3],
    /// The invocations that a subgroup must have; `None` where nothing depends on it.
    pub subgroup_size: Option<u32>,
    /// Values of specialisation constants.
    pub specialisation: Vec<SpecialisationValue>,
    /// Push constants from offset 0; empty for a module without any.
    pub push: Vec<u8>,
    /// What the module's descriptors lead to, and buffers that only addresses lead to.
    pub resources: Vec<Resource>,
    /// Addresses of buffers, which are written before the launch.
    pub addresses: Vec<Address>,
    /// Resources, by index, whose contents at the end nobody wants to know: an executor may leave them out.
    pub unwanted: Vec<usize>,
    /// What accesses outside of buffers and images do.
    pub robustness: Robustness,
    /// How often it is to be run, each time with memory as it was at first. An executor may run it less often.
    pub times: u32,
    /// How long all of that may take.
    pub time: Duration,
}

/// The value of a specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpecialisationValue {
    /// Its SpecId.
    pub id: u32,
    /// Its bytes, little-endian; a bool has four.
    pub bytes: Vec<u8>,
}

/// Memory, with what leads to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// What reports call it.
    pub name: String,
    /// Where it is bound; `None` for a buffer that only addresses lead to.
    pub slot: Option<Slot>,
    /// What it is.
    pub kind: Kind,
    /// Initial contents; texels are packed tightly. Empty for samplers and for what is the same memory as another.
    pub bytes: Vec<u8>,
}

impl Resource {
    /// Whether a module may write it, so that its contents are told.
    pub fn is_writable(&self) -> bool {
        match self.kind {
            Kind::StorageBuffer
            | Kind::Buffer
            | Kind::StorageTexelBuffer { .. }
            | Kind::StorageImage { .. } => true,
            Kind::UniformBuffer
            | Kind::UniformTexelBuffer { .. }
            | Kind::SampledImage { .. }
            | Kind::CombinedImageSampler { .. }
            | Kind::Sampler { .. }
            | Kind::SameAs { .. } => false,
        }
    }
}

/// A descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// The descriptor set.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The element of an array of descriptors, 0 where the binding is no array.
    pub element: u32,
}

/// What a resource is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// A storage buffer as large as its contents.
    StorageBuffer,
    /// A uniform buffer as large as its contents.
    UniformBuffer,
    /// A storage texel buffer.
    StorageTexelBuffer {
        /// The format of its texels, as GLSL has it: `r32ui`.
        format: String,
    },
    /// A uniform texel buffer.
    UniformTexelBuffer {
        /// As above.
        format: String,
    },
    /// An image that is read and written without a sampler.
    StorageImage {
        /// Its form.
        image: Image,
    },
    /// An image that a separate sampler samples.
    SampledImage {
        /// Its form.
        image: Image,
    },
    /// An image with its sampler.
    CombinedImageSampler {
        /// The form of the image.
        image: Image,
        /// The sampler.
        sampler: Sampler,
    },
    /// A sampler without an image.
    Sampler {
        /// The sampler.
        sampler: Sampler,
    },
    /// The same memory as a storage buffer before it.
    SameAs {
        /// The index of that one among the resources.
        resource: usize,
    },
    /// A storage buffer without a descriptor: only addresses lead to it.
    Buffer,
}

/// The form of an image, all of which is bound through one view. Its bytes lie level after level, each layer after layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The dimension of the view.
    pub view: View,
    /// The format of its texels, as GLSL has it: `rgba8`.
    pub format: String,
    /// Width, height and depth of level 0 in texels; 1 where there is no such dimension.
    pub extent: [u32; 3],
    /// Array layers; six a cube.
    pub layers: u32,
    /// Mip levels, from the largest.
    pub levels: u32,
}

/// The dimension of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum View {
    /// One dimension.
    #[serde(rename = "1d")]
    One,
    /// An array of images of one dimension.
    #[serde(rename = "1d-array")]
    OneArray,
    /// Two dimensions.
    #[serde(rename = "2d")]
    Two,
    /// An array of images of two dimensions.
    #[serde(rename = "2d-array")]
    TwoArray,
    /// Three dimensions.
    #[serde(rename = "3d")]
    Three,
    /// A cube.
    #[serde(rename = "cube")]
    Cube,
    /// An array of cubes.
    #[serde(rename = "cube-array")]
    CubeArray,
}

/// A sampler without anisotropy and custom colours of the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampler {
    /// The filter where the image is magnified or minified.
    pub filter: Filter,
    /// How the mip level is chosen.
    pub mipmap: Filter,
    /// What coordinates outside of the image mean, in each dimension.
    pub address: AddressMode,
    /// The comparison with a reference depth; `None` where there is none.
    pub compare: Option<Comparison>,
    /// Coordinates count texels rather than going from 0 to 1.
    pub unnormalized: bool,
}

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// The nearest texel or level.
    Nearest,
    /// Between the neighbours.
    Linear,
}

/// What coordinates outside of an image mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressMode {
    /// Those of the edge.
    ClampToEdge,
    /// The image is repeated.
    Repeat,
    /// The image is repeated, every second time mirrored.
    MirroredRepeat,
    /// The image is mirrored once.
    MirrorClampToEdge,
    /// Zero in every component.
    TransparentBlack,
    /// Zero, and one in the fourth component.
    OpaqueBlack,
    /// One in every component.
    OpaqueWhite,
}

/// A comparison of a reference with a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "they are those of Vulkan, VkCompareOp")]
pub enum Comparison {
    Never,
    Less,
    Equal,
    LessOrEqual,
    Greater,
    NotEqual,
    GreaterOrEqual,
    Always,
}

/// The address of a byte of a buffer, 64 bits wide, which is written before the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The index of the resource that takes the address; `None` for the push constants.
    pub within: Option<usize>,
    /// Where in it.
    pub offset: usize,
    /// The index of the resource that it leads to.
    pub target: usize,
    /// The byte of that one.
    pub byte: u64,
}

/// What accesses outside of buffers and images do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Robustness {
    /// There are none.
    #[default]
    None,
    /// What robustBufferAccess and robustImageAccess permit.
    Robust,
    /// What robustBufferAccess2 and robustImageAccess2 permit.
    Robust2,
}
