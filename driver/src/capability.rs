//! Which capabilities of SPIR-V the device supports
//! (Vulkan specification, "Capabilities" of the SPIR-V environment).

use ash::vk;
use rspirv::spirv::Capability;

use crate::device::Device;

const OP_CAPABILITY: u32 = 17;
const HEADER_WORDS: usize = 5;

/// Numbers below this one may be capabilities.
const NUMBERS: u32 = 1 << 13;

/// Whether a device can run a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// The device has every capability that the module declares.
    Yes,
    /// Capabilities that the module declares and the device lacks.
    Lacks(Vec<String>),
}

impl Device {
    /// Whether the device has every capability that the module declares.
    pub fn support(&self, words: &[u32]) -> Support {
        let mut lacking = Vec::new();
        let mut rest = words.get(HEADER_WORDS..).unwrap_or(&[]);
        while let [first, ..] = rest {
            if first & 0xffff != OP_CAPABILITY {
                break;
            }
            let number = rest.get(1).copied().unwrap_or(0);
            match Capability::from_u32(number) {
                Some(capability) if self.has(capability) == Some(true) => {}
                Some(capability) => lacking.push(format!("{capability:?}")),
                None => lacking.push(number.to_string()),
            }
            rest = rest.get((first >> 16).max(1) as usize..).unwrap_or(&[]);
        }
        if lacking.is_empty() {
            Support::Yes
        } else {
            Support::Lacks(lacking)
        }
    }

    /// The capabilities that the device has, and those that it lacks, of all of which that is known.
    pub(crate) fn capabilities(&self) -> (Vec<String>, Vec<String>) {
        let all = (0..NUMBERS).filter_map(Capability::from_u32);
        let known = all.filter_map(|capability| Some((format!("{capability:?}"), self.has(capability)?)));
        let (has, lacks): (Vec<_>, Vec<_>) = known.partition(|(_, has)| *has);
        let names = |list: Vec<(String, bool)>| list.into_iter().map(|(name, _)| name).collect();
        (names(has), names(lacks))
    }

    /// Whether the device has it; `None` where nothing is known of it.
    fn has(&self, capability: Capability) -> Option<bool> {
        use Capability as C;
        let (core, v11, v12, v13) =
            (&self.features.core, &self.features.v11, &self.features.v12, &self.features.v13);
        let (float, float2) = (&self.features.atomic_float, &self.features.atomic_float2);
        let subgroup = |wanted| {
            self.subgroup.supported_operations.contains(wanted)
                && self.subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE)
        };
        let flag = match capability {
            C::Matrix
            | C::Shader
            | C::Sampled1D
            | C::Image1D
            | C::SampledBuffer
            | C::ImageBuffer
            | C::ImageQuery
            | C::DerivativeControl
            | C::StorageImageExtendedFormats => return Some(true),
            C::GroupNonUniform => return Some(subgroup(vk::SubgroupFeatureFlags::BASIC)),
            C::GroupNonUniformVote => return Some(subgroup(vk::SubgroupFeatureFlags::VOTE)),
            C::GroupNonUniformArithmetic => return Some(subgroup(vk::SubgroupFeatureFlags::ARITHMETIC)),
            C::GroupNonUniformBallot => return Some(subgroup(vk::SubgroupFeatureFlags::BALLOT)),
            C::GroupNonUniformShuffle => return Some(subgroup(vk::SubgroupFeatureFlags::SHUFFLE)),
            C::GroupNonUniformShuffleRelative => {
                return Some(subgroup(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE))
            }
            C::GroupNonUniformClustered => return Some(subgroup(vk::SubgroupFeatureFlags::CLUSTERED)),
            C::GroupNonUniformQuad => return Some(subgroup(vk::SubgroupFeatureFlags::QUAD)),
            C::Float64 => core.shader_float64,
            C::Int64 => core.shader_int64,
            C::Int16 => core.shader_int16,
            C::ImageGatherExtended => core.shader_image_gather_extended,
            C::StorageImageMultisample => core.shader_storage_image_multisample,
            C::UniformBufferArrayDynamicIndexing => core.shader_uniform_buffer_array_dynamic_indexing,
            C::SampledImageArrayDynamicIndexing => core.shader_sampled_image_array_dynamic_indexing,
            C::StorageBufferArrayDynamicIndexing => core.shader_storage_buffer_array_dynamic_indexing,
            C::StorageImageArrayDynamicIndexing => core.shader_storage_image_array_dynamic_indexing,
            C::StorageImageReadWithoutFormat => core.shader_storage_image_read_without_format,
            C::StorageImageWriteWithoutFormat => core.shader_storage_image_write_without_format,
            C::ImageCubeArray | C::SampledCubeArray => core.image_cube_array,
            C::MinLod => core.shader_resource_min_lod,
            C::StorageBuffer16BitAccess => v11.storage_buffer16_bit_access,
            C::UniformAndStorageBuffer16BitAccess => v11.uniform_and_storage_buffer16_bit_access,
            C::StoragePushConstant16 => v11.storage_push_constant16,
            C::VariablePointersStorageBuffer => v11.variable_pointers_storage_buffer,
            C::VariablePointers => v11.variable_pointers,
            C::Float16 => v12.shader_float16,
            C::Int8 => v12.shader_int8,
            C::StorageBuffer8BitAccess => v12.storage_buffer8_bit_access,
            C::UniformAndStorageBuffer8BitAccess => v12.uniform_and_storage_buffer8_bit_access,
            C::StoragePushConstant8 => v12.storage_push_constant8,
            C::Int64Atomics => v12.shader_buffer_int64_atomics & v12.shader_shared_int64_atomics,
            C::PhysicalStorageBufferAddresses => v12.buffer_device_address,
            C::VulkanMemoryModel => v12.vulkan_memory_model,
            C::VulkanMemoryModelDeviceScope => v12.vulkan_memory_model_device_scope,
            C::RuntimeDescriptorArray => v12.runtime_descriptor_array,
            C::ShaderNonUniform => v12.descriptor_indexing,
            C::UniformTexelBufferArrayDynamicIndexing => {
                v12.shader_uniform_texel_buffer_array_dynamic_indexing
            }
            C::StorageTexelBufferArrayDynamicIndexing => {
                v12.shader_storage_texel_buffer_array_dynamic_indexing
            }
            C::UniformBufferArrayNonUniformIndexing => v12.shader_uniform_buffer_array_non_uniform_indexing,
            C::SampledImageArrayNonUniformIndexing => v12.shader_sampled_image_array_non_uniform_indexing,
            C::StorageBufferArrayNonUniformIndexing => v12.shader_storage_buffer_array_non_uniform_indexing,
            C::StorageImageArrayNonUniformIndexing => v12.shader_storage_image_array_non_uniform_indexing,
            C::DotProduct
            | C::DotProductInputAll
            | C::DotProductInput4x8Bit
            | C::DotProductInput4x8BitPacked => v13.shader_integer_dot_product,
            C::AtomicFloat32AddEXT => {
                float.shader_buffer_float32_atomic_add & float.shader_shared_float32_atomic_add
            }
            C::AtomicFloat64AddEXT => {
                float.shader_buffer_float64_atomic_add & float.shader_shared_float64_atomic_add
            }
            C::AtomicFloat16AddEXT => {
                float2.shader_buffer_float16_atomic_add & float2.shader_shared_float16_atomic_add
            }
            C::AtomicFloat16MinMaxEXT => {
                float2.shader_buffer_float16_atomic_min_max & float2.shader_shared_float16_atomic_min_max
            }
            C::AtomicFloat32MinMaxEXT => {
                float2.shader_buffer_float32_atomic_min_max & float2.shader_shared_float32_atomic_min_max
            }
            C::AtomicFloat64MinMaxEXT => {
                float2.shader_buffer_float64_atomic_min_max & float2.shader_shared_float64_atomic_min_max
            }
            C::Int64ImageEXT => self.features.image_atomic.shader_image_int64_atomics,
            C::WorkgroupMemoryExplicitLayoutKHR => {
                self.features.workgroup_layout.workgroup_memory_explicit_layout
            }
            C::WorkgroupMemoryExplicitLayout8BitAccessKHR => {
                self.features.workgroup_layout.workgroup_memory_explicit_layout8_bit_access
            }
            C::WorkgroupMemoryExplicitLayout16BitAccessKHR => {
                self.features.workgroup_layout.workgroup_memory_explicit_layout16_bit_access
            }
            C::DenormPreserve
            | C::DenormFlushToZero
            | C::SignedZeroInfNanPreserve
            | C::RoundingModeRTE
            | C::RoundingModeRTZ => return self.float_controls.has(capability),
            _ => return None,
        };
        Some(flag == vk::TRUE)
    }
}
