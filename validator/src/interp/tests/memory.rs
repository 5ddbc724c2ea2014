//! Variables, access chains, loads and stores: values, bounds and faults.

use super::*;

const BUFFER: StorageClass = StorageClass::StorageBuffer;

fn chain(dst: u32, base: u32, offset: u32, indices: Vec<ChainIndex>) -> Op {
    let decorations = Decorations::default();
    Op::Memory(MemoryOp::Chain(Chain {
        dst,
        base: register(base),
        offset,
        indices,
        decorations,
        physical: false,
    }))
}

fn elements(index: Operand, count: u32, stride: u32) -> ChainIndex {
    ChainIndex { index, width: 32, stride, bound: Bound::Elements(count) }
}

#[test]
fn own_memory_keeps_undefined_bits() {
    let mut builder = Builder::new(8);
    let shape = builder.shape(&[(0, LeafKind::Number(4)), (4, LeafKind::Bool), (8, LeafKind::Number(2))]);
    builder.own(StorageClass::Private, shape);
    let values = [Scalar { bits: 0x100, undef: 3 }, Scalar::undefined(1), Scalar::new(0xabcd)];
    let object = builder.constants(&values);
    builder.body(vec![
        variable(0, 0),
        load(2, 0, StorageClass::Private, shape),
        store(0, object, StorageClass::Private, shape),
        load(5, 0, StorageClass::Private, shape),
    ]);
    let registers = builder.finish();
    let undefined = [Scalar::undefined(32), Scalar::undefined(1), Scalar::undefined(16)];
    assert_eq!(registers[2..5], undefined);
    assert_eq!(registers[5..8], values);
}

#[test]
fn built_ins_have_their_values() {
    let table = [
        (BuiltIn::NumWorkgroups, [7, 2, 1]),
        (BuiltIn::WorkgroupSize, [2, 1, 1]),
        (BuiltIn::WorkgroupId, [5, 1, 0]),
        (BuiltIn::LocalInvocationId, [1, 0, 0]),
        (BuiltIn::GlobalInvocationId, [11, 1, 0]),
        (BuiltIn::LocalInvocationIndex, [1, 0, 0]),
        (BuiltIn::SubgroupSize, [2, 0, 0]),
        (BuiltIn::NumSubgroups, [1, 0, 0]),
        (BuiltIn::SubgroupId, [0, 0, 0]),
        (BuiltIn::SubgroupLocalInvocationId, [1, 0, 0]),
    ];
    for (built_in, value) in table {
        let mut builder = Builder::new(5);
        let shape = builder.shape(&[0, 4, 8].map(|offset| (offset, LeafKind::Number(4))));
        builder.own(StorageClass::Input, shape).built_in = Some(built_in);
        builder.body(vec![variable(0, 0), load(2, 0, StorageClass::Input, shape)]);
        let mut invocation = Invocation::new(&builder.program, &builder.dispatch, 1);
        builder.run(&mut invocation, &mut builder.memory(false));
        assert_eq!(invocation.registers[2..5], value.map(Scalar::new), "{built_in:?}");
    }
}

#[test]
fn an_output_can_be_read_from_outside() {
    let mut builder = Builder::new(2);
    let shape = builder.word_shape();
    builder.own(StorageClass::Output, shape);
    let object = builder.constant(Scalar { bits: 0x0102, undef: 0x0100_0000 });
    builder.body(vec![variable(0, 0), store(0, object, StorageClass::Output, shape)]);
    let (invocation, _) = builder.first_stop();
    let known = [2, 1, 0].map(Byte::Known);
    assert_eq!(invocation.own_variable(0), [known.as_slice(), &[Byte::Undef]].concat());
}

/// Loads `array[index]` of four words at byte 4 of a buffer of 20 bytes.
fn load_element(index: Scalar) -> Builder {
    let mut builder = Builder::new(5);
    let shape = builder.word_shape();
    builder.shared(BUFFER, shape, 20);
    let index = builder.constant(index);
    builder.body(vec![
        variable(0, 0),
        chain(2, 0, 4, vec![elements(index, 4, 4)]),
        load(4, 2, BUFFER, shape),
    ]);
    builder
}

#[test]
fn a_read_stops_with_its_place_and_goes_on_with_its_bytes() {
    let builder = load_element(Scalar::new(2));
    let (mut invocation, stop) = builder.first_stop();
    let Stop::Read(access) = stop else { panic!("{stop:?}") };
    assert_eq!((access.object, access.declaration, access.line), (0, 0, 12));
    assert_eq!(access.ranges.as_slice(), [(12, 4)]);
    assert_eq!(access.inst, InstId { function: FunctionId(0), index: 2 });
    assert_eq!(invocation.position()[..], [access.inst]);
    let bytes = [Byte::Known(1), Byte::Undef, Byte::Known(3), Byte::Known(0)];
    invocation.supply(&builder.program, &bytes);
    assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Finished));
    assert_eq!(invocation.registers[4], Scalar { bits: 0x3_0001, undef: 0xff00 });
}

#[test]
fn settled_accesses_do_not_stop() {
    let builder = load_element(Scalar::new(0));
    let mut memory = builder.memory(true);
    memory.objects[0][4..8].copy_from_slice(&word(42));
    let mut invocation = builder.start();
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Finished));
    assert_eq!(invocation.registers[4], Scalar::new(42));
}

#[test]
fn an_index_out_of_bounds_is_a_fault_of_the_access() {
    for index in [4, 0xffff_ffff] {
        let (invocation, stop) = load_element(Scalar::new(index)).first_stop();
        assert_eq!(fault_of(&stop), Some((UndefinedKind::OutOfBounds, 12)));
        assert_eq!(invocation.position()[0].index, 2);
    }
    // Making the pointer is no fault.
    let mut builder = load_element(Scalar::new(4));
    builder.program.functions[0].code[2].op = Op::Nop;
    assert!(matches!(builder.first_stop().1, Stop::Finished));
}

#[test]
fn a_chain_from_a_pointer_out_of_bounds_stays_out_of_bounds() {
    let mut builder = Builder::new(7);
    let shape = builder.word_shape();
    builder.shared(BUFFER, shape, 64);
    // The second index is undefined but within its bounds: it does not matter any more.
    let (two, either) = (builder.number(2), builder.constant(Scalar { bits: 0, undef: 1 }));
    builder.body(vec![
        variable(0, 0),
        chain(2, 0, 0, vec![elements(two, 2, 8)]),
        chain(4, 2, 0, vec![elements(either, 2, 4)]),
        load(6, 4, BUFFER, shape),
    ]);
    assert_eq!(fault_of(&builder.first_stop().1), Some((UndefinedKind::OutOfBounds, 13)));
}

#[test]
fn an_undefined_index_is_chosen_if_all_its_values_are_in_bounds() {
    let builder = load_element(Scalar { bits: 1, undef: 2 });
    let (mut invocation, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::Choose { ways: 2, line: 11 }), "{stop:?}");
    invocation.choose(1);
    let stop = builder.run(&mut invocation, &mut builder.memory(false));
    let Stop::Read(access) = stop else { panic!("{stop:?}") };
    assert_eq!(access.ranges.as_slice(), [(16, 4)]);
    let (_, stop) = load_element(Scalar { bits: 0, undef: 4 }).first_stop();
    assert_eq!(fault_of(&stop), Some((UndefinedKind::OutOfBounds, 12)));
}

#[test]
fn two_undefined_indices_are_chosen_independently() {
    let mut builder = Builder::new(5);
    let shape = builder.word_shape();
    builder.own(StorageClass::Private, shape).size = 16;
    let index = builder.constant(Scalar { bits: 0, undef: 1 });
    builder.body(vec![
        variable(0, 0),
        chain(2, 0, 0, vec![elements(index, 2, 8), elements(index, 2, 4)]),
        load(4, 2, StorageClass::Private, shape),
    ]);
    let mut offsets: Vec<u64> = builder.every_way(2).iter().map(|address| address.bits & 0xff).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, [0, 4, 8, 12]);
}

#[test]
fn runtime_arrays_end_with_their_object() {
    let at = |index| {
        let mut builder = Builder::new(6);
        let shape = builder.word_shape();
        builder.shared(BUFFER, shape, 18);
        let index = builder.number(index);
        let bound = Bound::RuntimeArray { start: 4 };
        let step = ChainIndex { index, width: 32, stride: 4, bound };
        builder.body(vec![variable(0, 0), chain(2, 0, 4, vec![step]), load(4, 2, BUFFER, shape)]);
        builder.first_stop().1
    };
    assert!(matches!(at(2), Stop::Read(_)));
    assert_eq!(fault_of(&at(3)), Some((UndefinedKind::OutOfBounds, 12)));
}

#[test]
fn array_length() {
    let mut builder = Builder::new(3);
    let shape = builder.word_shape();
    builder.shared(BUFFER, shape, 27);
    builder.body(vec![
        variable(0, 0),
        Op::Memory(MemoryOp::ArrayLength { dst: 2, pointer: register(0), offset: 4, stride: 8 }),
    ]);
    assert_eq!(builder.finish()[2], Scalar::new(2));
}

#[test]
fn descriptors_select_the_object() {
    let at = |index: Scalar| {
        let mut builder = Builder::new(5);
        let shape = builder.word_shape();
        builder.shared(BUFFER, shape, 8).descriptors = Some(3);
        builder.object(8);
        builder.object(4);
        let index = builder.constant(index);
        let step = ChainIndex { index, width: 32, stride: 0, bound: Bound::Descriptor(3) };
        builder.body(vec![variable(0, 0), chain(2, 0, 4, vec![step]), load(4, 2, BUFFER, shape)]);
        builder.first_stop().1
    };
    let Stop::Read(access) = at(Scalar::new(1)) else { panic!() };
    assert_eq!((access.object, access.ranges[0]), (1, (4, 4)));
    assert_eq!(fault_of(&at(Scalar::new(3))), Some((UndefinedKind::OutOfBounds, 12)));
    // The third is too small.
    assert_eq!(fault_of(&at(Scalar::new(2))), Some((UndefinedKind::OutOfBounds, 12)));
}

#[test]
fn null_and_undefined_pointers() {
    let through = |components: [Scalar; 2]| {
        let mut builder = Builder::new(5);
        let shape = builder.word_shape();
        let pointer = builder.constants(&components);
        builder.body(vec![
            Op::Copy { dst: 0, a: pointer, count: 2 },
            chain(2, 0, 4, vec![]),
            load(4, 2, BUFFER, shape),
        ]);
        fault_of(&builder.first_stop().1)
    };
    assert_eq!(through(Pointer::null().encode()), Some((UndefinedKind::NullAccess, 12)));
    assert_eq!(through([Scalar::undefined(64); 2]), Some((UndefinedKind::UndefinedAddress, 12)));
}

#[test]
fn a_write_stops_behind_the_instruction_with_its_bytes() {
    let mut builder = Builder::new(2);
    // A row-major matrix of two columns: its components are not in the order of their bytes.
    let shape = builder.shape(&[0, 16, 4, 20].map(|offset| (offset, LeafKind::Number(4))));
    builder.shared(BUFFER, shape, 24);
    let object = builder.constants(&[1, 2, 3, 4].map(Scalar::new));
    builder.body(vec![variable(0, 0), store(0, object, BUFFER, shape)]);
    let (mut invocation, stop) = builder.first_stop();
    let Stop::Write(access, bytes) = stop else { panic!("{stop:?}") };
    assert_eq!(access.ranges.as_slice(), [(0, 8), (16, 8)]);
    assert_eq!(bytes, [word(1), word(3), word(2), word(4)].concat());
    assert_eq!((access.inst.index, invocation.position()[0].index), (1, 2));
    assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Finished));
}

#[test]
fn a_read_of_components_out_of_byte_order() {
    let mut builder = Builder::new(6);
    let shape = builder.shape(&[0, 16, 4, 20].map(|offset| (offset, LeafKind::Number(4))));
    builder.shared(BUFFER, shape, 24);
    builder.body(vec![variable(0, 0), load(2, 0, BUFFER, shape)]);
    let (mut invocation, _) = builder.first_stop();
    invocation.supply(&builder.program, &[word(1), word(3), word(2), word(4)].concat());
    assert_eq!(invocation.registers[2..6], [1, 2, 3, 4].map(Scalar::new));
}

#[test]
fn an_empty_struct_is_no_event() {
    let mut builder = Builder::new(2);
    let shape = builder.shape(&[]);
    builder.shared(BUFFER, shape, 4);
    let nothing = builder.constants(&[]);
    builder.body(vec![variable(0, 0), load(2, 0, BUFFER, shape), store(0, nothing, BUFFER, shape)]);
    builder.finish();
}

#[test]
fn bools_take_four_bytes_and_partly_undefined_bytes_are_undefined() {
    let mut builder = Builder::new(4);
    let shape = builder.shape(&[(0, LeafKind::Bool), (4, LeafKind::Number(4))]);
    builder.shared(StorageClass::Workgroup, shape, 8);
    let object = builder.constants(&[Scalar::new(1), Scalar { bits: 0x0100, undef: 1 }]);
    builder.body(vec![
        variable(0, 0),
        store(0, object, StorageClass::Workgroup, shape),
        load(2, 0, StorageClass::Workgroup, shape),
    ]);
    let (mut invocation, stop) = builder.first_stop();
    let Stop::Write(_, bytes) = stop else { panic!("{stop:?}") };
    assert_eq!(bytes[..4], word(1));
    assert_eq!(bytes[4..], [Byte::Undef, Byte::Known(1), Byte::Known(0), Byte::Known(0)]);
    builder.run(&mut invocation, &mut builder.memory(false));
    let mut partly = bytes.clone();
    partly[2] = Byte::Undef;
    invocation.supply(&builder.program, &partly);
    assert_eq!(invocation.registers[2..4], [Scalar::undefined(1), Scalar { bits: 0x0100, undef: 0xff }]);
}

/// A store of a word at a byte offset.
fn store_at(offset: u32, aligned: Option<u32>, class: StorageClass) -> Option<UndefinedKind> {
    let mut builder = Builder::new(4);
    let shape = builder.word_shape();
    builder.shared(class, shape, 16);
    let object = builder.number(1);
    let operands = MemoryOperands { aligned, ..MemoryOperands::default() };
    builder.body(vec![
        variable(0, 0),
        chain(2, 0, offset, vec![]),
        Op::Memory(MemoryOp::Store { pointer: register(2), object, class, shape, operands }),
    ]);
    fault_of(&builder.first_stop().1).map(|(kind, _)| kind)
}

#[test]
fn alignment() {
    assert_eq!(store_at(4, Some(4), BUFFER), None);
    assert_eq!(store_at(4, Some(8), BUFFER), Some(UndefinedKind::Misaligned));
    assert_eq!(store_at(2, None, BUFFER), Some(UndefinedKind::Misaligned));
    // The layout of Workgroup memory is ours.
    assert_eq!(store_at(4, Some(16), StorageClass::Workgroup), None);
    assert_eq!(store_at(12, None, BUFFER), None);
    assert_eq!(store_at(16, None, BUFFER), Some(UndefinedKind::OutOfBounds));
    assert_eq!(store_at(u32::MAX - 1, None, BUFFER), Some(UndefinedKind::OutOfBounds));
}

#[test]
fn read_only_and_write_only_memory() {
    let with = |change: fn(&mut Builder), write: bool| {
        let mut builder = Builder::new(3);
        let shape = builder.word_shape();
        builder.shared(BUFFER, shape, 4);
        change(&mut builder);
        let object = builder.number(1);
        let access = if write { store(0, object, BUFFER, shape) } else { load(2, 0, BUFFER, shape) };
        builder.body(vec![variable(0, 0), access]);
        fault_of(&builder.first_stop().1)
    };
    let non_writable: fn(&mut Builder) = |b| b.program.variables[0].decorations.non_writable = true;
    let non_readable: fn(&mut Builder) = |b| b.program.variables[0].decorations.non_readable = true;
    let constant: fn(&mut Builder) = |b| b.dispatch.objects[0].constant = true;
    assert_eq!(with(non_writable, true), Some((UndefinedKind::NonWritable, 11)));
    assert_eq!(with(non_writable, false), None);
    assert_eq!(with(non_readable, false), Some((UndefinedKind::NonReadable, 11)));
    assert_eq!(with(non_readable, true), None);
    assert_eq!(with(constant, true), Some((UndefinedKind::NonWritable, 11)));
    assert_eq!(with(constant, false), None);
}

#[test]
fn pointers_are_equal_by_location() {
    let mut builder = Builder::new(16);
    let shape = builder.word_shape();
    builder.shared(BUFFER, shape, 8);
    builder.shared(BUFFER, shape, 8).decorations.coherent = true;
    builder.shared(BUFFER, shape, 8);
    builder.own(StorageClass::Private, shape);
    // The second binding aliases the first.
    builder.dispatch.objects[1].memory = 0;
    let equal = |dst, a, b| Op::Binary {
        op: BinaryOp::PtrEqual,
        width: 64,
        count: 1,
        dst,
        a: register(a),
        b: register(b),
    };
    builder.body(vec![
        variable(0, 0),
        variable(2, 1),
        variable(4, 2),
        chain(6, 0, 4, vec![]),
        variable(12, 3),
        equal(8, 0, 2),
        equal(9, 0, 4),
        equal(10, 0, 6),
        equal(11, 0, 12),
        Op::Binary {
            op: BinaryOp::PtrNotEqual,
            width: 64,
            count: 1,
            dst: 14,
            a: register(0),
            b: register(6),
        },
    ]);
    assert_eq!(builder.finish()[8..12], [1, 0, 0, 0].map(Scalar::new));
    assert_eq!(builder.finish()[14], Scalar::new(1));
}

#[test]
fn the_invocations_of_a_dispatch_are_those_that_are_made_one_by_one() {
    let mut builder = Builder::new(0);
    let shape = builder.shape(&[(0, LeafKind::Number(4))]);
    builder.own(StorageClass::Input, shape).built_in = Some(BuiltIn::LocalInvocationIndex);
    let initializer = builder.constant(Scalar::new(7));
    let variable = builder.own(StorageClass::Private, shape);
    (variable.built_in, variable.initializer) = (Some(BuiltIn::SubgroupSize), Some(initializer));
    builder.body(Vec::new());
    // One entry point of two, and one workgroup of two.
    builder.program.functions.push(builder.program.functions[0].clone());
    builder.program.functions[1].registers = 3;
    let places = builder.dispatch.places.clone();
    builder.dispatch.places.extend(places.into_iter().map(|place| Place { workgroup: 1, ..place }));
    builder.dispatch.object_of.iter_mut().for_each(|objects| objects.push(None));
    builder.dispatch.entries = [0, 0, 1, 1].map(FunctionId).to_vec();
    let (program, dispatch) = (&builder.program, &builder.dispatch);
    let one_by_one: Vec<Invocation> = (0..4).map(|index| Invocation::new(program, dispatch, index)).collect();
    let all = Invocation::all(program, dispatch, 0..4);
    assert_eq!(format!("{all:?}"), format!("{one_by_one:?}"));
    assert_ne!(all[0].own_variable(0), all[1].own_variable(0));
}
