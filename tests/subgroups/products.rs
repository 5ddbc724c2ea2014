//! A product of matrices as ggml's `mul_mm_cm2.comp` computes it: matrices of Workgroup scope, quantised blocks that
//! a function decodes, clamped edges, a transposed result. Written by hand: the installed glslang does not know
//! GL_NV_cooperative_matrix2.

use spirv_tv::check::{check, Watch};
use spirv_tv::compare::Verdict;

use crate::{explored, options_of, parsed, words};

/// Rows, columns and depth of the product; tiles are 16 × 16 × 32.
const M: usize = 15;
const N: usize = 13;
const K: usize = 64;

/// With an instruction for the store of the result.
fn text(store: &str) -> String {
    format!(
        "OpCapability Shader
OpCapability Int8
OpCapability Float16
OpCapability StorageBuffer8BitAccess
OpCapability StorageBuffer16BitAccess
OpCapability VulkanMemoryModel
OpCapability PhysicalStorageBufferAddresses
OpCapability CooperativeMatrixKHR
OpCapability TensorAddressingNV
OpCapability CooperativeMatrixTensorAddressingNV
OpCapability CooperativeMatrixBlockLoadsNV
OpExtension \"SPV_KHR_cooperative_matrix\"
OpExtension \"SPV_NV_tensor_addressing\"
OpExtension \"SPV_NV_cooperative_matrix2\"
OpMemoryModel PhysicalStorageBuffer64 Vulkan
OpEntryPoint GLCompute %main \"main\" %a %b %d
OpExecutionModeId %main LocalSizeId %block_size %u1 %u1
OpDecorate %block_size SpecId 0
OpDecorate %bm SpecId 1
OpDecorate %bytes ArrayStride 1
OpDecorate %halves ArrayStride 2
OpDecorate %floats ArrayStride 4
OpDecorate %nibbles ArrayStride 1
OpDecorate %A Block
OpMemberDecorate %A 0 Offset 0
OpDecorate %B Block
OpMemberDecorate %B 0 Offset 0
OpDecorate %D Block
OpMemberDecorate %D 0 Offset 0
OpDecorate %Quant Block
OpMemberDecorate %Quant 0 Offset 0
OpMemberDecorate %Quant 1 Offset 2
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 1
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 2
OpDecorate %d DescriptorSet 0
OpDecorate %d Binding 0
%void = OpTypeVoid
%void_fn = OpTypeFunction %void
%bool = OpTypeBool
%false = OpConstantFalse %bool
%byte = OpTypeInt 8 0
%uint = OpTypeInt 32 0
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%half_8 = OpConstant %half 8
%float_0 = OpConstant %float 0
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%u4 = OpConstant %uint 4
%u15 = OpConstant %uint 15
%u16 = OpConstant %uint 16
%u32 = OpConstant %uint 32
%m = OpConstant %uint {M}
%n = OpConstant %uint {N}
%k = OpConstant %uint {K}
%block_size = OpSpecConstant %uint 8
%bm = OpSpecConstant %uint 16
%MatA = OpTypeCooperativeMatrixKHR %half %u2 %bm %u32 %u0
%MatB = OpTypeCooperativeMatrixKHR %half %u2 %u32 %u16 %u1
%Sum = OpTypeCooperativeMatrixKHR %float %u2 %bm %u16 %u2
%none_a = OpConstantNull %MatA
%none_b = OpConstantNull %MatB
%zeros = OpConstantComposite %Sum %float_0
%Layout = OpTypeTensorLayoutNV %u2 %u1
%Transpose = OpTypeTensorViewNV %u2 %false %u1 %u0
%bytes = OpTypeRuntimeArray %byte
%halves = OpTypeRuntimeArray %half
%floats = OpTypeRuntimeArray %float
%nibbles = OpTypeArray %byte %u16
%A = OpTypeStruct %bytes
%B = OpTypeStruct %halves
%D = OpTypeStruct %floats
%Quant = OpTypeStruct %half %nibbles
%ptr_A = OpTypePointer StorageBuffer %A
%ptr_B = OpTypePointer StorageBuffer %B
%ptr_D = OpTypePointer StorageBuffer %D
%ptr_byte = OpTypePointer StorageBuffer %byte
%ptr_half = OpTypePointer StorageBuffer %half
%ptr_float = OpTypePointer StorageBuffer %float
%ptr_Quant = OpTypePointer PhysicalStorageBuffer %Quant
%ptr_scale = OpTypePointer PhysicalStorageBuffer %half
%ptr_nibble = OpTypePointer PhysicalStorageBuffer %byte
%pair = OpTypeArray %uint %u2
%decode_fn = OpTypeFunction %half %ptr_Quant %pair %pair
%a = OpVariable %ptr_A StorageBuffer
%b = OpVariable %ptr_B StorageBuffer
%d = OpVariable %ptr_D StorageBuffer
%decode = OpFunction %half None %decode_fn
%block = OpFunctionParameter %ptr_Quant
%place = OpFunctionParameter %pair
%within = OpFunctionParameter %pair
%decode_entry = OpLabel
%scale_at = OpAccessChain %ptr_scale %block %u0
%scale = OpLoad %half %scale_at Aligned 2
%index = OpCompositeExtract %uint %within 1
%low = OpBitwiseAnd %uint %index %u15
%nibble_at = OpAccessChain %ptr_nibble %block %u1 %low
%packed = OpLoad %byte %nibble_at Aligned 1
%wide = OpUConvert %uint %packed
%upper = OpBitwiseAnd %uint %index %u16
%shift = OpShiftRightLogical %uint %upper %u2
%shifted = OpShiftRightLogical %uint %wide %shift
%quant = OpBitwiseAnd %uint %shifted %u15
%number = OpConvertUToF %half %quant
%centred = OpFSub %half %number %half_8
%scaled = OpFMul %half %centred %scale
OpReturnValue %scaled
OpFunctionEnd
%main = OpFunction %void None %void_fn
%entry = OpLabel
%from_a = OpAccessChain %ptr_byte %a %u0 %u0
%from_b = OpAccessChain %ptr_half %b %u0 %u0
%to_d = OpAccessChain %ptr_float %d %u0 %u0
%created = OpCreateTensorLayoutNV %Layout
%blocks_of_a = OpTensorLayoutSetBlockSizeNV %Layout %created %u1 %u32
%size_of_a = OpTensorLayoutSetDimensionNV %Layout %blocks_of_a %m %k
%layout_a = OpTensorLayoutSetStrideNV %Layout %size_of_a %u2 %u1
%layout_b = OpTensorLayoutSetDimensionNV %Layout %created %n %k
%size_of_d = OpTensorLayoutSetDimensionNV %Layout %created %n %m
%layout_d = OpTensorLayoutSetStrideNV %Layout %size_of_d %u16 %u1
%transposed = OpCreateTensorViewNV %Transpose
OpBranch %head
%head = OpLabel
%block_k = OpPhi %uint %u0 %entry %next_k %continue
%sum = OpPhi %Sum %zeros %entry %next_sum %continue
%more = OpULessThan %bool %block_k %k
OpLoopMerge %done %continue None
OpBranchConditional %more %body %done
%body = OpLabel
%slice_a = OpTensorLayoutSliceNV %Layout %layout_a %u0 %bm %block_k %u32
%mat_a = OpCooperativeMatrixLoadTensorNV %MatA %from_a %none_a %slice_a None DecodeFunc %decode
%slice_b = OpTensorLayoutSliceNV %Layout %layout_b %u0 %u16 %block_k %u32
%mat_b = OpCooperativeMatrixLoadTensorNV %MatB %from_b %none_b %slice_b None TensorView %transposed
%next_sum = OpCooperativeMatrixMulAddKHR %Sum %mat_a %mat_b %sum
OpBranch %continue
%continue = OpLabel
%next_k = OpIAdd %uint %block_k %u32
OpBranch %head
%done = OpLabel
%slice_d = OpTensorLayoutSliceNV %Layout %layout_d %u0 %u16 %u0 %bm
{store}
OpReturn
OpFunctionEnd"
    )
}

const STORE: &str = "OpCooperativeMatrixStoreTensorNV %to_d %sum %slice_d None TensorView %transposed";

/// The quantised numbers of the first matrix, -8 to 7, and those of the second.
fn operands() -> (Vec<Vec<i32>>, Vec<Vec<i32>>) {
    let a = (0..M).map(|row| (0..K).map(|at| ((row * 7 + at * 3) % 16) as i32 - 8).collect()).collect();
    let b = (0..N).map(|column| (0..K).map(|at| ((column * 5 + at) % 4) as i32).collect()).collect();
    (a, b)
}

fn buffer(binding: u32, mut bytes: Vec<u8>) -> String {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let words = bytes.chunks(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let words: Vec<String> = words.map(|word| word.to_string()).collect();
    format!("0.{binding}=words:{}", words.join(","))
}

/// Blocks of 32 numbers: a scale of 1, or 2 in each second one, and the low halves of 16 bytes before the high ones.
fn arguments() -> Vec<String> {
    let (a, b) = operands();
    let mut blocks = Vec::new();
    for row in &a {
        for (number, block) in row.chunks(32).enumerate() {
            blocks.extend(if number % 2 == 0 { 0x3c00_u16 } else { 0x4000 }.to_le_bytes());
            blocks.extend((0..16).map(|at| (block[at] + 8) as u8 | ((block[at + 16] + 8) as u8) << 4));
        }
    }
    let half = |number: &i32| [0_u16, 0x3c00, 0x4000, 0x4200][*number as usize].to_le_bytes();
    let halves = b.iter().flatten().flat_map(half).collect();
    let buffers = [format!("0.0=zeros:{}", N * 16), buffer(1, blocks), buffer(2, halves)];
    buffers.into_iter().flat_map(|buffer| ["--buffer".to_owned(), buffer]).collect()
}

#[test]
fn quantised_matrices_are_multiplied_at_workgroup_scope() {
    let args = arguments();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let found = words(&explored(&text(STORE), &args));
    let (a, b) = operands();
    let scale = |at: usize| if (at / 32).is_multiple_of(2) { 1 } else { 2 };
    let sum =
        |row: usize, column: usize| (0..K).map(|at| scale(at) * a[row][at] * b[column][at]).sum::<i32>();
    let expected = (0..N * 16).map(|at| match at % 16 {
        row if row < M => Some((sum(row, at / 16) as f32).to_bits()),
        _ => Some(0),
    });
    assert_eq!(found, [expected.collect::<Vec<Option<u32>>>()]);
}

#[test]
fn a_result_that_is_not_transposed_is_a_violation() {
    let args = arguments();
    // The environment leaves the signs of zeros open.
    let args: Vec<&str> = args.iter().map(String::as_str).chain(["--float", "exact"]).collect();
    let verdict = |after: &str| {
        let [before, after] = [STORE, after].map(|store| parsed(&text(store), &args));
        check(&before, &after, &options_of(&args), &Watch::default()).unwrap().verdict
    };
    assert_eq!(verdict(STORE), Verdict::Refines);
    let straight = STORE.replace("TensorView %transposed", "None");
    assert_eq!(verdict(&straight), Verdict::Violates);
}
