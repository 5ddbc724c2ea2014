//! What tests over the corpus share.

use std::path::{Path, PathBuf};

use clap::Parser;
use serde::de::DeserializeOwned;
use spirv_tv::check::{check, CheckOptions, CheckReport, Watch};
use spirv_tv::cli::CheckArguments;
use spirv_tv::module::{Module, ReadOptions};

/// A file or folder of the corpus.
pub fn corpus(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(path)
}

/// What is in a folder of the corpus, sorted.
pub fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = corpus(folder);
    let listing = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listing.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Reads a TOML file.
pub fn toml<T: DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How a pair is read and checked, as arguments of the command line say.
pub struct Checker {
    pub read: ReadOptions,
    pub options: CheckOptions,
}

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    check: CheckArguments,
}

impl Checker {
    /// The options that `spirv-tv check BEFORE AFTER args…` has, on one thread: tests run many checks at once.
    pub fn new(args: &[String]) -> Self {
        let line = ["check", "BEFORE", "AFTER"].into_iter().chain(args.iter().map(String::as_str));
        let arguments = CommandLine::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).check;
        let mut options = arguments.options().unwrap_or_else(|error| panic!("{error}"));
        options.bounds.jobs = 1;
        Checker { read: arguments.read.options(), options }
    }

    /// Reads a module of the corpus.
    pub fn module(&self, path: &Path) -> Module {
        let name = path.to_string_lossy();
        Module::load(&name, &self.read).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads a module that was made from one of the corpus.
    pub fn made(&self, words: Vec<u32>, name: &str) -> Module {
        Module::from_words(words, name, &self.read).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Checks a pair.
    pub fn check(&self, before: &Module, after: &Module) -> CheckReport {
        let report = check(before, after, &self.options, &Watch::default());
        report.unwrap_or_else(|error| panic!("{} and {}: {error}", before.name, after.name))
    }
}
