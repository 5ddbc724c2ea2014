//! Image formats by their names in GLSL.

use ash::vk;

/// The Vulkan format that GLSL calls so, such as `rgba8` or `r32ui`.
pub fn format_named(name: &str) -> Option<vk::Format> {
    use vk::Format as F;
    Some(match name {
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
        _ => return None,
    })
}
