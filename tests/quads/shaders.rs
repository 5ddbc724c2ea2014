//! Fragment shaders as text.

/// A shader with a float `%a` (Location 1), a vec2 `%uv` (Location 0), a sampled image `%image` (0.0) and a buffer of
/// words `%buffer` (0.1); `body` leaves the float `%r`, which is the output at Location 0.
pub fn shader(body: &str) -> String {
    let store = "OpStore %out %r\n";
    whole(&format!("{body}\n{store}"), "OpReturn")
}

/// The same with a body that stores by itself, and another end.
pub fn whole(body: &str, end: &str) -> String {
    format!(
        "OpCapability Shader
OpCapability DerivativeControl
OpCapability ImageQuery
OpCapability GroupNonUniformQuad
OpCapability GroupNonUniformVote
OpCapability DemoteToHelperInvocation
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpMemoryModel Logical Vulkan
OpEntryPoint Fragment %main \"main\" %uv %a %coord %helper %out %image %buffer
OpExecutionMode %main OriginUpperLeft
OpDecorate %uv Location 0
OpDecorate %a Location 1
OpDecorate %coord BuiltIn FragCoord
OpDecorate %helper BuiltIn HelperInvocation
OpDecorate %out Location 0
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 0
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 1
%void = OpTypeVoid
%nothing = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%vec4 = OpTypeVector %float 4
%f0 = OpConstant %float 0
%f1 = OpConstant %float 1
%f2 = OpConstant %float 2
%half = OpConstant %float 0.5
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u3 = OpConstant %uint 3
%device = OpConstant %uint 1
%texture = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %texture
%p_sampled = OpTypePointer UniformConstant %sampled
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%p_block = OpTypePointer StorageBuffer %block
%p_word = OpTypePointer StorageBuffer %uint
%p_vec2 = OpTypePointer Input %vec2
%p_vec4 = OpTypePointer Input %vec4
%p_in = OpTypePointer Input %float
%p_bool = OpTypePointer Input %bool
%p_out = OpTypePointer Output %float
%image = OpVariable %p_sampled UniformConstant
%buffer = OpVariable %p_block StorageBuffer
%uv = OpVariable %p_vec2 Input
%a = OpVariable %p_in Input
%coord = OpVariable %p_vec4 Input
%helper = OpVariable %p_bool Input
%out = OpVariable %p_out Output
%main = OpFunction %void None %nothing
%entry = OpLabel
%x = OpLoad %float %a
%at = OpLoad %vec2 %uv
%i = OpLoad %sampled %image
{body}
{end}
OpFunctionEnd
"
    )
}

/// A branch on `%x` below a half: what one side does.
pub fn branch(then: &str) -> String {
    format!(
        "%below = OpFOrdLessThan %bool %x %half
OpSelectionMerge %merge None
OpBranchConditional %below %then %merge
%then = OpLabel
{then}
%merge = OpLabel"
    )
}
