//! Buffers that the host sees.

use ash::vk;

use crate::device::Device;
use crate::error::{failed, Error};

/// A buffer in coherent host memory, mapped for as long as it lives.
pub struct Buffer<'d> {
    owner: &'d Device,
    pub handle: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u8,
    length: usize,
}

impl<'d> Buffer<'d> {
    /// A buffer with these contents. One of no bytes gets four of zero, since Vulkan has no empty buffers.
    pub fn new(owner: &'d Device, usage: vk::BufferUsageFlags, bytes: &[u8]) -> Result<Self, Error> {
        let device = &owner.device;
        let size = bytes.len().max(4) as u64;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: every handle is of this device; what was made is destroyed by `drop`, which tolerates
        // null handles.
        unsafe {
            let handle = device.create_buffer(&info, None).map_err(failed("vkCreateBuffer"))?;
            let mut buffer = Buffer {
                owner,
                handle,
                memory: vk::DeviceMemory::null(),
                mapped: std::ptr::null_mut(),
                length: bytes.len(),
            };
            let needs = device.get_buffer_memory_requirements(handle);
            let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let addressed = usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
            buffer.memory = owner.allocate(needs, visible, addressed)?;
            device.bind_buffer_memory(handle, buffer.memory, 0).map_err(failed("vkBindBufferMemory"))?;
            buffer.mapped = device
                .map_memory(buffer.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .map_err(failed("vkMapMemory"))?
                .cast();
            std::ptr::write_bytes(buffer.mapped, 0, size as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.mapped, bytes.len());
            Ok(buffer)
        }
    }

    /// The contents. The device must be idle.
    pub fn bytes(&self) -> Vec<u8> {
        // SAFETY: `length` bytes are mapped, and nobody writes while the device is idle.
        unsafe { std::slice::from_raw_parts(self.mapped, self.length).to_vec() }
    }

    /// Overwrites bytes. The device must be idle.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        if offset.checked_add(bytes.len()).is_none_or(|end| end > self.length) {
            return Err(Error::new(format!("{} bytes at {offset} do not fit in a buffer", bytes.len())));
        }
        // SAFETY: the range is inside the mapped memory, as was just checked.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.mapped.add(offset), bytes.len()) };
        Ok(())
    }

    /// Its address, for a buffer that was made with one.
    pub fn address(&self) -> u64 {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.handle);
        // SAFETY: the buffer is of this device and was created for addresses.
        unsafe { self.owner.device.get_buffer_device_address(&info) }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the job that uses the buffer has ended.
        unsafe {
            self.owner.device.destroy_buffer(self.handle, None);
            self.owner.device.free_memory(self.memory, None);
        }
    }
}

impl Device {
    /// Allocates memory of a type with these properties.
    pub(crate) fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        properties: vk::MemoryPropertyFlags,
        addressed: bool,
    ) -> Result<vk::DeviceMemory, Error> {
        let types = self.memory.memory_types_as_slice();
        let fits = |(index, kind): (usize, &vk::MemoryType)| {
            needs.memory_type_bits & (1 << index) != 0 && kind.property_flags.contains(properties)
        };
        let index = types
            .iter()
            .enumerate()
            .position(fits)
            .ok_or_else(|| Error::new(format!("no memory with {properties:?}")))?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info =
            vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index as u32);
        if addressed {
            info = info.push_next(&mut flags);
        }
        // SAFETY: `info` lives until the call returns.
        unsafe { self.device.allocate_memory(&info, None) }.map_err(failed("vkAllocateMemory"))
    }
}
