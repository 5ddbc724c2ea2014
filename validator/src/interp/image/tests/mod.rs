//! Image instructions on images built by hand.

mod sampling;

use crate::event::{Scope, StorageClass, UndefinedKind};
use crate::interp::tests::{fault_of, register, variable, word, Builder, TestMemory};
use crate::interp::{Invocation, Stop};
use crate::ir::image::{
    AddressMode, Border, CompareOp, Coordinate, Dim, Filter, ImageAction, ImageLayout, ImageOp,
    ImageOperands, ImageType, Offset, Sampler, TexelKind,
};
use crate::ir::{AtomicKind, AtomicOp, ControlOp, LeafKind, MemoryModel, MemoryOperands, Op, Operand};
use crate::value::{Byte, Scalar};

/// The handle of the only image is in registers 0 and 1; results go to registers from 4 on.
const RESULT: u32 = 4;

struct Image {
    builder: Builder,
    ty: ImageType,
}

impl Image {
    /// An image of these sizes, with its sampler, whose bytes are 0.
    fn new(format: &str, dim: Dim, extent: [u32; 3], layers: u32) -> Self {
        let mut builder = Builder::new(16);
        let shape = builder.shape(&[(0, LeafKind::PointerHalf), (8, LeafKind::PointerHalf)]);
        let format = format.parse().unwrap();
        let layout = ImageLayout { format, dim, extent, layers, levels: 1, samples: 1 };
        builder.shared(StorageClass::UniformConstant, shape, layout.bytes() as u32);
        builder.dispatch.objects[0].image = Some(layout);
        builder.dispatch.objects[0].sampler = Some(Sampler::default());
        builder.dispatch.objects[0].initial = vec![Byte::Known(0); layout.bytes() as usize];
        let ty = ImageType {
            dim,
            arrayed: layers > dim.faces(),
            multisampled: false,
            storage: true,
            format: Some(format),
            texel: format.kind(),
            width: 32,
        };
        Image { builder, ty }
    }

    /// A row of 32-bit float texels, sampled like this.
    fn row(values: &[f32], sampler: Sampler) -> Self {
        let mut image = Image::new("r32f", Dim::One, [values.len() as u32, 1, 1], 1);
        image.fill(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
        image.builder.dispatch.objects[0].sampler = Some(sampler);
        image
    }

    fn fill(&mut self, bytes: &[u8]) {
        self.builder.dispatch.objects[0].initial = bytes.iter().copied().map(Byte::Known).collect();
    }

    fn layout(&mut self) -> &mut ImageLayout {
        self.builder.dispatch.objects[0].image.as_mut().unwrap()
    }

    fn integers(&mut self, numbers: &[i32]) -> Coordinate {
        let values: Vec<Scalar> =
            numbers.iter().map(|number| Scalar::new(u64::from(*number as u32))).collect();
        Coordinate {
            first: self.builder.constants(&values),
            count: numbers.len() as u32,
            width: 32,
            float: false,
        }
    }

    fn floats(&mut self, numbers: &[f32]) -> Coordinate {
        let values: Vec<Scalar> =
            numbers.iter().map(|number| Scalar::new(u64::from(number.to_bits()))).collect();
        Coordinate {
            first: self.builder.constants(&values),
            count: numbers.len() as u32,
            width: 32,
            float: true,
        }
    }

    fn number(&mut self, number: f32) -> Operand {
        self.floats(&[number]).first
    }

    fn op(&self, action: ImageAction, coordinate: Option<Coordinate>, operands: ImageOperands) -> Op {
        Op::Image(Box::new(ImageOp {
            action,
            dst: RESULT,
            image: register(0),
            ty: self.ty,
            coordinate,
            operands,
        }))
    }

    /// The handle of the image, and again as that of its sampler.
    fn body(&mut self, ops: Vec<Op>) {
        let mut all = vec![variable(0, 0), variable(2, 0)];
        all.extend(ops);
        self.builder.body(all);
    }

    /// Runs the operation on memory that settles everything.
    fn settled(mut self, op: Op) -> (Invocation, TestMemory, Stop) {
        self.body(vec![op]);
        let mut memory = self.builder.memory(true);
        let mut invocation = self.builder.start();
        let stop = self.builder.run(&mut invocation, &mut memory);
        (invocation, memory, stop)
    }

    /// The first `count` components of the result, and whether it is recorded as inexact.
    fn result(self, op: Op, count: usize) -> (Vec<Scalar>, bool) {
        let (mut invocation, _, stop) = self.settled(op);
        assert!(matches!(stop, Stop::Finished), "{stop:?}");
        let inexact = !invocation.take_inexact().is_empty();
        (invocation.registers[RESULT as usize..RESULT as usize + count].to_vec(), inexact)
    }

    /// Samples at these coordinates with level 0: red, and whether every implementation gives it.
    fn sample(mut self, at: &[f32], change: impl FnOnce(&mut ImageOperands)) -> (f32, bool) {
        let coordinate = Some(self.floats(at));
        let mut operands = ImageOperands { lod: Some((self.number(0.0), 32)), ..ImageOperands::default() };
        change(&mut operands);
        let action = ImageAction::Sample { projective: false, reference: None, implicit: false, count: 4 };
        let op = self.op(action, coordinate, operands);
        let (texel, inexact) = self.result(op, 4);
        assert!(texel[0].is_defined());
        (f32::from_bits(texel[0].bits as u32), !inexact)
    }
}

fn sampler(filter: Filter, address: AddressMode) -> Sampler {
    Sampler { filter, address, ..Sampler::default() }
}

const READ: ImageAction = ImageAction::Read { count: 4 };

#[test]
fn a_texel_is_where_its_coordinates_say() {
    for (at, expected) in [([1, 0, 0], 1), ([2, 1, 0], 5), ([0, 1, 1], 9)] {
        let mut image = Image::new("r8ui", Dim::Two, [3, 2, 1], 2);
        image.fill(&(0..12).collect::<Vec<u8>>());
        let coordinate = Some(image.integers(&at));
        let op = image.op(READ, coordinate, ImageOperands::default());
        assert_eq!(image.result(op, 4).0, [expected, 0, 0, 1].map(Scalar::new));
    }
}

#[test]
fn offsets_levels_and_samples_move_a_fetch() {
    let read = |change: fn(&mut Image, &mut ImageOperands)| {
        let mut image = Image::new("r8ui", Dim::Two, [2, 2, 1], 1);
        image.layout().levels = 2;
        image.layout().samples = 2;
        image.fill(&(0..10).collect::<Vec<u8>>());
        let mut operands = ImageOperands::default();
        change(&mut image, &mut operands);
        let coordinate = Some(image.integers(&[0, 0]));
        let op = image.op(READ, coordinate, operands);
        image.result(op, 1).0[0]
    };
    assert_eq!(read(|_, _| {}), Scalar::new(0));
    assert_eq!(
        read(|image, operands| {
            let by = image.integers(&[1, 1]);
            operands.offset = Some(Offset { first: by.first, count: 2, width: 32 });
        }),
        Scalar::new(6)
    );
    assert_eq!(read(|image, operands| operands.lod = Some((image.integers(&[1]).first, 32))), Scalar::new(8));
    assert_eq!(read(|image, operands| operands.sample = Some(image.integers(&[1]).first)), Scalar::new(1));
    assert_eq!(
        read(|image, operands| operands.lod = Some((image.integers(&[2]).first, 32))),
        Scalar::undefined(32)
    );
}

#[test]
fn outside_the_image_reads_are_undefined_and_writes_lost() {
    for at in [[3, 0], [0, 2], [-1, 0], [i32::MIN, i32::MAX]] {
        let mut image = Image::new("r8ui", Dim::Two, [3, 2, 1], 1);
        let coordinate = Some(image.integers(&at));
        let op = image.op(READ, coordinate, ImageOperands::default());
        assert_eq!(image.result(op, 4).0, [Scalar::undefined(32); 4]);
        let mut image = Image::new("r8ui", Dim::Two, [3, 2, 1], 1);
        let coordinate = Some(image.integers(&at));
        let texel = image.integers(&[7]).first;
        let op = image.op(ImageAction::Write { texel, count: 1 }, coordinate, ImageOperands::default());
        let (_, memory, stop) = image.settled(op);
        assert!(matches!(stop, Stop::Finished));
        assert_eq!(memory.objects[0], vec![Byte::Known(0); 6]);
    }
}

#[test]
fn undefined_coordinates_may_be_any_texel() {
    let mut image = Image::new("r8ui", Dim::One, [3, 1, 1], 1);
    let first = image.builder.constant(Scalar::undefined(32));
    let coordinate = Some(Coordinate { first, count: 1, width: 32, float: false });
    let op = image.op(READ, coordinate, ImageOperands::default());
    assert_eq!(image.result(op, 1).0, [Scalar::undefined(32)]);
    let mut image = Image::new("r8ui", Dim::One, [3, 1, 1], 1);
    let first = image.builder.constant(Scalar::undefined(32));
    let coordinate = Some(Coordinate { first, count: 1, width: 32, float: false });
    let texel = image.integers(&[7]).first;
    let op = image.op(ImageAction::Write { texel, count: 1 }, coordinate, ImageOperands::default());
    let (_, _, stop) = image.settled(op);
    assert_eq!(fault_of(&stop), Some((UndefinedKind::UndefinedAddress, 12)));
}

#[test]
fn a_write_is_one_event_with_the_operands_of_the_instruction() {
    let mut image = Image::new("rg16ui", Dim::Two, [3, 2, 1], 1);
    let coordinate = Some(image.integers(&[1, 1]));
    let texel = image.integers(&[5, 6, 7, 8]).first;
    let memory = MemoryOperands {
        non_private: true,
        volatile: true,
        make_available: Some(Scope::Device),
        make_visible: Some(Scope::Device),
        ..MemoryOperands::default()
    };
    let operands = ImageOperands { memory, ..ImageOperands::default() };
    let op = image.op(ImageAction::Write { texel, count: 4 }, coordinate, operands);
    image.body(vec![op]);
    let (_, stop) = image.builder.first_stop();
    let Stop::Write(access, bytes) = stop else { panic!("{stop:?}") };
    assert_eq!(access.ranges[..], [(16, 4)]);
    assert_eq!((access.class, access.object), (StorageClass::Image, 0));
    assert!(access.non_private && access.volatile);
    assert_eq!((access.available, access.visible), (Some(Scope::Device), None));
    assert_eq!(bytes, [5, 0, 6, 0].map(Byte::Known));
}

#[test]
fn a_read_waits_for_its_bytes() {
    let mut image = Image::new("r32ui", Dim::Two, [3, 2, 1], 1);
    let coordinate = Some(image.integers(&[1, 1]));
    let op = image.op(READ, coordinate, ImageOperands::default());
    image.body(vec![op]);
    let (mut invocation, stop) = image.builder.first_stop();
    let Stop::Read(access) = stop else { panic!("{stop:?}") };
    assert_eq!(access.ranges[..], [(16, 4)]);
    assert!(!access.non_private);
    invocation.supply(&image.builder.program, &word(77));
    let stop = image.builder.run(&mut invocation, &mut image.builder.memory(false));
    assert!(matches!(stop, Stop::Finished));
    assert_eq!(invocation.registers[RESULT as usize..8], [77, 0, 0, 1].map(Scalar::new));
}

#[test]
fn decorations_make_accesses_of_older_modules_coherent() {
    let scopes = |coherent: bool, volatile: bool| {
        let mut image = Image::new("r32ui", Dim::One, [3, 1, 1], 1);
        image.builder.program.memory_model = MemoryModel::Glsl450;
        image.builder.program.variables[0].decorations.coherent = coherent;
        image.builder.program.variables[0].decorations.volatile = volatile;
        let coordinate = Some(image.integers(&[1]));
        let op = image.op(READ, coordinate, ImageOperands::default());
        image.body(vec![op]);
        match image.builder.first_stop().1 {
            Stop::Read(access) => (access.non_private, access.visible, access.volatile),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(scopes(false, false), (false, None, false));
    assert_eq!(scopes(true, false), (true, Some(Scope::QueueFamily), false));
    assert_eq!(scopes(false, true), (true, Some(Scope::QueueFamily), true));
}

#[test]
fn qualifiers_forbid_reads_and_writes() {
    let run = |write: bool| {
        let mut image = Image::new("r32ui", Dim::One, [3, 1, 1], 1);
        image.builder.program.variables[0].decorations.non_writable = write;
        image.builder.program.variables[0].decorations.non_readable = !write;
        let coordinate = Some(image.integers(&[1]));
        let texel = image.integers(&[7]).first;
        let action = if write { ImageAction::Write { texel, count: 1 } } else { READ };
        let op = image.op(action, coordinate, ImageOperands::default());
        fault_of(&image.settled(op).2).map(|(kind, _)| kind)
    };
    assert_eq!(run(true), Some(UndefinedKind::NonWritable));
    assert_eq!(run(false), Some(UndefinedKind::NonReadable));
}

#[test]
fn atomics_go_through_texel_pointers() {
    let add = |at: i32| {
        let mut image = Image::new("r32ui", Dim::One, [3, 1, 1], 1);
        let mut bytes = vec![0; 12];
        bytes[4] = 40;
        image.fill(&bytes);
        let coordinate = Some(image.integers(&[at]));
        let sample = image.integers(&[0]).first;
        let pointer =
            image.op(ImageAction::TexelPointer { sample, bytes: 4 }, coordinate, ImageOperands::default());
        let value = image.integers(&[2]).first;
        let atomic = Op::Atomic(AtomicOp {
            kind: AtomicKind::IAdd { value },
            dst: 8,
            pointer: register(RESULT),
            class: StorageClass::Image,
            width: 32,
            scope: Scope::Device,
            semantics: Default::default(),
            unequal: Default::default(),
            result_used: true,
        });
        image.body(vec![pointer, atomic]);
        let mut memory = image.builder.memory(true);
        let mut invocation = image.builder.start();
        let stop = image.builder.run(&mut invocation, &mut memory);
        assert!(matches!(stop, Stop::Finished), "{stop:?}");
        (invocation.registers[8], memory.objects[0][4])
    };
    assert_eq!(add(1), (Scalar::new(40), Byte::Known(42)));
    // Nothing is written outside, and what is read is undefined.
    assert_eq!(add(3), (Scalar::undefined(32), Byte::Known(40)));
    assert_eq!(add(-1), (Scalar::undefined(32), Byte::Known(40)));
}

#[test]
fn texel_pointers_lead_to_the_sample_and_to_texels_of_the_size_of_the_atomic() {
    let pointer = |samples: u32, sample: i32, bytes: u32| {
        let mut image = Image::new("r32ui", Dim::One, [2, 1, 1], 1);
        image.layout().samples = samples;
        let coordinate = Some(image.integers(&[1]));
        let sample = image.integers(&[sample]).first;
        let action = ImageAction::TexelPointer { sample, bytes };
        let op = image.op(action, coordinate, ImageOperands::default());
        let (invocation, _, stop) = image.settled(op);
        matches!(stop, Stop::Finished).then(|| invocation.registers[RESULT as usize..][..2].to_vec())
    };
    let both = [pointer(2, 0, 4), pointer(2, 1, 4)];
    assert!(both[0].is_some() && both[0] != both[1], "{both:?}");
    assert_eq!(pointer(2, 1, 8), None);
}

#[test]
fn helpers_write_nothing() {
    let mut image = Image::new("r8ui", Dim::One, [1, 1, 1], 1);
    let coordinate = Some(image.integers(&[0]));
    let texel = image.integers(&[7]).first;
    let write = image.op(ImageAction::Write { texel, count: 1 }, coordinate, ImageOperands::default());
    image.body(vec![Op::Control(ControlOp::Demote), write]);
    let mut memory = image.builder.memory(true);
    let mut invocation = image.builder.start();
    let stop = image.builder.run(&mut invocation, &mut memory);
    assert!(matches!(stop, Stop::Finished), "{stop:?}");
    assert_eq!(memory.objects[0], [Byte::Known(0)]);
}

#[test]
fn a_write_that_rounds_is_inexact() {
    for (value, inexact) in [(1.0_f32, false), (0.5, true)] {
        let mut image = Image::new("rgba8", Dim::One, [1, 1, 1], 1);
        let coordinate = Some(image.integers(&[0]));
        let texel = image.floats(&[value, 0.0, 0.0, 1.0]).first;
        let op = image.op(ImageAction::Write { texel, count: 4 }, coordinate, ImageOperands::default());
        let (mut invocation, _, _) = image.settled(op);
        assert_eq!(!invocation.take_inexact().is_empty(), inexact);
    }
}

#[test]
fn queries_tell_sizes() {
    let mut image = Image::new("r8ui", Dim::Cube, [8, 8, 1], 12);
    image.layout().levels = 3;
    let lod = image.integers(&[2]).first;
    let operands = ImageOperands { lod: Some((lod, 32)), ..ImageOperands::default() };
    let op = image.op(ImageAction::QuerySize { count: 3 }, None, operands);
    assert_eq!(image.result(op, 3).0, [2, 2, 2].map(Scalar::new));
    let mut image = Image::new("r8ui", Dim::Two, [8, 4, 1], 1);
    image.layout().levels = 3;
    let op = image.op(ImageAction::QueryLevels, None, ImageOperands::default());
    assert_eq!(image.result(op, 1).0, [Scalar::new(3)]);
    let mut image = Image::new("r8ui", Dim::Two, [8, 4, 1], 1);
    let lod = image.integers(&[1]).first;
    let operands = ImageOperands { lod: Some((lod, 32)), ..ImageOperands::default() };
    let op = image.op(ImageAction::QuerySize { count: 2 }, None, operands);
    assert_eq!(image.result(op, 2).0, [Scalar::undefined(32); 2], "there is no such level");
    let mut image = Image::new("r8ui", Dim::Two, [8, 4, 1], 1);
    image.layout().samples = 4;
    let op = image.op(ImageAction::QuerySamples, None, ImageOperands::default());
    assert_eq!(image.result(op, 1).0, [Scalar::new(4)]);
}

#[test]
fn what_cannot_be_decided_is_named() {
    let unsupported = |stop: Stop| match stop {
        Stop::Unsupported { what, .. } => what,
        other => panic!("{other:?}"),
    };
    let action = ImageAction::Sample { projective: false, reference: None, implicit: true, count: 1 };
    let mut image = Image::row(&[1.0, 2.0], Sampler::default());
    image.layout().levels = 2;
    let coordinate = Some(image.floats(&[0.5]));
    let op = image.op(action, coordinate, ImageOperands::default());
    assert!(unsupported(image.settled(op).2).contains("implicit level of detail"));
    // With one level, there is nothing to choose.
    let mut image = Image::row(&[1.0, 2.0], Sampler::default());
    let coordinate = Some(image.floats(&[0.6]));
    let op = image.op(action, coordinate, ImageOperands::default());
    assert_eq!(image.result(op, 1).0, [Scalar::new(u64::from(2.0_f32.to_bits()))]);
    let mut image = Image::new("r8ui", Dim::One, [2, 1, 1], 1);
    image.builder.dispatch.objects[0].sampler = Some(sampler(Filter::Linear, AddressMode::Repeat));
    let coordinate = Some(image.floats(&[0.5]));
    let op = image.op(action, coordinate, ImageOperands::default());
    assert!(unsupported(image.settled(op).2).contains("linear filtering of integers"));
    let mut image = Image::row(&[1.0], Sampler::default());
    image.builder.dispatch.objects[0].image = None;
    let op = image.op(ImageAction::QueryLevels, None, ImageOperands::default());
    assert!(unsupported(image.settled(op).2).contains("without data"));
    assert_eq!(TexelKind::Float.name(), "floats");
}
