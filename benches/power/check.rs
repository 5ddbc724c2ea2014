//! One check, as a process of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use spirv_tv_toolchain::{optimize, OptimizeOptions};

/// The option that says how many inputs there are.
const INPUTS: &str = "--inputs";
/// Seconds that the tool may take.
const TIMEOUT: &str = "10";
/// Processes that take longer are ended.
const LONGEST: Duration = Duration::from_secs(20);
/// The hidden command that runs the optimiser in a process of its own: it may abort.
pub const NORMALISE: &str = "--normalise";

/// A `refines` that says that something which was changed never ran.
pub const HOLLOW: &str = "hollow";

/// What came of a mutant.
pub struct Found {
    pub verdict: String,
    pub reason: String,
    /// `spirv-opt -O` makes the same words of both.
    pub equal: bool,
    pub milliseconds: u64,
}

/// These options without numbers of inputs: those of the tests are small, so that the tests are quick.
fn without_inputs(args: &[String]) -> Vec<&String> {
    let is_number = |at: usize| at.checked_sub(1).is_some_and(|before| args[before] == INPUTS);
    let kept = args.iter().enumerate().filter(|(at, arg)| *arg != INPUTS && !is_number(*at));
    kept.map(|(_, arg)| arg).collect()
}

/// The module, with a place for its mutants.
pub struct Pair {
    before: PathBuf,
    after: PathBuf,
    report: PathBuf,
    normal: Option<Vec<u8>>,
}

impl Pair {
    pub fn new(scratch: &Path, name: &str, words: &[u32]) -> Self {
        let path = |what: &str| scratch.join(format!("{}.{what}", name.replace('/', "-")));
        let (before, after) = (path("before.spv"), path("after.spv"));
        write(&before, words);
        let normal = normal(&before);
        Pair { before, after, report: path("json"), normal }
    }

    pub fn check(&self, binary: &Path, words: &[u32], args: &[String]) -> Found {
        write(&self.after, words);
        let equal = self.normal.is_some() && self.normal == normal(&self.after);
        let mut command = Command::new(binary);
        command.arg("check").args([&self.before, &self.after]).args(without_inputs(args));
        command.args(["--timeout", TIMEOUT, "--format", "json", "--jobs", "1"]);
        command.stdout(File::create(&self.report).unwrap()).stderr(Stdio::null());
        let begun = Instant::now();
        let ended = finish(&mut command);
        let milliseconds = begun.elapsed().as_millis() as u64;
        let (verdict, reason) = if ended { self.verdict() } else { ("over time".to_owned(), String::new()) };
        Found { verdict, reason, equal, milliseconds }
    }

    /// Copies both modules to a folder.
    pub fn keep(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        for (from, to) in [(&self.before, "before.spv"), (&self.after, "after.spv")] {
            std::fs::copy(from, folder.join(to)).unwrap();
        }
    }

    /// The verdict in the report, and what kind of reason it has if there is one.
    fn verdict(&self) -> (String, String) {
        let text = std::fs::read_to_string(&self.report).unwrap_or_default();
        let Ok(report) = serde_json::from_str::<Value>(text.lines().next().unwrap_or_default()) else {
            return ("no report".to_owned(), String::new());
        };
        let verdict = report["verdict"].as_str().unwrap_or("?");
        let never_ran = |side: &str| report["exercised"][side]["changed_never_ran"].as_array();
        let is_hollow = ["before", "after"].into_iter().filter_map(never_ran).any(|lines| !lines.is_empty());
        let verdict = if verdict == "refines" && is_hollow { HOLLOW } else { verdict };
        (verdict.to_owned(), reason(&report))
    }
}

/// The first construct that is not supported, or reason why nothing was decided, or the kind of violation.
fn reason(report: &Value) -> String {
    if let Some(what) = report["unsupported"][0]["what"].as_str() {
        return format!("unsupported: {what}");
    }
    let runs = report["runs"].as_array().map_or(&[][..], Vec::as_slice);
    let decisive = runs.iter().filter(|run| run["verdict"] == report["verdict"]);
    let mut reasons = std::iter::once(report).chain(decisive.clone()).map(|part| &part["reasons"][0]);
    let told = reasons.find_map(|reason| reason.as_str().map(str::to_owned));
    let violation = || decisive.into_iter().find_map(|run| run["violation"]["kind"].as_str());
    told.or_else(|| violation().map(str::to_owned)).unwrap_or_default()
}

/// Runs a process to its end; false where it takes too long and was ended.
fn finish(command: &mut Command) -> bool {
    let begun = Instant::now();
    let mut child = command.spawn().unwrap();
    loop {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        if begun.elapsed() > LONGEST {
            child.kill().unwrap();
            child.wait().unwrap();
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn write(path: &Path, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(path, bytes).unwrap();
}

/// What `spirv-opt -O` makes of a module, without names and with new ids; None where it does not end well.
fn normal(module: &Path) -> Option<Vec<u8>> {
    let output = module.with_extension("normal");
    _ = std::fs::remove_file(&output);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(NORMALISE).arg(module).arg(&output).stdout(Stdio::null()).stderr(Stdio::null());
    finish(&mut command).then(|| std::fs::read(&output).ok())?
}

/// The child: optimises INPUT to OUTPUT.
pub fn normalise(input: &Path, output: &Path) {
    let words = crate::compile::read(input).unwrap();
    let passes = ["--strip-debug", "-O", "--eliminate-dead-const", "--compact-ids"].map(str::to_owned);
    if let Ok(optimised) = optimize(&words, &passes, &OptimizeOptions::default()) {
        write(output, &optimised.words);
    }
}
