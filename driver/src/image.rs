//! Images with the buffers that they are filled from and read back into.

use ash::vk;

use crate::device::Device;
use crate::error::{failed, Error};
use crate::job::{Image, Sampler};
use crate::memory::Buffer;

/// An image with its view, always in the general layout.
pub struct BoundImage<'d> {
    owner: &'d Device,
    handle: vk::Image,
    memory: vk::DeviceMemory,
    pub view: vk::ImageView,
    pub staging: Buffer<'d>,
    copies: Vec<vk::BufferImageCopy>,
    range: vk::ImageSubresourceRange,
}

impl<'d> BoundImage<'d> {
    pub fn new(owner: &'d Device, image: &Image, usage: vk::ImageUsageFlags) -> Result<Self, Error> {
        let device = &owner.device;
        let [width, height, depth] = image.extent;
        let (kind, flags) = match image.view {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => {
                (vk::ImageType::TYPE_1D, vk::ImageCreateFlags::empty())
            }
            vk::ImageViewType::TYPE_3D => (vk::ImageType::TYPE_3D, vk::ImageCreateFlags::empty()),
            vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY => {
                (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::CUBE_COMPATIBLE)
            }
            _ => (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::empty()),
        };
        let aspect = match image.format {
            vk::Format::D16_UNORM | vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
            _ => vk::ImageAspectFlags::COLOR,
        };
        let copies = copies(image, aspect)?;
        let staging_usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let staging = Buffer::new(owner, staging_usage, &image.bytes)?;
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(kind)
            .format(image.format)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(image.levels)
            .array_layers(image.layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(aspect)
            .level_count(image.levels)
            .layer_count(image.layers);
        // SAFETY: every handle is of this device; `drop` destroys what was made, null handles included.
        unsafe {
            let handle = device.create_image(&info, None).map_err(failed("vkCreateImage"))?;
            let mut bound = BoundImage {
                owner,
                handle,
                memory: vk::DeviceMemory::null(),
                view: vk::ImageView::null(),
                staging,
                copies,
                range,
            };
            let needs = device.get_image_memory_requirements(handle);
            bound.memory = owner.allocate(needs, vk::MemoryPropertyFlags::empty(), false)?;
            device.bind_image_memory(handle, bound.memory, 0).map_err(failed("vkBindImageMemory"))?;
            let view = vk::ImageViewCreateInfo::default()
                .image(handle)
                .view_type(image.view)
                .format(image.format)
                .subresource_range(range);
            bound.view = device.create_image_view(&view, None).map_err(failed("vkCreateImageView"))?;
            Ok(bound)
        }
    }

    /// Records the transition to the general layout and the copy of the initial contents.
    pub fn record_fill(&self, commands: vk::CommandBuffer) {
        let device = &self.owner.device;
        let transition = vk::ImageMemoryBarrier::default()
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(vk::ImageLayout::GENERAL)
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .image(self.handle)
            .subresource_range(self.range);
        // SAFETY: `commands` is being recorded, and all handles outlive its execution.
        unsafe {
            device.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::TOP_OF_PIPE,
                vk::PipelineStageFlags::TRANSFER,
                vk::DependencyFlags::empty(),
                &[],
                &[],
                &[transition],
            );
            let (source, layout) = (self.staging.handle, vk::ImageLayout::GENERAL);
            device.cmd_copy_buffer_to_image(commands, source, self.handle, layout, &self.copies);
        }
    }

    /// Records the copy back into the staging buffer.
    pub fn record_read(&self, commands: vk::CommandBuffer) {
        let (target, layout) = (self.staging.handle, vk::ImageLayout::GENERAL);
        // SAFETY: as in `record_fill`.
        unsafe {
            self.owner.device.cmd_copy_image_to_buffer(commands, self.handle, layout, target, &self.copies);
        }
    }
}

impl Drop for BoundImage<'_> {
    fn drop(&mut self) {
        // SAFETY: the job that uses the image has ended.
        unsafe {
            self.owner.device.destroy_image_view(self.view, None);
            self.owner.device.destroy_image(self.handle, None);
            self.owner.device.free_memory(self.memory, None);
        }
    }
}

/// Where the levels lie in the packed bytes, which must be exactly as many.
fn copies(image: &Image, aspect: vk::ImageAspectFlags) -> Result<Vec<vk::BufferImageCopy>, Error> {
    let level_extent = |level: u32| image.extent.map(|size| (size >> level).max(1));
    let texels = |level: u32| level_extent(level).iter().product::<u32>() as usize * image.layers as usize;
    let total: usize = (0..image.levels).map(texels).sum();
    if total == 0 || !image.bytes.len().is_multiple_of(total) {
        return Err(Error::new(format!("{} bytes for {total} texels", image.bytes.len())));
    }
    let texel = image.bytes.len() / total;
    let mut offset = 0;
    Ok((0..image.levels)
        .map(|level| {
            let [width, height, depth] = level_extent(level);
            let copy = vk::BufferImageCopy::default()
                .buffer_offset(offset)
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: aspect,
                    mip_level: level,
                    base_array_layer: 0,
                    layer_count: image.layers,
                })
                .image_extent(vk::Extent3D { width, height, depth });
            offset += (texels(level) * texel) as u64;
            copy
        })
        .collect())
}

/// A sampler of the device.
pub struct BoundSampler<'d> {
    owner: &'d Device,
    pub handle: vk::Sampler,
}

impl<'d> BoundSampler<'d> {
    pub fn new(owner: &'d Device, sampler: &Sampler) -> Result<Self, Error> {
        let [u, v, w] = sampler.address;
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(sampler.magnify)
            .min_filter(sampler.minify)
            .mipmap_mode(sampler.mipmap)
            .address_mode_u(u)
            .address_mode_v(v)
            .address_mode_w(w)
            .border_color(sampler.border)
            .compare_enable(sampler.compare.is_some())
            .compare_op(sampler.compare.unwrap_or(vk::CompareOp::NEVER))
            .unnormalized_coordinates(sampler.unnormalised)
            .mip_lod_bias(sampler.lod_bias)
            .min_lod(sampler.lod[0])
            .max_lod(sampler.lod[1]);
        // SAFETY: `info` lives until the call returns.
        let handle =
            unsafe { owner.device.create_sampler(&info, None) }.map_err(failed("vkCreateSampler"))?;
        Ok(BoundSampler { owner, handle })
    }
}

impl Drop for BoundSampler<'_> {
    fn drop(&mut self) {
        // SAFETY: the job that uses the sampler has ended.
        unsafe { self.owner.device.destroy_sampler(self.handle, None) };
    }
}

/// A view of a buffer as texels.
pub struct BoundView<'d> {
    owner: &'d Device,
    pub handle: vk::BufferView,
    // Dropped after the view: fields drop after `Drop::drop`.
    pub buffer: Buffer<'d>,
}

impl<'d> BoundView<'d> {
    pub fn new(
        owner: &'d Device,
        usage: vk::BufferUsageFlags,
        format: vk::Format,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        let buffer = Buffer::new(owner, usage, bytes)?;
        let info =
            vk::BufferViewCreateInfo::default().buffer(buffer.handle).format(format).range(vk::WHOLE_SIZE);
        // SAFETY: the buffer is of this device.
        let handle =
            unsafe { owner.device.create_buffer_view(&info, None) }.map_err(failed("vkCreateBufferView"))?;
        Ok(BoundView { owner, handle, buffer })
    }
}

impl Drop for BoundView<'_> {
    fn drop(&mut self) {
        // SAFETY: the job that uses the view has ended.
        unsafe { self.owner.device.destroy_buffer_view(self.handle, None) };
    }
}
