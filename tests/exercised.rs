//! What never ran is said: a verdict about instructions that no input reaches is hollow.

use spirv_tv::compare::Verdict;
use spirv_tv::{check, report, Options};

/// A store behind a comparison of a word with a number that no input has.
fn module(compared: u64, stored: u32) -> String {
    format!(
        "OpCapability Shader
         OpCapability Int64
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main \"main\"
         OpExecutionMode %main LocalSize 1 1 1
         OpDecorate %block Block
         OpMemberDecorate %block 0 Offset 0
         OpMemberDecorate %block 1 Offset 8
         OpDecorate %buffer DescriptorSet 0
         OpDecorate %buffer Binding 0
         %void = OpTypeVoid
         %bool = OpTypeBool
         %uint = OpTypeInt 32 0
         %long = OpTypeInt 64 0
         %zero = OpConstant %uint 0
         %one = OpConstant %uint 1
         %stored = OpConstant %uint {stored}
         %odd = OpConstant %long 7046029254386353131
         %compared = OpConstant %long {compared}
         %block = OpTypeStruct %long %uint
         %to_block = OpTypePointer StorageBuffer %block
         %to_long = OpTypePointer StorageBuffer %long
         %to_uint = OpTypePointer StorageBuffer %uint
         %buffer = OpVariable %to_block StorageBuffer
         %signature = OpTypeFunction %void
         %main = OpFunction %void None %signature
         %entry = OpLabel
         %place = OpAccessChain %to_long %buffer %zero
         %word = OpLoad %long %place
         %product = OpIMul %long %word %odd
         %is = OpIEqual %bool %product %compared
         OpSelectionMerge %end None
         OpBranchConditional %is %then %end
         %then = OpLabel
         %target = OpAccessChain %to_uint %buffer %one
         OpStore %target %stored
         OpBranch %end
         %end = OpLabel
         OpReturn
         OpFunctionEnd"
    )
}

#[test]
fn a_changed_line_that_never_ran_is_named() {
    let unlikely = 1_234_567_890_123_456_789;
    let checked = check(module(unlikely, 1), module(unlikely, 2), &Options::default()).unwrap();
    assert_eq!(checked.verdict, Verdict::Refines);
    assert_eq!(checked.exercised.before.changed_never_ran, [36]);
    assert_eq!(checked.exercised.after.changed_never_ran, [36]);
    assert_eq!(checked.exercised.after.never_ran, [35, 36, 37]);
    assert_eq!(checked.exercised.after.never_taken, [33]);
    assert_eq!([checked.exit_code(false), checked.exit_code(true)], [0, 4]);
    let line = report::text::check_line(&checked, report::Painter { coloured: false });
    assert!(
        line.ends_with("; but what was changed in line 36 of before and line 36 of after never ran"),
        "{line}"
    );
}

#[test]
fn what_ran_or_was_not_changed_is_no_reservation() {
    // Any input but the zeros leaves the store out, and they do not.
    let checked = check(module(0, 1), module(0, 1), &Options::default()).unwrap();
    assert_eq!(checked.verdict, Verdict::Refines);
    assert!(checked.exercised.after.never_ran.is_empty());
    assert_eq!(checked.exit_code(true), 0);
    let unlikely = 1_234_567_890_123_456_789;
    let checked = check(module(unlikely, 1), module(unlikely, 1), &Options::default()).unwrap();
    assert_eq!(checked.exercised.after.never_ran, [35, 36, 37]);
    assert!(!checked.exercised.is_hollow());
    assert_eq!(checked.exit_code(true), 0);
}

/// The changed store runs on the zeros, but there before divides by zero.
#[test]
fn what_only_ran_where_before_is_undefined_was_not_compared() {
    let divides = |stored| {
        module(0, stored)
            .replace("OpStore %target", "%quotient = OpUDiv %uint %one %zero\n         OpStore %target")
    };
    let checked = check(divides(1), divides(2), &Options::default()).unwrap();
    assert_eq!(checked.verdict, Verdict::Refines);
    assert_eq!(checked.exercised.before.changed_never_ran, [37]);
    assert_eq!(checked.exercised.after.changed_never_ran, [37]);
}
