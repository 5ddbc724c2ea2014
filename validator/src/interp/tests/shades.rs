//! Runs with the intervals of floats.

use super::*;
use crate::event::Scope;
use crate::interp::{Computations, Following, Interval, ShadedMemory, Shades};

fn single(value: f32) -> Scalar {
    Scalar::new(u64::from(value.to_bits()))
}

/// The intervals of the shared memory at the end, and where more than floats hung on one.
fn shaded(builder: &Builder) -> (ShadedMemory, Option<u32>) {
    let (shared, shades) = followed(builder, Following::Alone);
    (shared, shades.depends.map(|at| at.line))
}

fn followed(builder: &Builder, following: Following<'_>) -> (ShadedMemory, Shades) {
    let mut invocation = builder.start();
    let (mut shades, mut shared) = (Shades::default(), ShadedMemory::default());
    let stop = invocation.run_shaded(
        &builder.program,
        &builder.dispatch,
        &mut builder.memory(true),
        &mut shades,
        &mut shared,
        following,
        &mut 10_000,
    );
    assert!(matches!(stop, Stop::Finished), "{stop:?}");
    (shared, shades)
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

/// Registers that hold these values, each as a quotient, which is open.
const OPEN: u32 = 8;

impl Stored {
    /// The interval and the dependence after `ops`, which find the values in the registers from [`OPEN`] on.
    fn on_open(mut self, values: &[f32], ops: Vec<Op>) -> (Option<Interval>, Option<u32>) {
        let one = self.builder.constant(single(1.0));
        let mut all = Vec::new();
        for (register, value) in (OPEN..).zip(values) {
            let value = self.builder.constant(single(*value));
            all.push(float(BinaryOp::FDiv, register, value, one));
        }
        all.extend(ops);
        self.run(all)
    }
}

/// Component `index` of an instruction of GLSL.std.450 on open values.
fn glsl_of(function: GlslFunction, count: u32, values: &[f32], index: u32) -> Interval {
    let op = Op::Glsl(GlslOp { function, number: 1, width: 32, count, dst: 0 });
    let copy = Op::Copy { dst: 20, a: register(index), count: 1 };
    Stored::new().on_open(values, vec![op, copy]).0.unwrap()
}

#[track_caller]
fn assert_around(interval: Interval, value: f64) {
    let tolerance = 1e-5 * (1.0 + value.abs());
    let near = value - interval.low < tolerance && interval.high - value < tolerance;
    assert!(near && interval.contains(value) && interval.low < interval.high, "{interval:?}, not {value}");
}

#[test]
fn geometry_of_open_vectors() {
    let (a, b, c) = (register(OPEN), register(OPEN + 3), register(OPEN + 6));
    let vectors = [1.0, 2.0, 3.0, 0.5, -0.25, 4.0, 1.0, 0.0, 0.0];
    let component = |function, index| glsl_of(GlslFunction::Vector(function), 3, &vectors, index);
    for (index, expected) in [8.75, -2.5, -1.25].into_iter().enumerate() {
        assert_around(component(VectorFunction::Cross([a, b]), index as u32), expected);
    }
    let length = 14.0_f64.sqrt();
    for (index, expected) in [1.0, 2.0, 3.0].into_iter().enumerate() {
        assert_around(component(VectorFunction::Normalize(a), index as u32), expected / length);
    }
    assert_around(component(VectorFunction::Length(a), 0), length);
    assert_around(component(VectorFunction::Distance([a, b]), 0), 6.3125_f64.sqrt());
    // I - 2 × 12 × N.
    for (index, expected) in [1.0 - 12.0, 2.0 + 6.0, 3.0 - 96.0].into_iter().enumerate() {
        assert_around(component(VectorFunction::Reflect([a, b]), index as u32), expected);
    }
    assert_around(component(VectorFunction::FaceForward([a, b, c]), 0), -1.0);
    let turned = [1.0, 2.0, 3.0, -0.5, -0.25, 4.0, 1.0, 0.0, 0.0];
    let face = GlslFunction::Vector(VectorFunction::FaceForward([a, b, c]));
    assert_around(glsl_of(face, 3, &turned, 0), 1.0);
    // A product that may be negative or not.
    let level = [1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 1.0, -0.5, -0.5];
    let either = glsl_of(face, 3, &level, 0);
    assert!(either.contains(1.0) && either.contains(-1.0));
    let refract = VectorFunction::Refract { incident: a, normal: b, eta: c, eta_width: 32 };
    assert_eq!(component(refract, 0), Interval::ANY);
}

#[test]
fn packing_unpacking_and_scaling_open_floats() {
    let word = |function: fn(Operand) -> GlslFunction, constants: &[u64]| {
        let mut stored = Stored::new();
        let values: Vec<Scalar> = constants.iter().map(|bits| Scalar::new(*bits)).collect();
        let first = stored.builder.constants(&values);
        let op = Op::Glsl(GlslOp { function: function(first), number: 1, width: 32, count: 2, dst: 20 });
        stored.run(vec![op]).0
    };
    let tenth = u64::from(0.1_f32.to_bits());
    assert_eq!(word(|a| GlslFunction::Pack(Packing::Half2x16, a), &[tenth, 0]), Some(Interval::ANY));
    let fifth = word(|a| GlslFunction::Unpack(Packing::Unorm2x16, a), &[0x3333]).unwrap();
    assert!(fifth.contains(0.2 + 2.0 * f64::from(f32::EPSILON) / 8.0) && !fifth.contains(0.2001));
    assert_eq!(word(|a| GlslFunction::Unpack(Packing::Half2x16, a), &[0x3c00]), None);
    let denormal = word(|a| GlslFunction::Unpack(Packing::Half2x16, a), &[1]).unwrap();
    assert!(denormal.contains(0.0) && denormal.contains(2.0_f64.powi(-24)));
    let unpack = GlslFunction::Unpack(Packing::Unorm2x16, register(OPEN));
    assert_eq!(glsl_of(unpack, 2, &[1.5], 0), Interval::ANY);
    let ldexp = |exponent: Operand, builder: Stored| {
        let function = GlslFunction::Ldexp { exponent_width: 32, significand: register(OPEN), exponent };
        let op = Op::Glsl(GlslOp { function, number: 1, width: 32, count: 1, dst: 20 });
        builder.on_open(&[1.5, 1.0], vec![op]).0
    };
    let mut stored = Stored::new();
    let three = stored.builder.number(3);
    assert_around(ldexp(three, stored).unwrap(), 12.0);
    assert_eq!(ldexp(register(OPEN + 1), Stored::new()), Some(Interval::ANY));
    // It may be flushed, though the product is a normal number.
    let mut stored = Stored::new();
    let operands = [stored.builder.constant(single(2.0_f32.powi(100))), stored.builder.number(0xffff_ff7e)];
    let function =
        GlslFunction::Ldexp { exponent_width: 32, significand: operands[0], exponent: operands[1] };
    let op = Op::Glsl(GlslOp { function, number: 1, width: 32, count: 1, dst: 20 });
    let flushed = stored.run(vec![op]).0.unwrap();
    assert!(flushed.contains(0.0) && flushed.contains(2.0_f64.powi(-30)), "{flushed:?}");
}

#[test]
fn what_is_no_float_any_more_is_unknown() {
    let unknown = |ops: &dyn Fn(&mut Stored) -> Vec<Op>| {
        let mut stored = Stored::new();
        let ops = ops(&mut stored);
        stored.on_open(&[1.5, 2.5], ops)
    };
    let (a, b) = (register(OPEN), register(OPEN + 1));
    let any = (Some(Interval::ANY), None);
    for index in [0, 1] {
        let product = |stored: &mut Stored| {
            let three = stored.builder.number(3);
            let op = ExtendedOp::UMulExtended;
            vec![
                Op::Extended { op, width: 32, count: 1, dst: 0, a: three, b: a },
                Op::Copy { dst: 20, a: register(index), count: 1 },
            ]
        };
        assert_eq!(unknown(&product), any);
    }
    let bits = |insert: bool, which: usize| {
        move |stored: &mut Stored| {
            let mut operands = [0, 7, 4, 4].map(|number| stored.builder.number(number));
            operands[which] = a;
            let [base, inserted, offset, bits] = operands;
            vec![Op::BitField(if insert {
                BitFieldOp::Insert { dst: 20, width: 32, count: 1, base, insert: inserted, offset, bits }
            } else {
                BitFieldOp::Extract { dst: 20, width: 32, count: 1, signed: false, base, offset, bits }
            })]
        }
    };
    assert_eq!(unknown(&bits(true, 0)), any);
    assert_eq!(unknown(&bits(true, 1)), any);
    assert_eq!(unknown(&bits(false, 0)), any);
    // Which of two operands it is, and what any of them is.
    let less = float(BinaryOp::FOrdLessThan, 0, a, a);
    let select = |stored: &mut Stored| {
        let number = stored.builder.number(9);
        let chosen =
            Op::Select { dst: 20, condition: register(0), scalar_condition: true, count: 1, a: number, b };
        vec![less.clone(), chosen]
    };
    assert_eq!(unknown(&select), any);
    let all = |stored: &mut Stored| {
        let truth = stored.builder.number(1);
        let parts = vec![(truth, 1), (register(0), 1)];
        vec![
            less.clone(),
            Op::Composite(CompositeOp::Construct { dst: 2, parts }),
            Op::All { dst: 20, a: register(2), count: 2 },
        ]
    };
    assert_eq!(unknown(&all), any);
    let halves = Op::Convert { op: ConvertOp::Bitcast, from: 32, to: 16, count: 1, dst: 0, a };
    let high = Op::Copy { dst: 20, a: register(1), count: 1 };
    assert_eq!(unknown(&|_| vec![halves.clone(), high.clone()]), any);
    // A division by what may be zero is a fault for some values, as an index out of bounds is.
    let (divided, depends) = unknown(&|stored| {
        let number = stored.builder.number(9);
        vec![float(BinaryOp::UDiv, 20, number, a)]
    });
    assert_eq!((divided, depends.is_some()), (Some(Interval::ANY), true));
    let extract = CompositeOp::ExtractDynamic { dst: 20, width: 1, a, count: 2, index: register(0) };
    let (_, depends) = unknown(&|_| vec![less.clone(), Op::Composite(extract.clone())]);
    assert!(depends.is_some());
}

#[test]
fn classifications_of_bounded_intervals_are_exact() {
    let classified = |op, value: f32| {
        let unary = Op::Unary { op, width: 32, count: 1, dst: 20, a: register(OPEN) };
        Stored::new().on_open(&[value], vec![unary]).0
    };
    for op in [UnaryOp::IsNan, UnaryOp::IsInf, UnaryOp::IsFinite, UnaryOp::SignBitSet] {
        assert_eq!(classified(op, 1.5), None, "{op:?}");
    }
    assert_eq!(classified(UnaryOp::SignBitSet, f32::MIN_POSITIVE), Some(Interval::ANY));
    let ordered = float(BinaryOp::Ordered, 20, register(OPEN), register(OPEN));
    assert_eq!(Stored::new().on_open(&[1.5], vec![ordered]).0, None);
    // With a NaN, which need not be kept, a comparison is open.
    for op in [BinaryOp::Ordered, BinaryOp::FUnordNotEqual] {
        let mut stored = Stored::new();
        let [nan, one] = [f32::NAN, 1.0].map(|value| stored.builder.constant(single(value)));
        assert_eq!(stored.run(vec![float(op, 20, nan, one)]).0, Some(Interval::ANY), "{op:?}");
    }
    let mut stored = Stored::new();
    let number = stored.builder.number(16_777_217);
    let convert = Op::Convert { op: ConvertOp::ConvertUToF, from: 32, to: 32, count: 1, dst: 20, a: number };
    let rounded = stored.run(vec![convert]).0.unwrap();
    assert!(rounded.contains(16_777_216.0) && rounded.contains(16_777_218.0));
}

#[test]
fn matrices_and_composites_keep_each_component_apart() {
    let values = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5];
    let at = |index, op: Op| {
        let copy = Op::Copy { dst: 20, a: register(index), count: 1 };
        Stored::new().on_open(&values, vec![op, copy]).0.unwrap()
    };
    let transpose = Op::Matrix(MatrixOp::Transpose { dst: 0, rows: 2, columns: 3, a: register(OPEN) });
    for (index, expected) in [1.5, 3.5, 5.5, 2.5, 4.5, 6.5].into_iter().enumerate() {
        assert_around(at(index as u32, transpose.clone()), expected);
    }
    let insert = Op::Composite(CompositeOp::Insert {
        dst: 0,
        a: register(OPEN),
        total: 4,
        object: register(OPEN + 4),
        start: 2,
        count: 1,
    });
    for (index, expected) in [1.5, 2.5, 5.5, 4.5].into_iter().enumerate() {
        assert_around(at(index as u32, insert.clone()), expected);
    }
    let product = Op::Matrix(MatrixOp::MatrixTimesVector {
        dst: 0,
        width: 32,
        rows: 2,
        columns: 2,
        a: register(OPEN),
        b: register(OPEN + 4),
    });
    assert_around(at(0, product.clone()), 1.5 * 5.5 + 3.5 * 6.5);
    assert_around(at(1, product), 2.5 * 5.5 + 4.5 * 6.5);
}

#[test]
fn memory_keeps_each_float_apart() {
    let mut stored = Stored::new();
    let pair = stored.builder.shape(&[(0, LeafKind::Number(4)), (4, LeafKind::Number(4))]);
    stored.builder.own(StorageClass::Private, pair);
    let ops = vec![
        variable(0, 1),
        store(0, register(OPEN), StorageClass::Private, pair),
        load(4, 0, StorageClass::Private, pair),
        Op::Copy { dst: 20, a: register(5), count: 1 },
    ];
    assert_around(stored.on_open(&[1.5, 2.5], ops).0.unwrap(), 2.5);
}

#[test]
fn remainders_and_flushed_comparisons() {
    let remainder = |op| {
        let op = float(op, 20, register(OPEN), register(OPEN + 1));
        Stored::new().on_open(&[-7.5, 2.0], vec![op]).0.unwrap()
    };
    assert!(within(Some(remainder(BinaryOp::FRem)), -1.501, -1.499));
    assert!(within(Some(remainder(BinaryOp::FMod)), 0.499, 0.501));
    // A denormal may be a zero.
    let mut stored = Stored::new();
    let [tiny, zero] = [1e-40, 0.0].map(|value| stored.builder.constant(single(value)));
    assert_eq!(stored.run(vec![float(BinaryOp::FOrdEqual, 20, tiny, zero)]).0, Some(Interval::ANY));
}

#[test]
fn what_others_see_and_what_is_not_followed_is_told() {
    let mut stored = Stored::new();
    let tenth = stored.builder.constant(single(0.1));
    let (from, to) = (NumberFormat::Float(32), NumberFormat::Encoded(FloatEncoding::BFloat16));
    let narrow = EncodedOp::Convert { from, to, saturates: false, count: 1, dst: 20, a: tenth };
    assert!(stored.run(vec![Op::Encoded(narrow)]).1.is_some());
    let atomic = |is_open: bool| {
        let mut stored = Stored::new();
        let (one, shape) = (stored.builder.number(1), stored.shape);
        let stores = if is_open { register(OPEN) } else { one };
        let ops = vec![
            Op::Copy { dst: 0, a: stores, count: 1 },
            variable(10, 0),
            store(10, register(0), StorageClass::StorageBuffer, shape),
            Op::Atomic(AtomicOp {
                kind: AtomicKind::IAdd { value: one },
                dst: 20,
                pointer: register(10),
                class: StorageClass::StorageBuffer,
                width: 32,
                scope: Scope::Device,
                semantics: Default::default(),
                unequal: Default::default(),
                result_used: true,
            }),
        ];
        stored.on_open(&[1.5], ops).1.is_some()
    };
    assert_eq!([atomic(true), atomic(false)], [true, false]);
}

/// What the first program stores, where it is followed side by side with the second.
fn beside(ops: [Vec<Op>; 2]) -> Option<Interval> {
    let program = |ops: Vec<Op>| {
        let mut stored = Stored::new();
        let [huge, three] = [1e18, 3.0].map(|value| stored.builder.constant(single(value)));
        let mut all = vec![float(BinaryOp::FDiv, 0, huge, three)];
        all.extend(ops);
        all.extend([variable(22, 0), store(22, register(20), StorageClass::StorageBuffer, stored.shape)]);
        stored.builder.body(all);
        stored.builder
    };
    let [first, second] = ops.map(program);
    let counted = [&first, &second].map(|builder| followed(builder, Following::Counting).1.computations);
    let common = counted[0].common(&counted[1]);
    followed(&first, Following::SideBySide(&common)).0.load(0, 0, 4)
}

#[test]
fn what_both_compute_is_what_was_computed() {
    let sine = |dst| {
        let function = GlslFunction::Transcendental(Transcendental::Sin, register(0));
        Op::Glsl(GlslOp { function, number: 13, width: 32, count: 1, dst })
    };
    let cosine = |dst| {
        let function = GlslFunction::Transcendental(Transcendental::Cos, register(0));
        Op::Glsl(GlslOp { function, number: 14, width: 32, count: 1, dst })
    };
    let sum = |dst, a, b| float(BinaryOp::FAdd, dst, register(a), register(b));
    // Of a sine that large there is no bound, but it is one.
    assert_eq!(beside([vec![sine(20)], vec![cosine(20)]]), Some(Interval::ANY));
    assert_eq!(beside([vec![sine(20)], vec![sine(20)]]), None);
    // What differs has an interval again, from there on.
    let twice = beside([vec![sine(1), sum(20, 1, 1)], vec![sine(20)]]);
    assert!(twice.is_some_and(|it| it.low < it.high && it.high - it.low < 1e-5), "{twice:?}");
    // Operands of a sum may change places.
    let swapped = [vec![sine(1), sum(20, 0, 1)], vec![sine(1), sum(20, 1, 0)]];
    assert_eq!(beside(swapped), None);
    // What underflows has lost what it would not have lost in another order.
    let tiny = || {
        let square = float(BinaryOp::FMul, 1, register(0), register(0));
        let ratio = float(BinaryOp::FDiv, 2, register(0), register(1));
        vec![
            square,
            ratio,
            float(BinaryOp::FMul, 3, register(2), register(2)),
            float(BinaryOp::FMul, 20, register(3), register(3)),
        ]
    };
    let underflown = beside([tiny(), tiny()]);
    assert!(underflown.is_some_and(|it| it.low < it.high && it.contains(0.0)), "{underflown:?}");
    // One of two may have been rewritten: a bound, but no exact result.
    let sometimes = beside([vec![sine(20), sine(20)], vec![sine(20)]]);
    assert!(sometimes.is_some_and(|it| !it.is_any() && it.high - it.low > 1e-3), "{sometimes:?}");
}

#[test]
fn computations_of_invocations_add_up() {
    let mut stored = Stored::new();
    let [one, three] = [1.0, 3.0].map(|value| stored.builder.constant(single(value)));
    stored.builder.body(vec![float(BinaryOp::FDiv, 20, one, three)]);
    let once = followed(&stored.builder, Following::Counting).1.computations;
    let mut twice = Computations::default();
    twice.add(&once);
    twice.add(&once);
    assert_ne!(format!("{:?}", once.common(&once)), format!("{:?}", once.common(&twice)));
}
