//! A module of the corpus, and how it is checked.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use clap::Parser;
use serde::Deserialize;
use serde_json::Value;
use spirv_tv::check::{check, CheckOptions, Watch};
use spirv_tv::module::{Module, ReadError, ReadOptions};
use spirv_tv::report::json;
use spirv_tv_cli::CheckArguments;
use spirv_tv_mutators as mutators;

use crate::table::{FLAGGED, HOLLOW};

/// The pass that clamps indices.
const ROBUST: &str = "--graphics-robust-access";

/// How its result is judged: nothing may be out of bounds then. It changes no arithmetic on floats.
const ROBUSTLY: [&str; 6] =
    ["--out-of-bounds", "robust", "--after-out-of-bounds", "undefined", "--float", "exact"];

/// How long a check may take.
const LONGEST: Duration = Duration::from_secs(20);

/// A module and its launch.
pub struct Subject {
    pub name: String,
    pub module: Module,
    /// Whether its launch has one invocation.
    pub is_alone: bool,
    read: ReadOptions,
    options: CheckOptions,
    /// How a pass that clamps indices is judged: with shorter buffers, so that accesses are out of bounds.
    robust: Vec<CheckOptions>,
}

/// What a check says.
pub struct Finding {
    pub verdict: String,
    /// The kind of violation, or the first reason why nothing is decided.
    pub reason: String,
}

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    check: CheckArguments,
}

impl Subject {
    /// All modules of a folder, by name.
    pub fn all(folder: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_text = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "spvasm");
        let mut paths: Vec<_> = entries.filter(is_text).collect();
        paths.sort();
        paths.iter().map(|path| Subject::load(path)).collect()
    }

    fn load(path: &Path) -> Self {
        let file = path.with_extension("toml");
        let launch = file.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let size: Size = toml::from_str(&text).unwrap_or_else(|error| panic!("{launch}: {error}"));
        let given = arguments(&["--launch", &launch]);
        let read = given.read_options();
        let module = Module::load(&path.to_string_lossy(), &read).unwrap_or_else(|error| panic!("{error}"));
        let is_alone = size.workgroups.iter().flatten().product::<u32>() == 1
            && (module.text.as_str().contains(" LocalSize 1 1 1")
                || module.text.as_str().contains("OpEntryPoint Fragment"));
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // The disassembler's text, so that literals are written as in the results of passes.
        let module = Module::from_words(module.words, &name, &read).unwrap();
        let shortened = |races: &str, shorten: fn(&str) -> String| {
            let short =
                size.buffer.iter().map(|(target, spec)| format!("--buffer={target}={}", shorten(spec)));
            let short: Vec<String> = short.collect();
            let clamped = ["--launch", &launch, "--races", races].into_iter().chain(ROBUSTLY);
            options(&arguments(&clamped.chain(short.iter().map(String::as_str)).collect::<Vec<_>>()))
        };
        let lengths: [fn(&str) -> String; 2] = [one_word, half];
        // Invocations whose indices are clamped to one word race there, so that everything is allowed: such races are kept.
        let both = |races| lengths.map(|shorten| shortened(races, shorten));
        let robust = ["undefined", "keep"].into_iter().flat_map(both).collect();
        Subject { name, module, is_alone, read, options: options(&given), robust }
    }

    /// A module that was made from it.
    pub fn made(&self, words: Vec<u32>) -> Result<Module, ReadError> {
        Module::from_words(words, &self.name, &self.read)
    }

    /// The same for mutators.
    pub fn to_mutate(&self, module: &Module) -> Result<mutators::Module, mutators::LoadError> {
        mutators::Module::load(&module.words, self.read.validator.target_env)
    }

    /// Checks a pair under this module's launch, and, where nothing is found, as a pass of this flag is judged besides.
    pub fn check(&self, flag: &str, before: &Module, after: &Module) -> Finding {
        let mut found = finding(before, after, &self.options);
        for options in self.robust.iter().filter(|_| flag == ROBUST) {
            if found.verdict == FLAGGED {
                break;
            }
            found = finding(before, after, options);
        }
        found
    }
}

fn finding(before: &Module, after: &Module, options: &CheckOptions) -> Finding {
    let report = match check(before, after, options, &Watch::default()) {
        Ok(report) => json::check_value(&report),
        Err(error) => return Finding { verdict: "error".to_owned(), reason: error.to_string() },
    };
    let verdict = report["verdict"].as_str().unwrap_or("?");
    let never_ran = |side: &str| report["exercised"][side]["changed_never_ran"].as_array();
    let is_hollow = ["before", "after"].into_iter().filter_map(never_ran).any(|lines| !lines.is_empty());
    let verdict = if verdict == "refines" && is_hollow { HOLLOW } else { verdict };
    Finding { verdict: verdict.to_owned(), reason: reason(&report) }
}

fn arguments(args: &[&str]) -> CheckArguments {
    let line = ["check", "BEFORE", "AFTER"].iter().chain(args);
    CommandLine::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).check
}

fn options(arguments: &CheckArguments) -> CheckOptions {
    let mut options = arguments.options().unwrap_or_else(|error| panic!("{error}"));
    options.bounds.jobs = 1;
    options.bounds.step_timeout = Some(LONGEST);
    options
}

/// What a launch file says of sizes.
#[derive(Deserialize)]
struct Size {
    workgroups: Option<Vec<u32>>,
    #[serde(default)]
    buffer: BTreeMap<String, String>,
}

/// The first word of the contents of a buffer.
fn one_word(spec: &str) -> String {
    cut(spec, |_| 1)
}

/// The first half of the words of the contents of a buffer, at least one.
fn half(spec: &str) -> String {
    cut(spec, |words| (words / 2).max(1))
}

/// Contents of a buffer with fewer words; those that are no words as they are.
fn cut(spec: &str, to: impl Fn(usize) -> usize) -> String {
    match spec.split_once(':') {
        Some(("zeros", words)) => format!("zeros:{}", words.parse().map_or(1, to)),
        Some((kind @ ("words" | "floats"), values)) => {
            let values: Vec<&str> = values.split(',').collect();
            format!("{kind}:{}", values[..to(values.len())].join(","))
        }
        _ => spec.to_owned(),
    }
}

fn reason(report: &Value) -> String {
    let runs = report["runs"].as_array().map_or(&[][..], Vec::as_slice);
    let told = |part: &Value| part["reasons"][0].as_str().map(str::to_owned);
    let kind = |run: &Value| run["violation"]["kind"].as_str().map(str::to_owned);
    let unsupported = || report["unsupported"][0]["what"].as_str().map(str::to_owned);
    runs.iter()
        .find_map(kind)
        .or_else(|| std::iter::once(report).chain(runs).find_map(told))
        .or_else(unsupported)
        .unwrap_or_default()
}
