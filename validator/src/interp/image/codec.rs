//! Texels from bytes and back (Vulkan, "Fixed-Point Data Conversion", "Floating-Point Format
//! Conversions", "Texel Output Format Conversion").

use smallvec::{smallvec, SmallVec};

use crate::interp::float::{from_double, to_double};
use crate::ir::image::{Encoding, ImageFormat, TexelKind};
use crate::value::{mask, Byte, Scalar};

/// Red, green, blue and alpha, as the shader sees them.
pub(in crate::interp) type Texel = [Scalar; 4];

/// Bytes of one texel.
pub(in crate::interp) type TexelBytes = SmallVec<[Byte; 16]>;

/// Bits of a texel and which of them are undefined.
fn bits_of_bytes(bytes: &[Byte]) -> (u128, u128) {
    let mut bits = 0;
    let mut undef = 0;
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            Byte::Known(byte) => bits |= u128::from(*byte) << (8 * index),
            Byte::Undef => undef |= 0xff << (8 * index),
        }
    }
    (bits, undef)
}

/// The texel that these bytes hold. Components that the format lacks are 0, alpha is 1. `width` is that of the
/// Sampled Type; `extend` is the signedness that SignExtend or ZeroExtend asks for.
pub(in crate::interp) fn decode(
    format: ImageFormat,
    bytes: &[Byte],
    width: u8,
    extend: Option<bool>,
) -> Texel {
    let (bits, undef) = bits_of_bytes(bytes);
    let mut texel = [Scalar::new(0), Scalar::new(0), Scalar::new(0), one(format)];
    for (number, component) in (0..format.components()).zip(&mut texel) {
        let (lowest, count) = format.bits_of(number);
        let field = Scalar {
            bits: (bits >> lowest) as u64 & mask(count),
            undef: (undef >> lowest) as u64 & mask(count),
        };
        *component = decode_component(format.encoding(), count, field, width, extend);
    }
    texel
}

/// One, as the format's components are to the shader.
pub(in crate::interp) fn one(format: ImageFormat) -> Scalar {
    match format.kind() {
        TexelKind::Float => single(1.0),
        TexelKind::Sint | TexelKind::Uint => Scalar::new(1),
    }
}

fn decode_component(
    encoding: Encoding,
    count: u32,
    field: Scalar,
    width: u8,
    extend: Option<bool>,
) -> Scalar {
    match encoding {
        Encoding::Float(32) => field,
        Encoding::Sint(_) | Encoding::Uint(_) | Encoding::PackedUint => {
            let signed = extend.unwrap_or(matches!(encoding, Encoding::Sint(_)));
            if !signed {
                return field;
            }
            let unused = 64 - count;
            let extended = |bits: u64| (((bits << unused) as i64) >> unused) as u64 & mask(u32::from(width));
            Scalar { bits: extended(field.bits), undef: extended(field.undef) }
        }
        Encoding::Float(_)
        | Encoding::Unorm(_)
        | Encoding::Snorm(_)
        | Encoding::PackedFloat
        | Encoding::PackedUnorm
            if !field.is_defined() =>
        {
            Scalar::undefined(32)
        }
        Encoding::Float(_) => {
            to_double(16, field.bits).map_or(Scalar::undefined(32), |value| single(value as f32))
        }
        Encoding::Unorm(_) | Encoding::PackedUnorm => single((field.bits as f64 / mask(count) as f64) as f32),
        Encoding::Snorm(_) => {
            let unused = 64 - count;
            let value = ((field.bits << unused) as i64) >> unused;
            single((value as f64 / mask(count - 1) as f64).max(-1.0) as f32)
        }
        Encoding::PackedFloat => single(small_float(count, field.bits) as f32),
    }
}

/// The value of an unsigned float of 11 or 10 bits: 5 of them are the exponent.
fn small_float(count: u32, bits: u64) -> f64 {
    let significand_bits = count - 5;
    let significand = (bits & mask(significand_bits)) as f64 / f64::from(1 << significand_bits);
    match (bits >> significand_bits) as i32 {
        0 => significand * 2.0_f64.powi(-14),
        31 if significand == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + significand) * 2.0_f64.powi(exponent - 15),
    }
}

/// The bytes of a texel, and whether they are the only ones that the specification permits: a value between two
/// representable ones may become either.
pub(in crate::interp) fn encode(format: ImageFormat, texel: &Texel) -> (TexelBytes, bool) {
    let mut bits: u128 = 0;
    let mut undef: u128 = 0;
    let mut exact = true;
    for (number, component) in (0..format.components()).zip(texel) {
        let (lowest, count) = format.bits_of(number);
        let (field, same) = encode_component(format.encoding(), count, *component);
        bits |= u128::from(field.bits & mask(count)) << lowest;
        undef |= u128::from(field.undef & mask(count)) << lowest;
        exact &= same;
    }
    let mut bytes: TexelBytes = smallvec![Byte::Undef; format.bytes() as usize];
    for (index, byte) in bytes.iter_mut().enumerate() {
        if undef >> (8 * index) & 0xff == 0 {
            *byte = Byte::Known((bits >> (8 * index)) as u8);
        }
    }
    (bytes, exact)
}

fn encode_component(encoding: Encoding, count: u32, value: Scalar) -> (Scalar, bool) {
    match encoding {
        Encoding::Float(32) => return (value, true),
        // A value that the format does not have is undefined.
        Encoding::Uint(_) | Encoding::PackedUint => {
            let fits = (value.bits | value.undef) & !mask(count) == 0;
            return (if fits { value } else { Scalar::undefined(count) }, true);
        }
        Encoding::Sint(64) => return (value, true),
        Encoding::Sint(_) => {
            let signed = i64::from(value.bits as u32 as i32);
            let limit = 1_i64 << (count - 1);
            let fits = value.is_defined() && (-limit..limit).contains(&signed);
            return (
                if fits { Scalar::new(value.bits & mask(count)) } else { Scalar::undefined(count) },
                true,
            );
        }
        Encoding::Float(_)
        | Encoding::Unorm(_)
        | Encoding::Snorm(_)
        | Encoding::PackedFloat
        | Encoding::PackedUnorm => {}
    }
    if !value.is_defined() {
        return (Scalar::undefined(count), true);
    }
    let value = f64::from(f32::from_bits(value.bits as u32));
    match encoding {
        Encoding::Unorm(_) | Encoding::PackedUnorm => fixed(value, 0.0, mask(count)),
        Encoding::Snorm(_) => {
            let (number, exact) = fixed(value, -1.0, mask(count - 1));
            (Scalar::new(number.bits & mask(count)), exact)
        }
        Encoding::PackedFloat => small_float_bits(count, value),
        Encoding::Float(_) | Encoding::Sint(_) | Encoding::Uint(_) | Encoding::PackedUint => {
            let half = from_double(16, value).unwrap_or(Scalar::undefined(16));
            let back = to_double(16, half.bits).unwrap_or(f64::NAN);
            (half, back == value || value.is_nan())
        }
    }
}

/// A normalised fixed-point number: clamped, then one of the two nearest integers; here the nearest.
fn fixed(value: f64, least: f64, greatest: u64) -> (Scalar, bool) {
    if value.is_nan() {
        return (Scalar::new(0), false);
    }
    let scaled = value.clamp(least, 1.0) * greatest as f64;
    (Scalar::new(scaled.round_ties_even() as i64 as u64), scaled.fract() == 0.0)
}

/// An unsigned float of 11 or 10 bits: negative values become 0, too large ones the greatest finite one.
fn small_float_bits(count: u32, value: f64) -> (Scalar, bool) {
    let significand_bits = count - 5;
    let infinity = 31_u64 << significand_bits;
    if value.is_nan() {
        return (Scalar::new(infinity | 1), false);
    }
    if value == f64::INFINITY {
        return (Scalar::new(infinity), true);
    }
    if value <= 0.0 {
        return (Scalar::new(0), true);
    }
    let exponent = (value.log2().floor() as i32).clamp(-14, 16);
    // In units of the last place the encodings of neighbouring values are neighbours, denormals included.
    let units = value / 2.0_f64.powi(exponent - significand_bits as i32);
    let rounded = units.round_ties_even() as u64;
    let hidden = 1_u64 << significand_bits;
    let base = (exponent + 14) as u64 * hidden;
    let bits = (base + rounded).min(infinity - 1);
    (Scalar::new(bits), small_float(count, bits) == value)
}

fn single(value: f32) -> Scalar {
    crate::interp::float::single(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str) -> ImageFormat {
        name.parse().unwrap()
    }

    fn known(bytes: &[u8]) -> Vec<Byte> {
        bytes.iter().copied().map(Byte::Known).collect()
    }

    fn decoded(name: &str, bytes: &[u8]) -> [f32; 4] {
        decode(format(name), &known(bytes), 32, None).map(|component| {
            assert!(component.is_defined());
            f32::from_bits(component.bits as u32)
        })
    }

    fn integers(name: &str, bytes: &[u8], width: u8) -> [u64; 4] {
        decode(format(name), &known(bytes), width, None).map(|component| component.bits)
    }

    /// The bytes of four floats, `None` for undefined ones, and whether they are the only ones.
    fn encoded(name: &str, texel: [f32; 4]) -> (Vec<Option<u8>>, bool) {
        raw(name, texel.map(|value| u64::from(value.to_bits())))
    }

    fn raw(name: &str, texel: [u64; 4]) -> (Vec<Option<u8>>, bool) {
        let (bytes, exact) = encode(format(name), &texel.map(Scalar::new));
        let value = |byte: &Byte| if let Byte::Known(byte) = byte { Some(*byte) } else { None };
        (bytes.iter().map(value).collect(), exact)
    }

    fn some(bytes: &[u8]) -> Vec<Option<u8>> {
        bytes.iter().copied().map(Some).collect()
    }

    #[test]
    fn missing_components_are_zero_and_alpha_one() {
        assert_eq!(decoded("r32f", &1.5_f32.to_le_bytes()), [1.5, 0.0, 0.0, 1.0]);
        assert_eq!(decoded("rg8", &[255, 0]), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(integers("r32ui", &[9, 0, 0, 1], 32), [0x0100_0009, 0, 0, 1]);
        assert_eq!(integers("rg16i", &[0xff, 0xff, 2, 0], 32), [0xffff_ffff, 2, 0, 1]);
    }

    #[test]
    fn unsigned_normalised_values_are_fractions_of_the_greatest() {
        assert_eq!(decoded("rgba8", &[0, 51, 128, 255]), [0.0, 0.2, 128.0 / 255.0, 1.0]);
        assert_eq!(decoded("r16", &[0xff, 0x7f]), [32767.0 / 65535.0, 0.0, 0.0, 1.0]);
        // Clamped to 0 and 1, which is exact; 0.2 of 255 is not.
        assert_eq!(encoded("rgba8", [-0.5, 0.0, 1.0, 7.0]), (some(&[0, 0, 255, 255]), true));
        let (bytes, exact) = encoded("rg8", [0.5, 0.2, 0.0, 0.0]);
        assert_eq!((bytes, exact), (some(&[128, 51]), false));
        assert_eq!(encoded("r8", [f32::INFINITY, 0.0, 0.0, 0.0]), (some(&[255]), true));
        assert_eq!(encoded("r8", [f32::NAN, 0.0, 0.0, 0.0]), (some(&[0]), false));
    }

    #[test]
    fn signed_normalised_values_have_two_encodings_of_minus_one() {
        assert_eq!(decoded("rgba8snorm", &[0x80, 0x81, 0, 0x7f]), [-1.0, -1.0, 0.0, 1.0]);
        assert_eq!(decoded("r16snorm", &[0x01, 0x80]), [-1.0, 0.0, 0.0, 1.0]);
        assert_eq!(encoded("rgba8snorm", [-2.0, -1.0, 0.0, 2.0]), (some(&[0x81, 0x81, 0, 0x7f]), true));
        assert_eq!(encoded("r16snorm", [-0.5, 0.0, 0.0, 0.0]), (some(&[0x00, 0xc0]), false));
    }

    #[test]
    fn halves_are_ieee_754() {
        assert_eq!(decoded("rg16f", &[0x00, 0x3c, 0xff, 0x7b]), [1.0, 65504.0, 0.0, 1.0]);
        // The least denormal, and infinity.
        assert_eq!(
            decoded("rg16f", &[0x01, 0x00, 0x00, 0xfc]),
            [2.0_f32.powi(-24), f32::NEG_INFINITY, 0.0, 1.0]
        );
        assert_eq!(encoded("rg16f", [1.0, -0.0, 0.0, 0.0]), (some(&[0x00, 0x3c, 0x00, 0x80]), true));
        assert!(!encoded("r16f", [0.1, 0.0, 0.0, 0.0]).1);
        assert!(!encoded("r16f", [1e9, 0.0, 0.0, 0.0]).1);
    }

    #[test]
    fn small_floats_have_no_sign() {
        // 1.0 in 11 bits is 0x3c0, in 10 bits 0x1e0.
        let ones = 0x3c0_u32 | 0x3c0 << 11 | 0x1e0 << 22;
        assert_eq!(decoded("r11fg11fb10f", &ones.to_le_bytes()), [1.0; 4]);
        assert_eq!(encoded("r11fg11fb10f", [1.0, 1.0, 1.0, 9.0]), (some(&ones.to_le_bytes()), true));
        // The greatest finite values, 65024 and 64512; infinity; the least denormals.
        let greatest = 0x7bf_u32 | 0x7c0 << 11 | 0x3df << 22;
        assert_eq!(decoded("r11fg11fb10f", &greatest.to_le_bytes()), [65024.0, f32::INFINITY, 64512.0, 1.0]);
        let least = 1_u32 | 0x41 << 11 | 1 << 22;
        let values = [2.0_f32.powi(-20), 2.0_f32.powi(-14) * (1.0 + 1.0 / 64.0), 2.0_f32.powi(-19), 1.0];
        assert_eq!(decoded("r11fg11fb10f", &least.to_le_bytes()), values);
        assert_eq!(encoded("r11fg11fb10f", values), (some(&least.to_le_bytes()), true));
        assert_eq!(encoded("r11fg11fb10f", [-1.0, f32::NEG_INFINITY, 0.0, 0.0]), (some(&[0; 4]), true));
        let (bytes, exact) = encoded("r11fg11fb10f", [1e9, f32::INFINITY, 1e9, 0.0]);
        assert_eq!((bytes, exact), (some(&greatest.to_le_bytes()), false));
        // What lies between two values becomes the nearest, to even in the middle.
        for (share, bits) in [(0.75, 0x3c1), (0.25, 0x3c0), (0.5, 0x3c0), (1.5, 0x3c2)] {
            let (bytes, exact) = encoded("r11fg11fb10f", [1.0 + share / 64.0, 0.0, 0.0, 0.0]);
            assert_eq!((bytes, exact), (some(&u32::to_le_bytes(bits)), false), "{share}");
        }
        // Every encoding of a finite value comes back.
        for bits in 0..0x7c0_u32 {
            let [value, ..] = decoded("r11fg11fb10f", &bits.to_le_bytes());
            assert_eq!(encoded("r11fg11fb10f", [value, 0.0, 0.0, 0.0]), (some(&bits.to_le_bytes()), true));
        }
    }

    #[test]
    fn packed_components_begin_with_red_in_the_lowest_bits() {
        let word = 0x3ff_u32 | 0x001 << 10 | 0x200 << 20 | 0b10 << 30;
        assert_eq!(integers("rgb10a2ui", &word.to_le_bytes(), 32), [0x3ff, 1, 0x200, 2]);
        assert_eq!(raw("rgb10a2ui", [0x3ff, 1, 0x200, 2]), (some(&word.to_le_bytes()), true));
        let [red, green, blue, alpha] = decoded("rgb10a2", &word.to_le_bytes());
        assert_eq!([red, green, blue, alpha], [1.0, 1.0 / 1023.0, 512.0 / 1023.0, 2.0 / 3.0]);
    }

    #[test]
    fn integers_that_do_not_fit_are_undefined() {
        assert_eq!(raw("rg8ui", [255, 256, 0, 0]), (vec![Some(255), None], true));
        assert_eq!(raw("rg8i", [0xffff_ff80, 0xffff_ff7f, 0, 0]), (vec![Some(0x80), None], true));
        assert_eq!(raw("r16i", [0x7fff, 0, 0, 0]), (some(&[0xff, 0x7f]), true));
        assert_eq!(raw("r16i", [0x8000, 0, 0, 0]), (vec![None, None], true));
        // One undefined component makes the bytes that it shares undefined.
        assert_eq!(raw("rgb10a2ui", [0x400, 0, 0, 3]), (vec![None, None, Some(0), Some(0xc0)], true));
        assert_eq!(raw("r64i", [u64::MAX, 0, 0, 0]), (some(&[0xff; 8]), true));
    }

    #[test]
    fn extension_may_be_asked_for() {
        let bytes = known(&[0x80]);
        let read = |name: &str, extend| decode(format(name), &bytes, 32, extend)[0].bits;
        assert_eq!(read("r8ui", Some(true)), 0xffff_ff80);
        assert_eq!(read("r8i", Some(false)), 0x80);
        assert_eq!(read("r8i", None), 0xffff_ff80);
        let wide = decode(format("r64i"), &known(&[0xfe; 8]), 64, None)[0];
        assert_eq!(wide, Scalar::new(0xfefe_fefe_fefe_fefe));
    }

    #[test]
    fn undefined_bytes_stay_with_their_component() {
        let bytes = [Byte::Known(1), Byte::Undef];
        let [red, green, ..] = decode(format("rg8ui"), &bytes, 32, None);
        assert_eq!((red, green), (Scalar::new(1), Scalar { bits: 0, undef: 0xff }));
        let [red, green, ..] = decode(format("rg8"), &bytes, 32, None);
        assert_eq!((red.is_defined(), green), (true, Scalar::undefined(32)));
    }

    #[test]
    fn what_is_decoded_is_encoded_alike() {
        for format in ImageFormat::all() {
            let bytes: Vec<Byte> = (0..format.bytes()).map(|byte| Byte::Known(byte as u8 * 5 + 1)).collect();
            let width = if format.bits_of(0).1 == 64 { 64 } else { 32 };
            let (again, _) = encode(format, &decode(format, &bytes, width, None));
            assert_eq!(again.to_vec(), bytes, "{format}");
        }
    }
}
