//! Runs with the intervals of floats.

use super::*;
use crate::interp::{Interval, ShadedMemory, Shades};

fn single(value: f32) -> Scalar {
    Scalar::new(u64::from(value.to_bits()))
}

/// The intervals of the shared memory at the end, and where more than floats hung on one.
fn shaded(builder: &Builder) -> (ShadedMemory, Option<u32>) {
    let mut invocation = builder.start();
    let (mut shades, mut shared) = (Shades::default(), ShadedMemory::default());
    let stop = invocation.run_shaded(
        &builder.program,
        &builder.dispatch,
        &mut builder.memory(true),
        &mut shades,
        &mut shared,
        &mut 10_000,
    );
    assert!(matches!(stop, Stop::Finished), "{stop:?}");
    (shared, shades.depends)
}

/// A program that ends by storing register 20 in a shared word.
struct Stored {
    builder: Builder,
    shape: ShapeId,
}

impl Stored {
    fn new() -> Self {
        let mut builder = Builder::new(24);
        let shape = builder.word_shape();
        builder.shared(StorageClass::StorageBuffer, shape, 4);
        Stored { builder, shape }
    }

    /// The interval of what the operations leave in register 20, and the dependence.
    fn run(mut self, mut ops: Vec<Op>) -> (Option<Interval>, Option<u32>) {
        ops.push(variable(22, 0));
        ops.push(store(22, register(20), StorageClass::StorageBuffer, self.shape));
        self.builder.body(ops);
        let (shared, depends) = shaded(&self.builder);
        (shared.load(0, 0, 4), depends)
    }
}

fn float(op: BinaryOp, dst: u32, a: Operand, b: Operand) -> Op {
    binary(op, dst, a, b)
}

fn within(interval: Option<Interval>, low: f64, high: f64) -> bool {
    interval
        .is_some_and(|interval| low <= interval.low && interval.high <= high && interval.low < interval.high)
}

#[test]
fn exact_results_have_no_interval_and_open_ones_a_narrow_one() {
    let mut stored = Stored::new();
    let (one, three) = (stored.builder.constant(single(1.0)), stored.builder.constant(single(3.0)));
    let quotient = vec![float(BinaryOp::FDiv, 20, one, three)];
    let (interval, depends) = stored.run(quotient);
    assert!(within(interval, 0.333_332, 0.333_335), "{interval:?}");
    assert!(interval.is_some_and(|interval| interval.contains(1.0 / 3.0)));
    assert_eq!(depends, None);
    let mut stored = Stored::new();
    let (one, three) = (stored.builder.constant(single(1.0)), stored.builder.constant(single(3.0)));
    assert_eq!(stored.run(vec![float(BinaryOp::FAdd, 20, one, three)]), (None, None));
}

#[test]
fn intervals_go_through_selects_composites_and_own_memory() {
    let mut stored = Stored::new();
    let (one, three) = (stored.builder.constant(single(1.0)), stored.builder.constant(single(3.0)));
    let no = stored.builder.number(0);
    let shape = stored.shape;
    stored.builder.own(StorageClass::Private, shape);
    let ops = vec![
        float(BinaryOp::FDiv, 0, one, three),
        Op::Composite(CompositeOp::Construct { dst: 1, parts: vec![(one, 1), (register(0), 1)] }),
        Op::Composite(CompositeOp::Extract { dst: 3, a: register(1), start: 1, count: 1 }),
        Op::Select { dst: 4, condition: no, scalar_condition: true, count: 1, a: one, b: register(3) },
        variable(6, 1),
        store(6, register(4), StorageClass::Private, shape),
        load(8, 6, StorageClass::Private, shape),
        Op::Copy { dst: 20, a: register(8), count: 1 },
    ];
    let (interval, depends) = stored.run(ops);
    assert!(within(interval, 0.333_332, 0.333_335), "{interval:?}");
    assert_eq!(depends, None);
}

#[test]
fn comparisons_and_conversions_that_every_value_decides_are_exact() {
    let run = |bound: f32| {
        let mut stored = Stored::new();
        let [one, three, bound] = [1.0, 3.0, bound].map(|value| stored.builder.constant(single(value)));
        stored.run(vec![
            float(BinaryOp::FDiv, 0, one, three),
            float(BinaryOp::FOrdLessThan, 20, register(0), bound),
        ])
    };
    assert_eq!(run(0.5), (None, None));
    assert_eq!(run(1.0 / 3.0), (Some(Interval::ANY), None));
    let convert = |numerator: f32| {
        let mut stored = Stored::new();
        let [a, three] = [numerator, 3.0].map(|value| stored.builder.constant(single(value)));
        let integer =
            Op::Convert { op: ConvertOp::ConvertFToS, from: 32, to: 32, count: 1, dst: 20, a: register(0) };
        stored.run(vec![float(BinaryOp::FDiv, 0, a, three), integer])
    };
    assert_eq!(convert(4.0), (None, None));
    // 6 / 3 may be a little less than 2.
    assert_eq!(convert(6.0), (Some(Interval::ANY), Some(11)));
}

#[test]
fn integers_made_of_an_open_float_are_unknown() {
    let mut stored = Stored::new();
    let [one, three] = [1.0, 3.0].map(|value| stored.builder.constant(single(value)));
    let ops = vec![float(BinaryOp::FDiv, 0, one, three), float(BinaryOp::IAdd, 20, register(0), one)];
    assert_eq!(stored.run(ops), (Some(Interval::ANY), None));
}

#[test]
fn branches_on_an_open_float_are_told() {
    let mut builder = Builder::new(8);
    let [one, three, third] = [1.0, 3.0, 1.0 / 3.0].map(|value| builder.constant(single(value)));
    builder.block(
        0,
        &[],
        vec![
            float(BinaryOp::FDiv, 0, one, three),
            float(BinaryOp::FOrdLessThan, 1, register(0), third),
            Op::Control(ControlOp::BranchConditional { condition: register(1), yes: jump(1), no: jump(2) }),
        ],
    );
    builder.block(0, &[], vec![Op::Control(ControlOp::Return)]);
    builder.block(0, &[], vec![Op::Control(ControlOp::Return)]);
    assert_eq!(shaded(&builder).1, Some(12));
}

#[test]
fn intervals_go_into_functions_and_back() {
    let mut stored = Stored::new();
    let [one, three] = [1.0, 3.0].map(|value| stored.builder.constant(single(value)));
    let mut callee = function(4);
    callee.parameters.push(Parameter {
        register: 1,
        count: 1,
        declaration: None,
        decorations: Decorations::default(),
    });
    stored.builder.program.functions.push(callee);
    let negated = Op::Unary { op: UnaryOp::FNegate, width: 32, count: 1, dst: 2, a: register(1) };
    let returned = Op::Control(ControlOp::ReturnValue { value: register(2), count: 1 });
    stored.builder.block(1, &[], vec![negated, returned]);
    let call =
        Op::Control(ControlOp::Call { function: FunctionId(1), dst: 20, arguments: vec![register(0)] });
    let (interval, depends) = stored.run(vec![float(BinaryOp::FDiv, 0, one, three), call]);
    assert!(within(interval, -0.333_335, -0.333_332), "{interval:?}");
    assert_eq!(depends, None);
}

/// The interval of a component-wise instruction of GLSL.std.450 on 1 / 3.
fn of_third(function: fn(Operand) -> GlslFunction) -> Option<Interval> {
    let mut stored = Stored::new();
    let [one, three] = [1.0, 3.0].map(|value| stored.builder.constant(single(value)));
    let op = GlslOp { function: function(register(0)), number: 1, width: 32, count: 1, dst: 20 };
    stored.run(vec![float(BinaryOp::FDiv, 0, one, three), Op::Glsl(op)]).0
}

#[test]
fn functions_of_an_open_float() {
    let third = 1.0_f64 / 3.0;
    let floor = of_third(|a| GlslFunction::Float(FloatFunction::Floor, a));
    assert_eq!(floor, Some(Interval::point(0.0)));
    let root = of_third(|a| GlslFunction::Transcendental(Transcendental::Sqrt, a));
    assert!(within(root, third.sqrt() - 1e-6, third.sqrt() + 1e-6), "{root:?}");
    let power = of_third(|a| GlslFunction::Float2(FloatFunction2::Pow, [a, a]));
    assert!(within(power, third.powf(third) - 1e-5, third.powf(third) + 1e-5), "{power:?}");
    let clamped = of_third(|a| GlslFunction::Float3(FloatFunction3::Clamp, [a, a, a]));
    assert!(within(clamped, 0.333_332, 0.333_335), "{clamped:?}");
    let unbounded = of_third(|a| GlslFunction::Vector(VectorFunction::Determinant(a)));
    assert_eq!(unbounded, Some(Interval::ANY));
    let length = of_third(|a| GlslFunction::Vector(VectorFunction::Length(a)));
    assert!(within(length, third - 1e-5, third + 1e-5), "{length:?}");
}
