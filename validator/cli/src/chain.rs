//! `spirv-tv chain`: modules that a compiler wrote after each of its passes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use walkdir::WalkDir;

use super::arguments::{parse_limit, FAR, RUN, SHOW};
use super::opt::{self, Dump, OptArguments};
use super::optimiser::OptimiserChoice;
use super::{CliError, ComparisonArguments, OutputArguments};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::optimise::OptimiserArguments;

/// Options of `chain`.
#[derive(Debug, Args)]
pub struct ChainArguments {
    /// The module before, then the module after each pass, in order; or one folder of them, in the order of their names
    #[arg(value_name = "MODULE", required = true)]
    pub(crate) modules: Vec<PathBuf>,
    /// Compare each module with the one before it, instead of the first with the last and then by bisection
    #[arg(long, help_heading = RUN)]
    pub(crate) each: bool,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// Time for the check of each step
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, help_heading = FAR)]
    pub(crate) step_timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// Say how long each step took, and the whole
    #[arg(long, help_heading = SHOW)]
    pub(crate) time: bool,
}

/// What the names of dumps end with.
const EXTENSIONS: [&str; 2] = ["spv", "spvasm"];

pub(super) fn run(arguments: ChainArguments) -> Result<u8, CliError> {
    let paths = paths(&arguments.modules)?;
    let Some((first, others)) = paths.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(CliError::usage(
            "a chain has at least two modules: that before, and that after each pass",
        ));
    };
    // What a pass wrote is validated where the pass can be blamed for it.
    let read = ReadOptions { lenient: true, ..arguments.comparison.read.options() };
    let mut dumps = Vec::new();
    for path in others {
        let name = path.to_string_lossy();
        let label =
            path.file_name().map_or_else(|| name.to_string(), |name| name.to_string_lossy().into_owned());
        dumps.push(Dump { label, module: Module::load(&name, &read)? });
    }
    let ChainArguments { modules: _, each, comparison, step_timeout, output, time } = arguments;
    let arguments = OptArguments {
        modules: vec![first.to_string_lossy().into_owned()],
        keep_going: false,
        optimizer: OptimiserChoice::default(),
        pipeline: Vec::new(),
        comparison,
        ends: !each,
        step_timeout,
        output,
        time,
        output_file: None,
    };
    opt::run_steps(&arguments, &OptimiserArguments::default(), Some(&dumps))
}

/// The modules that the arguments name, in order.
fn paths(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    if let Some(missing) = given.iter().find(|path| !path.exists()) {
        return Err(CliError::usage(format!("{}: there is no such file or folder", missing.display())));
    }
    let [folder] = given else { return Ok(given.to_vec()) };
    if !folder.is_dir() {
        return Ok(given.to_vec());
    }
    let is_dump = |path: &Path| {
        path.extension().and_then(|extension| extension.to_str()).is_some_and(|end| EXTENSIONS.contains(&end))
    };
    let mut found = Vec::new();
    for entry in WalkDir::new(folder).max_depth(1) {
        let entry = entry.map_err(|error| CliError::File { path: folder.clone(), error: error.into() })?;
        if entry.file_type().is_file() && is_dump(entry.path()) {
            found.push(entry.into_path());
        }
    }
    found.sort_by_cached_key(|path| by_numbers(path));
    Ok(found)
}

/// A name as it is ordered: its numbers by their values, so that `pass-10` comes after `pass-9`.
fn by_numbers(path: &Path) -> Vec<(u128, String)> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut parts: Vec<(u128, String)> = Vec::new();
    let mut rest = name.as_str();
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        let text = behind.find(|letter: char| letter.is_ascii_digit()).unwrap_or(behind.len());
        let (text, behind) = behind.split_at(text);
        parts.push((number.parse().unwrap_or(0), text.to_owned()));
        rest = behind;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_their_values() {
        let mut names =
            ["pass-10.spv", "pass-9.spv", "pass-1.spv", "00.spv", "b.spv", "a.spv"].map(PathBuf::from);
        names.sort_by_cached_key(|path| by_numbers(path));
        let names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["00.spv", "a.spv", "b.spv", "pass-1.spv", "pass-9.spv", "pass-10.spv"]);
    }
}
