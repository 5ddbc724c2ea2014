//! Intervals of derivatives: what the differences within a quad may be.

use super::computations::{elsewhere, Elsewhere, Following};
use super::float::number;
use super::interval::{Interval, Permitted};
use super::{Shade, Shades};
use crate::dispatch::Dispatch;
use crate::interp::{subgroup, Invocation};
use crate::ir::{Contribution, Derivative, Differences, Inst, Op, Program, SubgroupKind};
use crate::value::Scalar;

/// The invocation beside another one, and the one below it.
const BESIDE: usize = 1;
const BELOW: usize = 2;

/// An invocation at an operation of its subgroup, with its intervals.
pub struct Shaded<'s> {
    /// The invocation.
    pub invocation: &'s mut Invocation,
    /// Its intervals.
    pub shades: &'s mut Shades,
}

/// As [`subgroup::go_on_together`], with intervals. False where they cannot go on, or where it is not followed what the
/// operation does with a float that may be another one.
pub fn go_on_shaded(
    program: &Program,
    dispatch: &Dispatch,
    members: &mut [Shaded<'_>],
    following: Following<'_>,
) -> bool {
    let result = {
        let invocations: Vec<&Invocation> = members.iter().map(|member| &*member.invocation).collect();
        subgroup::evaluate(program, dispatch, &invocations)
    };
    let (Ok(result), Some(first)) = (result, members.first()) else { return false };
    let Some(inst @ Inst { op: Op::Subgroup(op), .. }) = first.invocation.instruction(program) else {
        return false;
    };
    let (width, found): (u8, Vec<Vec<Shade>>) = if let SubgroupKind::Derivative { of, value } = op.kind {
        let place = |member: &Shaded<'_>| dispatch.places.get(member.invocation.index as usize);
        let lane = |member: &Shaded<'_>| place(member).map(|place| place.subgroup_lane);
        let Some(lanes) = members.iter().map(lane).collect::<Option<Vec<u32>>>() else { return false };
        let quad = Quad { program, members, value };
        let mut found: Vec<Vec<Shade>> = lanes.iter().map(|lane| quad.shades(of, &lanes, *lane)).collect();
        // The same differences, wherever the values come from.
        for component in 0..value.count {
            let operand = value.value.offset(component);
            let values: Vec<Scalar> =
                members.iter().map(|member| member.invocation.operand(program, operand)).collect();
            let Some(Shaded { shades, .. }) = members.first_mut() else { return false };
            let kind = (inst.opcode, value.width);
            if elsewhere(following, &mut shades.computations, inst, kind, &values) == Elsewhere::Equally {
                let shades = found.iter_mut().filter_map(|shades| shades.get_mut(component as usize));
                shades.for_each(|shade| *shade = None);
            }
        }
        (value.width, found)
    } else {
        let mut shaded = result.inexact;
        for member in &*members {
            op.visit_operands(&mut |operand| {
                shaded |= (0..LARGEST).any(|part| member.shade(operand.offset(part)).is_some());
            });
        }
        if shaded {
            return false;
        }
        (32, vec![Vec::new(); members.len()])
    };
    let dst = op.dst;
    for ((member, values), shades) in members.iter_mut().zip(&result.values).zip(found) {
        member.invocation.supply_subgroup(program, values, false);
        let base = member.invocation.frame.registers;
        member.shades.registers.resize(member.invocation.registers.len(), None);
        for (number, value) in (0..).zip(values) {
            let shade = shades.get(number as usize).copied().flatten();
            let around = shade.map(|interval| interval.hull(self::number(width, *value)));
            if let Some(slot) = member.shades.registers.get_mut((base + dst + number) as usize) {
                *slot = around.filter(|_| value.is_defined());
            }
        }
    }
    true
}

/// Components of the largest vector.
const LARGEST: u32 = 4;

impl Shaded<'_> {
    fn shade(&self, operand: crate::ir::Operand) -> Shade {
        if operand.is_constant() {
            return None;
        }
        let at = self.invocation.frame.registers + operand.index();
        self.shades.registers.get(at as usize).copied().flatten()
    }
}

/// What a derivative is taken of.
struct Quad<'q, 's> {
    program: &'q Program,
    members: &'q [Shaded<'s>],
    value: Contribution,
}

/// What a component may be in each of the four, and whether it may be several things.
type Corners = [(Interval, bool); 4];

impl Quad<'_, '_> {
    /// The intervals of the results of the invocation with this number, where all four are here.
    fn shades(&self, of: Derivative, lanes: &[u32], lane: u32) -> Vec<Shade> {
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
