//! Register and memory values, with undefinedness.
//!
//! Undefined values are tracked per bit in registers and per byte in memory
//! (docs/semantics.md, section 5.1). A set bit in `undef` says that the bit of the value is
//! undefined; the corresponding bit of `bits` is then 0, so that equal values
//! compare equal.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// One component of a register: a bool (0 or 1), an integer or a float of up to
/// 64 bits (zero-extended), or half of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Scalar {
    /// The value, zero-extended to 64 bits; undefined bits are 0.
    pub bits: u64,
    /// The mask of undefined bits.
    pub undef: u64,
}

impl Scalar {
    /// A defined value.
    #[inline]
    pub const fn new(bits: u64) -> Self {
        Scalar { bits, undef: 0 }
    }

    /// A wholly undefined value of `width` bits.
    #[inline]
    pub const fn undefined(width: u32) -> Self {
        Scalar { bits: 0, undef: mask(width) }
    }

    /// Whether every bit is defined.
    #[inline]
    pub const fn is_defined(self) -> bool {
        self.undef == 0
    }
}

/// The mask of the low `width` bits, `width` in 1..=64.
#[inline]
pub const fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// One byte of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Byte {
    /// A byte with a value.
    Known(u8),
    /// A byte whose value is undefined.
    Undef,
}

impl Ord for Byte {
    // Without branches: outcomes are compared byte by byte.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let code = |byte: &Byte| match byte {
            Byte::Known(value) => u16::from(*value),
            Byte::Undef => 0x100,
        };
        code(self).cmp(&code(other))
    }
}

impl PartialOrd for Byte {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Byte {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        Byte::hash_slice(&[*self], state);
    }

    // Outcomes are long: a word at a time, values in the low bits, which a multiplying hash mixes best.
    #[inline]
    fn hash_slice<H: Hasher>(bytes: &[Self], state: &mut H) {
        for word in bytes.chunks(4) {
            let mut code = 0;
            for (index, byte) in word.iter().enumerate() {
                code |= match byte {
                    Byte::Known(value) => u64::from(*value) << (8 * index),
                    Byte::Undef => 1 << (32 + index),
                };
            }
            state.write_u64(code);
        }
    }
}
