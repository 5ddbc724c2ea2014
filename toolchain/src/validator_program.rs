//! spirv-val as a program.

use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::validator::{UniversalLimit, ValidatorOptions};
use crate::{message, process};

/// Has the program at this path validate a module; a name alone is looked for in the `PATH`.
pub fn validate_with(program: &Path, words: &[u32], options: &ValidatorOptions) -> Result<(), Diagnostic> {
    let ended = process::run_at(program, SPIRV_VAL, &arguments(options), &process::to_bytes(words))?;
    if ended.success {
        Ok(())
    } else {
        Err(message::of_binary(&ended.messages))
    }
}

/// Its usual name.
const SPIRV_VAL: &str = "spirv-val";

/// Has the program of the `PATH` validate a module.
#[cfg(not(feature = "bundled"))]
pub fn validate(words: &[u32], options: &ValidatorOptions) -> Result<(), Diagnostic> {
    validate_with(Path::new(SPIRV_VAL), words, options)
}

fn arguments(options: &ValidatorOptions) -> Vec<String> {
    let switches = [
        (options.relax_struct_store, "--relax-struct-store"),
        (options.relax_logical_pointer, "--relax-logical-pointer"),
        (options.relax_block_layout, "--relax-block-layout"),
        (options.uniform_buffer_standard_layout, "--uniform-buffer-standard-layout"),
        (options.scalar_block_layout, "--scalar-block-layout"),
        (options.workgroup_scalar_block_layout, "--workgroup-scalar-block-layout"),
        (options.skip_block_layout, "--skip-block-layout"),
        (options.before_hlsl_legalization, "--before-hlsl-legalization"),
        (options.allow_localsizeid, "--allow-localsizeid"),
        (options.allow_offset_texture_operand, "--allow-offset-texture-operand"),
        (options.allow_vulkan_32_bit_bitwise, "--allow-vulkan-32-bit-bitwise"),
    ];
    let mut arguments = vec!["--target-env".to_owned(), options.target_env.name().to_owned()];
    arguments.extend(switches.into_iter().filter(|(on, _)| *on).map(|(_, flag)| flag.to_owned()));
    for &(limit, value) in &options.limits {
        let named = UniversalLimit::ALL.into_iter().find(|&(known, _)| known == limit);
        if let Some((_, name)) = named {
            arguments.extend([format!("--{name}"), value.to_string()]);
        }
    }
    arguments.push("-".to_owned());
    arguments
}
