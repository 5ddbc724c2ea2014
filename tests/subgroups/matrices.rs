//! Modules with cooperative matrices and tensors, on one workgroup of four invocations: matrices of 4 × 4 and
//! other integers. The source holds at each word its number.

use spirv_tv::check::{check, Watch};
use spirv_tv::event::UndefinedKind;

use crate::{explored, options_of, parsed, words};

/// Who holds the matrices.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Whose {
    Subgroup,
    Workgroup,
}

/// What a module has beside its code.
#[derive(Clone, Copy, Default)]
pub(super) struct Extra<'e> {
    pub(super) types: &'e str,
    pub(super) functions: &'e str,
}

/// A module whose code may use `%source` (binding 1), `%target` (binding 0) and matrices `%M` of 4 × 4.
pub(super) fn text(whose: Whose, extra: Extra<'_>, body: &str) -> String {
    let scope = match whose {
        Whose::Subgroup => "%u3",
        Whose::Workgroup => "%u2",
    };
    let Extra { types, functions } = extra;
    format!(
        "OpCapability Shader
OpCapability Int8
OpCapability Int16
OpCapability Float16
OpCapability StorageBuffer16BitAccess
OpCapability VulkanMemoryModel
OpCapability PhysicalStorageBufferAddresses
OpCapability CooperativeMatrixKHR
OpCapability TensorAddressingNV
OpCapability CooperativeMatrixTensorAddressingNV
OpCapability CooperativeMatrixBlockLoadsNV
OpCapability CooperativeMatrixPerElementOperationsNV
OpCapability CooperativeMatrixReductionsNV
OpCapability CooperativeMatrixConversionsNV
OpExtension \"SPV_KHR_cooperative_matrix\"
OpExtension \"SPV_NV_tensor_addressing\"
OpExtension \"SPV_NV_cooperative_matrix2\"
OpMemoryModel PhysicalStorageBuffer64 Vulkan
OpEntryPoint GLCompute %main \"main\" %local_index %data %given
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %local_index BuiltIn LocalInvocationIndex
OpDecorate %array ArrayStride 4
OpDecorate %Data Block
OpMemberDecorate %Data 0 Offset 0
OpDecorate %Quad Block
OpMemberDecorate %Quad 0 Offset 0
OpMemberDecorate %Quad 1 Offset 4
OpDecorate %three ArrayStride 4
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 0
OpDecorate %given DescriptorSet 0
OpDecorate %given Binding 1
%void = OpTypeVoid
%void_fn = OpTypeFunction %void
%bool = OpTypeBool
%char = OpTypeInt 8 1
%short = OpTypeInt 16 1
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%true = OpConstantTrue %bool
%false = OpConstantFalse %bool
%m1 = OpConstant %int -1
%m2 = OpConstant %int -2
%i0 = OpConstant %int 0
%i1 = OpConstant %int 1
%i2 = OpConstant %int 2
%i4 = OpConstant %int 4
%i100 = OpConstant %int 100
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%u3 = OpConstant %uint 3
%u4 = OpConstant %uint 4
%u5 = OpConstant %uint 5
%u6 = OpConstant %uint 6
%u8 = OpConstant %uint 8
%u16 = OpConstant %uint 16
%f_third = OpConstant %float 0.3
%row_major = OpConstant %uint 0
%column_major = OpConstant %uint 1
%M = OpTypeCooperativeMatrixKHR %int {scope} %u4 %u4 %u2
%A = OpTypeCooperativeMatrixKHR %int {scope} %u4 %u4 %u0
%B = OpTypeCooperativeMatrixKHR %int {scope} %u4 %u4 %u1
%M2x2 = OpTypeCooperativeMatrixKHR %int {scope} %u2 %u2 %u2
%M2x4 = OpTypeCooperativeMatrixKHR %int {scope} %u2 %u4 %u2
%M4x2 = OpTypeCooperativeMatrixKHR %int {scope} %u4 %u2 %u2
%M4x1 = OpTypeCooperativeMatrixKHR %int {scope} %u4 %u1 %u2
%B4x2 = OpTypeCooperativeMatrixKHR %int {scope} %u4 %u2 %u1
%M1x2 = OpTypeCooperativeMatrixKHR %int {scope} %u1 %u2 %u2
%M3x2 = OpTypeCooperativeMatrixKHR %int {scope} %u3 %u2 %u2
%F = OpTypeCooperativeMatrixKHR %float {scope} %u4 %u4 %u2
%H = OpTypeCooperativeMatrixKHR %half {scope} %u4 %u4 %u2
%S = OpTypeCooperativeMatrixKHR %short {scope} %u4 %u4 %u2
%C = OpTypeCooperativeMatrixKHR %char {scope} %u4 %u4 %u2
%zeros = OpConstantNull %M
%hundreds = OpConstantComposite %M %i100
%thirds = OpConstantComposite %F %f_third
%array = OpTypeRuntimeArray %int
%Data = OpTypeStruct %array
%ptr_Data = OpTypePointer StorageBuffer %Data
%ptr_int = OpTypePointer StorageBuffer %int
%ptr_in = OpTypePointer Input %uint
%ptr_M = OpTypePointer Function %M
%ptr_own = OpTypePointer Function %int
%pair = OpTypeArray %uint %u2
%three = OpTypeArray %int %u3
%Quad = OpTypeStruct %int %three
%ptr_Quad = OpTypePointer PhysicalStorageBuffer %Quad
%ptr_part = OpTypePointer PhysicalStorageBuffer %int
%decode_fn = OpTypeFunction %int %ptr_Quad %pair %pair
%element_fn = OpTypeFunction %int %uint %uint %int
%element_two_fn = OpTypeFunction %int %uint %uint %int %int %int
%combine_fn = OpTypeFunction %int %int %int
%combine_float_fn = OpTypeFunction %float %float %float
%Layout = OpTypeTensorLayoutNV %u2 %u0
{types}
%local_index = OpVariable %ptr_in Input
%data = OpVariable %ptr_Data StorageBuffer
%given = OpVariable %ptr_Data StorageBuffer
{functions}
%main = OpFunction %void None %void_fn
%entry = OpLabel
%own_matrix = OpVariable %ptr_M Function
%i = OpLoad %uint %local_index
%source = OpAccessChain %ptr_int %given %u0 %u0
%second = OpAccessChain %ptr_int %given %u0 %u16
%askew = OpAccessChain %ptr_int %given %u0 %u1
%target = OpAccessChain %ptr_int %data %u0 %u0
%layout = OpCreateTensorLayoutNV %Layout
{body}
OpReturn
OpFunctionEnd"
    )
}

pub(super) fn args() -> Vec<String> {
    let numbers: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let given = format!("0.1=words:{}", numbers.join(","));
    ["--subgroup-size", "4", "--buffer", "0.0=zeros:20", "--buffer", &given].map(str::to_owned).into()
}

/// The words of the target, the same whoever loads and stores the components.
pub(super) fn run_for(whose: Whose, extra: Extra<'_>, body: &str) -> Vec<i32> {
    let (text, args) = (text(whose, extra, body), args());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let found = words(&explored(&text, &args));
    assert_eq!(found.len(), 1, "{found:?}");
    let module = parsed(&text, &args);
    let report = check(&module, &module, &options_of(&args), &Watch::default()).unwrap();
    for run in &report.runs {
        assert_eq!(words(&run.before.behaviours), found, "{}", run.input.name);
    }
    assert_eq!(report.runs.len(), 2, "the second run displaces the accesses");
    let numbers = found[0].iter().map(|word| word.map(|word| word as i32));
    numbers.collect::<Option<Vec<i32>>>().expect("defined results")
}

/// The first words of the target.
pub(super) fn run_with(extra: Extra<'_>, body: &str) -> Vec<i32> {
    let [subgroup, workgroup] = [Whose::Subgroup, Whose::Workgroup].map(|whose| run_for(whose, extra, body));
    assert_eq!(subgroup, workgroup);
    workgroup
}

pub(super) fn faults(extra: Extra<'_>, body: &str) -> Vec<UndefinedKind> {
    let kinds = [Whose::Subgroup, Whose::Workgroup].map(|whose| {
        let args = args();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let found = explored(&text(whose, extra, body), &args);
        found.undefined.iter().map(|(undefined, _)| undefined.kind).collect::<Vec<UndefinedKind>>()
    });
    assert_eq!(kinds[0], kinds[1]);
    kinds[1].clone()
}

pub(super) const STORE: &str = "\nOpCooperativeMatrixStoreKHR %target %r %row_major %u4";
pub(super) const LOAD: &str = "%c = OpCooperativeMatrixLoadKHR %M %source %row_major %u4\n";

/// The 4 × 4 matrix that is loaded from an 8 × 8 tensor with a layout of this type.
pub(super) fn loaded(types: &str, layout: &str, operands: &str) -> Vec<i32> {
    let body = format!(
        "{LOAD}{layout}\n%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None {operands}{STORE}"
    );
    run_with(Extra { types, ..Extra::default() }, &body)[..16].to_vec()
}

/// A slice of the 8 × 8 tensor, of a layout type.
pub(super) fn sliced(ty: &str, numbers: &str) -> String {
    format!(
        "%l0 = OpCreateTensorLayoutNV {ty}
%l1 = OpTensorLayoutSetDimensionNV {ty} %l0 %u8 %u8
%l2 = OpTensorLayoutSetClampValueNV {ty} %l1 %i100
%l = OpTensorLayoutSliceNV {ty} %l2 {numbers}"
    )
}

pub(super) fn matrix(component: impl Fn(i32, i32) -> i32) -> Vec<i32> {
    (0..16).map(|at| component(at / 4, at % 4)).collect()
}
