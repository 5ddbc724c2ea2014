//! Weakenings of synchronising modules (`corpus/mutants/`): each must be caught, or stand in the module's
//! list of equivalent mutants with a reason.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::Checker;
use rayon::prelude::*;
use serde::Deserialize;
use spirv_tv::compare::{Verdict, ViolationKind};
use spirv_tv::explore::Races;
use spirv_tv::module::Module;
use spirv_tv_mutators::{Mutant, Mutants, WEAKENINGS};

/// `NAME.toml` beside `NAME.spvasm`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// Launch options, as on the command line.
    args: Vec<String>,
    #[serde(default)]
    equivalent: Vec<Equivalent>,
}

/// Mutants that the module allows, and why.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Equivalent {
    reason: String,
    mutants: BTreeSet<String>,
}

/// A module with its mutants.
struct Subject {
    path: PathBuf,
    checker: Checker,
    module: Module,
    mutants: Mutants,
    equivalent: Vec<Equivalent>,
}

fn subjects() -> Vec<Subject> {
    let paths = support::texts("mutants").into_iter();
    paths
        .map(|path| {
            let expected: Expected = support::toml(&path.with_extension("toml"));
            let checker = Checker::new(&expected.args);
            let module = checker.module(&path);
            let loaded = checker.to_mutate(&module).unwrap_or_else(|| panic!("{}", path.display()));
            let mutants = Mutants::of(&loaded, WEAKENINGS, 0);
            Subject { path, checker, module, mutants, equivalent: expected.equivalent }
        })
        .collect()
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[test]
fn every_weakening_is_caught_or_argued_equivalent() {
    let subjects = subjects();
    assert!(subjects.len() >= 5);
    let pairs: Vec<(&Subject, &Mutant)> = { subjects.iter() }
        .flat_map(|subject| subject.mutants.valid.iter().map(move |mutant| (subject, mutant)))
        .collect();
    let mut failures: Vec<String> =
        pairs.par_iter().filter_map(|(subject, mutant)| failure(subject, mutant)).collect();
    for subject in &subjects {
        let found: BTreeSet<String> = subject.mutants.valid.iter().map(Mutant::name).collect();
        let listed = subject.equivalent.iter().flat_map(|equivalent| &equivalent.mutants);
        let stale = listed.filter(|name| !found.contains(*name));
        failures.extend(stale.map(|mutant| format!("{}: no mutant '{mutant}'", name(&subject.path))));
    }
    let invalid: usize = subjects.iter().map(|subject| subject.mutants.invalid.len()).sum();
    println!("{} mutants, and {invalid} invalid ones", pairs.len());
    assert!(failures.is_empty(), "{} of {} failed:\n{}", failures.len(), pairs.len(), failures.join("\n"));
}

fn failure(subject: &Subject, mutant: &Mutant) -> Option<String> {
    let after = subject.checker.made(mutant.module.words(), &mutant.name());
    let verdict = subject.checker.check(&subject.module, &after).verdict;
    let listed = subject.equivalent.iter().find(|equivalent| equivalent.mutants.contains(&mutant.name()));
    let complaint = match (verdict, listed) {
        (Verdict::Violates, None) | (Verdict::Refines, Some(_)) => return None,
        (Verdict::Violates, Some(equivalent)) => {
            format!("caught, but listed as equivalent ({})", equivalent.reason)
        }
        (Verdict::Refines, None) => "not caught, and not listed".to_owned(),
        (Verdict::Vacuous | Verdict::Inconclusive | Verdict::Error, _) => format!("{verdict:?}"),
    };
    Some(format!("{}: {mutant}: {complaint}", name(&subject.path)))
}

#[test]
fn the_modules_themselves_are_legal() {
    for subject in subjects() {
        let report = subject.checker.check(&subject.module, &subject.module);
        assert_eq!(report.verdict, Verdict::Refines, "{}", subject.path.display());
        assert!(!report.bounded(), "{}", subject.path.display());
    }
}

#[test]
fn every_weakening_is_used_and_names_are_unique() {
    let mut used = BTreeSet::new();
    for subject in subjects() {
        let mut names = BTreeMap::<String, usize>::new();
        for mutant in &subject.mutants.valid {
            used.insert(mutant.mutator);
            *names.entry(mutant.name()).or_default() += 1;
        }
        let twice: Vec<_> = names.into_iter().filter(|(_, count)| *count > 1).collect();
        assert!(twice.is_empty(), "{}: {twice:?}", subject.path.display());
    }
    let unused: Vec<&str> =
        WEAKENINGS.iter().map(|mutator| mutator.name()).filter(|name| !used.contains(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// Further inputs are looked at with one of so many weakenings that are undone; of the others, so many are searched.
const LOOKED_AT: usize = 4;
const SEARCHED: u32 = 4;

/// What a module does, its weakenings do too: a check with a weakening as before and the module as
/// after must succeed. `without` are mutators to leave out.
fn undo_weakenings(races: Races, ignored: &[ViolationKind], without: &[&str]) {
    support::for_all(|subject| {
        if subject.has_many_updates() {
            return Vec::new();
        }
        let mut checker = Checker::new(&subject.args);
        checker.options.races = races;
        checker.options.ignore.extend(ignored);
        // What races only behind an endless loop is dropped, and then excuses nothing.
        checker.options.strict_hangs = true;
        let module = checker.module(&subject.path);
        if checker.check(&module, &module).verdict == Verdict::Vacuous {
            return Vec::new();
        }
        let Some(loaded) = checker.to_mutate(&module) else { return Vec::new() };
        let mutants = Mutants::of(&loaded, WEAKENINGS, 0).valid;
        let mut complaints = Vec::new();
        let given = checker.options.launch.inputs;
        let wanted = mutants.into_iter().filter(|mutant| !without.contains(&mutant.mutator));
        for (number, mutant) in wanted.enumerate() {
            // Further inputs are looked at with some of them.
            let looks = number.is_multiple_of(LOOKED_AT);
            checker.options.launch.inputs = given.or((!looks).then_some(SEARCHED));
            let weaker = checker.made(mutant.module.words(), &mutant.name());
            let report = checker.check(&weaker, &module);
            let complaint = support::complaint(&report, subject.undecided.as_deref());
            complaints.extend(complaint.map(|complaint| format!("{mutant}: {complaint}")));
        }
        complaints
    });
}

#[test]
fn undoing_a_weakening_is_legal() {
    // A swap is neither weaker nor stronger, and accesses that are no longer volatile leave other traces.
    undo_weakenings(Races::Undefined, &[], &["swap", "volatile", "decoration"]);
}

/// The outcomes of racy executions, which most weakenings have, do not shrink either.
#[test]
#[ignore = "slow in debug builds"]
fn undoing_a_weakening_is_legal_where_races_are_kept() {
    // There is no end to the executions of a spin loop that stores in every iteration.
    let without = ["swap", "update-split"];
    undo_weakenings(Races::Keep, &[ViolationKind::VolatileTrace], &without);
}
