//! The features of a device, asked for and enabled as a whole.

use std::ffi::CStr;

use ash::vk;
use spirv_tv_executor::case::Robustness;

/// Extensions that are enabled where they exist.
const EXTENSIONS: [&CStr; 6] = [
    ash::ext::robustness2::NAME,
    ash::ext::shader_atomic_float::NAME,
    ash::ext::shader_atomic_float2::NAME,
    ash::ext::shader_image_atomic_int64::NAME,
    ash::khr::shader_subgroup_uniform_control_flow::NAME,
    ash::khr::workgroup_memory_explicit_layout::NAME,
];

/// Feature structures; what the device lacks is false.
#[derive(Default)]
pub struct Features {
    pub core: vk::PhysicalDeviceFeatures,
    pub v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub v13: vk::PhysicalDeviceVulkan13Features<'static>,
    pub atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    pub atomic_float2: vk::PhysicalDeviceShaderAtomicFloat2FeaturesEXT<'static>,
    pub image_atomic: vk::PhysicalDeviceShaderImageAtomicInt64FeaturesEXT<'static>,
    pub uniform_flow: vk::PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR<'static>,
    pub robustness2: vk::PhysicalDeviceRobustness2FeaturesEXT<'static>,
    pub workgroup_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    /// Those of [`EXTENSIONS`] that there are.
    pub extensions: Vec<&'static CStr>,
}

impl Features {
    /// What the device has, with this robust access and no more. Its version is at least 1.3.
    pub fn of(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        robustness: Robustness,
    ) -> Result<Features, vk::Result> {
        let mut features = Features::default();
        // SAFETY: `physical` is of this instance; the structures outlive the calls.
        unsafe {
            let present = instance.enumerate_device_extension_properties(physical)?;
            let is_present = |name: &&CStr| {
                present.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
            };
            features.extensions = EXTENSIONS.into_iter().filter(is_present).collect();
            let mut chain = vk::PhysicalDeviceFeatures2::default();
            chain = features.push_onto(chain);
            instance.get_physical_device_features2(physical, &mut chain);
            features.core = chain.features;
        }
        features.unlink();
        // Bounds checks would hide accesses that are undefined behaviour.
        if robustness == Robustness::None {
            features.core.robust_buffer_access = vk::FALSE;
            features.v13.robust_image_access = vk::FALSE;
        }
        if robustness != Robustness::Robust2 {
            features.robustness2.robust_buffer_access2 = vk::FALSE;
            features.robustness2.robust_image_access2 = vk::FALSE;
        }
        features.robustness2.null_descriptor = vk::FALSE;
        Ok(features)
    }

    /// The features that this robust access needs and the device lacks.
    pub fn lacking(&self, robustness: Robustness) -> Vec<&'static str> {
        let first = [
            ("robustBufferAccess", self.core.robust_buffer_access),
            ("robustImageAccess", self.v13.robust_image_access),
        ];
        let second = [
            ("robustBufferAccess2", self.robustness2.robust_buffer_access2),
            ("robustImageAccess2", self.robustness2.robust_image_access2),
        ];
        let needed: Vec<(&str, vk::Bool32)> = match robustness {
            Robustness::None => Vec::new(),
            Robustness::Robust => first.to_vec(),
            Robustness::Robust2 => [first, second].concat(),
        };
        needed.into_iter().filter(|(_, has)| *has == vk::FALSE).map(|(name, _)| name).collect()
    }

    /// The chain of the structures that the device knows.
    ///
    /// The chain points into `self` behind the borrow checker's back: `unlink` ends it.
    fn push_onto(
        &mut self,
        mut chain: vk::PhysicalDeviceFeatures2<'static>,
    ) -> vk::PhysicalDeviceFeatures2<'static> {
        fn link<T>(
            chain: &mut vk::PhysicalDeviceFeatures2<'static>,
            item: &mut T,
            next: fn(&mut T) -> &mut *mut std::ffi::c_void,
        ) {
            *next(item) = chain.p_next;
            chain.p_next = std::ptr::from_mut(item).cast();
        }
        chain.features = self.core;
        link(&mut chain, &mut self.v11, |item| &mut item.p_next);
        link(&mut chain, &mut self.v12, |item| &mut item.p_next);
        link(&mut chain, &mut self.v13, |item| &mut item.p_next);
        if self.has(ash::ext::shader_atomic_float::NAME) {
            link(&mut chain, &mut self.atomic_float, |item| &mut item.p_next);
        }
        if self.has(ash::ext::shader_atomic_float2::NAME) {
            link(&mut chain, &mut self.atomic_float2, |item| &mut item.p_next);
        }
        if self.has(ash::ext::shader_image_atomic_int64::NAME) {
            link(&mut chain, &mut self.image_atomic, |item| &mut item.p_next);
        }
        if self.has(ash::khr::shader_subgroup_uniform_control_flow::NAME) {
            link(&mut chain, &mut self.uniform_flow, |item| &mut item.p_next);
        }
        if self.has(ash::ext::robustness2::NAME) {
            link(&mut chain, &mut self.robustness2, |item| &mut item.p_next);
        }
        if self.has(ash::khr::workgroup_memory_explicit_layout::NAME) {
            link(&mut chain, &mut self.workgroup_layout, |item| &mut item.p_next);
        }
        chain
    }

    fn unlink(&mut self) {
        self.v11.p_next = std::ptr::null_mut();
        self.v12.p_next = std::ptr::null_mut();
        self.v13.p_next = std::ptr::null_mut();
        self.atomic_float.p_next = std::ptr::null_mut();
        self.atomic_float2.p_next = std::ptr::null_mut();
        self.image_atomic.p_next = std::ptr::null_mut();
        self.uniform_flow.p_next = std::ptr::null_mut();
        self.robustness2.p_next = std::ptr::null_mut();
        self.workgroup_layout.p_next = std::ptr::null_mut();
    }

    fn has(&self, name: &CStr) -> bool {
        self.extensions.contains(&name)
    }

    /// Creates a device with one queue and everything enabled.
    pub fn create_device(
        &mut self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Result<ash::Device, vk::Result> {
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let names: Vec<_> = self.extensions.iter().map(|name| name.as_ptr()).collect();
        let chain = self.push_onto(vk::PhysicalDeviceFeatures2::default());
        let mut info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        info.p_next = std::ptr::from_ref(&chain).cast();
        // SAFETY: everything that `info` points to lives until the call returns.
        let device = unsafe { instance.create_device(physical, &info, None) };
        self.unlink();
        device
    }
}
