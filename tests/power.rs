//! The proofs of `benches/power/`: what is shown to be the same, mostly by a solver, and near it what is not.

#[allow(dead_code, reason = "proofs of mutants are for the benchmarks")]
#[path = "../benches/power/equivalent.rs"]
mod equivalent;
#[path = "power/further.rs"]
mod further;
#[path = "../benches/power/host.rs"]
mod host;
#[path = "../benches/power/solver/mod.rs"]
mod solver;

use rspirv::binary::Assemble;
use rspirv::dr::{load_words, Module};
use spirv_tv_mutators::WRONG;
use spirv_tv_toolchain::assemble;

use crate::require::{skipped, Need};

/// A shader that stores `%r`, which the body computes, to its place of the second buffer. `%x` and `%y` are numbers of the
/// first one, `%a` and `%b` floats of the third one, `%lid` is below 64.
fn text(body: &str) -> String {
    format!(
        "OpCapability Shader
         %glsl = OpExtInstImport \"GLSL.std.450\"
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main \"main\" %local
         OpExecutionMode %main LocalSize 64 1 1
         OpDecorate %local BuiltIn LocalInvocationId
         OpDecorate %numbers ArrayStride 4
         OpDecorate %floats ArrayStride 4
         OpMemberDecorate %buffer 0 Offset 0
         OpDecorate %buffer BufferBlock
         OpMemberDecorate %float_buffer 0 Offset 0
         OpDecorate %float_buffer BufferBlock
         OpDecorate %in DescriptorSet 0
         OpDecorate %in Binding 0
         OpDecorate %out DescriptorSet 0
         OpDecorate %out Binding 1
         OpDecorate %fin DescriptorSet 0
         OpDecorate %fin Binding 2
         %void = OpTypeVoid
         %bool = OpTypeBool
         %uint = OpTypeInt 32 0
         %float = OpTypeFloat 32
         %uvec3 = OpTypeVector %uint 3
         %fvec2 = OpTypeVector %float 2
         %numbers = OpTypeRuntimeArray %uint
         %floats = OpTypeRuntimeArray %float
         %buffer = OpTypeStruct %numbers
         %float_buffer = OpTypeStruct %floats
         %to_input = OpTypePointer Input %uvec3
         %to_component = OpTypePointer Input %uint
         %to_buffer = OpTypePointer Uniform %buffer
         %to_float_buffer = OpTypePointer Uniform %float_buffer
         %to_uint = OpTypePointer Uniform %uint
         %to_float = OpTypePointer Uniform %float
         %c0 = OpConstant %uint 0
         %c1 = OpConstant %uint 1
         %c2 = OpConstant %uint 2
         %c3 = OpConstant %uint 3
         %c24 = OpConstant %uint 24
         %c31 = OpConstant %uint 31
         %c32 = OpConstant %uint 32
         %c63 = OpConstant %uint 63
         %c64 = OpConstant %uint 64
         %c255 = OpConstant %uint 255
         %c511 = OpConstant %uint 511
         %local = OpVariable %to_input Input
         %in = OpVariable %to_buffer Uniform
         %out = OpVariable %to_buffer Uniform
         %fin = OpVariable %to_float_buffer Uniform
         %function = OpTypeFunction %void
         %main = OpFunction %void None %function
         %entry = OpLabel
         %to_lid = OpAccessChain %to_component %local %c0
         %lid = OpLoad %uint %to_lid
         %to_x = OpAccessChain %to_uint %in %c0 %lid
         %x = OpLoad %uint %to_x
         %to_y = OpAccessChain %to_uint %in %c0 %c64
         %y = OpLoad %uint %to_y
         %to_a = OpAccessChain %to_float %fin %c0 %lid
         %a = OpLoad %float %to_a
         %to_b = OpAccessChain %to_float %fin %c0 %c64
         %b = OpLoad %float %to_b
         {body}
         %to_r = OpAccessChain %to_uint %out %c0 %lid
         OpStore %to_r %r
         OpReturn
         OpFunctionEnd"
    )
}

fn module(body: &str) -> Module {
    let words = assemble(&text(body), None).unwrap_or_else(|error| panic!("{error}: {body}"));
    load_words(words).unwrap()
}

/// Checks that both bodies are proved to be the same, or are not.
fn expect(proved: bool, before: &str, after: &str) {
    if !solver::is_installed() {
        return skipped(Need::Solver, "z3 is not installed");
    }
    let found = solver::finds_no_difference(&module(before), &module(after));
    assert_eq!(found, proved, "{before}\n{after}");
}

#[test]
fn bits_that_are_masked_need_not_be_equal() {
    let shifted =
        |shift: &str, mask: &str| format!("%s = {shift} %uint %x %c24\n %r = OpBitwiseAnd %uint %s {mask}");
    let (logical, arithmetic) = ("OpShiftRightLogical", "OpShiftRightArithmetic");
    expect(true, &shifted(logical, "%c255"), &shifted(arithmetic, "%c255"));
    expect(false, &shifted(logical, "%c511"), &shifted(arithmetic, "%c511"));
}

#[test]
fn arithmetic_is_that_of_bit_vectors() {
    let modulo = |operation: &str, by: &str| format!("%r = {operation} %uint %x {by}");
    expect(true, &modulo("OpUMod", "%c2"), &modulo("OpSMod", "%c2"));
    expect(false, &modulo("OpUMod", "%c3"), &modulo("OpSMod", "%c3"));
    expect(false, &modulo("OpUMod", "%c2"), &modulo("OpSRem", "%c2"));
}

#[test]
fn before_divides_by_no_zero() {
    let body = |divided: &str, otherwise: &str| {
        format!("%q = OpUDiv %uint %x {divided}\n %z = OpIEqual %bool %y %c0\n %r = OpSelect %uint %z {otherwise} %q")
    };
    expect(true, &body("%y", "%c1"), &body("%y", "%c2"));
    expect(false, &body("%c3", "%c1"), &body("%c3", "%c2"));
}

#[test]
fn after_divides_by_no_zero_either() {
    let body = |divided: &str| {
        format!("%o = OpBitwiseOr %uint %y %c1\n %q = OpUDiv %uint %x {divided}\n %r = OpCopyObject %uint %x")
    };
    expect(true, &body("%c3"), &body("%o"));
    expect(false, &body("%c3"), &body("%y"));
}

#[test]
fn built_in_variables_are_bounded() {
    let body = |index: &str, most: &str| {
        format!("%t = OpUGreaterThan %bool {index} {most}\n %r = OpSelect %uint %t %c1 %x")
    };
    expect(true, &body("%lid", "%c63"), &body("%lid", "%c64"));
    expect(false, &body("%lid", "%c31"), &body("%lid", "%c64"));
    // The size of a constant goes before that of the execution mode; one that can be set is not known.
    let sized = |part: &str, most: &str| {
        let size = format!("%size = OpSpecConstantComposite %uvec3 {part} %c1 %c1\n %function =");
        let text = text(&body("%lid", most)).replace("%function =", &size);
        let text = text
            .replace("OpDecorate %numbers", "OpDecorate %size BuiltIn WorkgroupSize\n OpDecorate %numbers");
        let text = match part {
            "%any" => text.replace("%c32 =", "%any = OpSpecConstant %uint 32\n %c32 ="),
            _ => text.replace("OpSpecConstantComposite", "OpConstantComposite"),
        };
        load_words(assemble(&text, None).unwrap()).unwrap()
    };
    if solver::is_installed() {
        assert!(solver::finds_no_difference(&sized("%c32", "%c31"), &sized("%c32", "%c63")));
        assert!(!solver::finds_no_difference(&sized("%any", "%c31"), &sized("%any", "%c63")));
    }
}

#[test]
fn an_index_that_is_accessed_is_within_the_bounds() {
    let body = |index: &str, convert: &str| {
        format!(
            "%p = OpAccessChain %to_uint %in %c0 {index}\n %l = OpLoad %uint %p\n %f = {convert} %float %x
             %i = OpBitcast %uint %f\n %r = OpIAdd %uint %i %l"
        )
    };
    expect(true, &body("%x", "OpConvertUToF"), &body("%x", "OpConvertSToF"));
    expect(false, &body("%y", "OpConvertUToF"), &body("%y", "OpConvertSToF"));
    expect(false, &body("%lid", "OpConvertUToF"), &body("%c63", "OpConvertUToF"));
}

#[test]
fn an_undefined_value_may_be_any() {
    let body = |by: &str, otherwise: &str| {
        format!(
            "%m = OpBitwiseAnd %uint %y %c31\n %s = OpShiftLeftLogical %uint %x {by}
             %t = OpULessThan %bool {by} %c32\n %r = OpSelect %uint %t %s {otherwise}"
        )
    };
    expect(true, &body("%m", "%c0"), &body("%m", "%c1"));
    expect(false, &body("%y", "%c0"), &body("%y", "%s"));
}

#[test]
fn comparisons_of_floats_are_those_of_numbers_and_nans() {
    let body = |comparison: &str| format!("%t = {comparison}\n %r = OpSelect %uint %t %c1 %x");
    let less = body("OpFOrdLessThan %bool %a %b");
    expect(true, &less, &body("OpFOrdGreaterThan %bool %b %a"));
    expect(false, &less, &body("OpFUnordLessThan %bool %a %b"));
    expect(false, &less, &body("OpFOrdLessThanEqual %bool %a %b"));
}

#[test]
fn a_clamped_float_is_on_the_same_side_of_a_number_between_the_bounds() {
    let body = |value: &str, bound: &str| {
        format!(
            "%zero = OpBitcast %float %c0\n %one = OpBitcast %float %c1\n %low = OpBitcast %float %c0
             %high = OpBitcast %float %c255\n %v = {value}
             %t = OpFOrdLessThanEqual %bool %v {bound}\n %r = OpSelect %uint %t %c1 %x"
        )
    };
    let clamped = "OpExtInst %float %glsl FClamp %a %low %high";
    let same = "OpCopyObject %float %a";
    expect(true, &body(clamped, "%one"), &body(same, "%one"));
    // Before is a number, or any value if it is clamped from a NaN; after is compared with the NaN.
    expect(false, &body(same, "%one"), &body(clamped, "%one"));
    expect(false, &body(clamped, "%high"), &body(same, "%high"));
}

#[test]
fn what_is_clamped_in_a_loop_may_differ() {
    let body = |step: &str| {
        format!(
            "%low = OpBitcast %float %c0\n %high = OpBitcast %float %c255\n OpBranch %head
             %head = OpLabel
             %turn = OpPhi %uint %c0 %entry %next_turn %again
             %sum = OpPhi %float %a %entry %next %again
             %near = OpExtInst %float %glsl FClamp %sum %low %high
             OpLoopMerge %done %again None
             OpBranch %again
             %again = OpLabel
             %next = {step} %float %sum %b
             %next_turn = OpIAdd %uint %turn %c1
             %more = OpULessThan %bool %next_turn %c3
             OpBranchConditional %more %head %done
             %done = OpLabel
             %r = OpBitcast %uint %near"
        )
    };
    expect(true, &body("OpFAdd"), &body("OpFAdd"));
    expect(false, &body("OpFAdd"), &body("OpFMul"));
}

#[test]
fn what_smooth_step_leaves_undefined_may_be_anything() {
    let body = |low: &str, high: &str, width: &str, value: &str| {
        format!(
            "%w = {width}\n %sum = OpFAdd %float %b %w\n %difference = OpFSub %float %b %w
             %low = OpCopyObject %float %{low}\n %high = OpCopyObject %float %{high}\n %v = {value}
             %r = OpBitcast %uint %v"
        )
    };
    let step = "OpExtInst %float %glsl SmoothStep %low %high %a";
    let other = "OpExtInst %float %glsl FMix %low %high %a";
    let (positive, any) = ("OpExtInst %float %glsl FAbs %a", "OpExtInst %float %glsl Cos %a");
    expect(true, &body("sum", "difference", positive, step), &body("sum", "difference", positive, other));
    expect(false, &body("difference", "sum", positive, step), &body("difference", "sum", positive, other));
    expect(false, &body("sum", "difference", any, step), &body("sum", "difference", any, other));
    expect(false, &body("sum", "difference", positive, other), &body("sum", "difference", positive, step));
}

#[test]
fn of_other_operations_only_the_name_is_known() {
    let body = |value: &str| format!("%v = {value}\n %r = OpBitcast %uint %v");
    let sum = body("OpFAdd %float %a %b");
    expect(true, &sum, &sum);
    expect(false, &sum, &body("OpFMul %float %a %b"));
    expect(false, &sum, &body("OpFAdd %float %b %b"));
    let unpacked = |function: &str, component: u32, extended: &str| {
        format!(
            "%h = {extended} %uint %x %c24\n %u = OpExtInst %fvec2 %glsl {function} %h
             %v = OpCompositeExtract %float %u {component}\n %r = OpBitcast %uint %v"
        )
    };
    let half = unpacked("UnpackHalf2x16", 0, "OpShiftRightLogical");
    expect(false, &half, &unpacked("UnpackUnorm2x16", 0, "OpShiftRightLogical"));
    expect(false, &half, &unpacked("UnpackHalf2x16", 1, "OpShiftRightLogical"));
}

#[test]
fn conditions_of_branches_are_known_in_their_blocks() {
    let body = |test: &str, value: &str| {
        format!(
            "%t = {test} %bool %x %y\n OpSelectionMerge %end None\n OpBranchConditional %t %then %end
             %then = OpLabel\n %v = {value}\n OpBranch %end
             %end = OpLabel\n %r = OpPhi %uint %c0 %entry %v %then"
        )
    };
    let least = "OpExtInst %uint %glsl UMin %x %y";
    let first = "OpCopyObject %uint %x";
    expect(true, &body("OpULessThan", least), &body("OpULessThan", first));
    expect(false, &body("OpUGreaterThan", least), &body("OpUGreaterThan", first));
    expect(false, &body("OpULessThan", first), &body("OpULessThanEqual", first));
    expect(true, &body("OpULessThan", first), &body("OpULessThan", least));
}

#[test]
fn what_is_carried_around_a_loop_stays_equal() {
    let body = |step: &str, test: &str| {
        format!(
            "OpBranch %head
             %head = OpLabel\n %i = OpPhi %uint %c0 %entry %next %again\n %t = {test} %bool %i %c255
             OpLoopMerge %end %again None\n OpBranchConditional %t %again %end
             %again = OpLabel\n %next = {step}\n OpBranch %head
             %end = OpLabel\n %r = OpCopyObject %uint %i"
        )
    };
    let one = "OpIAdd %uint %i %c1";
    expect(true, &body(one, "OpULessThan"), &body(one, "OpSLessThan"));
    expect(true, &body(one, "OpULessThan"), &body("OpIAdd %uint %c1 %i", "OpULessThan"));
    expect(false, &body(one, "OpULessThan"), &body("OpIAdd %uint %i %c2", "OpULessThan"));
    expect(false, &body("OpIAdd %uint %i %y", "OpULessThan"), &body("OpIAdd %uint %i %y", "OpSLessThan"));
}

#[test]
fn a_counter_that_is_an_index_in_every_turn_is_bounded() {
    let body = |test: &str, access: &str, way_out: &str| {
        format!(
            "OpBranch %head
             %head = OpLabel\n %i = OpPhi %uint %lid %entry %next %again\n %t = {test} %bool %i %y
             OpLoopMerge %end %again None\n OpBranchConditional %t %turn %end
             %turn = OpLabel\n {access}\n {way_out}
             %again = OpLabel\n %next = OpIAdd %uint %i %c64\n OpBranch %head
             %end = OpLabel\n %r = OpCopyObject %uint %c1"
        )
    };
    let goes_on = "OpBranch %again";
    let at = |index: &str| format!("%p = OpAccessChain %to_uint %out %c0 {index}\n OpStore %p %c1");
    let alike = |proved: bool, access: &str, way_out: &str| {
        expect(proved, &body("OpULessThan", access, way_out), &body("OpSLessThan", access, way_out));
    };
    alike(true, &at("%i"), goes_on);
    alike(true, &format!("%n = OpIAdd %uint %x %i\n {}", at("%n")), goes_on);
    expect(false, &body("OpULessThan", &at("%i"), goes_on), &body("OpULessThanEqual", &at("%i"), goes_on));
    // It is no index, one that need not grow, or one in some turns only; or there is another way out.
    alike(false, "OpStore %to_x %c1", goes_on);
    alike(false, &format!("%n = OpIMul %uint %x %i\n {}", at("%n")), goes_on);
    let other = "%u = OpULessThan %bool %x %i\n OpSelectionMerge %on None\n OpBranchConditional %u";
    let in_some =
        format!("{other} %some %on\n %some = OpLabel\n {}\n OpBranch %on\n %on = OpLabel", at("%i"));
    alike(false, &in_some, goes_on);
    let out = "%u = OpULessThan %bool %x %i\n OpBranchConditional %u %end %again";
    alike(false, &at("%i"), out);
}

#[test]
fn an_index_is_bounded_from_where_it_begins_whatever_ends_the_loop_after_2_to_64_turns() {
    let modules = |first: &str, part: u32, turn: &str| {
        let body = format!(
            "OpBranch %head
             %head = OpLabel\n %i = OpPhi %uint %x %entry %next %again
             %left = OpPhi %pair {first} %entry %fewer %again
             OpLoopMerge %end %again None\n OpBranch %guard
             %guard = OpLabel\n %zeros = OpIEqual %bools %left %none\n %ends = OpAll %bool %zeros
             OpBranchConditional %ends %end %on
             %on = OpLabel\n %low = OpCompositeExtract %uint %left {part}\n %last = OpIEqual %bool %low %c0
             %high = OpSelect %uint %last %c1 %c0\n %less = OpCompositeConstruct %pair %high %c1
             %fewer = OpISub %pair %left %less
             %t = OpULessThan %bool %i %y\n OpBranchConditional %t %turn %end
             %turn = OpLabel\n {turn}\n %v = OpBitcast %uint %f\n OpStore %p %v\n OpBranch %again
             %again = OpLabel\n %next = OpIAdd %uint %i %c1\n OpBranch %head
             %end = OpLabel\n %r = OpCopyObject %uint %c1"
        );
        let types = "%pair = OpTypeVector %uint 2\n %bools = OpTypeVector %bool 2
             %c_all = OpConstant %uint 4294967295\n %all = OpConstantComposite %pair %c_all %c_all
             %some = OpConstantComposite %pair %c1 %c_all\n %none = OpConstantComposite %pair %c0 %c0
             %function =";
        load_words(assemble(&text(&body).replace("%function =", types), None).unwrap()).unwrap()
    };
    let turn = |convert: &str, width: &str, index: &str| {
        format!("%p = OpAccessChain %to_uint %out %c0 {index}\n %w = OpISub %uint {width}\n %f = {convert} %float %w")
    };
    let is_proved = |first: &str, part: u32, width: &str, index: &str| {
        let of = |convert: &str| modules(first, part, &turn(convert, width, index));
        solver::finds_no_difference(&of("OpConvertUToF"), &of("OpConvertSToF"))
    };
    if !solver::is_installed() {
        return skipped(Need::Solver, "z3 is not installed");
    }
    assert!(is_proved("%all", 1, "%y %x", "%i"));
    // Another difference, what is no index, or what ends the loop otherwise.
    assert!(!is_proved("%all", 1, "%x %y", "%i"));
    assert!(!is_proved("%all", 1, "%y %x", "%lid"));
    assert!(!is_proved("%all", 0, "%y %x", "%i"));
    assert!(!is_proved("%some", 1, "%y %x", "%i"));
}

#[test]
fn a_branch_that_only_chooses_a_value_may_go_the_other_way() {
    let body = |test: &str, aside: &str| {
        format!(
            "%t = {test}\n OpSelectionMerge %end None\n OpBranchConditional %t %small %great
             %small = OpLabel\n OpBranch %end
             %great = OpLabel\n %q = OpUDiv %uint %x %y\n {aside}\n OpBranch %end
             %end = OpLabel\n %r = OpPhi %uint %c0 %small %q %great"
        )
    };
    let less = "OpULessThan %bool %x %y";
    let is_zero = "OpIEqual %bool %x %c0";
    let divides_not = "OpIEqual %bool %y %c0";
    expect(true, &body(less, ""), &body(is_zero, ""));
    expect(false, &body(less, ""), &body("OpULessThanEqual %bool %x %y", ""));
    expect(false, &body(less, "OpStore %to_x %c1"), &body(is_zero, "OpStore %to_x %c1"));
    // Before divides by no zero, and neither does after.
    expect(true, &body(less, ""), &body(divides_not, ""));
    expect(false, &body(divides_not, ""), &body(less, ""));
}

#[test]
fn what_is_left_of_a_division_by_a_power_of_two_are_bits() {
    let body = |test: &str, mask: &str| {
        format!(
            "%m = OpISub %uint %y {mask}\n %common = OpBitwiseAnd %uint %y %m\n %t = {test} %c0
             OpSelectionMerge %end None\n OpBranchConditional %t %power %other
             %power = OpLabel\n %bits = OpBitwiseAnd %uint %x %m\n OpBranch %end
             %other = OpLabel\n %rest = OpUMod %uint %x %y\n OpBranch %end
             %end = OpLabel\n %r = OpPhi %uint %bits %power %rest %other"
        )
    };
    let (power, zero) = ("OpIEqual %bool %common", "OpIEqual %bool %y");
    expect(true, &body(power, "%c1"), &body(zero, "%c1"));
    expect(false, &body(power, "%c2"), &body(zero, "%c2"));
}

#[test]
fn what_nobody_reads_may_be_in_one_module_only() {
    let with = |unread: &str| {
        let body = format!("{unread}\n %r = OpCopyObject %uint %x");
        // The name keeps the ids the same.
        let name = "OpName %d \"d\"\n OpDecorate %local ";
        load_words(assemble(&text(&body).replace("OpDecorate %local ", name), None).unwrap()).unwrap()
    };
    if !solver::is_installed() {
        return skipped(Need::Solver, "z3 is not installed");
    }
    let (sum, quotient) = ("%d = OpIAdd %uint %x %y", "%d = OpUDiv %uint %x %y");
    for (before, after, proved) in
        [(sum, "", true), ("", sum, true), (quotient, "", true), ("", quotient, false)]
    {
        assert_eq!(solver::finds_no_difference(&with(before), &with(after)), proved, "{before} {after}");
    }
    assert!(!solver::finds_no_difference(&with(""), &with("OpStore %to_x %c1")));
    assert!(!solver::finds_no_difference(&with("OpStore %to_x %c1"), &with("")));
}

#[test]
fn a_built_in_may_hold_what_another_one_holds() {
    let body = |component: &str| {
        format!(
            "%p = OpAccessChain %to_component %local {component}\n %l = OpLoad %uint %p
             %m = OpIMul %uint %l %y\n %r = OpIAdd %uint %m %x"
        )
    };
    expect(true, &body("%c1"), &body("%c2"));
    expect(false, &body("%c0"), &body("%c1"));
}

#[test]
fn what_a_host_specialises_is_constant() {
    let body = |test: &str| {
        format!(
            "OpBranch %head
             %head = OpLabel\n %i = OpPhi %uint %lid %entry %next %again\n %t = {test} %bool %i %y
             OpLoopMerge %end %again None\n OpBranchConditional %t %turn %end
             %turn = OpLabel\n %p = OpAccessChain %to_uint %out %c0 %i\n OpStore %p %c1\n OpBranch %again
             %again = OpLabel\n %next = OpIAdd %uint %i %step\n OpBranch %head
             %end = OpLabel\n %r = OpCopyObject %uint %c1"
        )
    };
    let texts = ["OpULessThan", "OpSLessThan"].map(|test| {
        let text = text(&body(test)).replace("%c64 =", "%step = OpSpecConstant %uint 64\n %c64 =");
        text.replace("OpDecorate %numbers", "OpDecorate %step SpecId 7\n OpDecorate %numbers")
    });
    let words = texts.map(|text| assemble(&text, None).unwrap());
    let is_proved = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let [before, after] = [0, 1].map(|at| load_words(host::specialised(&words[at], &args)).unwrap());
        solver::finds_no_difference(&before, &after)
    };
    if !solver::is_installed() {
        skipped(Need::Solver, "z3 is not installed");
        return;
    }
    assert!(is_proved(&["--entry", "main", "--spec", "7=32"]));
    // A step of zero never ends, and one that is great may pass over what is out of bounds.
    for args in [&[][..], &["--spec", "6=32"], &["--spec", "7=0"], &["--spec", "7=1073741824"]] {
        assert!(!is_proved(args), "{args:?}");
    }
}

/// Of the mutants of a mutator, those that are proved without a solver.
fn proved(mutator: &str, before: &Module) -> Vec<String> {
    let mut words = before.assemble();
    // BufferBlock is of versions up to 1.3.
    words[1] = 0x0001_0300;
    let seed = spirv_tv_mutators::Module::load(&words, Default::default()).unwrap();
    let wrong = WRONG.iter().find(|one| one.name() == mutator).unwrap();
    let proved = wrong.mutants(&seed, 0).filter(|mutant| equivalent::proof(before, mutant).is_some());
    proved.map(|mutant| mutant.name()).collect()
}

fn proved_functions(function: &str) -> Vec<String> {
    let body = format!("%f = OpExtInst %float %glsl {function} %a\n %r = OpConvertFToU %uint %f");
    proved("wrong-function", &module(&body))
}

#[test]
fn halves_may_be_rounded_to_even_numbers() {
    assert_eq!(proved_functions("Round"), ["wrong-function OpExtInst#1: Round to RoundEven"]);
    assert_eq!(proved_functions("RoundEven"), [""; 0]);
    assert_eq!(proved_functions("Floor"), [""; 0]);
}

#[test]
fn an_array_in_shared_memory_has_fewer_elements_than_memory_has_words() {
    let proved = |element: &str, index: &str| {
        let types = format!(
            "%half = OpTypeInt 16 0\n %n = OpSpecConstant %uint 64\n %array = OpTypeArray {element} %n
             %to_array = OpTypePointer Workgroup %array\n %to_element = OpTypePointer Workgroup {element}
             %shared = OpVariable %to_array Workgroup\n %function ="
        );
        let body = format!(
            "{index}\n %l = OpLoad {element} %p\n %t = OpULessThan %bool %lid %n
             %r = OpSelect %uint %t %c1 %c2"
        );
        let text = text(&body).replace("%function =", &types);
        let text = text.replace("OpDecorate %numbers ", "OpDecorate %n SpecId 1\n OpDecorate %numbers ");
        let text = text.replace("OpCapability Shader", "OpCapability Shader\n OpCapability Int16");
        self::proved("wrong-signedness", &load_words(assemble(&text, None).unwrap()).unwrap())
    };
    let used = "%p = OpAccessChain %to_element %shared %lid";
    assert_eq!(proved("%uint", used), ["wrong-signedness OpULessThan#1: SLessThan"]);
    assert_eq!(proved("%half", used), [""; 0]);
    // One that nobody uses takes no memory.
    assert_eq!(proved("%uint", "%p = OpAccessChain %to_uint %in %c0 %lid"), [""; 0]);
}
