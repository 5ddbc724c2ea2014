//! Groups of invocations that do not communicate: explored apart they must do what they do together.

#[path = "groups/pairs.rs"]
mod pairs;
#[path = "groups/program.rs"]
mod program;

use std::collections::BTreeSet;
use std::time::Duration;

use spirv_tv::behaviour::{Behaviours, Bound, End, Outcome, Stopped};
use spirv_tv::explore::{explore, Races, ReductionName, Reductions, Settings};
use spirv_tv::launch::{build_dispatch, inputs, Launch};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::module::Module;
use spirv_tv::value::Byte;

use crate::support::Checker;
use program::{Program, Step};

/// What a program does.
fn behaviours(program: &Program, settings: &Settings) -> Behaviours {
    let checker = Checker::new(&program.args());
    let text = program.text();
    let module =
        Module::from_text(&text, "groups", &checker.read).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let lowered = lower(&module, &LowerOptions::default()).unwrap();
    let launch = Launch::resolve(&checker.options.launch, &lowered, None).unwrap();
    let inputs = inputs::inputs(&lowered, None, &launch, 1, 0, &mut |_, _| Some(Default::default())).unwrap();
    explore(&lowered, &build_dispatch(&lowered, &launch, &inputs[0]).unwrap(), settings)
}

/// Programs that take longer are not compared.
const SLOW: Duration = Duration::from_secs(5);

fn together() -> Settings {
    Settings {
        without: Reductions::of(&[ReductionName::Components, ReductionName::Merging]),
        jobs: 1,
        max_executions: 5_000,
        timeout: Some(SLOW),
        ..Settings::default()
    }
}

fn apart() -> Settings {
    Settings { without: Reductions::of(&[ReductionName::Merging]), ..together() }
}

fn outcomes(found: &Behaviours) -> BTreeSet<&Outcome> {
    found.outcomes.iter().map(|(outcome, _)| outcome).collect()
}

/// Threads of a workgroup each.
fn alone(threads: &[&[Step]]) -> Program {
    Program { local_size: 1, threads: threads.iter().map(|steps| steps.to_vec()).collect() }
}

/// How a program's behaviours differ, explored apart and together; `None` where that takes too long.
fn difference(program: &Program, races: Races) -> Option<Result<(Behaviours, Behaviours), String>> {
    let whole = behaviours(program, &Settings { races, ..together() });
    if whole.stopped.is_some() {
        return None;
    }
    let parts = behaviours(program, &Settings { races, ..apart() });
    let both = behaviours(program, &Settings { races, jobs: 2, ..apart() });
    Some(compared(&whole, &parts).and_then(|()| {
        let same =
            (parts.explored, parts.executions.saturating()) == (both.explored, both.executions.saturating());
        let undefined = |found: &Behaviours| format!("{:?}", found.undefined);
        match same && parts.outcomes == both.outcomes && undefined(&parts) == undefined(&both) {
            true => Ok((whole, parts)),
            false => Err("two jobs find something else".to_owned()),
        }
    }))
}

fn compared(whole: &Behaviours, parts: &Behaviours) -> Result<(), String> {
    let state = |found: &Behaviours| {
        (found.complete, found.stopped, found.bounded, found.undecided.clone(), found.undefined.is_empty())
    };
    if state(whole) != state(parts) {
        return Err(format!("together {:?}, apart {:?}", state(whole), state(parts)));
    }
    let (of_whole, of_parts) = (outcomes(whole), outcomes(parts));
    if of_whole != of_parts {
        return Err(format!(
            "only together {:?}, only apart {:?}",
            of_whole.difference(&of_parts).collect::<Vec<_>>(),
            of_parts.difference(&of_whole).collect::<Vec<_>>()
        ));
    }
    // Together, the final values of those who end are none of a hang.
    let hangs = whole.outcomes.iter().any(|(outcome, _)| outcome.end == End::Hang);
    let counts = |found: &Behaviours| {
        let each: Vec<u64> = found.outcomes.iter().map(|(_, witness)| witness.executions).collect();
        (found.executions.saturating(), each)
    };
    if !hangs && counts(whole) != counts(parts) {
        return Err(format!("together {:?}, apart {:?}", counts(whole), counts(parts)));
    }
    let values = |found: &Behaviours| (found.produced.clone(), found.speculates);
    if !whole.outcomes.is_empty() && whole.undefined.is_empty() && values(whole) != values(parts) {
        return Err(format!("together {:?}, apart {:?}", values(whole), values(parts)));
    }
    // A path together ends at the first.
    let told =
        |found: &Behaviours| -> BTreeSet<_> { found.undefined.iter().map(|(u, _)| u.clone()).collect() };
    match told(whole).is_subset(&told(parts)) {
        true => Ok(()),
        false => Err(format!("undefined together {:?}, apart {:?}", told(whole), told(parts))),
    }
}

/// What random programs showed.
#[derive(Debug, Default)]
struct Shown {
    compared: usize,
    /// Less was explored apart.
    apart: usize,
    undefined: usize,
    hangs: usize,
    /// Outcomes beside hangs.
    some_hang: usize,
    volatile: usize,
    speculate: usize,
    too_large: usize,
}

impl Shown {
    fn note(&mut self, whole: &Behaviours, parts: &Behaviours) {
        let hangs = whole.outcomes.iter().filter(|(outcome, _)| outcome.end == End::Hang).count();
        let traces =
            whole.outcomes.iter().any(|(outcome, _)| outcome.volatile.iter().any(|trace| !trace.is_empty()));
        self.compared += 1;
        let apart = parts.explored < whole.explored;
        self.apart += usize::from(apart);
        self.undefined += usize::from(apart && !whole.undefined.is_empty());
        self.hangs += usize::from(apart && hangs > 0);
        self.some_hang += usize::from(apart && hangs > 0 && hangs < whole.outcomes.len());
        self.volatile += usize::from(apart && traces);
        self.speculate += usize::from(apart && whole.speculates);
    }
}

#[test]
fn random_programs_do_apart_what_they_do_together() {
    let mut shown = Shown::default();
    let mut failures = Vec::new();
    let first = std::env::var("GROUPS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let count = std::env::var("GROUPS_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(200);
    for seed in first..first + count {
        let program = Program::random(seed);
        let races = if seed % 4 == 0 { Races::Keep } else { Races::Undefined };
        let started = std::time::Instant::now();
        let difference = difference(&program, races);
        if started.elapsed().as_secs() >= 1 {
            println!("seed {seed} took {:?}", started.elapsed());
        }
        match difference {
            None => shown.too_large += 1,
            Some(Ok((whole, parts))) => shown.note(&whole, &parts),
            Some(Err(why)) => failures.push(format!("seed {seed}, {races:?}: {why}\n{program:#?}")),
        }
        if failures.len() == 3 {
            break;
        }
    }
    println!("{shown:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n----\n"));
    let least = shown.compared / 40;
    let Shown { apart, undefined, hangs, some_hang, volatile, .. } = shown;
    for share in [apart / 4, undefined, hangs, some_hang, volatile] {
        assert!(share > least, "{shown:?}");
    }
}

/// Compares a program, and says how much less was explored apart.
fn saved(program: &Program) -> (Behaviours, Behaviours) {
    let compared = difference(program, Races::Undefined).expect("it is small");
    compared.unwrap_or_else(|why| panic!("{why}\n{program:#?}"))
}

/// Store buffering, of 4 executions. It ends with updates: those who only read end apart from each other anyway.
fn store_buffering(first: u32) -> [Vec<Step>; 2] {
    let side = |own: u32, other: u32| vec![Step::Store(own, 1), Step::Add(other)];
    [side(first, first + 1), side(first + 1, first)]
}

#[test]
fn independent_pairs_are_explored_apart() {
    let threads = (0..3).flat_map(|pair| store_buffering(2 * pair)).collect();
    let (whole, parts) = saved(&Program { local_size: 1, threads });
    assert_eq!((whole.explored, parts.explored, parts.executions.saturating()), (64, 12, 64));
}

/// More executions than a number has room for: the most that it can say.
#[test]
fn many_executions_are_told_as_the_most_there_can_be() {
    let group =
        |word: u32| [(1..5).map(|value| Step::Store(word, value)).collect(), vec![Step::Load(word); 10]];
    let program = Program { local_size: 1, threads: (0..8).flat_map(group).collect() };
    let found = behaviours(&program, &Settings { max_memory: 32 << 20, max_executions: u64::MAX, ..apart() });
    assert_eq!(found.stopped, Some(Stopped::MaxMemory));
    assert_eq!((found.explored, found.executions.saturating()), (8 * 1001, u64::MAX));
    assert!(!found.outcomes.is_empty() && !found.complete);
}

/// The index of a store depends on a value that only the weak outcome of the first pair has.
#[test]
fn groups_that_meet_in_one_execution_are_one() {
    let [left, mut right] = store_buffering(0);
    right.push(Step::If(0, Box::new(Step::Store(4, 1))));
    let [a, b] = store_buffering(3);
    let (whole, parts) = saved(&alone(&[&left, &right, &a, &b]));
    assert_eq!(whole.explored, parts.explored);
    // The same, but for a word of its own.
    let [left, mut right] = store_buffering(0);
    right.push(Step::If(0, Box::new(Step::Store(6, 1))));
    let (whole, parts) = saved(&alone(&[&left, &right, &a, &b]));
    assert!(parts.explored < whole.explored);
}

/// Where the store goes is computed.
#[test]
fn groups_that_meet_at_a_computed_word_are_one() {
    let [left, mut right] = store_buffering(0);
    // Behind the last word of its own lies the other group's first.
    right.push(Step::StoreBehind(2));
    let [a, b] = store_buffering(3);
    let (whole, parts) = saved(&alone(&[&left, &right, &a, &b]));
    assert_eq!(whole.explored, parts.explored);
}

/// A word that both groups read, and one of them writes.
#[test]
fn readers_count() {
    let [left, mut right] = store_buffering(0);
    right.push(Step::Load(2));
    let [a, b] = store_buffering(2);
    let (whole, parts) = saved(&alone(&[&left, &right, &a, &b]));
    assert_eq!(whole.explored, parts.explored);
    let [left, mut right] = store_buffering(0);
    right.push(Step::If(0, Box::new(Step::PlainLoad(2))));
    let (whole, _) = saved(&alone(&[&left, &right, &a, &b]));
    assert!(!whole.undefined.is_empty(), "a race of two groups");
    // Nobody writes what both read.
    let read = |steps: &[Step]| [steps, &[Step::Load(9)]].concat();
    let [left, right] = store_buffering(0).map(|steps| read(&steps));
    let [a, b] = store_buffering(2).map(|steps| read(&steps));
    let (whole, parts) = saved(&alone(&[&left, &right, &a, &b]));
    assert!(parts.explored < whole.explored);
}

/// The only meeting of two groups is a cycle of load buffering, whose writes run nowhere else. Each has a cycle of its own, which
/// is forbidden.
#[test]
fn a_cycle_may_lead_through_groups_that_meet_nowhere_else() {
    let only_if = |value, step| Step::If(value, Box::new(step));
    let first = |own, other| vec![Step::Load(own), only_if(1, Step::Store(other, 1)), Step::Store(own, 2)];
    let second = |own| vec![Step::Load(own), only_if(2, Step::Store(own, 1))];
    let (whole, _) = saved(&alone(&[&first(0, 1), &first(1, 0), &second(0), &second(1)]));
    let reads_one = |(outcome, _): &(Outcome, _)| outcome.memory[1][0] == Byte::Known(1);
    assert!(whole.outcomes.iter().any(reads_one), "the cycle is allowed");
}

/// Neither group shares the word in which both have an access in some executions.
#[test]
fn accesses_without_events_count() {
    let meets = |step| {
        let [left, mut right] = store_buffering(0);
        right.push(Step::If(0, Box::new(Step::PlainStore(9, 1))));
        let [a, mut b] = store_buffering(2);
        b.push(Step::If(0, Box::new(step)));
        saved(&alone(&[&left, &right, &a, &b]))
    };
    assert!(!meets(Step::PlainLoad(9)).0.undefined.is_empty(), "a race");
    assert!(!meets(Step::PlainStore(9, 2)).0.undefined.is_empty(), "a race");
    let (whole, parts) = meets(Step::PlainLoad(10));
    assert!(parts.explored < whole.explored);
    // No path of a scout has both.
    let [left, mut right] = store_buffering(0);
    right.push(Step::If(0, Box::new(Step::PlainStore(9, 1))));
    let [a, mut b] = store_buffering(2);
    b.push(Step::If(1, Box::new(Step::PlainLoad(9))));
    assert!(!saved(&alone(&[&left, &right, &a, &b])).0.undefined.is_empty(), "a race");
}

#[test]
fn who_hangs_alone_hangs_the_whole() {
    let [left, right] = store_buffering(0);
    // The flag is 1 only if the load finds it.
    let waits = [Step::VolatileLoad(2), Step::Await(3, 1)];
    let writes = [Step::VolatileStore(2, 1), Step::Load(2), Step::If(2, Box::new(Step::Store(3, 1)))];
    let (whole, parts) = saved(&alone(&[&left, &right, &waits, &writes]));
    assert!(whole.outcomes.iter().all(|(outcome, _)| outcome.end == End::Hang));
    assert!(parts.explored < whole.explored);
}

/// Another group may still let those go on who would wait for ever alone.
#[test]
fn who_hangs_alone_may_be_released_by_another_group() {
    let [left, mut right] = store_buffering(0);
    right.push(Step::If(0, Box::new(Step::Store(3, 1))));
    let waits = [Step::Load(2), Step::Await(3, 1)];
    let writes = [Step::Store(2, 1)];
    let (whole, parts) = saved(&alone(&[&left, &right, &waits, &writes]));
    let hangs = whole.outcomes.iter().filter(|(outcome, _)| outcome.end == End::Hang).count();
    assert!(hangs > 0 && hangs < whole.outcomes.len());
    assert_eq!(whole.explored, parts.explored);
}

/// Invocations that meet at barriers alone.
#[test]
fn workgroups_with_barriers_are_groups() {
    let phase = |word: u32| vec![Step::Store(word, 1), Step::Barrier, Step::Load(word ^ 1)];
    let threads = (0..4).map(phase).collect();
    let (whole, parts) = saved(&Program { local_size: 2, threads });
    assert_eq!((whole.executions.saturating(), parts.executions.saturating()), (1, 1));
    // An invocation that waits for ever keeps its workgroup from the barrier.
    let [left, right] = store_buffering(0);
    let [a, b] = store_buffering(2);
    let waiting = |steps: &[Step], word| [steps, &[Step::Barrier, Step::Store(word, 1)]].concat();
    let mut threads = vec![waiting(&left, 4), waiting(&right, 5), waiting(&a, 6), waiting(&b, 7)];
    threads[0].insert(2, Step::Await(1, 1));
    threads[2].insert(2, Step::If(0, Box::new(Step::Await(8, 1))));
    let (whole, parts) = saved(&Program { local_size: 2, threads });
    assert!(parts.explored < whole.explored);
}

/// Two invocations of a workgroup have nothing in common but a barrier; each communicates with another workgroup.
#[test]
fn who_waits_at_a_barrier_is_of_one_group() {
    let waits = |steps: &Vec<Step>| [steps.as_slice(), &[Step::Barrier]].concat();
    let ([left, right], [a, b]) = (store_buffering(0), store_buffering(2));
    let (whole, parts) =
        saved(&Program { local_size: 2, threads: [left, a, right, b].iter().map(waits).collect() });
    assert_eq!((whole.explored, parts.explored), (16, 16));
}

/// What one group executes and what another one does count together.
#[test]
fn instructions_count_over_all_groups() {
    let [a, b] = store_buffering(0);
    let [c, d] = store_buffering(2);
    let is_bounded = |program: &Program, max_instructions| {
        let found = behaviours(program, &Settings { max_instructions, ..apart() });
        assert!(found.bounded.is_none_or(|bound| bound == Bound::MaxInstructions));
        found.bounded.is_some()
    };
    let enough = |program: &Program| (1..400).find(|count| !is_bounded(program, *count)).expect("it ends");
    let pair = enough(&alone(&[&a, &b]));
    let both = alone(&[&a, &b, &c, &d]);
    assert!(is_bounded(&both, pair) && is_bounded(&both, pair + pair / 2));
    assert!(enough(&both) <= 3 * pair);
}
