//! spirv-val, as the library has it.

use std::ptr::NonNull;

use super::context::Context;
use super::diagnostic::RawDiagnostic;
use super::ffi;
use crate::diagnostic::Diagnostic;
use crate::validator::{UniversalLimit, ValidatorOptions};

pub fn validate(words: &[u32], options: &ValidatorOptions) -> Result<(), Diagnostic> {
    let context = Context::new(options.target_env)?;
    // The library asserts that what a pointer leads to has a layout.
    let skip_block_layout = options.skip_block_layout || points_to_void(words);
    let options = RawOptions::new(&ValidatorOptions { skip_block_layout, ..options.clone() })?;
    let binary = ffi::ConstBinary { code: words.as_ptr(), word_count: words.len() };
    let mut diagnostic = RawDiagnostic::null();
    // SAFETY: context, options and binary live for the call; the diagnostic goes to a place that owns it.
    let code = unsafe {
        ffi::spvValidateWithOptions(context.as_ptr(), options.as_ptr(), &binary, &mut diagnostic.0)
    };
    if code == ffi::SUCCESS {
        Ok(())
    } else {
        Err(diagnostic.of_binary(code))
    }
}

/// Whether a pointer type of a module leads to OpTypeVoid.
fn points_to_void(words: &[u32]) -> bool {
    let mut void = None;
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    while let Some(first) = rest.first() {
        let length = (first >> 16).max(1) as usize;
        match (first & 0xffff, rest.get(1), rest.get(3)) {
            (OP_TYPE_VOID, Some(id), _) => void = Some(*id),
            (OP_TYPE_POINTER, _, pointee @ Some(_)) if pointee.copied() == void => return true,
            (_, _, _) => {}
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

const HEADER_WORDS: usize = 5;
const OP_TYPE_VOID: u32 = 19;
const OP_TYPE_POINTER: u32 = 32;

/// An options object of the library.
pub struct RawOptions(NonNull<ffi::ValidatorOptions>);

impl RawOptions {
    pub fn new(options: &ValidatorOptions) -> Result<Self, Diagnostic> {
        // SAFETY: has no preconditions.
        let raw = NonNull::new(unsafe { ffi::spvValidatorOptionsCreate() })
            .ok_or_else(|| Diagnostic::message("SPIRV-Tools is out of memory"))?;
        let owned = RawOptions(raw);
        let raw = raw.as_ptr();
        // SAFETY: `raw` is a live options object that nobody else holds; the limits' numbers are those of
        // `spv_validator_limit`.
        unsafe {
            ffi::spvValidatorOptionsSetRelaxStoreStruct(raw, options.relax_struct_store);
            ffi::spvValidatorOptionsSetRelaxLogicalPointer(raw, options.relax_logical_pointer);
            ffi::spvValidatorOptionsSetRelaxBlockLayout(raw, options.relax_block_layout);
            ffi::spvValidatorOptionsSetUniformBufferStandardLayout(
                raw,
                options.uniform_buffer_standard_layout,
            );
            ffi::spvValidatorOptionsSetScalarBlockLayout(raw, options.scalar_block_layout);
            ffi::spvValidatorOptionsSetWorkgroupScalarBlockLayout(raw, options.workgroup_scalar_block_layout);
            ffi::spvValidatorOptionsSetSkipBlockLayout(raw, options.skip_block_layout);
            if options.before_hlsl_legalization {
                // Sets `relax_logical_pointer` too, so it must not be called with false.
                ffi::spvValidatorOptionsSetBeforeHlslLegalization(raw, true);
            }
            ffi::spvValidatorOptionsSetAllowLocalSizeId(raw, options.allow_localsizeid);
            ffi::spvValidatorOptionsSetAllowOffsetTextureOperand(raw, options.allow_offset_texture_operand);
            ffi::spvValidatorOptionsSetAllowVulkan32BitBitwise(raw, options.allow_vulkan_32_bit_bitwise);
            ffi::spvValidatorOptionsSetFriendlyNames(raw, true);
            for &(limit, value) in &options.limits {
                ffi::spvValidatorOptionsSetUniversalLimit(raw, raw_limit(limit), value);
            }
        }
        Ok(owned)
    }

    pub fn as_ptr(&self) -> *mut ffi::ValidatorOptions {
        self.0.as_ptr()
    }
}

impl Drop for RawOptions {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `spvValidatorOptionsCreate` and is destroyed once.
        unsafe { ffi::spvValidatorOptionsDestroy(self.0.as_ptr()) }
    }
}

/// The number in the C interface.
fn raw_limit(limit: UniversalLimit) -> u32 {
    match limit {
        UniversalLimit::StructMembers => 0,
        UniversalLimit::StructDepth => 1,
        UniversalLimit::LocalVariables => 2,
        UniversalLimit::GlobalVariables => 3,
        UniversalLimit::SwitchBranches => 4,
        UniversalLimit::FunctionArguments => 5,
        UniversalLimit::ControlFlowNestingDepth => 6,
        UniversalLimit::AccessChainIndexes => 7,
        UniversalLimit::IdBound => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_numbers_follow_the_table() {
        for (number, (limit, _)) in (0u32..).zip(UniversalLimit::ALL) {
            assert_eq!(raw_limit(limit), number);
        }
    }
}
