//! Packing and unpacking.

use super::*;

fn pack(packing: Packing, values: &[Scalar]) -> Scalar {
    results(GlslFunction::Pack(packing, operand(0)), 32, values.len() as u32, values, 1)[0]
}

fn unpack(packing: Packing, bits: u64) -> Vec<f32> {
    let (count, _) = packing.fields();
    let function = GlslFunction::Unpack(packing, operand(0));
    let components = results(function, 32, count, &[Scalar::new(bits)], count as usize);
    components.iter().map(|component| f32::from_bits(component.bits as u32)).collect()
}

#[test]
fn normalised_integers_are_packed() {
    let pack =
        |packing, values: &[f32]| pack(packing, &values.iter().copied().map(single).collect::<Vec<_>>()).bits;
    assert_eq!(pack(Packing::Unorm4x8, &[0.0, 1.0, 2.0, -1.0]), 0x00ff_ff00);
    assert_eq!(pack(Packing::Unorm4x8, &[0.25, 0.0, 0.0, 0.5]), 0x8000_0040);
    assert_eq!(pack(Packing::Snorm4x8, &[-1.0, 1.0, -2.0, 0.0]), 0x0081_7f81);
    assert_eq!(pack(Packing::Snorm4x8, &[INFINITY, -INFINITY, -0.0, TINY]), 0x0000_817f);
    assert_eq!(pack(Packing::Unorm2x16, &[1.0, 0.75]), 0xbfff_ffff);
    assert_eq!(pack(Packing::Snorm2x16, &[-1.0, 0.25]), 0x2000_8001);
}

#[test]
fn an_undefined_component_leaves_its_field_undefined() {
    let packed = pack(Packing::Unorm4x8, &[single(1.0), undefined(32), single(NAN), single(0.0)]);
    assert_eq!(packed, Scalar { bits: 0xff, undef: 0x00ff_ff00 });
    let packed = pack(Packing::Half2x16, &[Scalar { bits: 0, undef: 1 }, single(1.0)]);
    assert_eq!(packed, Scalar { bits: 0x3c00_0000, undef: 0xffff });
    let function = GlslFunction::Unpack(Packing::Unorm4x8, operand(0));
    let unpacked = results(function, 32, 4, &[Scalar { bits: 0xff00_0000, undef: 0x100 }], 4);
    assert_eq!(unpacked, [single(0.0), undefined(32), single(0.0), single(1.0)]);
}

#[test]
fn normalised_integers_are_unpacked() {
    assert_eq!(unpack(Packing::Unorm4x8, 0xff00_8033), [0.2, 128.0 / 255.0, 0.0, 1.0]);
    // The least integer and its neighbour are both -1.
    assert_eq!(unpack(Packing::Snorm4x8, 0x7f00_8180), [-1.0, -1.0, 0.0, 1.0]);
    assert_eq!(unpack(Packing::Unorm2x16, 0xffff_0001), [1.0 / 65_535.0, 1.0]);
    assert_eq!(unpack(Packing::Snorm2x16, 0x8000_0001), [1.0 / 32_767.0, -1.0]);
}

#[test]
fn halves_round_overflow_and_keep_denormals() {
    let pack = |a: f32, b: f32| pack(Packing::Half2x16, &[single(a), single(b)]).bits;
    assert_eq!(pack(1.0, -2.0), 0xc000_3c00);
    // The greatest half, and what is nearer to infinity.
    assert_eq!(pack(65_504.0, 65_520.0), 0x7c00_7bff);
    // A tie to even, and above it.
    assert_eq!(pack(2049.0, 2051.0), 0x6802_6800);
    assert_eq!(pack(2.0_f32.powi(-24), 2.0_f32.powi(-26)), 0x0000_0001);
    assert_eq!(pack(NAN, -0.0), 0x8000_7e00);
    assert_eq!(unpack(Packing::Half2x16, 0xfc00_0001), [2.0_f32.powi(-24), -INFINITY]);
    assert_eq!(unpack(Packing::Half2x16, 0x8000_7bff), [65_504.0, -0.0]);
    assert!(unpack(Packing::Half2x16, 0x7c01)[0].is_nan());
}

#[test]
fn doubles_are_two_words() {
    let pack =
        |low: Scalar, high: Scalar| results(GlslFunction::PackDouble(operand(0)), 32, 2, &[low, high], 1)[0];
    let words = [Scalar::new(0x9999_999a), Scalar::new(0x3fb9_9999)];
    assert_eq!(pack(words[0], words[1]), double(0.1));
    assert_eq!(results(GlslFunction::UnpackDouble(operand(0)), 64, 1, &[double(0.1)], 2), words);
    // Which value an infinity or a NaN becomes is not specified.
    assert_eq!(pack(Scalar::new(0), Scalar::new(0x7ff0_0000)), undefined(64));
    assert_eq!(pack(Scalar::new(1), Scalar::new(0xfff0_0000)), undefined(64));
    assert_eq!(pack(Scalar::new(7), undefined(32)), Scalar { bits: 7, undef: 0xffff_ffff_0000_0000 });
    let halves =
        results(GlslFunction::UnpackDouble(operand(0)), 64, 1, &[Scalar { bits: 7, undef: 1 << 40 }], 2);
    assert_eq!(halves, [Scalar::new(7), Scalar { bits: 0, undef: 1 << 8 }]);
}
