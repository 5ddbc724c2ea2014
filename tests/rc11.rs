//! Another model than Vulkan's behind `MemoryModel`: RC11. Searches under it find what brute force finds, every broken
//! rule shows, and checks explain and report by it.

#[path = "rc11/axioms.rs"]
mod axioms;
#[path = "rc11/brute.rs"]
mod brute;
#[path = "rc11/cycles.rs"]
mod cycles;
#[path = "rc11/matrix.rs"]
mod matrix;
#[path = "rc11/model.rs"]
mod model;
#[path = "rc11/programs.rs"]
mod programs;
#[path = "rc11/render.rs"]
mod render;
#[path = "rc11/search.rs"]
mod search;

use std::ops::Range;

use rayon::prelude::*;
use spirv_tv::explore::Races;

use brute::brute;
use model::{Rc11, Weakened};
use programs::make;
use search::{Answer, Searched};

/// Programs that are compared, and those that `all_programs_have_the_outcomes_of_brute_force` compares.
const SEEDS: Range<u64> = 0..2000;
const ALL_SEEDS: Range<u64> = 0..2000;

/// What comparing programs came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    programs: usize,
    racy: usize,
    several: usize,
    executions: usize,
}

impl std::ops::Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count {
            programs: self.programs + other.programs,
            racy: self.racy + other.racy,
            several: self.several + other.several,
            executions: self.executions + other.executions,
        }
    }
}

/// What a program does by brute force.
fn expected(found: &brute::Found, races: Races) -> Answer {
    match found.is_racy && races == Races::Undefined {
        true => Answer::Undefined,
        false => Answer::Outcomes(found.outcomes.clone()),
    }
}

/// Compares the searches of a seed's program with brute force.
fn compare(seed: u64) -> Result<Count, String> {
    let program = make(seed);
    let found = brute(&program);
    let searched = Searched::new(&program);
    for races in [Races::Undefined, Races::Keep] {
        let answer = searched.search(Rc11::default(), races);
        let expected = expected(&found, races);
        if answer != expected {
            return Err(format!("seed {seed}, {races:?}: {answer:?} for {expected:?}\n{program:#?}"));
        }
    }
    let several = usize::from(found.outcomes.len() > 1);
    Ok(Count { programs: 1, racy: usize::from(found.is_racy), several, executions: found.executions })
}

fn compare_all(seeds: Range<u64>) -> Count {
    let compared: Vec<Result<Count, String>> = seeds.into_par_iter().map(compare).collect();
    let differences: Vec<&String> = compared.iter().filter_map(|result| result.as_ref().err()).collect();
    if let Some(first) = differences.first() {
        panic!("{} of {} programs differ\n{first}", differences.len(), compared.len());
    }
    let count = compared.into_iter().flatten().fold(Count::default(), |sum, count| sum + count);
    println!("{count:?}");
    assert!(count.racy * 10 > count.programs && count.racy * 2 < count.programs, "{count:?}");
    assert!(count.several * 4 > count.programs * 3, "{count:?}");
    count
}

#[test]
fn searches_find_what_brute_force_finds() {
    compare_all(SEEDS);
}

#[test]
#[ignore = "takes minutes"]
fn all_programs_have_the_outcomes_of_brute_force() {
    compare_all(ALL_SEEDS);
}

/// Every way to break the model.
const WEAKENED: [Weakened; 19] = [
    Weakened::NoThinAir,
    Weakened::Coherence,
    Weakened::Atomicity,
    Weakened::Sc,
    Weakened::PscBase,
    Weakened::PscF,
    Weakened::ScbHbAtLocation,
    Weakened::ScbAround,
    Weakened::ScbAroundAnywhere,
    Weakened::ScbMo,
    Weakened::ScbRb,
    Weakened::ReleaseFences,
    Weakened::AcquireFences,
    Weakened::ReleaseSequenceUpdates,
    Weakened::ReleaseSequenceStores,
    Weakened::SynchronizingAccesses,
    Weakened::ReadWriteRaces,
    Weakened::WriteWriteRaces,
    Weakened::AtomicRaces,
];

/// The seeds whose programs show that a rule is broken.
fn that_notice(rule: Weakened, seeds: Range<u64>) -> Vec<u64> {
    let notices = |seed: &u64| {
        let program = make(*seed);
        let found = brute(&program);
        let searched = Searched::new(&program);
        let model = Rc11 { weakened: Some(rule) };
        [Races::Undefined, Races::Keep]
            .into_iter()
            .any(|races| searched.search(model, races) != expected(&found, races))
    };
    seeds.into_par_iter().filter(notices).collect()
}

#[test]
fn every_broken_rule_shows() {
    for rule in WEAKENED {
        let seeds = that_notice(rule, SEEDS);
        println!("{rule:?}: {} programs, {:?}", seeds.len(), seeds.first());
    }
}
