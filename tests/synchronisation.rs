//! Locks, barriers, scans, queues: the programs of `corpus/synchronisation/`, which spin without a bound, and
//! their versions that lack some of the synchronisation (format: `corpus/README.md`).
//!
//! Sizes that are slow in debug builds are in tests that need `--ignored`.

use crate::support;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;
use spirv_tv::behaviour::End;
use spirv_tv::compare::{Verdict, ViolationKind};
use spirv_tv::event::UndefinedKind;
use spirv_tv::ir::Line;
use spirv_tv::module::Module;
use spirv_tv_toolchain::{optimize, OptimizeOptions, TargetEnv};

use crate::outcomes::{explored, words, Words};
use crate::support::{entries, toml, Checker};
use spirv_tv::check::Explored;

/// `NAME.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    about: String,
    run: Vec<Run>,
    broken: Vec<Broken>,
}

/// A launch of the correct version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    args: Vec<String>,
    executions: u64,
    /// Exactly these …
    outcomes: Option<Vec<Words>>,
    /// … or so many.
    distinct: Option<usize>,
    #[serde(default)]
    slow: bool,
}

/// The module `NAME-VERSION.spvasm`, and what must be found of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Broken {
    version: String,
    args: Vec<String>,
    /// The lines of the data race that is reported first …
    race: Option<Vec<Line>>,
    /// … or an outcome that the correct version does not have …
    wrong: Option<Words>,
    /// … or a hang.
    #[serde(default)]
    hangs: bool,
}

fn catalogue() -> Vec<(PathBuf, Entry)> {
    let files = entries("synchronisation");
    let files =
        files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.map(|path| (path.with_extension("spvasm"), toml(&path))).collect()
}

/// Complaints, told with the module and its launch.
fn fail_with(complaints: Vec<String>, checked: usize) {
    assert!(checked > 0);
    assert!(complaints.is_empty(), "{} of {checked}:\n{}", complaints.len(), complaints.join("\n"));
}

fn told(path: &Path, args: &[String], complaints: &[String]) -> Option<String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    (!complaints.is_empty()).then(|| format!("{name} {}: {}", args.join(" "), complaints.join("; ")))
}

/// Where every execution is visited, and where states with the same future are explored once.
fn check_run(path: &Path, run: &Run) -> Option<String> {
    let every: Vec<String> = run.args.iter().cloned().chain(["--all-executions".to_owned()]).collect();
    check_found(path, run, explored(path, &every), |executions| executions == run.executions)
        .or_else(|| check_found(path, run, explored(path, &run.args), |visited| visited <= run.executions))
}

fn check_found(path: &Path, run: &Run, found: Explored, is_right: impl Fn(u64) -> bool) -> Option<String> {
    let behaviours = &found.behaviours;
    let mut complaints = Vec::new();
    if !behaviours.complete {
        complaints.push(format!("not complete: {:?} {:?}", behaviours.bounded, behaviours.stopped));
    }
    if let Some((undefined, _)) = behaviours.undefined.first() {
        complaints.push(format!("undefined: {undefined:?}"));
    }
    if behaviours.outcomes.iter().any(|(outcome, _)| outcome.end == End::Hang) {
        complaints.push("hangs".to_owned());
    }
    if !is_right(behaviours.executions.saturating()) {
        complaints.push(format!("{} executions, expected {}", behaviours.executions, run.executions));
    }
    let mut found: Vec<Words> =
        behaviours.outcomes.iter().map(|(outcome, _)| words(&found, outcome)).collect();
    found.sort();
    if let Some(expected) = &run.outcomes {
        let mut expected = expected.clone();
        expected.sort();
        if found != expected {
            complaints.push(format!("outcomes {found:?}"));
        }
    }
    if run.distinct.is_some_and(|distinct| distinct != found.len()) {
        complaints.push(format!("{} outcomes", found.len()));
    }
    told(path, &run.args, &complaints)
}

fn check_runs(slow: bool) {
    let catalogue = catalogue();
    let runs: Vec<_> =
        catalogue.iter().flat_map(|(path, entry)| entry.run.iter().map(move |run| (path, run))).collect();
    let runs: Vec<_> = runs.into_iter().filter(|(_, run)| run.slow == slow).collect();
    fail_with(runs.par_iter().filter_map(|(path, run)| check_run(path, run)).collect(), runs.len());
}

#[test]
fn correct_versions_complete_with_their_executions() {
    check_runs(false);
}

#[test]
#[ignore = "slow in debug builds"]
fn correct_versions_complete_at_larger_sizes() {
    check_runs(true);
}

/// Every broken version, with the paths of the correct one and its own.
fn broken(catalogue: &[(PathBuf, Entry)]) -> Vec<(&Path, PathBuf, &Broken)> {
    let mut all = Vec::new();
    for (path, entry) in catalogue {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let own = |broken: &Broken| path.with_file_name(format!("{name}-{}.spvasm", broken.version));
        all.extend(entry.broken.iter().map(|broken| (path.as_path(), own(broken), broken)));
    }
    all
}

fn check_broken(path: &Path, broken: &Broken) -> Option<String> {
    let found = explored(path, &broken.args);
    let behaviours = &found.behaviours;
    let mut complaints = Vec::new();
    if !behaviours.complete {
        complaints.push(format!("not complete: {:?} {:?}", behaviours.bounded, behaviours.stopped));
    }
    let undefined: Vec<_> = behaviours.undefined.iter().map(|(undefined, _)| undefined).collect();
    let race = undefined.first().map(|undefined| &undefined.lines);
    if race != broken.race.as_ref()
        || undefined.iter().any(|undefined| undefined.kind != UndefinedKind::DataRace)
    {
        complaints.push(format!("undefined: {undefined:?}"));
    }
    let outcomes = || behaviours.outcomes.iter().map(|(outcome, _)| outcome);
    if outcomes().any(|outcome| outcome.end == End::Hang) != broken.hangs {
        complaints.push(format!("hangs: {}", !broken.hangs));
    }
    let ended = outcomes().filter(|outcome| outcome.end == End::Terminated);
    let ended: Vec<Words> = ended.map(|outcome| words(&found, outcome)).collect();
    if broken.wrong.as_ref().is_some_and(|wrong| !ended.contains(wrong)) {
        complaints.push(format!("outcomes {ended:?}"));
    }
    told(path, &broken.args, &complaints)
}

#[test]
fn broken_versions_race_or_hang_or_have_a_wrong_outcome() {
    let catalogue = catalogue();
    let broken = broken(&catalogue);
    fail_with(
        broken.par_iter().filter_map(|(_, path, broken)| check_broken(path, broken)).collect(),
        broken.len(),
    );
}

/// Checks a pair on zeros, and complains of another verdict.
fn check_pair(
    modules: [&Module; 2],
    args: &[String],
    expected: (Verdict, Option<ViolationKind>),
) -> Option<String> {
    let args: Vec<String> = args.iter().cloned().chain(["--inputs".to_owned(), "1".to_owned()]).collect();
    let report = Checker::new(&args).check(modules[0], modules[1]);
    let violation = report.runs.iter().find_map(|run| run.comparison.violation.as_ref());
    let found = (report.verdict, violation.map(|violation| violation.kind));
    let names =
        modules.map(|module| Path::new(&module.name).file_stem().unwrap_or_default().to_string_lossy());
    (found != expected).then(|| {
        let why = (&report.reasons, &report.unsupported);
        format!("{} to {} {}: {found:?} {why:?}, expected {expected:?}", names[0], names[1], args.join(" "))
    })
}

#[test]
fn dropped_synchronisation_violates_and_added_does_not() {
    let catalogue = catalogue();
    let broken = broken(&catalogue);
    let complaints = |(correct, path, broken): &(&Path, PathBuf, &Broken)| {
        let checker = Checker::new(&broken.args);
        let [correct, path] = [checker.module(correct), checker.module(path)];
        let (kind, reverse) = match (&broken.race, broken.hangs) {
            (Some(_), _) => (ViolationKind::NewRace, Verdict::Vacuous),
            (None, true) => (ViolationKind::NewHang, Verdict::Refines),
            (None, false) => (ViolationKind::NewOutcome, Verdict::Refines),
        };
        let dropped = check_pair([&correct, &path], &broken.args, (Verdict::Violates, Some(kind)));
        let added = check_pair([&path, &correct], &broken.args, (reverse, None));
        dropped.into_iter().chain(added)
    };
    fail_with(broken.par_iter().flat_map_iter(complaints).collect(), broken.len());
}

#[test]
fn optimised_versions_refine() {
    let catalogue = catalogue();
    let complaint = |(path, entry): &(PathBuf, Entry)| {
        let args = &entry.run[0].args;
        let checker = Checker::new(args);
        let module = checker.module(path);
        let options = OptimizeOptions { target_env: TargetEnv::Vulkan1_3, ..OptimizeOptions::default() };
        let optimised = optimize(&module.words, &["-O".to_owned()], &options).unwrap();
        let optimised = checker.made(optimised.words, &format!("{}, -O", module.name));
        check_pair([&module, &optimised], args, (Verdict::Refines, None))
    };
    fail_with(catalogue.par_iter().filter_map(complaint).collect(), catalogue.len());
}

#[test]
fn catalogue_is_whole() {
    let catalogue = catalogue();
    assert!(catalogue.len() >= 13, "{} programs", catalogue.len());
    let mut modules: Vec<PathBuf> = catalogue.iter().map(|(path, _)| path.clone()).collect();
    for (path, entry) in &catalogue {
        let name = path.display();
        assert!(!entry.about.is_empty() && path.with_extension("comp").is_file(), "{name}");
        assert!(entry.run.len() >= 3, "{name}: too few sizes");
        for run in &entry.run {
            assert!(run.outcomes.is_some() != run.distinct.is_some(), "{name}: outcomes or their number");
        }
        for version in ["no-acquire", "no-release"] {
            assert!(entry.broken.iter().any(|broken| broken.version == version), "{name}: {version}");
        }
    }
    for (_, path, broken) in broken(&catalogue) {
        let expected = [broken.race.is_some(), broken.wrong.is_some(), broken.hangs];
        assert_eq!(expected.iter().filter(|expected| **expected).count(), 1, "{}", path.display());
        modules.push(path);
    }
    modules.sort();
    assert_eq!(modules, support::texts("synchronisation"));
}
