//! Compute modules whose invocations each write one word of the buffer `0.0`.

/// What a module is made of.
#[derive(Clone, Debug)]
pub struct Program {
    /// Invocations of the only workgroup.
    pub local: u32,
    /// Invocations of a subgroup.
    pub size: u32,
    /// Code that runs before `%result`, a %uint, is stored.
    pub body: String,
    /// Functions behind the entry point.
    pub functions: String,
    pub maximal: bool,
}

impl Program {
    /// Eight invocations in subgroups of four.
    pub fn new(body: &str) -> Self {
        let body = body.to_owned();
        Program { local: 8, size: 4, body, functions: String::new(), maximal: false }
    }

    /// A body that leaves `%v`, of this type, whose bits are stored.
    pub fn of_type(ty: &str, body: &str) -> Self {
        let store = match ty {
            "bool" => "%result = OpSelect %uint %v %u1 %u0",
            "uint" => "%result = OpCopyObject %uint %v",
            "int" | "float" => "%result = OpBitcast %uint %v",
            "char" | "short" => "%result = OpSConvert %uint %v",
            "half" => "%bits = OpBitcast %ushort %v\n%result = OpUConvert %uint %bits",
            "long" => "%result = OpUConvert %uint %v",
            "double" => "%single = OpFConvert %float %v\n%result = OpBitcast %uint %single",
            other => panic!("{other}"),
        };
        Program::new(&format!("{body}\n{store}"))
    }

    pub fn sized(self, local: u32, size: u32) -> Self {
        Program { local, size, ..self }
    }

    pub fn maximal(self) -> Self {
        Program { maximal: true, ..self }
    }

    /// The module's text.
    pub fn text(&self) -> String {
        let Program { local, body, functions, maximal, .. } = self;
        let (extension, mode) = match maximal {
            true => (
                "OpExtension \"SPV_KHR_maximal_reconvergence\"",
                "OpExecutionMode %main MaximallyReconvergesKHR",
            ),
            false => ("", ""),
        };
        format!(
            "{CAPABILITIES}
{extension}
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %local_index %lane_id %size_id %number_id %count_id \
             %eq_mask %ge_mask %gt_mask %le_mask %lt_mask %data %flags %scratch
OpExecutionMode %main LocalSize {local} 1 1
{mode}
{DECLARATIONS}
%main = OpFunction %void None %void_fn
%entry = OpLabel
%i = OpLoad %uint %local_index
%lane = OpLoad %uint %lane_id
%slot = OpAccessChain %ptr_uint %data %u0 %i
{body}
OpStore %slot %result
OpReturn
OpFunctionEnd
{functions}"
        )
    }
}

const CAPABILITIES: &str = "OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability Int8
OpCapability Int16
OpCapability Int64
OpCapability Float16
OpCapability Float64
OpCapability GroupNonUniform
OpCapability GroupNonUniformVote
OpCapability GroupNonUniformBallot
OpCapability GroupNonUniformShuffle
OpCapability GroupNonUniformShuffleRelative
OpCapability GroupNonUniformArithmetic
OpCapability GroupNonUniformClustered
OpCapability GroupNonUniformQuad
OpCapability GroupNonUniformRotateKHR
OpCapability GroupNonUniformPartitionedNV
OpCapability SubgroupBallotKHR
OpCapability SubgroupVoteKHR
OpCapability QuadControlKHR
OpExtension \"SPV_KHR_subgroup_rotate\"
OpExtension \"SPV_KHR_shader_ballot\"
OpExtension \"SPV_KHR_subgroup_vote\"
OpExtension \"SPV_KHR_quad_control\"
OpExtension \"SPV_NV_shader_subgroup_partitioned\"";

const DECLARATIONS: &str = "OpDecorate %local_index BuiltIn LocalInvocationIndex
OpDecorate %lane_id BuiltIn SubgroupLocalInvocationId
OpDecorate %size_id BuiltIn SubgroupSize
OpDecorate %number_id BuiltIn SubgroupId
OpDecorate %count_id BuiltIn NumSubgroups
OpDecorate %eq_mask BuiltIn SubgroupEqMask
OpDecorate %ge_mask BuiltIn SubgroupGeMask
OpDecorate %gt_mask BuiltIn SubgroupGtMask
OpDecorate %le_mask BuiltIn SubgroupLeMask
OpDecorate %lt_mask BuiltIn SubgroupLtMask
OpDecorate %array ArrayStride 4
OpDecorate %Data Block
OpMemberDecorate %Data 0 Offset 0
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 0
OpDecorate %Flags Block
OpMemberDecorate %Flags 0 Offset 0
OpMemberDecorate %Flags 1 Offset 4
OpDecorate %flags DescriptorSet 0
OpDecorate %flags Binding 1
%void = OpTypeVoid
%void_fn = OpTypeFunction %void
%bool = OpTypeBool
%bool2 = OpTypeVector %bool 2
%true = OpConstantTrue %bool
%false = OpConstantFalse %bool
%char = OpTypeInt 8 1
%short = OpTypeInt 16 1
%ushort = OpTypeInt 16 0
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%long = OpTypeInt 64 0
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%uint2 = OpTypeVector %uint 2
%uint4 = OpTypeVector %uint 4
%float2 = OpTypeVector %float 2
%fn_uint = OpTypeFunction %uint %uint
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%u3 = OpConstant %uint 3
%u4 = OpConstant %uint 4
%u5 = OpConstant %uint 5
%u7 = OpConstant %uint 7
%u8 = OpConstant %uint 8
%u9 = OpConstant %uint 9
%u99 = OpConstant %uint 99
%u0x0f0f = OpConstant %uint 0x0f0f
%ones = OpConstant %uint 0xffffffff
%f1 = OpConstant %float 1
%f1_5 = OpConstant %float 1.5
%f_third = OpConstant %float 0.3
%f_nan = OpConstant %float 0x1.8p+128
%f_negative_zero = OpConstant %float -0
%f_zero = OpConstant %float 0
%sg = OpConstant %uint 3
%wg = OpConstant %uint 2
%none = OpConstant %uint 0
%acq_rel_shared = OpConstant %uint 0x6108
%array = OpTypeRuntimeArray %uint
%Data = OpTypeStruct %array
%Flags = OpTypeStruct %uint %uint
%shared_array = OpTypeArray %uint %u8
%ptr_Data = OpTypePointer StorageBuffer %Data
%ptr_Flags = OpTypePointer StorageBuffer %Flags
%ptr_uint = OpTypePointer StorageBuffer %uint
%ptr_shared_array = OpTypePointer Workgroup %shared_array
%ptr_shared = OpTypePointer Workgroup %uint
%ptr_local = OpTypePointer Function %uint
%ptr_in = OpTypePointer Input %uint
%ptr_in4 = OpTypePointer Input %uint4
%local_index = OpVariable %ptr_in Input
%lane_id = OpVariable %ptr_in Input
%size_id = OpVariable %ptr_in Input
%number_id = OpVariable %ptr_in Input
%count_id = OpVariable %ptr_in Input
%eq_mask = OpVariable %ptr_in4 Input
%ge_mask = OpVariable %ptr_in4 Input
%gt_mask = OpVariable %ptr_in4 Input
%le_mask = OpVariable %ptr_in4 Input
%lt_mask = OpVariable %ptr_in4 Input
%data = OpVariable %ptr_Data StorageBuffer
%flags = OpVariable %ptr_Flags StorageBuffer
%scratch = OpVariable %ptr_shared_array Workgroup";
