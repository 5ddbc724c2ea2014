//! Loops that a variable ends after 2^64 turns, in modules of text.

use super::exits::{module, word_at};
use super::*;
use crate::interp::{Following, Interval, ShadedMemory, Shades};

/// What both kinds of countdowns are made of: how they end, and how they go on.
const DOWN: [&str; 3] = ["%u0", "%zeros", "OpISub"];
const UP: [&str; 3] = ["%most", "%mosts", "OpIAdd"];

/// Declarations of a function, and what is behind its first label: variables first.
const DECLARED: &str = "%most = OpConstant %uint 4294967295
%zeros = OpConstantComposite %pair %u0 %u0
%mosts = OpConstantComposite %pair %most %most
%bools = OpTypeVector %bool 2
%float = OpTypeFloat 32
%own_float = OpTypePointer Function %float
%f1 = OpConstant %float 1
%f3 = OpConstant %float 3
";

/// A loop that is left when the variable `%bound_NAME` is at its end, with what else its turns do; the names in it end so.
fn counted(name: &str, [end, ends, step]: [&str; 3], body: &str) -> String {
    format!(
        "OpBranch %header_{name}
%header_{name} = OpLabel
OpLoopMerge %merge_{name} %continue_{name} None
OpBranch %test_{name}
%test_{name} = OpLabel
%left_{name} = OpLoad %pair %bound_{name}
%both_{name} = OpIEqual %bools {ends} %left_{name}
%is_over_{name} = OpAll %bool %both_{name}
OpSelectionMerge %step_{name} None
OpBranchConditional %is_over_{name} %merge_{name} %step_{name}
%step_{name} = OpLabel
%low_{name} = OpCompositeExtract %uint %left_{name} 1
%carries_{name} = OpIEqual %bool %low_{name} {end}
%carry_{name} = OpSelect %uint %carries_{name} %u1 %u0
%by_{name} = OpCompositeConstruct %pair %carry_{name} %u1
%next_{name} = {step} %pair %left_{name} %by_{name}
OpStore %bound_{name} %next_{name}
{body}
OpBranch %continue_{name}
%continue_{name} = OpLabel
OpBranch %header_{name}
%merge_{name} = OpLabel
"
    )
}

/// Counts modulo three.
const TURN: &str = "%old = OpLoad %uint %turn
%more = OpIAdd %uint %old %u1
%new = OpUMod %uint %more %u3
OpStore %turn %new";

/// A function with these constants as the first values of its countdowns `a` and `b`, and this code, that leaves `%turn` in
/// the first word.
fn whole([a, b]: [u64; 2], code: &str) -> Builder {
    let constants = |name: &str, value: u64| {
        let (upper, lower) = (value >> 32, value & u64::from(u32::MAX));
        format!(
            "%upper_{name} = OpConstant %uint {upper}
%lower_{name} = OpConstant %uint {lower}
%start_{name} = OpConstantComposite %pair %upper_{name} %lower_{name}
"
        )
    };
    let declared = [DECLARED, &constants("a", a), &constants("b", b)].concat();
    let body = format!(
        "%bound_a = OpVariable %local_pair Function %start_a
%bound_b = OpVariable %local_pair Function %start_b
%turn = OpVariable %local Function %u0
%factor = OpVariable %own_float Function %f1
{code}
%last = OpLoad %uint %turn
%at = OpAccessChain %pointer %buffer %u0 %u0
OpStore %at %last
OpReturn"
    );
    module(&declared, &body)
}

/// What is left in the first word after at most so many instructions.
fn run(builder: &Builder, mut fuel: u64) -> Option<u32> {
    let mut invocation = builder.start();
    let mut memory = builder.memory(true);
    loop {
        match invocation.run(&builder.program, &builder.dispatch, &mut memory, &mut fuel) {
            Stop::LoopEntry { .. } | Stop::Iteration { .. } => {}
            Stop::Choose { .. } => invocation.choose(0),
            Stop::Finished => return word_at(&memory, 0),
            Stop::OutOfFuel => return None,
            other => panic!("{other:?}"),
        }
    }
}

const LITTLE: u64 = 5_000;

#[test]
fn turns_that_are_only_counted_are_not_run() {
    for (left, kind) in [DOWN, UP].into_iter().flat_map(|kind| {
        [0, 1, 7, 1000, 1001, 1002, 1 << 32, (1 << 32) + 1, u64::MAX, u64::MAX - 1].map(|left| (left, kind))
    }) {
        let start = if kind == UP { !left } else { left };
        let builder = whole([start, 0], &counted("a", kind, TURN));
        assert_eq!(run(&builder, LITTLE), Some((left % 3) as u32), "{left} {kind:?}");
    }
}

#[test]
fn of_several_the_one_that_ends_first_does_so_in_its_turn() {
    // The outer loop goes on long after the inner one is no longer entered.
    let code = counted("a", DOWN, &counted("b", DOWN, &format!("{TURN}\n%is_new = OpIEqual %bool %new %u0\nOpSelectionMerge %on None\nOpBranchConditional %is_new %merge_b %on\n%on = OpLabel")));
    let builder = whole([u64::MAX, 1_000_001], &code);
    assert_eq!(builder.program.functions[0].loops.iter().map(|lp| lp.countdowns.len()).max(), Some(2));
    assert_eq!(run(&builder, 10 * LITTLE), Some(1_000_001 % 3));
}

#[test]
fn what_else_changes_is_run() {
    let sums = "%old = OpLoad %uint %turn\n%new = OpIAdd %uint %old %u1\nOpStore %turn %new";
    let builder = whole([u64::MAX, 0], &counted("a", DOWN, sums));
    assert_eq!(run(&builder, LITTLE), None);
    let builder = whole([100, 0], &counted("a", DOWN, sums));
    assert_eq!(run(&builder, LITTLE), Some(100));
    // Another invocation may write what an atomic instruction reads.
    let polls = "%at_1 = OpAccessChain %pointer %buffer %u0 %u1\n%old = OpAtomicLoad %uint %at_1 %u5 %u0";
    assert_eq!(run(&whole([u64::MAX, 0], &counted("a", DOWN, polls)), LITTLE), None);
    // Every twelfth turn has a choice, which may go another way than before.
    let chooses = "%undef = OpUndef %bool
%old = OpLoad %uint %turn
%more = OpIAdd %uint %old %u1
%twelve = OpIMul %uint %u3 %u4
%new = OpUMod %uint %more %twelve
OpStore %turn %new
%is_first = OpIEqual %bool %new %u0
OpSelectionMerge %on None
OpBranchConditional %is_first %first %on
%first = OpLabel
OpSelectionMerge %either None
OpBranchConditional %undef %either %other_way
%other_way = OpLabel
OpBranch %either
%either = OpLabel
OpBranch %on
%on = OpLabel";
    assert_eq!(run(&whole([u64::MAX, 0], &counted("a", DOWN, chooses)), 4 * LITTLE), None);
    // The word has something else in each turn.
    let stores = "%at_1 = OpAccessChain %pointer %buffer %u0 %u1
%old = OpLoad %uint %at_1
%new = OpIAdd %uint %old %u1
OpStore %at_1 %new";
    assert_eq!(run(&whole([u64::MAX, 0], &counted("a", DOWN, stores)), LITTLE), None);
}

#[test]
fn what_is_the_same_each_time_is_not_run() {
    let stores = "%at_1 = OpAccessChain %pointer %buffer %u0 %u1\nOpStore %at_1 %u5\nOpStore %turn %u2";
    assert_eq!(run(&whole([u64::MAX, 0], &counted("a", DOWN, stores)), LITTLE), Some(2));
}

#[test]
fn variables_that_do_more_than_count_are_none() {
    let countdowns = |text: &str| {
        let loops = whole([u64::MAX, 0], text).program.functions[0].loops.clone();
        loops.iter().map(|lp| lp.countdowns.len()).sum::<usize>()
    };
    let usual = counted("a", DOWN, TURN);
    assert_eq!(countdowns(&usual), 1);
    let before = "%at_1 = OpAccessChain %pointer %buffer %u0 %u1\nOpStore %bound_a %start_b\n";
    assert_eq!(countdowns(&[before, &usual].concat()), 1, "it is set before");
    let changed = [
        // By two, in the other direction, without carry, or with another one.
        (
            "%by_a = OpCompositeConstruct %pair %carry_a %u1",
            "%by_a = OpCompositeConstruct %pair %carry_a %u2",
        ),
        ("OpISub", "OpIAdd"),
        ("%pair %carry_a %u1", "%pair %u0 %u1"),
        ("OpSelect %uint %carries_a %u1 %u0", "OpSelect %uint %carries_a %u0 %u1"),
        ("%carries_a = OpIEqual %bool %low_a %u0", "%carries_a = OpIEqual %bool %low_a %u1"),
        ("%left_a 1", "%left_a 0"),
        // The end is another one.
        ("OpAll", "OpAny"),
        ("OpIEqual %bools %zeros", "OpIEqual %bools %mosts"),
        ("OpIEqual %bools", "OpINotEqual %bools"),
        // Something else hangs on it.
        ("OpStore %turn %new", "OpStore %turn %low_a"),
        ("OpStore %turn %new", "OpStore %turn %new\n%again = OpLoad %pair %bound_a"),
        ("OpUMod %uint %more %u3", "OpUMod %uint %more %low_a"),
        // It begins again, or anybody sees it.
        ("OpStore %turn %new", "OpStore %turn %new\nOpStore %bound_a %start_b"),
        ("OpLoad %pair %bound_a", "OpLoad %pair %bound_a Volatile"),
        ("OpStore %bound_a %next_a", "OpStore %bound_a %next_a Volatile"),
    ];
    for (from, to) in changed {
        let text = usual.replacen(from, to, 1);
        assert_ne!(text, usual, "{from}");
        assert_eq!(countdowns(&text), 0, "{to}");
    }
}

#[test]
fn floats_that_drift_apart_are_followed() {
    // Each turn may take the number farther from one, but its bits stay.
    let drifts = "%float_a = OpLoad %float %factor
%third = OpFDiv %float %f1 %f3
%one = OpFMul %float %third %f3
%product = OpFMul %float %float_a %one
OpStore %factor %product";
    const LEAVES: &str = "%left = OpLoad %float %factor
%bits = OpBitcast %uint %left
%at_1 = OpAccessChain %pointer %buffer %u0 %u1
OpStore %at_1 %bits
";
    let stays = "%third = OpFDiv %float %f1 %f3\nOpStore %factor %third";
    let interval = |body: &str| {
        let builder = whole([u64::MAX, 0], &[&counted("a", DOWN, body), LEAVES].concat());
        let mut invocation = builder.start();
        let (mut shades, mut shared) = (Shades::default(), ShadedMemory::default());
        let mut memory = builder.memory(true);
        let mut fuel = LITTLE;
        loop {
            let stop = invocation.run_shaded(
                &builder.program,
                &builder.dispatch,
                &mut memory,
                &mut shades,
                &mut shared,
                Following::Alone,
                &mut fuel,
            );
            match stop {
                Stop::LoopEntry { .. } | Stop::Iteration { .. } => {}
                Stop::Finished => return shared.load(0, 4, 4),
                Stop::OutOfFuel => return None,
                other => panic!("{other:?}"),
            }
        }
    };
    assert_eq!(interval(drifts), None);
    assert!(interval(stays).is_some_and(|interval| interval != Interval::ANY));
}
