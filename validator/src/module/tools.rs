//! SPIRV-Tools as the front end uses it.

use spirv_tv_toolchain::{Position, TargetEnv, ValidatorOptions};

use super::error::{ReadError, ValidationMessage};
use super::Module;

/// How to read modules.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Go on where only the validator objects.
    pub lenient: bool,
    /// The environment to assemble for; `None` takes the version that a text names in its header
    /// comment, and else the newest.
    pub assemble_env: Option<TargetEnv>,
    /// The validator's options, its target environment among them.
    pub validator: ValidatorOptions,
}

impl ReadOptions {
    /// Assembles and validates for this environment (`--target-env`).
    pub fn for_env(target_env: TargetEnv) -> Self {
        ReadOptions {
            lenient: false,
            assemble_env: Some(target_env),
            validator: ValidatorOptions::for_env(target_env),
        }
    }
}

pub(super) fn assemble(text: &str, file: &str, options: &ReadOptions) -> Result<Vec<u32>, ReadError> {
    spirv_tv_toolchain::assemble(text, options.assemble_env).map_err(|diagnostic| match diagnostic.position {
        Position::Text { line, column } => ReadError::Assemble {
            file: file.to_owned(),
            line: u32::try_from(line).unwrap_or(0),
            column: u32::try_from(column).unwrap_or(0),
            message: diagnostic.message,
        },
        Position::Unknown | Position::Instruction(_) => {
            ReadError::NotSpirv { file: file.to_owned(), why: diagnostic.message }
        }
    })
}

pub(super) fn disassemble(words: &[u32], file: &str) -> Result<String, ReadError> {
    spirv_tv_toolchain::disassemble(words)
        .map_err(|diagnostic| ReadError::Malformed { file: file.to_owned(), message: diagnostic.to_string() })
}

/// The validator's objection, if any.
pub(super) fn validate(module: &Module, options: &ReadOptions) -> Option<ValidationMessage> {
    let diagnostic = spirv_tv_toolchain::validate(&module.words, &options.validator).err()?;
    let index = diagnostic.instruction().and_then(|number| number.checked_sub(1));
    Some(ValidationMessage { line: index.map_or(0, |index| module.line(index)), message: diagnostic.message })
}
