use super::*;
use crate::correspondence::Texts;

const MODULE: &str = "OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main RoundingModeRTE 32
OpDecorate %buffer Binding 0
OpDecorate %buffer Coherent
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%three = OpConstant %uint 3
%sem = OpConstant %uint 24904
%only_sem = OpConstant %uint 24840
%acquire = OpConstant %uint 66
%pointer = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %pointer StorageBuffer
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%entry = OpLabel
%a = OpLoad %uint %buffer MakePointerVisible|NonPrivatePointer %two
%b = OpISub %uint %a %one
OpStore %buffer %b Volatile|Aligned|MakePointerAvailable|NonPrivatePointer 4 %two
OpControlBarrier %two %two %sem
%c = OpAtomicLoad %uint %buffer %two %acquire
OpBranchConditional %x %then %else
%then = OpLabel
OpStore %buffer %c
OpReturn
OpFunctionEnd
";

fn changes_of(before: &str, after: &str) -> Vec<Change> {
    Texts::of(before, after).matched().changes()
}

/// The sentences of what is changed where `what` becomes `by`.
fn told(what: &str, by: &str) -> Vec<String> {
    let after = MODULE.replace(what, by);
    assert_ne!(after, MODULE, "{what}");
    changes_of(MODULE, &after).into_iter().map(|change| change.sentence).collect()
}

#[test]
fn nothing_is_told_of_what_is_the_same() {
    assert_eq!(changes_of(MODULE, MODULE), []);
    assert_eq!(changes_of(MODULE, &MODULE.replace("%a", "%17").replace("%one", "%18")), []);
}

#[test]
fn scopes_are_told_by_what_they_are() {
    assert_eq!(
        told("OpControlBarrier %two %two", "OpControlBarrier %three %two"),
        ["the control barrier on line 21 has execution scope Subgroup instead of Workgroup"]
    );
    assert_eq!(
        told("OpControlBarrier %two %two", "OpControlBarrier %two %three"),
        ["the control barrier on line 21 has memory scope Subgroup instead of Workgroup"]
    );
    assert_eq!(
        told("%buffer %two %acquire", "%buffer %one %acquire"),
        ["the atomic load on line 22 has memory scope Device instead of Workgroup"]
    );
}

#[test]
fn bits_of_semantics_are_told_one_by_one() {
    assert_eq!(
        told("%two %two %sem", "%two %two %only_sem"),
        ["the control barrier on line 21 lost UniformMemory in its semantics"]
    );
    assert_eq!(
        told("%two %acquire", "%two %two"),
        ["the atomic load on line 22 lost UniformMemory in its semantics"]
    );
    assert_eq!(
        told("%buffer %two %acquire", "%buffer %two %zero"),
        ["the atomic load on line 22 has semantics %zero instead of %acquire"]
    );
}

#[test]
fn operands_of_accesses_are_told_by_their_names() {
    assert_eq!(
        told("MakePointerVisible|NonPrivatePointer %two", "NonPrivatePointer"),
        ["the load on line 18 lost MakePointerVisible"]
    );
    assert_eq!(
        told("MakePointerVisible|NonPrivatePointer %two", "MakePointerVisible|NonPrivatePointer %three"),
        ["the load on line 18 has MakePointerVisible at Subgroup scope instead of at Workgroup scope"]
    );
    let operands = "Volatile|Aligned|MakePointerAvailable|NonPrivatePointer 4 %two";
    assert_eq!(
        told(operands, "Aligned|MakePointerAvailable|NonPrivatePointer 4 %two"),
        ["the store on line 20 lost Volatile"]
    );
    assert_eq!(
        told(operands, "Volatile|Aligned 4"),
        ["the store on line 20 lost MakePointerAvailable, and lost NonPrivatePointer"]
    );
    assert_eq!(
        told(operands, "Volatile|Aligned|MakePointerAvailable|NonPrivatePointer 8 %two"),
        ["the store on line 20 has Aligned 8 instead of 4"]
    );
}

#[test]
fn decorations_and_modes_are_told() {
    assert_eq!(told("OpDecorate %buffer Coherent\n", ""), ["%buffer lost the decoration Coherent"]);
    assert_eq!(
        told("%buffer Binding 0", "%buffer Binding 1"),
        ["%buffer has the decoration Binding 1 instead of 0"]
    );
    assert_eq!(
        told("OpExecutionMode %main RoundingModeRTE 32\n", ""),
        ["the entry point %main lost the execution mode RoundingModeRTE 32"]
    );
}

#[test]
fn accesses_that_are_missing_added_or_moved_are_told() {
    assert_eq!(
        told("OpStore %buffer %c\n", ""),
        ["after lacks the store on line 25 of before: OpStore %buffer %c"]
    );
    assert_eq!(
        told("OpReturn", "OpStore %buffer %one\nOpReturn"),
        ["after adds the store on line 26: OpStore %buffer %one"]
    );
    let barrier = "OpControlBarrier %two %two %sem\n";
    assert_eq!(
        told(barrier, ""),
        [format!("after lacks the control barrier on line 21 of before: {}", barrier.trim())]
    );
    let load = "%c = OpAtomicLoad %uint %buffer %two %acquire\n";
    assert_eq!(
        told(&format!("{barrier}{load}"), &format!("{load}{barrier}")),
        [format!(
            "the atomic load on line 21 (before: line 22) moved in front of the control barrier on line 22: {}",
            load.trim()
        )]
    );
}

#[test]
fn values_are_told_with_what_computed_them_before() {
    assert_eq!(
        told("OpISub %uint %a %one", "OpIAdd %uint %a %one"),
        ["line 19 is %b = OpIAdd %uint %a %one instead of %b = OpISub %uint %a %one"]
    );
    assert_eq!(
        told("OpISub %uint %a %one", "OpISub %uint %a %two"),
        ["the OpISub on line 19 has %two (2) instead of %one (1): %b = OpISub %uint %a %two"]
    );
    // What only feeds a change is not told beside it.
    let added = MODULE.replace("OpStore %buffer %b", "%d = OpNot %uint %b\nOpStore %buffer %d");
    let kinds: Vec<ChangeKind> = changes_of(MODULE, &added).into_iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [ChangeKind::Value, ChangeKind::Computation]);
}

#[test]
fn loops_and_branches_are_told() {
    let loops = MODULE
        .replace("OpReturn", "OpBranch %head\n%head = OpLabel\nOpLoopMerge %out %head None\nOpBranch %head");
    let first = changes_of(MODULE, &loops).into_iter().next().unwrap();
    assert_eq!(
        (first.kind, first.sentence.as_str()),
        (ChangeKind::Flow, "after adds the loop on line 28: OpLoopMerge %out %head None")
    );
    assert_eq!(
        told("%x %then %else", "%x %else %then"),
        ["the conditional branch on line 23 has its targets swapped: before OpBranchConditional %x %then %else, \
          after OpBranchConditional %x %else %then"]
    );
    assert_eq!(
        told("OpISub %uint %a %one", "OpISub %uint %one %a"),
        ["the OpISub on line 19 has its operands swapped: before %b = OpISub %uint %a %one, \
          after %b = OpISub %uint %one %a (in before %a is loaded from %buffer)"]
    );
}

const CALLS: &str = "OpEntryPoint GLCompute %main \"main\"
OpName %scaled \"scaled(u1;\"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%two = OpConstant %uint 2
%three = OpConstant %uint 3
%sem = OpConstant %uint 24904
%pointer = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %pointer StorageBuffer
%own = OpTypePointer Function %uint
%type = OpTypeFunction %void
%of_uint = OpTypeFunction %uint %own
%main = OpFunction %void None %type
%entry = OpLabel
%param = OpVariable %own Function
%a = OpLoad %uint %buffer
OpStore %param %a
%b = OpFunctionCall %uint %scaled %param
OpStore %buffer %b
OpReturn
OpFunctionEnd
%scaled = OpFunction %uint None %of_uint
%x = OpFunctionParameter %own
%start = OpLabel
%y = OpLoad %uint %x
%z = OpIMul %uint %y %two
OpControlBarrier %two %two %sem
%w = OpLoad %uint %x
%v = OpUDiv %uint %z %w
OpReturnValue %v
OpFunctionEnd
";

/// The same with the code of the function, which is this, in the place of the call.
fn inlined(code: &str) -> String {
    let own = "OpStore %param %a\n%b = OpFunctionCall %uint %scaled %param\n";
    let (main, _) = CALLS.split_once("%scaled = OpFunction").unwrap();
    main.replace(own, code)
}

/// What is told of the module with the call and the one with the code, and the other way round.
fn told_of_calls(code: &str) -> [Vec<String>; 2] {
    let code = inlined(code);
    let sentences = |changes: Vec<Change>| {
        let wanted = changes.into_iter().filter(|change| change.kind != ChangeKind::OwnAccess);
        wanted.map(|change| change.sentence).collect::<Vec<String>>()
    };
    [sentences(changes_of(CALLS, &code)), sentences(changes_of(&code, CALLS))]
}

#[test]
fn a_call_and_the_code_of_its_function_are_the_same_but_for_what_differs() {
    let barrier = "OpControlBarrier %two %two %sem\n";
    let same = format!("%1 = OpIMul %uint %a %two\n{barrier}%b = OpUDiv %uint %1 %a\n");
    let calls = "the call of scaled on line 18 of before is inlined: lines 17 to 19";
    let code = "the call of scaled on line 18 stands for code of before: lines 17 to 19 there";
    let lacks = "after lacks the function scaled on line 22 of before";
    let adds = "after adds the function scaled on line 22";
    assert_eq!(told_of_calls(&same), [vec![lacks, calls], vec![code, adds]]);

    let [inlined, called] = told_of_calls(&same.replace(barrier, ""));
    let text = barrier.trim();
    assert_eq!(
        inlined[0],
        format!("after's code of scaled lacks the control barrier on line 27 of before: {text}")
    );
    let adds = "after adds the control barrier on line 27, which before's code of scaled lacks";
    assert_eq!(called[0], format!("{adds}: {text}"));

    let [inlined, called] = told_of_calls(&same.replace("%a %two", "%a %three"));
    assert_eq!(
        inlined[0],
        "the OpIMul on line 17 has %three (3) instead of %two (2): %1 = OpIMul %uint %a %three"
    );
    assert_eq!(
        called[0],
        "the OpIMul on line 26 has %two (2) instead of %three (3): %z = OpIMul %uint %y %two"
    );

    let [inlined, _] = told_of_calls(&same.replace("OpUDiv", "OpISub"));
    assert_eq!(inlined[0], "line 19 is %b = OpISub %uint %1 %a instead of %v = OpUDiv %uint %z %w");

    // Something else in the place of a call.
    let [other, _] = told_of_calls("%b = OpIAdd %uint %a %three\n");
    assert!(
        other.iter().any(|told| told.starts_with("after lacks the call on line 18 of before")),
        "{other:?}"
    );
}
