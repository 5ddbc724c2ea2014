//! What tests over the corpus share.

#[path = "schema.rs"]
pub mod schema;

use std::collections::BTreeSet;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use clap::Parser;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::Deserialize;
use spirv_tv::check::{check, CheckOptions, CheckReport, Reason, Watch};
use spirv_tv::compare::{self, Comparison, Verdict};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::report::json;
use spirv_tv_cli::CheckArguments;
use spirv_tv_mutators as mutators;

/// A file or folder of the corpus.
pub fn corpus(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(path)
}

/// What is in a folder of the corpus, sorted.
pub fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = corpus(folder);
    let listing = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listing.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// A module of the corpus, and how it is launched.
pub struct Subject {
    pub path: PathBuf,
    pub args: Vec<String>,
    /// The reason for which its pair cannot be decided, by name.
    pub undecided: Option<String>,
}

/// What `pair.toml` and the files beside classic programs and modules for mutants have in common.
#[derive(Deserialize)]
struct Launched {
    args: Vec<String>,
    verdict: Option<String>,
    reason: Option<String>,
}

/// Modules of many unordered accesses: without the shortcuts for them, or where races are kept, they have n! executions;
/// or of two who update for ever what they no longer order.
const MANY_UPDATES: [&str; 5] = [
    "updates-read-without-barrier",
    "updates-unordered",
    "barrier-behind-updates-removed",
    "race-of-a-workgroup",
    "writes-undone-by-each-other",
];

impl Subject {
    /// Whether exploring it without shortcuts, or a mutant of it, takes minutes.
    pub fn has_many_updates(&self) -> bool {
        let path = self.path.to_string_lossy();
        MANY_UPDATES.iter().any(|name| path.contains(name))
    }
}

/// Every module of the corpus, but for those after a wrong rewrite.
pub fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for folder in ["pairs", "findings"] {
        for pair in entries(folder) {
            let Launched { args, verdict, reason } = toml(&pair.join("pair.toml"));
            let sides: &[&str] = match verdict.as_deref() {
                // What cannot be compared may need another launch.
                Some("violates" | "inconclusive") => &["before.spvasm"],
                _ => &["before.spvasm", "after.spvasm"],
            };
            subjects.extend(sides.iter().map(|side| Subject {
                path: pair.join(side),
                args: args.clone(),
                undecided: reason.clone(),
            }));
        }
    }
    for path in texts("classics").into_iter().chain(texts("mutants")) {
        let Launched { args, .. } = toml(&path.with_extension("toml"));
        subjects.push(Subject { path, args, undecided: None });
    }
    subjects
}

/// The assembly texts in a folder of the corpus.
pub fn texts(folder: &str) -> Vec<PathBuf> {
    let is_text = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "spvasm");
    entries(folder).into_iter().filter(is_text).collect()
}

/// Runs a test on every module of the corpus, and fails with all complaints at once.
pub fn for_all(test: impl Fn(&Subject) -> Vec<String> + Sync) {
    let subjects = subjects();
    assert!(subjects.len() > 100);
    let failures: Vec<String> = subjects
        .par_iter()
        .flat_map_iter(|subject| {
            complaints_of(subject, &test)
                .into_iter()
                .map(|complaint| format!("{}: {complaint}", subject.path.display()))
        })
        .collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// What a test has to say of a module. A panic counts: its message would be lost, since reading modules
/// silences the hook that prints it.
fn complaints_of(subject: &Subject, test: impl Fn(&Subject) -> Vec<String>) -> Vec<String> {
    catch_unwind(AssertUnwindSafe(|| test(subject))).unwrap_or_else(|payload| {
        vec![payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned())]
    })
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
    /// The options that `spirv-tv check BEFORE AFTER args…` has, on one thread: tests run many checks at
    /// once.
    pub fn new(args: &[String]) -> Self {
        let line = ["check", "BEFORE", "AFTER"].into_iter().chain(args.iter().map(String::as_str));
        let arguments = CommandLine::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).check;
        let mut options = arguments.options().unwrap_or_else(|error| panic!("{error}"));
        options.bounds.jobs = 1;
        Checker { read: arguments.read_options(), options }
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
        let report = report.unwrap_or_else(|error| panic!("{} and {}: {error}", before.name, after.name));
        schema::held(json::check_value(&report));
        report
    }

    /// The module as mutators take it; `None`, which is printed, where it has what rspirv cannot load.
    pub fn to_mutate(&self, module: &Module) -> Option<mutators::Module> {
        match mutators::Module::load(&module.words, self.read.validator.target_env) {
            Ok(loaded) => Some(loaded),
            Err(mutators::LoadError::Unsupported(what)) => {
                println!("{}: left out: {what}", module.name);
                None
            }
            Err(error) => panic!("{}: {error}", module.name),
        }
    }
}

/// The names of the reasons for which a report, or its runs, are inconclusive.
pub fn reasons(report: &CheckReport) -> BTreeSet<&'static str> {
    let own = report.reasons.iter().map(Reason::name);
    let unsupported = report.unsupported.iter().map(|_| "unsupported");
    let runs = report.counted().flat_map(|run| &run.comparison.reasons);
    own.chain(unsupported).chain(runs.map(compare::Reason::name)).collect()
}

/// What the report says against a refinement that must hold, or be undecided for the reason that is listed and no
/// other.
pub fn complaint(report: &CheckReport, listed: Option<&str>) -> Option<String> {
    let holds = |verdict, reasons: BTreeSet<&str>| match verdict {
        Verdict::Refines | Verdict::Vacuous => true,
        Verdict::Inconclusive => listed.is_some_and(|listed| reasons == BTreeSet::from([listed])),
        Verdict::Violates | Verdict::Error => false,
    };
    if holds(report.verdict, reasons(report)) {
        let mut reverse = report.runs.iter().filter_map(|run| run.reverse.as_ref());
        let names = |comparison: &Comparison| comparison.reasons.iter().map(compare::Reason::name).collect();
        let worst = reverse.find(|comparison| !holds(comparison.verdict, names(comparison)));
        return worst.map(|comparison| {
            format!("{:?} the other way round {:?}", comparison.verdict, comparison.reasons)
        });
    }
    let violations = report.runs.iter().filter_map(|run| run.comparison.violation.as_ref());
    let kinds: Vec<_> = violations.map(|violation| violation.kind).collect();
    Some(format!("{:?} {kinds:?} {:?} {:?}", report.verdict, reasons(report), report.unsupported))
}
