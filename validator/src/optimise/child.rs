//! The child's side of passes: the hidden subcommand [`SUBCOMMAND`].
//!
//! The child reads a frame with a module and flags from standard input. It writes a frame to standard output that
//! says how the optimiser ended and contains the resulting module. It repeats this until there are no more
//! frames. Modules are little-endian words. The child validates nothing: the parent validates before and after.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use spirv_tv_toolchain::{optimize, OptimizeError, OptimizeOptions, ProgramError};

use super::frame;

/// The name that the parent starts this program with.
pub const SUBCOMMAND: &str = "__optimise";

/// How a pass ended: the first byte of an answer.
pub(super) const DONE: u8 = 0;
/// The optimiser gave up, or the input is no module.
pub(super) const FAILED: u8 = 1;
/// The parent passed a flag that the optimiser refuses.
pub(super) const REFUSED: u8 = 2;
/// The optimiser's program could not be run, which says nothing of the optimiser.
pub(super) const NOT_RUN: u8 = 3;

/// Serves the subcommand if it is the first of `arguments` (without the program's name); `None` is any
/// other command line.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != SUBCOMMAND {
        return None;
    }
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    Some(match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Nothing is left to do where standard error is closed too.
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    })
}

/// An end that is no module: [`FAILED`], [`REFUSED`] or [`NOT_RUN`], and why.
struct Failure {
    end: u8,
    message: String,
}

fn run(arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let options = parse(arguments)?;
    let told = |error: io::Error| error.to_string();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    while let Some(request) = frame::read(&mut input).map_err(told)? {
        let (end, message, words) = match pass(&request, &options) {
            Ok(words) => (DONE, String::new(), to_bytes(&words)),
            Err(failure) => (failure.end, failure.message, Vec::new()),
        };
        frame::write(&mut output, &[&[end], message.as_bytes(), &words]).map_err(told)?;
    }
    Ok(())
}

/// Runs what a request asks for: a module, then flags.
fn pass(request: &[Vec<u8>], options: &OptimizeOptions) -> Result<Vec<u32>, Failure> {
    let failed = |message: String| Failure { end: FAILED, message };
    let (module, flags) = request.split_first().ok_or_else(|| failed("an empty request".to_owned()))?;
    let words = from_bytes(module).ok_or_else(|| failed("the input is no sequence of words".to_owned()))?;
    let flags: Vec<String> = flags.iter().map(|flag| String::from_utf8_lossy(flag).into_owned()).collect();
    let optimized = optimize(&words, &flags, options).map_err(|error| match error {
        OptimizeError::Flag { message } => Failure { end: REFUSED, message },
        OptimizeError::Run { message } => failed(message),
        OptimizeError::Program(error @ (ProgramError::Crashed { .. } | ProgramError::Output { .. })) => {
            failed(error.to_string())
        }
        OptimizeError::Program(error @ (ProgramError::Missing { .. } | ProgramError::Failed { .. })) => {
            Failure { end: NOT_RUN, message: error.to_string() }
        }
    })?;
    for message in &optimized.messages {
        // A remark that cannot be written is no reason to lose the module.
        let _ = writeln!(io::stderr(), "{message}");
    }
    Ok(optimized.words)
}

/// The arguments that make [`parse`] read these options again.
pub(super) fn arguments(options: &OptimizeOptions) -> Vec<String> {
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
    arguments
}

fn parse(arguments: impl Iterator<Item = String>) -> Result<OptimizeOptions, String> {
    let mut options = OptimizeOptions::default();
    for argument in arguments {
        match argument.split_once('=').unwrap_or((&argument, "")) {
            ("--target-env", name) => options.target_env = name.parse().map_err(|_| argument.clone())?,
            ("--max-id-bound", bound) => {
                options.max_id_bound = Some(bound.parse().map_err(|_| argument.clone())?);
            }
            ("--preserve-interface", "") => options.preserve_interface = true,
            ("--preserve-bindings", "") => options.preserve_bindings = true,
            ("--preserve-spec-constants", "") => options.preserve_spec_constants = true,
            _ => return Err(format!("unknown option {argument}")),
        }
    }
    Ok(options)
}

/// The words of a module as the bytes of a binary, little-endian.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The words of a little-endian binary; `None` where the last one is cut off.
pub fn from_bytes(bytes: &[u8]) -> Option<Vec<u32>> {
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
        assert_eq!(parse(arguments(&options).into_iter().skip(1)), Ok(options));
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
