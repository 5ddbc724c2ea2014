//! How many executions there are, in families of programs where that can be counted by argument.
//!
//! An execution is a class of (reads-from, final values). All accesses are relaxed where nothing else is said; `n`
//! is the number of invocations, each a workgroup of its own.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use spirv_tv::behaviour::Behaviours;
use spirv_tv::check::{outcomes, Watch};
use spirv_tv::explore::{ReductionName, Reductions};

use crate::support::Checker;

/// What a module does on zeros.
fn behaviours(module: &str, args: &[String]) -> Behaviours {
    watched(module, args, 1, &Watch::default())
}

/// What a module does on zeros, with somebody watching the search.
fn watched(module: &str, args: &[String], jobs: usize, watch: &Watch) -> Behaviours {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(module);
    let mut checker = Checker::new(args);
    checker.options.bounds.jobs = jobs;
    checker.options.bounds.without = Reductions::of(&[ReductionName::Merging]);
    let report = outcomes(&checker.module(&path), &checker.options, watch);
    let mut report = report.unwrap_or_else(|error| panic!("{module}: {error}"));
    assert_eq!((report.runs.len(), &report.unsupported[..]), (1, &[][..]), "{module}");
    Arc::unwrap_or_clone(report.runs.remove(0).explored.behaviours)
}

/// A module must have this many executions, and each must be explored once.
fn has(module: &str, workgroups: u32, more_args: &[&str], executions: u64) {
    let workgroups = workgroups.to_string();
    let args = ["--workgroups", &workgroups].into_iter().chain(more_args.iter().copied()).map(str::to_owned);
    let args: Vec<String> = args.collect();
    let found = behaviours(module, &args);
    let told = format!("{module} {}", args.join(" "));
    assert!(found.complete, "{told}: {:?} {:?}", found.bounded, found.stopped);
    assert_eq!(found.undefined, [], "{told}");
    assert_eq!(found.executions, executions, "{told}");
    assert!(found.explored <= executions, "{told}: {} explored for {executions}", found.explored);
}

/// A program of `benches/modules/`, with `words` words of each buffer.
fn family(name: &str, workgroups: u32, words: u32, executions: u64) {
    let module = format!("benches/modules/{name}.spvasm");
    let (shared, results) = (format!("0.0=zeros:{words}"), format!("0.1=zeros:{words}"));
    let has_results = !["writers", "two-writes-ring", "histogram"].contains(&name);
    let buffers: &[&str] =
        if has_results { &["--buffer", &shared, "--buffer", &results] } else { &["--buffer", &shared] };
    has(&module, workgroups, buffers, executions);
}

fn factorial(n: u32) -> u64 {
    (1..=u64::from(n)).product()
}

fn binomial(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// Each order of the increments is told by what they read.
#[test]
fn increments_have_n_factorial() {
    for n in 2..=6 {
        family("counter", n, n, factorial(n));
    }
}

#[test]
#[ignore = "slow in debug builds"]
fn more_increments_have_n_factorial() {
    for n in 7..=8 {
        family("counter", n, n, factorial(n));
    }
}

/// The load behind the increment that is k-th from the end may read from k of them, its own included: n! more
/// ways for each order.
#[test]
fn increments_and_loads_have_n_factorial_squared() {
    for n in 2..=4 {
        family("increment-load", n, 2 * n, factorial(n).pow(2));
    }
}

#[test]
#[ignore = "slow in debug builds"]
fn more_increments_and_loads_have_n_factorial_squared() {
    family("increment-load", 5, 10, factorial(5).pow(2));
}

/// Whoever has which place does the same: one order of the increments is explored, and there the loads, which are the k
/// ways of each by itself.
#[test]
fn like_invocations_are_explored_in_one_order() {
    for n in 2..=5 {
        let args = |words: u32| ["0.0=zeros:1", &format!("0.1=zeros:{words}")].map(str::to_owned);
        let explored = |name: &str, words| {
            let buffers = args(words).into_iter().flat_map(|buffer| ["--buffer".to_owned(), buffer]);
            let args: Vec<String> =
                ["--workgroups".to_owned(), n.to_string()].into_iter().chain(buffers).collect();
            behaviours(&format!("benches/modules/{name}.spvasm"), &args).explored
        };
        assert_eq!(explored("counter", n), 1);
        assert_eq!(explored("increment-load", 2 * n), u64::from(1 + n * (n - 1) / 2));
    }
}

/// Every read-modify-write reads from the one in front of it, whatever it computes.
#[test]
fn exchanges_and_maxima_have_n_factorial() {
    for n in 2..=5 {
        family("exchanges", n, n, factorial(n));
        family("maxima", n, n, factorial(n));
    }
}

/// One finds 0; what it writes stays, and all others read it.
#[test]
fn compare_exchanges_have_n() {
    for n in 2..=5 {
        family("compare-exchanges", n, n, u64::from(n));
    }
}

/// Nothing orders the two accesses of an invocation: each load has the initial value or the store, whatever
/// the others have.
#[test]
fn rings_of_store_buffering_have_2_to_the_n() {
    for n in 2..=8 {
        family("store-buffering-ring", n, n, 1 << n);
    }
}

/// The same the other way round: the model has no axiom against reading round the whole ring.
#[test]
fn rings_of_load_buffering_have_2_to_the_n() {
    for n in 2..=4 {
        family("load-buffering-ring", n, n, 1 << n);
    }
}

/// With acquire and release each load that reads a store is synchronised by it: not all can be.
#[test]
fn ordered_rings_of_load_buffering_lack_one() {
    for n in 2..=4 {
        family("load-buffering-ring-ordered", n, n, (1 << n) - 1);
    }
}

/// Nobody reads: what counts is which write is the last.
#[test]
fn writers_have_n() {
    for n in 2..=6 {
        family("writers", n, 1, u64::from(n));
    }
}

/// With w of each, every reader has the initial value or one of w writes, and any of them may be the last.
#[test]
fn writers_and_readers_have_w_times_w_plus_1_to_the_w() {
    for w in 1..=3 {
        family("writers-readers", 2 * w, w, u64::from(w) * u64::from(w + 1).pow(w));
    }
}

/// A reader sees a word that counts to k: k values out of 0..=k that do not fall, hence C(2k, k), each reader of its own.
#[test]
fn coherent_reads_have_a_binomial_coefficient() {
    for (n, k) in [(2, 1), (2, 2), (2, 3), (2, 4), (3, 2), (4, 1)] {
        let (count, words) = (format!("0={k}"), format!("0.1=zeros:{}", (n - 1) * k));
        let args = ["--spec", &count, "--buffer", "0.0=zeros:1", "--buffer", &words];
        let executions = binomial(2 * u64::from(k), u64::from(k)).pow(n - 1);
        has("benches/modules/coherent-reads.spvasm", n, &args, executions);
    }
}

/// Of the 6 pairs of values that a reader of two unordered writes may see in either order of these, 5 are the same:
/// two readers agree on the order.
#[test]
fn readers_agree_on_the_order_of_writes() {
    let args = ["--buffer", "0.0=zeros:4"];
    has("benches/modules/agreeing-readers.spvasm", 1, &args, 6 * 6 + 6 * 6 - 5 * 5);
}

/// Two reads of different words are not ordered: four ways for each of the r readers.
#[test]
fn independent_reads_of_independent_writes_have_4_to_the_r() {
    for readers in 1..=4 {
        family("independent-reads", readers + 2, 2 * readers.max(1), 1 << (2 * readers));
    }
}

/// The message comes as far as it comes; who has it reads it from the one place.
#[test]
fn chains_of_messages_have_n() {
    for n in 2..=5 {
        family("message-chain", n, 9, u64::from(n));
    }
}

/// Each of n words is written by two invocations, and either may be the last.
#[test]
fn rings_of_two_writes_have_2_to_the_n() {
    for n in 2..=6 {
        family("two-writes-ring", n, n, 1 << n);
    }
}

/// Four for each pair, which has nothing to do with the others.
#[test]
fn independent_pairs_multiply() {
    for pairs in 1..=4 {
        family("pairs", 2 * pairs, 2 * pairs, 1 << (2 * pairs));
    }
}

/// Sums do not depend on the order, and nobody looks in between.
#[test]
fn histograms_have_one() {
    for workgroups in [1, 4] {
        family("histogram", workgroups, 8, 1);
    }
}

/// Barriers order everything.
#[test]
fn reductions_have_one() {
    has("benches/modules/reduction.spvasm", 1, &["--spec", "0=64"], 1);
}

/// The ways to go on from a state of the lock whose values so far are `values`, the current one last: `None` while
/// somebody writes, else the number of readers. `steps` says how far each has come, the writers first.
fn lock_orders(values: &mut Vec<Option<u32>>, steps: &mut [u32], writers: usize) -> u64 {
    let current = values[values.len() - 1];
    if steps.iter().all(|step| *step == 2) {
        return 1;
    }
    let mut sum = 0;
    for agent in 0..steps.len() {
        let next = match (steps[agent], agent < writers, current) {
            (0, true, Some(0)) => Some((None, 1)),
            (1, true, None) => Some((Some(0), 1)),
            // Its relaxed read may be of any write with this value, up to the one that its exchange reads from.
            (0, false, Some(readers)) => {
                Some((Some(readers + 1), values.iter().filter(|value| **value == current).count() as u64))
            }
            (1, false, Some(readers)) => Some((Some(readers - 1), 1)),
            _ => None,
        };
        if let Some((value, ways)) = next {
            values.push(value);
            steps[agent] += 1;
            sum += ways * lock_orders(values, steps, writers);
            steps[agent] -= 1;
            values.pop();
        }
    }
    sum
}

/// All orders of the lock's updates, times what the relaxed reads in front of the readers' exchanges may read.
#[test]
fn reader_writer_locks_have_what_their_orders_allow() {
    for (writers, readers) in [(1, 1), (2, 1), (1, 2)] {
        let n = writers + readers;
        let executions = lock_orders(&mut vec![Some(0)], &mut vec![0; n as usize], writers as usize);
        let (spec, words) = (format!("0={writers}"), format!("0.1=zeros:{n}"));
        let args = ["--spec", &spec, "--buffer", &words];
        has("corpus/synchronisation/reader-writer-lock.spvasm", n, &args, executions);
    }
}

/// What a watched search says at its end: executions that it visited, and about how many it says there are.
fn estimated(module: &str, args: &[&str], jobs: usize) -> (u64, u64) {
    let watch = Watch::default();
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    watched(module, &args, jobs, &watch);
    let explored = watch.progress.explored.load(Ordering::Relaxed);
    (explored, watch.progress.estimate().expect("some path has ended"))
}

/// Every path has its share of the tree, so that at the end the estimate is what there is; whoever did the work.
#[test]
fn the_estimate_at_the_end_is_exact() {
    let six = ["--workgroups", "6", "--buffer", "0.0=zeros:6", "--buffer", "0.1=zeros:6"];
    for jobs in [1, 3] {
        for module in ["counter", "store-buffering-ring", "compare-exchanges", "load-buffering-ring"] {
            let path = format!("benches/modules/{module}.spvasm");
            let (explored, estimate) = estimated(&path, &six, jobs);
            assert_eq!(explored, estimate, "{module}, {jobs} jobs");
        }
    }
}

/// Where the tree is alike everywhere, a part of it tells how large it is.
#[test]
fn a_part_of_the_search_tells_its_size() {
    let eight = ["--workgroups", "8", "--buffer", "0.0=zeros:8", "--buffer", "0.1=zeros:8"];
    for part in [20, 60, 120, 200, 250] {
        let cut = part.to_string();
        let args = [&eight[..], &["--max-executions", &cut]].concat();
        let (explored, estimate) = estimated("benches/modules/store-buffering-ring.spvasm", &args, 1);
        assert_eq!(explored, part);
        assert!((240..=280).contains(&estimate), "{estimate} after {part} of 256");
    }
}
