//! Generated programs have one outcome and nothing undefined, and are equivalent to what rewrites make of them.

use crate::support::{self, schema, Checker};
use rayon::prelude::*;
use spirv_tv::check::{outcomes, Watch};
use spirv_tv::report::json;
use spirv_tv_mutators::generate::{Generator, Program, GENERATORS};
use spirv_tv_mutators::{Mutants, PRESERVING, STRENGTHENING};

/// Seeds of each generator whose outcomes are computed, and of those whose rewrites are checked.
const SEEDS: std::ops::Range<u64> = 0..10;
const REWRITTEN: std::ops::Range<u64> = 0..2;

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

/// The launch of a program, as options.
fn launch(program: &Program) -> Vec<String> {
    let words = |bytes: &[u8]| {
        let words = bytes.chunks(4).map(|word| {
            let word = word.try_into().map(u32::from_le_bytes).expect("whole words");
            word.to_string()
        });
        words.collect::<Vec<_>>().join(",")
    };
    let [x, y, z] = program.workgroups;
    let mut options = vec![format!("--workgroups={x},{y},{z}")];
    options.extend(program.subgroup_size.map(|size| format!("--subgroup-size={size}")));
    for buffer in &program.buffers {
        options.push(format!("--buffer={}.{}=words:{}", buffer.set, buffer.binding, words(&buffer.bytes)));
    }
    if !program.push_constants.is_empty() {
        options.push(format!("--push=words:{}", words(&program.push_constants)));
    }
    options.extend(program.specialisation.iter().map(|(id, value)| format!("--spec={id}={value}")));
    options
}

#[test]
fn programs_have_exactly_one_outcome() {
    of_all(SEEDS, |name, program| {
        let checker = Checker::new(&launch(program));
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
    of_all(REWRITTEN, |name, program| {
        let mut checker = Checker::new(&launch(program));
        let module = checker.made(program.words.clone(), name);
        let Some(loaded) = checker.to_mutate(&module) else { return vec!["it cannot be loaded".to_owned()] };
        let mut complaints = Vec::new();
        for (mutators, both_ways) in [(PRESERVING, true), (STRENGTHENING, false)] {
            checker.options.both_ways = both_ways;
            for mutator in mutators {
                let Mutants { valid, invalid } = Mutants::of(&loaded, &[*mutator], 1);
                complaints.extend(invalid.iter().map(|(mutant, message)| format!("{mutant}: {message}")));
                let step = valid.len().div_ceil(2).max(1);
                for mutant in valid.iter().step_by(step) {
                    let rewritten = checker.made(mutant.module.words(), mutant.mutator);
                    let report = checker.check(&module, &rewritten);
                    let complaint = support::complaint(&report, None);
                    complaints.extend(complaint.map(|complaint| format!("{mutant}: {complaint}")));
                }
            }
        }
        complaints
    });
}
