//! Physical pointers: addresses that are looked up at the access.

use super::*;
use crate::dispatch::PhysicalRange;

const CLASS: StorageClass = StorageClass::PhysicalStorageBuffer;

/// A load of a word through the physical pointer in registers 0 and 1, made from these components,
/// after a chain of `offset` bytes with these indices; two buffers of 8 bytes lie at 0x1000 and 0x2000.
fn loaded(pointer: [Scalar; 2], offset: u32, indices: Vec<ChainIndex>) -> Stop {
    loaded_with(pointer, offset, indices, MemoryOperands::default())
}

fn loaded_with(
    pointer: [Scalar; 2],
    offset: u32,
    indices: Vec<ChainIndex>,
    operands: MemoryOperands,
) -> Stop {
    let mut builder = Builder::new(8);
    let shape = builder.word_shape();
    builder.object(8);
    builder.object(8);
    builder.dispatch.physical = vec![
        PhysicalRange { address: 0x1000, size: 8, object: 0 },
        PhysicalRange { address: 0x2000, size: 8, object: 1 },
    ];
    let base = builder.constants(&pointer);
    let chain = Chain { dst: 2, base, offset, indices, decorations: Decorations::default(), physical: true };
    builder.body(vec![
        Op::Memory(MemoryOp::Chain(chain)),
        Op::Memory(MemoryOp::Load { dst: 4, pointer: register(2), class: CLASS, shape, operands }),
    ]);
    builder.first_stop().1
}

fn at(address: u64) -> [Scalar; 2] {
    [Scalar::new(address), Scalar::new(0)]
}

fn kind(stop: &Stop) -> Option<UndefinedKind> {
    fault_of(stop).map(|(kind, _)| kind)
}

#[test]
fn an_address_finds_its_object() {
    for (address, offset, object, byte) in [(0x1000, 0, 0, 0), (0x1004, 0, 0, 4), (0x2000, 4, 1, 4)] {
        match loaded(at(address), offset, vec![]) {
            Stop::Read(access) => {
                assert_eq!((access.object, access.ranges[0]), (object, (byte, 4)), "{address:#x}");
                assert_eq!(access.declaration, Pointer::PHYSICAL);
                // No variable promises anything about it.
                assert!(access.aliased);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn null_nowhere_and_unaligned_addresses_are_faults() {
    assert_eq!(kind(&loaded(at(0), 0, vec![])), Some(UndefinedKind::NullAccess));
    // A member of nothing is nothing.
    assert_eq!(kind(&loaded(at(0), 4, vec![])), Some(UndefinedKind::NullAccess));
    for nowhere in [0xfff, 0x1008, 0x1006, 0x3000, u64::MAX] {
        assert_eq!(kind(&loaded(at(nowhere), 0, vec![])), Some(UndefinedKind::OutOfBounds), "{nowhere:#x}");
    }
    assert_eq!(kind(&loaded(at(0x1002), 0, vec![])), Some(UndefinedKind::Misaligned));
    let operands = MemoryOperands { aligned: Some(8), ..MemoryOperands::default() };
    assert_eq!(kind(&loaded_with(at(0x1004), 0, vec![], operands)), Some(UndefinedKind::Misaligned));
    let undefined = [Scalar { bits: 0x1000, undef: 4 }, Scalar::new(0)];
    assert_eq!(kind(&loaded(undefined, 0, vec![])), Some(UndefinedKind::UndefinedAddress));
}

#[test]
fn an_element_index_is_signed_and_has_no_bound_of_its_own() {
    let mut builder = Builder::new(0);
    let index = builder.number(0xffff_ffff);
    let step = |bound| ChainIndex { index, width: 32, stride: 4, bound };
    // The pool of the program under test begins with the index.
    let run = |pointer: u64, bound| {
        let mut builder = Builder::new(8);
        let shape = builder.word_shape();
        builder.object(8);
        builder.dispatch.physical = vec![PhysicalRange { address: 0x1000, size: 8, object: 0 }];
        builder.number(0xffff_ffff);
        let base = builder.constants(&at(pointer));
        let decorations = Decorations::default();
        let chain =
            Chain { dst: 2, base, offset: 0, indices: vec![step(bound)], decorations, physical: true };
        let operands = MemoryOperands::default();
        builder.body(vec![
            Op::Memory(MemoryOp::Chain(chain)),
            Op::Memory(MemoryOp::Load { dst: 4, pointer: register(2), class: CLASS, shape, operands }),
        ]);
        builder.first_stop().1
    };
    assert!(matches!(run(0x1004, Bound::Unbounded), Stop::Read(access) if access.ranges[0] == (0, 4)));
    assert_eq!(kind(&run(0x1000, Bound::Unbounded)), Some(UndefinedKind::OutOfBounds));
    assert_eq!(kind(&run(0x1004, Bound::Elements(2))), Some(UndefinedKind::OutOfBounds));
}

#[test]
fn decorations_travel_with_the_pointer_in_registers() {
    let decorations = Decorations { coherent: true, restrict: true, ..Decorations::default() };
    let pointer = PhysicalPointer { address: 0x1000, decorations, out_of_bounds: false };
    assert_eq!(PhysicalPointer::decode(pointer.encode()), Some(pointer));
    assert!(matches!(loaded(pointer.encode(), 0, vec![]), Stop::Read(access) if !access.aliased));
    let outside = PhysicalPointer { out_of_bounds: true, ..pointer };
    assert_eq!(kind(&loaded(outside.encode(), 0, vec![])), Some(UndefinedKind::OutOfBounds));
}

#[test]
fn a_difference_needs_one_array() {
    let difference = |a: [u32; 2], b: [u32; 2]| {
        let mut builder = Builder::new(2);
        let mut pointer = |[object, offset]: [u32; 2]| {
            let start = Pointer::to_object(object, 0, Decorations::default());
            builder.constants(&Pointer { offset, ..start }.encode())
        };
        let (a, b) = (pointer(a), pointer(b));
        builder.body(vec![Op::Memory(MemoryOp::Difference { dst: 0, a, b, stride: 4, width: 32 })]);
        let (invocation, stop) = builder.first_stop();
        match stop {
            Stop::Finished => Ok(invocation.registers[0].bits),
            other => Err(kind(&other)),
        }
    };
    assert_eq!(difference([0, 12], [0, 4]), Ok(2));
    assert_eq!(difference([0, 4], [0, 12]), Ok(0xffff_fffe));
    assert_eq!(difference([0, 4], [0, 2]), Err(Some(UndefinedKind::UndefinedOperand)));
    assert_eq!(difference([0, 4], [1, 0]), Err(Some(UndefinedKind::UndefinedOperand)));
}
