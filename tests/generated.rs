//! Generated programs have one outcome and nothing undefined, and are equivalent to what rewrites make of them.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::launched::launch;
use crate::preserving::GENERATED;
use crate::support::{self, schema, Checker};
use rayon::prelude::*;
use spirv_tv::check::{outcomes, Watch};
use spirv_tv::report::json;
use spirv_tv_mutators::donor::Splice;
use spirv_tv_mutators::generate::{Generator, Program, GENERATORS};
use spirv_tv_mutators::{Mutants, PRESERVING, STRENGTHENING};

/// Seeds of each generator whose outcomes are computed, and of those whose rewrites are checked.
const SEEDS: std::ops::Range<u64> = 0..10;
const REWRITTEN: std::ops::Range<u64> = 0..2;

/// A rewrite, and the generators with atomics: without a shortcut for barriers that order memory themselves, the orders
/// of all atomics would be explored.
const TOO_MANY_ORDERS: (&str, [&str; 2]) = ("barriers-split", ["atomics", "mixed"]);

/// Runs a test on programs of every generator, and fails with all complaints at once.
fn of_all(seeds: std::ops::Range<u64>, test: impl Fn(&str, &Program) -> Vec<String> + Sync) {
    let cases: Vec<(&dyn Generator, u64)> =
        GENERATORS.iter().flat_map(|generator| seeds.clone().map(|seed| (*generator, seed))).collect();
    let complaints: Vec<String> = { cases.par_iter() }
        .flat_map_iter(|(generator, seed)| {
            let name = format!("{} {seed}", generator.name());
            let complaints = test(&name, &generator.generate(*seed));
            complaints.into_iter().map(move |complaint| format!("{name}: {complaint}"))
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What checks a program on its launch.
fn checker(program: &Program) -> Checker {
    let mut checker = Checker::new(&[]);
    checker.options.launch = launch(program);
    checker
}

#[test]
fn programs_have_exactly_one_outcome() {
    of_all(SEEDS, |name, program| {
        let checker = checker(program);
        let module = checker.made(program.words.clone(), name);
        let report = outcomes(&module, &checker.options, &Watch::default());
        let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
        let found =
            schema::parsed(&json::outcomes(&report)).unwrap_or_else(|error| panic!("{name}: {error}"));
        // What is empty may be left out.
        let count = |key: &str| found[key].as_array().map_or(0, Vec::len);
        let mut complaints = Vec::new();
        for (key, expected) in
            [("outcomes", 1), ("undefined", 0), ("unsupported", 0), ("open_floats", 0), ("undecided", 0)]
        {
            if count(key) != expected {
                complaints.push(format!("{key}: {}", found[key]));
            }
        }
        if found["complete"] != true
            || found["bounded"] != false
            || found["outcomes"][0]["end"] != "terminated"
        {
            complaints.push(format!("{} {} {}", found["complete"], found["bounded"], found["stopped"]));
        }
        complaints
    });
}

#[test]
fn programs_are_equivalent_to_their_rewrites() {
    let used = Mutex::new(BTreeMap::<&str, usize>::new());
    of_all(REWRITTEN, |name, program| {
        let mut checker = checker(program);
        let module = checker.made(program.words.clone(), name);
        let Some(loaded) = checker.to_mutate(&module) else { return vec!["it cannot be loaded".to_owned()] };
        let mut complaints = Vec::new();
        for (mutators, both_ways) in [(PRESERVING, true), (STRENGTHENING, false)] {
            checker.options.both_ways = both_ways;
            for mutator in mutators {
                let (rewrite, generators) = TOO_MANY_ORDERS;
                if mutator.name() == rewrite && generators.iter().any(|generator| name.starts_with(generator))
                {
                    println!("left out: {rewrite} of {name}");
                    continue;
                }
                let Mutants { valid, invalid } = Mutants::of(&loaded, &[*mutator], 1);
                complaints.extend(invalid.iter().map(|(mutant, message)| format!("{mutant}: {message}")));
                let step = valid.len().div_ceil(2).max(1);
                for mutant in valid.iter().step_by(step) {
                    *used.lock().unwrap().entry(mutant.mutator).or_default() += 1;
                    let rewritten = checker.made(mutant.module.words(), mutant.mutator);
                    let report = checker.check(&module, &rewritten);
                    let complaint = support::complaint(&report, None);
                    complaints.extend(complaint.map(|complaint| format!("{mutant}: {complaint}")));
                }
            }
        }
        complaints
    });
    let used = used.into_inner().unwrap();
    println!("{used:?}");
    for rewrite in GENERATED {
        assert!(used.get(rewrite).is_some_and(|count| *count >= 5), "{rewrite}: {used:?}");
    }
}

#[test]
fn programs_are_equivalent_to_themselves_with_functions_of_others() {
    let is_donor = |path: &std::path::PathBuf| path.to_string_lossy().contains("call-");
    let paths: Vec<_> = support::texts("modules").into_iter().filter(is_donor).collect();
    let reader = Checker::new(&[]);
    let donors = paths.iter().filter_map(|path| reader.to_mutate(&reader.module(path)));
    let splice = Splice::new(donors.collect());
    let spliced = std::sync::atomic::AtomicUsize::new(0);
    of_all(REWRITTEN, |name, program| {
        let mut checker = checker(program);
        checker.options.both_ways = true;
        let module = checker.made(program.words.clone(), name);
        let Some(loaded) = checker.to_mutate(&module) else { return vec!["it cannot be loaded".to_owned()] };
        let Mutants { valid, invalid } = Mutants::of(&loaded, &[&splice], name.len() as u64);
        let mut complaints: Vec<String> =
            invalid.iter().map(|(mutant, message)| format!("{mutant}: {message}")).collect();
        for mutant in valid.iter().step_by(valid.len().div_ceil(4).max(1)) {
            spliced.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let report = checker.check(&module, &checker.made(mutant.module.words(), mutant.mutator));
            let complaint = support::complaint(&report, None);
            complaints.extend(complaint.map(|complaint| format!("{mutant}: {complaint}")));
        }
        complaints
    });
    let spliced = spliced.into_inner();
    assert!(spliced >= 2 * GENERATORS.len(), "only {spliced} mutants");
}
