//! The Vulkan device.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use ash::vk;
use spirv_tv_executor::case::Robustness;

use crate::error::{failed, Error};
use crate::features::Features;
use crate::float_controls::FloatControls;
use crate::validation::{Validation, LAYER};

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
    /// It works for ever on a dispatch: nothing of it can be destroyed.
    pub(crate) is_stuck: AtomicBool,
    pub(crate) subgroup_sizes: SubgroupSizes,
    pub(crate) limits: vk::PhysicalDeviceLimits,
    pub(crate) float_controls: FloatControls,
    name: String,
    driver: vk::DriverId,
    /// Listens to the layer that validates.
    pub(crate) validation: Option<Validation>,
    pub(crate) instance: ash::Instance,
    physical: vk::PhysicalDevice,
    _entry: ash::Entry,
}

/// Which device is wanted, and how.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A part of its name, or its number from 0 among the suitable devices; the first one for `None`.
    pub device: Option<String>,
    /// Accesses outside of buffers and images do what robust access permits.
    pub robustness: Robustness,
    /// Vulkan's validation layer watches what is done.
    pub validates: bool,
}

/// A device that can run compute modules, before it is opened.
struct Suitable {
    physical: vk::PhysicalDevice,
    /// A queue family with compute.
    family: u32,
    name: String,
    driver: vk::DriverId,
    subgroup: vk::PhysicalDeviceSubgroupProperties<'static>,
    subgroup_sizes: SubgroupSizes,
    limits: vk::PhysicalDeviceLimits,
    float_controls: FloatControls,
}

/// The sizes of subgroups that a pipeline may ask for; equal where it may not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubgroupSizes {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

impl Device {
    /// Opens lavapipe, or the first device with Vulkan 1.3 and a compute queue.
    ///
    /// # Errors
    /// There is no loader, or no such device.
    pub fn open() -> Result<Device, Error> {
        Self::open_on(&Wanted::default(), |suitable| {
            let is_lavapipe = |found: &Suitable| found.driver == vk::DriverId::MESA_LLVMPIPE;
            Some(suitable.iter().position(is_lavapipe).unwrap_or(0))
        })
    }

    /// Opens the device that is wanted.
    ///
    /// # Errors
    /// There is no loader, no such device, it lacks the robust access that is wanted, or there is no layer to validate with.
    pub fn open_wanted(wanted: &Wanted) -> Result<Device, Error> {
        Self::open_on(wanted, |suitable| match &wanted.device {
            None => Some(0),
            Some(name) => match name.parse::<usize>() {
                Ok(number) => (number < suitable.len()).then_some(number),
                Err(_) => suitable.iter().position(|found| found.name.contains(name.as_str())),
            },
        })
    }

    fn open_on(wanted: &Wanted, choose: impl FnOnce(&[Suitable]) -> Option<usize>) -> Result<Device, Error> {
        let (entry, instance) = create_instance(wanted.validates)?;
        // The functions of the instance stay loaded until it is destroyed.
        let opened = Self::open_watched(&entry, &instance, wanted, choose);
        if opened.is_err() {
            // SAFETY: no device of the instance is left, and nobody listens to it.
            unsafe { instance.destroy_instance(None) };
        }
        opened
    }

    fn open_watched(
        entry: &ash::Entry,
        instance: &ash::Instance,
        wanted: &Wanted,
        choose: impl FnOnce(&[Suitable]) -> Option<usize>,
    ) -> Result<Device, Error> {
        let validation = wanted.validates.then(|| Validation::of(entry, instance)).transpose()?;
        let opened = Self::open_chosen(entry.clone(), instance.clone(), wanted.robustness, choose);
        match opened {
            Ok(mut device) => {
                device.validation = validation;
                Ok(device)
            }
            Err(error) => {
                if let Some(validation) = validation {
                    // SAFETY: the instance is alive, and known here only.
                    unsafe { validation.destroy() };
                }
                Err(error)
            }
        }
    }

    fn open_chosen(
        entry: ash::Entry,
        instance: ash::Instance,
        robustness: Robustness,
        choose: impl FnOnce(&[Suitable]) -> Option<usize>,
    ) -> Result<Device, Error> {
        let mut suitable = suitable(&instance)?;
        if suitable.is_empty() {
            return Err(Error::new("no device with Vulkan 1.3 and a compute queue"));
        }
        let Some(chosen) = choose(&suitable).filter(|chosen| *chosen < suitable.len()) else {
            let names: Vec<&str> = suitable.iter().map(|found| found.name.as_str()).collect();
            return Err(Error::new(format!("no such device; there are: {}", names.join(", "))));
        };
        let Suitable { physical, family, name, driver, subgroup, subgroup_sizes, limits, float_controls } =
            suitable.swap_remove(chosen);
        let mut features = Features::of(&instance, physical, robustness)
            .map_err(failed("vkEnumerateDeviceExtensionProperties"))?;
        let lacking = features.lacking(robustness);
        if !lacking.is_empty() {
            return Err(Error::new(format!("the device lacks {}", lacking.join(", "))));
        }
        // SAFETY: the instance is alive; handles come from it.
        unsafe {
            let device =
                features.create_device(&instance, physical, family).map_err(failed("vkCreateDevice"))?;
            let pool = vk::CommandPoolCreateInfo::default().queue_family_index(family);
            let pool = match device.create_command_pool(&pool, None) {
                Ok(pool) => pool,
                Err(error) => {
                    device.destroy_device(None);
                    return Err(failed("vkCreateCommandPool")(error));
                }
            };
            Ok(Device {
                queue: device.get_device_queue(family, 0),
                memory: instance.get_physical_device_memory_properties(physical),
                subgroup,
                subgroup_sizes,
                limits,
                float_controls,
                device,
                pool,
                features,
                busy: Mutex::new(()),
                is_stuck: AtomicBool::new(false),
                name,
                driver,
                validation: None,
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
        if self.is_stuck.load(Ordering::Relaxed) {
            // The layer still tells it what it objects to.
            std::mem::forget(self.validation.take());
            return;
        }
        // SAFETY: jobs wait for the device before they end, and borrow it.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            if let Some(validation) = &self.validation {
                validation.destroy();
            }
            self.instance.destroy_instance(None);
        }
    }
}

fn create_instance(validates: bool) -> Result<(ash::Entry, ash::Instance), Error> {
    // SAFETY: the loader is the system's; its initialisation has no other precondition.
    let entry =
        unsafe { ash::Entry::load() }.map_err(|error| Error::new(format!("no Vulkan loader: {error}")))?;
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let (layers, extensions) = ([LAYER.as_ptr()], [ash::ext::debug_utils::NAME.as_ptr()]);
    let mut info = vk::InstanceCreateInfo::default().application_info(&application);
    if validates {
        Validation::find(&entry)?;
        info = info.enabled_layer_names(&layers).enabled_extension_names(&extensions);
    }
    // SAFETY: `info` lives until the call returns.
    let instance = unsafe { entry.create_instance(&info, None) }.map_err(failed("vkCreateInstance"))?;
    Ok((entry, instance))
}

/// The devices with Vulkan 1.3 and a compute queue.
fn suitable(instance: &ash::Instance) -> Result<Vec<Suitable>, Error> {
    let mut all = Vec::new();
    // SAFETY: the instance is alive; handles come from it, and the structures outlive the calls.
    unsafe {
        let devices = instance.enumerate_physical_devices().map_err(failed("vkEnumeratePhysicalDevices"))?;
        for physical in devices {
            let version = instance.get_physical_device_properties(physical).api_version;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family =
                families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let (true, Some(family)) = (version >= vk::API_VERSION_1_3, family) else { continue };
            let mut driver = vk::PhysicalDeviceDriverProperties::default();
            let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
            let mut v13 = vk::PhysicalDeviceVulkan13Properties::default();
            let mut floats = vk::PhysicalDeviceFloatControlsProperties::default();
            let mut properties = vk::PhysicalDeviceProperties2::default()
                .push_next(&mut driver)
                .push_next(&mut subgroup)
                .push_next(&mut v13)
                .push_next(&mut floats);
            instance.get_physical_device_properties2(physical, &mut properties);
            let properties = properties.properties;
            subgroup.p_next = std::ptr::null_mut();
            let is_chosen = v13.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
            let subgroup_sizes = match is_chosen {
                true => SubgroupSizes { least: v13.min_subgroup_size, most: v13.max_subgroup_size },
                false => SubgroupSizes { least: subgroup.subgroup_size, most: subgroup.subgroup_size },
            };
            let name = properties.device_name_as_c_str().unwrap_or(c"?").to_string_lossy().into_owned();
            all.push(Suitable {
                physical,
                family: family as u32,
                name,
                driver: driver.driver_id,
                subgroup,
                subgroup_sizes,
                limits: properties.limits,
                float_controls: FloatControls::of(&floats),
            });
        }
    }
    Ok(all)
}
