//! spirv-opt.

use crate::optimizer::{OptimizeError, OptimizeOptions, Optimized};
use crate::passes::find_pass;
use crate::process;
use crate::program_error::ProgramError;
use crate::validator_program::validate;

const SPIRV_OPT: &str = "spirv-opt";

/// A module on which every pass runs: only its flag can be wrong.
const SHORTEST: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n";

pub fn optimize(
    words: &[u32],
    flags: &[String],
    options: &OptimizeOptions,
) -> Result<Optimized, OptimizeError> {
    for flag in flags {
        check_name(flag)?;
    }
    if let Some(validator) = &options.validate {
        // spirv-opt does not have every option of spirv-val.
        validate(words, validator).map_err(|diagnostic| match diagnostic.program {
            Some(error) => OptimizeError::Program(error),
            None => OptimizeError::Run { message: diagnostic.to_string() },
        })?;
    }
    let ended = run(words, flags, options)?;
    if ended.success {
        let words = process::to_words(SPIRV_OPT, &ended.output)?;
        return Ok(Optimized { words, messages: ended.messages.lines().map(str::to_owned).collect() });
    }
    // The program ends alike for a wrong flag and for a pass that gives up.
    for flag in flags {
        check_flag(flag)?;
    }
    Err(OptimizeError::Run { message: ended.messages })
}

pub fn check_flag(flag: &str) -> Result<(), OptimizeError> {
    check_name(flag)?;
    let words = super::assemble(SHORTEST, Default::default())
        .map_err(|diagnostic| OptimizeError::Run { message: diagnostic.to_string() })?;
    let ended = run(&words, &[flag.to_owned()], &OptimizeOptions::default())?;
    if ended.success {
        Ok(())
    } else {
        Err(OptimizeError::Flag { message: ended.messages })
    }
}

/// The program takes other options than passes, such as `-o`; they must not reach it as flags.
fn check_name(flag: &str) -> Result<(), OptimizeError> {
    if flag.contains('\0') {
        return Err(OptimizeError::Flag { message: format!("the flag {flag:?} contains a null character") });
    }
    match find_pass(flag) {
        Some(_) => Ok(()),
        None => Err(OptimizeError::Flag { message: format!("spirv-opt has no pass `{flag}`") }),
    }
}

fn run(words: &[u32], flags: &[String], options: &OptimizeOptions) -> Result<process::Ended, ProgramError> {
    let mut arguments = vec![format!("--target-env={}", options.target_env), "--skip-validation".to_owned()];
    if options.preserve_interface {
        arguments.push("--preserve-interface".to_owned());
    }
    if options.preserve_bindings {
        arguments.push("--preserve-bindings".to_owned());
    }
    if options.preserve_spec_constants {
        arguments.push("--preserve-spec-constants".to_owned());
    }
    if let Some(bound) = options.max_id_bound {
        arguments.push(format!("--max-id-bound={bound}"));
    }
    arguments.extend_from_slice(flags);
    arguments.extend(["-o", "-", "-"].map(str::to_owned));
    process::run(SPIRV_OPT, &arguments, &process::to_bytes(words))
}
