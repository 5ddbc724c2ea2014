//! Types of generated programs.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op, StorageClass, Word};

use super::build::Builder;

/// A type of values. Floats hold whole numbers only, see [`bound`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Bool,
    Int {
        width: u32,
        signed: bool,
    },
    Float(u32),
    /// Two to four scalars.
    Vector(Box<Ty>, u32),
    /// Rows and columns; of 32-bit floats.
    Matrix(u32, u32),
    Array(Box<Ty>, u32),
    Struct(Vec<Ty>),
}

pub(super) const UINT: Ty = Ty::Int { width: 32, signed: false };
pub(super) const INT: Ty = Ty::Int { width: 32, signed: true };

/// The greatest absolute value of floats of a width. Sums and products of two whole numbers up to it are exact in
/// every order of evaluation, contracted or not.
pub(super) fn bound(width: u32) -> u32 {
    match width {
        16 => 4,
        _ => 8,
    }
}

impl Ty {
    pub(super) fn vector(of: Ty, count: u32) -> Ty {
        Ty::Vector(Box::new(of), count)
    }

    /// The scalar type of a scalar or vector, and its number of components.
    pub(super) fn shape(&self) -> Option<(&Ty, u32)> {
        match self {
            Ty::Bool | Ty::Int { .. } | Ty::Float(_) => Some((self, 1)),
            Ty::Vector(of, count) => Some((of, *count)),
            Ty::Matrix(..) | Ty::Array(..) | Ty::Struct(_) => None,
        }
    }

    /// A scalar or vector of another scalar type with as many components as this one.
    pub(super) fn with_scalar(&self, scalar: Ty) -> Ty {
        match self {
            Ty::Vector(_, count) => Ty::vector(scalar, *count),
            _ => scalar,
        }
    }

    /// The direct members of a composite, in order; empty for scalars.
    pub(super) fn members(&self) -> Vec<Ty> {
        match self {
            Ty::Bool | Ty::Int { .. } | Ty::Float(_) => Vec::new(),
            Ty::Vector(of, count) => vec![(**of).clone(); *count as usize],
            Ty::Matrix(rows, columns) => vec![Ty::vector(Ty::Float(32), *rows); *columns as usize],
            Ty::Array(of, count) => vec![(**of).clone(); *count as usize],
            Ty::Struct(members) => members.clone(),
        }
    }
}

impl Builder {
    /// The id of a type.
    pub(super) fn ty(&mut self, ty: &Ty) -> Word {
        match ty {
            Ty::Bool => self.global(Op::TypeBool, None, vec![]),
            Ty::Int { width, signed } => {
                let capability = match width {
                    8 => Some(Capability::Int8),
                    16 => Some(Capability::Int16),
                    64 => Some(Capability::Int64),
                    _ => None,
                };
                capability.into_iter().for_each(|capability| self.capability(capability));
                let operands = [*width, u32::from(*signed)].map(Operand::LiteralBit32).to_vec();
                self.global(Op::TypeInt, None, operands)
            }
            Ty::Float(width) => {
                let capability = match width {
                    16 => Some(Capability::Float16),
                    64 => Some(Capability::Float64),
                    _ => None,
                };
                capability.into_iter().for_each(|capability| self.capability(capability));
                self.preserve_zeros(*width);
                self.global(Op::TypeFloat, None, vec![Operand::LiteralBit32(*width)])
            }
            Ty::Vector(of, count) => {
                let of = self.ty(of);
                self.global(Op::TypeVector, None, vec![Operand::IdRef(of), Operand::LiteralBit32(*count)])
            }
            Ty::Matrix(rows, columns) => {
                let column = self.ty(&Ty::vector(Ty::Float(32), *rows));
                let operands = vec![Operand::IdRef(column), Operand::LiteralBit32(*columns)];
                self.global(Op::TypeMatrix, None, operands)
            }
            Ty::Array(of, count) => {
                let of = self.ty(of);
                let count = self.uint(*count);
                self.global(Op::TypeArray, None, vec![Operand::IdRef(of), Operand::IdRef(count)])
            }
            Ty::Struct(members) => {
                let members = members.iter().map(|member| Operand::IdRef(self.ty(member))).collect();
                self.global(Op::TypeStruct, None, members)
            }
        }
    }

    /// The id of a pointer type.
    pub(super) fn pointer(&mut self, class: StorageClass, to: &Ty) -> Word {
        let to = self.ty(to);
        self.global(Op::TypePointer, None, vec![Operand::StorageClass(class), Operand::IdRef(to)])
    }

    /// A constant of 32 bits, unsigned.
    pub(super) fn uint(&mut self, value: u32) -> Word {
        self.integer(&UINT, u64::from(value))
    }

    /// An integer constant; bits above the type's width are dropped.
    pub(super) fn integer(&mut self, ty: &Ty, value: u64) -> Word {
        let Ty::Int { width, signed } = *ty else { unreachable!("an integer type") };
        let id = self.ty(ty);
        let low = value as u32;
        // Narrow literals are extended to a word, by their sign where they have one.
        let literal = match (width, signed) {
            (64, _) => Operand::LiteralBit64(value),
            (8, true) => Operand::LiteralBit32(low as i8 as u32),
            (8, false) => Operand::LiteralBit32(low & 0xFF),
            (16, true) => Operand::LiteralBit32(low as i16 as u32),
            (16, false) => Operand::LiteralBit32(low & 0xFFFF),
            _ => Operand::LiteralBit32(low),
        };
        self.global(Op::Constant, Some(id), vec![literal])
    }

    /// A float constant: a multiple of a quarter of up to a few hundred, which all widths have.
    pub(super) fn float(&mut self, width: u32, value: f32) -> Word {
        let id = self.ty(&Ty::Float(width));
        let bits = float_bits(width, value);
        let literal = match width {
            64 => Operand::LiteralBit64(bits),
            _ => Operand::LiteralBit32(bits as u32),
        };
        self.global(Op::Constant, Some(id), vec![literal])
    }

    /// The same scalar constant in every component of a scalar or vector type.
    pub(super) fn splat(&mut self, ty: &Ty, scalar: Word) -> Word {
        match ty {
            Ty::Vector(_, count) => {
                let id = self.ty(ty);
                let parts = vec![Operand::IdRef(scalar); *count as usize];
                self.global(Op::ConstantComposite, Some(id), parts)
            }
            _ => scalar,
        }
    }
}

/// The bits of a float of a width: a multiple of a quarter of up to a few hundred.
pub(super) fn float_bits(width: u32, value: f32) -> u64 {
    match width {
        16 => u64::from(half_bits(value)),
        64 => f64::from(value).to_bits(),
        _ => u64::from(value.to_bits()),
    }
}

/// The bits of a float of 16 bits; exact for normal values with at most 10 bits behind the first.
fn half_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    if value == 0.0 {
        return sign;
    }
    let exponent = (bits >> 23 & 0xFF) as i32 - 127 + 15;
    sign | (exponent as u16) << 10 | (bits >> 13 & 0x3FF) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_their_bits() {
        let known = [(0.0, 0), (1.0, 0x3C00), (-1.0, 0xBC00), (0.5, 0x3800), (4.0, 0x4400), (-6.5, 0xC680)];
        for (value, bits) in known {
            assert_eq!(half_bits(value), bits, "{value}");
        }
    }
}
