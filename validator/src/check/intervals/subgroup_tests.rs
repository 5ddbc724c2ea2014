//! Tests of operations of a subgroup on floats that an implementation may compute otherwise.

use super::tests::{judged_as, Judged};
use super::Judgement;

/// Two subgroups of four. Each invocation brings `%part`, a third of its number and a bit more, and stores
/// `%result`. Sums and products of these have other bits in another order.
fn module(body: &str) -> String {
    format!(
        r#"OpCapability Shader
OpCapability GroupNonUniform
OpCapability GroupNonUniformVote
OpCapability GroupNonUniformArithmetic
OpCapability GroupNonUniformShuffle
OpCapability GroupNonUniformShuffleRelative
OpCapability GroupNonUniformBallot
OpCapability VulkanMemoryModel
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %buffer %SubgroupLocalInvocationId %LocalInvocationIndex
OpExecutionMode %main LocalSize 8 1 1
OpDecorate %SubgroupLocalInvocationId BuiltIn SubgroupLocalInvocationId
OpDecorate %LocalInvocationIndex BuiltIn LocalInvocationIndex
OpDecorate %array ArrayStride 4
OpDecorate %Block Block
OpMemberDecorate %Block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%function = OpTypeFunction %void
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%subgroup = OpConstant %uint 3
%u8 = OpConstant %uint 8
%zero = OpConstant %float 0
%one = OpConstant %float 1
%two = OpConstant %float 2
%three = OpConstant %float 3
%four = OpConstant %float 4
%uneven = OpConstant %float 0x1.333334p-1
%third = OpConstant %float 0x1.555556p-2
%array = OpTypeArray %float %u8
%Block = OpTypeStruct %array
%pointer_block = OpTypePointer StorageBuffer %Block
%pointer_float = OpTypePointer StorageBuffer %float
%pointer_uint = OpTypePointer Input %uint
%buffer = OpVariable %pointer_block StorageBuffer
%SubgroupLocalInvocationId = OpVariable %pointer_uint Input
%LocalInvocationIndex = OpVariable %pointer_uint Input
%main = OpFunction %void None %function
%entry = OpLabel
%lane = OpLoad %uint %SubgroupLocalInvocationId
%number = OpConvertUToF %float %lane
%shifted = OpFAdd %float %number %uneven
%part = OpFDiv %float %shifted %three
{body}
%index = OpLoad %uint %LocalInvocationIndex
%place = OpAccessChain %pointer_float %buffer %u0 %index
OpStore %place %result
OpReturn
OpFunctionEnd
"#
    )
}

fn judge(bodies: [&str; 2]) -> &'static str {
    match judged_as(bodies.map(|body| Judged::of(&module(body))), |_, _| {}) {
        Judgement::Permitted => "permitted",
        Judgement::Violates(_) => "violates",
        Judgement::Unknown(_) => "unknown",
    }
}

fn group(operation: &str, how: &str, value: &str) -> String {
    format!("%result = OpGroupNonUniform{operation} %float %subgroup {how} {value}")
}

/// Adds what the others bring in another order.
const ADDED_IN_PAIRS: &str = "%across = OpGroupNonUniformShuffleXor %float %subgroup %part %u2
%pair = OpFAdd %float %across %part
%beside = OpGroupNonUniformShuffleXor %float %subgroup %pair %u1
%result = OpFAdd %float %beside %pair";

#[test]
fn a_sum_is_that_of_any_order() {
    let sum = group("FAdd", "Reduce", "%part");
    assert_eq!(judge([&sum, ADDED_IN_PAIRS]), "permitted");
    // Another invocation's part is missing.
    assert_eq!(judge([&sum, &ADDED_IN_PAIRS.replace("%part %u2", "%part %u1")]), "violates");
    assert_eq!(judge([&sum, &group("FAdd", "ExclusiveScan", "%part")]), "violates");
    assert_eq!(judge([&sum, &group("FMax", "Reduce", "%part")]), "violates");
}

#[test]
fn a_product_is_that_of_any_order() {
    let product = group("FMul", "Reduce", "%part");
    let in_order = |last: &str| {
        format!(
            "%a = OpGroupNonUniformBroadcast %float %subgroup %part %u0
%b = OpGroupNonUniformBroadcast %float %subgroup %part %u1
%c = OpGroupNonUniformBroadcast %float %subgroup %part %u2
%d = OpGroupNonUniformBroadcast %float %subgroup %part %subgroup
%c_d = OpFMul %float %c %d
%b_c_d = OpFMul %float %c_d {last}
%result = OpFMul %float %b_c_d %a"
        )
    };
    assert_eq!(judge([&product, &in_order("%b")]), "permitted");
    assert_eq!(judge([&product, &in_order("%c")]), "violates");
}

#[test]
fn a_scan_takes_what_is_before() {
    let of = |operation: &str| group("FAdd", operation, "%part");
    let inclusive = of("ExclusiveScan").replace("%result", "%before")
        + "\n%more = OpFAdd %float %before %three\n%sum = OpFAdd %float %more %part
%result = OpFSub %float %sum %three";
    assert_eq!(judge([&of("InclusiveScan"), &inclusive]), "permitted");
    assert_eq!(judge([&of("InclusiveScan"), &of("ExclusiveScan")]), "violates");
}

#[test]
fn the_least_and_the_greatest_of_floats() {
    let before = format!("%more = OpFAdd %float %part %one\n{}", group("FMin", "Reduce", "%more"));
    let after = group("FMin", "Reduce", "%part").replace("%result", "%first")
        + "\n%large = OpFAdd %float %first %four\n%result = OpFSub %float %large %three";
    assert_eq!(judge([&before, &after]), "permitted");
    assert_eq!(judge([&before, &after.replace("FMin", "FMax")]), "violates");
    assert_eq!(judge([&before, &after.replace("%large %three", "%large %two")]), "violates");
}

#[test]
fn what_moves_keeps_its_interval() {
    let shuffled =
        |mask: &str| format!("%result = OpGroupNonUniformShuffleXor %float %subgroup %part {mask}");
    // Subgroups are as large where one is mentioned.
    let computed = "%unused = OpGroupNonUniformBroadcastFirst %float %subgroup %number
%other = OpBitwiseXor %uint %lane %u1
%converted = OpConvertUToF %float %other
%moved = OpFAdd %float %converted %uneven
%result = OpFMul %float %moved %third";
    let first = "%result = OpGroupNonUniformBroadcastFirst %float %subgroup %part";
    assert_eq!(judge([&shuffled("%u1"), computed]), "permitted");
    assert_eq!(judge([&shuffled("%u1"), &shuffled("%u2")]), "violates");
    assert_eq!(judge([&shuffled("%u1"), first]), "violates");
}

#[test]
fn a_vote_on_floats_that_may_be_others_may_go_either_way() {
    // A third times three is 1, or a bit less.
    let voted = "%divided = OpFDiv %float %one %three
%back = OpFMul %float %divided %three
%less = OpFOrdLessThan %bool %back %one
%any = OpGroupNonUniformAny %bool %subgroup %less
%result = OpSelect %float %any %two %three";
    assert_eq!(judge([voted, "%result = OpFSub %float %four %two"]), "unknown");
    // A number is what it is.
    let exact = voted.replace("%back %one", "%number %zero");
    assert_eq!(judge([&exact, "%result = OpFSub %float %four %two"]), "violates");
}
