//! Every module of the corpus refines itself with every shortcut off, and refines and is refined by
//! what rewrites that keep the meaning make of it.

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use rayon::prelude::*;
use serde::Deserialize;
use spirv_tv::check::CheckReport;
use spirv_tv::compare::Verdict;
use spirv_tv::module::Module;
use spirv_tv_mutators::{Mutants, PRESERVING};
use spirv_tv_toolchain::{optimize, OptimizeOptions};
use support::Checker;

/// What `pair.toml` and the files beside classic programs and modules for mutants have in common.
#[derive(Deserialize)]
struct Launched {
    args: Vec<String>,
    verdict: Option<String>,
}

/// A module, and how it is launched.
struct Subject {
    path: PathBuf,
    args: Vec<String>,
    /// Whether its pair is one that cannot be decided.
    undecided: bool,
}

fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for folder in ["pairs", "findings"] {
        for pair in support::entries(folder) {
            let Launched { args, verdict } = support::toml(&pair.join("pair.toml"));
            let sides: &[&str] = match verdict.as_deref() {
                Some("violates") => &["before.spvasm"],
                _ => &["before.spvasm", "after.spvasm"],
            };
            let undecided = verdict.as_deref() == Some("inconclusive");
            subjects.extend({ sides.iter() }.map(|side| Subject {
                path: pair.join(side),
                args: args.clone(),
                undecided,
            }));
        }
    }
    for folder in ["classics", "mutants"] {
        let paths = support::entries(folder).into_iter();
        let texts = paths.filter(|path| path.extension().is_some_and(|extension| extension == "spvasm"));
        subjects.extend(texts.map(|path| {
            let Launched { args, .. } = support::toml(&path.with_extension("toml"));
            Subject { path, args, undecided: false }
        }));
    }
    subjects
}

/// Runs a test on every module, and fails with all complaints at once.
fn for_all(test: impl Fn(&Subject) -> Vec<String> + Sync) {
    let subjects = subjects();
    assert!(subjects.len() > 100);
    let failures: Vec<String> = { subjects.par_iter() }
        .flat_map_iter(|subject| {
            let complaints = test(subject).into_iter();
            complaints.map(|complaint| format!("{}: {complaint}", subject.path.display()))
        })
        .collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// What is wrong with a comparison of a module with its equal.
fn complaint(report: &CheckReport, undecided: bool) -> Option<String> {
    let details = || {
        let violations = report.runs.iter().filter_map(|run| run.comparison.violation.as_ref());
        let kinds: Vec<_> = violations.map(|violation| violation.kind).collect();
        format!("{kinds:?} {:?} {:?}", report.reasons, report.unsupported)
    };
    match report.verdict {
        Verdict::Inconclusive if undecided => None,
        Verdict::Refines | Verdict::Vacuous => {
            let reverse = report.runs.iter().filter_map(|run| run.reverse.as_ref());
            let worst = reverse
                .map(|comparison| comparison.verdict)
                .find(|verdict| !matches!(verdict, Verdict::Refines | Verdict::Vacuous));
            worst.map(|verdict| format!("the other way round {verdict:?}"))
        }
        verdict => Some(format!("{verdict:?} {}", details())),
    }
}

#[test]
fn every_module_refines_itself_with_every_shortcut_off() {
    for_all(|subject| {
        let mut checker = Checker::new(&subject.args);
        checker.options.self_check = true;
        let module = checker.module(&subject.path);
        complaint(&checker.check(&module, &module), subject.undecided).into_iter().collect()
    });
}

#[test]
fn every_module_is_equivalent_to_its_rewrites() {
    let used = Mutex::new(BTreeMap::<&str, usize>::new());
    for_all(|subject| {
        let mut checker = Checker::new(&subject.args);
        checker.options.both_ways = true;
        let module = checker.module(&subject.path);
        let mut complaints = Vec::new();
        for (name, words) in rewrites(&checker, &module) {
            *used.lock().unwrap().entry(name).or_default() += 1;
            let report = checker.check(&module, &checker.made(words, name));
            let complaint = complaint(&report, subject.undecided);
            complaints.extend(complaint.map(|complaint| format!("{name}: {complaint}")));
        }
        complaints
    });
    let used = used.into_inner().unwrap();
    println!("{used:?}");
    for mutator in PRESERVING {
        assert!(used.get(mutator.name()).is_some_and(|count| *count >= 5), "{}: {used:?}", mutator.name());
    }
}

/// Modules that mean the same: each rewrite by itself (with several seeds, where these matter), all of
/// them one upon the other, and the optimiser's inlining.
fn rewrites(checker: &Checker, module: &Module) -> Vec<(&'static str, Vec<u32>)> {
    let env = checker.read.validator.target_env;
    let loaded = spirv_tv_mutators::Module::load(&module.words, env).unwrap();
    let mut rewrites = Vec::new();
    for seed in 0..3 {
        let Mutants { valid, invalid } = Mutants::of(&loaded, PRESERVING, seed);
        if let Some((mutant, message)) = invalid.first() {
            panic!("{}: {mutant}: {message}", module.name);
        }
        rewrites.extend(valid.iter().map(|mutant| (mutant.mutator, mutant.module.words())));
    }
    let all = PRESERVING.iter().fold(loaded, |module, mutator| {
        let first = mutator.mutants(&module, 3).next().map(|mutant| mutant.module);
        first.unwrap_or(module)
    });
    rewrites.push(("all", all.words()));
    rewrites.push(("spirv-opt", inlined(checker, module)));
    rewrites.sort();
    rewrites.dedup();
    rewrites
}

fn inlined(checker: &Checker, module: &Module) -> Vec<u32> {
    let validator = &checker.read.validator;
    let options = OptimizeOptions {
        target_env: validator.target_env,
        validate: Some(validator.clone()),
        preserve_interface: true,
        preserve_bindings: true,
        preserve_spec_constants: true,
        ..OptimizeOptions::default()
    };
    let flags = ["--inline-entry-points-exhaustive".to_owned()];
    optimize(&module.words, &flags, &options).unwrap().words
}
