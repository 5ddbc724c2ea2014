//! How near the driver's result must be to ours.

use spirv_tv::value::Byte;

use super::text::Scalar;
use super::values::{format, is_denormal, is_nan};

/// Ours is one permitted value: the driver's must be within twice the permitted error of it
/// (Vulkan specification, "Precision of Individual Operations").
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// Bit for bit; NaNs are equal.
    Exact,
    /// The same, but for the sign of zero.
    UpToSignOfZero,
    /// In units in the last place; half of one is what is correctly rounded, in any direction.
    Ulp(f64),
    /// An absolute error.
    Absolute(f64),
    /// Either of an absolute error and units in the last place.
    AbsoluteOrUlp(f64, f64),
}

impl Tolerance {
    /// Whether bytes of the driver's are allowed by ours. Undefined bytes of ours allow all.
    pub fn accepts(self, scalar: Scalar, ours: &[Byte], theirs: &[u8]) -> bool {
        let equal = ours.iter().zip(theirs).all(|(ours, theirs)| match ours {
            Byte::Known(value) => value == theirs,
            Byte::Undef => true,
        });
        if equal {
            return true;
        }
        let Scalar::Float(width) = scalar else { return false };
        let known: Option<Vec<u8>> = ours
            .iter()
            .map(|byte| match byte {
                Byte::Known(value) => Some(*value),
                Byte::Undef => None,
            })
            .collect();
        let Some(known) = known else { return false };
        let (ours, theirs) = (bits(&known), bits(theirs));
        if is_nan(width, ours) || is_nan(width, theirs) {
            return is_nan(width, ours) && is_nan(width, theirs);
        }
        let (sign, exponent, _) = format(width);
        // Denormals may be flushed, and zero has neither sign for what is rounded to it.
        if is_denormal(width, ours) && theirs & !sign == 0 {
            return true;
        }
        let distance = (place(width, ours) - place(width, theirs)).unsigned_abs();
        let within = |ulp: f64| distance as f64 <= 2.0 * ulp;
        let near = |error: f64| {
            let finite = ours & exponent != exponent && theirs & exponent != exponent;
            finite && (value(width, ours) - value(width, theirs)).abs() <= 2.0 * error
        };
        match self {
            Tolerance::Exact => false,
            Tolerance::UpToSignOfZero => distance == 0,
            Tolerance::Ulp(ulp) => within(ulp),
            Tolerance::Absolute(error) => near(error),
            Tolerance::AbsoluteOrUlp(error, ulp) => near(error) || within(ulp),
        }
    }
}

fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// The place of a float in the order of its format, both zeros at 0.
fn place(width: u8, bits: u64) -> i128 {
    let (sign, _, _) = format(width);
    let magnitude = i128::from(bits & !sign);
    if bits & sign == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// The value of a float.
pub fn value(width: u8, bits: u64) -> f64 {
    match width {
        16 => {
            let (sign, exponent, significand) = (bits >> 15, bits >> 10 & 0x1f, bits & 0x3ff);
            let magnitude = match exponent {
                0 => significand as f64 * 2_f64.powi(-24),
                0x1f if significand != 0 => f64::NAN,
                0x1f => f64::INFINITY,
                _ => (1024 + significand) as f64 * 2_f64.powi(exponent as i32 - 25),
            };
            if sign == 1 {
                -magnitude
            } else {
                magnitude
            }
        }
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}
