//! Atomic instructions.

use super::*;

const BUFFER: StorageClass = StorageClass::StorageBuffer;

fn program(kind: impl FnOnce(&mut Builder) -> AtomicKind, change: fn(&mut AtomicOp)) -> Builder {
    let mut builder = Builder::new(3);
    let shape = builder.word_shape();
    builder.shared(BUFFER, shape, 8);
    let kind = kind(&mut builder);
    let mut op = AtomicOp {
        kind,
        dst: 2,
        pointer: register(0),
        class: BUFFER,
        width: 32,
        scope: Scope::Device,
        semantics: release(ClassSet::UNIFORM),
        unequal: Semantics::default(),
        result_used: true,
    };
    change(&mut op);
    builder.body(vec![variable(0, 0), Op::Atomic(op)]);
    builder
}

/// The result and what is written, from the old value.
fn run(builder: &Builder, old: u32) -> (Scalar, Option<Vec<Byte>>) {
    let (mut invocation, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::AtomicRead { .. }), "{stop:?}");
    let written = invocation.supply_atomic(&builder.program, &word(old));
    assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Finished));
    (invocation.registers[2], written)
}

#[test]
fn updates() {
    type Kind = fn(Operand) -> AtomicKind;
    let minus_two = (-2_i32) as u32;
    let table: [(Kind, u32, u32, u32); 14] = [
        (|value| AtomicKind::Exchange { value }, 1, 7, 7),
        (|_| AtomicKind::IIncrement, u32::MAX, 0, 0),
        (|_| AtomicKind::IDecrement, 0, 0, u32::MAX),
        (|value| AtomicKind::IAdd { value }, 3, minus_two, 1),
        (|value| AtomicKind::ISub { value }, 3, 4, u32::MAX),
        (|value| AtomicKind::SMin { value }, 3, minus_two, minus_two),
        (|value| AtomicKind::UMin { value }, 3, minus_two, 3),
        (|value| AtomicKind::SMax { value }, 3, minus_two, 3),
        (|value| AtomicKind::UMax { value }, 3, minus_two, minus_two),
        (|value| AtomicKind::UMax { value }, 5, 4, 5),
        (|value| AtomicKind::And { value }, 6, 3, 2),
        (|value| AtomicKind::Or { value }, 6, 3, 7),
        (|value| AtomicKind::Xor { value }, 6, 3, 5),
        (|value| AtomicKind::CompareExchange { value, comparator: Operand::constant(1) }, 8, 9, 9),
    ];
    for (index, (kind, old, operand, new)) in table.into_iter().enumerate() {
        let builder = program(
            |builder| {
                let value = builder.number(u64::from(operand));
                builder.number(8);
                kind(value)
            },
            |_| {},
        );
        let expected = (Scalar::new(u64::from(old)), Some(word(new)));
        assert_eq!(run(&builder, old), expected, "row {index}");
    }
}

#[test]
fn loads_and_failing_exchanges_write_nothing() {
    let load = program(|_| AtomicKind::Load, |_| {});
    assert_eq!(run(&load, 5), (Scalar::new(5), None));
    let (_, stop) = load.first_stop();
    let Stop::AtomicRead { access, may_write: false, .. } = stop else { panic!("{stop:?}") };
    assert_eq!((access.available, access.visible), (None, Some(Scope::Device)));
    let exchange = program(exchange_of_zero, |_| {});
    assert_eq!(run(&exchange, 5), (Scalar::new(5), None));
    assert_eq!(run(&exchange, 0), (Scalar::new(0), Some(word(1))));
    let (_, stop) = exchange.first_stop();
    assert!(matches!(stop, Stop::AtomicRead { may_write: true, .. }));
}

/// Exchanges 0 for 1.
fn exchange_of_zero(builder: &mut Builder) -> AtomicKind {
    AtomicKind::CompareExchange { value: builder.number(1), comparator: builder.number(0) }
}

#[test]
fn an_undefined_comparison_goes_both_ways() {
    let exchange = program(exchange_of_zero, |_| {});
    let (invocation, _) = exchange.first_stop();
    let ways = |bytes: &[Byte]| invocation.atomic_ways(&exchange.program, bytes);
    let undecided = [Byte::Undef, Byte::Known(0), Byte::Known(0), Byte::Known(0)];
    assert_eq!(ways(&word(0)), 1);
    assert_eq!(ways(&undecided), 2);
    // One known bit differs: it fails whatever the others are.
    assert_eq!(ways(&[Byte::Undef, Byte::Known(4), Byte::Undef, Byte::Undef]), 1);
    for (way, written) in [(0, None), (1, Some(word(1)))] {
        let mut invocation = invocation.clone();
        invocation.choose(way);
        assert_eq!(invocation.supply_atomic(&exchange.program, &undecided), written);
        assert!(matches!(exchange.run(&mut invocation, &mut exchange.memory(false)), Stop::Finished));
    }
}

#[test]
fn an_atomic_is_non_private_at_its_own_scope() {
    let add = |builder: &mut Builder| AtomicKind::IAdd { value: builder.number(1) };
    let mut builder = program(add, |op| op.semantics.volatile = true);
    let (_, stop) = builder.first_stop();
    let Stop::AtomicRead { access, atomicity, may_write: true } = stop else { panic!("{stop:?}") };
    assert!(access.non_private && access.volatile);
    assert_eq!((access.available, access.visible), (Some(Scope::Device), Some(Scope::Device)));
    assert_eq!((atomicity.scope, atomicity.semantics.order), (Scope::Device, Order::Release));
    assert_eq!(access.ranges.as_slice(), [(0, 4)]);
    builder.program.memory_model = MemoryModel::Glsl450;
    let (_, stop) = builder.first_stop();
    let Stop::AtomicRead { access, atomicity, .. } = stop else { panic!("{stop:?}") };
    assert_eq!((access.available, atomicity.scope), (Some(Scope::QueueFamily), Scope::QueueFamily));
}

#[test]
fn a_store_writes_without_reading() {
    let builder = program(|builder| AtomicKind::Store { value: builder.number(6) }, |_| {});
    let (mut invocation, stop) = builder.first_stop();
    let Stop::AtomicWrite { access, bytes, .. } = stop else { panic!("{stop:?}") };
    assert_eq!((access.available, access.visible), (Some(Scope::Device), None));
    assert_eq!(bytes, word(6));
    assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Finished));
}

#[test]
fn settled_atomics_write_through() {
    let add = |builder: &mut Builder| AtomicKind::IAdd { value: builder.number(5) };
    let builder = program(add, |_| {});
    let mut memory = builder.memory(true);
    memory.objects[0][..4].copy_from_slice(&word(37));
    let mut invocation = builder.start();
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Finished));
    assert_eq!(invocation.registers[2], Scalar::new(37));
    assert_eq!(memory.objects[0][..4], word(42));
}

#[test]
fn atomics_on_undefined_values() {
    let add = |builder: &mut Builder| AtomicKind::UMin { value: builder.number(0) };
    let builder = program(add, |_| {});
    let (mut invocation, _) = builder.first_stop();
    // The least unsigned number is the minimum of anything.
    let written = invocation.supply_atomic(&builder.program, &[Byte::Undef; 4]);
    assert_eq!(written, Some(word(0)));
    assert_eq!(invocation.registers[2], Scalar::undefined(32));
}

#[test]
fn atomics_check_bounds_and_alignment() {
    let at = |offset: u32| {
        let mut builder = program(|_| AtomicKind::Load, |op| op.pointer = register(0));
        let chain = Chain {
            dst: 0,
            base: register(0),
            offset,
            indices: vec![],
            decorations: Decorations::default(),
            physical: false,
        };
        let inst = Inst::plain(Op::Memory(MemoryOp::Chain(chain)), 0);
        builder.program.functions[0].code.insert(1, inst);
        builder.first_stop().1
    };
    assert!(matches!(at(4), Stop::AtomicRead { .. }));
    assert_eq!(fault_of(&at(2)), Some((UndefinedKind::Misaligned, 11)));
    assert_eq!(fault_of(&at(8)), Some((UndefinedKind::OutOfBounds, 11)));
}

#[test]
fn writing_atomics_need_writable_memory_and_reading_ones_readable() {
    let fault = |kind: AtomicKind, change: fn(&mut Decorations)| {
        let mut builder = program(|_| kind, |_| {});
        builder.number(0);
        change(&mut builder.program.variables[0].decorations);
        fault_of(&builder.first_stop().1).map(|(kind, _)| kind)
    };
    let store = AtomicKind::Store { value: Operand::constant(0) };
    assert_eq!(fault(AtomicKind::Load, |d| d.non_writable = true), None);
    assert_eq!(fault(AtomicKind::IIncrement, |d| d.non_writable = true), Some(UndefinedKind::NonWritable));
    assert_eq!(fault(store, |d| d.non_readable = true), None);
    assert_eq!(fault(AtomicKind::Load, |d| d.non_readable = true), Some(UndefinedKind::NonReadable));
}

#[test]
fn float_updates() {
    type Kind = fn(Operand) -> AtomicKind;
    let [add, min, max]: [Kind; 3] = [
        |value| AtomicKind::FAdd { value },
        |value| AtomicKind::FMin { value },
        |value| AtomicKind::FMax { value },
    ];
    let table: [(Kind, f32, f32, f32); 6] = [
        (add, 1.5, -0.25, 1.25),
        (min, 1.5, -2.0, -2.0),
        (min, -2.0, 1.5, -2.0),
        (max, 1.5, -2.0, 1.5),
        (max, -2.0, f32::INFINITY, f32::INFINITY),
        (max, 3.0, 3.0, 3.0),
    ];
    for (index, (kind, old, operand, new)) in table.into_iter().enumerate() {
        let builder = program(|builder| kind(builder.number(u64::from(operand.to_bits()))), |_| {});
        let expected = (Scalar::new(u64::from(old.to_bits())), Some(word(new.to_bits())));
        assert_eq!(run(&builder, old.to_bits()), expected, "row {index}");
    }
}

#[test]
fn the_lesser_of_two_zeros_is_either() {
    let builder = program(|builder| AtomicKind::FMin { value: builder.number(0x8000_0000) }, |_| {});
    let zero = Byte::Known(0);
    // The byte with the sign is undefined.
    assert_eq!(run(&builder, 0).1, Some(vec![zero, zero, zero, Byte::Undef]));
}
