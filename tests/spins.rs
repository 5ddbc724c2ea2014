//! Polls as they are written in GLSL, by loads of all kinds: the programs of `corpus/spins/`, with themselves and with what
//! the bundled optimiser makes of them (format: `corpus/README.md`).

use crate::support;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;
use spirv_tv::behaviour::{End, Outcome};
use spirv_tv::compare::Verdict;
use spirv_tv::event::UndefinedKind;
use spirv_tv::ir::Line;
use spirv_tv::module::Module;
use spirv_tv_toolchain::{optimize, OptimizeOptions, TargetEnv};

use crate::outcomes::{explored, words, Words};
use crate::support::{entries, toml, Checker};

/// `NAME.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spin {
    about: String,
    args: Vec<String>,
    /// The lines of the data race, where there is one.
    race: Option<Vec<Line>>,
    /// How it ends with `--hang strict` …
    strict: Vec<Ending>,
    /// … and with `--hang lenient`, where that is something else.
    lenient: Option<Vec<Ending>>,
    /// What the optimiser breaks.
    #[serde(default)]
    optimised: Vec<Broken>,
}

#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(untagged)]
enum Ending {
    Hang(Hang),
    Terminated(Words),
}

#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "lowercase")]
enum Hang {
    Hang,
}

/// The choices with which the optimised module violates, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Broken {
    races: String,
    hang: String,
    kind: String,
}

/// `--races` and `--hang`.
const CHOICES: [[&str; 2]; 4] =
    [["undefined", "lenient"], ["undefined", "strict"], ["keep", "lenient"], ["keep", "strict"]];

fn arguments(spin: &Spin, [races, hang]: [&str; 2]) -> Vec<String> {
    let chosen = ["--races", races, "--hang", hang].map(str::to_owned);
    spin.args.iter().cloned().chain(chosen).collect()
}

fn catalogue() -> Vec<(PathBuf, Spin)> {
    let files = entries("spins").into_iter().filter(|path| path.extension().is_some_and(|end| end == "toml"));
    files.map(|path| (path.with_extension("spvasm"), toml(&path))).collect()
}

/// Runs a test on every program with every choice, and fails with all complaints at once.
fn for_all(test: impl Fn(&Path, &Spin, [&str; 2]) -> Vec<String> + Sync) {
    let catalogue = catalogue();
    assert!(catalogue.len() >= 16);
    let cases: Vec<_> =
        catalogue.iter().flat_map(|entry| CHOICES.map(|[races, hang]| (entry, [races, hang]))).collect();
    let complaints = |((path, spin), choice): &(&(PathBuf, Spin), [&'static str; 2])| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let complaints = test(path, spin, *choice).into_iter();
        complaints.map(|complaint| format!("{name} {choice:?}: {complaint}")).collect::<Vec<_>>()
    };
    let failures: Vec<String> = cases.par_iter().flat_map_iter(complaints).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn spins_end_as_they_must() {
    for_all(|path, spin, [races, hang]| {
        let found = explored(path, &arguments(spin, [races, hang]));
        let behaviours = &found.behaviours;
        let mut complaints = Vec::new();
        if races == "undefined" && spin.race.is_some() {
            let undefined = behaviours.undefined.first().map(|(undefined, _)| undefined);
            let lines = undefined.map(|undefined| {
                let mut lines = undefined.lines.clone();
                lines.sort();
                (undefined.kind, lines)
            });
            if lines != spin.race.clone().map(|lines| (UndefinedKind::DataRace, lines)) {
                complaints.push(format!("undefined: {lines:?}"));
            }
            return complaints;
        }
        if !behaviours.complete {
            complaints.push(format!("not complete: {:?} {:?}", behaviours.bounded, behaviours.stopped));
        }
        if !behaviours.undefined.is_empty() {
            complaints.push(format!("undefined: {:?}", behaviours.undefined[0].0));
        }
        let ending = |outcome: &Outcome| match outcome.end {
            End::Hang => Ending::Hang(Hang::Hang),
            End::Terminated => Ending::Terminated(words(&found, outcome)),
        };
        let mut endings: Vec<_> = behaviours.outcomes.iter().map(|(outcome, _)| ending(outcome)).collect();
        // Outcomes that differ in volatile traces only.
        endings.sort();
        endings.dedup();
        let lenient = spin.lenient.as_ref().filter(|_| hang == "lenient");
        let mut expected = lenient.unwrap_or(&spin.strict).clone();
        expected.sort();
        if endings != expected {
            complaints.push(format!("ends {endings:?}, expected {expected:?}"));
        }
        complaints
    });
}

/// Checks a pair that `violates` in this way, or else refines or is vacuous.
fn check_pair(
    [before, after]: [&Module; 2],
    spin: &Spin,
    choice: [&str; 2],
    kind: Option<&str>,
) -> Vec<String> {
    let report = Checker::new(&arguments(spin, choice)).check(before, after);
    let violation = report.runs.iter().find_map(|run| run.comparison.violation.as_ref());
    let found = violation.map(|violation| violation.kind.to_string());
    let expected = match (kind, choice[0] == "undefined" && spin.race.is_some()) {
        (Some(_), _) => Verdict::Violates,
        (None, true) => Verdict::Vacuous,
        (None, false) => Verdict::Refines,
    };
    let as_expected = report.verdict == expected && found.as_deref() == kind && !report.bounded();
    let complaint = || {
        let why = (&report.reasons, report.bounds_hit());
        format!("{:?} {found:?} {why:?}, expected {expected:?} {kind:?}", report.verdict)
    };
    (!as_expected).then(complaint).into_iter().collect()
}

#[test]
fn spins_refine_themselves() {
    for_all(|path, spin, choice| {
        let module = Checker::new(&spin.args).module(path);
        check_pair([&module, &module], spin, choice, None)
    });
}

#[test]
fn optimised_spins_refine_but_for_what_the_optimiser_breaks() {
    for_all(|path, spin, choice| {
        let checker = Checker::new(&spin.args);
        let module = checker.module(path);
        let options = OptimizeOptions { target_env: TargetEnv::Vulkan1_3, ..OptimizeOptions::default() };
        let optimised = optimize(&module.words, &["-O".to_owned()], &options).unwrap();
        let optimised = checker.made(optimised.words, &format!("{}, -O", module.name));
        let broken = spin.optimised.iter().find(|broken| [broken.races.as_str(), &broken.hang] == choice);
        check_pair([&module, &optimised], spin, choice, broken.map(|broken| broken.kind.as_str()))
    });
}

#[test]
fn catalogue_is_whole() {
    let catalogue = catalogue();
    for (path, spin) in &catalogue {
        assert!(!spin.about.is_empty() && path.with_extension("comp").is_file(), "{}", path.display());
        for broken in &spin.optimised {
            assert!(CHOICES.contains(&[&broken.races, &broken.hang]), "{}", path.display());
        }
    }
    let modules: Vec<PathBuf> = catalogue.into_iter().map(|(path, _)| path).collect();
    assert_eq!(modules, support::texts("spins"));
}
