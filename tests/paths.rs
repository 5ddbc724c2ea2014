//! Where a search ends a path, and what would be found if it did not.

use std::collections::BTreeSet;

use spirv_tv::behaviour::{Behaviours, Bound, End, PathEnd, Undecided};
use spirv_tv::check::{outcomes, Watch};
use spirv_tv::module::Module;
use spirv_tv::value::Byte;

use crate::support::{corpus, Checker};
use crate::texts::{checker, with};

fn text(path: &str) -> String {
    let path = corpus(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn found_in(checker: &Checker, text: &str) -> Behaviours {
    let module =
        Module::from_text(text, "module", &checker.read).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let report = outcomes(&module, &checker.options, &Watch::default());
    let explored = report.unwrap_or_else(|error| panic!("{error}")).runs.remove(0).explored;
    Behaviours::clone(&explored.behaviours)
}

/// Two invocations, with four words of memory `%x`, `%y` and results `%r0`, `%r1`.
fn two(first: &str, second: &str) -> String {
    let other = text("pairs/poll-that-stores-sees-the-last-write/before.spvasm");
    let (head, _) = other.split_once("%p0 = OpLabel").expect("a first invocation");
    format!(
        "{head}%p0 = OpLabel\n{first}\nOpBranch %done\n%p1 = OpLabel\n{second}\nOpBranch %done
%done = OpLabel\nOpReturn\nOpFunctionEnd"
    )
}

const TWO: [&str; 6] = ["--workgroups", "2", "--buffer", "0.0=zeros:4", "--buffer", "0.1=zeros:4"];

/// A plain poll of `%x`, which stays 0, and what comes behind.
fn poll(behind: &str) -> String {
    format!(
        "OpBranch %loop
%loop = OpLabel
OpLoopMerge %exit %again None
OpBranch %again
%again = OpLabel
%seen = OpLoad %uint %x
%ends = OpINotEqual %bool %seen %uint_0
OpBranchConditional %ends %exit %loop
%exit = OpLabel
{behind}"
    )
}

/// Who waits for what only comes behind an endless loop that another one may leave is in no hang: it goes on without it.
#[test]
fn who_waits_for_what_is_behind_an_endless_loop_goes_on() {
    let reads = "OpAtomicStore %x %device %relaxed %uint_0
%a = OpAtomicLoad %uint %y %device %relaxed\nOpStore %r1 %a\n%v = OpLoad %uint %r0 Volatile";
    let first = poll("OpAtomicStore %y %device %relaxed %uint_1");
    let found = found_in(&checker(&[&TWO[..], &["--races", "keep"]].concat()), &two(&first, reads));
    assert!(found.complete && found.undefined.is_empty(), "{:?} {:?}", found.bounded, found.undefined);
    let hangs = found.outcomes.iter().filter(|(outcome, _)| outcome.end == End::Hang);
    let traces: Vec<usize> = hangs.map(|(outcome, _)| outcome.volatile[1].len()).collect();
    assert_eq!(traces, [1], "the volatile load is in every hang");
    // It has read 0, or 1 from who left and went on; who left may also have ended.
    assert_eq!(found.outcomes.iter().filter(|(outcome, _)| outcome.end == End::Terminated).count(), 3);
}

/// Where relations depend on the order of writes, a graph with a fault is judged in each of them, too.
#[test]
fn what_no_order_of_writes_allows_is_no_fault() {
    let sequence = text("classics/release-sequence-across-scopes.spvasm");
    let exchange = "OpAtomicExchange %uint %y %scope_device %sem_relaxed %uint_3";
    let guarded = "OpAtomicCompareExchange %uint %y %scope_device %sem_relaxed %sem_relaxed %uint_3";
    let found = |from: u32, divisors: &str| {
        let sequence = with(&sequence, exchange, &format!("{guarded} %uint_{from}"));
        let divides = format!(
            "%is_last = OpIEqual %bool %a %uint_3
%is_early = OpIEqual %bool %b %uint_0
%both = OpLogicalAnd %bool %is_last %is_early
%divisor = OpSelect %uint %both {divisors}
%quotient = OpUDiv %uint %uint_1 %divisor
OpStore %r1 %a"
        );
        let sequence = with(&sequence, "OpStore %r1 %a", &divides);
        let sequence = with(&sequence, "%void = OpTypeVoid", "%void = OpTypeVoid\n%bool = OpTypeBool");
        let buffers = ["--buffer", "0.0=zeros:2", "--buffer", "0.1=zeros:3"];
        let checker = checker(&[&["--workgroups", "3", "--races", "keep"], &buffers[..]].concat());
        found_in(&checker, &sequence)
    };
    // Who reads 3 sees x = 1: the exchange is in the release sequence.
    let never = found(2, "%uint_0 %uint_1");
    assert!(never.complete && never.undefined.is_empty(), "{:?}", never.undefined);
    let mostly = found(2, "%uint_1 %uint_0");
    assert_eq!(mostly.undefined.len(), 1);
}

/// An endless loop that writes the same again hangs; one that writes something else in each turn is cut, by that name.
#[test]
fn what_grows_for_ever_is_bounded() {
    let writes = |write: &str, ends: &str| {
        let first = format!(
            "OpBranch %loop
%loop = OpLabel
OpLoopMerge %exit %again None
OpBranch %again
%again = OpLabel
{write}
%ends = {ends}
OpBranchConditional %ends %exit %loop
%exit = OpLabel"
        );
        let second = "%a = OpAtomicLoad %uint %x %device %relaxed\nOpStore %r1 %a";
        found_in(&checker(&TWO), &two(&first, second))
    };
    let never = |old: &str| format!("OpULessThan %bool {old} %uint_0");
    let same = writes("OpAtomicStore %x %device %relaxed %uint_1", &never("%uint_1"));
    assert!(same.complete && same.count() == 1, "{:?}", same.bounded);
    let grows = writes("%old = OpAtomicIAdd %uint %x %device %relaxed %uint_1", &never("%old"));
    assert_eq!((grows.count().saturating(), grows.bounded), (0, Some(Bound::SpinBound)));
    assert!(grows.paths.ended(PathEnd::SpinBound) > 0 && grows.paths.is_whole());
}

/// What only comes up when an instruction runs is told as well, with its line.
#[test]
fn what_is_not_supported_is_told() {
    let floats = text("../tests/cli/image.spvasm");
    let integers =
        with(&floats, "OpTypeImage %float 2D 0 0 0 1 Unknown", "OpTypeImage %uint 2D 0 0 0 1 Unknown");
    let integers = with(
        &integers,
        "%vec4 = OpTypeVector %float 4",
        "%vec4 = OpTypeVector %float 4\n%uvec4 = OpTypeVector %uint 4",
    );
    let sample = "%found = OpImageSampleExplicitLod %vec4 %image %place Lod %nothing";
    let words = "%words = OpImageSampleExplicitLod %uvec4 %image %place Lod %nothing\n%found = OpConvertUToF %vec4 %words";
    let integers = with(&integers, sample, words);
    let images = ["--image", "texture=r32ui:2x1:words:1,2", "--image", "0.1=rgba8:2x1:zeros"];
    let found = |sampler| found_in(&checker(&[&images[..], &["--sampler", sampler]].concat()), &integers);
    let nearest = found("texture=nearest,clamp");
    assert!(nearest.complete && nearest.outcomes.len() == 1, "{:?}", nearest.undecided);
    let linear = found("texture=linear,clamp");
    let line = integers.lines().position(|line| line.contains("%words =")).expect("it is there") + 1;
    let told =
        |why: &Undecided| matches!(why, Undecided::Unsupported { line: at, .. } if *at as usize == line);
    assert!(!linear.complete && linear.undecided.iter().any(told), "{:?}", linear.undecided);
}

/// A comparison of what is undefined goes both ways, in an update, too.
#[test]
fn an_undefined_comparison_of_an_update_goes_both_ways() {
    let first = "%undefined = OpUndef %uint
%old = OpAtomicCompareExchange %uint %x %device %relaxed %relaxed %uint_3 %undefined";
    let reads = "%a = OpAtomicLoad %uint %x %device %relaxed\nOpStore %r1 %a";
    let found = found_in(&checker(&TWO), &two(first, reads));
    assert!(found.complete && found.undefined.is_empty(), "{:?} {:?}", found.bounded, found.undefined);
    let words = found.outcomes.iter().map(|(outcome, _)| outcome.memory[0][0]);
    assert_eq!(words.collect::<BTreeSet<_>>(), BTreeSet::from([Byte::Known(0), Byte::Known(3)]));
}

/// One undefined behaviour decides about a module; `--all` finds the others.
#[test]
fn the_first_undefined_behaviour_ends_a_search() {
    let second = "%a = OpAtomicLoad %uint %x %device %relaxed
%is_set = OpIEqual %bool %a %uint_1
OpSelectionMerge %behind None
OpBranchConditional %is_set %set %unset
%set = OpLabel
%one = OpUDiv %uint %uint_1 %uint_0
OpBranch %behind
%unset = OpLabel
%other = OpUDiv %uint %uint_2 %uint_0
OpBranch %behind
%behind = OpLabel";
    let text = two("OpAtomicStore %x %device %relaxed %uint_1", second);
    let kinds = |all| {
        let mut checker = checker(&TWO);
        checker.options.all = all;
        found_in(&checker, &text).undefined.len()
    };
    assert_eq!((kinds(false), kinds(true)), (1, 2));
}

/// Where release sequences hang on the order of many writes, the orders are cut, by that name.
#[test]
fn too_many_orders_of_writes_are_told() {
    let first = "OpAtomicStore %x %uint_2 %relaxed %uint_3";
    let second = "%old = OpAtomicExchange %uint %x %device %relaxed %uint_1";
    let all = "OpAtomicStore %x %device %relaxed %group\nOpSelectionMerge %done None";
    let text = with(&two(first, second), "OpSelectionMerge %done None", all);
    let found = |workgroups| {
        found_in(
            &checker(&["--workgroups", workgroups, "--races", "keep", TWO[2], TWO[3], TWO[4], TWO[5]]),
            &text,
        )
    };
    let few = found("3");
    assert!(few.complete && few.paths.ended(PathEnd::OrdersOfWrites) == 0, "{:?}", few.bounded);
    let many = found("10");
    assert!(!many.complete && many.bounded == Some(Bound::OrdersOfWrites), "{:?}", many.bounded);
    assert!(many.paths.ended(PathEnd::OrdersOfWrites) > 0 && many.paths.is_whole());
}

/// A loop that counts further than the instructions go is cut, by that name.
#[test]
fn what_takes_too_many_instructions_is_bounded() {
    let first = "OpBranch %loop
%loop = OpLabel
%i = OpPhi %uint %uint_0 %p0 %next %again
OpLoopMerge %exit %again None
OpBranch %again
%again = OpLabel
%next = OpIAdd %uint %i %uint_1
%ends = OpIEqual %bool %next %device
OpBranchConditional %ends %exit %loop
%exit = OpLabel
OpAtomicStore %x %device %relaxed %uint_1";
    let text = two(first, "%a = OpAtomicLoad %uint %x %device %relaxed\nOpStore %r1 %a");
    let text = with(&text, "%next %device", "%next %many");
    let text = with(&text, "%device = OpConstant", "%many = OpConstant %uint 1000\n%device = OpConstant");
    let found = |most| found_in(&checker(&[&TWO[..], &["--max-instructions", most]].concat()), &text);
    let whole = found("10000");
    assert!(whole.complete && whole.outcomes.len() == 2, "{:?}", whole.bounded);
    let cut = found("1000");
    assert_eq!((cut.count().saturating(), cut.bounded), (0, Some(Bound::MaxInstructions)));
    assert!(cut.paths.ended(PathEnd::MaxInstructions) > 0 && cut.paths.is_whole());
}

/// A segment that repeats has as many turns as others read.
#[test]
fn who_reads_on_sees_later_turns_of_a_segment() {
    let writes = "OpBranch %loop
%loop = OpLabel
OpLoopMerge %exit %again None
OpBranch %again
%again = OpLabel
OpAtomicStore %x %device %relaxed %uint_1
OpAtomicStore %x %device %relaxed %uint_2
%stop = OpAtomicLoad %uint %y %device %relaxed
%ends = OpINotEqual %bool %stop %uint_0
OpBranchConditional %ends %exit %loop
%exit = OpLabel";
    let turns = 6;
    let mut reads =
        "OpBranch %once\n%once = OpLabel\nOpLoopMerge %read %never None\nOpBranch %read1".to_owned();
    for read in 1..=turns {
        let next = if read == turns { "read".to_owned() } else { format!("read{}", read + 1) };
        let expected = 2 - read % 2;
        reads.push_str(&format!(
            "\n%read{read} = OpLabel
%a{read} = OpAtomicLoad %uint %x %device %relaxed
%is{read} = OpIEqual %bool %a{read} %uint_{expected}
OpBranchConditional %is{read} %as{read} %read
%as{read} = OpLabel
%before{read} = OpLoad %uint %r1
%more{read} = OpIAdd %uint %before{read} %uint_1
OpStore %r1 %more{read}
OpBranch %{next}"
        ));
    }
    reads.push_str(
        "\n%never = OpLabel\nOpBranch %once\n%read = OpLabel\nOpAtomicStore %y %device %relaxed %uint_1",
    );
    let found = found_in(&checker(&TWO), &two(writes, &reads));
    assert!(found.complete && found.undefined.is_empty(), "{:?} {:?}", found.bounded, found.undefined);
    let seen =
        |count: u8| found.outcomes.iter().any(|(outcome, _)| outcome.memory[1][4] == Byte::Known(count));
    assert!((0..=turns).all(|count| seen(count as u8)), "1, 2, 1, 2, …: every number of these");
}

/// Who waits at a read waits for no write of an invocation that stands at a barrier with which it waits for the reader, if
/// the barrier orders the read before the write.
#[test]
fn no_read_waits_for_a_write_behind_a_barrier_that_orders_it() {
    let exchange = text("classics/lb-exchange-across-barrier.spvasm");
    let barrier = "OpControlBarrier %scope_workgroup %scope_workgroup ";
    let last = "%uint_3 = OpConstant %uint 3\n";
    let more = "%acquire_release = OpConstant %uint 0x48\n%other_class = OpConstant %uint 0x108\n";
    let module = with(&exchange, last, &format!("{last}{more}"));
    let options = ["--workgroups", "1", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:2"];
    for (semantics, speculates) in
        [("%sem_relaxed", true), ("%acquire_release", false), ("%other_class", true)]
    {
        let module = with(&module, &format!("{barrier}%sem_relaxed"), &format!("{barrier}{semantics}"));
        let found = found_in(&checker(&options), &module);
        assert!(found.complete, "{semantics}");
        assert_eq!(found.outcomes.len(), if speculates { 2 } else { 1 }, "{semantics}");
        assert_eq!(found.paths.speculated() > 0, speculates, "{semantics}");
    }
}
