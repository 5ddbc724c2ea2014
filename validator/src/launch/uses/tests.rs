use super::*;
use crate::lower::{lower, LowerOptions};
use crate::module::{Module, ReadOptions};

/// A shader with the words `%w` and the floats `%f` in buffers 0 and 1, which returns at the end of `code`.
const DECLARATIONS: &str = "
    OpCapability Shader
    OpCapability Int8
    OpCapability StorageBuffer8BitAccess
    OpExtension \"SPV_KHR_storage_buffer_storage_class\"
    OpExtension \"SPV_KHR_8bit_storage\"
    %glsl = OpExtInstImport \"GLSL.std.450\"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\" %id
    OpExecutionMode %main LocalSize 8 1 1
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %words ArrayStride 4
    OpMemberDecorate %Words 0 Offset 0
    OpMemberDecorate %Words 1 Offset 4
    OpMemberDecorate %Words 2 Offset 16
    OpDecorate %Words Block
    OpDecorate %bytes ArrayStride 1
    OpMemberDecorate %Bytes 0 Offset 0
    OpDecorate %Bytes Block
    OpDecorate %c DescriptorSet 0
    OpDecorate %c Binding 2
    OpDecorate %w DescriptorSet 0
    OpDecorate %w Binding 0
    OpDecorate %f DescriptorSet 0
    OpDecorate %f Binding 1
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %float = OpTypeFloat 32
    %uint3 = OpTypeVector %uint 3
    %float2 = OpTypeVector %float 2
    %u0 = OpConstant %uint 0
    %u1 = OpConstant %uint 1
    %u2 = OpConstant %uint 2
    %u4 = OpConstant %uint 4
    %u16 = OpConstant %uint 16
    %half = OpConstant %uint 32768
    %uchar = OpTypeInt 8 0
    %bytes = OpTypeRuntimeArray %uchar
    %Bytes = OpTypeStruct %bytes
    %to_bytes = OpTypePointer StorageBuffer %Bytes
    %to_byte = OpTypePointer StorageBuffer %uchar
    %c = OpVariable %to_bytes StorageBuffer
    %scope = OpConstant %uint 5
    %words = OpTypeRuntimeArray %uint
    %Words = OpTypeStruct %uint %uint %words
    %to_words = OpTypePointer StorageBuffer %Words
    %to_word = OpTypePointer StorageBuffer %uint
    %to_id = OpTypePointer Input %uint3
    %id = OpVariable %to_id Input
    %w = OpVariable %to_words StorageBuffer
    %f = OpVariable %to_words StorageBuffer
    %function = OpTypeFunction %void
    %main = OpFunction %void None %function
    %entry = OpLabel
    %w0 = OpAccessChain %to_word %w %u0
    %w1 = OpAccessChain %to_word %w %u1
    %a = OpLoad %uint %w0
    %b = OpLoad %uint %w1
    %ids = OpLoad %uint3 %id
    %x = OpCompositeExtract %uint %ids 0
    %wx = OpAccessChain %to_word %w %u2 %x
    %fx = OpAccessChain %to_word %f %u2 %x
    ";

fn program(code: &str) -> Program {
    let text = format!("{DECLARATIONS}{code}\nOpReturn\nOpFunctionEnd\n");
    let module = Module::from_text(&text, "test", &ReadOptions::default()).unwrap();
    lower(&module, &LowerOptions::default()).unwrap()
}

fn uses(code: &str) -> Uses {
    Uses::of(&program(code), None)
}

fn at(uses: &Uses, binding: u32, offset: u32) -> Usage {
    let memory = uses.slot(Slot { set: 0, binding, element: None });
    let found = memory.and_then(|memory| memory.in_first(64).find(|(at, _)| *at == offset));
    found.map(|(_, usage)| usage.clone()).unwrap_or_default()
}

#[test]
fn floats_are_known_through_casts_copies_and_memory() {
    let uses = uses(
        "%v = OpLoad %uint %wx
         OpStore %fx %v
         %r = OpLoad %uint %fx
         %cast = OpBitcast %float %r
         %n = OpFNegate %float %cast",
    );
    // Every element, in both buffers: what is copied has the use of its copy.
    for (binding, offset) in [(0, 16), (0, 20), (1, 16), (1, 60)] {
        assert!(at(&uses, binding, offset).is(Role::Float), "{binding} {offset}");
    }
    assert!(at(&uses, 0, 0).is_unknown());
}

#[test]
fn indices_and_what_they_are_computed_from() {
    let uses = uses(
        "%s = OpIMul %uint %x %b
         %i = OpIAdd %uint %s %u1
         %p = OpAccessChain %to_word %w %u2 %i
         %q = OpAccessChain %to_word %w %u2 %a
         OpStore %p %u0
         OpStore %q %u0",
    );
    assert!(at(&uses, 0, 0).is(Role::Index));
    let b = at(&uses, 0, 4);
    assert!(b.is(Role::PartOfIndex) && !b.is(Role::Index));
}

#[test]
fn indices_to_which_a_constant_is_added_are_known_with_it() {
    let code = |added: &str, index: &str| {
        format!(
            "%s = {added}
             %table = OpCompositeConstruct %uint3 %a %a %x
             %e = OpVectorExtractDynamic %uint %table {index}
             OpStore %fx %e"
        )
    };
    let shifted = |code: &str| at(&uses(code), 0, 4).shifted_index();
    assert_eq!(shifted(&code("OpISub %uint %b %u1", "%s")), Some((3, -1)));
    assert_eq!(shifted(&code("OpIAdd %uint %u4 %b", "%s")), Some((3, 4)));
    assert_eq!(shifted(&code("OpISub %uint %u1 %b", "%s")), None);
    assert_eq!(shifted(&code("OpIAdd %uint %b %x", "%s")), None);
    assert_eq!(shifted(&code("OpISub %uint %b %u1", "%b")), None);
}

#[test]
fn bits_that_are_an_index_are_known_by_where_they_lie() {
    let uses = uses(
        "%t = OpBitFieldUExtract %uint %a %u4 %u16
         %i = OpISub %uint %t %u1
         %p = OpAccessChain %to_word %w %u2 %i
         %flag = OpBitFieldUExtract %uint %a %u2 %u1
         %low = OpBitFieldUExtract %uint %t %u1 %u2
         %q = OpAccessChain %to_word %w %u2 %low
         OpStore %p %flag
         OpStore %q %flag",
    );
    let a = at(&uses, 0, 0);
    assert!(a.is(Role::Packed) && !a.is(Role::PartOfIndex) && !a.is(Role::Index));
    let fields: Vec<(u8, u8)> = a.index_fields().map(|field| (field.first, field.bits)).collect();
    assert_eq!(fields, [(4, 16), (5, 2)]);
    let word = a.index_fields().fold(u64::from(u32::MAX), |word, field| field.put(word, 3));
    assert_eq!(word, 0xfff0_007f);
}

#[test]
fn fields_that_do_not_fit_are_no_fault() {
    // A module may say so, as long as nobody executes it.
    let put = |first: u8, bits: u8| Field { first, bits }.put(0xff, 5);
    assert_eq!([put(0, 200), put(200, 4), put(4, 0), put(60, 8)], [5, 0xff, 0xff, 0x5000_0000_0000_00ff]);
}

#[test]
fn guards_and_constants_of_comparisons() {
    let uses = uses(
        "%less = OpULessThan %bool %x %a
         %d = OpIEqual %bool %b %u16",
    );
    assert!(at(&uses, 0, 0).is(Role::Guard) && !at(&uses, 0, 0).is(Role::Turns));
    let b = at(&uses, 0, 4);
    assert!(!b.is(Role::Guard));
    assert_eq!(b.constants().collect::<Vec<_>>(), [16]);
}

#[test]
fn bounds_of_loops_with_what_a_turn_takes() {
    let a_loop = |step: &str, bound: &str| {
        uses(&format!(
            "%n = OpUDiv %uint %a %u4
             OpBranch %head
             %head = OpLabel
             %i = OpPhi %uint %u0 %entry %next %body
             %go = OpULessThan %bool %i {bound}
             OpLoopMerge %done %body None
             OpBranchConditional %go %body %done
             %body = OpLabel
             %next = OpIAdd %uint %i {step}
             OpBranch %head
             %done = OpLabel"
        ))
    };
    let found = at(&a_loop("%u1", "%b"), 0, 4);
    assert!(found.is(Role::Turns) && !found.is(Role::Guard));
    assert_eq!(found.unit(), 1);
    assert_eq!(at(&a_loop("%u16", "%b"), 0, 4).unit(), 16);
    // By four for the division, by two for the step.
    assert_eq!(at(&a_loop("%u2", "%n"), 0, 0).unit(), 8);
    // A step that is no constant is taken for the number of invocations.
    assert!(at(&a_loop("%x", "%b"), 0, 4).is(Role::Guard));
}

#[test]
fn words_of_atomics_are_not_what_is_stored_there() {
    let uses = uses("OpAtomicStore %w0 %u1 %u0 %b");
    assert!(at(&uses, 0, 0).is(Role::Atomic));
    assert!(!at(&uses, 0, 4).is(Role::Atomic));
}

#[test]
fn fields_and_halves_of_a_word() {
    let uses = uses(
        "%h = OpExtInst %float2 %glsl UnpackHalf2x16 %a
         %s = OpShiftRightLogical %uint %b %u16",
    );
    assert!(at(&uses, 0, 0).is(Role::Halves));
    assert!(at(&uses, 0, 4).is(Role::Packed));
}

#[test]
fn floats_that_coordinates_and_indices_are_computed_from_are_known() {
    let uses = uses(
        "%cast = OpBitcast %float %a
         %d = OpBitcast %float %b
         %sum = OpFAdd %float %cast %cast
         %least = OpExtInst %float %glsl FMax %sum %cast
         %i = OpConvertFToU %uint %least
         %element = OpAccessChain %to_word %w %u2 %i
         %r = OpLoad %uint %element
         OpStore %fx %r
         %other = OpFAdd %float %d %d
         %bits = OpBitcast %uint %other
         OpStore %fx %bits",
    );
    assert!(at(&uses, 0, 0).is(Role::PartOfCoordinate));
    assert!(!at(&uses, 0, 4).is(Role::PartOfCoordinate) && at(&uses, 0, 4).is(Role::Float));
}

/// Uses of what an element of three is taken by the index `%i`.
fn indexing(code: &str) -> Uses {
    uses(&format!(
        "{code}
         %table = OpCompositeConstruct %uint3 %x %x %x
         %e = OpVectorExtractDynamic %uint %table %i
         OpStore %fx %e"
    ))
}

#[test]
fn what_is_within_a_table_by_itself_is_an_entry_of_it() {
    let found = |code: &str, offset| at(&indexing(code), 0, offset);
    let entries = [
        "%i = OpBitwiseAnd %uint %a %u1",
        "%i = OpUMod %uint %a %u2",
        "%i = OpBitFieldUExtract %uint %a %x %u1",
        "%h = OpShiftRightLogical %uint %a %u16
         %g = OpShiftRightLogical %uint %h %u4
         %k = OpUDiv %uint %g %half
         %m = OpBitwiseAnd %uint %b %u1
         %i = OpBitwiseOr %uint %m %k",
    ];
    for code in entries {
        let a = found(code, 0);
        assert!(a.is(Role::Entry) && !a.is(Role::PartOfIndex), "{code}");
    }
    let others = [
        "%i = OpBitwiseAnd %uint %a %u4",
        "%i = OpShiftRightLogical %uint %a %u16",
        "%m = OpBitwiseAnd %uint %a %u2
         %i = OpIAdd %uint %m %u1",
    ];
    for code in others {
        let a = found(code, 0);
        assert!(!a.is(Role::Entry) && a.is(Role::PartOfIndex), "{code}");
    }
}

#[test]
fn indices_that_are_widened_bytes_stay_within_what_they_index() {
    let uses = indexing(
        "%byte = OpAccessChain %to_byte %c %u0 %x
         %narrow = OpLoad %uchar %byte
         %i = OpUConvert %uint %narrow",
    );
    let byte = at(&uses, 2, 0);
    assert!(byte.is(Role::Index) && !byte.is(Role::PartOfIndex));
    assert_eq!((byte.limit(), byte.width), (Some(3), 1));
}

#[test]
fn what_is_divided_for_an_index_or_a_guard_is_known_with_the_divisor() {
    let quotient = |code: &str| at(&uses(&format!("{code}\nOpStore %p %u0")), 0, 4).quotient();
    let element = "%p = OpAccessChain %to_word %w %u2 %i";
    let index = |code: &str| quotient(&format!("{code}\n{element}"));
    assert_eq!(index("%n = OpUDiv %uint %b %u4\n%s = OpIMul %uint %n %x\n%i = OpUDiv %uint %s %u2"), 8);
    assert_eq!(index("%i = OpUMod %uint %b %u16"), 16);
    assert_eq!(index("%i = OpShiftRightLogical %uint %b %u4"), 16);
    // That is another field of the word.
    assert_eq!(index("%i = OpShiftRightLogical %uint %b %u16"), 1);
    let guard = "%n = OpShiftRightLogical %uint %b %u2\n%less = OpULessThan %bool %x %n";
    assert_eq!(quotient(&format!("{guard}\n%i = OpIAdd %uint %x %x\n{element}")), 4);
}

#[test]
fn fields_are_known_with_the_constants_that_they_are_compared_with() {
    let uses = uses(
        "%high = OpShiftRightLogical %uint %a %u16
         %low = OpBitFieldUExtract %uint %a %u0 %u16
         %same = OpIEqual %bool %high %u4
         %inner = OpBitFieldUExtract %uint %low %u2 %u1
         %set = OpINotEqual %bool %inner %u0
         %top = OpShiftRightLogical %uint %b %u16
         %signed = OpISub %uint %top %half
         %next = OpIAdd %uint %top %u16",
    );
    let fields = |offset| -> Vec<(u8, u8, u64)> {
        let found = at(&uses, 0, offset);
        let fields = found.compared_fields().map(|(field, value)| (field.first, field.bits, value));
        fields.collect()
    };
    assert_eq!(fields(0), [(2, 1, 0), (16, 16, 4)]);
    // Half of its range is subtracted: the sign changes there.
    assert_eq!(fields(4), [(16, 16, 32768)]);
}

#[test]
fn entries_of_tables_before_stay_so_whatever_after_does_with_them() {
    let indexed = |index: &str| {
        format!(
            "%m = OpBitwiseAnd %uint %a %u1
             %table = OpCompositeConstruct %uint3 %x %x %x
             %e = OpVectorExtractDynamic %uint %table {index}
             OpStore %fx %e"
        )
    };
    let [safe, unsafe_one] = ["%m", "%a"].map(|index| program(&indexed(index)));
    let a = at(&Uses::of(&safe, Some(&unsafe_one)), 0, 0);
    assert!(a.is(Role::Entry) && !a.is(Role::Index) && !a.is(Role::PartOfIndex));
    let a = at(&Uses::of(&unsafe_one, Some(&safe)), 0, 0);
    assert!(a.is(Role::Entry) && a.is(Role::Index));
}
