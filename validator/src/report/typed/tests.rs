use super::*;
use crate::value::Byte;

const MODULE: &str = "
OpName %b \"b\"
OpName %Item \"Item\"
OpMemberName %Item 0 \"id\"
OpMemberName %Item 1 \"weight\"
OpMemberName %Block 0 \"count\"
OpMemberName %Block 1 \"turn\"
OpMemberName %Block 2 \"items\"
OpMemberDecorate %Item 0 Offset 0
OpMemberDecorate %Item 1 Offset 4
OpDecorate %items ArrayStride 8
OpMemberDecorate %Block 0 Offset 0
OpMemberDecorate %Block 1 Offset 16
OpMemberDecorate %Block 1 MatrixStride 16
OpMemberDecorate %Block 1 RowMajor
OpMemberDecorate %Block 2 Offset 64
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 1
OpDecorate %c DescriptorSet 0
OpDecorate %c Binding 2
OpDecorate %d DescriptorSet 0
OpDecorate %d Binding 2
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%half = OpTypeFloat 16
%v2 = OpTypeVector %float 2
%v3 = OpTypeVector %float 3
%mat = OpTypeMatrix %v3 2
%n = OpConstant %uint 4
%Item = OpTypeStruct %int %float
%items = OpTypeRuntimeArray %Item
%Block = OpTypeStruct %v3 %mat %items
%pointer = OpTypePointer StorageBuffer %Block
%b = OpVariable %pointer StorageBuffer
%c = OpVariable %pointer StorageBuffer
%d = OpVariable %pointer StorageBuffer
%pair = OpTypeStruct %half %v2
%pairs = OpTypeArray %pair %n
%shared = OpTypePointer Workgroup %pairs
%tile = OpVariable %shared Workgroup
OpDecorate %color Location 3
%output = OpTypePointer Output %v2
%color = OpVariable %output Output
";

fn path(key: &str, offset: usize) -> Option<(String, usize, usize)> {
    let place = Types::of(MODULE).place(key, offset)?;
    Some((place.path, place.start, place.size))
}

#[test]
fn bytes_have_the_names_of_their_members() {
    assert_eq!(path("0.1", 93), Some(("b.items[3].weight".to_owned(), 92, 4)));
    assert_eq!(path("0.1", 4), Some(("b.count.y".to_owned(), 4, 4)));
    // Of two columns and three rows, which lie one behind the other.
    assert_eq!(path("0.1", 36), Some(("b.turn[1][1]".to_owned(), 36, 4)));
    assert_eq!(path("0.1", 12), None);
    assert_eq!(path("0.7", 0), None);
    // Two variables: nobody knows which one is meant.
    assert_eq!(path("0.2", 0), None);
}

#[test]
fn what_has_no_layout_is_packed() {
    assert_eq!(path("%tile", 0), Some(("tile[0].0".to_owned(), 0, 2)));
    assert_eq!(path("%tile", 20), Some(("tile[1].1.y".to_owned(), 20, 4)));
    assert_eq!(path("%tile@1", 4), Some(("tile[0].1.x of workgroup 1".to_owned(), 4, 4)));
    assert_eq!(path("%tile", 48), None);
}

#[test]
fn outputs_are_of_a_fragment_where_there_are_several() {
    assert_eq!(path("out:3", 4), Some(("color.y".to_owned(), 4, 4)));
    assert_eq!(path("out:3@2", 4), Some(("color.y of fragment 2".to_owned(), 4, 4)));
}

#[test]
fn values_are_told_as_their_types() {
    let told = |scalar: Scalar, bytes: &[u8]| {
        let bytes: Vec<Byte> = bytes.iter().copied().map(Byte::Known).collect();
        scalar.told(&bytes)
    };
    assert_eq!(told(Scalar::Float, &1.5_f32.to_le_bytes()), "1.5 (0x3fc00000)");
    assert_eq!(told(Scalar::Float, &[0, 0x3e]), "1.5 (0x3e00)");
    assert_eq!(told(Scalar::Float, &(-0.0_f64).to_le_bytes()), "-0.0 (0x8000000000000000)");
    assert_eq!(told(Scalar::Signed, &[0xff, 0xff, 0xff, 0xff]), "-1");
    assert_eq!(told(Scalar::Signed, &[0xfe]), "-2");
    assert_eq!(told(Scalar::Unsigned, &[7, 0, 0, 0]), "7");
    assert_eq!(told(Scalar::Unsigned, &[0, 0, 1, 0]), "65536 (0x00010000)");
    assert_eq!(told(Scalar::Bool, &[1, 0, 0, 0]), "true");
    assert_eq!(Scalar::Float.told(&[Byte::Undef; 4]), "undefined");
    assert_eq!(Scalar::Unsigned.told(&[Byte::Known(1), Byte::Undef]), "0x??01");
}

/// What people call a place, with its size.
fn label(text: &str, key: &str, offset: usize) -> Option<String> {
    Types::of(text).place(key, offset)?.label
}

/// Outputs and inputs of several entry points, in blocks, arrays and parts of locations.
const PASSED: &str = "
OpName %color \"color\"
OpName %Out \"Out\"
OpMemberName %Out 0 \"normal\"
OpDecorate %color Location 3
OpDecorate %part Location 0
OpDecorate %part Component 2
OpDecorate %second Location 0
OpDecorate %second Index 1
OpDecorate %rows Location 4
OpDecorate %Out Block
OpMemberDecorate %Out 0 Location 7
OpMemberDecorate %Vertex 0 BuiltIn Position
OpMemberDecorate %Vertex 1 BuiltIn ClipDistance
OpDecorate %Vertex Block
OpDecorate %depth BuiltIn FragDepth
OpDecorate %given Location 3
OpDecorate %one Location 9
OpDecorate %other Location 9
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%uint = OpTypeInt 32 0
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%d2 = OpTypeVector %double 2
%two = OpConstant %uint 2
%array = OpTypeArray %v4 %two
%distances = OpTypeArray %float %two
%Out = OpTypeStruct %v4 %d2
%Vertex = OpTypeStruct %v4 %distances
%p4 = OpTypePointer Output %v4
%p2 = OpTypePointer Output %v2
%pu = OpTypePointer Output %uint
%pa = OpTypePointer Output %array
%po = OpTypePointer Output %Out
%pv = OpTypePointer Output %Vertex
%pf = OpTypePointer Output %float
%in = OpTypePointer Input %uint
%color = OpVariable %p4 Output
%part = OpVariable %p2 Output
%second = OpVariable %pu Output
%rows = OpVariable %pa Output
%out = OpVariable %po Output
%vertex = OpVariable %pv Output
%depth = OpVariable %pf Output
%given = OpVariable %in Input
%one = OpVariable %pf Output
%other = OpVariable %pu Output
";

#[test]
fn outputs_are_told_by_location_and_component_with_their_type() {
    let told = |key: &str, offset: usize| label(PASSED, key, offset);
    let all = [
        ("out:3", 4, "output color at location 3, component y (float)"),
        ("out:3@2", 12, "output color at location 3, component w (float) of fragment 2"),
        ("out:0.2", 4, "output at location 0, component w (float)"),
        ("out:0.0.1", 0, "output at location 0, index 1 (uint)"),
        ("out:5", 8, "output at location 5, component z (float)"),
        ("out:7", 0, "output Out.normal at location 7, component x (float)"),
        ("out:8", 8, "output Out.1 at location 8, component z (double)"),
        ("out:Position", 8, "output Position, component z (float)"),
        ("out:ClipDistance", 4, "output ClipDistance[1] (float)"),
        ("out:FragDepth@0", 0, "output FragDepth (float) of fragment 0"),
        ("out:discard@1", 0, "discarded of fragment 1"),
        ("in:3", 0, "input at location 3 (uint)"),
    ];
    for (key, offset, expected) in all {
        assert_eq!(told(key, offset).as_deref(), Some(expected), "{key}");
    }
    // Nobody knows which one is meant, or there is none.
    assert_eq!(told("out:9", 0), None);
    assert_eq!(told("out:11", 0), None);
    assert_eq!(Types::of(PASSED).passed_as("in:3"), Some(("input at location 3".to_owned(), 4)));
}

#[test]
fn indices_lead_to_bytes() {
    let reach = |indices: &[u64]| Types::of(MODULE).reach("%b", indices);
    // As `bytes_have_the_names_of_their_members` has them.
    assert_eq!(reach(&[2, 3, 1]), Some(("0.1".to_owned(), 92)));
    assert_eq!(reach(&[0, 1]), Some(("0.1".to_owned(), 4)));
    assert_eq!(reach(&[1, 1, 1]), Some(("0.1".to_owned(), 36)));
    assert_eq!(reach(&[1, 0, 2]), Some(("0.1".to_owned(), 48)));
    assert_eq!(reach(&[7]), None);
}
