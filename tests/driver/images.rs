//! Images and samplers of a dispatch, as the device takes them.

use spirv_tv::dispatch::Object;
use spirv_tv::ir::image::Resource as Kind;
use spirv_tv::ir::image::{
    AddressMode, Border, CompareOp, Dim, Filter, ImageFormat, ImageLayout, ImageType, Sampler,
};
use spirv_tv_driver::{vk, Image, Resource};

/// What is bound for an image, a sampler or both.
pub fn resource(kind: Kind, object: &Object, bytes: Vec<u8>) -> Result<Resource, String> {
    let sampler = || {
        let sampler = object.sampler.ok_or_else(|| format!("{} has no sampler", object.key))?;
        sampler_of(sampler)
    };
    let image = |ty: ImageType| {
        let layout = object.image.ok_or_else(|| format!("{} is no image", object.key))?;
        image_of(ty, &layout, bytes.clone())
    };
    match kind {
        Kind::AccelerationStructure => Err(format!("{} is an acceleration structure", object.key)),
        Kind::Sampler => Ok(Resource::Sampler(sampler()?)),
        Kind::SampledImage(ty) => Ok(Resource::CombinedImageSampler(image(ty)?, sampler()?)),
        Kind::Image(ty) if ty.dim == Dim::Buffer => {
            let layout = object.image.ok_or_else(|| format!("{} is no image", object.key))?;
            let format = format_of(layout.format)?;
            Ok(match ty.storage {
                true => Resource::StorageTexelBuffer { format, bytes },
                false => Resource::UniformTexelBuffer { format, bytes },
            })
        }
        Kind::Image(ty) if ty.storage => Ok(Resource::StorageImage(image(ty)?)),
        Kind::Image(ty) => Ok(Resource::SampledImage(image(ty)?)),
    }
}

fn image_of(ty: ImageType, layout: &ImageLayout, bytes: Vec<u8>) -> Result<Image, String> {
    if layout.samples > 1 {
        return Err("multisampled images cannot be filled by copies".to_owned());
    }
    let view = match (layout.dim, ty.arrayed) {
        (Dim::One, false) => vk::ImageViewType::TYPE_1D,
        (Dim::One, true) => vk::ImageViewType::TYPE_1D_ARRAY,
        (Dim::Two, false) => vk::ImageViewType::TYPE_2D,
        (Dim::Two, true) => vk::ImageViewType::TYPE_2D_ARRAY,
        (Dim::Three, _) => vk::ImageViewType::TYPE_3D,
        (Dim::Cube, false) => vk::ImageViewType::CUBE,
        (Dim::Cube, true) => vk::ImageViewType::CUBE_ARRAY,
        (Dim::Rect | Dim::Buffer, _) => return Err(format!("Dim {} is no image", layout.dim.name())),
    };
    Ok(Image {
        view,
        format: format_of(layout.format)?,
        extent: layout.extent,
        layers: layout.layers,
        levels: layout.levels,
        bytes,
    })
}

fn sampler_of(sampler: Sampler) -> Result<spirv_tv_driver::Sampler, String> {
    let filter = match sampler.filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    };
    let address = match sampler.address {
        AddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        AddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        AddressMode::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        AddressMode::MirrorClampToEdge => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
        AddressMode::ClampToBorder(_) => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    };
    let border = match sampler.address {
        AddressMode::ClampToBorder(Border::OpaqueBlack) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        AddressMode::ClampToBorder(Border::OpaqueWhite) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        _ => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
    };
    // The comparison that a sampler has by default is for no comparison, too.
    let compare = match sampler.compare {
        CompareOp::LessOrEqual => None,
        CompareOp::Never => Some(vk::CompareOp::NEVER),
        CompareOp::Less => Some(vk::CompareOp::LESS),
        CompareOp::Equal => Some(vk::CompareOp::EQUAL),
        CompareOp::Greater => Some(vk::CompareOp::GREATER),
        CompareOp::NotEqual => Some(vk::CompareOp::NOT_EQUAL),
        CompareOp::GreaterOrEqual => Some(vk::CompareOp::GREATER_OR_EQUAL),
        CompareOp::Always => Some(vk::CompareOp::ALWAYS),
    };
    Ok(spirv_tv_driver::Sampler {
        magnify: filter,
        minify: filter,
        mipmap: match sampler.mipmap {
            Filter::Nearest => vk::SamplerMipmapMode::NEAREST,
            Filter::Linear => vk::SamplerMipmapMode::LINEAR,
        },
        address: [address; 3],
        border,
        compare,
        unnormalised: sampler.unnormalized,
        lod: if sampler.unnormalized { [0.0; 2] } else { [0.0, vk::LOD_CLAMP_NONE] },
        lod_bias: 0.0,
    })
}

/// The Vulkan format of the same name.
pub fn format_of(format: ImageFormat) -> Result<vk::Format, String> {
    use vk::Format as F;
    Ok(match format.name() {
        "rgba32f" => F::R32G32B32A32_SFLOAT,
        "rgba16f" => F::R16G16B16A16_SFLOAT,
        "r32f" => F::R32_SFLOAT,
        "rgba8" => F::R8G8B8A8_UNORM,
        "rgba8snorm" => F::R8G8B8A8_SNORM,
        "rg32f" => F::R32G32_SFLOAT,
        "rg16f" => F::R16G16_SFLOAT,
        "r11fg11fb10f" => F::B10G11R11_UFLOAT_PACK32,
        "r16f" => F::R16_SFLOAT,
        "rgba16" => F::R16G16B16A16_UNORM,
        "rgb10a2" => F::A2B10G10R10_UNORM_PACK32,
        "rg16" => F::R16G16_UNORM,
        "rg8" => F::R8G8_UNORM,
        "r16" => F::R16_UNORM,
        "r8" => F::R8_UNORM,
        "rgba16snorm" => F::R16G16B16A16_SNORM,
        "rg16snorm" => F::R16G16_SNORM,
        "rg8snorm" => F::R8G8_SNORM,
        "r16snorm" => F::R16_SNORM,
        "r8snorm" => F::R8_SNORM,
        "rgba32i" => F::R32G32B32A32_SINT,
        "rgba16i" => F::R16G16B16A16_SINT,
        "rgba8i" => F::R8G8B8A8_SINT,
        "r32i" => F::R32_SINT,
        "rg32i" => F::R32G32_SINT,
        "rg16i" => F::R16G16_SINT,
        "rg8i" => F::R8G8_SINT,
        "r16i" => F::R16_SINT,
        "r8i" => F::R8_SINT,
        "rgba32ui" => F::R32G32B32A32_UINT,
        "rgba16ui" => F::R16G16B16A16_UINT,
        "rgba8ui" => F::R8G8B8A8_UINT,
        "r32ui" => F::R32_UINT,
        "rgb10a2ui" => F::A2B10G10R10_UINT_PACK32,
        "rg32ui" => F::R32G32_UINT,
        "rg16ui" => F::R16G16_UINT,
        "rg8ui" => F::R8G8_UINT,
        "r16ui" => F::R16_UINT,
        "r8ui" => F::R8_UINT,
        "r64ui" => F::R64_UINT,
        "r64i" => F::R64_SINT,
        other => return Err(format!("no Vulkan format for {other}")),
    })
}
