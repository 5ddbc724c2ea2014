//! Every module of the corpus refines itself with every shortcut off, and refines and is refined by
//! what rewrites that keep the meaning make of it. What strengthenings make of it refines it.

use crate::support;
use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::support::Checker;
use spirv_tv::explore::Races;
use spirv_tv::module::Module;
use spirv_tv_mutators::{Mutant, Mutants, PRESERVING, STRENGTHENING};
use spirv_tv_toolchain::{optimize, OptimizeOptions};

#[test]
fn every_module_refines_itself_with_every_shortcut_off() {
    support::for_all(|subject| {
        if subject.has_many_updates() {
            return Vec::new();
        }
        let mut checker = Checker::new(&subject.args);
        checker.options.self_check = true;
        let module = checker.module(&subject.path);
        let report = checker.check(&module, &module);
        support::complaint(&report, subject.undecided.as_deref()).into_iter().collect()
    });
}

/// So many inputs are searched where no others are looked at.
const SEARCHED: u32 = 4;

/// Further inputs are looked at with one of so many mutants, unless with all.
const LOOKED_AT: usize = 4;

#[test]
fn every_module_is_equivalent_to_its_rewrites() {
    rewrites_are_equivalent(LOOKED_AT);
}

#[test]
#[ignore = "takes minutes in debug builds"]
fn every_module_is_equivalent_to_its_rewrites_on_all_inputs() {
    rewrites_are_equivalent(1);
}

/// With one of so many rewrites further inputs are looked at.
fn rewrites_are_equivalent(looked_at: usize) {
    let used = Mutex::new(BTreeMap::<&str, usize>::new());
    support::for_all(|subject| {
        let mut checker = Checker::new(&subject.args);
        checker.options.both_ways = true;
        let module = checker.module(&subject.path);
        let mut complaints = Vec::new();
        // With races kept, every order of its accesses would count.
        let ways: &[Races] = match subject.has_many_updates() {
            true => &[Races::Undefined],
            false => &[Races::Undefined, Races::Keep],
        };
        let given = checker.options.launch.inputs;
        for (number, (name, words)) in rewrites(&checker, &module).into_iter().enumerate() {
            *used.lock().unwrap().entry(name).or_default() += 1;
            let rewritten = checker.made(words, name);
            // Every second one with both readings of races.
            for races in &ways[..if number % 2 == 0 { 1 } else { ways.len() }] {
                checker.options.races = *races;
                // Where races are kept, none are.
                let looks = *races == Races::Undefined && is_one_of(looked_at, &module, number);
                checker.options.launch.inputs = given.or((!looks).then_some(SEARCHED));
                let report = checker.check(&module, &rewritten);
                let complaint = support::complaint(&report, subject.undecided.as_deref());
                complaints.extend(complaint.map(|complaint| format!("{name}, {races:?}: {complaint}")));
            }
        }
        complaints
    });
    let used = used.into_inner().unwrap();
    println!("{used:?}");
    for mutator in PRESERVING.iter().filter(|mutator| !GENERATED.contains(&mutator.name())) {
        assert!(used.get(mutator.name()).is_some_and(|count| *count >= 5), "{}: {used:?}", mutator.name());
    }
}

/// Rewrites that the corpus has hardly anything for. `generated.rs` sees to it that they have in generated programs.
pub const GENERATED: [&str; 2] = ["accesses-split", "vectors-scalarised"];

/// So many mutants of each strengthening are checked per module.
const STRENGTHENINGS: usize = 2;

#[test]
fn every_module_is_refined_by_its_strengthenings() {
    strengthenings_refine(LOOKED_AT);
}

#[test]
#[ignore = "takes minutes in debug builds"]
fn every_module_is_refined_by_its_strengthenings_on_all_inputs() {
    strengthenings_refine(1);
}

/// With one of so many mutants further inputs are looked at.
fn strengthenings_refine(looked_at: usize) {
    let used = Mutex::new(BTreeMap::<&str, usize>::new());
    support::for_all(|subject| {
        if subject.has_many_updates() {
            return Vec::new();
        }
        let mut checker = Checker::new(&subject.args);
        let module = checker.module(&subject.path);
        let Some(loaded) = checker.to_mutate(&module) else { return Vec::new() };
        let mut complaints = Vec::new();
        let (given, mut number) = (checker.options.launch.inputs, 0);
        for mutator in STRENGTHENING {
            let Mutants { valid, invalid } = Mutants::of(&loaded, &[*mutator], 0);
            let refused = invalid.iter().map(|(mutant, message)| format!("{mutant}: {message}"));
            complaints.extend(refused);
            // Some from all over the module.
            let step = valid.len().div_ceil(STRENGTHENINGS).max(1);
            for Mutant { mutator, module: stronger, .. } in valid.iter().step_by(step) {
                *used.lock().unwrap().entry(mutator).or_default() += 1;
                let looks = is_one_of(looked_at, &module, number);
                checker.options.launch.inputs = given.or((!looks).then_some(SEARCHED));
                number += 1;
                let report = checker.check(&module, &checker.made(stronger.words(), mutator));
                let complaint = support::complaint(&report, subject.undecided.as_deref());
                complaints.extend(complaint.map(|complaint| format!("{mutator}: {complaint}")));
            }
        }
        complaints
    });
    let used = used.into_inner().unwrap();
    println!("{used:?}");
    for mutator in STRENGTHENING {
        assert!(used.get(mutator.name()).is_some_and(|count| *count >= 5), "{}: {used:?}", mutator.name());
    }
}

/// Whether the mutant of this number is one of so many, which are others with each module.
fn is_one_of(many: usize, module: &Module, number: usize) -> bool {
    (module.words.len() + number).is_multiple_of(many)
}

/// One of so many rewrites is made upon the others.
const STACKED: u64 = 4;

/// Modules that the optimiser's inlining changes (`corpus/findings`).
const INLINED_WRONGLY: [&str; 3] = [
    "glsl-coherent-parameter-dropped",
    "inlined-initializer-stored-to-constant-table",
    "inlining-drops-coherent",
];

/// Modules that mean the same: each rewrite by itself, some of them one upon the other, and the optimiser's inlining.
/// A rewrite's choices come from a seed that each module has of its own.
fn rewrites(checker: &Checker, module: &Module) -> Vec<(&'static str, Vec<u32>)> {
    let Some(loaded) = checker.to_mutate(module) else { return Vec::new() };
    let seed =
        module.words.iter().fold(0_u64, |seed, word| seed.wrapping_mul(31).wrapping_add(u64::from(*word)));
    let Mutants { valid, invalid } = Mutants::of(&loaded, PRESERVING, seed);
    if let Some((mutant, message)) = invalid.first() {
        panic!("{}: {mutant}: {message}", module.name);
    }
    let mut rewrites: Vec<_> = valid.iter().map(|mutant| (mutant.mutator, mutant.module.words())).collect();
    let some = PRESERVING
        .iter()
        .enumerate()
        .filter(|(number, _)| seed.wrapping_add(*number as u64).is_multiple_of(STACKED));
    let stacked = some.fold(loaded, |module, (_, mutator)| {
        let first = mutator.mutants(&module, seed).next().map(|mutant| mutant.module);
        first.unwrap_or(module)
    });
    rewrites.push(("stacked", stacked.words()));
    if !INLINED_WRONGLY.iter().any(|name| module.name.contains(name)) {
        rewrites.push(("spirv-opt", inlined(checker, module)));
    }
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
