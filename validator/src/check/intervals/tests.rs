//! Tests of comparisons of intervals, and verdicts on small pairs.

use std::collections::BTreeMap;

use super::final_memory::{compare_object, Components, Found, Memory, Slack};
use super::*;
use crate::behaviour::{Bound, Stopped, VolatileAccess};
use crate::compare::{refines, CompareOptions, Side};
use crate::event::{Fault, UndefinedKind};
use crate::explore::{explore, Settings};
use crate::interp::Interval;
use crate::launch::{build_dispatch, inputs, trial, Launch, LaunchOptions};
use crate::lower::{lower, LowerOptions};
use crate::module::{Module, ReadOptions};
use crate::value::Byte;

/// One word.
fn memory(value: f32, interval: Option<(f64, f64)>) -> (Vec<Byte>, Open) {
    let bytes = value.to_le_bytes().map(Byte::Known).to_vec();
    let shades = interval.map(|(low, high)| (0, (4, Interval::between(low, high))));
    (bytes, shades.into_iter().collect())
}

fn found(before: &(Vec<Byte>, Open), after: &(Vec<Byte>, Open), tolerance: Tolerance) -> &'static str {
    let side = |(bytes, shades): &'_ (Vec<Byte>, _)| (bytes.clone(), BTreeMap::clone(shades));
    let ((old, b), (new, a)) = (side(before), side(after));
    verdict([(&old, b), (&new, a)], tolerance, false)
}

/// Bytes and interval of each float that may be another one, by its first byte.
type Open = BTreeMap<u32, (u32, Interval)>;

fn verdict(sides: [(&[Byte], Open); 2], tolerance: Tolerance, is_beside: bool) -> &'static str {
    let components = Components::Floats;
    let sides = sides.map(|(bytes, shades)| Memory { bytes, shades, components, is_beside });
    match compare_object(&sides, tolerance, Slack::None) {
        Found::Permitted => "permitted",
        Found::Differs(0) => "differs",
        Found::Differs(_) => "differs elsewhere",
        Found::Unbounded(_) | Found::Overlaps(_) => "unknown",
    }
}

#[test]
fn intervals_that_do_not_meet_differ() {
    let spec = Tolerance::Permitted;
    let before = memory(1.0, Some((0.9, 1.1)));
    assert_eq!(found(&before, &memory(1.05, Some((1.0, 1.2))), spec), "permitted");
    assert_eq!(found(&before, &memory(1.05, None), spec), "permitted");
    assert_eq!(found(&before, &memory(1.2, None), spec), "differs");
    assert_eq!(found(&before, &memory(2.0, Some((1.9, 2.1))), spec), "differs");
    // What was computed lies outside, though a permitted result does not.
    assert_eq!(found(&before, &memory(1.2, Some((1.0, 1.3))), spec), "unknown");
    assert_eq!(found(&before, &memory(7.0, Some((0.0, f64::INFINITY))), spec), "unknown");
    assert_eq!(found(&memory(1.0, None), &memory(1.05, None), spec), "differs");
    assert_eq!(found(&memory(1.0, None), &memory(1.0, None), spec), "permitted");
    assert_eq!(found(&memory(0.0, Some((0.0, 0.0))), &memory(-0.0, None), spec), "permitted");
}

#[test]
fn units_in_the_last_place_count_for_open_floats_alone() {
    let next = f32::from_bits(1.0_f32.to_bits() + 2);
    let open = memory(1.0, Some((1.0, 1.0)));
    assert_eq!(found(&open, &memory(next, None), Tolerance::Units(2)), "permitted");
    assert_eq!(found(&open, &memory(next, None), Tolerance::Units(1)), "differs");
    assert_eq!(found(&memory(1.0, None), &memory(next, None), Tolerance::Units(2)), "differs");
}

#[test]
fn undefined_bytes_and_other_sizes() {
    let spec = Tolerance::Permitted;
    let undefined = (vec![Byte::Undef; 4], BTreeMap::new());
    let open = memory(1.0, Some((0.9, 1.1)));
    assert_eq!(found(&undefined, &open, spec), "permitted");
    // It may be any float, as a NaN may be.
    assert_eq!(found(&open, &undefined, spec), "differs");
    assert_eq!(found(&memory(1.0, None), &undefined, spec), "differs");
    let unbounded = memory(1.0, Some((f64::NEG_INFINITY, f64::INFINITY)));
    assert_eq!(found(&unbounded, &undefined, spec), "unknown");
    let nan = memory(f32::NAN, Some((f64::NEG_INFINITY, f64::INFINITY)));
    assert_eq!(found(&open, &nan, spec), "differs");
    assert_eq!(found(&unbounded, &nan, spec), "unknown");
    // What both compute makes likely holds for numbers alone.
    for other in [&undefined, &nan] {
        let beside = |first: &(Vec<Byte>, Open)| {
            let sides = [first, other].map(|(bytes, shades)| (&bytes[..], shades.clone()));
            verdict(sides, spec, true)
        };
        assert_eq!((beside(&open), beside(&memory(1.0, None))), ("unknown", "differs"));
    }
    let narrow = (open.0.clone(), BTreeMap::from([(0, (2, Interval::ANY))]));
    assert_eq!(found(&open, &narrow, spec), "unknown");
}

/// Reads `x` from the first word of a buffer; the second takes `result`.
fn module(body: &str) -> String {
    format!(
        r#"OpCapability Shader
OpCapability VulkanMemoryModel
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %buffer
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %Block Block
OpMemberDecorate %Block 0 Offset 0
OpMemberDecorate %Block 1 Offset 4
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%function = OpTypeFunction %void
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%count = OpConstant %uint 2000
%three = OpConstant %float 3
%third = OpConstant %float 0x1.555556p-2
%coarse = OpConstant %float 0x1.554p-2
%small = OpConstant %float 1e-37
%denormal = OpConstant %float 1e-39
%Block = OpTypeStruct %float %float
%pointer_block = OpTypePointer StorageBuffer %Block
%pointer_float = OpTypePointer StorageBuffer %float
%buffer = OpVariable %pointer_block StorageBuffer
%main = OpFunction %void None %function
%entry = OpLabel
%first = OpAccessChain %pointer_float %buffer %u0
%second = OpAccessChain %pointer_float %buffer %u1
%x = OpLoad %float %first
{body}
OpReturn
OpFunctionEnd
"#
    )
}

const QUOTIENT: &str = "%result = OpFDiv %float %x %three\nOpStore %second %result";
const RESULT: &str = "%result = OpFMul %float %x %third";
const PRODUCT: &str = "%result = OpFMul %float %x %third\nOpStore %second %result";

/// A module, launched on 5.0, and what was found of it.
pub(super) struct Judged {
    program: Program,
    dispatch: Dispatch,
    behaviours: Behaviours,
    deadline: Option<Deadline>,
}

impl Judged {
    fn new(body: &str) -> Self {
        Judged::of(&module(body))
    }

    pub fn of(text: &str) -> Self {
        let module = Module::from_text(text, "test.spvasm", &ReadOptions::default()).unwrap();
        let program = lower(&module, &LowerOptions::default()).unwrap();
        let launch = Launch::resolve(&LaunchOptions::default(), &program, None).unwrap();
        let mut trial =
            |dispatch: &Dispatch, limits: &[u32]| trial::touched(&program, dispatch, limits, &|| false);
        let inputs = inputs::inputs(&program, None, &launch, 1, 0, &mut trial).unwrap();
        let mut dispatch = build_dispatch(&program, &launch, &inputs[0]).unwrap();
        for (place, byte) in dispatch.objects[0].initial.iter_mut().zip(5.0_f32.to_le_bytes()) {
            *place = Byte::Known(byte);
        }
        let behaviours = explore(&program, &dispatch, &Settings::default());
        Judged { program, dispatch, behaviours, deadline: None }
    }

    fn side(&self) -> IntervalSide<'_> {
        IntervalSide {
            program: &self.program,
            dispatch: &self.dispatch,
            behaviours: &self.behaviours,
            deadline: self.deadline,
        }
    }

    fn compared(&self, name: &'static str) -> Side<'_> {
        Side { name, behaviours: &self.behaviours, dispatch: &self.dispatch }
    }
}

/// The judgement of the two after `change`, which the comparison has not seen.
fn judged(bodies: [&str; 2], change: impl FnOnce(&mut Judged, &mut Judged)) -> Judgement {
    judged_as(bodies.map(Judged::new), change)
}

pub(super) fn judged_as(
    [mut before, mut after]: [Judged; 2],
    change: impl FnOnce(&mut Judged, &mut Judged),
) -> Judgement {
    let options = CompareOptions { open_floats: true, ..CompareOptions::default() };
    let comparison = refines(before.compared("before"), after.compared("after"), &options).unwrap();
    assert!(comparison.violation.is_some());
    change(&mut before, &mut after);
    let names = Names { before: "before", after: "after" };
    judge([before.side(), after.side()], names, &comparison, Tolerance::Permitted)
}

fn is_unknown(judgement: Judgement) -> bool {
    matches!(judgement, Judgement::Unknown(_))
}

#[test]
fn what_the_search_did_not_see_whole_is_unknown() {
    let both = [QUOTIENT, PRODUCT];
    assert_eq!(judged(both, |_, _| {}), Judgement::Permitted);
    type Change = fn(&mut Behaviours);
    let changes: [(&str, Change); 8] = [
        ("incomplete", |behaviours| behaviours.complete = false),
        ("bounded", |behaviours| behaviours.bounded = Some(Bound::SpinBound)),
        ("stopped", |behaviours| behaviours.stopped = Some(Stopped::Timeout)),
        ("two outcomes", |behaviours| {
            behaviours.outcomes.push(behaviours.outcomes[0].clone());
            behaviours.outcomes[1].0.memory[0][0] = Byte::Known(1);
        }),
        ("a hang", |behaviours| behaviours.outcomes[0].0.end = End::Hang),
        ("volatile accesses", |behaviours| {
            let access =
                VolatileAccess::One { object: 0, offset: 0, write: false, atomic: false, bytes: vec![] };
            behaviours.outcomes[0].0.volatile = vec![vec![access]];
        }),
        ("another outcome", |behaviours| behaviours.outcomes[0].0.memory[0][0] = Byte::Known(1)),
        ("a fault", |behaviours| {
            let fault = Fault { kind: UndefinedKind::DivisionByZero, line: 1, detail: String::new() };
            let witness = behaviours.outcomes[0].1.clone();
            behaviours.undefined.push((fault.into(), witness));
        }),
    ];
    for (what, change) in changes {
        assert!(is_unknown(judged(both, |before, _| change(&mut before.behaviours))), "{what}");
        assert!(is_unknown(judged(both, |_, after| change(&mut after.behaviours))), "{what}");
    }
}

#[test]
fn intervals_end_with_the_time() {
    let over = Deadline { at: std::time::Instant::now(), option: Stopped::Timeout };
    for (late, side) in [([true, false], "before"), ([false, true], "after")] {
        let judgement = judged([QUOTIENT, PRODUCT], |before, after| {
            before.deadline = late[0].then_some(over);
            after.deadline = late[1].then_some(over);
        });
        assert_eq!(judgement, Judgement::Unknown(Obstacle::OutOfTime { side }));
    }
}

#[test]
fn a_fault_of_the_run_must_be_the_one_that_was_found() {
    let divided = |body: &str| format!("{body}\n%quotient = OpUDiv %uint %u1 %u0");
    let (before, after) = (divided(QUOTIENT), divided(PRODUCT));
    assert_eq!(judged([QUOTIENT, &after], |_, _| {}), Judgement::Violates(None));
    let other = judged([QUOTIENT, &after], |_, after| {
        after.behaviours.undefined[0].0.kind = UndefinedKind::OutOfBounds;
    });
    assert!(is_unknown(other));
    // A race was found, and the run faults before it comes to its end.
    let mut racing = Judged::new(&after);
    racing.behaviours.undefined[0].0.kind = UndefinedKind::DataRace;
    assert_eq!(judged_as([Judged::new(QUOTIENT), racing], |_, _| {}), Judgement::Violates(None));
    // The runs fault behind the stores, where the search did not.
    let program = |body: &str| Judged::new(body).program;
    let faulting = judged([QUOTIENT, PRODUCT], |_, side| side.program = program(&after));
    assert!(is_unknown(faulting));
    let faulting = judged([QUOTIENT, PRODUCT], |side, _| side.program = program(&before));
    assert!(is_unknown(faulting));
}

/// Repeats the body of a loop while `condition` says `%more`.
fn while_more(condition: &str) -> String {
    format!(
        "{DIVIDED}
OpBranch %header
%header = OpLabel
%i = OpPhi %uint %u0 %entry %next %continue
OpLoopMerge %merge %continue None
OpBranch %test
%test = OpLabel
{condition}
OpBranchConditional %more %continue %merge
%continue = OpLabel
%next = OpIAdd %uint %i %u1
OpBranch %header
%merge = OpLabel
OpStore %second %quotient"
    )
}

#[test]
fn a_hang_is_one_whatever_floats_are() {
    let endless = while_more("%more = OpULessThan %bool %u0 %u1");
    assert_eq!(judged([QUOTIENT, &endless], |_, _| {}), Judgement::Violates(None));
    // Before hangs on other floats, or may.
    let other = judged([QUOTIENT, &endless], |before, _| before.program = Judged::new(&endless).program);
    assert!(is_unknown(other));
    // One of these hangs as computed, and need not hang.
    let mut hangs = 0;
    for order in ["OpFOrdLessThan", "OpFOrdGreaterThanEqual"] {
        let condition = format!("%near = OpFMul %float %x %third\n%more = {order} %bool %quotient %near");
        let after = Judged::new(&while_more(&condition));
        if after.behaviours.outcomes.iter().any(|(outcome, _)| outcome.end == End::Hang) {
            hangs += 1;
            assert!(is_unknown(judged_as([Judged::new(QUOTIENT), after], |_, _| {})), "{order}");
        }
    }
    assert_eq!(hangs, 1);
}

#[test]
fn a_fault_behind_more_choices_than_are_followed_is_one() {
    let chosen = |number: u32| {
        format!(
            "OpSelectionMerge %merge{number} None
OpBranchConditional %undefined %yes{number} %merge{number}
%yes{number} = OpLabel
OpBranch %merge{number}
%merge{number} = OpLabel"
        )
    };
    let choices: Vec<String> = (0..12).map(chosen).collect();
    let after = format!(
        "{RESULT}\n%undefined = OpUndef %bool\n{}\nOpStore %second %result\n%quotient = OpUDiv %uint %u1 %u0",
        choices.join("\n")
    );
    assert_eq!(judged([QUOTIENT, &after], |_, _| {}), Judgement::Violates(None));
    let other = judged([QUOTIENT, &after], |before, _| before.program = Judged::new(&after).program);
    assert!(is_unknown(other));
}

#[test]
fn a_run_goes_on_after_its_turn() {
    let looped = |body: &str| {
        format!(
            "OpBranch %header
%header = OpLabel
%i = OpPhi %uint %u0 %entry %next %continue
OpLoopMerge %merge %continue None
OpBranch %test
%test = OpLabel
%more = OpULessThan %bool %i %count
OpBranchConditional %more %continue %merge
%continue = OpLabel
%next = OpIAdd %uint %i %u1
OpBranch %header
%merge = OpLabel
{body}"
        )
    };
    assert_eq!(judged([&looped(QUOTIENT), &looped(PRODUCT)], |_, _| {}), Judgement::Permitted);
}

#[test]
fn a_float_without_a_bound_is_unknown() {
    let unbounded =
        "%scaled = OpFMul %float %x %small\n%result = OpFDiv %float %scaled %denormal\nOpStore %second %result";
    assert!(is_unknown(judged([unbounded, "OpStore %second %three"], |_, _| {})));
    assert_eq!(judged([QUOTIENT, "OpStore %second %three"], |_, _| {}), Judgement::Violates(difference()));
}

/// Of the second word.
fn difference() -> Option<Difference> {
    Some(Difference { key: "0.0".into(), offset: 4 })
}

#[test]
fn objects_are_compared_by_their_names() {
    let both = [QUOTIENT, PRODUCT];
    let renamed = judged(both, |_, after| after.dispatch.objects[0].key = "0.1".into());
    assert!(is_unknown(renamed));
}

#[test]
fn one_unknown_object_leaves_all_unknown() {
    let unknown = memory(1.0, Some((f64::NEG_INFINITY, f64::INFINITY)));
    let spec = Tolerance::Permitted;
    assert_eq!(found(&unknown, &memory(2.0, None), spec), "unknown");
    assert_eq!(
        found(&memory(1.0, Some((0.9, 1.1))), &memory(1.05, Some((0.0, f64::INFINITY))), spec),
        "unknown"
    );
    let before = memory(1.0, Some((0.9, 1.1)));
    // Half of it is another float.
    let shifted = (before.0.clone(), BTreeMap::from([(2, (2, Interval::ANY))]));
    assert_eq!(found(&before, &shifted, spec), "unknown");
    let longer = (vec![Byte::Known(0); 8], BTreeMap::new());
    assert_eq!(found(&before, &longer, spec), "unknown");
    // The first float is unknown, the second permitted.
    let two = |(first, second): (f32, f32), shades| -> (Vec<Byte>, Open) {
        let bytes = [first, second].into_iter().flat_map(f32::to_le_bytes).map(Byte::Known);
        (bytes.collect(), shades)
    };
    let known = Interval::between(0.9, 1.1);
    let shades = BTreeMap::from([(0, (4, Interval::ANY)), (4, (4, known))]);
    assert_eq!(found(&two((1.0, 1.0), shades.clone()), &two((2.0, 1.05), shades), spec), "unknown");
}

#[test]
fn undefined_bytes_of_before_and_nans_stand_for_anything() {
    let undefined = (vec![Byte::Undef; 4], BTreeMap::new());
    assert_eq!(found(&undefined, &memory(1.0, None), Tolerance::Permitted), "permitted");
    let nans = [f32::NAN, f32::from_bits(0x7fc0_0001)];
    let open = |value| (memory(value, None).0, BTreeMap::from([(0, (4, Interval::ANY))]));
    assert_eq!(found(&open(nans[0]), &open(nans[1]), Tolerance::Units(1)), "permitted");
}

/// What has no bound, of `x`.
const UNBOUNDED: &str = "%scaled = OpFMul %float %x %small\n%open = OpFDiv %float %scaled %denormal\n";

#[test]
fn what_both_compute_is_followed_bit_by_bit() {
    let stores = |result: &str| format!("{UNBOUNDED}{result}\nOpStore %second %result");
    let [sum, product] = ["OpFAdd %float %open %open", "OpFMul %float %open %three"]
        .map(|result| stores(&format!("%result = {result}")));
    assert_eq!(judged([&sum, &product], |_, _| {}), Judgement::Violates(difference()));
    // Before alone computes it: it may be anything.
    assert!(is_unknown(judged([&sum, "OpStore %second %three"], |_, _| {})));
}

#[test]
fn what_runs_again_is_as_open_as_the_first_time() {
    // The second turn divides what memory holds once more.
    let twice = |result: &str| {
        format!(
            "OpBranch %loop
%loop = OpLabel
%i = OpPhi %uint %u0 %entry %next %again
OpLoopMerge %done %again None
OpBranch %again
%again = OpLabel
{result}
%next = OpIAdd %uint %i %u1
%more = OpULessThan %bool %i %u1
OpBranchConditional %more %loop %done
%done = OpLabel"
        )
    };
    assert_eq!(judged([&twice(QUOTIENT), &twice(PRODUCT)], |_, _| {}), Judgement::Permitted);
    let coarse = PRODUCT.replace("%third", "%coarse");
    assert_eq!(judged([&twice(QUOTIENT), &twice(&coarse)], |_, _| {}), Judgement::Violates(difference()));
}

/// Stores one or the other, as the value of `%quotient` is less than the product or not, which it is as near to as can be.
fn branched(value: &str, [less, not_less]: [&str; 2]) -> String {
    format!(
        "{value}
%near = OpFMul %float %x %third
%less = OpFOrdLessThan %bool %quotient %near
OpSelectionMerge %merge None
OpBranchConditional %less %yes %no
%yes = OpLabel
OpStore %second {less}
OpBranch %merge
%no = OpLabel
OpStore %second {not_less}
OpBranch %merge
%merge = OpLabel"
    )
}

const DIVIDED: &str = "%quotient = OpFDiv %float %x %three";

#[test]
fn a_branch_that_may_go_otherwise_goes_both_ways() {
    let before = branched(DIVIDED, ["%three", "%x"]);
    // Neither way stores that.
    let neither = judged([&before, "OpStore %second %third"], |_, _| {});
    assert_eq!(neither, Judgement::Violates(difference()));
    let both = branched(DIVIDED, ["%third", "%small"]);
    assert_eq!(judged([&before, &both], |_, _| {}), Judgement::Violates(difference()));
    // The way that the computed values do not take may be taken, or may not.
    let memory = &Judged::new(&before).behaviours.outcomes[0].0.memory[0];
    let other = if memory[4..] == memory[..4] { "%three" } else { "%x" };
    assert!(is_unknown(judged([&before, &format!("OpStore %second {other}")], |_, _| {})));
    // Of after's two ways one violates, and nobody knows whether it may be taken.
    let half = branched("%quotient = OpFMul %float %x %third", ["%third", other]);
    assert!(is_unknown(judged([&before, &half], |_, _| {})));
}

#[test]
fn undefined_values_are_any() {
    let chosen = |first: &str, second: &str| {
        format!(
            "{DIVIDED}
%undefined = OpUndef %bool
OpSelectionMerge %merge None
OpBranchConditional %undefined %yes %no
%yes = OpLabel
OpStore %second {first}
OpBranch %merge
%no = OpLabel
OpStore %second {second}
OpBranch %merge
%merge = OpLabel"
        )
    };
    let before = chosen("%quotient", "%three");
    assert_eq!(judged([&before, PRODUCT], |_, _| {}), Judgement::Permitted);
    assert_eq!(judged([&before, "OpStore %second %third"], |_, _| {}), Judgement::Violates(difference()));
    // One of after's ways is enough.
    let half = chosen("%quotient", "%third");
    assert_eq!(judged([&before, &half], |_, _| {}), Judgement::Violates(difference()));
    let rounded = chosen("%quotient", "%result").replacen(DIVIDED, &format!("{DIVIDED}\n{RESULT}"), 1);
    assert_eq!(judged([&before, &rounded], |_, _| {}), Judgement::Permitted);
    // Before has an outcome that is no way of its run.
    let other = judged([&before, PRODUCT], |before, _| {
        let (mut outcome, witness) = before.behaviours.outcomes[0].clone();
        outcome.memory[0][0] = Byte::Undef;
        before.behaviours.outcomes.push((outcome, witness));
    });
    assert_eq!(other, Judgement::Unknown(Obstacle::SeveralOutcomes { side: "before" }));
}

#[test]
fn a_way_that_nobody_searched_may_be_racy() {
    let memory = &Judged::new(&branched(DIVIDED, ["%three", "%x"])).behaviours.outcomes[0].0.memory[0];
    // What is computed goes where nothing is stored.
    let (label, other) = if memory[4..] == memory[..4] { ("%no", "%three") } else { ("%yes", "%x") };
    let text = module(&branched(DIVIDED, ["%three", "%x"])).replace("LocalSize 1", "LocalSize 2");
    let kept: Vec<&str> = text.lines().collect();
    let start = kept.iter().position(|line| line.starts_with(label) && line.ends_with("OpLabel")).unwrap();
    let text: Vec<&str> =
        kept.iter().enumerate().filter(|(at, _)| *at != start + 1).map(|(_, line)| *line).collect();
    let before = || Judged::of(&text.join("\n"));
    assert!(before().behaviours.undefined.is_empty());
    let after = Judged::new(&format!("OpStore %second {other}\nOpStore %second %third"));
    let judgement = judged_as([before(), after], |_, _| {});
    assert!(
        matches!(judgement, Judgement::Unknown(Obstacle::Depends { side: "before", .. })),
        "{judgement:?}"
    );
}

#[test]
fn branches_that_both_take_are_no_obstacle() {
    let branched = |value: &str, stored: &str| branched(value, [stored, "%x"]);
    let both = [branched(DIVIDED, "%three"), branched(DIVIDED, "%third")];
    assert_eq!(judged([&both[0], &both[1]], |_, _| {}), Judgement::Violates(difference()));
    // After computes the quotient otherwise: before may well go the other way.
    let other = branched("%quotient = OpFMul %float %x %third", "%third");
    let judgement = judged([&both[0], &other], |_, _| {});
    let Judgement::Unknown(Obstacle::Depends { side: "before", at }) = &judgement else {
        panic!("{judgement:?}")
    };
    let line = module(&both[0]).lines().position(|line| line.starts_with("OpBranchConditional"));
    assert_eq!(Some(at.line as usize), line.map(|line| line + 1));
}

#[test]
fn where_anything_may_lose_precision_near_floats_are_no_violation() {
    let stores = |result: &str| format!("{QUOTIENT}\nOpStore %first {result}");
    let relaxed = |after: &str| {
        judged([&stores("%third"), &stores(after)], |before, after| {
            for side in [before, after] {
                side.program.modes.floats.unbounded = true;
                side.program.modes.floats.always_inexact = side.behaviours.inexact.first().copied();
            }
        })
    };
    // A third of 16 bits.
    assert!(matches!(relaxed("%coarse"), Judgement::Unknown(Obstacle::Overlaps { .. })));
    assert!(matches!(relaxed("%three"), Judgement::Violates(Some(_))));
    let exact = judged([&stores("%third"), &stores("%coarse")], |_, _| {});
    assert!(matches!(exact, Judgement::Violates(Some(_))));
}
