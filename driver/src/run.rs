//! Runs a job: one pipeline, one dispatch, everything read back.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ash::vk;

use crate::device::Device;
use crate::error::{failed, Error, ErrorKind};
use crate::image::{BoundImage, BoundSampler, BoundView};
use crate::job::{Job, Resource};
use crate::memory::Buffer;

/// How long a dispatch may take where nobody says it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A resource of the job on the device.
enum Bound<'d> {
    Buffer(vk::DescriptorType, Buffer<'d>),
    Texels(vk::DescriptorType, BoundView<'d>),
    Image(vk::DescriptorType, BoundImage<'d>, Option<BoundSampler<'d>>),
    Sampler(BoundSampler<'d>),
    Alias(usize),
}

impl<'d> Bound<'d> {
    fn new(device: &'d Device, resource: &Resource) -> Result<Self, Error> {
        use vk::{BufferUsageFlags as Usage, DescriptorType as Type, ImageUsageFlags as ImageUsage};
        Ok(match resource {
            Resource::StorageBuffer(bytes) => {
                let usage = Usage::STORAGE_BUFFER | Usage::SHADER_DEVICE_ADDRESS;
                Bound::Buffer(Type::STORAGE_BUFFER, Buffer::new(device, usage, bytes)?)
            }
            Resource::UniformBuffer(bytes) => {
                Bound::Buffer(Type::UNIFORM_BUFFER, Buffer::new(device, Usage::UNIFORM_BUFFER, bytes)?)
            }
            Resource::StorageTexelBuffer { format, bytes } => {
                let view = BoundView::new(device, Usage::STORAGE_TEXEL_BUFFER, *format, bytes)?;
                Bound::Texels(Type::STORAGE_TEXEL_BUFFER, view)
            }
            Resource::UniformTexelBuffer { format, bytes } => {
                let view = BoundView::new(device, Usage::UNIFORM_TEXEL_BUFFER, *format, bytes)?;
                Bound::Texels(Type::UNIFORM_TEXEL_BUFFER, view)
            }
            Resource::StorageImage(image) => {
                Bound::Image(Type::STORAGE_IMAGE, BoundImage::new(device, image, ImageUsage::STORAGE)?, None)
            }
            Resource::SampledImage(image) => {
                Bound::Image(Type::SAMPLED_IMAGE, BoundImage::new(device, image, ImageUsage::SAMPLED)?, None)
            }
            Resource::CombinedImageSampler(image, sampler) => Bound::Image(
                Type::COMBINED_IMAGE_SAMPLER,
                BoundImage::new(device, image, ImageUsage::SAMPLED)?,
                Some(BoundSampler::new(device, sampler)?),
            ),
            Resource::Sampler(sampler) => Bound::Sampler(BoundSampler::new(device, sampler)?),
            Resource::Alias(index) => Bound::Alias(*index),
        })
    }

    fn descriptor_type(&self) -> vk::DescriptorType {
        match self {
            Bound::Buffer(kind, _) | Bound::Texels(kind, _) | Bound::Image(kind, _, _) => *kind,
            Bound::Sampler(_) => vk::DescriptorType::SAMPLER,
            Bound::Alias(_) => vk::DescriptorType::STORAGE_BUFFER,
        }
    }

    /// The address of its first byte, if it is a storage buffer.
    fn address(&self) -> Option<u64> {
        match self {
            Bound::Buffer(vk::DescriptorType::STORAGE_BUFFER, buffer) => Some(buffer.address()),
            Bound::Buffer(..)
            | Bound::Texels(..)
            | Bound::Image(..)
            | Bound::Sampler(_)
            | Bound::Alias(_) => None,
        }
    }

    /// Writes the contents that it had at first.
    fn refill(&self, resource: &Resource) -> Result<(), Error> {
        match (self, resource) {
            (Bound::Buffer(_, buffer), Resource::StorageBuffer(bytes) | Resource::UniformBuffer(bytes)) => {
                buffer.write(0, bytes)
            }
            (
                Bound::Texels(_, view),
                Resource::StorageTexelBuffer { bytes, .. } | Resource::UniformTexelBuffer { bytes, .. },
            ) => view.buffer.write(0, bytes),
            (
                Bound::Image(_, bound, _),
                Resource::StorageImage(image)
                | Resource::SampledImage(image)
                | Resource::CombinedImageSampler(image, _),
            ) => bound.staging.write(0, &image.bytes),
            _ => Ok(()),
        }
    }

    /// The contents; none of samplers and aliases.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Bound::Buffer(_, buffer) => buffer.bytes(),
            Bound::Texels(_, view) => view.buffer.bytes(),
            Bound::Image(_, image, _) => image.staging.bytes(),
            Bound::Sampler(_) | Bound::Alias(_) => Vec::new(),
        }
    }
}

/// Handles of one run, destroyed together.
struct Handles<'d> {
    owner: &'d Device,
    shader: vk::ShaderModule,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    pipeline_layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    descriptors: vk::DescriptorPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
}

impl Drop for Handles<'_> {
    fn drop(&mut self) {
        let device = &self.owner.device;
        // SAFETY: the queue is idle or lost when a run ends; null handles are allowed everywhere here but
        // for command buffers.
        unsafe {
            let _ = device.device_wait_idle();
            device.destroy_fence(self.fence, None);
            if self.commands != vk::CommandBuffer::null() {
                device.free_command_buffers(self.owner.pool, &[self.commands]);
            }
            device.destroy_descriptor_pool(self.descriptors, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.pipeline_layout, None);
            for layout in &self.set_layouts {
                device.destroy_descriptor_set_layout(*layout, None);
            }
            device.destroy_shader_module(self.shader, None);
        }
    }
}

/// What memory holds at the end of a run: for each binding's resource and then each unbound buffer its contents, and its
/// address where it has one.
pub struct Ended {
    /// The contents; none of samplers and aliases.
    pub contents: Vec<Vec<u8>>,
    /// The addresses of first bytes.
    pub addresses: Vec<Option<u64>>,
}

impl Device {
    /// Runs the job, and gives the final contents of every binding's resource, then of the unbound buffers.
    ///
    /// # Errors
    /// A call failed, the dispatch took too long, or the job contradicts itself.
    pub fn run(&self, job: &Job<'_>) -> Result<Vec<Vec<u8>>, Error> {
        let mut last = Vec::new();
        self.run_repeatedly(job, TIMEOUT, |ended| {
            last = ended.contents;
            false
        })?;
        Ok(last)
    }

    /// Runs the job until `heard` says that it is enough, each time with memory as it was at first. The pipeline is made once.
    ///
    /// # Errors
    /// As for [`run`](Device::run); all runs together may take `time`.
    pub(crate) fn run_repeatedly(
        &self,
        job: &Job<'_>,
        time: Duration,
        mut heard: impl FnMut(Ended) -> bool,
    ) -> Result<(), Error> {
        let until = Instant::now().checked_add(time);
        let _alone = self.busy.lock().map_err(|_| Error::new("an earlier run panicked"))?;
        let bindings = job.bindings.iter().map(|binding| binding.resource.clone());
        let unbound = job.unbound.iter().cloned().map(Resource::StorageBuffer);
        let resources: Vec<Resource> = bindings.chain(unbound).collect();
        let bound: Vec<Bound<'_>> =
            resources.iter().map(|resource| Bound::new(self, resource)).collect::<Result<_, _>>()?;
        let mut push = job.push.clone();
        write_addresses(job, &bound, &mut push)?;
        let mut handles = Handles {
            owner: self,
            shader: vk::ShaderModule::null(),
            set_layouts: Vec::new(),
            pipeline_layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            descriptors: vk::DescriptorPool::null(),
            commands: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
        };
        handles.create_layouts(job, &bound, push.len())?;
        handles.create_pipeline(job)?;
        let sets = handles.create_sets(job, &bound)?;
        handles.record(job, &bound, &sets, &push)?;
        loop {
            let left = until.map_or(time, |until| until.saturating_duration_since(Instant::now()));
            if let Err(error) = handles.dispatch(left) {
                if error.kind == ErrorKind::TimedOut {
                    // The device still uses all of it, and waiting for it may take for ever.
                    self.is_stuck.store(true, Ordering::Relaxed);
                    std::mem::forget((handles, bound));
                }
                return Err(error);
            }
            let contents = bound.iter().map(Bound::bytes).collect();
            let addresses = bound.iter().map(Bound::address).collect();
            if !heard(Ended { contents, addresses }) {
                return Ok(());
            }
            for (bound, resource) in bound.iter().zip(&resources) {
                bound.refill(resource)?;
            }
            write_addresses(job, &bound, &mut push.clone())?;
        }
    }
}

fn write_addresses(job: &Job<'_>, bound: &[Bound<'_>], push: &mut [u8]) -> Result<(), Error> {
    let buffer = |index: usize| match bound.get(index) {
        Some(Bound::Buffer(_, buffer)) => Ok(buffer),
        _ => Err(Error::new(format!("binding {index} is no buffer"))),
    };
    for address in &job.addresses {
        let value = (buffer(address.target)?.address() + address.byte).to_le_bytes();
        match address.within {
            Some(index) => buffer(index)?.write(address.offset, &value)?,
            None => push
                .get_mut(address.offset..address.offset + value.len())
                .ok_or_else(|| Error::new("an address does not fit in the push constants".to_owned()))?
                .copy_from_slice(&value),
        }
    }
    Ok(())
}

impl Handles<'_> {
    fn create_layouts(&mut self, job: &Job<'_>, bound: &[Bound<'_>], push: usize) -> Result<(), Error> {
        let mut sets: BTreeMap<u32, BTreeMap<u32, (vk::DescriptorType, u32)>> = BTreeMap::new();
        for (binding, resource) in job.bindings.iter().zip(bound) {
            let slot = sets.entry(binding.set).or_default().entry(binding.binding);
            let (_, count) = slot.or_insert((resource.descriptor_type(), 0));
            *count = (*count).max(binding.element + 1);
        }
        let device = &self.owner.device;
        for set in 0..sets.keys().last().map_or(0, |last| last + 1) {
            let bindings: Vec<_> = sets
                .get(&set)
                .into_iter()
                .flatten()
                .map(|(&binding, &(kind, count))| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding)
                        .descriptor_type(kind)
                        .descriptor_count(count)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: `info` lives until the call returns.
            let layout = unsafe { device.create_descriptor_set_layout(&info, None) };
            self.set_layouts.push(layout.map_err(failed("vkCreateDescriptorSetLayout"))?);
        }
        let ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push as u32)];
        let ranges = if push == 0 { &[][..] } else { &ranges[..] };
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&self.set_layouts)
            .push_constant_ranges(ranges);
        // SAFETY: as above.
        let layout = unsafe { device.create_pipeline_layout(&info, None) };
        self.pipeline_layout = layout.map_err(failed("vkCreatePipelineLayout"))?;
        Ok(())
    }

    fn create_pipeline(&mut self, job: &Job<'_>) -> Result<(), Error> {
        let device = &self.owner.device;
        let info = vk::ShaderModuleCreateInfo::default().code(job.words);
        // SAFETY: the words are those of a valid module, which is what the job promises.
        let shader = unsafe { device.create_shader_module(&info, None) };
        self.shader = shader.map_err(failed("vkCreateShaderModule"))?;
        let entry =
            CString::new(job.entry).map_err(|_| Error::new("a zero in the entry's name".to_owned()))?;
        let mut entries = Vec::new();
        let mut data = Vec::new();
        for (id, value) in &job.specialisation {
            entries.push(
                vk::SpecializationMapEntry::default()
                    .constant_id(*id)
                    .offset(data.len() as u32)
                    .size(value.len()),
            );
            data.extend_from_slice(value);
        }
        let specialisation = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.shader)
            .name(&entry)
            .specialization_info(&specialisation);
        let sizes = self.owner.subgroup_sizes;
        let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        if let Some(size) = job.subgroup_size.filter(|_| sizes.least < sizes.most) {
            required = required.required_subgroup_size(size);
            stage = stage.push_next(&mut required);
        }
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.pipeline_layout)];
        // SAFETY: everything that `info` points to lives until the call returns.
        let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        let pipelines = made.map_err(|(_, error)| failed("vkCreateComputePipelines")(error))?;
        self.pipeline = pipelines.first().copied().unwrap_or_default();
        Ok(())
    }

    fn create_sets(&mut self, job: &Job<'_>, bound: &[Bound<'_>]) -> Result<Vec<vk::DescriptorSet>, Error> {
        if self.set_layouts.is_empty() {
            return Ok(Vec::new());
        }
        let device = &self.owner.device;
        let sizes: Vec<_> = bound
            .iter()
            .take(job.bindings.len())
            .map(|resource| {
                vk::DescriptorPoolSize::default().ty(resource.descriptor_type()).descriptor_count(1)
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(self.set_layouts.len() as u32)
            .pool_sizes(&sizes);
        // SAFETY: the layouts are alive; `info` lives until the call returns.
        let sets = unsafe {
            self.descriptors =
                device.create_descriptor_pool(&info, None).map_err(failed("vkCreateDescriptorPool"))?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.descriptors)
                .set_layouts(&self.set_layouts);
            device.allocate_descriptor_sets(&info).map_err(failed("vkAllocateDescriptorSets"))?
        };
        for (binding, resource) in job.bindings.iter().zip(bound) {
            let Some(&set) = sets.get(binding.set as usize) else { continue };
            let mut buffers = [vk::DescriptorBufferInfo::default().range(vk::WHOLE_SIZE)];
            let mut images = [vk::DescriptorImageInfo::default().image_layout(vk::ImageLayout::GENERAL)];
            let mut views = [vk::BufferView::null()];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding.binding)
                .dst_array_element(binding.element)
                .descriptor_type(resource.descriptor_type());
            let buffer = match resource {
                Bound::Alias(first) => bound.get(*first).unwrap_or(resource),
                _ => resource,
            };
            let write = match buffer {
                Bound::Buffer(_, buffer) => {
                    buffers[0].buffer = buffer.handle;
                    write.buffer_info(&buffers)
                }
                Bound::Texels(_, view) => {
                    views[0] = view.handle;
                    write.texel_buffer_view(&views)
                }
                Bound::Image(_, image, sampler) => {
                    images[0].image_view = image.view;
                    images[0].sampler =
                        sampler.as_ref().map_or(vk::Sampler::null(), |sampler| sampler.handle);
                    write.image_info(&images)
                }
                Bound::Sampler(sampler) => {
                    images[0].sampler = sampler.handle;
                    write.image_info(&images)
                }
                Bound::Alias(_) => return Err(Error::new("an alias of an alias")),
            };
            // SAFETY: the set is not in use; everything that `write` points to lives until the call returns.
            unsafe { device.update_descriptor_sets(&[write], &[]) };
        }
        Ok(sets)
    }

    /// Records what a run consists of; it can be submitted any number of times.
    fn record(
        &mut self,
        job: &Job<'_>,
        bound: &[Bound<'_>],
        sets: &[vk::DescriptorSet],
        push: &[u8],
    ) -> Result<(), Error> {
        let device = &self.owner.device;
        let images = || {
            bound.iter().filter_map(|resource| match resource {
                Bound::Image(_, image, _) => Some(image),
                Bound::Buffer(..) | Bound::Texels(..) | Bound::Sampler(_) | Bound::Alias(_) => None,
            })
        };
        let info =
            vk::CommandBufferAllocateInfo::default().command_pool(self.owner.pool).command_buffer_count(1);
        let all = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        let stages = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
        // SAFETY: all handles are of this device and outlive the wait at the end; the caller holds the lock
        // of pool and queue.
        unsafe {
            let buffers =
                device.allocate_command_buffers(&info).map_err(failed("vkAllocateCommandBuffers"))?;
            self.commands = buffers.first().copied().unwrap_or_default();
            let commands = self.commands;
            let barrier = || {
                let flags = vk::DependencyFlags::empty();
                device.cmd_pipeline_barrier(commands, stages, stages, flags, &[all], &[], &[]);
            };
            let begin = vk::CommandBufferBeginInfo::default();
            device.begin_command_buffer(commands, &begin).map_err(failed("vkBeginCommandBuffer"))?;
            images().for_each(|image| image.record_fill(commands));
            barrier();
            let compute = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(commands, compute, self.pipeline);
            if !sets.is_empty() {
                device.cmd_bind_descriptor_sets(commands, compute, self.pipeline_layout, 0, sets, &[]);
            }
            if !push.is_empty() {
                let stage = vk::ShaderStageFlags::COMPUTE;
                device.cmd_push_constants(commands, self.pipeline_layout, stage, 0, push);
            }
            let [x, y, z] = job.workgroups;
            device.cmd_dispatch(commands, x, y, z);
            barrier();
            images().for_each(|image| image.record_read(commands));
            barrier();
            device.end_command_buffer(commands).map_err(failed("vkEndCommandBuffer"))?;
            self.fence = device
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .map_err(failed("vkCreateFence"))?;
        }
        Ok(())
    }

    /// Submits what is recorded and waits for it.
    fn dispatch(&self, time: Duration) -> Result<(), Error> {
        let device = &self.owner.device;
        let submitted = [self.commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&submitted)];
        let fences = [self.fence];
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: all handles are of this device, and what was submitted before has ended; the caller holds the lock of pool
        // and queue.
        unsafe {
            device.reset_fences(&fences).map_err(failed("vkResetFences"))?;
            device.queue_submit(self.owner.queue, &submit, self.fence).map_err(failed("vkQueueSubmit"))?;
            device.wait_for_fences(&fences, true, nanoseconds).map_err(failed("vkWaitForFences"))
        }
    }
}
