use super::*;
use crate::ir::{BinaryOp, CompositeOp, ConvertOp, ExtendedOp, MatrixOp};
use crate::value::Scalar;

#[test]
fn operands_are_constants_of_the_pool_or_registers() {
    let program = program("", "%sum = OpIAdd %uint %u2 %u5\n%twice = OpIMul %uint %sum %u2\nOpReturn");
    let [Op::Binary { op: BinaryOp::IAdd, width: 32, count: 1, dst: sum, a, b }, Op::Binary { op: BinaryOp::IMul, a: c, .. }, Op::Control(_)] =
        operations(&program)[..]
    else {
        panic!("{:?}", operations(&program))
    };
    assert!(a.is_constant() && b.is_constant() && !c.is_constant());
    assert_eq!(program.constants[a.index() as usize], Scalar::new(2));
    assert_eq!(program.constants[b.index() as usize], Scalar::new(5));
    assert_eq!(c.index(), *sum);
    assert_eq!(program.harvested, [2, 5]);
}

#[test]
fn instructions_know_their_lines_and_opcodes() {
    let source = text("", "%sum = OpIAdd %uint %u2 %u5\nOpReturn");
    let program = lower(&read(&source), &LowerOptions::default()).unwrap();
    let inst = find(&program, |op| matches!(op, Op::Binary { .. }));
    assert_eq!((inst.line, inst.opcode), (line_of(&source, "OpIAdd"), 128));
}

#[test]
fn composites_are_runs_of_components() {
    let program = program(
        "%pair = OpTypeStruct %uint2 %uint\n%v = OpConstantComposite %uint2 %u1 %u2",
        "%made = OpCompositeConstruct %pair %v %u5
         %part = OpCompositeExtract %uint %made 0 1
         %other = OpCompositeInsert %pair %u72 %made 1
         %mixed = OpVectorShuffle %uint3 %v %v 1 0xffffffff 2
         OpReturn",
    );
    let operations = operations(&program);
    assert!(matches!(operations[0], Op::Composite(CompositeOp::Construct { parts, .. })
        if parts.iter().map(|part| part.1).eq([2, 1])));
    assert!(matches!(operations[1], Op::Composite(CompositeOp::Extract { start: 1, count: 1, .. })));
    assert!(matches!(operations[2], Op::Composite(CompositeOp::Insert { total: 3, start: 2, count: 1, .. })));
    let Op::Composite(CompositeOp::Shuffle { components, .. }) = operations[3] else { panic!() };
    let value = |index: usize| components[index].map(|part| program.constants[part.index() as usize].bits);
    assert_eq!([value(0), value(1), value(2)], [Some(2), None, Some(1)]);
}

#[test]
fn conversions_have_both_widths_and_equal_widths_are_copied() {
    let program = program(
        "",
        "%a = OpConvertUToF %float %u5\n%b = OpBitcast %uint %a\n%c = OpConvertFToS %int %a\nOpReturn",
    );
    let operations = operations(&program);
    assert!(matches!(operations[0], Op::Convert { op: ConvertOp::ConvertUToF, from: 32, to: 32, .. }));
    assert!(matches!(operations[1], Op::Copy { count: 1, .. }));
    assert!(matches!(operations[2], Op::Convert { op: ConvertOp::ConvertFToS, .. }));
}

#[test]
fn extended_arithmetic_gives_two_members() {
    let program = program(
        "%pair = OpTypeStruct %uint2 %uint2\n%v = OpConstantComposite %uint2 %u1 %u2",
        "%carried = OpIAddCarry %pair %v %v\nOpReturn",
    );
    assert!(matches!(
        operations(&program)[0],
        Op::Extended { op: ExtendedOp::IAddCarry, width: 32, count: 2, .. }
    ));
}

#[test]
fn matrices_know_columns_and_rows() {
    let program = program(
        "%mat = OpTypeMatrix %float3 2\n%turned = OpTypeMatrix %float2 3
         %column = OpConstantComposite %float3 %f1 %f1 %f1
         %row = OpConstantComposite %float2 %f1 %f1
         %m = OpConstantComposite %mat %column %column",
        "%a = OpMatrixTimesVector %float3 %m %row
         %b = OpVectorTimesMatrix %float2 %column %m
         %c = OpTranspose %turned %m
         OpReturn",
    );
    let operations = operations(&program);
    assert!(matches!(operations[0], Op::Matrix(MatrixOp::MatrixTimesVector { rows: 3, columns: 2, .. })));
    assert!(matches!(operations[1], Op::Matrix(MatrixOp::VectorTimesMatrix { rows: 3, columns: 2, .. })));
    assert!(matches!(operations[2], Op::Matrix(MatrixOp::Transpose { rows: 3, columns: 2, .. })));
}

#[test]
fn null_and_undefined_constants_are_in_the_pool() {
    let program = program(
        "%undefined = OpUndef %uint\n%null = OpConstantNull %uint2\n%mixed = OpConstantComposite %uint2 %u1 %undefined",
        "%a = OpIAdd %uint2 %null %mixed\nOpReturn",
    );
    let Op::Binary { a, b, .. } = operations(&program)[0] else { panic!() };
    let at = |operand: &crate::ir::Operand, count: usize| {
        program.constants[operand.index() as usize..][..count].to_vec()
    };
    assert_eq!(at(a, 2), [Scalar::new(0), Scalar::new(0)]);
    assert_eq!(at(b, 2), [Scalar::new(1), Scalar::undefined(32)]);
}

#[test]
fn an_undefined_value_in_a_function_is_an_operation() {
    let program = program("", "%x = OpUndef %uint2\nOpReturn");
    assert!(matches!(operations(&program)[0], Op::Undef { widths, .. } if *widths == [32, 32]));
}
