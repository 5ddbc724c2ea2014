//! SPV_NV_cooperative_matrix2, and matrices of Workgroup scope: functions for blocks and components, reductions,
//! conversions, and who must be there.

use spirv_tv::behaviour::Undecided;
use spirv_tv::check::{outcomes, Watch};
use spirv_tv::event::UndefinedKind;

use super::matrices::{args, faults, matrix, run_for, run_with, text, Extra, Whose, LOAD, STORE};
use crate::{explored, known, options_of, parsed, words};

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

/// What is not followed is told, with its line.
#[test]
fn functions_that_combine_components_only_compute() {
    let functions = ADD.replace("%x_y =", "OpMemoryBarrier %u2 %sem\n%x_y =");
    let extra = Extra { types: "%sem = OpConstant %uint 0x108", functions: &functions };
    let body = format!("{LOAD}%r = OpCooperativeMatrixReduceNV %M %c Row %add{STORE}");
    let text = text(Whose::Workgroup, extra, &body);
    let args = args();
    let found = explored(&text, &args.iter().map(String::as_str).collect::<Vec<_>>());
    let line =
        text.lines().position(|line| line.contains("OpCooperativeMatrixReduceNV")).expect("it is there") + 1;
    assert!(!found.complete && found.outcomes.is_empty());
    let told = found
        .undecided
        .iter()
        .any(|why| matches!(why, Undecided::Unsupported { line: at, .. } if *at as usize == line));
    assert!(told, "{:?}", found.undecided);
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
