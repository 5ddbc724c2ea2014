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
