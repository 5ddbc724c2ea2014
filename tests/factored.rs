//! Outcomes in factored form: large launches of modules that give out slots are told and compared by slots and contents
//! (`benches/modules/idioms/`).

use std::path::Path;

use spirv_tv::behaviour::Behaviours;
use spirv_tv::check::{outcomes, CheckReport, Watch};
use spirv_tv::compare::{Subject, Verdict, ViolationKind};
use spirv_tv::event::UndefinedKind;
use spirv_tv::module::{Module, ReadOptions};

use crate::support::Checker;

fn text(module: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/modules/idioms").join(module);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn module(text: &str) -> Module {
    Module::from_text(text, "idiom", &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn checker(invocations: u32) -> Checker {
    let spec = format!("0={invocations}");
    let args = ["--spec", &spec, "--workgroups", "1", "--inputs", "1", "--jobs", "1"];
    let buffers = ["--buffer", "0.0=zeros:2", "--buffer", "0.1=zeros:512"];
    let args: Vec<String> = args.into_iter().chain(buffers).map(str::to_owned).collect();
    Checker::new(&args)
}

fn behaviours(text: &str, invocations: u32) -> Behaviours {
    let checker = checker(invocations);
    let mut report = outcomes(&module(text), &checker.options, &Watch::default()).unwrap();
    let behaviours = &report.runs.remove(0).explored.behaviours;
    assert!(behaviours.complete && behaviours.undefined.is_empty(), "{:?}", behaviours.stopped);
    Behaviours::clone(behaviours)
}

/// The verdict on a pair with many invocations.
fn checked(before: &str, after: &str, invocations: u32) -> CheckReport {
    checker(invocations).check(&module(before), &module(after))
}

/// The same with few, in factored form and listed.
fn verdict_on_few(before: &str, after: &str) -> Verdict {
    let verdicts = [1, u64::MAX].map(|factored_from| {
        let mut checker = checker(5);
        checker.options.bounds.factored_from = factored_from;
        let report = checker.check(&module(before), &module(after));
        assert!(report.reasons.is_empty(), "{:?}", report.reasons);
        report.verdict
    });
    assert_eq!(verdicts[0], verdicts[1]);
    verdicts[0]
}

#[test]
fn slots_are_counted() {
    let all: u64 = (1..=20).product();
    assert_eq!(behaviours(&text("append.spvasm"), 20).count(), all);
    let found = behaviours(&text("append.spvasm"), 64);
    let [form] = &found.factored().collect::<Vec<_>>()[..] else { panic!("{}", found.count()) };
    assert_eq!((form.classes.len(), form.classes[0].slots.len()), (1, 64));
    assert_eq!((found.explored, &found.executions), (1, &found.count()));
    // Each of sixteen contents as often as it likes, since everybody has one of 256.
    let found = behaviours(&text("bounded_append.spvasm"), 256);
    assert_eq!(found.count().to_string(), "18446744073709551616");
    assert!(found.executions > u64::MAX);
}

#[test]
fn the_same_contents_in_the_same_slots_refine() {
    let before = text("append.spvasm");
    // The sum comes first.
    let after = before.replace("OpIMul %uint %29 %uint_3", "OpIAdd %uint %29 %thrice");
    let after = after.replace("%31 = OpIAdd", "%thrice = OpIMul %uint %29 %uint_2\n         %31 = OpIAdd");
    let after = after.replace("    %uint_3 = OpConstant %uint 3", "    %uint_2 = OpConstant %uint 2");
    assert_ne!(before, after);
    let report = checked(&before, &after, 64);
    assert_eq!(report.verdict, Verdict::Refines, "{:?}", report.reasons);
    assert_eq!(verdict_on_few(&before, &after), Verdict::Refines);
}

#[test]
fn other_contents_violate() {
    let before = text("append.spvasm");
    let after = before.replace("%uint_3 = OpConstant %uint 3", "%uint_3 = OpConstant %uint 5");
    let report = checked(&before, &after, 64);
    assert_eq!(report.verdict, Verdict::Violates, "{:?}", report.reasons);
    let run = &report.runs[0];
    let violation = run.comparison.violation.as_ref().unwrap();
    assert_eq!((violation.kind, violation.subject), (ViolationKind::NewOutcome, Subject::Part(0, 0)));
    let difference = violation.difference.as_ref().unwrap();
    assert_eq!((difference.key.as_str(), difference.offset), ("0.1", 4));
    assert_eq!(verdict_on_few(&before, &after), Verdict::Violates);
}

#[test]
fn other_slots_violate() {
    let before = text("bounded_append.spvasm");
    for [from, to] in [
        ["%uint_16 = OpConstant %uint 16", "%uint_16 = OpConstant %uint 15"],
        // Both slots of a place move.
        ["OpAtomicIAdd %uint %15 %uint_1 %uint_0 %uint_1", "OpAtomicIAdd %uint %15 %uint_1 %uint_0 %uint_2"],
        ["%uint_32 = OpConstant %uint 32", "%uint_32 = OpConstant %uint 33"],
    ] {
        let after = before.replace(from, to);
        assert_ne!(before, after);
        let report = checked(&before, &after, 64);
        assert_eq!(report.verdict, Verdict::Violates, "{to}: {:?}", report.reasons);
    }
}

/// What is listed on one side is compared with the slots of the other.
#[test]
fn one_order_refines_all() {
    let before = text("append.spvasm");
    // Whoever is first takes the first slot: the number of the invocation.
    let after = before.replace("%23 = OpLoad %uint %slot", "%23 = OpLoad %uint %mine");
    let after = after.replace("               OpStore %slot %18", "               OpStore %slot %18\n         %mine = OpAccessChain %_ptr_Input_uint %gl_GlobalInvocationID %uint_0");
    assert_ne!(before, after);
    let report = checked(&before, &after, 12);
    assert_eq!(report.verdict, Verdict::Refines, "{:?}", report.reasons);
    assert_eq!(verdict_on_few(&before, &after), Verdict::Refines);
    assert_eq!(verdict_on_few(&after, &before), Verdict::Violates);
    assert_eq!(checked(&after, &before, 12).verdict, Verdict::Violates);
}

/// Invocations that give out slots among themselves, beside others that do.
#[test]
fn lists_beside_each_other_are_factored() {
    let before = text("two_lists.spvasm");
    let found = behaviours(&before, 64);
    let [form] = &found.factored().collect::<Vec<_>>()[..] else { panic!("{}", found.count()) };
    assert_eq!(form.classes.iter().map(|class| class.slots.len()).collect::<Vec<_>>(), [32, 32]);
    assert_eq!((found.explored, &found.executions), (2, &found.count()));
    assert_eq!(behaviours(&before, 6).count(), 36);
    // What the others append.
    let after = before.replace("OpConstant %6 5", "OpConstant %6 7");
    assert_ne!(before, after);
    let verdict = |before: &str, after: &str| checked(before, after, 64).verdict;
    assert_eq!([verdict(&before, &before), verdict(&before, &after)], [Verdict::Refines, Verdict::Violates]);
    assert_eq!(verdict_on_few(&before, &before), Verdict::Refines);
    assert_eq!(verdict_on_few(&before, &after), Verdict::Violates);
}

/// What somebody does in the place of another one may meet what others do.
#[test]
fn what_others_do_is_met_in_any_place() {
    let checker = checker(6);
    let module = module(&text("overlapping_lists.spvasm"));
    let report = outcomes(&module, &checker.options, &Watch::default()).unwrap();
    let undefined = &report.runs[0].explored.behaviours.undefined;
    assert_eq!(undefined.iter().map(|(it, _)| it.kind).collect::<Vec<_>>(), [UndefinedKind::DataRace]);
}
