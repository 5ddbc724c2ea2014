//! The Vulkan device.

use std::sync::Mutex;

use ash::vk;

use crate::features::Features;
use crate::{failed, Error};

/// A Vulkan device with one queue, on which one job runs at a time.
pub struct Device {
    // Dropped before the functions that it calls would be unloaded.
    pub(crate) device: ash::Device,
    pub(crate) queue: vk::Queue,
    pub(crate) pool: vk::CommandPool,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) features: Features,
    pub(crate) subgroup: vk::PhysicalDeviceSubgroupProperties<'static>,
    pub(crate) busy: Mutex<()>,
    name: String,
    driver: vk::DriverId,
    pub(crate) instance: ash::Instance,
    physical: vk::PhysicalDevice,
    _entry: ash::Entry,
}

impl Device {
    /// Opens lavapipe, or the first device with Vulkan 1.3 and a compute queue.
    ///
    /// # Errors
    /// There is no loader, or no such device.
    pub fn open() -> Result<Device, Error> {
        // SAFETY: the loader is the system's; its initialisation has no other precondition.
        let entry =
            unsafe { ash::Entry::load() }.map_err(|error| Error(format!("no Vulkan loader: {error}")))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: `info` lives until the call returns.
        let instance = unsafe { entry.create_instance(&info, None) }.map_err(failed("vkCreateInstance"))?;
        let opened = Self::open_on(entry, instance.clone());
        if opened.is_err() {
            // SAFETY: no device of the instance is left.
            unsafe { instance.destroy_instance(None) };
        }
        opened
    }

    fn open_on(entry: ash::Entry, instance: ash::Instance) -> Result<Device, Error> {
        // SAFETY: the instance is alive; handles come from it.
        unsafe {
            let devices =
                instance.enumerate_physical_devices().map_err(failed("vkEnumeratePhysicalDevices"))?;
            let mut suitable = Vec::new();
            for physical in devices {
                let version = instance.get_physical_device_properties(physical).api_version;
                let families = instance.get_physical_device_queue_family_properties(physical);
                let family =
                    families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
                if let (true, Some(family)) = (version >= vk::API_VERSION_1_3, family) {
                    let mut driver = vk::PhysicalDeviceDriverProperties::default();
                    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
                    let mut properties = vk::PhysicalDeviceProperties2::default()
                        .push_next(&mut driver)
                        .push_next(&mut subgroup);
                    instance.get_physical_device_properties2(physical, &mut properties);
                    driver.p_next = std::ptr::null_mut();
                    subgroup.p_next = std::ptr::null_mut();
                    suitable.push((physical, family as u32, driver.driver_id, subgroup));
                }
            }
            let lavapipe = suitable.iter().position(|found| found.2 == vk::DriverId::MESA_LLVMPIPE);
            if suitable.is_empty() {
                return Err(Error("no device with Vulkan 1.3 and a compute queue".to_owned()));
            }
            let (physical, family, driver, subgroup) = suitable.swap_remove(lavapipe.unwrap_or(0));
            let properties = instance.get_physical_device_properties(physical);
            let name = properties.device_name_as_c_str().unwrap_or(c"?");
            let name = name.to_string_lossy().into_owned();
            let mut features =
                Features::of(&instance, physical).map_err(failed("vkEnumerateDeviceExtensionProperties"))?;
            let device =
                features.create_device(&instance, physical, family).map_err(failed("vkCreateDevice"))?;
            let pool = vk::CommandPoolCreateInfo::default().queue_family_index(family);
            let pool = match device.create_command_pool(&pool, None) {
                Ok(pool) => pool,
                Err(error) => {
                    device.destroy_device(None);
                    return Err(Error(format!("vkCreateCommandPool: {error}")));
                }
            };
            Ok(Device {
                queue: device.get_device_queue(family, 0),
                memory: instance.get_physical_device_memory_properties(physical),
                subgroup,
                device,
                pool,
                features,
                busy: Mutex::new(()),
                name,
                driver,
                instance,
                physical,
                _entry: entry,
            })
        }
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is lavapipe, whose deviations from the specification are known.
    pub fn is_lavapipe(&self) -> bool {
        self.driver == vk::DriverId::MESA_LLVMPIPE
    }

    /// Invocations in a subgroup.
    pub fn subgroup_size(&self) -> u32 {
        self.subgroup.subgroup_size
    }

    /// What optimally tiled images of a format may be used for, and what texel buffers of it.
    pub fn format(&self, format: vk::Format) -> vk::FormatProperties {
        // SAFETY: the physical device is of this instance.
        unsafe { self.instance.get_physical_device_format_properties(self.physical, format) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: jobs wait for the device before they end, and borrow it.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
