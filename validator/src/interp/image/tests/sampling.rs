//! Lookups with samplers.

use super::*;

#[test]
fn nearest_takes_the_texel_that_the_coordinate_lies_in() {
    let row = [1.0, 2.0, 3.0, 4.0];
    let at = |at: f32, mode| Image::row(&row, sampler(Filter::Nearest, mode)).sample(&[at], |_| {});
    for (coordinate, expected) in
        [(0.125, 1.0), (0.375, 2.0), (0.25, 2.0), (0.9, 4.0), (1.5, 4.0), (-0.1, 1.0)]
    {
        assert_eq!(at(coordinate, AddressMode::ClampToEdge), (expected, true), "{coordinate}");
    }
    assert_eq!(at(1.125, AddressMode::Repeat), (1.0, true));
    assert_eq!(at(1.125, AddressMode::MirroredRepeat), (4.0, true));
    assert_eq!(at(1.125, AddressMode::ClampToBorder(Border::OpaqueWhite)), (1.0, true));
    assert_eq!(at(1.125, AddressMode::ClampToBorder(Border::OpaqueBlack)), (0.0, true));
    // So near to the next texel that an implementation may take that.
    assert_eq!(at(0.249, AddressMode::ClampToEdge), (1.0, false));
}

#[test]
fn linear_mixes_the_two_nearest_texels() {
    let row = [0.0, 4.0, 4.0, 8.0];
    let at =
        |at: f32| Image::row(&row, sampler(Filter::Linear, AddressMode::ClampToEdge)).sample(&[at], |_| {});
    // At the centre of a texel, and between equal ones, every implementation agrees.
    assert_eq!(at(0.125), (0.0, true));
    assert_eq!(at(0.5), (4.0, true));
    assert_eq!(at(0.25), (2.0, false));
    assert_eq!(at(0.1875), (1.0, false));
    assert_eq!(at(0.0), (0.0, true));
    assert_eq!(at(0.8125), (7.0, false));
}

#[test]
fn offsets_and_unnormalised_coordinates() {
    let row = [1.0, 2.0, 3.0, 4.0];
    let unnormalized = Sampler { unnormalized: true, ..Sampler::default() };
    assert_eq!(Image::row(&row, unnormalized).sample(&[2.5], |_| {}), (3.0, true));
    let mut image = Image::row(&row, Sampler::default());
    let by = image.integers(&[-1]).first;
    let offset = Offset { first: by, count: 1, width: 32 };
    assert_eq!(image.sample(&[0.6], |operands| operands.offset = Some(offset)), (2.0, true));
}

#[test]
fn levels_of_detail_choose_and_mix_levels() {
    let at = |mipmap: Filter, lod: f32| {
        let mut image = Image::row(&[1.0, 1.0, 1.0, 1.0], Sampler { mipmap, ..Sampler::default() });
        image.layout().levels = 3;
        let texels = [1.0_f32, 1.0, 1.0, 1.0, 3.0, 3.0, 9.0];
        image.fill(&texels.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
        let lod = image.number(lod);
        image.sample(&[0.5], |operands| operands.lod = Some((lod, 32)))
    };
    for (lod, expected, exact) in [
        (-3.0, 1.0, true),
        (0.0, 1.0, true),
        (0.4, 1.0, true),
        (0.7, 3.0, true),
        (0.5, 1.0, false),
        (7.0, 9.0, true),
    ] {
        assert_eq!(at(Filter::Nearest, lod), (expected, exact), "{lod}");
    }
    assert_eq!(at(Filter::Linear, 0.5), (2.0, false));
    assert_eq!(at(Filter::Linear, 2.0), (9.0, true));
}

#[test]
fn gradients_say_the_level() {
    let at = |dx: f32| {
        let mut image = Image::row(&[1.0; 4], Sampler::default());
        image.layout().levels = 3;
        let texels = [1.0_f32, 1.0, 1.0, 1.0, 3.0, 3.0, 9.0];
        image.fill(&texels.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
        let grad = (image.number(dx), image.number(0.0), 1);
        image.sample(&[0.4], |operands| {
            operands.lod = None;
            operands.grad = Some(grad);
        })
    };
    // Texels per step: 1, 2, 4.
    assert_eq!([0.0, 0.25, 0.5, 1.0].map(|dx| at(dx).0), [1.0, 1.0, 3.0, 9.0]);
}

#[test]
fn projection_divides_by_the_last_coordinate() {
    let mut image = Image::row(&[1.0, 2.0, 3.0, 4.0], Sampler::default());
    let coordinate = Some(image.floats(&[2.5, 4.0]));
    let operands = ImageOperands { lod: Some((image.number(0.0), 32)), ..ImageOperands::default() };
    let action = ImageAction::Sample { projective: true, reference: None, implicit: false, count: 1 };
    let op = image.op(action, coordinate, operands);
    let (texel, inexact) = image.result(op, 1);
    assert_eq!((texel[0], inexact), (Scalar::new(u64::from(3.0_f32.to_bits())), true));
}

#[test]
fn array_layers_are_rounded_and_clamped() {
    for (layer, expected) in [(0.4, 0), (0.5, 0), (1.5, 2), (9.0, 2), (-4.0, 0)] {
        let mut image = Image::new("r8ui", Dim::Two, [1, 1, 1], 3);
        image.fill(&[0, 1, 2]);
        let coordinate = Some(image.floats(&[0.5, 0.5, layer]));
        let operands = ImageOperands { lod: Some((image.number(0.0), 32)), ..ImageOperands::default() };
        let action = ImageAction::Sample { projective: false, reference: None, implicit: false, count: 1 };
        let op = image.op(action, coordinate, operands);
        assert_eq!(image.result(op, 1).0, [Scalar::new(expected)], "{layer}");
    }
}

#[test]
fn comparisons_give_one_or_zero_before_filtering() {
    let compare = |operation, filter, reference: f32, at: f32| {
        let sampler = Sampler { compare: operation, filter, ..Sampler::default() };
        let mut image = Image::row(&[0.25, 0.75], sampler);
        let coordinate = Some(image.floats(&[at]));
        let operands = ImageOperands { lod: Some((image.number(0.0), 32)), ..ImageOperands::default() };
        let reference = Some(image.number(reference));
        let action = ImageAction::Sample { projective: false, reference, implicit: false, count: 1 };
        let op = image.op(action, coordinate, operands);
        f32::from_bits(image.result(op, 1).0[0].bits as u32)
    };
    for (operation, expected) in [
        (CompareOp::Never, [0.0, 0.0, 0.0]),
        (CompareOp::Less, [1.0, 0.0, 0.0]),
        (CompareOp::Equal, [0.0, 1.0, 0.0]),
        (CompareOp::LessOrEqual, [1.0, 1.0, 0.0]),
        (CompareOp::Greater, [0.0, 0.0, 1.0]),
        (CompareOp::NotEqual, [1.0, 0.0, 1.0]),
        (CompareOp::GreaterOrEqual, [0.0, 1.0, 1.0]),
        (CompareOp::Always, [1.0, 1.0, 1.0]),
    ] {
        let found = [0.125, 0.25, 0.5].map(|reference| compare(operation, Filter::Nearest, reference, 0.25));
        assert_eq!(found, expected, "{operation:?}");
    }
    // Of the two texels one passes.
    assert_eq!(compare(CompareOp::Less, Filter::Linear, 0.5, 0.5), 0.5);
}

#[test]
fn a_gather_goes_round_the_footprint_from_below_left() {
    let gather = |offsets: &[i32]| {
        let mut image = Image::new("rg8ui", Dim::Two, [4, 4, 1], 1);
        image.fill(&(0..32).collect::<Vec<u8>>());
        let coordinate = Some(image.floats(&[0.5, 0.5]));
        let mut operands = ImageOperands::default();
        if !offsets.is_empty() {
            let first = image.integers(offsets).first;
            operands.offsets = Some(Offset { first, count: 2, width: 32 });
        }
        let component = Some(image.integers(&[1]).first);
        let op = image.op(ImageAction::Gather { component, reference: None }, coordinate, operands);
        image.result(op, 4).0.iter().map(|component| component.bits).collect::<Vec<u64>>()
    };
    // Texel (x, y) is 2 (4 y + x), and its green component one more; the footprint is (1..2, 1..2).
    let green = |x: u64, y: u64| 2 * (4 * y + x) + 1;
    assert_eq!(gather(&[]), [green(1, 2), green(2, 2), green(2, 1), green(1, 1)]);
    assert_eq!(gather(&[0, 0, 1, 0, -1, 2, 2, 2]), [green(1, 1), green(2, 1), green(0, 3), green(3, 3)]);
}

fn bits(value: f32) -> Scalar {
    Scalar::new(u64::from(value.to_bits()))
}

impl Image {
    /// Samples at these coordinates: the texel, and whether every implementation gives it.
    fn texel(mut self, at: &[f32], action: ImageAction, lod: f32) -> (Vec<Scalar>, bool) {
        let coordinate = Some(self.floats(at));
        let operands = ImageOperands { lod: Some((self.number(lod), 32)), ..ImageOperands::default() };
        let op = self.op(action, coordinate, operands);
        let (texel, inexact) = self.result(op, 4);
        (texel, !inexact)
    }

    /// A cube whose texels are their own numbers: face after face, row after row.
    fn cube(size: u32, cubes: u32, filter: Filter) -> Self {
        let mut image = Image::new("r32f", Dim::Cube, [size, size, 1], 6 * cubes);
        let texels = (0..size * size * 6 * cubes).map(|number| number as f32);
        image.fill(&texels.flat_map(f32::to_le_bytes).collect::<Vec<u8>>());
        image.builder.dispatch.objects[0].sampler = Some(sampler(filter, AddressMode::Repeat));
        image
    }
}

const SAMPLE: ImageAction =
    ImageAction::Sample { projective: false, reference: None, implicit: false, count: 4 };

#[test]
fn borders_have_the_colours_of_the_sampler_as_the_format_would_read_them() {
    let outside = |format: &str, border| {
        let mut image = Image::new(format, Dim::One, [1, 1, 1], 1);
        let address = AddressMode::ClampToBorder(border);
        image.builder.dispatch.objects[0].sampler = Some(sampler(Filter::Nearest, address));
        image.texel(&[2.5], SAMPLE, 0.0).0
    };
    for (format, border, expected) in [
        ("rgba32f", Border::TransparentBlack, [0.0, 0.0, 0.0, 0.0]),
        ("rgba32f", Border::OpaqueBlack, [0.0, 0.0, 0.0, 1.0]),
        ("rgba32f", Border::OpaqueWhite, [1.0; 4]),
        ("rg32f", Border::TransparentBlack, [0.0, 0.0, 0.0, 1.0]),
        ("rg32f", Border::OpaqueWhite, [1.0, 1.0, 0.0, 1.0]),
    ] {
        assert_eq!(outside(format, border), expected.map(bits), "{format} {border:?}");
    }
    assert_eq!(outside("r32ui", Border::OpaqueWhite), [1, 0, 0, 1].map(Scalar::new));
}

#[test]
fn undefined_coordinates_and_texels_make_undefined_results() {
    let row = |filter| Image::row(&[1.0, 2.0], sampler(filter, AddressMode::ClampToEdge));
    for at in [f32::INFINITY, f32::NAN] {
        assert_eq!(row(Filter::Nearest).texel(&[at], SAMPLE, 0.0).0, [Scalar::undefined(32); 4]);
    }
    let projective = ImageAction::Sample { projective: true, reference: None, implicit: false, count: 4 };
    assert_eq!(row(Filter::Nearest).texel(&[1.0, 0.0], projective, 0.0).0, [Scalar::undefined(32); 4]);
    let mut image = row(Filter::Linear);
    image.builder.dispatch.objects[0].initial[5] = Byte::Undef;
    let (texel, _) = image.texel(&[0.5], SAMPLE, 0.0);
    assert_eq!(texel, [Scalar::undefined(32), bits(0.0), bits(0.0), bits(1.0)]);
    let mut image = row(Filter::Nearest);
    image.builder.dispatch.objects[0].initial[5] = Byte::Undef;
    let reference = Some(image.number(0.5));
    let compare = ImageAction::Sample { projective: false, reference, implicit: false, count: 4 };
    assert!(!image.texel(&[0.75], compare, 0.0).0[0].is_defined());
}

#[test]
fn references_are_clamped_like_the_format_and_projected_like_coordinates() {
    let compare = |format: &str, projective, at: &[f32], reference| {
        let mut image = Image::new(format, Dim::One, [1, 1, 1], 1);
        let one: &[u8] = if format == "r8" { &[255] } else { &[0, 0, 0x80, 0x3f] };
        image.fill(one);
        let compare = Sampler { compare: CompareOp::LessOrEqual, ..Sampler::default() };
        image.builder.dispatch.objects[0].sampler = Some(compare);
        let reference = Some(image.number(reference));
        image.texel(at, ImageAction::Sample { projective, reference, implicit: false, count: 4 }, 0.0).0[0]
    };
    assert_eq!(compare("r8", false, &[0.5], 2.0), bits(1.0));
    assert_eq!(compare("r32f", false, &[0.5], 2.0), bits(0.0));
    assert_eq!(compare("r32f", true, &[2.0, 4.0], 4.0), bits(1.0));
    assert_eq!(compare("r32f", true, &[2.0, 4.0], 4.5), bits(0.0));
}

#[test]
fn cubes_are_looked_up_by_direction() {
    // Texel (x, y) of a face of 2 × 2.
    let number = |layer: u32, x: u32, y: u32| (4 * layer + 2 * y + x) as f32;
    for (direction, expected) in [
        ([1.0, 0.5, 0.5], number(0, 0, 0)),
        ([-1.0, 0.5, 0.5], number(1, 1, 0)),
        ([0.5, 1.0, 0.5], number(2, 1, 1)),
        ([0.5, -1.0, 0.5], number(3, 1, 0)),
        ([-0.5, -0.5, 1.0], number(4, 0, 1)),
        ([-0.5, -0.5, -1.0], number(5, 1, 1)),
    ] {
        let (texel, exact) = Image::cube(2, 1, Filter::Nearest).texel(&direction, SAMPLE, 0.0);
        assert_eq!((texel[0], exact), (bits(expected), true), "{direction:?}");
        let [x, y, z] = direction;
        let (texel, _) = Image::cube(2, 3, Filter::Nearest).texel(&[x, y, z, 1.0], SAMPLE, 0.0);
        assert_eq!(texel[0], bits(expected + 24.0), "the second of an array, {direction:?}");
        let (texel, _) = Image::cube(2, 3, Filter::Nearest).texel(&[x, y, z, 9.0], SAMPLE, 0.0);
        assert_eq!(texel[0], bits(expected + 48.0), "the last of an array, {direction:?}");
    }
    // Between faces implementations choose; the last texel of a face is there at its very end.
    assert!(!Image::cube(2, 1, Filter::Nearest).texel(&[1.0, 1.0, 0.5], SAMPLE, 0.0).1);
    let (texel, _) = Image::cube(2, 1, Filter::Nearest).texel(&[1.0, -1.0, 0.5], SAMPLE, 0.0);
    assert!(texel[0].is_defined());
    // At a corner the three faces that meet there have equal shares of the texel that is not there: here
    // half a texel from the corner of +z, 4 × 4 texels, of which a quarter lies beyond.
    let (texel, exact) = Image::cube(4, 1, Filter::Linear).texel(&[0.99999, 0.99999, 1.0], SAMPLE, 0.0);
    let of = |layer: u32, x: u32, y: u32| f64::from(16 * layer + 4 * y + x);
    let own = of(4, 3, 0);
    let (right, above) = (of(0, 0, 0), of(2, 3, 3));
    let expected = (own + right + above + (own + right + above) / 3.0) / 4.0;
    let found = f64::from(f32::from_bits(texel[0].bits as u32));
    assert!((found - expected).abs() < 0.01 && !exact, "{found} and not {expected}");
}

#[test]
fn rectangles_have_coordinates_in_texels() {
    let mut image = Image::new("r8ui", Dim::Rect, [3, 2, 1], 1);
    image.fill(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(image.texel(&[2.5, 1.5], SAMPLE, 0.0).0[0], Scalar::new(5));
}

#[test]
fn linear_filters_move_with_offsets_and_mix_levels_by_their_distance() {
    let linear = sampler(Filter::Linear, AddressMode::ClampToEdge);
    let mut image = Image::row(&[1.0, 2.0, 4.0, 8.0], linear);
    let by = image.integers(&[1]).first;
    let offset = Offset { first: by, count: 1, width: 32 };
    assert_eq!(image.sample(&[0.5], |operands| operands.offset = Some(offset)), (6.0, false));
    let mut image = Image::row(&[1.0; 4], Sampler { mipmap: Filter::Linear, ..Sampler::default() });
    image.layout().levels = 2;
    let texels = [1.0_f32, 1.0, 1.0, 1.0, 3.0, 3.0];
    image.fill(&texels.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    assert_eq!(image.texel(&[0.5], SAMPLE, 0.25).0[0], bits(1.5));
    // So near to a boundary that few bits of fraction cannot tell.
    let row = |at: f32| {
        let nearest = sampler(Filter::Nearest, AddressMode::ClampToEdge);
        Image::row(&[1.0, 2.0, 4.0, 8.0], nearest).sample(&[at], |_| {}).1
    };
    assert_eq!([0.26, 0.27].map(row), [false, true]);
}

#[test]
fn the_longer_derivative_says_the_level_and_a_least_one_raises_it() {
    let at = |dx: f32, dy: f32, least: f32| {
        let mut image = Image::row(&[1.0; 4], Sampler::default());
        image.layout().levels = 3;
        let texels = [1.0_f32, 1.0, 1.0, 1.0, 3.0, 3.0, 9.0];
        image.fill(&texels.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
        let (grad, least) = ((image.number(dx), image.number(dy), 1), image.number(least));
        let changed = |operands: &mut ImageOperands| {
            operands.lod = None;
            operands.grad = Some(grad);
            operands.min_lod = Some(least);
        };
        image.sample(&[0.4], changed).0
    };
    assert_eq!([at(0.0, 0.5, 0.0), at(0.5, 0.0, 0.0), at(0.0, 0.0, 2.0)], [3.0, 3.0, 9.0]);
    // A cube's direction goes over a face of 4 texels with 2 units.
    let mut image = Image::cube(4, 1, Filter::Nearest);
    image.layout().levels = 2;
    let mut texels = vec![0.0_f32; 96];
    texels.extend([7.0; 24]);
    image.fill(&texels.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    let grad = (image.floats(&[0.5, 0.0, 0.0]).first, image.floats(&[0.0; 3]).first, 3);
    let (value, _) = image.sample(&[0.1, 0.1, 1.0], |operands| {
        operands.lod = None;
        operands.grad = Some(grad);
    });
    assert_eq!(value, 0.0);
}

#[test]
fn a_gather_near_a_boundary_is_inexact() {
    let gather = |at: f32| {
        let mut image = Image::new("r8ui", Dim::Two, [4, 4, 1], 1);
        let coordinate = Some(image.floats(&[at, 0.5]));
        let component = Some(image.integers(&[0]).first);
        let action = ImageAction::Gather { component, reference: None };
        let op = image.op(action, coordinate, ImageOperands::default());
        image.result(op, 4).1
    };
    assert_eq!([gather(0.5), gather(0.37)], [false, true]);
}

#[test]
fn a_lookup_reads_each_texel_once() {
    let linear = sampler(Filter::Linear, AddressMode::ClampToEdge);
    let mut image = Image::row(&[1.0, 2.0], linear);
    let coordinate = Some(image.floats(&[0.01]));
    let operands = ImageOperands { lod: Some((image.number(0.0), 32)), ..ImageOperands::default() };
    let op = image.op(SAMPLE, coordinate, operands);
    image.body(vec![op]);
    let Stop::Read(access) = image.builder.first_stop().1 else { panic!() };
    assert_eq!(access.ranges[..], [(0, 4)]);
}
