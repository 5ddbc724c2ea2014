//! The fast explorer against the naive twin: the memory model as plain sets, and brute force over all
//! candidate executions, on random small programs.

#[path = "twin/axioms.rs"]
mod axioms;
#[path = "twin/buffering.rs"]
mod buffering;
#[path = "twin/engine.rs"]
mod engine;
#[path = "twin/enumerate.rs"]
mod enumerate;
#[path = "twin/generate.rs"]
mod generate;
#[path = "twin/interleave.rs"]
mod interleave;
#[path = "twin/khronos.rs"]
mod khronos;
#[path = "twin/litmus.rs"]
mod litmus;
#[path = "twin/location_order.rs"]
mod location_order;
#[path = "twin/loops/mod.rs"]
mod loops;
#[path = "twin/model.rs"]
mod model;
#[path = "twin/program.rs"]
mod program;
#[allow(dead_code, reason = "the tests in litmus syntax are for tests/rules.rs")]
#[path = "rules/programs.rs"]
mod programs;
#[path = "twin/random_herd.rs"]
mod random_herd;
#[path = "twin/random_litmus.rs"]
mod random_litmus;
#[path = "twin/reduce.rs"]
mod reduce;
#[path = "twin/relation.rs"]
mod relation;
#[path = "twin/render.rs"]
mod render;
#[path = "support/require.rs"]
mod require;
#[allow(dead_code, reason = "the list of all rules is for tests/rules.rs")]
#[path = "twin/rule.rs"]
mod rule;
#[path = "twin/synchronize.rs"]
mod synchronize;

use std::collections::BTreeSet;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use spirv_tv::explore::{Races, ReductionName, Reductions};

use engine::How;
use enumerate::{enumerate, Found, Outcome};
use model::{Scope, Semantics, Variant};
use program::{
    Guard, Instruction, Location, Phase, Program, Shape, Space, Step, Update, Value, BUFFER_WORDS,
};

/// Programs that take so many seconds are named.
const SLOW: u64 = 2;

/// After so many failures a run ends.
const MAX_FAILURES: usize = 3;

/// Seconds to spend on shrinking a failure, in each of two ways.
const SHRINK: u64 = 60;

/// What share of the programs shows what.
#[derive(Debug, Default)]
struct Counters {
    compared: usize,
    /// The twin would have too many candidates, or there are too many executions.
    too_large: usize,
    /// The explorer ran out of time, or has a bound on reads that speculate.
    too_slow: usize,
    synchronising: usize,
    race_free: usize,
    weak: usize,
    load_buffering: usize,
}

/// How large the programs may be.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// Choices of reads-from and scoped modification order that the twin looks at.
    candidates: usize,
    /// Executions: under races that are kept, the explorer's speculations are slow.
    executions: usize,
}

const ORDINARY: Size = Size { candidates: 20_000, executions: 200 };
const NIGHTLY: Size = Size { candidates: 60_000, executions: 2_000 };

/// How a message about two answers begins, other than one about no answer.
const DIFFERENCE: &str = "difference in ";

/// Two sets of outcomes must be the same.
fn compare_outcomes(what: &str, twin: &BTreeSet<Outcome>, engine: &BTreeSet<Outcome>) -> Result<(), String> {
    if twin == engine {
        return Ok(());
    }
    Err(format!(
        "{DIFFERENCE}outcomes {what}: only twin {:?}, only engine {:?}",
        twin.difference(engine).collect::<Vec<_>>(),
        engine.difference(twin).collect::<Vec<_>>()
    ))
}

/// Every execution is visited.
const UNMERGED: Reductions = Reductions::of(&[ReductionName::Merging]);

/// Those of each order of invocations, too.
const ASYMMETRIC: Reductions = UNMERGED.with(ReductionName::Symmetry);

const USUAL: How =
    How { races: Races::Undefined, shortcuts: true, without: Reductions::NONE, jobs: 1, early: false };

/// How the engines differ on a program, if they do; with `thorough`, whichever way the fast one is asked.
fn difference(program: &Program, variant: Variant, found: &Found, thorough: bool) -> Result<(), String> {
    let mut ways = vec![(true, UNMERGED, 1), (true, Reductions::NONE, 1)];
    if thorough {
        ways.extend([(true, UNMERGED, 2), (true, Reductions::NONE, 2), (false, UNMERGED, 1)]);
        ways.extend(ReductionName::ALL.map(|name| (true, Reductions::of(&[name]), 1)));
    }
    for (shortcuts, without, jobs) in ways {
        for races in [Races::Keep, Races::Undefined] {
            let how = How { races, shortcuts, without, jobs, early: false };
            let answer = engine::answer(program, variant, how)?;
            if races == Races::Undefined && answer.racy != found.racy {
                return Err(format!(
                    "{DIFFERENCE}races {how:?}: twin {}, engine {}",
                    found.racy, answer.racy
                ));
            }
            if races == Races::Undefined && found.racy {
                continue;
            }
            compare_outcomes(&format!("{how:?}"), &found.outcomes, &answer.outcomes)?;
            // Without shortcuts, reads of what nobody else writes have classes of their own.
            if without == UNMERGED && answer.executions != found.executions {
                return Err(format!(
                    "{DIFFERENCE}executions {how:?}: twin {}, engine {}",
                    found.executions, answer.executions
                ));
            }
        }
    }
    let early = How { early: true, ..USUAL };
    let others = ReductionName::ALL.map(|name| How { without: Reductions::of(&[name]), ..early });
    let others = if thorough { &others[..] } else { &[] };
    for how in std::iter::once(&early).chain(others) {
        let answer = engine::answer(program, variant, *how)?;
        if answer.racy != found.racy {
            return Err(format!("{DIFFERENCE}races {how:?}: twin {}, engine {}", found.racy, answer.racy));
        }
    }
    Ok(())
}

/// What came of a program.
enum Checked {
    Compared(Found),
    TooLarge,
    TooSlow,
}

/// Compares the engines.
fn check(program: &Program, variant: Variant, size: Size, thorough: bool) -> Result<Checked, String> {
    let Some(found) = enumerate(program, variant, size.candidates) else { return Ok(Checked::TooLarge) };
    if found.executions > size.executions {
        return Ok(Checked::TooLarge);
    }
    match difference(program, variant, &found, thorough) {
        Ok(()) => Ok(Checked::Compared(found)),
        Err(why) if why.starts_with(engine::TOO_SLOW) => Ok(Checked::TooSlow),
        Err(why) => Err(why),
    }
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Shrinks a failing program: first by its strategy, then piece by piece.
fn shrink(
    mut tree: impl ValueTree<Value = Program>,
    check: impl Fn(&Program) -> Option<String>,
) -> (Program, String) {
    let is_difference = |why: &str| why.starts_with(DIFFERENCE);
    let differs = check(&tree.current()).as_deref().is_some_and(is_difference);
    let fails = |program: &Program| check(program).filter(|why| is_difference(why) == differs);
    let mut smallest = tree.current();
    let mut steps = 0;
    let started = std::time::Instant::now();
    if tree.simplify() {
        loop {
            steps += 1;
            let current = tree.current();
            let failed = fails(&current).is_some();
            if failed {
                smallest = current;
            }
            let more = if failed { tree.simplify() } else { tree.complicate() };
            if !more || steps > 100 || started.elapsed().as_secs() > SHRINK {
                break;
            }
        }
    }
    let started = std::time::Instant::now();
    let in_time = || started.elapsed().as_secs() < SHRINK;
    let smallest = reduce::reduce(smallest, |program| in_time() && fails(program).is_some());
    let why = fails(&smallest).unwrap_or_default();
    (smallest, why)
}

/// A number in the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|number| number.parse().ok())
}

/// Compares the engines on so many programs.
fn compare(count: usize, size: Size) {
    let (first, count) =
        (number("TWIN_SEED").unwrap_or(1), number("TWIN_COUNT").map_or(count, |count| count as usize));
    let strategy = generate::programs();
    let mut counters = Counters::default();
    let mut failures = Vec::new();
    for seed in first.. {
        if counters.compared == count || failures.len() == MAX_FAILURES {
            println!("seeds {first}..{seed}: {counters:?}");
            break;
        }
        let tree = strategy.new_tree(&mut runner(seed)).expect("the strategy rejects nothing");
        let program = tree.current();
        let variant =
            Variant { from_reads_by_location_order: seed % 4 != 1, chains: seed % 8 != 2, ..Variant::NEWEST };
        let thorough = seed % 8 == 3;
        let started = std::time::Instant::now();
        let checked = check(&program, variant, size, thorough);
        if started.elapsed().as_secs() >= SLOW {
            println!("seed {seed} took {:?}", started.elapsed());
        }
        match checked {
            Ok(Checked::TooLarge) => counters.too_large += 1,
            Ok(Checked::TooSlow) => counters.too_slow += 1,
            Ok(Checked::Compared(found)) => {
                counters.compared += 1;
                let strong = interleave::interleavings(&program);
                assert!(strong.is_subset(&found.outcomes), "seed {seed}: an interleaving is forbidden");
                counters.note(&found, &strong);
            }
            Err(why) => {
                println!("seed {seed}: {why}");
                counters.compared += 1;
                let (smallest, why) = shrink(tree, |program| check(program, variant, size, thorough).err());
                let failure =
                    format!("seed {seed}, {variant:?}: {why}\n{smallest:#?}\n{}", render::render(&smallest));
                println!("{failure}");
                failures.push(failure);
            }
        }
        if counters.compared % 1_000 == 0 {
            println!("up to seed {seed}: {counters:?}");
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n----\n"));
    if count >= 100 {
        counters.assert_shares();
    }
}

impl Counters {
    /// `strong` are the outcomes of interleavings.
    fn note(&mut self, found: &Found, strong: &BTreeSet<Outcome>) {
        self.synchronising += usize::from(found.synchronises);
        self.race_free += usize::from(!found.racy);
        self.load_buffering += usize::from(found.load_buffering);
        self.weak += usize::from(!found.outcomes.is_subset(strong));
    }

    /// Each kind of program must be a tenth of all.
    fn assert_shares(&self) {
        for share in [self.synchronising, self.race_free, self.weak, self.load_buffering] {
            assert!(share * 10 >= self.compared, "{self:?}");
        }
    }
}

#[test]
fn the_engines_agree() {
    compare(300, ORDINARY);
}

#[test]
fn the_engines_agree_on_mixed_sizes() {
    for (name, program) in programs::programs() {
        let checked = check(&program, Variant::NEWEST, ORDINARY, true);
        let checked = checked.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(matches!(checked, Checked::Compared(_)), "{name} is too large");
    }
}

/// Pairs of threads with words of their own, which the engine explores apart: but for what is guarded, so that some meet in
/// a few executions alone.
#[test]
fn the_engines_agree_on_pairs_of_threads() {
    let strategy = generate::programs();
    let (mut compared, mut apart) = (0, 0);
    for seed in 1..=900 {
        let program = strategy.new_tree(&mut runner(seed)).expect("the strategy rejects nothing").current();
        if program.shape.threads() != 4 {
            continue;
        }
        let program = program.in_pairs();
        match check(&program, Variant::NEWEST, ORDINARY, seed % 8 == 3) {
            Ok(Checked::Compared(found)) => {
                compared += 1;
                let how = How { races: Races::Keep, without: UNMERGED, ..USUAL };
                let answer = engine::answer(&program, Variant::NEWEST, how).unwrap();
                apart += usize::from(answer.explored < found.executions);
            }
            Ok(Checked::TooLarge | Checked::TooSlow) => {}
            Err(why) => panic!("seed {seed}: {why}\n{}", render::render(&program)),
        }
    }
    println!("{compared} compared, {apart} apart");
    assert!(compared > 150 && apart * 8 > compared, "{apart} of {compared}");
}

/// Where only barriers of workgroups synchronise, races are found in one interleaving.
#[test]
fn the_engines_agree_on_races_of_plain_accesses() {
    let strategy = generate::programs();
    let (mut compared, mut racy) = (0, 0);
    for seed in 1..=320 {
        let program = strategy.new_tree(&mut runner(seed)).expect("the strategy rejects nothing").current();
        let program = program.without_atomics();
        match check(&program, Variant::NEWEST, ORDINARY, false) {
            Ok(Checked::Compared(found)) => {
                compared += 1;
                racy += usize::from(found.racy);
            }
            Ok(Checked::TooLarge | Checked::TooSlow) => {}
            Err(why) => panic!("seed {seed}: {why}\n{}", render::render(&program)),
        }
    }
    println!("{compared} compared, {racy} racy");
    assert!(compared > 250 && racy * 10 > compared && racy * 10 < 9 * compared, "{racy} of {compared}");
}

/// Whether symmetry spares executions of a program.
fn is_symmetric(program: &Program, races: Races) -> bool {
    let how = How { races, without: UNMERGED, ..USUAL };
    let explored =
        [how, How { without: ASYMMETRIC, ..how }].map(|how| engine::answer(program, Variant::NEWEST, how));
    matches!(explored, [Ok(with), Ok(without)] if with.explored < without.explored)
}

/// Threads that do the same may change places.
fn compare_alike(seeds: std::ops::RangeInclusive<u64>) {
    let strategy = generate::alike();
    let (mut compared, mut symmetric) = (0, [0, 0]);
    for seed in seeds {
        let tree = strategy.new_tree(&mut runner(seed)).expect("the strategy rejects nothing");
        let check = |program: &Program| check(program, Variant::NEWEST, ORDINARY, seed % 4 == 0);
        match check(&tree.current()) {
            Ok(Checked::Compared(_)) => {
                compared += 1;
                for (count, races) in symmetric.iter_mut().zip([Races::Undefined, Races::Keep]) {
                    *count += usize::from(is_symmetric(&tree.current(), races));
                }
            }
            Ok(Checked::TooLarge | Checked::TooSlow) => {}
            Err(_) => {
                let (smallest, why) = shrink(tree, |program| check(program).err());
                panic!("seed {seed}: {why}\n{smallest:#?}\n{}", render::render(&smallest));
            }
        }
    }
    println!("{compared} compared, {symmetric:?} symmetric");
    assert!(
        compared > 100 && symmetric.iter().all(|count| count * 6 > compared),
        "{symmetric:?} of {compared}"
    );
}

/// What a scope holds apart, symmetry does not exchange: threads of two workgroups, and updates that are not ordered with
/// each other.
#[test]
fn threads_that_scopes_tell_apart_are_not_exchanged() {
    let update = |word, update, scope, guard| {
        let place = Location { space: Space::Buffer, word, words: 1 };
        let instruction = Instruction::Atomic { place, update, scope, semantics: Semantics::default() };
        Step { guard, instruction }
    };
    let when = |ticket| Some(Guard { read: 0, equals: ticket });
    let exchange = |value| Update::Exchange(Value::Constant(value));
    let ordered = vec![
        update(0, Update::Add(1), Scope::Device, None),
        update(1, exchange(1), Scope::Workgroup, when(0)),
        update(1, exchange(2), Scope::Workgroup, when(1)),
    ];
    let unordered = vec![update(0, Update::Add(1), Scope::Workgroup, None)];
    for (workgroups, local_size, code) in [(2, 2, ordered), (2, 1, unordered)] {
        let shape = Shape { workgroups, local_size, subgroup_size: local_size };
        let threads = vec![code; shape.threads()];
        let phases = vec![Phase { threads, barrier: None }];
        let program = Program { shape, initial: [0; BUFFER_WORDS], phases };
        for races in [Races::Undefined, Races::Keep] {
            let how = How { races, without: UNMERGED, ..USUAL };
            let with = engine::answer(&program, Variant::NEWEST, how).unwrap();
            let without =
                engine::answer(&program, Variant::NEWEST, How { without: ASYMMETRIC, ..how }).unwrap();
            assert_eq!(
                (with.racy, &with.outcomes, with.executions),
                (without.racy, &without.outcomes, without.executions),
                "{races:?}"
            );
        }
    }
}

#[test]
fn the_engines_agree_on_threads_that_are_alike() {
    compare_alike(1..=250);
}

#[test]
#[ignore = "takes minutes"]
fn the_engines_agree_on_many_threads_that_are_alike() {
    compare_alike(1_000..=1_000 + number("TWIN_COUNT").unwrap_or(5_000));
}

/// The nightly run. `TWIN_SEED` is the first seed, `TWIN_COUNT` another number of programs.
#[test]
#[ignore = "takes many minutes: cargo test --release -p spirv-tv-cli --test twin -- --ignored --nocapture"]
fn the_engines_agree_on_many() {
    compare(20_000, NIGHTLY);
}
