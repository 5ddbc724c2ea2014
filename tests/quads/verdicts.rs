//! What is said of changes.

use spirv_tv::check::CheckReport;
use spirv_tv::compare::{Verdict, ViolationKind};
use spirv_tv::module::Module;

use crate::shaders::{branch, shader, whole};
use crate::texts::{checker, with};

fn check(before: &str, after: &str) -> CheckReport {
    check_with(&[], before, after)
}

fn check_with(args: &[&str], before: &str, after: &str) -> CheckReport {
    let checker = checker(args);
    let read = |text: &str, name| {
        Module::from_text(text, name, &checker.read).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    checker.check(&read(before, "before"), &read(after, "after"))
}

fn accepts(before: &str, after: &str) {
    let report = check(before, after);
    assert_eq!(report.verdict, Verdict::Refines, "{before}\n{after}");
}

fn flags(before: &str, after: &str) {
    let report = check(before, after);
    let kind = report.decisive().and_then(|run| Some(run.comparison.violation.as_ref()?.kind));
    assert_eq!(
        (report.verdict, kind),
        (Verdict::Violates, Some(ViolationKind::NewOutcome)),
        "{before}\n{after}"
    );
}

const SAMPLE: &str = "%s = OpImageSampleImplicitLod %vec4 %i %at\n%t = OpCompositeExtract %float %s 0";

/// A sample in front of a branch, and in it.
fn samples() -> [String; 2] {
    let use_it = "OpStore %out %t\nOpBranch %merge";
    [
        whole(&format!("OpStore %out %f0\n{SAMPLE}\n{}", branch(use_it)), "OpReturn"),
        whole(&format!("OpStore %out %f0\n{}", branch(&format!("{SAMPLE}\n{use_it}"))), "OpReturn"),
    ]
}

#[test]
fn a_sample_that_is_sunk_into_a_branch_is_noticed() {
    let [outside, inside] = samples();
    flags(&outside, &inside);
    let report = check(&outside, &inside);
    let launch = &report.choices.launch[0];
    assert_eq!((launch.quad, launch.workgroups, launch.local_size), (true, [1; 3], [2, 2, 1]));
}

#[test]
fn a_sample_that_is_hoisted_out_of_a_branch_is_accepted() {
    let [outside, inside] = samples();
    accepts(&inside, &outside);
    accepts(&outside, &outside);
    accepts(&inside, &inside);
}

#[test]
fn a_derivative_that_is_sunk_into_a_branch_is_noticed() {
    let derive = "%d = OpDPdx %float %x";
    let use_it = "OpStore %out %d\nOpBranch %merge";
    let outside = whole(&format!("OpStore %out %f0\n{derive}\n{}", branch(use_it)), "OpReturn");
    let inside = whole(&format!("OpStore %out %f0\n{}", branch(&format!("{derive}\n{use_it}"))), "OpReturn");
    flags(&outside, &inside);
    accepts(&inside, &outside);
}

#[test]
fn wrong_derivatives_are_noticed_and_right_ones_are_not() {
    let derived =
        |body: &str| shader(&format!("{body}\n%d = OpDPdxFine %float %e\n%r = OpFAdd %float %d %x"));
    let plain = derived("%e = OpFAdd %float %x %x");
    flags(&plain, &with(&plain, "OpDPdxFine", "OpDPdyFine"));
    flags(&plain, &with(&plain, "OpDPdxFine", "OpFwidthFine"));
    accepts(&plain, &derived("%e = OpFMul %float %x %f2"));
    // That of a constant is zero.
    let constant = shader("%d = OpDPdx %float %half\n%r = OpFAdd %float %d %x");
    accepts(&constant, &shader("%r = OpFAdd %float %f0 %x"));
    flags(&constant, &shader("%r = OpFAdd %float %f1 %x"));
    // Of the coordinates of pixels, one.
    let pixels = "%c = OpLoad %vec4 %coord\n%p = OpCompositeExtract %float %c 0\n";
    accepts(&shader(&format!("{pixels}%r = OpDPdx %float %p")), &shader("%r = OpCopyObject %float %f1"));
    // Only one of the modules has an instruction on the quad.
    let one = format!("{pixels}%q = OpFSub %float %p %p\n%r = OpFAdd %float %q %f1");
    accepts(&shader(&one), &shader(&format!("{pixels}%r = OpDPdx %float %p")));
}

#[test]
fn a_finer_derivative_refines_one_that_may_be_coarse() {
    let derived = |instruction: &str| {
        shader(&format!(
            "%e = OpFMul %float %x %x\n%e2 = OpFMul %float %e %x\n%r = Op{instruction} %float %e2"
        ))
    };
    accepts(&derived("DPdx"), &derived("DPdxFine"));
    accepts(&derived("DPdx"), &derived("DPdxCoarse"));
    flags(&derived("DPdxFine"), &derived("DPdyFine"));
}

#[test]
fn other_implicit_levels_are_noticed() {
    let sampled = |operands: &str| {
        let how = if operands.contains("Lod") { "Explicit" } else { "Implicit" };
        shader(&format!(
            "%s = OpImageSample{how}Lod %vec4 %i %at{operands}\n%r = OpCompositeExtract %float %s 0"
        ))
    };
    flags(&sampled(""), &sampled(" Bias %f1"));
    flags(&sampled(""), &sampled(" Lod %f0"));
    accepts(&sampled(" Bias %f0"), &sampled(""));
    accepts(&sampled(""), &sampled(" Bias %f0"));
}

#[test]
fn an_end_may_become_a_demotion() {
    let ended =
        |end: &str| shader(&format!("{}\n%d = OpDPdxFine %float %x\n%r = OpFAdd %float %d %x", branch(end)));
    let demotion = ended("OpDemoteToHelperInvocation\nOpBranch %merge");
    accepts(&ended("OpKill"), &demotion);
    // The others would miss it.
    flags(&demotion, &ended("OpTerminateInvocation"));
}

#[test]
fn what_helpers_would_store_is_no_difference() {
    let stored = |value: &str| {
        let body = format!(
            "%is = OpLoad %bool %helper
%c = OpLoad %vec4 %coord
%px = OpCompositeExtract %float %c 0
%py = OpCompositeExtract %float %c 1
%pixel = OpConvertFToU %uint %px
%line = OpConvertFToU %uint %py
%twice = OpIAdd %uint %line %line
%place = OpIAdd %uint %twice %pixel
%word = OpAccessChain %p_word %buffer %u0 %place
%value = OpSelect %uint %is {value} %u3
OpStore %word %value
%r = OpDPdx %float %x"
        );
        shader(&body)
    };
    accepts(&stored("%u0"), &stored("%u1"));
    let wrong = with(&stored("%u0"), "%is %u0 %u3", "%is %u3 %u0");
    flags(&stored("%u0"), &wrong);
}

#[test]
fn sums_that_may_be_contracted_are_judged_by_intervals_in_quads_too() {
    let computed = |sum: &str| {
        let body = format!(
            "%k = OpFDiv %float %x %third
%d = OpDPdx %float %k
%p = OpFMul %float %d %third
{sum}"
        );
        with(&shader(&body), "%half = ", "%third = OpConstant %float 3.1\n%half = ")
    };
    let before = computed("%r = OpFAdd %float %p %third");
    accepts(&before, &with(&computed("%r = OpFAdd %float %third %p"), "%d %third", "%third %d"));
    let fused = computed("%r = OpExtInst %float %glsl Fma %d %third %third");
    let fused = with(&fused, "OpMemoryModel", "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel");
    accepts(&before, &fused);
    flags(&before, &computed("%r = OpFSub %float %p %third"));
}
