//! SPV_NV_tensor_addressing and SPV_NV_cooperative_matrix2, and matrices of Workgroup scope, on one workgroup of
//! four invocations: matrices of 4 × 4 and other integers. The source holds at each word its number.

use spirv_tv::check::{check, outcomes, Watch};
use spirv_tv::event::UndefinedKind;

use crate::{explored, known, options_of, parsed, words};

/// Who holds the matrices.
#[derive(Clone, Copy, PartialEq)]
enum Whose {
    Subgroup,
    Workgroup,
}

/// What a module has beside its code.
#[derive(Clone, Copy, Default)]
struct Extra<'e> {
    types: &'e str,
    functions: &'e str,
}

/// A module whose code may use `%source` (binding 1), `%target` (binding 0) and matrices `%M` of 4 × 4.
fn text(whose: Whose, extra: Extra<'_>, body: &str) -> String {
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

fn args() -> Vec<String> {
    let numbers: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let given = format!("0.1=words:{}", numbers.join(","));
    ["--subgroup-size", "4", "--buffer", "0.0=zeros:20", "--buffer", &given].map(str::to_owned).into()
}

/// The words of the target, the same whoever loads and stores the components.
fn run_for(whose: Whose, extra: Extra<'_>, body: &str) -> Vec<i32> {
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
fn run_with(extra: Extra<'_>, body: &str) -> Vec<i32> {
    let [subgroup, workgroup] = [Whose::Subgroup, Whose::Workgroup].map(|whose| run_for(whose, extra, body));
    assert_eq!(subgroup, workgroup);
    workgroup
}

fn faults(extra: Extra<'_>, body: &str) -> Vec<UndefinedKind> {
    let kinds = [Whose::Subgroup, Whose::Workgroup].map(|whose| {
        let args = args();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let found = explored(&text(whose, extra, body), &args);
        found.undefined.iter().map(|(undefined, _)| undefined.kind).collect::<Vec<UndefinedKind>>()
    });
    assert_eq!(kinds[0], kinds[1]);
    kinds[1].clone()
}

const STORE: &str = "\nOpCooperativeMatrixStoreKHR %target %r %row_major %u4";
const LOAD: &str = "%c = OpCooperativeMatrixLoadKHR %M %source %row_major %u4\n";

/// The 4 × 4 matrix that is loaded from an 8 × 8 tensor with a layout of this type.
fn loaded(types: &str, layout: &str, operands: &str) -> Vec<i32> {
    let body = format!(
        "{LOAD}{layout}\n%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None {operands}{STORE}"
    );
    run_with(Extra { types, ..Extra::default() }, &body)[..16].to_vec()
}

/// A slice of the 8 × 8 tensor, of a layout type.
fn sliced(ty: &str, numbers: &str) -> String {
    format!(
        "%l0 = OpCreateTensorLayoutNV {ty}
%l1 = OpTensorLayoutSetDimensionNV {ty} %l0 %u8 %u8
%l2 = OpTensorLayoutSetClampValueNV {ty} %l1 %i100
%l = OpTensorLayoutSliceNV {ty} %l2 {numbers}"
    )
}

fn matrix(component: impl Fn(i32, i32) -> i32) -> Vec<i32> {
    (0..16).map(|at| component(at / 4, at % 4)).collect()
}

#[test]
fn a_slice_is_loaded_from_its_offset() {
    assert_eq!(loaded("", &sliced("%Layout", "%u0 %u4 %u0 %u4"), "None"), matrix(|r, c| 8 * r + c));
    assert_eq!(loaded("", &sliced("%Layout", "%u2 %u4 %u3 %u4"), "None"), matrix(|r, c| 8 * (r + 2) + c + 3));
    // Offsets add up, the span is the last.
    let twice = sliced("%Layout", "%u2 %u8 %u1 %u8").replace("%l =", "%l3 =");
    let twice = format!("{twice}\n%l = OpTensorLayoutSliceNV %Layout %l3 %u1 %u4 %u2 %u4");
    assert_eq!(loaded("", &twice, "None"), matrix(|r, c| 8 * (r + 3) + c + 3));
}

#[test]
fn a_span_of_another_shape_is_filled_row_after_row() {
    let wide = sliced("%Layout", "%u1 %u2 %u0 %u8");
    assert_eq!(loaded("", &wide, "None"), (8..24).collect::<Vec<i32>>());
    let narrow = sliced("%Layout", "%u0 %u8 %u1 %u2");
    assert_eq!(loaded("", &narrow, "None"), (0..16).map(|at| at / 2 * 8 + at % 2 + 1).collect::<Vec<i32>>());
}

#[test]
fn dimensions_reset_what_follows_from_them() {
    let layout = "%l0 = OpTensorLayoutSetDimensionNV %Layout %layout %u8 %u8
%l1 = OpTensorLayoutSliceNV %Layout %l0 %u1 %u4 %u1 %u4
%l = OpTensorLayoutSetDimensionNV %Layout %l1 %u4 %u4";
    assert_eq!(loaded("", layout, "None"), (0..16).collect::<Vec<i32>>());
}

#[test]
fn strides_lie_between_rows_and_columns() {
    let layout = "%l0 = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4
%l = OpTensorLayoutSetStrideNV %Layout %l0 %u16 %u2";
    assert_eq!(loaded("", layout, "None"), matrix(|r, c| 16 * r + 2 * c));
}

#[test]
fn too_small_strides_make_the_access_undefined() {
    let with = |use_of: &str| {
        format!(
            "{LOAD}%l0 = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4
%l = OpTensorLayoutSetStrideNV %Layout %l0 %u3 %u1
{use_of}{STORE}"
        )
    };
    let used = with("%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None None");
    assert_eq!(faults(Extra::default(), &used), [UndefinedKind::UndefinedOperand]);
    assert_eq!(run_with(Extra::default(), &with("%r = OpCopyObject %M %c"))[..4], [0, 1, 2, 3]);
    let just = "%l0 = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4
%l = OpTensorLayoutSetStrideNV %Layout %l0 %u4 %u1";
    assert_eq!(loaded("", just, "None"), (0..16).collect::<Vec<i32>>());
}

#[test]
fn outside_of_the_tensor_the_clamp_mode_decides() {
    let of_mode = |mode: u32| format!("%L = OpTypeTensorLayoutNV %u2 %u{mode}");
    // Rows 6 to 9, columns -2 to 1.
    let slice = sliced("%L", "%u6 %u4 %m2 %u4");
    let at = |mode: u32| loaded(&of_mode(mode), &slice, "None");
    let inside = |row: i32, column: i32| (0..8).contains(&row) && (0..8).contains(&column);
    let element = |row: i32, column: i32| 8 * row + column;
    assert_eq!(at(1), matrix(|r, c| if inside(r + 6, c - 2) { element(r + 6, c - 2) } else { 100 }));
    assert_eq!(at(2), matrix(|r, c| element((r + 6).min(7), (c - 2).max(0))));
    assert_eq!(at(3), matrix(|r, c| element((r + 6) % 8, (c + 6) % 8)));
    // 8 and 9 are mirrored to 6 and 5, -2 and -1 to 2 and 1.
    let mirrored = |at: i32| [6, 7, 6, 5][at as usize];
    assert_eq!(at(4), matrix(|r, c| element(mirrored(r), [2, 1, 0, 1][c as usize])));
    let undefined = format!(
        "{LOAD}{}\n%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None None{STORE}",
        sliced("%Layout", "%u6 %u4 %u0 %u4")
    );
    assert_eq!(faults(Extra::default(), &undefined), [UndefinedKind::OutOfBounds]);
}

#[test]
fn clamp_values_are_zero_unless_set_and_as_wide_as_components() {
    let unset = "%l0 = OpCreateTensorLayoutNV %L
%l1 = OpTensorLayoutSetDimensionNV %L %l0 %u2 %u8
%l = OpTensorLayoutSliceNV %L %l1 %u1 %u4 %u0 %u4";
    let expected = matrix(|r, c| if r == 0 { 8 + c } else { 0 });
    assert_eq!(loaded("%L = OpTypeTensorLayoutNV %u2 %u1", unset, "None"), expected);
    // 0xff00ff in 16 bits, extended.
    let extra = Extra {
        types: "%L = OpTypeTensorLayoutNV %u2 %u1\n%value = OpConstant %uint 0xff80ff\n%nulls = OpConstantNull %S",
        ..Extra::default()
    };
    let body = format!(
        "%l0 = OpCreateTensorLayoutNV %L
%l1 = OpTensorLayoutSetDimensionNV %L %l0 %u1 %u2
%l2 = OpTensorLayoutSetClampValueNV %L %l1 %value
%l = OpTensorLayoutSliceNV %L %l2 %u0 %u4 %u0 %u4
%s = OpCooperativeMatrixLoadTensorNV %S %second %nulls %l None None
%r = OpSConvert %M %s{STORE}"
    );
    let expected = matrix(|r, c| {
        if (r, c) == (0, 0) {
            16
        } else if (r, c) == (0, 1) {
            0
        } else {
            -0x7f01
        }
    });
    assert_eq!(run_with(extra, &body)[..16], expected);
}

#[test]
fn a_view_permutes_the_coordinates_of_the_span() {
    let types = "%V = OpTypeTensorViewNV %u2 %false %u1 %u0";
    let layout = format!("{}\n%v = OpCreateTensorViewNV %V", sliced("%Layout", "%u0 %u4 %u2 %u4"));
    assert_eq!(loaded(types, &layout, "TensorView %v"), matrix(|r, c| 8 * c + r + 2));
    // A span of 2 × 8 goes to 4 × 4 through 8 × 2.
    let layout = format!("{}\n%v = OpCreateTensorViewNV %V", sliced("%Layout", "%u0 %u2 %u0 %u8"));
    let expected: Vec<i32> = (0..16).map(|at| at % 2 * 8 + at / 2).collect();
    assert_eq!(loaded(types, &layout, "TensorView %v"), expected);
}

#[test]
fn a_view_of_three_dimensions_permutes_all_of_them() {
    let types = "%L = OpTypeTensorLayoutNV %u3 %u0\n%V = OpTypeTensorViewNV %u3 %false %u1 %u2 %u0";
    let layout = "%l0 = OpCreateTensorLayoutNV %L
%l = OpTensorLayoutSetDimensionNV %L %l0 %u2 %u2 %u4
%v = OpCreateTensorViewNV %V";
    // The permuted coordinates are of extents 2, 4, 2: the innermost one steps by 8.
    let expected: Vec<i32> = (0..16).map(|at| at % 2 * 8 + at / 8 * 4 + at / 2 % 4).collect();
    assert_eq!(loaded(types, layout, "TensorView %v"), expected);
}

#[test]
fn a_view_with_dimensions_has_strides_of_its_own() {
    let types = "%V = OpTypeTensorViewNV %u2 %true %u0 %u1";
    let layout = |view: &str| {
        format!("{}\n%v0 = OpCreateTensorViewNV %V\n{view}", sliced("%Layout", "%u0 %u8 %u0 %u8"))
    };
    let plain = layout("%v = OpTensorViewSetDimensionNV %V %v0 %u4 %u4");
    assert_eq!(loaded(types, &plain, "TensorView %v"), (0..16).collect::<Vec<i32>>());
    let strided = layout(
        "%v1 = OpTensorViewSetDimensionNV %V %v0 %u4 %u4\n%v = OpTensorViewSetStrideNV %V %v1 %u2 %u8",
    );
    assert_eq!(loaded(types, &strided, "TensorView %v"), matrix(|r, c| 2 * r + 8 * c));
    let repeated = layout(
        "%v1 = OpTensorViewSetDimensionNV %V %v0 %u4 %u4\n%v = OpTensorViewSetStrideNV %V %v1 %u0 %u1",
    );
    assert_eq!(loaded(types, &repeated, "TensorView %v"), matrix(|_, c| c));
    let permuted = "%V = OpTypeTensorViewNV %u2 %true %u1 %u0";
    let wide = layout("%v = OpTensorViewSetDimensionNV %V %v0 %u2 %u8");
    let expected: Vec<i32> = (0..16).map(|at| at % 2 * 8 + at / 2).collect();
    assert_eq!(loaded(permuted, &wide, "TensorView %v"), expected);
    let three = "%V = OpTypeTensorViewNV %u3 %true %u0 %u2 %u1";
    let deep = layout("%v = OpTensorViewSetDimensionNV %V %v0 %u2 %u2 %u4");
    let expected: Vec<i32> = (0..16).map(|at| at / 8 * 8 + at % 2 * 4 + at / 2 % 4).collect();
    assert_eq!(loaded(three, &deep, "TensorView %v"), expected);
}

#[test]
fn a_view_clips_what_keeps_its_old_components() {
    let types = "%V = OpTypeTensorViewNV %u2 %false %u0 %u1";
    let clipped = |numbers: &str| {
        let view = format!("%v0 = OpCreateTensorViewNV %V\n%v = OpTensorViewSetClipNV %V %v0 {numbers}");
        let layout = format!("{}\n{view}", sliced("%Layout", "%u4 %u4 %u4 %u4"));
        loaded(types, &layout, "TensorView %v")
    };
    // Rows 1 and 2 of columns 2 and 3 count on through the span, the others are those of %c.
    let expected = matrix(|r, c| {
        let index = (r - 1) * 2 + c - 2;
        if (1..3).contains(&r) && c >= 2 {
            8 * (index / 4 + 4) + index % 4 + 4
        } else {
            4 * r + c
        }
    });
    assert_eq!(clipped("%u1 %u2 %u2 %u2"), expected);
    // The span of the columns beyond the matrix: rows are as long as the matrix's.
    let expected = matrix(|r, c| if r < 1 { c } else { 8 * (r - 1 + 4) + c + 4 });
    assert_eq!(clipped("%u1 %u8 %u0 %u8"), expected);
    assert_eq!(clipped("%u0 %u0 %u0 %u4"), (0..16).collect::<Vec<i32>>());
}

#[test]
fn stores_go_where_loads_come_from() {
    let stored = |types: &str, layout: &str, operands: &str| {
        let body = format!("{LOAD}{layout}\nOpCooperativeMatrixStoreTensorNV %target %c %l None {operands}");
        run_with(Extra { types, ..Extra::default() }, &body)
    };
    let layout = "%l0 = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u5
%l = OpTensorLayoutSliceNV %Layout %l0 %u0 %u4 %u1 %u4";
    let expected: Vec<i32> =
        (0..20).map(|at| if at % 5 == 0 { 0 } else { at / 5 * 4 + at % 5 - 1 }).collect();
    assert_eq!(stored("", layout, "None"), expected);
    let view = "%V = OpTypeTensorViewNV %u2 %false %u1 %u0";
    let layout = "%l = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4\n%v = OpCreateTensorViewNV %V";
    assert_eq!(stored(view, layout, "TensorView %v")[..16], matrix(|r, c| 4 * c + r));
    // What lies outside, or is clipped, is left out.
    for mode in 1..5 {
        let types = format!("%L = OpTypeTensorLayoutNV %u2 %u{mode}");
        let layout = "%l0 = OpCreateTensorLayoutNV %L
%l1 = OpTensorLayoutSetDimensionNV %L %l0 %u3 %u4
%l = OpTensorLayoutSliceNV %L %l1 %i1 %u4 %m1 %u4";
        let expected: Vec<i32> = (0..20)
            .map(|at| if (4..12).contains(&at) && at % 4 < 3 { (at / 4 - 1) * 4 + at % 4 + 1 } else { 0 })
            .collect();
        assert_eq!(stored(&types, layout, "None"), expected, "{mode}");
    }
    let clip = "%V = OpTypeTensorViewNV %u2 %false %u0 %u1";
    let layout = "%l = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4
%v0 = OpCreateTensorViewNV %V
%v = OpTensorViewSetClipNV %V %v0 %u2 %u2 %u0 %u4";
    let expected: Vec<i32> = (0..20).map(|at| if at < 8 { at + 8 } else { 0 }).collect();
    assert_eq!(stored(clip, layout, "TensorView %v"), expected);
}

#[test]
fn what_a_store_may_not_do() {
    let with = |layout: &str| {
        let body = format!("{LOAD}{layout}\nOpCooperativeMatrixStoreTensorNV %target %c %l None None");
        faults(Extra::default(), &body)
    };
    let outside = "%l0 = OpTensorLayoutSetDimensionNV %Layout %layout %u3 %u4
%l = OpTensorLayoutSliceNV %Layout %l0 %u0 %u4 %u0 %u4";
    assert_eq!(with(outside), [UndefinedKind::OutOfBounds]);
    let blocks = "%l0 = OpTensorLayoutSetBlockSizeNV %Layout %layout %u1 %u2
%l = OpTensorLayoutSetDimensionNV %Layout %l0 %u4 %u4";
    assert_eq!(with(blocks), [UndefinedKind::UndefinedOperand]);
    let body = format!("{LOAD}OpCooperativeMatrixStoreKHR %target %c %row_major %u0");
    assert_eq!(faults(Extra::default(), &body), [UndefinedKind::UndefinedOperand]);
    // Nothing is where a span is empty, or a tensor without dimensions.
    assert_eq!(with("%l = OpCopyObject %Layout %layout"), [UndefinedKind::UndefinedOperand]);
}

#[test]
fn tensors_begin_at_multiples_of_16_bytes() {
    let body = format!(
        "{LOAD}%l = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4
%r = OpCooperativeMatrixLoadTensorNV %M %askew %c %l None None{STORE}"
    );
    assert_eq!(faults(Extra::default(), &body), [UndefinedKind::Misaligned]);
}

/// Each block is a number and three more; the result tells all that a decode function gets.
const DECODE: &str = "%decode = OpFunction %int None %decode_fn
%block = OpFunctionParameter %ptr_Quad
%place = OpFunctionParameter %pair
%within = OpFunctionParameter %pair
%decode_entry = OpLabel
%part = OpAccessChain %ptr_part %block %i0
%number = OpLoad %int %part Aligned 4
%row = OpCompositeExtract %uint %place 0
%column = OpCompositeExtract %uint %place 1
%down = OpCompositeExtract %uint %within 0
%right = OpCompositeExtract %uint %within 1
%t0 = OpIMul %int %number %i100
%t1 = OpIAdd %int %t0 %row
%t2 = OpIMul %int %t1 %i100
%t3 = OpIAdd %int %t2 %column
%t4 = OpIMul %int %t3 %i4
%t5 = OpIAdd %int %t4 %down
%t6 = OpIMul %int %t5 %i4
%t7 = OpIAdd %int %t6 %right
OpReturnValue %t7
OpFunctionEnd";

fn decoded(number: i32, place: [i32; 2], within: [i32; 2]) -> i32 {
    (((number * 100 + place[0]) * 100 + place[1]) * 4 + within[0]) * 4 + within[1]
}

#[test]
fn blocks_are_decoded_for_each_component() {
    let extra = Extra { types: "%L = OpTypeTensorLayoutNV %u2 %u1", functions: DECODE };
    // 6 × 6 elements in blocks of 2 × 4: three times two blocks of four words.
    let with = |operands: &str| {
        format!(
            "{LOAD}%l0 = OpCreateTensorLayoutNV %L
%l1 = OpTensorLayoutSetBlockSizeNV %L %l0 %u2 %u4
%l2 = OpTensorLayoutSetDimensionNV %L %l1 %u6 %u6
%l3 = OpTensorLayoutSetClampValueNV %L %l2 %i100
%l = OpTensorLayoutSliceNV %L %l3 %u1 %u4 %u3 %u4
%v0 = OpCreateTensorViewNV %V
%v = OpTensorViewSetClipNV %V %v0 %u0 %u4 %u0 %u3
%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None {operands}{STORE}"
        )
    };
    let view = format!("{}\n%V = OpTypeTensorViewNV %u2 %false %u0 %u1", extra.types);
    let extra = Extra { types: &view, ..extra };
    let at = |row: i32, column: i32| {
        if column >= 6 {
            return 100;
        }
        let block = [row / 2, column / 4];
        decoded(4 * (block[0] * 2 + block[1]), block, [row % 2, column % 4])
    };
    assert_eq!(run_with(extra, &with("DecodeFunc %decode"))[..16], matrix(|r, c| at(r + 1, c + 3)));
    // Three columns only, through a span of four: the fourth one is kept.
    let expected = matrix(|r, c| {
        let index = 3 * r + c;
        if c < 3 {
            at(index / 4 + 1, index % 4 + 3)
        } else {
            4 * r + c
        }
    });
    assert_eq!(run_with(extra, &with("TensorView|DecodeFunc %v %decode"))[..16], expected);
}

#[test]
fn strides_of_blocks_count_blocks() {
    let extra = Extra { functions: DECODE, ..Extra::default() };
    let body = format!(
        "{LOAD}%l0 = OpTensorLayoutSetBlockSizeNV %Layout %layout %u1 %u4
%l1 = OpTensorLayoutSetDimensionNV %Layout %l0 %u4 %u4
%l = OpTensorLayoutSetStrideNV %Layout %l1 %u2 %u1
%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None DecodeFunc %decode{STORE}"
    );
    assert_eq!(run_with(extra, &body)[..16], matrix(|r, c| decoded(8 * r, [r, 0], [0, c])));
}

/// 1000 × row + 100 × column + element + one more + the invocation's own.
const ELEMENT: &str = "%element = OpFunction %int None %element_two_fn
%e_row = OpFunctionParameter %uint
%e_column = OpFunctionParameter %uint
%e = OpFunctionParameter %int
%e_other = OpFunctionParameter %int
%e_more = OpFunctionParameter %int
%element_entry = OpLabel
%e0 = OpIMul %int %e_row %i100
%e1 = OpIAdd %int %e0 %e_column
%e2 = OpIMul %int %e1 %i100
%e3 = OpIAdd %int %e2 %e
%e4 = OpIMul %int %e_other %e_more
%e5 = OpIAdd %int %e3 %e4
OpReturnValue %e5
OpFunctionEnd";

#[test]
fn a_function_is_called_for_each_component() {
    let extra = Extra { functions: ELEMENT, ..Extra::default() };
    let body = format!(
        "{LOAD}%d = OpCooperativeMatrixLoadKHR %M %source %column_major %u4
%r = OpCooperativeMatrixPerElementOpNV %M %c %element %d %i2{STORE}"
    );
    let expected = matrix(|r, c| 10_000 * r + 100 * c + 4 * r + c + 2 * (4 * c + r));
    assert_eq!(run_with(extra, &body)[..16], expected);
    let body = format!(
        "%c = OpCooperativeMatrixLoadKHR %M3x2 %source %row_major %u4
%r = OpCooperativeMatrixPerElementOpNV %M3x2 %c %element %c %i1{STORE}"
    );
    let at = |row: i32, column: i32| 10_000 * row + 100 * column + 2 * (4 * row + column);
    let expected = [at(0, 0), at(0, 1), 0, 0, at(1, 0), at(1, 1), 0, 0, at(2, 0), at(2, 1)];
    assert_eq!(run_with(extra, &body)[..10], expected);
}

#[test]
fn functions_of_components_store_and_branch() {
    let functions = "%element = OpFunction %int None %element_fn
%e_row = OpFunctionParameter %uint
%e_column = OpFunctionParameter %uint
%e = OpFunctionParameter %int
%element_entry = OpLabel
%below = OpUGreaterThan %bool %e_row %e_column
OpSelectionMerge %out None
OpBranchConditional %below %in %out
%in = OpLabel
%e0 = OpIMul %int %e_row %i4
%e1 = OpIAdd %int %e0 %e_column
%place = OpAccessChain %ptr_int %data %u0 %e1
OpStore %place %e
OpReturnValue %i1
%out = OpLabel
OpReturnValue %i2
OpFunctionEnd";
    let body = format!(
        "{LOAD}%r = OpCooperativeMatrixPerElementOpNV %M %c %element
%n = OpIAdd %M %r %hundreds
%all = OpCooperativeMatrixReduceNV %M %n Row|Column %add
%total = OpCompositeExtract %int %all 0
%last = OpAccessChain %ptr_int %data %u0 %u16
%first = OpIEqual %bool %i %u0
OpSelectionMerge %behind None
OpBranchConditional %first %then %behind
%then = OpLabel
OpStore %last %total
OpBranch %behind
%behind = OpLabel"
    );
    let functions = format!("{functions}\n{ADD}");
    let found = run_with(Extra { functions: &functions, ..Extra::default() }, &body);
    assert_eq!(found[..16], matrix(|r, c| if r > c { 4 * r + c } else { 0 }));
    // Six ones and ten twos, and 16 hundreds.
    assert_eq!(found[16], 1600 + 6 + 20);
}

const ADD: &str = "%add = OpFunction %int None %combine_fn
%x = OpFunctionParameter %int
%y = OpFunctionParameter %int
%add_entry = OpLabel
%x_y = OpIAdd %int %x %y
OpReturnValue %x_y
OpFunctionEnd";

#[test]
fn components_are_reduced_by_row_by_column_and_in_squares() {
    let extra = Extra { functions: ADD, ..Extra::default() };
    let with = |ty: &str, mode: &str| {
        let body = format!("{LOAD}%r = OpCooperativeMatrixReduceNV {ty} %c {mode} %add{STORE}");
        run_with(extra, &body)[..16].to_vec()
    };
    let row = |r: i32| 16 * r + 6;
    let column = |c: i32| 24 + 4 * c;
    assert_eq!(with("%M", "Row"), matrix(|r, _| row(r)));
    assert_eq!(with("%M", "Column"), matrix(|_, c| column(c)));
    assert_eq!(with("%M", "Row|Column"), [120; 16]);
    // Stored with a stride of four.
    assert_eq!(with("%M4x2", "Row"), matrix(|r, c| if c < 2 { row(r) } else { 0 }));
    assert_eq!(with("%M2x4", "Column"), matrix(|r, c| if r < 2 { column(c) } else { 0 }));
    assert_eq!(with("%M1x2", "Row|Column")[..4], [120, 120, 0, 0]);
    let squares = [10, 18, 0, 0, 42, 50, 0, 0];
    assert_eq!(with("%M2x2", "2x2")[..8], squares);
}

#[test]
fn reductions_of_floats_are_inexact() {
    let functions = "%add = OpFunction %float None %combine_float_fn
%x = OpFunctionParameter %float
%y = OpFunctionParameter %float
%add_entry = OpLabel
%x_y = OpFAdd %float %x %y
OpReturnValue %x_y
OpFunctionEnd";
    let body = format!(
        "%s = OpCooperativeMatrixReduceNV %F %thirds Row %add
%r = OpConvertFToS %M %s{STORE}"
    );
    let extra = Extra { functions, ..Extra::default() };
    assert_eq!(run_with(extra, &body)[..16], [1; 16]);
    let args = args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let found = explored(&text(Whose::Workgroup, extra, &body), &args);
    assert!(found.inexact.iter().any(|inexact| inexact.opcode == 5366));
}

#[test]
fn matrices_change_their_use_and_are_transposed() {
    let converted = format!(
        "{LOAD}%a = OpCooperativeMatrixConvertNV %A %c
%b = OpCooperativeMatrixTransposeNV %B %c
%r = OpCooperativeMatrixMulAddKHR %M %a %b %hundreds{STORE}"
    );
    let component = |r: i32, c: i32| (0..4).map(|k| (4 * r + k) * (4 * c + k)).sum::<i32>() + 100;
    assert_eq!(run_with(Extra::default(), &converted)[..16], matrix(component));
    let narrow = "%c = OpCooperativeMatrixLoadKHR %M2x4 %source %row_major %u4
%b = OpCooperativeMatrixTransposeNV %B4x2 %c
OpCooperativeMatrixStoreKHR %target %b %row_major %u2";
    assert_eq!(run_with(Extra::default(), narrow)[..8], [0, 4, 1, 5, 2, 6, 3, 7]);
}

#[test]
fn matrices_of_a_workgroup_are_rectangular_and_of_any_type() {
    for (ty, from, to) in [("%F", "OpConvertSToF", "OpConvertFToS"), ("%S", "OpSConvert", "OpSConvert")] {
        let body = format!("{LOAD}%n = {from} {ty} %c\n%t = OpCopyObject {ty} %n\n%r = {to} %M %t{STORE}");
        assert_eq!(run_with(Extra::default(), &body)[..16], (0..16).collect::<Vec<i32>>());
    }
    for (ty, rows, columns) in [("%M3x2", 3, 2), ("%M4x1", 4, 1), ("%M1x2", 1, 2)] {
        let body = format!(
            "%c = OpCooperativeMatrixLoadKHR {ty} %source %row_major %u6
%d = OpIAdd {ty} %c %c
OpCooperativeMatrixStoreKHR %target %d %column_major %u4"
        );
        let found = run_with(Extra::default(), &body);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            assert_eq!(found[column * 4 + row], (2 * (6 * row + column)) as i32, "{ty}");
        }
    }
}

#[test]
fn who_holds_nothing_divides_nothing() {
    // Two components, four invocations.
    let body = "%c = OpCooperativeMatrixLoadKHR %M1x2 %askew %row_major %u6
%n = OpISub %M1x2 %c %c
%o = OpSDiv %M1x2 %n %c
%p = OpSDiv %M1x2 %c %c
%q = OpIAdd %M1x2 %o %p
OpCooperativeMatrixStoreKHR %target %q %row_major %u4";
    assert_eq!(run_with(Extra::default(), body)[..4], [1, 1, 0, 0]);
    let by_zero = "%c = OpCooperativeMatrixLoadKHR %M1x2 %askew %row_major %u6
%n = OpISub %M1x2 %c %c
%o = OpSDiv %M1x2 %c %n";
    assert_eq!(faults(Extra::default(), by_zero), [UndefinedKind::DivisionByZero]);
}

#[test]
fn single_components_of_a_workgroup_s_matrix() {
    let lengths = "%length = OpCooperativeMatrixLengthKHR %uint %M3x2\n%number = OpBitcast %int %length
%slot = OpAccessChain %ptr_int %data %u0 %i\nOpStore %slot %number
%c = OpCooperativeMatrixLoadKHR %M3x2 %source %row_major %u2";
    let found = run_for(Whose::Workgroup, Extra::default(), lengths);
    assert_eq!(found[..4].iter().sum::<i32>(), 6);
    let changed = format!(
        "{LOAD}OpStore %own_matrix %c
%one = OpAccessChain %ptr_own %own_matrix %u3
OpStore %one %i100
%d = OpLoad %M %own_matrix
%x = OpCompositeExtract %int %d 1
%r = OpCompositeInsert %M %x %d 2{STORE}"
    );
    let mut found = run_with(Extra::default(), &changed)[..16].to_vec();
    found.sort_unstable();
    // Four of each row of four, in some order: all of the first two, the second one again, and the new one.
    let found: Vec<i32> = found.into_iter().filter(|number| *number != 100).collect();
    assert_eq!(found, [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
    let beyond = format!(
        "{LOAD}OpStore %own_matrix %c\n%one = OpAccessChain %ptr_own %own_matrix %u4\nOpStore %one %i100"
    );
    assert_eq!(faults(Extra::default(), &beyond), [UndefinedKind::OutOfBounds]);
}

#[test]
fn operands_are_dynamically_uniform() {
    let one = |body: &str| faults(Extra::default(), &format!("{LOAD}{body}{STORE}"));
    let four = "%four = OpIMul %uint %i %u4\n%base = OpAccessChain %ptr_int %given %u0 %four\n";
    let undefined = [UndefinedKind::UndefinedOperand];
    assert_eq!(one(&format!("{four}%r = OpCooperativeMatrixLoadKHR %M %base %row_major %u4")), undefined);
    assert_eq!(one("%r = OpCooperativeMatrixLoadKHR %M %source %row_major %i"), undefined);
    let layout = "%l0 = OpTensorLayoutSetDimensionNV %Layout %layout %u8 %u8
%l = OpTensorLayoutSliceNV %Layout %l0 %i %u4 %u0 %u4\n";
    assert_eq!(
        one(&format!("{layout}%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None None")),
        undefined
    );
    assert_eq!(one("%n = OpBitcast %int %i\n%r = OpCompositeConstruct %M %n"), undefined);
    let unknown = "%n = OpUndef %uint\n%r = OpCooperativeMatrixLoadKHR %M %source %row_major %n";
    assert_eq!(one(unknown), undefined);
    let types = "%V = OpTypeTensorViewNV %u2 %false %u0 %u1";
    let view = format!(
        "{LOAD}%l = OpTensorLayoutSetDimensionNV %Layout %layout %u8 %u8
%v0 = OpCreateTensorViewNV %V
%v = OpTensorViewSetClipNV %V %v0 %i %u4 %u0 %u4
%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None TensorView %v{STORE}"
    );
    assert_eq!(faults(Extra { types, ..Extra::default() }, &view), undefined);
}

#[test]
fn all_invocations_of_the_scope_come_to_an_instruction_or_none() {
    let alone = |code: &str| {
        format!(
            "{LOAD}%l = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4
%first = OpIEqual %bool %i %u0
OpSelectionMerge %behind None
OpBranchConditional %first %then %behind
%then = OpLabel
{code}
OpBranch %behind
%behind = OpLabel"
        )
    };
    let functions = format!("{ELEMENT}\n{ADD}");
    let extra = Extra { functions: &functions, ..Extra::default() };
    for code in [
        "%r = OpCooperativeMatrixLoadKHR %M %source %row_major %u4",
        "OpCooperativeMatrixStoreKHR %target %c %row_major %u4",
        "%r = OpIAdd %M %c %c",
        "%r = OpCompositeConstruct %M %i1",
        "%r = OpConvertSToF %F %c",
        "%r = OpCooperativeMatrixLoadTensorNV %M %source %c %l None None",
        "OpCooperativeMatrixStoreTensorNV %target %c %l None None",
        "%r = OpCooperativeMatrixPerElementOpNV %M %c %element %c %i1",
        "%r = OpCooperativeMatrixReduceNV %M %c Row %add",
        "%r = OpCooperativeMatrixConvertNV %A %c",
        "%r = OpCooperativeMatrixTransposeNV %B %c",
    ] {
        assert_eq!(faults(extra, &alone(code)), [UndefinedKind::DivergentBarrier], "{code}");
    }
    // Copies and single components are for each invocation alone.
    run_with(extra, &alone("%one = OpCompositeExtract %int %c 0\n%r = OpCopyObject %M %c"));
}

#[test]
fn a_workgroup_waits_for_all_its_subgroups() {
    // Two subgroups of two: what one of them has not yet read, nobody multiplies.
    let body = format!(
        "{LOAD}%even = OpULessThan %bool %i %u2
OpSelectionMerge %behind None
OpBranchConditional %even %then %behind
%then = OpLabel
%sum = OpCompositeExtract %int %c 0
%slot = OpAccessChain %ptr_int %data %u0 %i
OpBranch %behind
%behind = OpLabel
%r = OpCooperativeMatrixMulAddKHR %M %a %b %zeros{STORE}"
    )
    .replace(
        LOAD,
        &format!("{LOAD}%a = OpCooperativeMatrixConvertNV %A %c\n%b = OpCooperativeMatrixConvertNV %B %c\n"),
    );
    let args = args();
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args[1] = "2";
    let found = words(&explored(&text(Whose::Workgroup, Extra::default(), &body), &args));
    let product = |at: u32| (0..4).map(|k| (4 * (at / 4) + k) * (4 * k + at % 4)).sum::<u32>();
    let expected: Vec<u32> = (0..16).map(product).chain([0; 4]).collect();
    assert_eq!(found, [known(&expected)]);
}

#[test]
fn functions_for_components_have_no_tangled_instructions() {
    for (tangled, refused) in [("OpControlBarrier %u2 %u2 %u0", true), ("OpMemoryBarrier %u2 %sem", false)] {
        let functions = format!(
            "%inner = OpFunction %void None %void_fn
%inner_entry = OpLabel
{tangled}
OpReturn
OpFunctionEnd
%element = OpFunction %int None %element_fn
%e_row = OpFunctionParameter %uint
%e_column = OpFunctionParameter %uint
%e = OpFunctionParameter %int
%element_entry = OpLabel
%called = OpFunctionCall %void %inner
OpReturnValue %e
OpFunctionEnd"
        );
        let body = format!("{LOAD}%r = OpCooperativeMatrixPerElementOpNV %M %c %element{STORE}");
        let types = "%sem = OpConstant %uint 0x108";
        let text = text(Whose::Workgroup, Extra { types, functions: &functions }, &body);
        let args = args();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let found = outcomes(&parsed(&text, &args), &options_of(&args), &Watch::default());
        assert_eq!(found.is_err(), refused, "{tangled}");
    }
}

#[test]
fn components_that_an_invocation_does_not_hold_are_undefined() {
    let body = format!(
        "{LOAD}%x = OpCompositeExtract %int %c 4
%slot = OpAccessChain %ptr_int %data %u0 %i
OpStore %slot %x"
    );
    let args = args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let found = words(&explored(&text(Whose::Subgroup, Extra::default(), &body), &args));
    assert_eq!(found[0][..5], [None, None, None, None, Some(0)]);
}

#[test]
fn calls_for_components_begin_anew_and_leave_convergence_as_it_was() {
    let extra = Extra { functions: ELEMENT, ..Extra::default() };
    let twice = format!(
        "{LOAD}%d = OpCooperativeMatrixPerElementOpNV %M %zeros %element %zeros %i1
%r = OpCooperativeMatrixPerElementOpNV %M %d %element %c %i1{STORE}"
    );
    let expected = matrix(|r, c| 2 * (10_000 * r + 100 * c) + 4 * r + c);
    assert_eq!(run_with(extra, &twice)[..16], expected);
    // Who went different ways through the inner selection, in the outer one, may be apart behind it.
    let apart = "%d = OpCooperativeMatrixPerElementOpNV %M %zeros %element %zeros %i1
%few = OpULessThan %bool %i %u3
%fewer = OpULessThan %bool %i %u2
OpSelectionMerge %behind None
OpBranchConditional %few %outer %behind
%outer = OpLabel
OpSelectionMerge %inner_behind None
OpBranchConditional %fewer %inner %inner_behind
%inner = OpLabel
OpBranch %inner_behind
%inner_behind = OpLabel
%sum = OpGroupNonUniformIAdd %int %u3 Reduce %i1
%slot = OpAccessChain %ptr_int %data %u0 %i
OpStore %slot %sum
OpBranch %behind
%behind = OpLabel";
    let text = text(Whose::Subgroup, extra, apart)
        .replace("OpCapability Int8", "OpCapability Int8\nOpCapability GroupNonUniformArithmetic");
    let args = args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert!(!explored(&text, &args).undecided.is_empty());
}

#[test]
fn more_of_what_accesses_may_not_do() {
    let extra = Extra { functions: DECODE, ..Extra::default() };
    let decoded = format!(
        "{LOAD}%l = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4
%r = OpCooperativeMatrixLoadTensorNV %M %askew %c %l None DecodeFunc %decode{STORE}"
    );
    assert_eq!(faults(extra, &decoded), [UndefinedKind::Misaligned]);
    // Each invocation holds a column, and all rows go to one place.
    let types = "%V = OpTypeTensorViewNV %u2 %true %u0 %u1";
    let repeated = format!(
        "{LOAD}%l = OpTensorLayoutSetDimensionNV %Layout %layout %u4 %u4
%v0 = OpCreateTensorViewNV %V
%v1 = OpTensorViewSetDimensionNV %V %v0 %u4 %u4
%v = OpTensorViewSetStrideNV %V %v1 %u0 %u1
OpCooperativeMatrixStoreTensorNV %target %c %l None TensorView %v"
    );
    assert_eq!(faults(Extra { types, ..Extra::default() }, &repeated), [UndefinedKind::UndefinedOperand]);
    let single = "%c = OpCooperativeMatrixLoadKHR %M1x2 %source %row_major %u0
OpCooperativeMatrixStoreKHR %target %c %row_major %u0";
    assert_eq!(faults(Extra::default(), single), [UndefinedKind::UndefinedOperand]);
}

#[test]
fn clamp_values_have_no_bits_beyond_their_component() {
    let types = "%L = OpTypeTensorLayoutNV %u2 %u1
%value = OpConstant %uint 0xff70ff\n%low = OpConstant %short 0x70ff\n%nulls = OpConstantNull %S";
    let body = "%l0 = OpCreateTensorLayoutNV %L
%l1 = OpTensorLayoutSetDimensionNV %L %l0 %u1 %u2
%l2 = OpTensorLayoutSetClampValueNV %L %l1 %value
%l = OpTensorLayoutSliceNV %L %l2 %u0 %u4 %u0 %u4
%s = OpCooperativeMatrixLoadTensorNV %S %second %nulls %l None None
%x = OpCompositeExtract %short %s 1
%same = OpIEqual %bool %x %low
%told = OpSelect %int %same %i1 %i2
%slot = OpAccessChain %ptr_int %data %u0 %i
OpStore %slot %told";
    assert_eq!(run_with(Extra { types, ..Extra::default() }, body)[..4], [1; 4]);
}

#[test]
fn a_workgroup_is_together_where_a_named_instance_is() {
    // Returns from several places bring nobody of a subgroup together for certain.
    let functions = "%apart = OpFunction %void None %void_fn
%apart_entry = OpLabel
%a_i = OpLoad %uint %local_index
%few = OpULessThan %bool %a_i %u2
OpSelectionMerge %rest None
OpBranchConditional %few %early %rest
%early = OpLabel
OpReturn
%rest = OpLabel
OpReturn
OpFunctionEnd";
    let body = format!("{LOAD}%called = OpFunctionCall %void %apart\n%r = OpIAdd %M %c %c{STORE}");
    let extra = Extra { functions, ..Extra::default() };
    let doubled = run_for(Whose::Workgroup, extra, &body);
    assert_eq!(doubled[..16], matrix(|r, c| 2 * (4 * r + c)));
    let args = args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert!(!explored(&text(Whose::Subgroup, extra, &body), &args).undecided.is_empty());
}

#[test]
fn reductions_of_floats_are_inexact_whatever_combines_them() {
    let functions = "%first = OpFunction %float None %combine_float_fn
%x = OpFunctionParameter %float
%y = OpFunctionParameter %float
%first_entry = OpLabel
OpReturnValue %x
OpFunctionEnd";
    let body =
        format!("%s = OpCooperativeMatrixReduceNV %F %thirds Column %first\n%r = OpConvertFToS %M %s{STORE}");
    let args = args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let extra = Extra { functions, ..Extra::default() };
    let found = explored(&text(Whose::Workgroup, extra, &body), &args);
    assert!(found.inexact.iter().any(|inexact| inexact.opcode == 5366));
}

#[test]
fn an_undefined_scalar_makes_an_undefined_matrix() {
    let body = format!("%n = OpUndef %int\n%r = OpCompositeConstruct %M %n{STORE}");
    let args = args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let found = words(&explored(&text(Whose::Workgroup, Extra::default(), &body), &args));
    assert_eq!(found[0][..16], [None; 16]);
}
