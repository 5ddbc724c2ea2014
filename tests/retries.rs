//! What a search leaves out must change nothing but how much is explored: random programs that retry by compare-exchange,
//! probe, hand over and publish, searched with and without what is left out.

#[path = "retries/generate.rs"]
mod generate;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rayon::prelude::*;
use spirv_tv::behaviour::{Behaviours, Bound, Outcome, Stopped};
use spirv_tv::dispatch::Dispatch;
use spirv_tv::explore::{explore, Races, ReductionName, Reductions, Settings};
use spirv_tv::ir::Program;
use spirv_tv::launch::{build_dispatch, Input, Launch, LaunchOptions, Size3};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;

use generate::{make, RESULTS, SHARED};

/// A module run by so many workgroups.
fn ready(text: &str, workgroups: u32) -> (Program, Dispatch) {
    let module = Module::from_text(text, "random", &ReadOptions::default());
    let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program =
        lower(&module, &LowerOptions::default()).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let workgroups = Some(Size3([workgroups, 1, 1]));
    let options = LaunchOptions { workgroups, ..LaunchOptions::default() };
    let launch = Launch::resolve(&options, &program, None).unwrap();
    let zeros = |words: u32| vec![Byte::Known(0); 4 * words as usize];
    let buffers = [("0.0".parse().unwrap(), zeros(SHARED)), ("0.1".parse().unwrap(), zeros(RESULTS))].into();
    let input = Input {
        name: "given".to_owned(),
        buffers,
        images: BTreeMap::default(),
        acceleration_structures: BTreeMap::default(),
        push: Vec::new(),
        physical: Vec::new(),
        interface: Default::default(),
    };
    let dispatch = build_dispatch(&program, &launch, &input).unwrap();
    (program, dispatch)
}

fn settings(races: Races) -> Settings {
    Settings {
        races,
        jobs: 1,
        spin_bound: 8,
        max_executions: 20_000,
        timeout: Some(Duration::from_secs(3)),
        ..Settings::default()
    }
}

/// What must not depend on what is left out; nothing of a search that was cut.
#[derive(Debug, PartialEq)]
enum Answer {
    Undefined,
    Outcomes(BTreeSet<Outcome>),
}

fn answer(behaviours: &Behaviours) -> Option<Answer> {
    assert!(behaviours.undecided.is_empty(), "{:?}", behaviours.undecided);
    if !behaviours.undefined.is_empty() {
        return behaviours.complete.then_some(Answer::Undefined);
    }
    let outcomes = behaviours.outcomes.iter().map(|(outcome, _)| outcome.clone());
    behaviours.complete.then(|| Answer::Outcomes(outcomes.collect()))
}

/// What comparing the searches of a seed's program came to.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    compared: usize,
    plainly: usize,
    cut: usize,
    several: usize,
    undefined: usize,
}

impl std::ops::Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count {
            compared: self.compared + other.compared,
            plainly: self.plainly + other.plainly,
            cut: self.cut + other.cut,
            several: self.several + other.several,
            undefined: self.undefined + other.undefined,
        }
    }
}

/// All invocations at once, each order of them.
const WHOLE: Reductions = Reductions::of(&[ReductionName::Symmetry, ReductionName::Components]);

/// Searches a seed's program in every way, races undefined and kept.
fn compare(seed: u64) -> Result<Count, String> {
    let made = make(seed);
    let (program, dispatch) = ready(&made.text, made.workgroups);
    let mut count = Count::default();
    for races in [Races::Undefined, Races::Keep] {
        let search = |settings: Settings| explore(&program, &dispatch, &settings);
        let every = search(Settings { without: WHOLE.with(ReductionName::Merging), ..settings(races) });
        let Some(expected) = answer(&every) else {
            count.cut += 1;
            continue;
        };
        count.compared += 1;
        count.undefined += usize::from(expected == Answer::Undefined);
        count.several += usize::from(every.outcomes.len() > 1);
        let plain = Settings { shortcuts: false, ..settings(races) };
        let mut ways = vec![
            ("merged", Settings { without: WHOLE, ..settings(races) }),
            ("merged on two threads", Settings { without: WHOLE, jobs: 2, ..settings(races) }),
            ("as usual", settings(races)),
        ];
        // Who goes round because of undefined conditions alone is found with shortcuts only.
        if every.explored < 500 && !made.undefined {
            ways.push(("without shortcuts", plain));
        }
        let mut told = None;
        for (name, way) in ways {
            let jobs = way.jobs;
            let found = search(way);
            let Some(answered) = answer(&found) else {
                // A busy machine may be too slow, and what feeds cycles of load buffering is bounded sooner.
                if name == "without shortcuts"
                    || found.stopped == Some(Stopped::Timeout)
                    || found.bounded == Some(Bound::SpeculatedReads)
                {
                    count.cut += 1;
                    continue;
                }
                return Err(format!("{seed} {races:?} {name}: {:?} {:?}", found.bounded, found.stopped));
            };
            count.plainly += usize::from(name == "without shortcuts");
            if answered != expected {
                return Err(format!(
                    "{seed} {races:?} {name}:\n{answered:?}\nnot\n{expected:?}\n{}",
                    made.text
                ));
            }
            let counts = (found.executions, found.paths);
            if jobs == 2 && told.as_ref().is_some_and(|told| *told != counts) {
                return Err(format!("{seed} {races:?} {name}: {told:?} {counts:?}\n{}", made.text));
            }
            told = Some(counts);
        }
    }
    Ok(count)
}

fn compare_many(first: u64, count: u64) {
    let results: Vec<_> = (first..first + count).into_par_iter().map(compare).collect();
    let mut sum = Count::default();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(count) => sum = sum + count,
            Err(failure) => failures.push(failure),
        }
    }
    println!("{sum:?}, {} failures", failures.len());
    assert!(failures.is_empty(), "{}", failures[..failures.len().min(4)].join("\n"));
    // Else it compares nothing of interest.
    assert!(sum.several * 3 > sum.compared && sum.compared > sum.cut, "{sum:?}");
}

#[test]
fn what_is_left_out_of_random_programs_changes_nothing() {
    compare_many(1, 50);
}

#[test]
#[ignore = "minutes: RETRIES_SEED and RETRIES_COUNT say which and how many"]
fn what_is_left_out_of_many_random_programs_changes_nothing() {
    let number = |name: &str, otherwise| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    compare_many(number("RETRIES_SEED", 1_000), number("RETRIES_COUNT", 5_000));
}

/// The undefined word may be found equal to what it is compared with: then the exchange writes what the other invocation,
/// which waits, reads and passes on.
#[test]
fn an_undefined_comparison_may_write() {
    let text = generate::module(
        2,
        "%first = OpIEqual %bool %own %c0
OpSelectionMerge %join None
OpBranchConditional %first %reads %exchanges
%reads = OpLabel
%r = OpAtomicLoad %uint %local %c1 %s0
%to = OpAccessChain %pointer %shared %c0 %c0
OpAtomicStore %local %c1 %s0 %c2
OpStore %to %r
OpBranch %join
%exchanges = OpLabel
%e = OpAtomicCompareExchange %uint %local %c1 %s0 %s0 %c5 %c0
OpBranch %join
%join = OpLabel
",
    );
    let (program, dispatch) = ready(&text, 1);
    let without = Reductions::of(&[ReductionName::Symmetry]);
    for without in [without.with(ReductionName::Merging), without] {
        let found = explore(&program, &dispatch, &Settings { without, ..settings(Races::Undefined) });
        let five = [Byte::Known(5), Byte::Known(0), Byte::Known(0), Byte::Known(0)];
        let mut outcomes = found.outcomes.iter();
        assert!(
            outcomes.any(|(outcome, _)| outcome.memory[0].starts_with(&five)),
            "{without:?}: {:?}",
            found.outcomes.len()
        );
    }
}

/// A volatile load is told of: a compare-exchange behind it that fails with something else does not stand for it.
#[test]
fn a_volatile_look_is_seen() {
    let text = generate::module(
        1,
        "%x = OpAccessChain %pointer %shared %c0 %c0
%first = OpIEqual %bool %own %c0
OpSelectionMerge %join None
OpBranchConditional %first %writes %tries
%writes = OpLabel
OpAtomicStore %x %c1 %s0 %c1
OpBranch %join
%tries = OpLabel
%r = OpAtomicLoad %uint %x %c1 %s32768
OpStore %last %r
OpBranch %head
%head = OpLabel
OpLoopMerge %done %again None
OpBranch %turn
%turn = OpLabel
%old = OpLoad %uint %last
%got = OpAtomicCompareExchange %uint %x %c1 %s0 %s0 %c5 %old
OpStore %last %got
%equal = OpIEqual %bool %got %old
OpBranchConditional %equal %done %again
%again = OpLabel
OpBranch %head
%done = OpLabel
OpBranch %join
%join = OpLabel
",
    );
    let (program, dispatch) = ready(&text, 2);
    let [every, merged] = [WHOLE.with(ReductionName::Merging), WHOLE].map(|without| {
        let settings = Settings { without, ..settings(Races::Undefined) };
        answer(&explore(&program, &dispatch, &settings))
    });
    assert!(every.is_some());
    assert_eq!(every, merged);
}
