//! The passes, and how they are run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use spirv_tv_toolchain::{optimize, OptimizeOptions};
use tempfile::TempDir;

/// `corpus/modules/passes.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passes {
    /// Flags of passes that change executable instructions, each with modules that it changes.
    pub changes: BTreeMap<String, Vec<String>>,
    /// Flags of those that change none, and why.
    pub none: BTreeMap<String, String>,
}

impl Passes {
    /// Reads the list.
    pub fn load(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The flags of passes that change executable instructions, with their arguments.
    pub fn changing(&self) -> Vec<String> {
        self.changes.keys().cloned().collect()
    }
}

/// The hidden command that runs the optimiser in a process of its own, since it may abort.
pub const OPTIMISE: &str = "--optimise";

/// Runs passes in children of this process.
pub struct Optimiser {
    scratch: TempDir,
    runs: AtomicUsize,
}

impl Optimiser {
    pub fn new() -> Self {
        Optimiser { scratch: tempfile::tempdir().unwrap(), runs: AtomicUsize::new(0) }
    }

    /// What the passes make of a module; None where one of them fails.
    pub fn run(&self, words: &[u32], flags: &[&str]) -> Option<Vec<u32>> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let path = |end: &str| self.scratch.path().join(format!("{run}.{end}"));
        let (input, output) = (path("in"), path("out"));
        write(&input, words);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(OPTIMISE).arg(&input).arg(&output).args(flags);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let is_done = command.status().unwrap().success();
        let result = is_done.then(|| std::fs::read(&output).ok())?;
        for path in [input, output] {
            _ = std::fs::remove_file(path);
        }
        Some(words_of(&result?))
    }
}

/// The child: optimises INPUT to OUTPUT.
pub fn child(input: &Path, output: &Path, flags: &[String]) {
    let words = words_of(&std::fs::read(input).unwrap());
    if let Ok(optimised) = optimize(&words, flags, &OptimizeOptions::default()) {
        write(output, &optimised.words);
    }
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| word.iter().rev().fold(0, |a, b| a << 8 | u32::from(*b))).collect()
}

/// Writes a module.
pub fn write(path: &Path, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(path, bytes).unwrap();
}
