//! Runs one program with its input and output in pipes.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program_error::ProgramError;

/// How a program ended that was not ended by a signal.
pub struct Ended {
    pub success: bool,
    #[cfg_attr(feature = "bundled", expect(dead_code, reason = "the program that is run then writes none"))]
    pub output: Vec<u8>,
    /// Standard error without trailing white space.
    pub messages: String,
}

/// Runs a program of the `PATH`.
#[cfg(not(feature = "bundled"))]
pub fn run(program: &'static str, arguments: &[String], input: &[u8]) -> Result<Ended, ProgramError> {
    run_at(Path::new(program), program, arguments, input)
}

/// Runs the program at a path; messages call it `program`.
pub fn run_at(
    path: &Path,
    program: &'static str,
    arguments: &[String],
    input: &[u8],
) -> Result<Ended, ProgramError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => ProgramError::Missing { program },
        _ => ProgramError::Failed { program, message: error.to_string() },
    };
    let mut child = Command::new(path)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            if let Some(mut stdin) = stdin {
                // A program that ends before it has read everything says why itself.
                let _ = stdin.write_all(input);
            }
        });
        child.wait_with_output()
    })
    .map_err(failed)?;
    let messages = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    if output.status.code().is_none() {
        return Err(ProgramError::Crashed { program, status: output.status.to_string(), message: messages });
    }
    Ok(Ended { success: output.status.success(), output: output.stdout, messages })
}

/// Words as bytes in the byte order of the host.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The module that a program wrote.
#[cfg(not(feature = "bundled"))]
pub fn to_words(program: &'static str, bytes: &[u8]) -> Result<Vec<u32>, ProgramError> {
    let (words, rest) = bytes.as_chunks::<4>();
    if words.is_empty() || !rest.is_empty() {
        return Err(ProgramError::Output { program, expected: "module" });
    }
    Ok(words.iter().map(|&word| u32::from_ne_bytes(word)).collect())
}
