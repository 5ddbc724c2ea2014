//! OpCopyMemory.

use super::*;

const BUFFER: StorageClass = StorageClass::StorageBuffer;

fn copy(source: (u32, StorageClass, ShapeId), target: (u32, StorageClass, ShapeId)) -> Op {
    Op::Memory(MemoryOp::Copy {
        target: register(target.0),
        target_class: target.1,
        target_shape: target.2,
        target_operands: MemoryOperands { make_available: Some(Scope::Device), ..Default::default() },
        source: register(source.0),
        source_class: source.1,
        source_shape: source.2,
        source_operands: MemoryOperands { make_visible: Some(Scope::Workgroup), ..Default::default() },
    })
}

/// A copy from a buffer, laid out with stride 8, to another with stride 4.
fn between_buffers() -> Builder {
    let mut builder = Builder::new(4);
    let wide = builder.shape(&[(0, LeafKind::Number(4)), (8, LeafKind::Number(4))]);
    let dense = builder.shape(&[(0, LeafKind::Number(4)), (4, LeafKind::Number(4))]);
    builder.shared(BUFFER, wide, 12);
    builder.shared(BUFFER, dense, 8);
    builder.body(vec![variable(0, 0), variable(2, 1), copy((0, BUFFER, wide), (2, BUFFER, dense))]);
    builder
}

#[test]
fn a_copy_is_a_read_then_a_write() {
    let builder = between_buffers();
    let (mut invocation, stop) = builder.first_stop();
    let Stop::Read(access) = stop else { panic!("{stop:?}") };
    assert_eq!((access.object, access.ranges.as_slice()), (0, [(0, 4), (8, 4)].as_slice()));
    assert_eq!((access.visible, access.available), (Some(Scope::Workgroup), None));
    invocation.supply(&builder.program, &[word(5), word(6)].concat());
    assert_eq!(invocation.position()[..], [access.inst]);
    let stop = builder.run(&mut invocation, &mut builder.memory(false));
    let Stop::Write(access, bytes) = stop else { panic!("{stop:?}") };
    assert_eq!((access.object, access.ranges.as_slice()), (1, [(0, 8)].as_slice()));
    assert_eq!((access.visible, access.available), (None, Some(Scope::Device)));
    assert_eq!(bytes, [word(5), word(6)].concat());
    assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Finished));
}

#[test]
fn a_settled_copy_does_not_stop() {
    let builder = between_buffers();
    let mut memory = builder.memory(true);
    memory.objects[0] = [word(5), word(0), word(6)].concat();
    let mut invocation = builder.start();
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Finished));
    assert_eq!(memory.objects[1], [word(5), word(6)].concat());
}

#[test]
fn copies_from_and_to_own_memory() {
    let mut builder = Builder::new(7);
    let shape = builder.word_shape();
    let five = builder.number(5);
    builder.own(StorageClass::Private, shape).initializer = Some(five);
    builder.own(StorageClass::Private, shape);
    builder.shared(BUFFER, shape, 4);
    let private = |register| (register, StorageClass::Private, shape);
    builder.body(vec![
        variable(0, 0),
        variable(2, 1),
        variable(4, 2),
        copy(private(0), private(2)),
        load(6, 2, StorageClass::Private, shape),
        copy(private(2), (4, BUFFER, shape)),
    ]);
    let (invocation, stop) = builder.first_stop();
    assert_eq!(invocation.registers[6], Scalar::new(5));
    assert!(matches!(stop, Stop::Write(_, bytes) if bytes == word(5)));
}
