//! States with the same future are explored once: what is found must be what visiting every execution finds, in programs
//! that retry, hand over, scan and wait (`benches/modules/shapes/`, and modules made here).

use std::path::Path;
use std::sync::Arc;

use spirv_tv::behaviour::{Behaviours, Bound, Outcome, PathEnd};
use spirv_tv::check::{outcomes, Watch};
use spirv_tv::explore::{ReductionName, Reductions};

use crate::support::Checker;

/// What a module of `benches/modules/` does, with and without that.
fn behaviours(module: &str, args: &str, all_executions: bool, jobs: usize) -> Behaviours {
    let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/modules").join(module);
    let mut checker = Checker::new(&args);
    if all_executions {
        checker.options.bounds.without = Reductions::of(&[ReductionName::Merging]);
    }
    checker.options.bounds.jobs = jobs;
    let report = outcomes(&checker.module(&path), &checker.options, &Watch::default());
    let mut report = report.unwrap_or_else(|error| panic!("{module}: {error}"));
    Arc::unwrap_or_clone(report.runs.remove(0).explored.behaviours)
}

fn told(behaviours: &Behaviours) -> (Vec<&Outcome>, bool) {
    assert!(behaviours.complete, "{:?} {:?}", behaviours.bounded, behaviours.stopped);
    assert_eq!(behaviours.undefined, []);
    (behaviours.outcomes.iter().map(|(outcome, _)| outcome).collect(), behaviours.complete)
}

/// Both ways find the same, on one thread and on two, which also count the same; how many paths ended so.
fn compare(module: &str, args: &str, end: PathEnd) -> u64 {
    let every = behaviours(module, args, true, 1);
    let [one, two] = [1, 2].map(|jobs| behaviours(module, args, false, jobs));
    assert_eq!(told(&every), told(&one), "{module} {args}");
    assert_eq!(
        (told(&one), &one.executions, &one.paths),
        (told(&two), &two.executions, &two.paths),
        "{module}"
    );
    assert_eq!((every.paths.ended(PathEnd::SameFuture), every.paths.ended(PathEnd::StaleTurn)), (0, 0));
    assert!(one.executions <= every.executions, "{module} {args}");
    one.paths.ended(end)
}

const ZEROS: &str = "--buffer 0.0=zeros:68 --buffer 0.1=zeros:64";

#[test]
fn shapes_do_what_all_their_executions_do() {
    for (module, n, workgroups) in [
        ("slots", 3, 3),
        ("msqueue", 2, 2),
        ("publish", 2, 4),
        ("sense", 3, 3),
        ("seqlock", 2, 3),
        ("hash", 2, 2),
        ("ring", 3, 3),
        ("bitmap", 4, 4),
        ("casmax", 4, 4),
        ("claim", 3, 3),
        ("clh", 4, 4),
        ("combining", 4, 4),
        ("dissemination", 4, 4),
        ("exchangelist", 4, 4),
        ("firstlast", 3, 5),
        ("lastblock", 4, 4),
        ("monotone", 3, 3),
        ("mpmc", 2, 4),
        ("once", 4, 4),
        ("rwlock", 5, 5),
        ("tasks", 2, 2),
        ("ticketdata", 4, 4),
        ("token", 3, 3),
        ("unionfind", 2, 2),
    ] {
        let args = format!("--workgroups {workgroups} --spec 0={n} {ZEROS}");
        compare(&format!("shapes/{module}.spvasm"), &args, PathEnd::SameFuture);
    }
}

#[test]
fn rounds_of_a_barrier_are_explored_once() {
    let args = format!("--workgroups 3 --spec 0=3 {ZEROS}");
    assert!(compare("shapes/sense.spvasm", &args, PathEnd::SameFuture) > 20);
    let one = behaviours("shapes/sense.spvasm", &args, false, 1);
    assert!(one.executions < 36, "{}", one.executions);
    // Who waits for the flag has seen the same, in whatever order they came: whoever sets it tells them all.
    let args = format!("--workgroups 4 --spec 0=4 {ZEROS}");
    compare("shapes/sense.spvasm", &args, PathEnd::SameFuture);
    let one = behaviours("shapes/sense.spvasm", &args, false, 1);
    assert!(one.executions < 10, "{}", one.executions);
}

/// Of a retry that loads again only the turn that succeeds is left: each order in which the invocations come is one execution.
#[test]
fn retries_that_load_again_are_stale() {
    let args = "--workgroups 5 --spec 0=5 --buffer 0.0=words:1,0,0,0,0,0 --buffer 0.1=zeros:32";
    assert!(compare("shapes/rotate.spvasm", args, PathEnd::StaleTurn) > 0);
    let one = behaviours("shapes/rotate.spvasm", args, false, 1);
    assert_eq!((one.executions, one.paths.ended(PathEnd::IdleTurn)), (120u64.into(), 0));
}

/// Of the retries of a compare-exchange only the successful one is left: each order in which tasks are taken is one
/// execution.
#[test]
fn retries_with_what_was_found_are_stale() {
    let args = "--workgroups 3 --spec 0=2 --buffer 0.0=words:768 --buffer 0.1=zeros:32";
    assert!(compare("shapes/steal.spvasm", args, PathEnd::StaleTurn) > 0);
}

/// Who has gone past a slot of a table does not come back to it: nobody waits for that.
#[test]
fn who_probes_a_table_does_what_all_executions_do() {
    for n in [3, 4] {
        let args = format!("--workgroups {n} --spec 0=1 {ZEROS}");
        compare("shapes/hash.spvasm", &args, PathEnd::SameFuture);
    }
}

/// Who read what another one has exchanged already would only find that out.
#[test]
fn looks_at_what_is_taken_are_dead_ends() {
    let args = "--workgroups 4 --spec 0=2 --buffer 0.0=words:768 --buffer 0.1=zeros:32";
    assert!(compare("shapes/steal.spvasm", args, PathEnd::StaleTurn) > 0);
}

/// What single invocations may read leads to few states, though in many ways, as failed updates are none: that no write was
/// missed is known, and nothing is bounded.
#[test]
fn stacks_and_queues_of_waiters_are_complete() {
    for (module, n, workgroups) in [("treiber", 3, 3), ("mcs", 3, 3), ("mcs", 4, 4), ("epoch", 2, 3)] {
        let args = format!("--workgroups {workgroups} --spec 0={n} {ZEROS}");
        assert!(told(&behaviours(&format!("shapes/{module}.spvasm"), &args, false, 1)).1, "{module} {n}");
    }
}

/// Values of load buffering that follow from each other without end: the search ends soon, says why it is bounded, and has
/// every execution without such a cycle, among them those in which one invocation comes behind the other.
#[test]
fn load_buffering_that_feeds_itself_ends() {
    for module in ["feedback_add", "feedback_store"] {
        let path = format!("idioms/{module}.spvasm");
        for (n, is_complete) in [(1, true), (3, false)] {
            let args = format!("--workgroups 2 --spec 0={n} --buffer 0.0=words:1,0");
            let [one, two] = [1, 2].map(|jobs| behaviours(&path, &args, false, jobs));
            // It went on for ever, once.
            assert!(one.paths.started() < 1 << 16, "{module} {n}: {}", one.paths.started());
            assert_eq!(one.complete, is_complete, "{module} {n}: {:?}", one.bounded);
            assert_eq!(one.bounded, (!is_complete).then_some(Bound::SpeculatedReads), "{module} {n}");
            let outcomes =
                |found: &Behaviours| found.outcomes.iter().map(|(it, _)| it.clone()).collect::<Vec<_>>();
            assert_eq!((outcomes(&one), &one.paths), (outcomes(&two), &two.paths), "{module} {n}");
        }
    }
}
