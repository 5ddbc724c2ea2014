//! Images and samplers of a dispatch, as executors take them.

use spirv_tv::dispatch::Object;
use spirv_tv::ir::image::{
    AddressMode, Border, CompareOp, Dim, Filter, ImageLayout, ImageType, Resource as Bound, Sampler,
};
use spirv_tv_executor::case::{self, Image, Kind, View};

/// What is bound for an image, a sampler or both.
pub fn kind(bound: Bound, object: &Object) -> Result<Kind, String> {
    let sampler = || object.sampler.map(sampler_of).ok_or_else(|| format!("{} has no sampler", object.key));
    let layout = || object.image.ok_or_else(|| format!("{} is no image", object.key));
    let image = |ty: ImageType| image_of(ty, &layout()?, &object.key);
    match bound {
        Bound::AccelerationStructure => Err(format!("{} is an acceleration structure", object.key)),
        Bound::Sampler => Ok(Kind::Sampler { sampler: sampler()? }),
        Bound::SampledImage(ty) => Ok(Kind::CombinedImageSampler { image: image(ty)?, sampler: sampler()? }),
        Bound::Image(ty) if ty.dim == Dim::Buffer => {
            let format = layout()?.format.name().to_owned();
            Ok(match ty.storage {
                true => Kind::StorageTexelBuffer { format },
                false => Kind::UniformTexelBuffer { format },
            })
        }
        Bound::Image(ty) if ty.storage => Ok(Kind::StorageImage { image: image(ty)? }),
        Bound::Image(ty) => Ok(Kind::SampledImage { image: image(ty)? }),
    }
}

fn image_of(ty: ImageType, layout: &ImageLayout, key: &str) -> Result<Image, String> {
    if layout.samples > 1 {
        return Err(format!("{key} has several samples, which executors are not given"));
    }
    let view = match (layout.dim, ty.arrayed) {
        (Dim::One, false) => View::One,
        (Dim::One, true) => View::OneArray,
        (Dim::Two, false) => View::Two,
        (Dim::Two, true) => View::TwoArray,
        (Dim::Three, _) => View::Three,
        (Dim::Cube, false) => View::Cube,
        (Dim::Cube, true) => View::CubeArray,
        (Dim::Rect | Dim::Buffer, _) => {
            return Err(format!("{key} has Dim {}, which executors are not given", layout.dim.name()))
        }
    };
    let (format, extent) = (layout.format.name().to_owned(), layout.extent);
    Ok(Image { view, format, extent, layers: layout.layers, levels: layout.levels })
}

fn sampler_of(sampler: Sampler) -> case::Sampler {
    let filter = |filter: Filter| match filter {
        Filter::Nearest => case::Filter::Nearest,
        Filter::Linear => case::Filter::Linear,
    };
    use case::AddressMode as Mode;
    let address = match sampler.address {
        AddressMode::ClampToEdge => Mode::ClampToEdge,
        AddressMode::Repeat => Mode::Repeat,
        AddressMode::MirroredRepeat => Mode::MirroredRepeat,
        AddressMode::MirrorClampToEdge => Mode::MirrorClampToEdge,
        AddressMode::ClampToBorder(Border::TransparentBlack) => Mode::TransparentBlack,
        AddressMode::ClampToBorder(Border::OpaqueBlack) => Mode::OpaqueBlack,
        AddressMode::ClampToBorder(Border::OpaqueWhite) => Mode::OpaqueWhite,
    };
    use case::Comparison as C;
    // The comparison that a sampler has by default is for no comparison, too.
    let compare = match sampler.compare {
        CompareOp::LessOrEqual => None,
        CompareOp::Never => Some(C::Never),
        CompareOp::Less => Some(C::Less),
        CompareOp::Equal => Some(C::Equal),
        CompareOp::Greater => Some(C::Greater),
        CompareOp::NotEqual => Some(C::NotEqual),
        CompareOp::GreaterOrEqual => Some(C::GreaterOrEqual),
        CompareOp::Always => Some(C::Always),
    };
    case::Sampler {
        filter: filter(sampler.filter),
        mipmap: filter(sampler.mipmap),
        address,
        compare,
        unnormalized: sampler.unnormalized,
    }
}
