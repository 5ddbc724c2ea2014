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
#[path = "rc11/reports.rs"]
mod reports;
#[path = "rc11/search.rs"]
mod search;

use std::ops::Range;

use rayon::prelude::*;
use spirv_tv::explore::Races;

use brute::brute;
use model::{Rc11, Weakened};
use programs::{make, Mode, Program, Step, Value};
use search::{Answer, Searched};

/// Programs that are compared.
const SEEDS: Range<u64> = 0..2000;

/// Programs among which each broken rule must show.
const WEAKENED_SEEDS: Range<u64> = 0..400;

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

/// Where searches of a program differ from brute force.
fn difference(program: &Program, found: &brute::Found, weakened: Option<Weakened>) -> Option<String> {
    let searched = Searched::new(program);
    let ways = [(Races::Undefined, true), (Races::Keep, true), (Races::Undefined, false)];
    ways.into_iter().find_map(|(races, shortcuts)| {
        let answer = searched.search(Rc11 { weakened }, races, shortcuts);
        let expected = expected(found, races);
        (answer != expected).then(|| format!("{races:?}: {answer:?} for {expected:?}\n{program:#?}"))
    })
}

/// Compares the searches of a seed's program with brute force.
fn compare(seed: u64) -> Result<Count, String> {
    let program = make(seed);
    let found = brute(&program);
    if let Some(difference) = difference(&program, &found, None) {
        return Err(format!("seed {seed}, {difference}"));
    }
    let several = usize::from(found.outcomes.len() > 1);
    Ok(Count { programs: 1, racy: usize::from(found.is_racy), several, executions: found.executions })
}

#[test]
fn searches_find_what_brute_force_finds() {
    let compared: Vec<Result<Count, String>> = SEEDS.into_par_iter().map(compare).collect();
    let differences: Vec<&String> = compared.iter().filter_map(|result| result.as_ref().err()).collect();
    if let Some(first) = differences.first() {
        panic!("{} of {} programs differ\n{first}", differences.len(), compared.len());
    }
    let count = compared.into_iter().flatten().fold(Count::default(), |sum, count| sum + count);
    println!("{count:?}");
    assert!(count.racy * 10 > count.programs && count.racy * 2 < count.programs, "{count:?}");
    assert!(count.several * 4 > count.programs * 3, "{count:?}");
}

/// Every way to break an axiom or a relation.
const WEAKENED: [Weakened; 20] = [
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
    Weakened::Barriers,
];

#[test]
fn every_broken_rule_shows() {
    let programs: Vec<(Program, brute::Found)> = WEAKENED_SEEDS
        .map(|seed| {
            let program = make(seed);
            let found = brute(&program);
            (program, found)
        })
        .collect();
    let is_noticed = |rule: &Weakened| {
        programs.iter().any(|(program, found)| difference(program, found, Some(*rule)).is_some())
    };
    let unnoticed: Vec<&Weakened> = WEAKENED.iter().filter(|rule| !is_noticed(rule)).collect();
    assert!(unnoticed.is_empty(), "no program notices {unnoticed:?}");
}

/// A program without barriers, each invocation in a workgroup of its own.
fn program(invocations: Vec<Vec<Step>>) -> Program {
    Program { phases: vec![invocations], one_workgroup: false }
}

fn store(at: usize, mode: Mode, value: u32) -> Step {
    Step::Store { at, mode, value: Value::Constant(value) }
}

fn load(at: usize, mode: Mode, register: usize) -> Step {
    Step::Load { at, mode, register }
}

/// The store of z, which nobody else accesses, is what makes the first two events of y sb|≠loc-related to others.
#[test]
fn accesses_that_nobody_shares_are_events_where_the_model_says_so() {
    use Mode::{Acquire, Plain, Release, SequentiallyConsistent};
    let (x, y, z) = (0, 1, 2);
    let outcomes = |between: Vec<Step>| {
        let first = [vec![store(y, SequentiallyConsistent, 1)], between, vec![store(y, Release, 2)]].concat();
        let second = vec![load(y, Acquire, 0), load(x, SequentiallyConsistent, 1)];
        let third = vec![store(x, SequentiallyConsistent, 1), load(y, SequentiallyConsistent, 0)];
        program(vec![first, second, third])
    };
    let with = outcomes(vec![store(z, Plain, 1)]);
    let found = brute(&with);
    assert_eq!(difference(&with, &found, None), None);
    assert!(difference(&with, &found, Some(Weakened::Unshared)).is_some());
    let without = brute(&outcomes(Vec::new()));
    assert!(without.outcomes.len() > found.outcomes.len());
}

/// Barriers order the accesses of a model only where it says so: where they do not, the accesses are events, and race.
#[test]
fn barriers_order_where_the_model_says_so() {
    let phases = vec![
        vec![vec![store(0, Mode::Plain, 1)], Vec::new()],
        vec![Vec::new(), vec![load(0, Mode::Plain, 0)]],
    ];
    let program = Program { phases, one_workgroup: true };
    // So that the Vulkan model, too, has no race.
    let text = render::module(&program)
        .replace("%shared Binding 0", "%shared Binding 0\nOpDecorate %shared Coherent");
    let searched = Searched::of_text(&text, 1, [programs::LOCATIONS, 2 * programs::REGISTERS]);
    let answer = |weakened| searched.search(Rc11 { weakened }, Races::Undefined, true);
    assert_eq!(answer(None), expected(&brute(&program), Races::Undefined));
    assert_eq!(answer(Some(Weakened::Barriers)), Answer::Undefined);
}
