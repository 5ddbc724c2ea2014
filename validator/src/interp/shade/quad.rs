//! Intervals of derivatives: what the differences within a quad may be.

use super::float::number;
use super::interval::{Interval, Permitted};
use super::tangle::Shaded;
use super::Shade;
use crate::interp::subgroup;
use crate::ir::{Contribution, Derivative, Differences, Program};

/// The invocation beside another one, and the one below it.
const BESIDE: usize = 1;
const BELOW: usize = 2;

/// What a derivative is taken of.
pub(super) struct Quad<'q, 's> {
    pub program: &'q Program,
    pub members: &'q [Shaded<'s>],
    pub value: Contribution,
}

/// What a component may be in each of the four, and whether it may be several things.
type Corners = [(Interval, bool); 4];

impl Quad<'_, '_> {
    /// The intervals of the results of the invocation with this number, where all four are here.
    pub fn shades(&self, of: Derivative, lanes: &[u32], lane: u32) -> Vec<Shade> {
        let corner = |place: u32| lanes.iter().position(|other| *other == lane / 4 * 4 + place);
        let (Some(a), Some(b), Some(c), Some(d)) = (corner(0), corner(1), corner(2), corner(3)) else {
            return Vec::new();
        };
        let place = (lane % 4) as usize;
        let components = (0..self.value.count).map(|component| {
            let operand = self.value.value.offset(component);
            [a, b, c, d].map(|position| {
                let Some(member) = self.members.get(position) else { return (Interval::ANY, true) };
                let own = number(self.value.width, member.invocation.operand(self.program, operand));
                member.shade(operand).map_or((own, false), |interval| (interval, true))
            })
        });
        let components: Vec<Corners> = components.collect();
        let each = |found: &dyn Fn(&Corners) -> Shade| components.iter().map(found).collect::<Vec<Shade>>();
        match of {
            Derivative::X(how) => each(&|corners| self.along(corners, place, BESIDE, how)),
            Derivative::Y(how) => each(&|corners| self.along(corners, place, BELOW, how)),
            Derivative::Width(how) => each(&|corners| {
                let [x, y] = [BESIDE, BELOW].map(|direction| self.along(corners, place, direction, how));
                if x.is_none() && y.is_none() {
                    return None;
                }
                let sizes = [(x, BESIDE), (y, BELOW)].map(|(shade, direction)| {
                    magnitude(shade.unwrap_or_else(|| self.difference(corners, place, direction).0))
                });
                Some(self.permitted().add(sizes[0], sizes[1]))
            }),
            Derivative::Gradients => [(0, BESIDE), (0, BELOW), (BELOW, BESIDE), (BESIDE, BELOW)]
                .iter()
                .flat_map(|(other, direction)| {
                    each(&|corners| {
                        let (interval, open) = self.difference(corners, place ^ other, *direction);
                        open.then_some(interval)
                    })
                })
                .collect(),
        }
    }

    fn permitted(&self) -> Permitted {
        Permitted::new(self.value.width, false)
    }

    /// The difference in this row or column, and whether it may be several things.
    fn difference(&self, corners: &Corners, place: usize, direction: usize) -> (Interval, bool) {
        let at = |place: usize| corners.get(place).copied().unwrap_or((Interval::ANY, true));
        let ((first, open), (second, also)) = (at(place & !direction), at(place | direction));
        let is_exact = first.low == first.high
            && second.low == second.high
            && subgroup::derivative::is_exact(self.value.width, first.low, second.low);
        match is_exact {
            true => (Interval::point(second.low - first.low), open || also),
            false => (self.permitted().subtract(second, first), true),
        }
    }

    /// What a derivative in one direction may be; `None` where it is what it is.
    fn along(&self, corners: &Corners, place: usize, direction: usize, how: Differences) -> Shade {
        let (own, open) = self.difference(corners, place, direction);
        if how == Differences::Fine {
            return open.then_some(own);
        }
        let (other, also) = self.difference(corners, place ^ (BESIDE + BELOW - direction), direction);
        (open || also || own != other).then(|| own.hull(other))
    }
}

/// What the magnitude of a number in the interval may be.
fn magnitude(interval: Interval) -> Interval {
    let Interval { low, high } = interval;
    let least = if interval.contains(0.0) { 0.0 } else { low.abs().min(high.abs()) };
    if interval.is_any() {
        interval
    } else {
        Interval::between(least, low.abs().max(high.abs()))
    }
}
