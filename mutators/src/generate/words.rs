//! Values as words of buffers, and back.

use rspirv::spirv::{Op, Word};

use super::kernel::Kernel;
use super::types::{bound, Ty, INT, UINT};

/// The binding of the results, of words.
pub(super) const OUTPUT: u32 = 1;

/// How many words the values of a type are.
pub(super) fn count(ty: &Ty) -> u32 {
    match ty {
        Ty::Int { width: 64, .. } | Ty::Float(64) => 2,
        Ty::Bool | Ty::Int { .. } | Ty::Float(_) => 1,
        _ => ty.members().iter().map(count).sum(),
    }
}

/// Two 32-bit words as a vector.
fn pair() -> Ty {
    Ty::vector(UINT, 2)
}

impl Kernel {
    /// The words of a value.
    pub(super) fn flatten(&mut self, value: Word, ty: &Ty) -> Vec<Word> {
        match ty {
            Ty::Bool => {
                let (one, zero) = (self.b.uint(1), self.b.uint(0));
                vec![self.b.op(Op::Select, &UINT, &[value, one, zero])]
            }
            Ty::Int { width: 32, signed: false } => vec![value],
            Ty::Int { width: 32, .. } | Ty::Float(32) => vec![self.b.op(Op::Bitcast, &UINT, &[value])],
            Ty::Int { width: 64, .. } | Ty::Float(64) => {
                let both = self.b.op(Op::Bitcast, &pair(), &[value]);
                (0..2).map(|part| self.b.op_with(Op::CompositeExtract, &UINT, &[both], &[part])).collect()
            }
            Ty::Int { signed: true, .. } => {
                let wide = self.b.op(Op::SConvert, &INT, &[value]);
                vec![self.b.op(Op::Bitcast, &UINT, &[wide])]
            }
            Ty::Int { .. } => vec![self.b.op(Op::UConvert, &UINT, &[value])],
            Ty::Float(_) => {
                let wide = self.b.op(Op::FConvert, &Ty::Float(32), &[value]);
                vec![self.b.op(Op::Bitcast, &UINT, &[wide])]
            }
            Ty::Vector(..) | Ty::Matrix(..) | Ty::Array(..) | Ty::Struct(_) => {
                let mut words = Vec::new();
                for (index, member) in (0..).zip(ty.members()) {
                    let part = self.b.op_with(Op::CompositeExtract, &member, &[value], &[index]);
                    words.extend(self.flatten(part, &member));
                }
                words
            }
        }
    }

    /// A value of a type made of words, one after the other from `next`. Floats become whole numbers
    /// within their bound.
    pub(super) fn unflatten(&mut self, ty: &Ty, next: &mut dyn FnMut(&mut Kernel) -> Word) -> Word {
        match ty {
            Ty::Bool => {
                let (word, one) = (next(self), self.b.uint(1));
                let bit = self.b.op(Op::BitwiseAnd, &UINT, &[word, one]);
                self.b.op(Op::INotEqual, &Ty::Bool, &[bit, one])
            }
            Ty::Int { width: 32, signed: false } => next(self),
            Ty::Int { width: 32, .. } => {
                let word = next(self);
                self.b.op(Op::Bitcast, ty, &[word])
            }
            Ty::Int { width: 64, .. } => {
                let parts = [next(self), next(self)];
                let both = self.b.op(Op::CompositeConstruct, &pair(), &parts);
                self.b.op(Op::Bitcast, ty, &[both])
            }
            Ty::Int { signed: true, .. } => {
                let word = next(self);
                let word = self.b.op(Op::Bitcast, &INT, &[word]);
                self.b.op(Op::SConvert, ty, &[word])
            }
            Ty::Int { .. } => {
                let word = next(self);
                self.b.op(Op::UConvert, ty, &[word])
            }
            Ty::Float(_) => {
                let word = next(self);
                self.whole_float(ty, word, &UINT)
            }
            Ty::Vector(..) | Ty::Matrix(..) | Ty::Array(..) | Ty::Struct(_) => {
                let members: Vec<Word> =
                    ty.members().iter().map(|member| self.unflatten(member, next)).collect();
                self.b.op(Op::CompositeConstruct, ty, &members)
            }
        }
    }

    /// Any integer as a float within its bound: its low bits, moved to both sides of zero. Both types are scalars, or
    /// vectors of the same length.
    pub(super) fn whole_float(&mut self, ty: &Ty, integer: Word, of: &Ty) -> Word {
        let Some((Ty::Float(width), _)) = ty.shape() else { return integer };
        let Some((scalar @ Ty::Int { width: bits, .. }, _)) = of.shape() else { return integer };
        let (scalar, bound) = (scalar.clone(), bound(*width));
        let mut splat = |value: u64| {
            let constant = self.b.integer(&scalar, value);
            self.b.splat(of, constant)
        };
        let (mask, middle) = (splat(u64::from(2 * bound - 1)), splat(u64::from(bound)));
        let low = self.b.op(Op::BitwiseAnd, of, &[integer, mask]);
        let moved = self.b.op(Op::ISub, of, &[low, middle]);
        debug_assert!(*bits >= 8, "the bound fits");
        self.b.op(Op::ConvertSToF, ty, &[moved])
    }
}
