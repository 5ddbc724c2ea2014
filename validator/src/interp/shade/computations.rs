//! Computations that two runs have in common.
//!
//! Where both modules compute the same operation of the same bits, an implementation gives them the same result, and
//! one that follows IEEE 754 gives the one that was computed. So the two may be followed side by side, bit by bit, up to
//! where they differ: intervals are needed behind that alone.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::interval::{least_normal, Interval};
use super::{Observer, Shade};
use crate::ir::{Inst, Operand};
use crate::value::Scalar;

/// An operation and the bits that it took, hashed.
type Computation = u128;

/// How often a run computed what.
#[derive(Clone, Debug, Default)]
pub struct Computations(FxHashMap<Computation, u32>);

impl Computations {
    /// Adds those of another invocation.
    pub fn add(&mut self, other: &Computations) {
        for (computation, times) in &other.0 {
            *self.0.entry(*computation).or_default() += times;
        }
    }

    /// What both runs computed.
    pub fn common(&self, other: &Computations) -> Common {
        let both = self.0.iter().filter_map(|(computation, times)| {
            other.0.get(computation).map(|others| (*computation, times == others))
        });
        Common(both.collect())
    }
}

/// Computations of both runs; whether as often in one as in the other.
#[derive(Clone, Debug, Default)]
pub struct Common(FxHashMap<Computation, bool>);

/// What a run does with its computations.
#[derive(Clone, Copy, Debug, Default)]
pub enum Following<'a> {
    /// It gives every result that is open its interval.
    #[default]
    Alone,
    /// It counts them, too.
    Counting,
    /// It takes the results of those that the other run has, too, as they were computed.
    SideBySide(&'a Common),
}

/// Whether the other run has a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elsewhere {
    Never,
    /// It has, more or less often: one of several may have been rewritten.
    Sometimes,
    /// It has, as often.
    Equally,
}

/// How far a result without a bound may be from the one that was computed, relative to it and at least to 1, if the
/// other side computes it more or less often. What is in its place there is folded or rewritten, and nearer than this.
const NEAR: f64 = 1.0 / 1024.0;

/// Whether the other run computes this, too: operation `inst`, or the one with this opcode, of `operands`.
pub(super) fn elsewhere(
    following: Following<'_>,
    computations: &mut Computations,
    inst: &Inst,
    (opcode, width): (u16, u8),
    operands: &[Scalar],
) -> Elsewhere {
    if let Following::Alone = following {
        return Elsewhere::Never;
    }
    let mut hasher = SipHasher13::new();
    (opcode, inst.named().extended, width).hash(&mut hasher);
    operands.hash(&mut hasher);
    let computation = hasher.finish128().as_u128();
    match following {
        Following::Alone => Elsewhere::Never,
        Following::Counting => {
            *computations.0.entry(computation).or_default() += 1;
            Elsewhere::Never
        }
        Following::SideBySide(common) => match common.0.get(&computation) {
            None => Elsewhere::Never,
            Some(false) => Elsewhere::Sometimes,
            Some(true) => Elsewhere::Equally,
        },
    }
}

impl Observer<'_, '_> {
    /// See [`elsewhere`].
    pub(super) fn elsewhere(
        &mut self,
        inst: &Inst,
        opcode: u16,
        width: u8,
        operands: &[Scalar],
    ) -> Elsewhere {
        elsewhere(self.following, &mut self.shades.computations, inst, (opcode, width), operands)
    }

    /// See [`side_by_side`], for the float in a register.
    pub(super) fn side_by_side_shade(
        &self,
        elsewhere: Elsewhere,
        width: u8,
        register: u32,
        shade: Shade,
    ) -> Shade {
        side_by_side(elsewhere, width, self.value(Operand::register(register)), shade)
    }
}

/// The interval of a float that was computed so and may be `shade`, where both sides may compute it.
pub(super) fn side_by_side(elsewhere: Elsewhere, width: u8, computed: Scalar, shade: Shade) -> Shade {
    let computed = super::float::number(width, computed);
    match (elsewhere, shade) {
        (Elsewhere::Never, shade) | (Elsewhere::Sometimes, shade @ None) => shade,
        (Elsewhere::Sometimes, Some(interval)) if !interval.is_any() => shade,
        (Elsewhere::Sometimes, Some(_)) => {
            let near = NEAR * computed.magnitude().max(1.0);
            Some(if computed.is_any() { Interval::ANY } else { computed.widen(near) })
        }
        // What underflows loses what an implementation that rearranges it need not lose.
        (Elsewhere::Equally, Some(interval)) if interval.low < interval.high => {
            (computed.magnitude() < least_normal(width)).then_some(interval)
        }
        (Elsewhere::Equally, _) => None,
    }
}
