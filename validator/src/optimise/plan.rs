//! Turns spirv-opt's command line into single passes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use spirv_tv_toolchain::check_flag;
use spirv_tv_toolchain::passes::{find_pass, preset, Argument, Pass};

use crate::files;

/// What a command line says to spirv-opt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptimiserArguments {
    /// Flags of passes and presets in order, arguments joined with `=`.
    pub passes: Vec<String>,
    /// Whether `--preserve-interface` is given.
    pub preserve_interface: bool,
    /// Whether `--preserve-bindings` is given.
    pub preserve_bindings: bool,
    /// Whether `--preserve-spec-constants` is given.
    pub preserve_spec_constants: bool,
}

/// A command line that spirv-opt would refuse.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A pass stands without the argument that it needs.
    #[error("{flag} needs an argument: {flag}={placeholder}")]
    MissingArgument {
        /// The flag.
        flag: String,
        /// What the argument is, in a word.
        placeholder: &'static str,
    },
    /// The optimiser refuses a flag or its argument.
    #[error("{flag}: {message}")]
    Refused {
        /// The flag with its argument.
        flag: String,
        /// What the optimiser says.
        message: String,
    },
    /// A flag begins as a preset does and is none.
    #[error("{flag} is no flag of spirv-opt: there are -O (speed), -Os (size) and -Oconfig=FILE (flags from a file)")]
    UnknownPreset {
        /// The flag.
        flag: String,
    },
    /// A file of flags that cannot be read.
    #[error("cannot read the flags in {}: {error}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file of flags has a word that is no flag.
    #[error("{}: `{token}` is no pass of spirv-opt", path.display())]
    ConfigToken {
        /// The file.
        path: PathBuf,
        /// The word.
        token: String,
    },
}

/// Takes what is spirv-opt's out of a command line: passes with their arguments (after `=` or, where
/// spirv-opt takes them so, as the next word), presets, `-Oconfig=FILE`, and the `--preserve-…` options.
/// The rest comes back in order, for the caller's own parser. Everything after `--` is left alone.
///
/// # Errors
/// An argument that is missing or that the optimiser refuses, and files of flags that cannot be read.
pub fn take_optimiser_arguments(
    arguments: Vec<OsString>,
) -> Result<(OptimiserArguments, Vec<OsString>), PlanError> {
    let mut taken = OptimiserArguments::default();
    let mut rest = Vec::new();
    let mut words = arguments.into_iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--") => {
                rest.push(word);
                rest.extend(words.by_ref());
            }
            Some("--preserve-interface") => taken.preserve_interface = true,
            Some("--preserve-bindings") => taken.preserve_bindings = true,
            Some("--preserve-spec-constants") => taken.preserve_spec_constants = true,
            Some(text) => {
                if let Some(path) = text.strip_prefix("-Oconfig=") {
                    taken.passes.extend(read_config(Path::new(path))?);
                } else if let Some(pass) = find_pass(text) {
                    let flag = text.to_owned();
                    let mut following = words.by_ref().map(|word| word.to_string_lossy().into_owned());
                    taken.passes.push(with_argument(pass, flag, &mut following)?);
                } else if text.starts_with("-O") {
                    return Err(PlanError::UnknownPreset { flag: text.to_owned() });
                } else {
                    rest.push(word);
                }
            }
            None => rest.push(word),
        }
    }
    Ok((taken, rest))
}

/// The flag with its argument joined, accepted by the optimiser.
fn with_argument(
    pass: &Pass,
    word: String,
    following: &mut impl Iterator<Item = String>,
) -> Result<String, PlanError> {
    let flag = match pass.argument {
        Argument::Required { placeholder, separate, .. } if !word.contains('=') => {
            let argument = if separate { following.next() } else { None };
            match argument {
                Some(argument) => format!("{word}={argument}"),
                None => return Err(PlanError::MissingArgument { flag: word, placeholder }),
            }
        }
        Argument::None | Argument::Optional { .. } | Argument::Required { .. } => word,
    };
    check_flag(&flag)
        .map_err(|error| PlanError::Refused { flag: flag.clone(), message: error.to_string() })?;
    Ok(flag)
}

/// The flags in a file for `-Oconfig=`: separated by white space, lines that begin with `#` are comments.
fn read_config(path: &Path) -> Result<Vec<String>, PlanError> {
    let text = files::read_text(path).map_err(|error| PlanError::Config { path: path.to_owned(), error })?;
    let mut tokens = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(str::split_whitespace)
        .map(str::to_owned);
    let mut flags = Vec::new();
    while let Some(token) = tokens.next() {
        match find_pass(&token) {
            Some(pass) => flags.push(with_argument(pass, token, &mut tokens)?),
            None => return Err(PlanError::ConfigToken { path: path.to_owned(), token }),
        }
    }
    Ok(flags)
}

/// One step of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPass {
    /// What reports call it: the flag with its argument.
    pub label: String,
    /// The flags of the optimiser run.
    pub flags: Vec<String>,
    /// Its result is in the midst of HLSL legalisation, so it may still be illegal.
    pub legalizing: bool,
}

impl PlannedPass {
    fn single(flag: &str) -> Self {
        PlannedPass { label: flag.to_owned(), flags: vec![flag.to_owned()], legalizing: false }
    }
}

const PEELING: &str = "--loop-peeling";
const PEELING_THRESHOLD: &str = "--loop-peeling-threshold=";

/// The steps that `passes` stand for on this module, presets expanded.
///
/// `--loop-peeling-threshold` is no step. As in spirv-opt the last one holds for every `--loop-peeling`,
/// those before it too.
pub fn plan(passes: &[String], words: &[u32]) -> Vec<PlannedPass> {
    let threshold = passes.iter().rfind(|flag| flag.starts_with(PEELING_THRESHOLD));
    let mut steps = Vec::new();
    for flag in passes.iter().filter(|flag| !flag.starts_with(PEELING_THRESHOLD)) {
        match preset(flag) {
            Some(preset) if preset.covers(words) => {
                let legalizing = preset.flag == "--legalize-hlsl";
                steps.extend(
                    preset.passes.iter().map(|&pass| PlannedPass { legalizing, ..PlannedPass::single(pass) }),
                );
                if let Some(last) = steps.last_mut() {
                    last.legalizing = false;
                }
            }
            Some(_) | None => {
                let mut step = PlannedPass::single(flag);
                if flag == PEELING {
                    step.flags.splice(0..0, threshold.cloned());
                }
                steps.push(step);
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(words: &[&str]) -> Result<(OptimiserArguments, Vec<OsString>), PlanError> {
        take_optimiser_arguments(words.iter().map(OsString::from).collect())
    }

    fn labels(passes: &[&str]) -> Vec<String> {
        let passes: Vec<String> = passes.iter().map(|&flag| flag.to_owned()).collect();
        plan(&passes, &[]).into_iter().map(|step| step.label).collect()
    }

    #[test]
    fn passes_are_taken_and_the_rest_is_left_in_order() {
        let (taken, rest) = take(&[
            "in.spv",
            "--ccp",
            "--workgroups",
            "2",
            "--loop-fission",
            "4",
            "--preserve-bindings",
            "--loop-unroll-partial=3",
            "-o",
            "out.spv",
            "-O",
            "--",
            "--ccp",
        ])
        .unwrap();
        assert_eq!(taken.passes, ["--ccp", "--loop-fission=4", "--loop-unroll-partial=3", "-O"]);
        assert!(taken.preserve_bindings && !taken.preserve_interface);
        assert_eq!(rest, ["in.spv", "--workgroups", "2", "-o", "out.spv", "--", "--ccp"]);
    }

    #[test]
    fn wrong_arguments_are_refused_with_the_optimisers_words() {
        assert!(matches!(take(&["--loop-fission"]), Err(PlanError::MissingArgument { .. })));
        assert!(matches!(take(&["--struct-packing", "x:y"]), Err(PlanError::MissingArgument { .. })));
        let error = take(&["--loop-fission=no"]).unwrap_err().to_string();
        assert!(error.contains("positive integer"), "{error}");
    }

    #[test]
    fn other_levels_are_answered_with_those_that_exist() {
        for flag in ["-O0", "-O1", "-O3", "-Ofast", "-Oz"] {
            let error = take(&["in.spv", flag]).unwrap_err().to_string();
            assert!(error.starts_with(flag) && error.contains("-O (speed), -Os (size)"), "{error}");
        }
    }

    #[test]
    fn flags_come_from_files_too() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "# a comment\n--ccp --loop-fission 2\n  --merge-blocks\n").unwrap();
        let option = format!("-Oconfig={}", file.path().display());
        assert_eq!(take(&[&option]).unwrap().0.passes, ["--ccp", "--loop-fission=2", "--merge-blocks"]);
        std::fs::write(&file, "--nonsense").unwrap();
        assert!(matches!(take(&[&option]), Err(PlanError::ConfigToken { .. })));
        assert!(matches!(take(&["-Oconfig=/nowhere/flags"]), Err(PlanError::Config { .. })));
    }

    #[test]
    fn presets_are_expanded() {
        let steps = labels(&["--ccp", "-Os"]);
        assert_eq!(steps.first().map(String::as_str), Some("--ccp"));
        assert_eq!(steps.last().map(String::as_str), Some("--cfg-cleanup"));
        assert_eq!(steps.len(), 34);
    }

    #[test]
    fn only_the_last_pass_of_legalisation_must_leave_a_legal_module() {
        let steps = plan(&["--legalize-hlsl".to_owned(), "--ccp".to_owned()], &[]);
        let lenient: Vec<bool> = steps.iter().map(|step| step.legalizing).collect();
        let (last, before) = lenient[..lenient.len() - 1].split_last().unwrap();
        assert!(!last && before.iter().all(|&legalizing| legalizing) && !before.is_empty());
        assert_eq!(lenient.last(), Some(&false));
    }

    #[test]
    fn the_last_threshold_holds_for_every_peeling() {
        let passes = ["--loop-peeling", "--loop-peeling-threshold=5", "--loop-peeling-threshold=7"];
        let steps = plan(&passes.map(str::to_owned), &[]);
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].flags, ["--loop-peeling-threshold=7", "--loop-peeling"]);
        assert_eq!(steps[0].label, "--loop-peeling");
    }
}
