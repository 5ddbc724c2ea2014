//! spirv-opt: runs passes named by their command-line flags.

use crate::backend;
use crate::program_error::ProgramError;
use crate::target_env::TargetEnv;
use crate::validator::ValidatorOptions;

/// spirv-opt's options that are no passes, under its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptimizeOptions {
    /// `--target-env`.
    pub target_env: TargetEnv,
    /// Validate the input with these options first; `None` is `--skip-validation`. Passes rely on valid
    /// input: on other modules their assertions abort the process.
    pub validate: Option<ValidatorOptions>,
    /// `--preserve-interface`: the entry points' interface variables stay.
    pub preserve_interface: bool,
    /// `--preserve-bindings`: unused resources keep their bindings.
    pub preserve_bindings: bool,
    /// `--preserve-spec-constants`.
    pub preserve_spec_constants: bool,
    /// `--max-id-bound`.
    pub max_id_bound: Option<u32>,
}

/// What a successful run gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optimized {
    /// The resulting module, in the byte order of the host.
    pub words: Vec<u32>,
    /// The passes' remarks, warnings first to last.
    pub messages: Vec<String>,
}

/// Why a run gave no module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptimizeError {
    /// A flag is unknown, or its argument is wrong.
    #[error("{message}")]
    Flag {
        /// The optimiser's own words.
        message: String,
    },
    /// The input is invalid or a pass gave up.
    #[error("{message}")]
    Run {
        /// The messages of the validator or of the passes, one a line.
        message: String,
    },
    /// spirv-opt is missing, did not run to its end, or lacks what was asked for. This does not occur with
    /// the feature `bundled`.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// Runs the passes that `flags` name (`--ccp`, `--loop-unroll-partial=4`, `-O`), in order and in one
/// optimiser, as one call of spirv-opt does.
///
/// A failed assertion of the library aborts the process, and the flag `--loop-peeling-threshold` changes
/// the passes of the whole process from then on: run it in a child process.
///
/// # Errors
/// Wrong flags, input that the validator or the parser rejects, and passes that give up.
pub fn optimize(
    words: &[u32],
    flags: &[String],
    options: &OptimizeOptions,
) -> Result<Optimized, OptimizeError> {
    backend::optimize(words, flags, options)
}

/// Does the optimiser know this flag, and does it take its argument?
///
/// A valid `--loop-peeling-threshold` has its effect on the process (see [`optimize`]).
///
/// # Errors
/// [`OptimizeError::Flag`] with the optimiser's own words.
pub fn check_flag(flag: &str) -> Result<(), OptimizeError> {
    backend::check_flag(flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{assemble, disassemble};

    const UNUSED_CONSTANT: &str = "OpCapability Shader\n\
                                   OpMemoryModel Logical GLSL450\n\
                                   OpEntryPoint GLCompute %main \"main\"\n\
                                   OpExecutionMode %main LocalSize 1 1 1\n\
                                   %void = OpTypeVoid\n\
                                   %uint = OpTypeInt 32 0\n\
                                   %unused = OpConstant %uint 7\n\
                                   %signature = OpTypeFunction %void\n\
                                   %main = OpFunction %void None %signature\n\
                                   %entry = OpLabel\n\
                                   OpReturn\n\
                                   OpFunctionEnd\n";

    fn run(text: &str, flags: &[&str], options: &OptimizeOptions) -> Result<Optimized, OptimizeError> {
        let words = assemble(text, Some(TargetEnv::Universal1_3)).unwrap();
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        optimize(&words, &flags, options)
    }

    fn validated() -> OptimizeOptions {
        OptimizeOptions { validate: Some(ValidatorOptions::default()), ..OptimizeOptions::default() }
    }

    #[test]
    fn passes_run_in_order() {
        let optimized = run(UNUSED_CONSTANT, &["--eliminate-dead-const"], &validated()).unwrap();
        let text = disassemble(&optimized.words).unwrap();
        assert!(!text.contains("OpConstant"), "{text}");
        let twice = run(UNUSED_CONSTANT, &["--strip-debug", "--eliminate-dead-const"], &validated()).unwrap();
        assert_eq!(twice.words, optimized.words);
    }

    #[test]
    fn no_pass_changes_nothing() {
        let words = assemble(UNUSED_CONSTANT, None).unwrap();
        assert_eq!(optimize(&words, &[], &validated()).unwrap().words, words);
    }

    #[test]
    fn wrong_flags_are_told_apart_from_failed_runs() {
        for (flag, part) in [
            ("--nonsense", "nonsense"),
            ("ccp", "ccp"),
            ("--loop-fission=0", "positive"),
            ("--c\0cp", "null"),
        ] {
            let error = run(UNUSED_CONSTANT, &[flag], &validated()).unwrap_err();
            assert!(matches!(&error, OptimizeError::Flag { message } if message.contains(part)), "{error:?}");
            assert_eq!(check_flag(flag).unwrap_err(), error);
        }
        assert_eq!(check_flag("--ccp"), Ok(()));
        let invalid = UNUSED_CONSTANT.replace("OpReturn\n", "%value = OpLoad %uint %main\nOpReturn\n");
        let error = run(&invalid, &["--ccp"], &validated()).unwrap_err();
        assert!(matches!(&error, OptimizeError::Run { message } if message.contains("OpLoad")), "{error:?}");
    }

    #[test]
    fn messages_of_one_run_do_not_reach_the_next() {
        assert!(run(UNUSED_CONSTANT, &["--nonsense"], &validated()).is_err());
        assert_eq!(run(UNUSED_CONSTANT, &["--ccp"], &validated()).unwrap().messages, Vec::<String>::new());
    }

    #[test]
    fn validator_options_reach_the_optimiser() {
        let without_size = UNUSED_CONSTANT.replace("OpExecutionMode %main LocalSize 1 1 1\n", "");
        let vulkan = OptimizeOptions {
            target_env: TargetEnv::Vulkan1_1,
            validate: Some(ValidatorOptions::for_env(TargetEnv::Vulkan1_1)),
            ..OptimizeOptions::default()
        };
        assert!(run(&without_size, &["--ccp"], &vulkan).is_err());
        assert!(run(&without_size, &["--ccp"], &OptimizeOptions { validate: None, ..vulkan }).is_ok());
    }
}
