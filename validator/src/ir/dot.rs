//! Integer dot products (SPIR-V 3.3.13, OpSDot and its relatives).

use super::Operand;

/// How the components of the two vectors are extended to the width of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotSigns {
    /// Both by their signs.
    Signed,
    /// Both by zeros.
    Unsigned,
    /// Those of the first vector by their signs, those of the second by zeros.
    Mixed,
}

/// The sum of the products of the components of two integer vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegerDot {
    pub dst: u32,
    /// Bits of the result.
    pub width: u8,
    /// Bits of a component of the vectors.
    pub component_width: u8,
    /// Components of each vector.
    pub count: u32,
    /// Each vector is one integer, whose lowest bits are its first component.
    pub packed: bool,
    pub signs: DotSigns,
    pub a: Operand,
    pub b: Operand,
    /// What the sum is added to, saturating.
    pub accumulator: Option<Operand>,
}
