//! spirv-as and spirv-dis.

use crate::diagnostic::Diagnostic;
use crate::program_error::ProgramError;
use crate::target_env::TargetEnv;
use crate::text::DisassembleOptions;
use crate::{message, process};

pub fn assemble(text: &str, env: TargetEnv) -> Result<Vec<u32>, Diagnostic> {
    let arguments = ["--preserve-numeric-ids", "--target-env", env.name(), "-o", "-", "-"].map(str::to_owned);
    let ended = process::run("spirv-as", &arguments, text.as_bytes())?;
    if !ended.success {
        return Err(message::of_text(&ended.messages));
    }
    Ok(process::to_words("spirv-as", &ended.output)?)
}

pub fn disassemble(words: &[u32], options: DisassembleOptions) -> Result<String, Diagnostic> {
    let mut arguments = vec!["--no-color".to_owned()];
    let mut add = |wanted: bool, flag: &str| {
        if wanted {
            arguments.push(flag.to_owned());
        }
    };
    add(!options.friendly_names, "--raw-id");
    add(!options.indent, "--no-indent");
    add(!options.header, "--no-header");
    add(options.comments, "--comment");
    add(true, "-");
    let ended = process::run("spirv-dis", &arguments, &process::to_bytes(words))?;
    if !ended.success {
        return Err(message::of_binary(&ended.messages));
    }
    String::from_utf8(ended.output)
        .map_err(|_| ProgramError::Output { program: "spirv-dis", expected: "text in UTF-8" }.into())
}
