//! Checks of two modules under RC11: verdicts, explanations and reports.

use serde_json::Value as Json;
use spirv_tv::check::{check, CheckOptions, CheckReport, Watch};
use spirv_tv::compare::{Verdict, ViolationKind};
use spirv_tv::launch::{LaunchOptions, Size3};
use spirv_tv::model::memory_model::Model;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::report::{json, text, Painter};

use crate::model::Rc11;
use crate::programs::{Mode, Program, Step};
use crate::render;
use crate::{load, program, store};

use Mode::{Acquire, Plain, Relaxed, Release, SequentiallyConsistent};

const X: usize = 0;
const Y: usize = 1;

fn checked(before: &Program, after: &Program) -> CheckReport {
    let options = ReadOptions { assemble_env: "spv1.3".parse().ok(), ..ReadOptions::default() };
    let read = |program: &Program, name: &str| {
        Module::from_text(&render::module(program), name, &options).unwrap_or_else(|error| panic!("{error}"))
    };
    let workgroups = Some(Size3([before.invocations() as u32, 1, 1]));
    let launch = LaunchOptions { workgroups, ..LaunchOptions::default() };
    let model = Model::new(Rc11::default());
    let options = CheckOptions { launch, model, ..CheckOptions::default() };
    let report = check(&read(before, "before"), &read(after, "after"), &options, &Watch::default());
    report.unwrap_or_else(|error| panic!("{error}"))
}

/// The whole report as text, which has no word of the Vulkan model.
fn told(report: &CheckReport) -> String {
    let told = text::check(report, Painter { coloured: false });
    println!("{told}");
    let lower = told.to_lowercase();
    for word in ["vulkan", "availab", "visib", "private", "coherent", "location-ordered"] {
        assert!(!lower.contains(word), "{word} in:\n{told}");
    }
    told
}

fn kind(report: &CheckReport) -> Option<ViolationKind> {
    report.runs.iter().find_map(|run| run.comparison.violation.as_ref()).map(|violation| violation.kind)
}

fn store_buffering(stores: Mode, loads: Mode) -> Program {
    let invocation = |own, other| vec![store(own, stores, 1), load(other, loads, 0)];
    program(vec![invocation(X, Y), invocation(Y, X)])
}

/// The line of the n-th instruction whose text has all these words.
fn line(program: &Program, words: &[&str], n: usize) -> usize {
    let text = render::module(program);
    let mut lines = text.lines().enumerate().filter(|(_, line)| words.iter().all(|word| line.contains(word)));
    lines.nth(n).map_or(0, |(index, _)| index + 1)
}

#[test]
fn a_lost_order_of_sequentially_consistent_accesses_is_explained_by_sc() {
    let before = store_buffering(SequentiallyConsistent, SequentiallyConsistent);
    for after in [store_buffering(Relaxed, Relaxed), store_buffering(Release, Acquire)] {
        let report = checked(&before, &after);
        assert_eq!((report.verdict, kind(&report)), (Verdict::Violates, Some(ViolationKind::NewOutcome)));
        let told = told(&report);
        assert!(told.contains("before forbids this: SC forbids the cycle from the sequentially consistent"));
        for instruction in ["OpAtomicStore", "OpAtomicLoad"] {
            for n in 0..2 {
                let line = line(&before, &[instruction], n);
                assert!(told.contains(&format!("on line {line}")), "line {line} is not in:\n{told}");
            }
        }
        assert!(told.contains("sb: ") && told.contains("rb: "));
        assert!(told.contains("instead of SequentiallyConsistent"));
        assert!(told.contains("model rc11,"));
    }
}

#[test]
fn reports_in_json_name_the_model() {
    let program = store_buffering(Relaxed, Relaxed);
    let report = json::check(&checked(&program, &program));
    let report: Json = serde_json::from_str(&report).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report["choices"]["model"], "rc11");
    assert_eq!(report["verdict"], "refines");
}

#[test]
fn last_writes_that_exclude_each_other_are_explained() {
    let invocation = |mode, first, second| vec![store(first, mode, 1), store(second, mode, 2)];
    let writes = |mode| program(vec![invocation(mode, X, Y), invocation(mode, Y, X)]);
    let before = writes(SequentiallyConsistent);
    let report = checked(&before, &writes(Relaxed));
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violates, Some(ViolationKind::NewOutcome)));
    let told = told(&report);
    let lines = [0, 2].map(|n| line(&before, &["OpAtomicStore"], n));
    let last = lines.map(|line| format!("the sequentially consistent store on line {line} (invocation"));
    assert!(told.contains("are not the last writes together"));
    assert!(last.iter().all(|write| told.contains(write)), "no {last:?} in:\n{told}");
}

fn message_passing(data: Mode, flag_store: Mode, flag_load: Mode) -> Program {
    let reader =
        vec![load(Y, flag_load, 0), Step::If { register: 0, equals: 1, then: vec![load(X, data, 1)] }];
    program(vec![vec![store(X, data, 1), store(Y, flag_store, 1)], reader])
}

#[test]
fn a_race_is_explained_by_the_order_that_before_has() {
    let before = message_passing(Plain, Release, Acquire);
    let after = message_passing(Plain, Relaxed, Acquire);
    let report = checked(&before, &after);
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violates, Some(ViolationKind::NewRace)));
    let told = told(&report);
    assert!(told.contains("plain write by invocation 0 and plain read by invocation 1 are not ordered"));
    let lines = [line(&before, &["OpAtomicStore"], 0), line(&before, &["OpAtomicLoad"], 0)];
    let order = format!(
        "by program order to the release store on line {}, which synchronizes with the acquire load on line {}, \
         then program order",
        lines[0], lines[1]
    );
    assert!(told.contains(&order), "no '{order}' in:\n{told}");
    assert!(told
        .contains(&format!("in after the atomic store on line {} is Relaxed instead of Release", lines[0])));
}

#[test]
fn a_stale_message_is_explained_by_coherence() {
    let report =
        checked(&message_passing(Relaxed, Release, Acquire), &message_passing(Relaxed, Relaxed, Acquire));
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violates, Some(ViolationKind::NewOutcome)));
    let told = told(&report);
    assert!(told.contains("COHERENCE forbids the cycle"));
    assert!(told.contains("is Relaxed instead of Release"));
}

/// Reads of the Vulkan model may take values from later writes here, and so may not in RC11.
#[test]
fn load_buffering_is_new_where_the_model_has_none() {
    let buffering = |first: [Step; 2], second: [Step; 2]| program(vec![first.to_vec(), second.to_vec()]);
    let reads_first =
        buffering([load(X, Relaxed, 0), store(Y, Relaxed, 1)], [load(Y, Relaxed, 0), store(X, Relaxed, 1)]);
    let writes_first =
        buffering([store(Y, Relaxed, 1), load(X, Relaxed, 0)], [store(X, Relaxed, 1), load(Y, Relaxed, 0)]);
    let report = checked(&reads_first, &writes_first);
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violates, Some(ViolationKind::NewOutcome)));
    assert!(told(&report).contains("NO-THIN-AIR forbids the cycle"));
}

#[test]
fn what_only_orders_more_refines() {
    let weak = store_buffering(Relaxed, Relaxed);
    let pairs = [
        (weak.clone(), store_buffering(SequentiallyConsistent, SequentiallyConsistent)),
        (weak.clone(), store_buffering(Release, Acquire)),
        (message_passing(Plain, Release, Acquire), message_passing(Plain, Release, SequentiallyConsistent)),
    ];
    for (before, after) in pairs {
        let report = checked(&before, &after);
        assert_eq!(report.verdict, Verdict::Refines);
        told(&report);
    }
}
