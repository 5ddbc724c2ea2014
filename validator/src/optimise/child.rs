//! The child's side of a pass: the hidden subcommand [`SUBCOMMAND`].
//!
//! The module comes in on standard input and goes out on standard output, as little-endian words;
//! messages go to standard error. It validates nothing: the parent did, and does again.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use spirv_tv_toolchain::{optimize, OptimizeError, OptimizeOptions};

/// The name that the parent starts this program with.
pub const SUBCOMMAND: &str = "__optimise";

/// The optimiser gave up, or the input is no module.
pub(super) const EXIT_FAILED: u8 = 1;
/// The parent passed a flag that the optimiser refuses.
pub(super) const EXIT_FLAG: u8 = 2;

/// Serves the subcommand if it is the first of `arguments` (without the program's name); `None` is any
/// other command line.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != SUBCOMMAND {
        return None;
    }
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    Some(match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nothing is left to do where standard error is closed too.
            let _ = writeln!(io::stderr(), "{}", failure.message);
            ExitCode::from(failure.code)
        }
    })
}

struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn failed(message: impl Display) -> Self {
        Failure { code: EXIT_FAILED, message: message.to_string() }
    }

    fn flag(message: impl Display) -> Self {
        Failure { code: EXIT_FLAG, message: message.to_string() }
    }
}

fn run(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let (options, flags) = parse(arguments)?;
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(Failure::failed)?;
    let words = from_bytes(&bytes).ok_or_else(|| Failure::failed("the input is no sequence of words"))?;
    let optimized = optimize(&words, &flags, &options).map_err(|error| match error {
        OptimizeError::Flag { message } => Failure::flag(message),
        OptimizeError::Run { message } => Failure::failed(message),
    })?;
    for message in &optimized.messages {
        // A remark that cannot be written is no reason to lose the module.
        let _ = writeln!(io::stderr(), "{message}");
    }
    io::stdout().write_all(&to_bytes(&optimized.words)).map_err(Failure::failed)
}

/// The arguments that make [`parse`] read these options and flags again.
pub(super) fn arguments(options: &OptimizeOptions, flags: &[String]) -> Vec<String> {
    let mut arguments = vec![SUBCOMMAND.to_owned(), format!("--target-env={}", options.target_env)];
    for (set, name) in [
        (options.preserve_interface, "--preserve-interface"),
        (options.preserve_bindings, "--preserve-bindings"),
        (options.preserve_spec_constants, "--preserve-spec-constants"),
    ] {
        if set {
            arguments.push(name.to_owned());
        }
    }
    arguments.extend(options.max_id_bound.map(|bound| format!("--max-id-bound={bound}")));
    arguments.push("--".to_owned());
    arguments.extend_from_slice(flags);
    arguments
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<(OptimizeOptions, Vec<String>), Failure> {
    let mut options = OptimizeOptions::default();
    for argument in arguments.by_ref() {
        match argument.split_once('=').unwrap_or((&argument, "")) {
            ("--", "") => break,
            ("--target-env", name) => options.target_env = name.parse().map_err(Failure::flag)?,
            ("--max-id-bound", bound) => {
                options.max_id_bound = Some(bound.parse().map_err(Failure::flag)?);
            }
            ("--preserve-interface", "") => options.preserve_interface = true,
            ("--preserve-bindings", "") => options.preserve_bindings = true,
            ("--preserve-spec-constants", "") => options.preserve_spec_constants = true,
            _ => return Err(Failure::flag(format!("unknown option {argument}"))),
        }
    }
    Ok((options, arguments.collect()))
}

/// Words as bytes of a binary.
pub(super) fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The words of a binary; `None` where a word is cut.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<Vec<u32>> {
    let words = bytes.chunks(4).map(|word| word.try_into().ok().map(u32::from_le_bytes));
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirv_tv_toolchain::TargetEnv;

    #[test]
    fn arguments_survive_the_way_to_the_child() {
        let options = OptimizeOptions {
            target_env: TargetEnv::Vulkan1_1Spirv1_4,
            preserve_interface: true,
            preserve_spec_constants: true,
            max_id_bound: Some(77),
            ..OptimizeOptions::default()
        };
        let flags = vec!["--set-spec-const-default-value=1:2 3:4".to_owned(), "--ccp".to_owned()];
        let sent = arguments(&options, &flags);
        let Ok((read_options, read_flags)) = parse(sent.into_iter().skip(1)) else { panic!("refused") };
        assert_eq!((read_options, read_flags), (options, flags));
    }

    #[test]
    fn other_command_lines_are_left_alone() {
        assert!(serve(["check", "a", "b"].map(OsString::from).into_iter()).is_none());
        assert!(serve(std::iter::empty()).is_none());
    }

    #[test]
    fn words_and_bytes() {
        assert_eq!(from_bytes(&to_bytes(&[1, 0xdead_beef])), Some(vec![1, 0xdead_beef]));
        assert_eq!(from_bytes(&[1, 2, 3]), None);
    }
}
