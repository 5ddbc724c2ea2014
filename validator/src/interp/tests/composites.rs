//! Composites, selections and the component-wise machinery.

use super::*;

#[test]
fn construct_extract_insert_and_shuffle() {
    let mut builder = Builder::new(16);
    let pool = builder.constants(&[1, 2, 3, 4].map(Scalar::new));
    let nine = builder.number(9);
    builder.body(
        [
            CompositeOp::Construct { dst: 0, parts: vec![(pool.offset(2), 2), (pool, 1)] },
            CompositeOp::Extract { dst: 3, a: register(0), start: 1, count: 2 },
            CompositeOp::Insert { dst: 5, a: pool, total: 4, object: nine, start: 2, count: 1 },
            CompositeOp::Shuffle {
                dst: 9,
                width: 32,
                components: vec![Some(pool.offset(3)), None, Some(register(0))],
            },
        ]
        .map(Op::Composite)
        .into(),
    );
    let registers = builder.finish();
    assert_eq!(registers[0..3], [3, 4, 1].map(Scalar::new));
    assert_eq!(registers[3..5], [4, 1].map(Scalar::new));
    assert_eq!(registers[5..9], [1, 2, 9, 4].map(Scalar::new));
    assert_eq!(registers[9..12], [Scalar::new(4), Scalar::undefined(32), Scalar::new(3)]);
}

fn extract_at(index: Scalar) -> Builder {
    let mut builder = Builder::new(8);
    let vector = builder.constants(&[10, 11, 12].map(Scalar::new));
    let index = builder.constant(index);
    builder.body(vec![Op::Composite(CompositeOp::ExtractDynamic {
        dst: 0,
        width: 32,
        a: vector,
        count: 3,
        index,
    })]);
    builder
}

#[test]
fn dynamic_indices() {
    assert_eq!(extract_at(Scalar::new(2)).finish()[0], Scalar::new(12));
    let mut builder = Builder::new(8);
    let vector = builder.constants(&[10, 11, 12].map(Scalar::new));
    let (one, nine) = (builder.number(1), builder.number(9));
    builder.body(vec![Op::Composite(CompositeOp::InsertDynamic {
        dst: 0,
        width: 32,
        a: vector,
        object: nine,
        count: 3,
        index: one,
    })]);
    assert_eq!(builder.finish()[0..3], [10, 9, 12].map(Scalar::new));
}

#[test]
fn a_dynamic_index_outside_the_vector_is_a_fault() {
    for index in [Scalar::new(3), Scalar::new(0xffff_ffff), Scalar { bits: 0, undef: 3 }] {
        let (_, stop) = extract_at(index).first_stop();
        assert_eq!(fault_of(&stop), Some((UndefinedKind::OutOfBounds, 10)), "{index:?}");
    }
}

#[test]
fn an_undefined_dynamic_index_inside_the_vector_chooses() {
    let results = extract_at(Scalar { bits: 0, undef: 2 }).every_way(0);
    assert_eq!(results, [10, 12].map(Scalar::new));
}

fn select(condition: &[Scalar], scalar_condition: bool, a: [u64; 2], b: [u64; 2]) -> Builder {
    let mut builder = Builder::new(2);
    let condition = builder.constants(condition);
    let a = builder.constants(&a.map(Scalar::new));
    let b = builder.constants(&b.map(Scalar::new));
    builder.body(vec![Op::Select { dst: 0, condition, scalar_condition, count: 2, a, b }]);
    builder
}

#[test]
fn select_by_component_and_as_a_whole() {
    let (no, yes) = (Scalar::new(0), Scalar::new(1));
    assert_eq!(select(&[yes, no], false, [1, 2], [3, 4]).finish(), [1, 4].map(Scalar::new));
    assert_eq!(select(&[no], true, [1, 2], [3, 4]).finish(), [3, 4].map(Scalar::new));
}

#[test]
fn an_undefined_condition_chooses_only_where_it_matters() {
    let undefined = Scalar::undefined(1);
    assert_eq!(select(&[undefined], true, [1, 2], [1, 2]).finish(), [1, 2].map(Scalar::new));
    let whole = select(&[undefined], true, [1, 2], [1, 4]);
    assert_eq!(whole.every_way(1), [4, 2].map(Scalar::new));
    // Component by component the choices are independent: the first does not matter here.
    let components = select(&[undefined, undefined], false, [1, 2], [1, 4]);
    assert_eq!(components.every_way(1).len(), 2);
    let independent = select(&[undefined, undefined], false, [1, 2], [3, 4]);
    assert_eq!(independent.every_way(0).len(), 4);
}

#[test]
fn any_and_all() {
    let (no, yes, unknown) = (Scalar::new(0), Scalar::new(1), Scalar::undefined(1));
    for (components, any, all) in [
        ([no, yes], yes, no),
        ([yes, yes], yes, yes),
        ([no, no], no, no),
        ([unknown, yes], yes, unknown),
        ([unknown, no], unknown, no),
    ] {
        let mut builder = Builder::new(2);
        let a = builder.constants(&components);
        builder.body(vec![Op::Any { dst: 0, a, count: 2 }, Op::All { dst: 1, a, count: 2 }]);
        assert_eq!(builder.finish(), [any, all]);
    }
}

#[test]
fn component_wise_operations_run_over_all_components() {
    let mut builder = Builder::new(16);
    let a = builder.constants(&[1, 2, 0xffff_ffff].map(Scalar::new));
    let b = builder.constants(&[10, 20, 1].map(Scalar::new));
    let wide = builder.constant(Scalar::new(0x2_0000_0001));
    builder.body(vec![
        Op::Binary { op: BinaryOp::IAdd, width: 32, count: 3, dst: 0, a, b },
        Op::Extended { op: ExtendedOp::IAddCarry, width: 32, count: 3, dst: 3, a, b },
        Op::Convert { op: ConvertOp::Bitcast, from: 64, to: 32, count: 1, dst: 9, a: wide },
        Op::Convert { op: ConvertOp::SConvert, from: 32, to: 64, count: 3, dst: 11, a },
        Op::Undef { dst: 14, widths: vec![1, 32] },
    ]);
    let registers = builder.finish();
    assert_eq!(registers[0..3], [11, 22, 0].map(Scalar::new));
    assert_eq!(registers[3..9], [11, 22, 0, 0, 0, 1].map(Scalar::new));
    assert_eq!(registers[9..11], [1, 2].map(Scalar::new));
    assert_eq!(registers[13], Scalar::new(u64::MAX));
    assert_eq!(registers[14..16], [Scalar::undefined(1), Scalar::undefined(32)]);
}

#[test]
fn bit_fields_take_one_offset_for_all_components() {
    let mut builder = Builder::new(4);
    let base = builder.constants(&[0xff, 0xf0].map(Scalar::new));
    let insert = builder.constants(&[0, 1].map(Scalar::new));
    let (offset, bits) = (builder.number(0), builder.number(4));
    builder.body(vec![
        Op::BitField(BitFieldOp::Insert { dst: 0, width: 32, count: 2, base, insert, offset, bits }),
        Op::BitField(BitFieldOp::Extract { dst: 2, width: 32, count: 2, signed: true, base, offset, bits }),
    ]);
    assert_eq!(builder.finish(), [0xf0, 0xf1, 0xffff_ffff, 0].map(Scalar::new));
}

#[test]
fn a_fault_names_the_line_and_stays_at_the_instruction() {
    let mut builder = Builder::new(1);
    let (one, zero) = (builder.number(1), builder.number(0));
    builder.body(vec![Op::Nop, binary(BinaryOp::UDiv, 0, one, zero)]);
    let (invocation, stop) = builder.first_stop();
    assert_eq!(fault_of(&stop), Some((UndefinedKind::DivisionByZero, 11)));
    assert_eq!(invocation.position()[..], [InstId { function: FunctionId(0), index: 1 }]);
}
