//! What makes a module after: the bundled spirv-opt, or a program of the user.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use spirv_tv::optimise::process::DEFAULT_TIMEOUT;
use spirv_tv::optimise::{from_bytes, to_bytes, Optimiser, OptimiserFailure};
use spirv_tv_gate::program::{Limits, Program, ProgramFailure};

use crate::arguments::{parse_bytes, parse_limit, RUN};
use crate::{html, memory, CliError};

/// Which optimiser is run, and how.
#[derive(Debug, Args)]
pub struct OptimiserChoice {
    /// The optimiser instead of the bundled spirv-opt: a command with {in} and {out}, or one that is called as spirv-opt
    #[arg(long, value_name = "CMD", help_heading = RUN)]
    pub(crate) optimizer: Option<Program>,
    /// Another build of spirv-opt
    #[arg(long, value_name = "PATH", conflicts_with = "optimizer", help_heading = RUN)]
    pub(crate) spirv_opt: Option<PathBuf>,
    /// Time for the optimiser, each run
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "60", help_heading = RUN,
        hide_short_help = true)]
    pub(crate) optimizer_timeout: Duration,
    /// Memory for an optimiser that is not bundled, in bytes, or with K, M or G [default: a share of the machine's]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, help_heading = RUN, hide_short_help = true)]
    pub(crate) optimizer_memory: Option<u64>,
}

impl Default for OptimiserChoice {
    /// The bundled spirv-opt.
    fn default() -> Self {
        OptimiserChoice {
            optimizer: None,
            spirv_opt: None,
            optimizer_timeout: DEFAULT_TIMEOUT,
            optimizer_memory: None,
        }
    }
}

/// What optimises.
#[derive(Clone, Debug)]
pub(crate) enum Tool {
    /// The bundled spirv-opt.
    Bundled,
    /// A program of the user.
    Program(Program),
}

impl OptimiserChoice {
    /// What the options ask for.
    pub(crate) fn tool(&self) -> Result<Tool, CliError> {
        if let Some(program) = &self.optimizer {
            return Ok(Tool::Program(program.clone()));
        }
        let Some(path) = &self.spirv_opt else { return Ok(Tool::Bundled) };
        html::quoted(&path.to_string_lossy()).parse().map(Tool::Program).map_err(CliError::usage)
    }

    /// Memory for the optimiser, in bytes, where so many run at once.
    pub(crate) fn memory(&self, jobs: usize) -> u64 {
        let jobs = u64::try_from(jobs).unwrap_or(u64::MAX);
        // Address space, of which a program uses a part.
        self.optimizer_memory.unwrap_or_else(|| 2 * memory::share_of(jobs))
    }

    /// A program as what runs passes.
    pub(crate) fn external(&self, program: Program) -> Result<External, CliError> {
        let launcher = std::env::current_exe().map_err(CliError::Optimiser)?;
        Ok(External { program, launcher, memory: self.memory(1) })
    }
}

/// A program of the user, which runs passes.
pub(crate) struct External {
    pub(crate) program: Program,
    /// This program, which limits others.
    pub(crate) launcher: PathBuf,
    /// Memory for each run, in bytes.
    pub(crate) memory: u64,
}

impl External {
    /// The bytes that the program makes of a module.
    pub(crate) fn bytes(
        &self,
        words: &[u32],
        flags: &[String],
        timeout: Duration,
    ) -> Result<Vec<u8>, ProgramFailure> {
        let limits = Limits::new(timeout, self.memory);
        self.program.run(&self.launcher, &to_bytes(words), ".spv", flags, limits).map(|written| written.bytes)
    }
}

impl External {
    /// The modules behind each pass of a whole run, with the names of the passes, as spirv-opt's `--print-all` tells them.
    /// Empty where the program does not.
    pub(crate) fn dumps(
        &self,
        words: &[u32],
        flags: &[String],
        timeout: Duration,
    ) -> Vec<(String, Vec<u32>)> {
        let limits = Limits { said: DUMPS, ..Limits::new(timeout, self.memory) };
        let flags: Vec<String> = flags.iter().cloned().chain([PRINT_ALL.to_owned()]).collect();
        let Ok(written) = self.program.run(&self.launcher, &to_bytes(words), ".spv", &flags, limits) else {
            return Vec::new();
        };
        dumps(&written.said, words)
    }
}

/// The first word of a binary.
const MAGIC_NUMBER: u32 = 0x0723_0203;

/// Bytes of dumps that are kept.
const DUMPS: usize = 1 << 28;

/// The flag of spirv-opt that prints the module around each pass.
const PRINT_ALL: &str = "--print-all";

/// What stands in front of the module before a pass, and what in front of the last one.
const BEFORE_PASS: &str = "; IR before pass ";
const AFTER_LAST: &str = "; IR after last pass";

/// The modules in what `--print-all` prints. `first` is the first one, of whose version all are.
fn dumps(said: &str, first: &[u32]) -> Vec<(String, Vec<u32>)> {
    // The text of the module behind each heading, and the pass that the heading names.
    let mut parts: Vec<(&str, String)> = Vec::new();
    for line in said.lines() {
        match (line.strip_prefix(BEFORE_PASS), parts.last_mut()) {
            (Some(pass), _) => parts.push((pass.trim(), String::new())),
            (None, _) if line.starts_with(AFTER_LAST) => parts.push(("", String::new())),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    let passes = parts.iter().map(|(pass, _)| *pass);
    let behind = parts.iter().skip(1).map(|(_, text)| text);
    let mut all = Vec::new();
    for (pass, text) in passes.zip(behind) {
        let Ok(mut words) = spirv_tv_toolchain::assemble(text, None) else { return Vec::new() };
        if let (Some(version), Some(own)) = (first.get(1), words.get_mut(1)) {
            *own = *version;
        }
        all.push((pass.to_owned(), words));
    }
    all
}

impl Optimiser for External {
    fn run(
        &mut self,
        words: &[u32],
        flags: &[String],
        timeout: Duration,
    ) -> Result<Vec<u32>, OptimiserFailure> {
        let bytes = self.bytes(words, flags, timeout).map_err(failure)?;
        let no_module = || OptimiserFailure::Failed {
            message: format!("its output of {} bytes is no module", bytes.len()),
        };
        match from_bytes(&bytes).filter(|words| words.first() == Some(&MAGIC_NUMBER)) {
            Some(words) => Ok(words),
            // Text, as where the whole is run.
            None => std::str::from_utf8(&bytes)
                .ok()
                .and_then(|text| spirv_tv_toolchain::assemble(text, None).ok())
                .ok_or_else(no_module),
        }
    }
}

/// The failure of a program as that of a pass.
pub(crate) fn failure(failure: ProgramFailure) -> OptimiserFailure {
    let message = failure.to_string();
    match failure {
        ProgramFailure::Crashed { signal, said } => {
            OptimiserFailure::Crashed { signal: Some(signal), stderr: said }
        }
        ProgramFailure::Failed { .. } | ProgramFailure::NoOutput { .. } => {
            OptimiserFailure::Failed { message }
        }
        ProgramFailure::TimedOut { after } => OptimiserFailure::TimedOut { after },
        ProgramFailure::NotRun { why } => OptimiserFailure::NotRun { message: why },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_between_passes_are_read() {
        let module = |name: &str| {
            format!("OpCapability Shader\nOpMemoryModel Logical GLSL450\n%1 = OpString \"{name}\"\n")
        };
        let said = format!(
            "; IR before pass ccp\n{}\n; IR before pass merge-return\n{}\n; IR after last pass\n{}\n",
            module("a"),
            module("b"),
            module("c")
        );
        let words = |name: &str| spirv_tv_toolchain::assemble(&module(name), None).expect("it assembles");
        let expected = [("ccp".to_owned(), words("b")), ("merge-return".to_owned(), words("c"))];
        assert_eq!(dumps(&said, &words("a")), expected);
        assert!(dumps("nothing of the kind", &words("a")).is_empty());
    }
}
