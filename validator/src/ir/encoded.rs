//! Floats of formats that are stored and converted, but not computed with: bfloat16 and 8-bit floats
//! (SPV_KHR_bfloat16, SPV_EXT_float8).

use super::Operand;

/// A format beside those of IEEE 754.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatEncoding {
    BFloat16,
    /// Without infinities; the highest encoding is its only NaN.
    Float8E4M3,
    Float8E5M2,
}

impl FloatEncoding {
    /// Bits of a value.
    pub const fn width(self) -> u8 {
        match self {
            FloatEncoding::BFloat16 => 16,
            FloatEncoding::Float8E4M3 | FloatEncoding::Float8E5M2 => 8,
        }
    }
}

/// What the components of a conversion are; widths in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFormat {
    Signed(u8),
    Unsigned(u8),
    /// A format of IEEE 754.
    Float(u8),
    Encoded(FloatEncoding),
}

/// Operations on encoded floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodedOp {
    /// A conversion from or to an encoded float.
    Convert {
        from: NumberFormat,
        to: NumberFormat,
        /// What is too large becomes the greatest finite value.
        saturates: bool,
        count: u32,
        dst: u32,
        a: Operand,
    },
    /// OpDot of two vectors of encoded floats, to one of their components.
    Dot { encoding: FloatEncoding, count: u32, dst: u32, a: Operand, b: Operand },
}

impl EncodedOp {
    pub(super) const fn destination(&self) -> u32 {
        match self {
            EncodedOp::Convert { dst, .. } | EncodedOp::Dot { dst, .. } => *dst,
        }
    }

    pub(super) fn operands(&self) -> impl Iterator<Item = Operand> {
        let operands = match *self {
            EncodedOp::Convert { a, .. } => [Some(a), None],
            EncodedOp::Dot { a, b, .. } => [Some(a), Some(b)],
        };
        operands.into_iter().flatten()
    }
}
