//! Cooperative matrices (SPV_KHR_cooperative_matrix), on one subgroup of four: 4 × 4 matrices of which each
//! invocation holds four components.

use spirv_tv::event::UndefinedKind;

use crate::{explored, known, words};

/// A module whose code may use `%source` (an array of %int in binding 1, 0 to 31 at first) and must store to
/// `%target` (an array of %int in binding 0).
fn text(body: &str) -> String {
    format!(
        "OpCapability Shader
OpCapability Int8
OpCapability Int16
OpCapability Float16
OpCapability VulkanMemoryModel
OpCapability CooperativeMatrixKHR
OpCapability BFloat16TypeKHR
OpCapability BFloat16CooperativeMatrixKHR
OpExtension \"SPV_KHR_cooperative_matrix\"
OpExtension \"SPV_KHR_bfloat16\"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %local_index %data %given
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %local_index BuiltIn LocalInvocationIndex
OpDecorate %array ArrayStride 4
OpDecorate %Data Block
OpMemberDecorate %Data 0 Offset 0
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 0
OpDecorate %given DescriptorSet 0
OpDecorate %given Binding 1
%void = OpTypeVoid
%void_fn = OpTypeFunction %void
%bool = OpTypeBool
%char = OpTypeInt 8 1
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%bfloat = OpTypeFloat 16 BFloat16KHR
%i0 = OpConstant %int 0
%i2 = OpConstant %int 2
%i16 = OpConstant %int 16
%i100 = OpConstant %int 100
%most = OpConstant %int 0x7fffffff
%f2 = OpConstant %float 2
%f_third = OpConstant %float 0.3
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%u3 = OpConstant %uint 3
%u4 = OpConstant %uint 4
%u5 = OpConstant %uint 5
%row_major = OpConstant %uint 0
%column_major = OpConstant %uint 1
%A = OpTypeCooperativeMatrixKHR %int %u3 %u4 %u4 %u0
%B = OpTypeCooperativeMatrixKHR %int %u3 %u4 %u4 %u1
%C = OpTypeCooperativeMatrixKHR %int %u3 %u4 %u4 %u2
%A_char = OpTypeCooperativeMatrixKHR %char %u3 %u4 %u4 %u0
%B_char = OpTypeCooperativeMatrixKHR %char %u3 %u4 %u4 %u1
%A_half = OpTypeCooperativeMatrixKHR %half %u3 %u4 %u4 %u0
%B_half = OpTypeCooperativeMatrixKHR %half %u3 %u4 %u4 %u1
%A_bfloat = OpTypeCooperativeMatrixKHR %bfloat %u3 %u4 %u4 %u0
%B_bfloat = OpTypeCooperativeMatrixKHR %bfloat %u3 %u4 %u4 %u1
%A_float = OpTypeCooperativeMatrixKHR %float %u3 %u4 %u4 %u0
%B_float = OpTypeCooperativeMatrixKHR %float %u3 %u4 %u4 %u1
%C_float = OpTypeCooperativeMatrixKHR %float %u3 %u4 %u4 %u2
%zeros = OpConstantNull %C
%zeros_float = OpConstantNull %C_float
%hundreds = OpConstantComposite %C %i100
%thirds = OpConstantComposite %A_float %f_third
%mosts = OpConstantComposite %C %most
%array = OpTypeRuntimeArray %int
%Data = OpTypeStruct %array
%ptr_Data = OpTypePointer StorageBuffer %Data
%ptr_int = OpTypePointer StorageBuffer %int
%ptr_in = OpTypePointer Input %uint
%ptr_C = OpTypePointer Function %C
%ptr_component = OpTypePointer Function %int
%ptr_uint = OpTypePointer Function %uint
%local_index = OpVariable %ptr_in Input
%data = OpVariable %ptr_Data StorageBuffer
%given = OpVariable %ptr_Data StorageBuffer
%main = OpFunction %void None %void_fn
%entry = OpLabel
%variable = OpVariable %ptr_C Function
%counter = OpVariable %ptr_uint Function
%i = OpLoad %uint %local_index
%source = OpAccessChain %ptr_int %given %u0 %u0
%second = OpAccessChain %ptr_int %given %u0 %i16
%target = OpAccessChain %ptr_int %data %u0 %u0
{body}
OpReturn
OpFunctionEnd"
    )
}

const ARGS: [&str; 6] = [
    "--subgroup-size",
    "4",
    "--buffer",
    "0.0=zeros:20",
    "--buffer",
    "0.1=words:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
];

fn run(body: &str) -> Vec<i32> {
    let found = words(&explored(&text(body), &ARGS));
    assert_eq!(found.len(), 1, "{found:?}");
    let numbers = found[0].iter().map(|word| word.map(|word| word as i32));
    numbers.take(16).collect::<Option<Vec<i32>>>().expect("defined results")
}

/// The first 16 numbers of the source, row after row, and the next 16.
fn given() -> ([[i32; 4]; 4], [[i32; 4]; 4]) {
    let matrix = |from: i32| [0, 1, 2, 3].map(|row| [0, 1, 2, 3].map(|column| from + row * 4 + column));
    (matrix(0), matrix(16))
}

fn product(a: [[i32; 4]; 4], b: [[i32; 4]; 4]) -> Vec<i32> {
    let component = |row: usize, column: usize| (0..4).map(|k| a[row][k] * b[k][column]).sum();
    (0..16).map(|at| component(at / 4, at % 4)).collect()
}

const LOADS: &str = "%a = OpCooperativeMatrixLoadKHR %A %source %row_major %u4
%b = OpCooperativeMatrixLoadKHR %B %second %row_major %u4
%c = OpCooperativeMatrixLoadKHR %C %source %row_major %u4
";
const STORE: &str = "\nOpCooperativeMatrixStoreKHR %target %r %row_major %u4";

#[test]
fn layouts_and_strides_say_where_components_lie() {
    let copied = run(&format!("{LOADS}%r = OpCopyObject %C %c{STORE}"));
    assert_eq!(copied, (0..16).collect::<Vec<i32>>());
    let transposed = run("%r = OpCooperativeMatrixLoadKHR %C %source %column_major %u4
OpCooperativeMatrixStoreKHR %target %r %row_major %u4");
    assert_eq!(transposed, [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
    let apart = run("%r = OpCooperativeMatrixLoadKHR %C %source %row_major %u5
OpCooperativeMatrixStoreKHR %target %r %row_major %u4");
    assert_eq!(apart, [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18]);
    let repeated = run("%r = OpCooperativeMatrixLoadKHR %C %source %row_major %u0
OpCooperativeMatrixStoreKHR %target %r %row_major %u4");
    assert_eq!(repeated, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
}

#[test]
fn matrices_are_multiplied_and_added() {
    let (a, b) = given();
    let r = run(&format!("{LOADS}%r = OpCooperativeMatrixMulAddKHR %C %a %b %zeros{STORE}"));
    assert_eq!(r, product(a, b));
    let r = run(&format!("{LOADS}%r = OpCooperativeMatrixMulAddKHR %C %a %b %hundreds{STORE}"));
    assert_eq!(r, product(a, b).iter().map(|value| value + 100).collect::<Vec<i32>>());
}

#[test]
fn narrow_components_are_extended_as_the_operands_say() {
    // The bytes of -15 to 0 and of 1 to 16.
    let code = format!(
        "{LOADS}%negated = OpSNegate %A %a
%a_char = OpSConvert %A_char %negated
%b_char = OpSConvert %B_char %b\n"
    );
    let (a, b) = given();
    let negative = a.map(|row| row.map(|value| -value));
    let signed = "MatrixASignedComponentsKHR|MatrixBSignedComponentsKHR|MatrixCSignedComponentsKHR\
                  |MatrixResultSignedComponentsKHR";
    let r =
        run(&format!("{code}%r = OpCooperativeMatrixMulAddKHR %C %a_char %b_char %zeros {signed}{STORE}"));
    assert_eq!(r, product(negative, b));
    let bytes = negative.map(|row| row.map(|value| value & 0xff));
    let r = run(&format!("{code}%r = OpCooperativeMatrixMulAddKHR %C %a_char %b_char %zeros{STORE}"));
    assert_eq!(r, product(bytes, b));
}

#[test]
fn accumulation_saturates_where_asked_to() {
    let signed = "MatrixCSignedComponentsKHR|MatrixResultSignedComponentsKHR";
    let (a, b) = given();
    let r = run(&format!(
        "{LOADS}%r = OpCooperativeMatrixMulAddKHR %C %a %b %mosts {signed}|SaturatingAccumulationKHR{STORE}"
    ));
    assert_eq!(r, [i32::MAX; 16]);
    let r = run(&format!("{LOADS}%r = OpCooperativeMatrixMulAddKHR %C %a %b %mosts {signed}{STORE}"));
    assert_eq!(r, product(a, b).iter().map(|value| value.wrapping_add(i32::MAX)).collect::<Vec<i32>>());
}

const FLOATS: &str = "%a_float = OpConvertSToF %A_float %a
%b_float = OpConvertSToF %B_float %b\n";

#[test]
fn products_of_floats_are_inexact_unless_every_order_gives_the_same() {
    let (a, b) = given();
    let code =
        format!("{LOADS}{FLOATS}%s = OpCooperativeMatrixMulAddKHR %C_float %a_float %b_float %zeros_float\n");
    let whole = format!("{code}%r = OpConvertFToS %C %s{STORE}");
    assert_eq!(run(&whole), product(a, b));
    let thirds = format!(
        "{LOADS}{FLOATS}%s = OpCooperativeMatrixMulAddKHR %C_float %thirds %b_float %zeros_float
%r = OpConvertFToS %C %s{STORE}"
    );
    let multiplied = |text: &str| {
        let found = explored(text, &ARGS).inexact;
        found.iter().any(|inexact| inexact.opcode == 4459)
    };
    assert!(multiplied(&text(&thirds)));
    assert!(!multiplied(&text(&whole)));
}

#[test]
fn narrow_floats_are_multiplied_in_the_precision_of_the_result() {
    let (a, b) = given();
    for format in ["half", "bfloat"] {
        let code = format!(
            "{LOADS}{FLOATS}%a_narrow = OpFConvert %A_{format} %a_float
%b_narrow = OpFConvert %B_{format} %b_float
%s = OpCooperativeMatrixMulAddKHR %C_float %a_narrow %b_narrow %zeros_float
%r = OpConvertFToS %C %s{STORE}"
        );
        assert_eq!(run(&code), product(a, b), "{format}");
    }
}

#[test]
fn arithmetic_is_by_component() {
    let with = |line: &str| run(&format!("{LOADS}{line}{STORE}"));
    let of = |value: fn(i32) -> i32| (0..16).map(value).collect::<Vec<i32>>();
    assert_eq!(with("%r = OpIAdd %C %c %c"), of(|value| 2 * value));
    assert_eq!(with("%r = OpISub %C %c %hundreds"), of(|value| value - 100));
    assert_eq!(with("%r = OpIMul %C %c %c"), of(|value| value * value));
    assert_eq!(with("%r = OpSNegate %C %c"), of(|value| -value));
    assert_eq!(with("%m = OpCompositeConstruct %C %i100\n%r = OpSDiv %C %m %hundreds"), [1; 16]);
    let float = "%f = OpConvertSToF %C_float %c\n%g = OpMatrixTimesScalar %C_float %f %f2\n\
                 %h = OpFSub %C_float %g %f\n%r = OpConvertFToS %C %h";
    assert_eq!(with(float), of(|value| value));
}

#[test]
fn each_invocation_changes_the_components_that_it_holds() {
    let doubled = format!(
        "{LOADS}OpStore %variable %c
%length = OpCooperativeMatrixLengthKHR %uint %C
OpStore %counter %u0
OpBranch %head
%head = OpLabel
OpLoopMerge %behind %continue None
OpBranch %test
%test = OpLabel
%k = OpLoad %uint %counter
%more = OpULessThan %bool %k %length
OpBranchConditional %more %body %behind
%body = OpLabel
%component = OpAccessChain %ptr_component %variable %k
%old = OpLoad %int %component
%new = OpIMul %int %old %i2
OpStore %component %new
OpBranch %continue
%continue = OpLabel
%next = OpIAdd %uint %k %u1
OpStore %counter %next
OpBranch %head
%behind = OpLabel
%r = OpLoad %C %variable{STORE}"
    );
    assert_eq!(run(&doubled), (0..16).map(|value| 2 * value).collect::<Vec<i32>>());
    let lengths = "%length = OpCooperativeMatrixLengthKHR %uint %C\n%number = OpBitcast %int %length\n\
                   %slot = OpAccessChain %ptr_int %data %u0 %i\nOpStore %slot %number";
    assert_eq!(run(lengths)[..4], [4; 4]);
    // Swapping two components that one invocation holds.
    let swapped = format!(
        "{LOADS}%x = OpCompositeExtract %int %c 0
%y = OpCompositeExtract %int %c 1
%d = OpCompositeInsert %C %y %c 0
%r = OpCompositeInsert %C %x %d 1{STORE}"
    );
    let mut expected: Vec<i32> = (0..16).collect();
    let mut sorted = run(&swapped);
    assert_ne!(sorted, expected);
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
}

#[test]
fn all_invocations_multiply_or_none() {
    let some = format!(
        "{LOADS}%first = OpIEqual %bool %i %u0
OpSelectionMerge %behind None
OpBranchConditional %first %then %behind
%then = OpLabel
%r = OpCooperativeMatrixMulAddKHR %C %a %b %zeros
OpBranch %behind
%behind = OpLabel"
    );
    let found = explored(&text(&some), &ARGS);
    let kinds: Vec<UndefinedKind> = found.undefined.iter().map(|(undefined, _)| undefined.kind).collect();
    assert_eq!(kinds, [UndefinedKind::DivergentBarrier]);
}

#[test]
fn a_row_outside_of_the_buffer_is_an_access_outside() {
    let found = explored(
        &text(
            "%r = OpCooperativeMatrixLoadKHR %C %second %row_major %u5\n\
               OpCooperativeMatrixStoreKHR %target %r %row_major %u4",
        ),
        &ARGS,
    );
    let kinds: Vec<UndefinedKind> = found.undefined.iter().map(|(undefined, _)| undefined.kind).collect();
    assert_eq!(kinds, [UndefinedKind::OutOfBounds]);
}

#[test]
fn stored_words_are_seen_whole() {
    let found = words(&explored(&text(&format!("{LOADS}%r = OpCopyObject %C %c{STORE}")), &ARGS));
    let expected: Vec<u32> = (0..16).chain([0; 4]).collect();
    assert_eq!(found, [known(&expected)]);
}

#[test]
fn a_product_that_overflows_before_it_saturates_is_undefined() {
    let body = format!(
        "%a = OpCompositeConstruct %A %most
{LOADS_B}%r = OpCooperativeMatrixMulAddKHR %C %a %b %zeros MatrixASignedComponentsKHR|\
         MatrixBSignedComponentsKHR|MatrixResultSignedComponentsKHR|SaturatingAccumulationKHR{STORE}"
    );
    let found = words(&explored(&text(&body), &ARGS));
    assert_eq!(found[0][..16], [None; 16]);
}

const LOADS_B: &str = "%b = OpCooperativeMatrixLoadKHR %B %second %row_major %u4\n";
