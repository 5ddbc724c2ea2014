//! SPIRV-Tools as the front end uses it.

use spirv_tools::assembler::{Assembler, AssemblerOptions, DisassembleOptions};
use spirv_tools::val::{Validator, ValidatorOptions};
use spirv_tools::TargetEnv;

use super::error::{ReadError, ValidationMessage};
use super::Module;

/// How to read modules.
#[derive(Clone, Default)]
pub struct ReadOptions {
    /// Go on where only the validator objects.
    pub lenient: bool,
    /// The environment to assemble and validate for; `None` takes the version that a text names
    /// in its header comment, and else the newest.
    pub target_env: Option<TargetEnv>,
    /// The validator's own options.
    pub validator: ValidatorOptions,
}

const NEWEST: TargetEnv = TargetEnv::Universal_1_6;

pub(super) fn assemble(text: &str, file: &str, options: &ReadOptions) -> Result<Vec<u32>, ReadError> {
    let environment = options.target_env.or_else(|| version_comment(text)).unwrap_or(NEWEST);
    let assembler = spirv_tools::assembler::create(Some(environment));
    match assembler.assemble(text, AssemblerOptions { preserve_numeric_ids: true }) {
        Ok(binary) => Ok(binary.as_words().to_vec()),
        Err(error) => Err(match error.diagnostic {
            Some(diagnostic) => ReadError::Assemble {
                file: file.to_owned(),
                line: u32::try_from(diagnostic.line + 1).unwrap_or(0),
                column: u32::try_from(diagnostic.column + 1).unwrap_or(0),
                message: diagnostic.message,
            },
            None => ReadError::NotSpirv { file: file.to_owned(), why: "it does not assemble".to_owned() },
        }),
    }
}

pub(super) fn disassemble(words: &[u32], file: &str) -> Result<String, ReadError> {
    let malformed = |message: String| ReadError::Malformed { file: file.to_owned(), message };
    let assembler = spirv_tools::assembler::create(Some(NEWEST));
    match assembler.disassemble(words, DisassembleOptions { comment: false, ..Default::default() }) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(malformed("it does not disassemble".to_owned())),
        Err(error) => Err(malformed(match error.diagnostic {
            Some(diagnostic) => diagnostic.message,
            None => "it does not disassemble".to_owned(),
        })),
    }
}

/// The validator's objection, if any.
pub(super) fn validate(module: &Module, options: &ReadOptions) -> Option<ValidationMessage> {
    let validator = spirv_tools::val::create(Some(options.target_env.unwrap_or(NEWEST)));
    let error = validator.validate(&module.words, Some(options.validator.clone())).err()?;
    Some(match error.diagnostic {
        Some(diagnostic) => ValidationMessage {
            // The validator counts instructions from 1.
            line: diagnostic.index.checked_sub(1).map_or(0, |index| module.line(index)),
            message: diagnostic.message,
        },
        None => ValidationMessage { line: 0, message: "the module is invalid".to_owned() },
    })
}

/// The version in the header comment that the disassembler writes: `; Version: 1.3`.
fn version_comment(text: &str) -> Option<TargetEnv> {
    let header = text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with(';'));
    for line in header {
        let Some(version) = line.trim_start_matches(';').trim().strip_prefix("Version:") else { continue };
        return match version.trim() {
            "1.0" => Some(TargetEnv::Universal_1_0),
            "1.1" => Some(TargetEnv::Universal_1_1),
            "1.2" => Some(TargetEnv::Universal_1_2),
            "1.3" => Some(TargetEnv::Universal_1_3),
            "1.4" => Some(TargetEnv::Universal_1_4),
            "1.5" => Some(TargetEnv::Universal_1_5),
            _ => None,
        };
    }
    None
}
