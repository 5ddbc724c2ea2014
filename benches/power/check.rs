//! One check, as a process of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rspirv::dr::Module;
use rspirv::spirv::Op;
use serde_json::Value;
use spirv_tv_mutators::Mutant;
use spirv_tv_toolchain::{optimize, OptimizeOptions};

use crate::host;
use crate::solver;
use crate::table::{NO_DIFFERENCE, SAME_WORDS};

/// What a host says of a module, whatever it runs it on.
const OF_HOST: [&str; 2] = ["--entry", "--spec"];
/// Seconds that the tool may take.
const TIMEOUT: &str = "10";
/// Processes that take longer are ended.
const LONGEST: Duration = Duration::from_secs(20);
/// Passes after which modules that mean the same often have the same words, without names and with new ids. The hidden
/// command that runs them has this name: it is a process of its own because the optimiser may abort.
const NORMAL: Form = (
    "--normalise",
    &["--strip-debug", "--fold-spec-const-op-composite", "-O", "--eliminate-dead-const", "--compact-ids"],
);
/// Passes that leave what is computed as it is, but give the solver one function without local variables.
const INLINED: Form = (
    "--inline",
    &[
        "--strip-debug",
        "--fold-spec-const-op-composite",
        BRANCHES,
        "--merge-return",
        "--inline-entry-points-exhaustive",
        "--eliminate-dead-functions",
        "--scalar-replacement=0",
        "--ssa-rewrite",
        UNREAD,
    ],
);
/// The same where control flow is not to be changed.
const LOCAL: Form = (
    "--local",
    &["--strip-debug", "--fold-spec-const-op-composite", "--scalar-replacement=0", "--ssa-rewrite", UNREAD],
);

/// The name of a hidden command, and its passes.
type Form = (&'static str, &'static [&'static str]);

/// The pass that deletes what nobody reads, and the one that deletes branches whose conditions are constant.
const UNREAD: &str = "--eliminate-dead-code-aggressive";
const BRANCHES: &str = "--eliminate-dead-branches";

/// A `refines` that says that something which was changed never ran.
pub const HOLLOW: &str = "hollow";

/// What came of a mutant.
pub struct Found {
    pub verdict: String,
    pub reason: String,
    /// Both modules mean the same, by this proof.
    pub equal: Option<&'static str>,
    pub milliseconds: u64,
}

/// Of these options, each with its value, those that a host gives: contents, launches and numbers of inputs are those of the
/// tests, so that the tests are quick.
fn of_host(args: &[String]) -> Vec<&String> {
    args.chunks(2).filter(|option| OF_HOST.contains(&option[0].as_str())).flatten().collect()
}

/// Whether what was changed divides integers in the mutant.
pub fn divides(mutant: &Mutant) -> bool {
    let Some(site) = mutant.site else { return false };
    let Ok(after) = rspirv::dr::load_words(mutant.module.words()) else { return false };
    let blocks = after.functions.iter().flat_map(|function| &function.blocks);
    let inst = blocks.flat_map(|block| &block.instructions).nth(site.position);
    inst.is_some_and(|inst| matches!(inst.class.opcode, Op::UDiv | Op::SDiv | Op::UMod | Op::SMod | Op::SRem))
}

/// The module, with a place for its mutants.
pub struct Pair<'a> {
    /// What the host says.
    args: &'a [String],
    before: PathBuf,
    after: PathBuf,
    /// What proofs are about: the module as its host sets its constants, and a place for either.
    set: Vec<u32>,
    proved: PathBuf,
    report: PathBuf,
    normal: Option<Vec<u8>>,
    /// The solver is installed.
    solves: bool,
}

impl<'a> Pair<'a> {
    pub fn new(scratch: &Path, name: &str, words: &[u32], args: &'a [String], solves: bool) -> Self {
        let path = |what: &str| scratch.join(format!("{}.{what}", name.replace('/', "-")));
        let (before, after, proved) = (path("before.spv"), path("after.spv"), path("proved.spv"));
        write(&before, words);
        let set = host::specialised(words, args);
        write(&proved, &set);
        let normal = formed(&proved, NORMAL, &[]);
        Pair { args, before, after, proved, set, report: path("json"), normal, solves }
    }

    /// Checks a mutant; the solver is asked only where there is no other proof. `divides`: what was changed is a
    /// division, which may be undefined, and which the optimiser deletes where nobody reads what it gives.
    pub fn check(
        &self,
        binary: &Path,
        words: &[u32],
        (proof, divides): (Option<&'static str>, bool),
    ) -> Found {
        write(&self.after, words);
        let set = host::specialised(words, self.args);
        write(&self.proved, &set);
        let is_same = !divides && self.normal.is_some() && self.normal == formed(&self.proved, NORMAL, &[]);
        let solved = || (self.solves && self.is_solved(&set, divides)).then_some(NO_DIFFERENCE);
        let equal = is_same.then_some(SAME_WORDS).or(proof).or_else(solved);
        let mut command = Command::new(binary);
        command.arg("check").args([&self.before, &self.after]).args(of_host(self.args));
        command.args(["--timeout", TIMEOUT, "--format", "json", "--jobs", "1"]);
        command.stdout(File::create(&self.report).unwrap()).stderr(Stdio::null());
        let begun = Instant::now();
        let ended = finish(&mut command);
        let milliseconds = begun.elapsed().as_millis() as u64;
        let (verdict, reason) = if ended { self.verdict() } else { ("over time".to_owned(), String::new()) };
        Found { verdict, reason, equal, milliseconds }
    }

    /// Whether the solver finds that both modules mean the same. `divides` as in [`Pair::check`].
    fn is_solved(&self, after: &[u32], divides: bool) -> bool {
        let modules = host::alike(&self.set, after);
        let formed = |form: Form, kept: &[&str]| {
            let kept: Vec<&str> = kept.iter().copied().chain(divides.then_some(UNREAD)).collect();
            let module = |words: &[u32]| {
                let path = self.before.with_extension("bounded");
                write(&path, words);
                rspirv::dr::load_bytes(formed(&path, form, &kept)?).ok()
            };
            Some((module(&modules[0])?, module(&modules[1])?))
        };
        let is_equal = |(before, after): &(Module, Module)| solver::finds_no_difference(before, after);
        let inlined = formed(INLINED, &[]);
        if inlined.as_ref().is_some_and(is_equal) {
            return true;
        }
        // Where a branch is gone in one of both only, it is not to go in the other one.
        let blocks =
            |module: &Module| module.functions.iter().map(|one| one.blocks.len()).collect::<Vec<_>>();
        let has_other_blocks = inlined.is_none_or(|(before, after)| blocks(&before) != blocks(&after));
        has_other_blocks && formed(INLINED, &[BRANCHES]).as_ref().is_some_and(is_equal)
            || formed(LOCAL, &[]).as_ref().is_some_and(is_equal)
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

/// What a form's passes, without some, make of a module; None where they do not end well.
fn formed(module: &Path, form: Form, without: &[&str]) -> Option<Vec<u8>> {
    let output = module.with_extension("formed");
    _ = std::fs::remove_file(&output);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(form.0).arg(module).arg(&output).args(without);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    finish(&mut command).then(|| std::fs::read(&output).ok())?
}

/// The child: runs passes from INPUT to OUTPUT, without those that follow. False where this is no such command.
pub fn form(args: &[String]) -> bool {
    let [command, input, output, without @ ..] = args else { return false };
    let Some((_, passes)) = [NORMAL, INLINED, LOCAL].into_iter().find(|form| form.0 == command) else {
        return false;
    };
    let words = crate::compile::read(Path::new(input)).unwrap();
    let passes = passes.iter().map(|pass| (*pass).to_owned());
    let passes: Vec<String> = passes.filter(|pass| !without.contains(pass)).collect();
    if let Ok(formed) = optimize(&words, &passes, &OptimizeOptions::default()) {
        write(Path::new(output), &formed.words);
    }
    true
}
