//! Searches that are not done, or not to the end: of programs that are the same but for ids, names and lines, of
//! modules that a pipeline compares twice, behind the first outcome that violates, and behind a budget.

use crate::support;
use std::time::Duration;

use spirv_tv::behaviour::{Behaviours, Bound, Stopped};
use spirv_tv::check::{check_in_series, outcomes, CheckReport, Role, Run, Searches, Watch};
use spirv_tv::compare::{Verdict, ViolationKind};
use spirv_tv::explore::ReductionName;
use spirv_tv::module::Module;

use crate::support::{corpus, Checker};
use crate::texts::{checker, with};

fn module(checker: &Checker, text: &str) -> Module {
    Module::from_text(text, "module", &checker.read).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn text(path: &str) -> String {
    let path = corpus("").join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Message passing: every kind of thing that must not go unnoticed.
fn handover() -> String {
    text("corpus/pairs/store-sunk-below-release/before.spvasm")
}

/// n! executions for n workgroups.
fn counter() -> String {
    text("benches/modules/counter.spvasm")
}

const COUNTER: [&str; 6] = ["--workgroups", "5", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:5"];

fn counting(more: &[&str]) -> Checker {
    checker(&[&COUNTER[..], more].concat())
}

/// The only run of a report, with what was found in after.
fn only(report: &CheckReport) -> (&Run, &Behaviours) {
    assert_eq!(report.runs.len(), 1, "{:?} {:?}", report.unsupported, report.reasons);
    let run = &report.runs[0];
    (run, &run.after.as_ref().expect("before is not undefined").behaviours)
}

/// Whether after's search was spared, on every input that has one.
fn is_spared(before: &str, after: &str) -> bool {
    let checker = checker(&["--workgroups", "2"]);
    let report = checker.check(&module(&checker, before), &module(&checker, after));
    let searched = report.runs.iter().filter_map(|run| run.after.as_ref());
    let spared: Vec<bool> = searched.map(|after| after.reused).collect();
    assert!(!spared.is_empty(), "{:?} {:?}", report.unsupported, report.reasons);
    assert!(spared.iter().all(|one| *one == spared[0]), "{spared:?}");
    spared[0]
}

#[test]
fn programs_that_differ_in_ids_names_and_lines_are_searched_once() {
    let before = handover();
    let mut after = with(&before, "%data", "%other");
    after = with(&after, "%writer", "%label");
    after = with(&after, "OpName %shared \"shared\"\n", "");
    after = with(&after, "OpMemberName %Shared 0 \"data\"\n", "");
    after = with(&after, "%entry = OpLabel", "\n\n%entry = OpLabel");
    // All ids behind it are others.
    after = with(&after, "%void = OpTypeVoid", "%shift = OpTypeFloat 32\n%void = OpTypeVoid");
    after = with(&after, "OpName %results", "OpName %Results \"Block\"\nOpName %results");
    assert!(is_spared(&before, &after));
    assert!(is_spared(&before, &before));
}

/// One word of difference each; some of these refine, but no search may be spared.
#[test]
fn programs_that_differ_in_anything_else_are_searched_twice() {
    let mode = "OpExecutionMode %main LocalSize 1 1 1";
    let relation = "%is_writer = OpIEqual %bool %id %uint_0";
    let differences = [
        ("a constant", "OpStore %data %uint_1", "OpStore %data %scope_device_2"),
        (
            "a decoration",
            "OpDecorate %results Binding 1",
            "OpDecorate %results Binding 1\nOpDecorate %results Aliased",
        ),
        (
            "a member's decoration",
            "OpDecorate %Results Block",
            "OpDecorate %Results Block\nOpMemberDecorate %Results 0 NonReadable",
        ),
        ("an execution mode", mode, &format!("{mode}\nOpExecutionMode %main MaximallyReconvergesKHR")),
        (
            "a memory operand",
            "%data MakePointerVisible|NonPrivatePointer",
            "%data Volatile|MakePointerVisible|NonPrivatePointer",
        ),
        (
            "an availability operation",
            "%uint_1 MakePointerAvailable|NonPrivatePointer %scope_device",
            "%uint_1 NonPrivatePointer",
        ),
        (
            "semantics",
            "%scope_device %sem_release_uniform %uint_1",
            "%scope_device %sem_release_image %uint_1",
        ),
        ("a scope", "OpAtomicLoad %uint %flag %scope_device", "OpAtomicLoad %uint %flag %scope_queue_family"),
        ("an operation", relation, &with(relation, "OpIEqual", "OpULessThanEqual")),
        ("an operand", relation, "%is_writer = OpIEqual %bool %uint_0 %id"),
        ("an offset", "OpMemberDecorate %Shared 1 Offset 4", "OpMemberDecorate %Shared 1 Offset 8"),
        ("a dead instruction", relation, &format!("%dead = OpIAdd %uint %id %id\n{relation}")),
    ];
    // The constants that the differences want are in both modules: constants alone are a difference, too.
    let constants = "%uint_1 = OpConstant %uint 1\n%scope_device_2 = OpConstant %uint 2\n\
                     %scope_queue_family = OpConstant %uint 5\n%sem_release_image = OpConstant %uint 0x844";
    let reconvergence = "OpMemoryModel Logical Vulkan";
    let mut before = with(&handover(), "%uint_1 = OpConstant %uint 1", constants);
    before = with(
        &before,
        reconvergence,
        &format!("OpExtension \"SPV_KHR_maximal_reconvergence\"\n{reconvergence}"),
    );
    for (what, from, to) in differences {
        assert!(!is_spared(&before, &with(&before, from, to)), "{what}");
    }
    // Alike but for what the constant pool holds.
    let (four, three) = ("%uint_4 = OpConstant %uint 4", "%uint_4 = OpConstant %uint 3");
    assert!(!is_spared(&late_violation(), &with(&late_violation(), four, three)));
}

/// What is not searched is told as if it had been: with the lines of the module after.
#[test]
fn what_is_taken_over_is_what_a_search_finds() {
    support::for_all(|subject| {
        let checker = Checker::new(&subject.args);
        let text = std::fs::read_to_string(&subject.path).unwrap();
        let (before, after) = (module(&checker, &text), module(&checker, &format!("\n;\n{text}")));
        let (pair, alone) = (checker.check(&before, &after), checker.check(&after, &after));
        let mut complaints = Vec::new();
        for (run, expected) in pair.runs.iter().zip(&alone.runs) {
            let Some(after) = &run.after else { continue };
            let is_all = expected.before.behaviours.complete;
            // What was only cut makes no difference.
            let is_told = is_all || expected.before.behaviours.undecided.is_empty();
            if is_told != after.reused {
                complaints.push(format!("{}: told {is_told}, reused {}", run.input.name, after.reused));
            }
            if is_all && format!("{:?}", after.behaviours) != format!("{:?}", expected.before.behaviours) {
                complaints.push(format!("{}: other behaviours than a search's", run.input.name));
            }
        }
        complaints
    });
}

/// Dead instructions: the same behaviours, another program each time.
fn padded(text: &str, instructions: usize) -> String {
    let id = "%id = OpCompositeExtract %uint %workgroup_id_value 0";
    let dead = |number| format!("\n%dead_{number} = OpIAdd %uint %id %id");
    with(text, id, &(id.to_owned() + &(0..instructions).map(dead).collect::<String>()))
}

#[test]
fn a_pipeline_searches_each_module_once() {
    let checker = counting(&["--inputs", "3"]);
    let modules: Vec<Module> = (0..4).map(|n| module(&checker, &padded(&counter(), n))).collect();
    let mut searches = Searches::default();
    let mut runs = 0;
    for (step, pair) in modules.windows(2).enumerate() {
        let report =
            check_in_series(&pair[0], &pair[1], &checker.options, &Watch::default(), &mut searches).unwrap();
        assert_eq!(report.verdict, Verdict::Refines);
        for run in &report.runs {
            assert_eq!(run.before.reused, step > 0);
            let (before, after) = (&run.before.behaviours, &run.after.as_ref().unwrap().behaviours);
            assert_eq!((&before.executions, before.explored), (&after.executions, after.explored));
        }
        assert_eq!(searches.spared(), runs);
        runs += report.runs.len() as u64;
    }
}

/// Another launch, another input or another choice is another search.
#[test]
fn what_was_found_elsewhere_is_not_reused() {
    let modules = |checker: &Checker| [0, 1, 2].map(|n| module(checker, &padded(&counter(), n)));
    let first = counting(&[]);
    for other in [
        &["--workgroups", "4", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:5"][..],
        &["--workgroups", "5", "--buffer", "0.0=words:1", "--buffer", "0.1=zeros:5"],
        &["--workgroups", "5", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:5", "--races", "keep"],
        &["--workgroups", "5", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:5", "--no-chains"],
        &["--workgroups", "5", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:5", "--spin-bound", "7"],
    ] {
        let mut searches = Searches::default();
        let mut check = |checker: &Checker, before: usize| {
            let modules = modules(checker);
            let (options, watch) = (&checker.options, Watch::default());
            check_in_series(&modules[before], &modules[before + 1], options, &watch, &mut searches).unwrap();
            searches.spared()
        };
        check(&first, 0);
        assert_eq!(check(&checker(other), 1), 0, "{other:?}");
    }
}

/// What is not everything is no before: a search that ended at a violation, or at a bound.
#[test]
fn what_is_cut_is_not_reused() {
    for args in [&[][..], &["--max-memory", "2K"], &["--max-executions", "30"]] {
        let checker = counting(args);
        let modules =
            [counter(), late_violation(), padded(&late_violation(), 1)].map(|text| module(&checker, &text));
        let mut searches = Searches::default();
        for pair in modules.windows(2) {
            let options = &checker.options;
            check_in_series(&pair[0], &pair[1], options, &Watch::default(), &mut searches).unwrap();
        }
        assert_eq!(searches.spared(), 0, "{args:?}");
    }
}

/// The counter, but whoever comes last stores another value: one execution in five, not the first.
fn late_violation() -> String {
    let text = with(
        &counter(),
        "%uint_0 = OpConstant %uint 0",
        "%uint_0 = OpConstant %uint 0\n%bool = OpTypeBool\n%uint_4 = OpConstant %uint 4",
    );
    let conditional = "%last = OpIEqual %bool %old %uint_4\n%first = OpIEqual %bool %id %uint_0\n\
                       %both = OpLogicalAnd %bool %last %first\n%told = OpSelect %uint %both %id %old\n\
                       OpStore %slot %told";
    with(&text, "OpStore %slot %old", conditional)
}

fn violating(args: &[&str]) -> CheckReport {
    let checker = counting(args);
    let (before, after) = (module(&checker, &counter()), module(&checker, &late_violation()));
    checker.check(&before, &after)
}

#[test]
fn a_search_ends_at_the_first_outcome_that_violates() {
    let first = violating(&[]);
    let (run, found) = only(&first);
    assert_eq!(
        run.comparison.violation.as_ref().map(|violation| violation.kind),
        Some(ViolationKind::NewOutcome)
    );
    assert!(found.ends_at_target && !found.complete && found.stopped.is_none());
    assert!((2..120).contains(&found.executions.saturating()), "{} executions", found.executions);
    for args in [&["--all"][..], &["--both-ways"], &["--ignore", "new-race"]] {
        let all = violating(args);
        let (run, found) = only(&all);
        assert_eq!(run.comparison.verdict, Verdict::Violates);
        assert!(!found.ends_at_target && found.complete, "{args:?}");
        assert_eq!(found.executions, 120, "{args:?}");
    }
}

#[test]
fn the_first_violation_is_the_same_for_any_number_of_threads() {
    let told = |report: &CheckReport| {
        let (run, found) = only(report);
        format!("{:?} {:?} {:?}", run.comparison, run.why, found)
    };
    // So many executions that the search is shared out before it comes there.
    let seven = ["--workgroups", "7", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:7"];
    // One execution stands for all; where the accesses are volatile, each is told with who made it, and all are explored.
    let own = |text: &str| {
        let same = "%old = OpAtomicIIncrement %uint %counter %scope_device %sem_relaxed";
        let different = "%more = OpIAdd %uint %id %scope_device\n\
                         %old = OpAtomicIAdd %uint %counter %scope_device %volatile %more";
        let uint = "%uint = OpTypeInt 32 0";
        with(&with(text, same, different), uint, &format!("{uint}\n%volatile = OpConstant %uint 32768"))
    };
    let same = (counter(), with(&late_violation(), "OpConstant %uint 4", "OpConstant %uint 6"));
    let different =
        (own(&counter()), own(&with(&late_violation(), "OpConstant %uint 4", "OpConstant %uint 27")));
    for ((before, after), explored) in [(same, 1..2), (different, 512..5040)] {
        let violating = |jobs| {
            let mut checker = checker(&seven);
            checker.options.bounds.jobs = jobs;
            checker.check(&module(&checker, &before), &module(&checker, &after))
        };
        let one = violating(1);
        let (_, found) = only(&one);
        assert!(explored.contains(&found.explored) && found.ends_at_target, "{} explored", found.explored);
        for jobs in [2, 3, 8] {
            assert!(told(&violating(jobs)) == told(&one), "{jobs} jobs");
        }
    }
}

/// Where something may yet excuse what is new, the search goes on.
#[test]
fn what_may_be_excused_does_not_end_a_search() {
    // A float that the environment leaves open, in before alone and in after alone.
    let float = "%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n%float_1 = OpConstant %float 1\n%float_3 = OpConstant %float 3";
    let declared = |text: &str| with(text, "%uint = OpTypeInt 32 0", float);
    let third = "%third = OpFDiv %float %float_1 %float_3\n%old = OpAtomic";
    let open = |text: &str| with(&declared(text), "%old = OpAtomic", third);
    for (before, after) in
        [(open(&counter()), declared(&late_violation())), (declared(&counter()), open(&late_violation()))]
    {
        let checker = counting(&[]);
        let report = checker.check(&module(&checker, &before), &module(&checker, &after));
        let (_, found) = only(&report);
        assert!(!found.ends_at_target && found.executions == 120, "{} executions", found.executions);
        let exact = counting(&["--float", "exact"]);
        let report = exact.check(&module(&exact, &before), &module(&exact, &after));
        assert!(only(&report).1.ends_at_target);
    }
}

/// What a budget leaves is reported, and said not to be all.
#[test]
fn what_was_found_before_a_budget_ended_is_reported() {
    let everything = found(&counting(&[]));
    assert_eq!((everything.outcomes.len(), everything.complete), (120, true));
    let budgets =
        [("--max-memory", "2K", Stopped::MaxMemory), ("--max-executions", "30", Stopped::MaxExecutions)];
    for (option, value, budget) in budgets {
        let part = found(&counting(&[option, value]));
        assert_eq!((part.complete, part.stopped), (false, Some(budget)));
        assert!((1..120).contains(&part.outcomes.len()), "{} outcomes", part.outcomes.len());
        let outcomes = |found: &Behaviours| {
            found.outcomes.iter().map(|(outcome, _)| outcome.clone()).collect::<Vec<_>>()
        };
        let all = outcomes(&everything);
        assert!(outcomes(&part).iter().all(|outcome| all.contains(outcome)));
    }
}

/// Twelve increments have 479,001,600 executions.
#[test]
fn what_was_found_before_the_time_was_up_is_reported() {
    let twelve =
        ["--workgroups", "12", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:12", "--timeout", "1"];
    let part = found(&checker(&twelve));
    assert_eq!((part.complete, part.stopped), (false, Some(Stopped::Timeout)));
    assert!(!part.outcomes.is_empty());
}

/// Two numbers of seconds may end a step: the reason names the one that did.
#[test]
fn the_time_of_a_step_is_named() {
    let mut twelve = checker(&[
        "--workgroups",
        "12",
        "--buffer",
        "0.0=zeros:1",
        "--buffer",
        "0.1=zeros:12",
        "--timeout",
        "900",
    ]);
    twelve.options.bounds.step_timeout = Some(Duration::from_secs(1));
    let part = found(&twelve);
    assert_eq!((part.complete, part.stopped), (false, Some(Stopped::StepTimeout)));
}

fn found(checker: &Checker) -> Behaviours {
    found_in(checker, &counter())
}

fn found_in(checker: &Checker, text: &str) -> Behaviours {
    let report = outcomes(&module(checker, text), &checker.options, &Watch::default());
    let explored = report.unwrap_or_else(|error| panic!("{error}")).runs.remove(0).explored;
    assert_eq!(explored.role, Role::Module);
    Behaviours::clone(&explored.behaviours)
}

/// A switch that switches nothing would show nothing, neither in the twin nor in self-checks. Components and early races
/// start the same paths; `tests/groups.rs` counts what the former spare.
#[test]
fn each_reduction_starts_fewer_paths_somewhere() {
    let two = ["--workgroups", "2", "--buffer", "0.1=zeros:2"];
    let maximum =
        ["--workgroups", "4", "--spec", "0=4", "--buffer", "0.0=zeros:64", "--buffer", "0.1=zeros:64"];
    let readers = ["--workgroups", "4", "--buffer", "0.0=zeros:2", "--buffer", "0.1=zeros:4"];
    let additions = ["--workgroups", "2", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:2"];
    let lock = [&two[..], &["--spec", "0=1"]].concat();
    let programs: [(ReductionName, &str, &[&str]); 7] = [
        (ReductionName::Symmetry, "corpus/classics/rmw-two-adds.spvasm", &additions),
        (ReductionName::Merging, "corpus/synchronisation/reader-writer-lock.spvasm", &lock),
        (ReductionName::IndependentSuffixes, "corpus/classics/iriw-relaxed.spvasm", &readers),
        (ReductionName::StaleReads, "corpus/synchronisation/reader-writer-lock.spvasm", &lock),
        (ReductionName::DeadEnds, "benches/modules/shapes/casmax.spvasm", &maximum),
        (
            ReductionName::BarrierEpochs,
            "corpus/classics/updates-unordered.spvasm",
            &["--buffer", "0.1=zeros:1"],
        ),
        (
            ReductionName::CommutingUpdates,
            "corpus/classics/updates-unordered.spvasm",
            &["--buffer", "0.1=zeros:1"],
        ),
    ];
    for (name, path, args) in programs {
        let paths = |more: &[&str]| found_in(&checker(&[args, more].concat()), &text(path)).paths.started();
        let (with, without) = (paths(&[]), paths(&["--without", name.name()]));
        assert!(with < without, "{}: {with} paths, {without} without", name.name());
    }
}

/// A check says which module was cut, and by what.
#[test]
fn a_check_that_a_budget_cut_names_it() {
    let checker = counting(&["--max-memory", "2K"]);
    let report = checker.check(&module(&checker, &counter()), &module(&checker, &padded(&counter(), 1)));
    let (run, found) = only(&report);
    assert_eq!(run.comparison.verdict, Verdict::Inconclusive);
    assert!(
        run.comparison.reasons[0].to_string().ends_with("raise --max-memory"),
        "{:?}",
        run.comparison.reasons
    );
    assert!(!found.outcomes.is_empty() && !run.before.behaviours.outcomes.is_empty());
}

/// An invocation of before that goes round a loop for ever may end there, as after's does that stores nothing.
#[test]
fn an_endless_loop_of_before_excuses_who_ends() {
    let text = with(
        &counter(),
        "%uint_0 = OpConstant %uint 0",
        "%uint_0 = OpConstant %uint 0\n%bool = OpTypeBool\n%uint_4 = OpConstant %uint 4",
    );
    let spins = "%last = OpIEqual %bool %old %uint_4\nOpSelectionMerge %after None\n\
                 OpBranchConditional %last %spin %after\n%spin = OpLabel\nOpLoopMerge %merge %continue None\n\
                 OpBranch %continue\n%continue = OpLabel\nOpBranch %spin\n%merge = OpLabel\nOpBranch %after\n\
                 %after = OpLabel\nOpStore %slot %old";
    let before = with(&text, "OpStore %slot %old", spins);
    let ends = |checker: &Checker| {
        let report = checker.check(&module(checker, &before), &module(checker, &late_violation()));
        only(&report).1.ends_at_target
    };
    assert!(!ends(&counting(&[])));
    assert!(ends(&counting(&["--hang", "strict"])));
}

/// What a cut before does not show it may allow.
#[test]
fn a_cut_before_does_not_end_a_search() {
    let checker = counting(&["--max-executions", "30"]);
    let other = with(&counter(), "OpStore %slot %old", "OpStore %slot %uint_0");
    let report = checker.check(&module(&checker, &counter()), &module(&checker, &other));
    let (run, found) = only(&report);
    assert_eq!(run.comparison.verdict, Verdict::Inconclusive);
    assert!(!found.ends_at_target);
}

/// What only after writes justifies nothing in before.
#[test]
fn reads_speculate_values_of_their_own_module() {
    let ring = text("benches/modules/load-buffering-ring.spvasm");
    let checker = checker(&["--workgroups", "3", "--buffer", "0.0=zeros:3", "--buffer", "0.1=zeros:3"]);
    let other = with(&ring, "OpAtomicStore %41 %36 %13 %7", "OpAtomicStore %41 %36 %13 %37");
    let alone = found_in(&checker, &ring).outcomes.len();
    let report = checker.check(&module(&checker, &ring), &module(&checker, &other));
    let (run, _) = only(&report);
    assert!(run.before.behaviours.speculates);
    assert_eq!(run.before.behaviours.outcomes.len(), alone);
    assert_eq!(run.comparison.verdict, Verdict::Violates);
}

/// What a cycle of load buffering may need lies further than is looked.
#[test]
fn a_search_that_may_miss_cycles_is_bounded() {
    let near = text("corpus/classics/lb-behind-costly-updates.spvasm");
    let far = with(&near, "OpConstant %uint 1800", "OpConstant %uint 50000");
    let checker = checker(&[
        "--workgroups",
        "2",
        "--buffer",
        "0.0=zeros:3",
        "--buffer",
        "0.1=zeros:3",
        "--inputs",
        "1",
    ]);
    let report = checker.check(&module(&checker, &far), &module(&checker, &near));
    let (run, near) = only(&report);
    assert_eq!((near.count().saturating(), near.bounded), (2, None));
    let bound = run.before.behaviours.bounded;
    assert_eq!(bound, Some(Bound::HiddenWriters));
    assert_eq!(report.verdict, Verdict::Inconclusive);
    let report = checker.check(&module(&checker, &far), &module(&checker, &far));
    assert_eq!((report.verdict, report.bounded()), (Verdict::Refines, true));
}

#[test]
fn cycles_are_looked_for_as_far_as_undefined_values_lead() {
    let bounded = |text: &str, args: &[&str]| {
        let checker = checker(&[&["--buffer", "0.0=zeros:2", "--buffer", "0.1=zeros:16"], args].concat());
        found_in(&checker, text).bounded
    };
    let many = text("corpus/classics/lb-many-values.spvasm");
    assert_eq!(bounded(&many, &["--workgroups", "2"]), None);
    // The write that closes the cycle is one through an undefined index.
    let indexed = with(&many, "%shared %uint_1", "%results %uint_0 %uint_12");
    let indexed = with(
        &indexed,
        "OpAtomicStore %y",
        "%there = OpAccessChain %ptr_StorageBuffer_uint %results %uint_0 %a\nOpAtomicStore %there",
    );
    let bound = Some(Bound::HiddenWriters);
    assert_eq!(bounded(&indexed, &["--workgroups", "2"]), bound);
    let updates = text("corpus/classics/lb-unused-updates.spvasm");
    assert_eq!(bounded(&updates, &["--workgroups", "1024"]), None);
    assert_eq!(bounded(&updates, &["--workgroups", "1025"]), bound);
}
