//! Derivatives: differences within the quad of a fragment (SPIR-V specification 3.3.16, "Derivative Instructions";
//! Vulkan, "Derivative Operations").
//!
//! The invocations of a quad have the numbers 0 and 1 in its upper row, 2 and 3 in its lower one. Helper invocations take
//! part like all others. Where one of the four does not execute the same dynamic instance, the results are undefined.

use super::{Components, Stop, SubgroupResult, Tangle};
use crate::interp::{evaluate, float_value, ulp};
use crate::ir::{BinaryOp, Contribution, Derivative, Differences};
use crate::value::Scalar;

/// The invocation beside another one, and the one below it.
const BESIDE: u32 = 1;
const BELOW: u32 = 2;

/// What invocations have that are not together with their quad.
pub(super) fn undefined(of: Derivative, value: Contribution) -> Components {
    Components::from_elem(Scalar::undefined(u32::from(value.width)), (of.results() * value.count) as usize)
}

/// One component of the four.
type Quad = [Scalar; 4];

impl Tangle<'_> {
    /// What each has of a derivative. The result is inexact if the other row or column has another difference, and the
    /// instruction may take that one.
    pub(super) fn derivative(
        &self,
        of: Derivative,
        value: Contribution,
    ) -> Result<SubgroupResult, Box<Stop>> {
        let mut result = SubgroupResult { values: Vec::with_capacity(self.members.len()), inexact: false };
        for lane in self.lanes() {
            let Some(members) = self.quad_of(lane) else {
                result.values.push(undefined(of, value));
                continue;
            };
            let quads = (0..value.count)
                .map(|component| members.map(|member| self.scalar(member, value.value.offset(component))));
            let quads: Vec<Quad> = quads.collect();
            let mut own = Components::new();
            if of == Derivative::Gradients {
                for (row, direction) in [(0, BESIDE), (0, BELOW), (BELOW, BESIDE), (BESIDE, BELOW)] {
                    for quad in &quads {
                        own.push(self.difference(quad, (lane % 4) ^ row, direction, value.width)?);
                    }
                }
            } else {
                for quad in &quads {
                    let (found, is_open) = self.differences(of, quad, lane % 4, value.width)?;
                    result.inexact |= is_open;
                    own.push(found);
                }
            }
            result.values.push(own);
        }
        Ok(result)
    }

    /// The members of the quad that this number belongs to, if all four are here.
    fn quad_of(&self, lane: u32) -> Option<[usize; 4]> {
        let member = |place: u32| self.lanes().position(|other| other == lane / 4 * 4 + place);
        Some([member(0)?, member(1)?, member(2)?, member(3)?])
    }

    /// The result for the invocation at a place of the quad, and whether it may be another one.
    fn differences(
        &self,
        of: Derivative,
        quad: &Quad,
        place: u32,
        width: u8,
    ) -> Result<(Scalar, bool), Box<Stop>> {
        // Coarse derivatives are those of the first row and column.
        let at = |how| if how == Differences::Coarse { 0 } else { place };
        let both = |how: Differences, direction: u32| -> Result<(Scalar, bool), Box<Stop>> {
            let other_row = BESIDE + BELOW - direction;
            let found = self.difference(quad, at(how), direction, width)?;
            let other = self.difference(quad, at(how) ^ other_row, direction, width)?;
            let is_rounded = self.is_rounded(quad, at(how), direction, width);
            Ok((found, is_rounded || how != Differences::Fine && found != other))
        };
        match of {
            Derivative::X(how) => both(how, BESIDE),
            Derivative::Y(how) => both(how, BELOW),
            Derivative::Width(how) => {
                let (x, open_x) = both(how, BESIDE)?;
                let (y, open_y) = both(how, BELOW)?;
                let (x, y) = (magnitude(x, width), magnitude(y, width));
                let sum = self.evaluated(evaluate::binary(BinaryOp::FAdd, width, x, y))?;
                let is_rounded = numbers(width, [x, y]).is_none_or(|[x, y]| !is_exact(width, -x, y));
                Ok((sum, open_x || open_y || is_rounded && !self.program.modes.floats.rounds_to_even(width)))
            }
            // These have results for both directions.
            Derivative::Gradients => Ok((Scalar::undefined(u32::from(width)), false)),
        }
    }

    /// Whether the difference here is rounded, in a direction that the module does not fix, or is of what is no number.
    fn is_rounded(&self, quad: &Quad, place: u32, direction: u32, width: u8) -> bool {
        let at = |place: u32| quad.get(place as usize).copied().unwrap_or_default();
        let (first, second) = (at(place & !direction), at(place | direction));
        let is_exact = numbers(width, [first, second]).is_some_and(|[a, b]| is_exact(width, a, b));
        !is_exact
            && first.is_defined()
            && second.is_defined()
            && !self.program.modes.floats.rounds_to_even(width)
    }

    /// The second less the first of the row or column that this place is in.
    fn difference(&self, quad: &Quad, place: u32, direction: u32, width: u8) -> Result<Scalar, Box<Stop>> {
        let (first, second) = (place & !direction, place | direction);
        let at = |place: u32| quad.get(place as usize).copied().unwrap_or_default();
        self.evaluated(evaluate::binary(BinaryOp::FSub, width, at(second), at(first)))
    }
}

/// The finite numbers that floats are.
fn numbers(width: u8, values: [Scalar; 2]) -> Option<[f64; 2]> {
    let [a, b] = values.map(|value| float_value(width, value.bits).filter(|number| number.is_finite()));
    Some([a?, b?])
}

/// Whether the second less the first is a float of this width.
pub(in crate::interp) fn is_exact(width: u8, first: f64, second: f64) -> bool {
    let difference = second - first;
    let virtual_first = difference - second;
    let lost = (second - (difference - virtual_first)) - (first + virtual_first);
    lost == 0.0 && difference.is_finite() && difference % ulp(width, difference.abs()) == 0.0
}

/// A float without its sign.
fn magnitude(value: Scalar, width: u8) -> Scalar {
    let sign = 1_u64 << (width - 1);
    Scalar { bits: value.bits & !sign, undef: value.undef & !sign }
}
