//! SPIRV-Tools as the front end uses it.

use spirv_tv_toolchain::{Position, ProgramError, TargetEnv, Validator, ValidatorOptions};

use super::error::{ReadError, ValidationMessage};
use super::Module;

/// How to read modules.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Go on where only the validator objects.
    pub lenient: bool,
    /// The validator has accepted the module already, with these options: it is not asked again.
    pub is_valid: bool,
    /// The environment to assemble for; `None` takes the version that a text names in its header
    /// comment, and else the newest.
    pub assemble_env: Option<TargetEnv>,
    /// The validator's options, its target environment among them.
    pub validator: ValidatorOptions,
    /// What validates.
    pub validate_with: Validator,
}

impl ReadOptions {
    /// Assembles and validates for this environment (`--target-env`).
    pub fn for_env(target_env: TargetEnv) -> Self {
        ReadOptions {
            lenient: false,
            is_valid: false,
            assemble_env: Some(target_env),
            validator: ValidatorOptions::for_env(target_env),
            validate_with: Validator::Own,
        }
    }
}

pub(super) fn assemble(text: &str, file: &str, options: &ReadOptions) -> Result<Vec<u32>, ReadError> {
    let file = file.to_owned();
    spirv_tv_toolchain::assemble(text, options.assemble_env).map_err(|diagnostic| {
        match (diagnostic.program, diagnostic.position) {
            (Some(source), _) => ReadError::Program { file, source },
            (None, Position::Text { line, column }) => ReadError::Assemble {
                file,
                line: u32::try_from(line).unwrap_or(0),
                column: u32::try_from(column).unwrap_or(0),
                message: diagnostic.message,
            },
            (None, Position::Unknown | Position::Instruction(_)) => {
                ReadError::NotSpirv { file, why: diagnostic.message }
            }
        }
    })
}

pub(super) fn disassemble(words: &[u32], file: &str) -> Result<String, ReadError> {
    let file = file.to_owned();
    spirv_tv_toolchain::disassemble(words).map_err(|diagnostic| match diagnostic.program {
        Some(source) => ReadError::Program { file, source },
        None => ReadError::Malformed { file, message: diagnostic.to_string() },
    })
}

/// The validator's objection, if any.
pub(super) fn validate(
    module: &Module,
    options: &ReadOptions,
) -> Result<Option<ValidationMessage>, ProgramError> {
    if options.is_valid {
        return Ok(None);
    }
    let Err(diagnostic) = options.validate_with.validate(&module.words, &options.validator) else {
        return Ok(None);
    };
    let index = diagnostic.instruction().and_then(|number| number.checked_sub(1));
    let line = index.map_or(0, |index| module.line(index));
    match diagnostic.program {
        Some(error) => Err(error),
        None => Ok(Some(ValidationMessage { line, message: diagnostic.message })),
    }
}

/// A flag of the validator with what it sets.
type Flag = (&'static str, fn(&mut ValidatorOptions));

/// The flags that permit more, those that permit least first.
const PERMITTING: [Flag; 11] = [
    ("--relax-block-layout", |options| options.relax_block_layout = true),
    ("--uniform-buffer-standard-layout", |options| options.uniform_buffer_standard_layout = true),
    ("--scalar-block-layout", |options| options.scalar_block_layout = true),
    ("--workgroup-scalar-block-layout", |options| options.workgroup_scalar_block_layout = true),
    ("--skip-block-layout", |options| options.skip_block_layout = true),
    ("--relax-struct-store", |options| options.relax_struct_store = true),
    ("--relax-logical-pointer", |options| options.relax_logical_pointer = true),
    ("--allow-localsizeid", |options| options.allow_localsizeid = true),
    ("--allow-offset-texture-operand", |options| options.allow_offset_texture_operand = true),
    ("--allow-vulkan-32-bit-bitwise", |options| options.allow_vulkan_32_bit_bitwise = true),
    ("--before-hlsl-legalization", |options| options.before_hlsl_legalization = true),
];

/// The flag with which the validator has no objection, or at least not this one.
pub(super) fn permitting_flag(
    module: &Module,
    options: &ReadOptions,
    objection: &ValidationMessage,
) -> Option<&'static str> {
    let objections: Result<Vec<Option<ValidationMessage>>, ProgramError> = PERMITTING
        .iter()
        .map(|(_, set)| {
            let mut options = options.clone();
            set(&mut options.validator);
            validate(module, &options)
        })
        .collect();
    let objections = objections.ok()?;
    let valid = objections.iter().position(Option::is_none);
    let other = || objections.iter().position(|other| other.as_ref() != Some(objection));
    PERMITTING.get(valid.or_else(other)?).map(|(name, _)| *name)
}
