//! Execution modes of floats, which a device has for some widths and lacks for others
//! (Vulkan specification, VkPhysicalDeviceFloatControlsProperties).

use ash::vk;
use rspirv::spirv::{Capability, ExecutionMode};

const OP_EXECUTION_MODE: u32 = 16;
const OP_FUNCTION: u32 = 54;
const HEADER_WORDS: usize = 5;

/// The widths of floats in bits.
const WIDTHS: [u32; 3] = [16, 32, 64];

/// Which modes the device has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatControls {
    /// For each mode whether there is one for each of [`WIDTHS`].
    modes: [(ExecutionMode, Capability, [bool; 3]); 5],
}

impl FloatControls {
    pub(crate) fn of(told: &vk::PhysicalDeviceFloatControlsProperties<'_>) -> Self {
        let all = |flags: [vk::Bool32; 3]| flags.map(|flag| flag == vk::TRUE);
        let preserved = all([
            told.shader_denorm_preserve_float16,
            told.shader_denorm_preserve_float32,
            told.shader_denorm_preserve_float64,
        ]);
        let flushed = all([
            told.shader_denorm_flush_to_zero_float16,
            told.shader_denorm_flush_to_zero_float32,
            told.shader_denorm_flush_to_zero_float64,
        ]);
        let zeros = all([
            told.shader_signed_zero_inf_nan_preserve_float16,
            told.shader_signed_zero_inf_nan_preserve_float32,
            told.shader_signed_zero_inf_nan_preserve_float64,
        ]);
        let even = all([
            told.shader_rounding_mode_rte_float16,
            told.shader_rounding_mode_rte_float32,
            told.shader_rounding_mode_rte_float64,
        ]);
        let towards_zero = all([
            told.shader_rounding_mode_rtz_float16,
            told.shader_rounding_mode_rtz_float32,
            told.shader_rounding_mode_rtz_float64,
        ]);
        FloatControls {
            modes: [
                (ExecutionMode::DenormPreserve, Capability::DenormPreserve, preserved),
                (ExecutionMode::DenormFlushToZero, Capability::DenormFlushToZero, flushed),
                (ExecutionMode::SignedZeroInfNanPreserve, Capability::SignedZeroInfNanPreserve, zeros),
                (ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE, even),
                (ExecutionMode::RoundingModeRTZ, Capability::RoundingModeRTZ, towards_zero),
            ],
        }
    }

    /// Whether the device has the mode that the capability is for, of some width; `None` for other capabilities.
    pub(crate) fn has(&self, capability: Capability) -> Option<bool> {
        let mode = self.modes.iter().find(|(_, of, _)| *of == capability);
        mode.map(|(_, _, widths)| widths.contains(&true))
    }

    /// The modes that a module declares and the device lacks.
    pub(crate) fn lacking(&self, words: &[u32]) -> Vec<String> {
        let mut lacking = Vec::new();
        let mut rest = words.get(HEADER_WORDS..).unwrap_or(&[]);
        while let [first, operands @ ..] = rest {
            match (first & 0xffff, operands) {
                (OP_FUNCTION, _) => break,
                (OP_EXECUTION_MODE, [_, mode, width, ..]) => lacking.extend(self.lacks(*mode, *width)),
                _ => {}
            }
            rest = rest.get((first >> 16).max(1) as usize..).unwrap_or(&[]);
        }
        lacking
    }

    fn lacks(&self, mode: u32, width: u32) -> Option<String> {
        let (mode, _, widths) = self.modes.iter().find(|(of, _, _)| *of as u32 == mode)?;
        let has = WIDTHS.iter().zip(widths).any(|(of, has)| *of == width && *has);
        (!has).then(|| format!("{mode:?} of floats of {width} bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_lacked_by_width() {
        let told = vk::PhysicalDeviceFloatControlsProperties {
            shader_denorm_preserve_float64: vk::TRUE,
            ..Default::default()
        };
        let controls = FloatControls::of(&told);
        assert_eq!(controls.has(Capability::DenormPreserve), Some(true));
        assert_eq!(controls.has(Capability::RoundingModeRTZ), Some(false));
        assert_eq!(controls.has(Capability::Shader), None);
        let mode = |mode: ExecutionMode, width| [4 << 16 | OP_EXECUTION_MODE, 1, mode as u32, width];
        let mut words = vec![0; HEADER_WORDS];
        words.extend(mode(ExecutionMode::DenormPreserve, 64));
        words.extend(mode(ExecutionMode::DenormPreserve, 32));
        words.extend([6 << 16 | OP_EXECUTION_MODE, 1, ExecutionMode::LocalSize as u32, 1, 1, 1]);
        assert_eq!(controls.lacking(&words), ["DenormPreserve of floats of 32 bits"]);
        words.push(OP_EXECUTION_MODE);
        assert_eq!(controls.lacking(&words).len(), 1);
    }
}
