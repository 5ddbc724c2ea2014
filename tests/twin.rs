//! The fast explorer against the naive twin: the memory model as plain sets, and brute force over all
//! candidate executions, on random small programs.

#[path = "twin/axioms.rs"]
mod axioms;
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
#[path = "twin/model.rs"]
mod model;
#[path = "twin/program.rs"]
mod program;
#[path = "twin/reduce.rs"]
mod reduce;
#[path = "twin/relation.rs"]
mod relation;
#[path = "twin/render.rs"]
mod render;
#[allow(dead_code, reason = "the list of all rules is for tests/rules.rs")]
#[path = "twin/rule.rs"]
mod rule;
#[path = "twin/synchronize.rs"]
mod synchronize;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use spirv_tv::explore::Races;

use enumerate::{enumerate, Found};
use model::Variant;
use program::Program;

/// Programs that take so many seconds are named.
const SLOW: u64 = 2;

/// Seconds to spend on shrinking a failure, in each of two ways.
const SHRINK: u64 = 60;

/// What share of the programs shows what.
#[derive(Debug, Default)]
struct Counters {
    compared: usize,
    skipped: usize,
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

/// How the engines differ on a program, if they do.
fn difference(program: &Program, variant: Variant, found: &Found) -> Result<(), String> {
    let keep = engine::answer(program, variant, Races::Keep, true)?;
    if keep.outcomes != found.outcomes {
        return Err(format!(
            "{DIFFERENCE}outcomes: only twin {:?}, only engine {:?}",
            found.outcomes.difference(&keep.outcomes).collect::<Vec<_>>(),
            keep.outcomes.difference(&found.outcomes).collect::<Vec<_>>()
        ));
    }
    if keep.executions != found.executions {
        return Err(format!("{DIFFERENCE}executions: twin {}, engine {}", found.executions, keep.executions));
    }
    let undefined = engine::answer(program, variant, Races::Undefined, true)?;
    if undefined.racy != found.racy {
        return Err(format!("{DIFFERENCE}races: twin {}, engine {}", found.racy, undefined.racy));
    }
    if !found.racy && undefined.outcomes != found.outcomes {
        return Err(format!(
            "{DIFFERENCE}outcomes without races: only twin {:?}, only engine {:?}",
            found.outcomes.difference(&undefined.outcomes).collect::<Vec<_>>(),
            undefined.outcomes.difference(&found.outcomes).collect::<Vec<_>>()
        ));
    }
    if !found.racy && undefined.executions != found.executions {
        return Err(format!(
            "{DIFFERENCE}executions without races: twin {}, engine {}",
            found.executions, undefined.executions
        ));
    }
    Ok(())
}

/// Compares the engines; `None` where there are too many candidates or executions.
fn check(program: &Program, variant: Variant, size: Size) -> Result<Option<Found>, String> {
    let Some(found) = enumerate(program, variant, size.candidates) else { return Ok(None) };
    if found.executions > size.executions {
        return Ok(None);
    }
    match difference(program, variant, &found) {
        Ok(()) => Ok(Some(found)),
        // 64-bit atomics, until they are lowered.
        Err(why) if why.contains("not supported") => Ok(None),
        Err(why) => Err(why),
    }
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Shrinks a failing program: first by its strategy, then piece by piece.
fn shrink(mut tree: impl ValueTree<Value = Program>, variant: Variant, size: Size) -> (Program, String) {
    let is_difference = |why: &str| why.starts_with(DIFFERENCE);
    let first = check(&tree.current(), variant, size).err();
    let differs = first.as_deref().is_some_and(is_difference);
    let fails =
        |program: &Program| check(program, variant, size).err().filter(|why| is_difference(why) == differs);
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

fn compare(seeds: std::ops::Range<u64>, size: Size) -> Counters {
    let strategy = generate::programs();
    let mut counters = Counters::default();
    let mut failures = Vec::new();
    for seed in seeds {
        let tree = strategy.new_tree(&mut runner(seed)).expect("the strategy rejects nothing");
        let program = tree.current();
        let variant =
            Variant { from_reads_by_location_order: seed % 4 != 1, chains: seed % 8 != 2, ..Variant::NEWEST };
        let started = std::time::Instant::now();
        let checked = check(&program, variant, size);
        if started.elapsed().as_secs() >= SLOW {
            println!("seed {seed} took {:?}", started.elapsed());
        }
        match checked {
            Ok(None) => counters.skipped += 1,
            Ok(Some(found)) => {
                counters.compared += 1;
                counters.synchronising += usize::from(found.synchronises);
                counters.race_free += usize::from(!found.racy);
                counters.load_buffering += usize::from(found.load_buffering);
                let strong = interleave::interleavings(&program);
                counters.weak += usize::from(!found.outcomes.is_subset(&strong));
                assert!(strong.is_subset(&found.outcomes), "seed {seed}: an interleaving is forbidden");
            }
            Err(why) => {
                println!("seed {seed}: {why}");
                counters.compared += 1;
                let (smallest, why) = shrink(tree, variant, size);
                failures.push(format!(
                    "seed {seed}, {variant:?}: {why}\n{smallest:#?}\n{}",
                    render::render(&smallest)
                ));
                if failures.len() >= 3 {
                    break;
                }
            }
        }
    }
    println!("{counters:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n----\n"));
    counters
}

fn seeds(count: u64) -> std::ops::Range<u64> {
    let first = std::env::var("TWIN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let count = std::env::var("TWIN_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(count);
    println!("seeds {first}..{}", first + count);
    first..first + count
}

#[test]
fn the_engines_agree() {
    let counters = compare(seeds(500), ORDINARY);
    if counters.compared < 100 {
        return;
    }
    let share = |count: usize| count * 10 >= counters.compared;
    assert!(share(counters.synchronising), "{counters:?}");
    assert!(share(counters.race_free), "{counters:?}");
    assert!(share(counters.weak), "{counters:?}");
    assert!(share(counters.load_buffering), "{counters:?}");
}

/// The nightly run.
#[test]
#[ignore = "takes many minutes: cargo test -p spirv-tv --test twin -- --ignored"]
fn the_engines_agree_on_many() {
    compare(seeds(20_000), NIGHTLY);
}
