//! A case as the job that a device runs.

use ash::vk;
use spirv_tv_executor::case::{self, Case, Kind};

use crate::device::Device;
use crate::formats::format_named;
use crate::job::{Address, Binding, Image, Job, Resource, Sampler};

/// A job, and for each resource of the case its number in the job.
pub struct Placed<'a> {
    pub job: Job<'a>,
    pub places: Vec<usize>,
}

/// The job that is this case.
///
/// # Errors
/// The case contradicts itself.
pub fn job(case: &Case) -> Result<Placed<'_>, String> {
    let is_bound = |resource: &case::Resource| resource.slot.is_some();
    let bound = case.resources.iter().filter(|resource| is_bound(resource)).count();
    let mut next = [0, bound];
    let places: Vec<usize> = case
        .resources
        .iter()
        .map(|resource| {
            let place = &mut next[usize::from(!is_bound(resource))];
            *place += 1;
            *place - 1
        })
        .collect();
    let place =
        |index: usize| places.get(index).copied().ok_or_else(|| format!("there is no resource {index}"));
    let mut bindings = Vec::with_capacity(bound);
    let mut unbound = Vec::new();
    for resource in &case.resources {
        match (resource.slot, &resource.kind) {
            (None, Kind::Buffer) => unbound.push(resource.bytes.clone()),
            (None, _) | (Some(_), Kind::Buffer) => {
                return Err(format!(
                    "{}: what has no slot is a buffer, and the other way round",
                    resource.name
                ))
            }
            (Some(case::Slot { set, binding, element }), kind) => {
                let resource = match kind {
                    Kind::SameAs { resource: index } => Resource::Alias(place(*index)?),
                    _ => of_kind(kind, &resource.bytes)?,
                };
                bindings.push(Binding { set, binding, element, resource });
            }
        }
    }
    let addresses = case.addresses.iter().map(|address| {
        let within = address.within.map(place).transpose()?;
        Ok(Address { within, offset: address.offset, target: place(address.target)?, byte: address.byte })
    });
    let job = Job {
        words: &case.words,
        entry: &case.entry,
        workgroups: case.workgroups,
        specialisation: case.specialisation.iter().map(|value| (value.id, value.bytes.clone())).collect(),
        push: case.push.clone(),
        bindings,
        unbound,
        addresses: addresses.collect::<Result<_, String>>()?,
        subgroup_size: case.subgroup_size,
    };
    Ok(Placed { job, places })
}

fn of_kind(kind: &Kind, bytes: &[u8]) -> Result<Resource, String> {
    let bytes = bytes.to_vec();
    Ok(match kind {
        Kind::StorageBuffer | Kind::Buffer => Resource::StorageBuffer(bytes),
        Kind::UniformBuffer => Resource::UniformBuffer(bytes),
        Kind::StorageTexelBuffer { format } => Resource::StorageTexelBuffer { format: named(format)?, bytes },
        Kind::UniformTexelBuffer { format } => Resource::UniformTexelBuffer { format: named(format)?, bytes },
        Kind::StorageImage { image } => Resource::StorageImage(image_of(image, bytes)?),
        Kind::SampledImage { image } => Resource::SampledImage(image_of(image, bytes)?),
        Kind::CombinedImageSampler { image, sampler } => {
            Resource::CombinedImageSampler(image_of(image, bytes)?, sampler_of(sampler))
        }
        Kind::Sampler { sampler } => Resource::Sampler(sampler_of(sampler)),
        Kind::SameAs { resource } => Resource::Alias(*resource),
    })
}

fn named(format: &str) -> Result<vk::Format, String> {
    format_named(format).ok_or_else(|| format!("Vulkan has no format {format}"))
}

fn image_of(image: &case::Image, bytes: Vec<u8>) -> Result<Image, String> {
    use vk::ImageViewType as Type;
    let view = match image.view {
        case::View::One => Type::TYPE_1D,
        case::View::OneArray => Type::TYPE_1D_ARRAY,
        case::View::Two => Type::TYPE_2D,
        case::View::TwoArray => Type::TYPE_2D_ARRAY,
        case::View::Three => Type::TYPE_3D,
        case::View::Cube => Type::CUBE,
        case::View::CubeArray => Type::CUBE_ARRAY,
    };
    let (format, extent) = (named(&image.format)?, image.extent);
    Ok(Image { view, format, extent, layers: image.layers, levels: image.levels, bytes })
}

fn sampler_of(sampler: &case::Sampler) -> Sampler {
    let filter = match sampler.filter {
        case::Filter::Nearest => vk::Filter::NEAREST,
        case::Filter::Linear => vk::Filter::LINEAR,
    };
    let mipmap = match sampler.mipmap {
        case::Filter::Nearest => vk::SamplerMipmapMode::NEAREST,
        case::Filter::Linear => vk::SamplerMipmapMode::LINEAR,
    };
    use case::AddressMode as Mode;
    let address = match sampler.address {
        Mode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Mode::Repeat => vk::SamplerAddressMode::REPEAT,
        Mode::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Mode::MirrorClampToEdge => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
        Mode::TransparentBlack | Mode::OpaqueBlack | Mode::OpaqueWhite => {
            vk::SamplerAddressMode::CLAMP_TO_BORDER
        }
    };
    let border = match sampler.address {
        Mode::OpaqueBlack => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        Mode::OpaqueWhite => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        _ => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
    };
    Sampler {
        magnify: filter,
        minify: filter,
        mipmap,
        address: [address; 3],
        border,
        compare: sampler.compare.map(comparison),
        unnormalised: sampler.unnormalized,
        lod: if sampler.unnormalized { [0.0; 2] } else { [0.0, vk::LOD_CLAMP_NONE] },
        lod_bias: 0.0,
    }
}

fn comparison(comparison: case::Comparison) -> vk::CompareOp {
    use case::Comparison as C;
    match comparison {
        C::Never => vk::CompareOp::NEVER,
        C::Less => vk::CompareOp::LESS,
        C::Equal => vk::CompareOp::EQUAL,
        C::LessOrEqual => vk::CompareOp::LESS_OR_EQUAL,
        C::Greater => vk::CompareOp::GREATER,
        C::NotEqual => vk::CompareOp::NOT_EQUAL,
        C::GreaterOrEqual => vk::CompareOp::GREATER_OR_EQUAL,
        C::Always => vk::CompareOp::ALWAYS,
    }
}

impl Device {
    /// What the case needs and the device lacks: capabilities, and sizes beyond its limits.
    pub(crate) fn lacking(&self, case: &Case) -> Vec<String> {
        let mut lacking = match self.support(&case.words) {
            crate::Support::Yes => Vec::new(),
            crate::Support::Lacks(capabilities) => capabilities,
        };
        lacking.extend(self.float_controls.lacking(&case.words));
        let mut at_most = |what: &str, wanted: u64, most: u32| {
            if wanted > u64::from(most) {
                lacking.push(format!("{what}: {wanted} where it takes {most}"));
            }
        };
        let limits = &self.limits;
        let invocations = case.local_size.iter().map(|size| u64::from(*size)).product();
        at_most("invocations of a workgroup", invocations, limits.max_compute_work_group_invocations);
        for (axis, (size, most)) in
            case.local_size.into_iter().zip(limits.max_compute_work_group_size).enumerate()
        {
            at_most(&format!("size of a workgroup in dimension {axis}"), size.into(), most);
        }
        for (axis, (count, most)) in
            case.workgroups.into_iter().zip(limits.max_compute_work_group_count).enumerate()
        {
            at_most(&format!("workgroups in dimension {axis}"), count.into(), most);
        }
        at_most("bytes of push constants", case.push.len() as u64, limits.max_push_constants_size);
        let sets =
            case.resources.iter().filter_map(|resource| resource.slot).map(|slot| u64::from(slot.set) + 1);
        at_most("descriptor sets", sets.max().unwrap_or(0), limits.max_bound_descriptor_sets);
        for resource in &case.resources {
            let most = match resource.kind {
                Kind::StorageBuffer | Kind::Buffer => limits.max_storage_buffer_range,
                Kind::UniformBuffer => limits.max_uniform_buffer_range,
                _ => continue,
            };
            at_most(&format!("bytes of {}", resource.name), resource.bytes.len() as u64, most);
        }
        lacking.extend(case.resources.iter().filter_map(|resource| self.lacks_format(&resource.kind)));
        if let Some(size) = case.subgroup_size {
            let sizes = self.subgroup_sizes;
            let own = self.subgroup_size();
            if size != own && !(sizes.least..=sizes.most).contains(&size) {
                lacking.push(format!("subgroups of {size} (it has {own})"));
            }
        }
        lacking
    }

    /// The use of a format that it does not support.
    fn lacks_format(&self, kind: &Kind) -> Option<String> {
        use vk::FormatFeatureFlags as Feature;
        let (what, format, feature) = match kind {
            Kind::StorageTexelBuffer { format } => {
                ("storage texel buffers", format, Feature::STORAGE_TEXEL_BUFFER)
            }
            Kind::UniformTexelBuffer { format } => {
                ("uniform texel buffers", format, Feature::UNIFORM_TEXEL_BUFFER)
            }
            Kind::StorageImage { image } => ("storage images", &image.format, Feature::STORAGE_IMAGE),
            Kind::SampledImage { image } | Kind::CombinedImageSampler { image, .. } => {
                ("sampled images", &image.format, Feature::SAMPLED_IMAGE)
            }
            _ => return None,
        };
        let properties = self.format(format_named(format)?);
        let has = match kind {
            Kind::StorageTexelBuffer { .. } | Kind::UniformTexelBuffer { .. } => properties.buffer_features,
            _ => properties.optimal_tiling_features,
        };
        (!has.contains(feature)).then(|| format!("{what} of format {format}"))
    }
}
