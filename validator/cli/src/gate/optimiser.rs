//! What makes a module after: the bundled spirv-opt, or a program of the user.

use std::path::PathBuf;
use std::time::Duration;

use spirv_tv::optimise::{Optimiser, OptimiserFailure};
use spirv_tv_gate::program::{Limits, Program, ProgramFailure};

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
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let limits = Limits { time: timeout, memory: self.memory };
        self.program.run(&self.launcher, &bytes, ".spv", flags, limits).map(|written| written.bytes)
    }
}

impl Optimiser for External {
    fn run(
        &mut self,
        words: &[u32],
        flags: &[String],
        timeout: Duration,
    ) -> Result<Vec<u32>, OptimiserFailure> {
        let bytes = self.bytes(words, flags, timeout).map_err(failure)?;
        let no_words = || OptimiserFailure::Failed {
            message: format!("its output of {} bytes is no sequence of words", bytes.len()),
        };
        bytes
            .chunks(4)
            .map(|word| Some(u32::from_le_bytes(word.try_into().ok()?)))
            .collect::<Option<_>>()
            .ok_or_else(no_words)
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
