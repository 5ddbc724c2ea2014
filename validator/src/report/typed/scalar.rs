//! Values in words.

use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use crate::report::words::word;
use crate::value::Byte;

/// What a few bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Scalar {
    /// An integer without a sign.
    Unsigned,
    /// An integer with a sign.
    Signed,
    /// A float of IEEE 754.
    Float,
    /// Not 0, or 0.
    Bool,
    /// An address, or a format that has no words.
    Bits,
}

/// Integers from here on are told with their bits.
const LARGE: u64 = 1 << 16;

impl Scalar {
    /// A value in words: floats beside their bits, as are large integers.
    pub(in crate::report) fn told(self, bytes: &[Byte]) -> String {
        if !bytes.is_empty() && bytes.iter().all(|byte| *byte == Byte::Undef) {
            return "undefined".to_owned();
        }
        let bits = word(bytes);
        let known: Option<Vec<u8>> = bytes
            .iter()
            .map(|byte| match byte {
                Byte::Known(value) => Some(*value),
                Byte::Undef => None,
            })
            .collect();
        let Some(value) = known.filter(|known| known.len() <= 8).map(|known| number(&known)) else {
            return bits;
        };
        let width = 8 * bytes.len() as u32;
        match self {
            Scalar::Unsigned if value < LARGE => value.to_string(),
            Scalar::Unsigned => format!("{value} ({bits})"),
            Scalar::Signed => {
                let unused = 64 - width;
                let signed = (value << unused).cast_signed() >> unused;
                match signed.unsigned_abs() < LARGE {
                    true => signed.to_string(),
                    false => format!("{signed} ({bits})"),
                }
            }
            Scalar::Float => match width {
                16 => format!("{:?} ({bits})", widened(value)),
                32 => format!("{:?} ({bits})", f32::from_bits(value as u32)),
                64 => format!("{:?} ({bits})", f64::from_bits(value)),
                _ => bits,
            },
            Scalar::Bool => (value != 0).to_string(),
            Scalar::Bits => bits,
        }
    }
}

/// A little-endian number of at most 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A float of 16 bits.
fn widened(bits: u64) -> f32 {
    let mut loses = false;
    let single: Single = Half::from_bits(u128::from(bits)).convert(&mut loses).value;
    f32::from_bits(single.to_bits() as u32)
}
