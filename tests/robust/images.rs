//! Texels that an image does not have (Vulkan, "Texel Replacement").

use spirv_tv::compare::Verdict;

use super::{check, ROBUST, ROBUST2};

/// An invocation reads texel 9 of an image of these parameters, and writes what `body` makes of `%texel`.
fn module(format: &str, dim: &str, body: &str) -> String {
    let coordinate = if dim == "Buffer" { "%nine" } else { "%at" };
    let body = body.replace("COORDINATE", coordinate);
    let (capability, sampled) = if dim == "Buffer" { ("ImageBuffer", 2) } else { ("Shader", 2) };
    format!(
        "OpCapability Shader
OpCapability {capability}
OpCapability StorageImageExtendedFormats
OpExtension \"SPV_KHR_storage_buffer_storage_class\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %image %out
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %words ArrayStride 16
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1
%void = OpTypeVoid
%nothing = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint2 = OpTypeVector %uint 2
%uint4 = OpTypeVector %uint 4
%words = OpTypeRuntimeArray %uint4
%block = OpTypeStruct %words
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%nine = OpConstant %uint 9
%at = OpConstantComposite %uint2 %nine %zero
%zeros = OpConstantComposite %uint4 %zero %zero %zero %zero
%opaque = OpConstantComposite %uint4 %zero %zero %zero %one
%green = OpConstantComposite %uint4 %zero %one %zero %zero
%threes = OpConstantComposite %uint4 %three %three %three %three
%texels = OpTypeImage %uint {dim} 0 0 0 {sampled} {format}
%p_texels = OpTypePointer UniformConstant %texels
%p_texel = OpTypePointer Image %uint
%p_block = OpTypePointer StorageBuffer %block
%p_word = OpTypePointer StorageBuffer %uint4
%image = OpVariable %p_texels UniformConstant
%out = OpVariable %p_block StorageBuffer
%main = OpFunction %void None %nothing
%entry = OpLabel
%handle = OpLoad %texels %image
%to = OpAccessChain %p_word %out %zero %zero
{body}
OpReturn
OpFunctionEnd
"
    )
}

const READ: &str = "%texel = OpImageRead %uint4 %handle COORDINATE\nOpStore %to %texel";

fn verdict(robust: &[&str], (format, dim): (&str, &str), before: &str, after: &str) -> Verdict {
    let [lower, size] = [format.to_lowercase(), (if dim == "Buffer" { "4" } else { "4x4" }).to_owned()];
    let image = format!("0.0={lower}:{size}:zeros");
    let args = [robust, &["--image", &image, "--buffer", "0.1=zeros:4"]].concat();
    let [before, after] = [before, after].map(|body| module(format, dim, body));
    check(&args, &before, &after).verdict
}

const PLANE: (&str, &str) = ("Rgba32ui", "2D");
const RED: (&str, &str) = ("R32ui", "2D");
const BUFFER: (&str, &str) = ("Rgba32ui", "Buffer");

#[test]
fn without_robust_access_a_texel_outside_is_undefined() {
    assert_eq!(verdict(&[], PLANE, READ, "OpStore %to %threes"), Verdict::Refines);
}

#[test]
fn a_texel_outside_is_zero_with_an_alpha_that_depends_on_the_format_in_the_second_version() {
    let opaque = [Verdict::Refines, Verdict::Violates];
    let [refines, violates] = opaque;
    assert_eq!(verdict(&ROBUST2, PLANE, READ, "OpStore %to %zeros"), refines);
    assert_eq!(verdict(&ROBUST2, PLANE, READ, "OpStore %to %opaque"), violates);
    assert_eq!(verdict(&ROBUST2, RED, READ, "OpStore %to %opaque"), refines);
    assert_eq!(verdict(&ROBUST2, RED, READ, "OpStore %to %zeros"), violates);
    for format in [PLANE, RED] {
        assert_eq!(verdict(&ROBUST, format, READ, "OpStore %to %zeros"), refines);
        assert_eq!(verdict(&ROBUST, format, READ, "OpStore %to %opaque"), refines);
        assert_eq!(verdict(&ROBUST, format, "OpStore %to %zeros", READ), violates);
        assert_eq!(verdict(&ROBUST, format, READ, "OpStore %to %green"), violates);
        assert_eq!(verdict(&ROBUST2, format, READ, "OpStore %to %green"), violates);
    }
}

#[test]
fn a_write_of_a_texel_outside_is_lost() {
    let write = "OpImageWrite %handle COORDINATE %threes\nOpStore %to %threes";
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, PLANE, write, "OpStore %to %threes"), Verdict::Refines);
        assert_eq!(verdict(&robust, PLANE, "OpStore %to %threes", write), Verdict::Refines);
    }
}

#[test]
fn a_texel_buffer_is_a_buffer() {
    let write = "OpImageWrite %handle COORDINATE %threes\nOpStore %to %threes";
    assert_eq!(verdict(&ROBUST, BUFFER, "OpStore %to %threes", write), Verdict::Violates);
    assert_eq!(verdict(&ROBUST2, BUFFER, "OpStore %to %threes", write), Verdict::Refines);
    assert_eq!(
        verdict(&ROBUST, BUFFER, write, "OpImageWrite %handle %zero %threes\nOpStore %to %threes"),
        Verdict::Refines
    );
    assert_eq!(verdict(&ROBUST, BUFFER, READ, "OpStore %to %threes"), Verdict::Refines);
    assert_eq!(verdict(&ROBUST2, BUFFER, READ, "OpStore %to %threes"), Verdict::Violates);
    assert_eq!(verdict(&ROBUST2, BUFFER, READ, "OpStore %to %zeros"), Verdict::Refines);
}

#[test]
fn an_atomic_on_a_texel_outside_is_lost_but_of_a_texel_buffer() {
    let red = ("R32ui", "Buffer");
    let atomic = "%texel = OpImageTexelPointer %p_texel %image COORDINATE %zero
        %old = OpAtomicIAdd %uint %texel %one %zero %one
        OpStore %to %threes";
    assert_eq!(verdict(&ROBUST, red, "OpStore %to %threes", atomic), Verdict::Violates);
    assert_eq!(verdict(&ROBUST2, red, "OpStore %to %threes", atomic), Verdict::Refines);
    assert_eq!(verdict(&ROBUST, RED, "OpStore %to %threes", atomic), Verdict::Refines);
    assert_eq!(verdict(&ROBUST, RED, atomic, "OpStore %to %threes"), Verdict::Refines);
}

#[test]
fn reads_beside_one_outside_of_a_texel_buffer_may_count_as_outside() {
    let beside = "%far = OpImageRead %uint4 %handle COORDINATE
        %texel = OpImageRead %uint4 %handle %three
        OpStore %to %texel";
    for (robust, expected) in [(ROBUST, Verdict::Refines), (ROBUST2, Verdict::Violates)] {
        assert_eq!(verdict(&robust, BUFFER, beside, "OpStore %to %threes"), expected);
    }
}

#[test]
fn an_image_refines_itself_whatever_is_outside() {
    for format in [PLANE, RED, BUFFER] {
        for robust in [ROBUST, ROBUST2] {
            let after = READ.replace("%texel", "%read");
            assert_eq!(verdict(&robust, format, READ, &after), Verdict::Refines, "{format:?} {robust:?}");
        }
    }
}
