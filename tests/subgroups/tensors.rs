//! SPV_NV_tensor_addressing: what loads and stores through tensors and views of them access.

use spirv_tv::event::UndefinedKind;

use super::matrices::{faults, loaded, matrix, run_with, sliced, Extra, LOAD, STORE};

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
