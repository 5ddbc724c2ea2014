//! Inputs that are found by one run of both modules each, and searched then (docs/semantics.md, section 1.6).

use spirv_tv::check::CheckReport;
use spirv_tv::compare::Verdict;
use spirv_tv::module::Module;
use spirv_tv::report::{text, Painter};

use crate::texts::checker;

#[path = "scouting/lasting.rs"]
mod lasting;
#[path = "scouting/launches.rs"]
mod launches;
#[path = "scouting/steps.rs"]
mod steps;

/// Invocations below a number in memory store `value`, those with even numbers in one word, the others in another: with
/// more than two that is a race.
fn module(value: &str) -> String {
    format!(
        "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize 512 1 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %words ArrayStride 4
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %sizes Block
OpMemberDecorate %sizes 0 Offset 0
OpMemberDecorate %sizes 1 Offset 4
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%bool = OpTypeBool
%nothing = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint3 = OpTypeVector %uint 3
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%sizes = OpTypeStruct %uint %uint
%p_block = OpTypePointer Uniform %block
%p_word = OpTypePointer Uniform %uint
%p_sizes = OpTypePointer PushConstant %sizes
%p_size = OpTypePointer PushConstant %uint
%p_input = OpTypePointer Input %uint3
%p_component = OpTypePointer Input %uint
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%seven = OpConstant %uint 7
%eight = OpConstant %uint 8
%id = OpVariable %p_input Input
%buffer = OpVariable %p_block Uniform
%size = OpVariable %p_sizes PushConstant
%main = OpFunction %void None %nothing
%entry = OpLabel
%component = OpAccessChain %p_component %id %zero
%i = OpLoad %uint %component
%first = OpAccessChain %p_size %size %zero
%second = OpAccessChain %p_size %size %one
%count = OpLoad %uint %first
%stride = OpLoad %uint %second
%works = OpULessThan %bool %i %count
OpSelectionMerge %end None
OpBranchConditional %works %work %end
%work = OpLabel
%odd = OpBitwiseAnd %uint %i %one
%at = OpIMul %uint %odd %stride
%word = OpAccessChain %p_word %buffer %zero %at
OpStore %word {value}
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
"
    )
}

fn check(args: &[&str], before: &str, after: &str) -> CheckReport {
    let checker = checker(args);
    let [before, after] = [before, after].map(|text| Module::from_text(text, "test", &checker.read).unwrap());
    checker.check(&before, &after)
}

#[test]
fn a_change_that_few_inputs_show_is_searched_for() {
    let (before, after) = (module("%seven"), module("%eight"));
    let report = check(&[], &before, &after);
    assert_eq!(report.verdict, Verdict::Violates);
    let inputs = &report.choices.inputs;
    assert!(inputs.looked_at > 0 && inputs.count == 4, "{inputs:?}");
    let told = text::check(&report, Painter { coloured: false });
    assert!(told.contains(&format!("inputs 4 and {} by one run each, seed 0", inputs.looked_at)), "{told}");
    // A number of inputs that the user gives is kept to: all but the zeros, with which nobody works, race.
    let few = check(&["--inputs", "3"], &before, &after);
    assert_eq!((few.verdict, few.choices.inputs.looked_at), (Verdict::Refines, 0));
}

#[test]
fn the_same_inputs_are_found_each_time_and_a_module_refines_itself() {
    let before = module("%seven");
    let twice = [0, 1].map(|_| {
        let report = check(&[], &before, &module("%eight"));
        (report.choices.inputs.looked_at, report.runs.last().map(|run| run.input.clone()))
    });
    assert_eq!(twice[0], twice[1]);
    let same = check(
        &[],
        &before,
        &before.replace("%odd = OpBitwiseAnd %uint %i %one", "%odd = OpBitwiseAnd %uint %one %i"),
    );
    assert_eq!(same.verdict, Verdict::Refines);
    assert!(same.choices.inputs.looked_at > 20, "{:?}", same.choices.inputs);
}

/// Invocations below a number in memory store their number in x at the place that `place` says, by that in x and y.
fn placed(place: &str) -> String {
    let own = "%other = OpAccessChain %p_component %id %one\n%j = OpLoad %uint %other\n%works =";
    module("%i")
        .replace("%odd = OpBitwiseAnd %uint %i %one\n%at = OpIMul %uint %odd %stride", place)
        .replace("%works =", own)
        .replace("%zero = OpConstant", "%row = OpConstant %uint 512\n%zero = OpConstant")
}

#[test]
fn several_workgroups_are_looked_at_in_dimensions_in_which_they_are_too_many_to_be_searched() {
    let in_row = |number| placed(&format!("%rows = OpIMul %uint {number} %row\n%at = OpIAdd %uint %rows %i"));
    let (before, after) = (in_row("%j"), in_row("%zero"));
    let report = check(&[], &before, &after);
    assert_eq!(report.verdict, Verdict::Violates);
    // Two workgroups of 512 in x are as many as are searched.
    let launches: Vec<[u32; 3]> = report.choices.launch.iter().map(|launch| launch.workgroups).collect();
    assert_eq!(launches, [[2, 1, 1], [1, 2, 1]]);
    assert!(report.warnings.iter().any(|text| text.contains("at most looked at")), "{:?}", report.warnings);
    // Where nothing differs, the launch is not mentioned.
    let same = before.replace("OpIAdd %uint %rows %i", "OpIAdd %uint %i %rows");
    let report = check(&[], &before, &same);
    assert_eq!((report.verdict, report.choices.launch.len()), (Verdict::Refines, 1));
    assert_eq!(check(&["--workgroups", "2"], &before, &after).verdict, Verdict::Refines);
}

#[test]
fn a_conflict_that_only_after_has_is_searched() {
    // Invocation 0 stores a number in the first word. After, all do where memory holds another number.
    let only_first = module("%seven")
        .replace(
            "%odd = OpBitwiseAnd %uint %i %one\n%at = OpIMul %uint %odd %stride",
            "%at = OpCopyObject %uint %zero",
        )
        .replace("%zero = OpConstant", "%magic = OpConstant %uint 77\n%zero = OpConstant")
        .replace("OpULessThan %bool %i %count", "OpIEqual %bool %i %zero");
    let all = "%is_first = OpIEqual %bool %i %zero
%is_magic = OpIEqual %bool %stride %magic
%works = OpLogicalOr %bool %is_first %is_magic";
    let or_all = only_first.replace("%works = OpIEqual %bool %i %zero", all);
    let report = check(&[], &only_first, &or_all);
    assert_eq!(report.verdict, Verdict::Violates);
    assert!(report.choices.inputs.looked_at > 0, "{:?}", report.choices.inputs);
}

/// Stores `value` where the first size, times three, is a number that no constant is near to, if `second` is odd, too.
fn guarded(value: &str) -> String {
    module("%i")
        .replace("%zero = OpConstant", "%three = OpConstant %uint 3\n%magic = OpConstant %uint 2786931\n%zero = OpConstant")
        .replace("%works = OpULessThan %bool %i %count", "%product = OpIMul %uint %count %three\n%works = OpIEqual %bool %product %magic")
        .replace("%odd = OpBitwiseAnd %uint %i %one\n%at = OpIMul %uint %odd %stride", "%bit = OpBitwiseAnd %uint %stride %mask\n%is = OpINotEqual %bool %bit %zero\n%store = OpSelect %uint %is VALUE %seven\n%at = OpIAdd %uint %i %zero")
        .replace("%zero = OpConstant", "%mask = OpConstant %uint 262144\n%zero = OpConstant")
        .replace("OpStore %word %i", "OpStore %word %store")
        .replace("VALUE", value)
}

#[test]
fn guards_are_solved_one_behind_the_other() {
    let report = check(&[], &guarded("%seven"), &guarded("%eight"));
    assert_eq!(report.verdict, Verdict::Violates);
    let found = report.runs.last().map(|run| run.input.name.clone()).unwrap_or_default();
    assert!(found.starts_with("solved "), "{found}");
    // What the user gives stays as it is.
    let given = check(&["--push", "words:929,3"], &guarded("%seven"), &guarded("%eight"));
    assert_eq!(given.verdict, Verdict::Refines);
}

/// Invocations store `%value` at `%at`, which the body computes from their number `%i` and the push constants `%s0`, `%s1`, …
fn computed(invocations: u32, sizes: u32, constants: &[u32], body: &str) -> String {
    let lines = |of: &dyn Fn(u32) -> String, all: &mut dyn Iterator<Item = u32>| {
        all.map(of).collect::<Vec<String>>().join("\n")
    };
    let offsets =
        lines(&|size| format!("OpMemberDecorate %sizes {size} Offset {}", 4 * size), &mut (0..sizes));
    let constant = |value: u32| format!("%c{value} = OpConstant %uint {value}");
    let constants = lines(&constant, &mut constants.iter().copied());
    let load = |size: u32| {
        format!("%at{size} = OpAccessChain %p_size %size %c{size}\n%s{size} = OpLoad %uint %at{size}")
    };
    let loads = lines(&load, &mut (0..sizes));
    let (members, module) = (" %uint".repeat(sizes as usize), module("%value"));
    let head = module.split("%component = ").next().unwrap_or_default();
    head.replace("LocalSize 512 1 1", &format!("LocalSize {invocations} 1 1"))
        .replace("OpMemoryModel", "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel")
        .replace("OpMemberDecorate %sizes 0 Offset 0\nOpMemberDecorate %sizes 1 Offset 4", &offsets)
        .replace("%sizes = OpTypeStruct %uint %uint", &format!("%sizes = OpTypeStruct{members}"))
        .replace("%zero = OpConstant", &format!("{constants}\n%zero = OpConstant"))
        + &format!(
            "%component = OpAccessChain %p_component %id %zero\n%i = OpLoad %uint %component\n{loads}\n{body}
%word = OpAccessChain %p_word %buffer %zero %at\nOpStore %word %value\nOpReturn\nOpFunctionEnd\n"
        )
}

#[test]
fn strides_of_three_dimensions_are_repaired_until_nobody_conflicts() {
    // Three more strides, of what is read, stand in front of those of what is written.
    let module = |value: &str| {
        let body = "%x = OpBitwiseAnd %uint %i %c3
%shifted = OpShiftRightLogical %uint %i %c2
%y = OpBitwiseAnd %uint %shifted %c3
%z = OpShiftRightLogical %uint %i %c4
%q0 = OpIMul %uint %x %s0
%q1 = OpIMul %uint %y %s1
%q2 = OpIMul %uint %z %s2
%q01 = OpIAdd %uint %q0 %q1
%q = OpIAdd %uint %q01 %q2
%read = OpAccessChain %p_word %buffer %c0 %q
%p0 = OpIMul %uint %x %s3
%p1 = OpIMul %uint %y %s4
%p2 = OpIMul %uint %z %s5
%p01 = OpIAdd %uint %p0 %p1
%at = OpIAdd %uint %p01 %p2
%value = OpIAdd %uint %i VALUE";
        computed(64, 6, &[0, 1, 2, 3, 4, 5], &body.replace("VALUE", value))
    };
    let report = check(&[], &module("%c1"), &module("%c2"));
    assert_eq!(report.verdict, Verdict::Violates);
    let found = report.runs.last().map(|run| run.input.name.clone()).unwrap_or_default();
    assert!(found.starts_with("solved "), "{found}");
}

#[test]
fn a_change_is_followed_through_a_bound_and_a_condition() {
    // What is added shows where the product is within bounds that are near to each other, and two other numbers fit.
    let module = |added: &str| {
        let body = "%lesser = OpIAdd %uint %s0 VALUE
%scaled = OpIMul %uint %lesser %c7
%bounded = OpExtInst %uint %glsl UClamp %scaled %c700021 %c700099
%twice = OpIMul %uint %s2 %c5
%sum = OpIAdd %uint %s3 %c999983
%is = OpIEqual %bool %sum %twice
%value = OpSelect %uint %is %bounded %c0
%at = OpCopyObject %uint %i";
        computed(4, 4, &[0, 1, 2, 3, 5, 7, 700_021, 700_099, 999_983], &body.replace("VALUE", added))
    };
    assert_eq!(check(&[], &module("%c1"), &module("%c2")).verdict, Verdict::Violates);
}

#[test]
fn comparisons_that_hold_only_together_are_solved_for_together() {
    // Three sizes that, times three, are numbers of their own, without a branch.
    let inside = |value: &str| {
        let body = format!(
            "%t0 = OpIMul %uint %s0 %c3
%t1 = OpIMul %uint %s1 %c3
%t2 = OpIMul %uint %s2 %c3
%in0 = OpIEqual %bool %t0 %c2786931
%in1 = OpIEqual %bool %t1 %c3000099
%in2 = OpIEqual %bool %t2 %c3703731
%some = OpLogicalAnd %bool %in0 %in1
%all = OpLogicalAnd %bool %some %in2
%value = OpSelect %uint %all {value} %c7
%at = OpIAdd %uint %i %c0"
        );
        computed(4, 3, &[0, 1, 2, 3, 7, 8, 2_786_931, 3_000_099, 3_703_731], &body)
    };
    let report = check(&[], &inside("%c7"), &inside("%c8"));
    assert_eq!(report.verdict, Verdict::Violates);
    let found = report.runs.last().map(|run| run.input.name.clone()).unwrap_or_default();
    assert!(found.starts_with("solved "), "{found}");
}

#[test]
fn what_was_solved_for_stays_where_another_comparison_hangs_on_it_too() {
    // The last size has to fit by itself; then the first one has to fit with it.
    let inside = |value: &str| {
        let body = format!(
            "%t0 = OpIMul %uint %s0 %c3
%t1 = OpIMul %uint %s1 %c7
%in0 = OpIEqual %bool %t1 %c3000088
%sum = OpIAdd %uint %t0 %s1
%in1 = OpIEqual %bool %sum %c9428584
%all = OpLogicalAnd %bool %in0 %in1
%value = OpSelect %uint %all {value} %c7
%at = OpIAdd %uint %i %c0"
        );
        computed(4, 2, &[0, 1, 3, 7, 8, 3_000_088, 9_428_584], &body)
    };
    let report = check(&[], &inside("%c7"), &inside("%c8"));
    assert_eq!(report.verdict, Verdict::Violates);
}

#[test]
fn differences_that_floats_permit_are_not_all_there_is() {
    // Most inputs differ by 1/8192, which a cosine may, and one by 1.
    let (one, little) = (1.0_f32.to_bits(), (1.0_f32 / 8192.0).to_bits());
    let module = |fitting: u32, other: u32| {
        let body = format!(
            "%f = OpBitcast %float %s0
%low = OpBitcast %float %c0
%high = OpBitcast %float %c{one}
%near = OpExtInst %float %glsl FClamp %f %low %high
%cosine = OpExtInst %float %glsl Cos %near
%scaled = OpIMul %uint %s1 %c3
%fits = OpIEqual %bool %scaled %c3000099
%bits = OpSelect %uint %fits %c{fitting} %c{other}
%more = OpBitcast %float %bits
%result = OpFAdd %float %cosine %more
%value = OpBitcast %uint %result
%at = OpIAdd %uint %i %c0"
        );
        let text = computed(4, 2, &[0, 1, 3, 3_000_099, one, little], &body);
        text.replace("%zero = OpConstant", "%float = OpTypeFloat 32\n%zero = OpConstant")
    };
    assert_eq!(check(&[], &module(one, 0), &module(0, little)).verdict, Verdict::Violates);
}

#[test]
fn signs_are_looked_for_in_later_turns_too() {
    // In its second turn, 8 divided by a size: only by -1 to -8 it matters whether that is a number with a sign.
    let divided = |division: &str| {
        let body = format!(
            "OpBranch %head
%head = OpLabel
%turn = OpPhi %uint %c0 %entry %next %again
%by = OpPhi %uint %c7 %entry %s0 %again
OpLoopMerge %done %again None
OpBranch %again
%again = OpLabel
%value = {division} %uint %c8 %by
%next = OpIAdd %uint %turn %c1
%more = OpULessThan %bool %next %c2
OpBranchConditional %more %head %done
%done = OpLabel
%at = OpIAdd %uint %i %c0"
        );
        computed(4, 1, &[0, 1, 2, 7, 8], &body)
    };
    let report = check(&[], &divided("OpUDiv"), &divided("OpSDiv"));
    assert_eq!(report.verdict, Verdict::Violates);
    let found = report.runs.last().map(|run| run.input.name.clone()).unwrap_or_default();
    assert!(found.starts_with("solved "), "{found}");
}

#[test]
fn comparisons_of_those_whom_a_change_reaches_are_solved_for() {
    // One invocation of 32 is reached. What the others compare is equal with another size than what it compares.
    let module = |value: &str| {
        let body = format!(
            "%reached = OpIEqual %bool %i %c29
%own = OpSelect %uint %reached {value} %c0
%sum = OpIAdd %uint %own %c1000002
%scaled = OpIMul %uint %s0 %c3
%is = OpIEqual %bool %scaled %sum
%value = OpSelect %uint %is %c1 %c0
%at = OpIAdd %uint %i %c0"
        );
        computed(32, 1, &[0, 1, 3, 6, 29, 1_000_002], &body)
    };
    let report = check(&[], &module("%c3"), &module("%c6"));
    assert_eq!(report.verdict, Verdict::Violates);
    let found = report.runs.last().map(|run| run.input.name.clone()).unwrap_or_default();
    assert!(found.starts_with("solved "), "{found}");
}

#[test]
fn a_sign_that_was_solved_for_is_tried_on_other_inputs() {
    // What is divided is zero on the input on which the divisor is nearest to a negative number.
    let divided = |division: &str| {
        let body = format!(
            "%row = OpUDiv %uint %i %s1
%sum = OpIAdd %uint %s0 %s2
%many = OpUGreaterThan %bool %sum %c1000099
%rows = OpSelect %uint %many %row %c0
%divisor = OpIMul %uint %s0 %c2
%value = {division} %uint %rows %divisor
%at = OpIAdd %uint %i %c0"
        );
        computed(4, 3, &[0, 1, 2, 1_000_099], &body)
    };
    let report = check(&[], &divided("OpUMod"), &divided("OpSMod"));
    assert_eq!(report.verdict, Verdict::Violates);
    let found = report.runs.last().map(|run| run.input.name.clone()).unwrap_or_default();
    assert!(found.starts_with("solved "), "{found}");
}

#[test]
fn parameters_are_tried_at_the_ends_of_their_range() {
    // What divides is small on most inputs, and nothing leads to the one value of which all bits are set.
    let module = |extra: &str| {
        let body = format!(
            "%row = OpUDiv %uint %i %s0
%bits = OpBitCount %uint %s0
%is_full = OpIEqual %bool %bits %c32
%more = OpSelect %uint %is_full {extra} %c0
%value = OpIAdd %uint %row %more
%at = OpIAdd %uint %i %c0"
        );
        computed(4, 2, &[0, 1, 32], &body)
    };
    let report = check(&[], &module("%c0"), &module("%c1"));
    assert_eq!(report.verdict, Verdict::Violates);
    let found = report.runs.last().map(|run| run.input.name.clone()).unwrap_or_default();
    assert!(found.starts_with("solved "), "{found}");
}
