//! Operations of a subgroup on values with intervals: what moves keeps its interval, sums and products are those of any
//! order, and what a vote or a comparison says of floats that may be others is not known.

use super::computations::{elsewhere, side_by_side, Elsewhere, Following};
use super::float::number;
use super::glsl::{maximum, minimum};
use super::interval::{Interval, Permitted};
use super::quad::Quad;
use super::{Shade, Shades};
use crate::dispatch::Dispatch;
use crate::interp::subgroup::{self, Flow, SubgroupResult};
use crate::interp::Invocation;
use crate::ir::{
    BinaryOp, Contribution, Derivative, Inst, Op, Operand, Program, SubgroupArithmetic, SubgroupKind,
    SubgroupOp,
};
use crate::value::Scalar;

/// An invocation at an operation of its subgroup, with its intervals.
pub struct Shaded<'s> {
    /// The invocation.
    pub invocation: &'s mut Invocation,
    /// Its intervals.
    pub shades: &'s mut Shades,
}

/// Components of the largest vector, and at most of a part of a cooperative matrix.
const LARGEST: u32 = 4;
const LARGEST_PART: u32 = 256;

impl Shaded<'_> {
    pub(super) fn shade(&self, operand: Operand) -> Shade {
        if operand.is_constant() {
            return None;
        }
        let at = self.invocation.frame.registers + operand.index();
        self.shades.registers.get(at as usize).copied().flatten()
    }

    fn is_shaded(&self, operand: Operand, count: u32) -> bool {
        (0..count).any(|part| self.shade(operand.offset(part)).is_some())
    }
}

/// As [`subgroup::go_on_together`], with intervals. False where they cannot go on, or where it is not followed what the
/// operation does with a float that may be another one.
pub fn go_on_shaded(
    program: &Program,
    dispatch: &Dispatch,
    members: &mut [Shaded<'_>],
    following: Following<'_>,
) -> bool {
    let (result, flow) = {
        let invocations: Vec<&Invocation> = members.iter().map(|member| &*member.invocation).collect();
        (subgroup::evaluate(program, dispatch, &invocations), subgroup::flow(program, dispatch, &invocations))
    };
    let (Ok(result), Some(first)) = (result, members.first()) else { return false };
    let Some(inst @ Inst { op: Op::Subgroup(op), .. }) = first.invocation.instruction(program) else {
        return false;
    };
    let mut tangle = Tangle { program, dispatch, following, inst, members: &mut *members };
    let shades = match (flow, &op.kind) {
        (Some(Flow::Moves(value, sources)), _) => {
            tangle.is_settled_beside(op, value).then(|| tangle.moved(value, &sources))
        }
        (Some(Flow::Combines(how, value, parts)), _) => {
            tangle.is_settled_beside(op, value).then(|| tangle.combined(how, value, &parts, &result))
        }
        (None, SubgroupKind::Derivative { of, value }) => tangle.derivative(*of, *value),
        (None, _) => tangle.unknown(op, result.inexact),
    };
    let Some((width, found)) = shades else { return false };
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

/// Bits of a component of the results, and the intervals of each invocation's.
type Found = (u8, Vec<Vec<Shade>>);

/// The invocations at an operation.
struct Tangle<'t, 's> {
    program: &'t Program,
    dispatch: &'t Dispatch,
    following: Following<'t>,
    inst: &'t Inst,
    members: &'t mut [Shaded<'s>],
}

impl Tangle<'_, '_> {
    /// Whether nothing but `value` hangs on floats: neither a source nor a cluster.
    fn is_settled_beside(&self, op: &SubgroupOp, value: Contribution) -> bool {
        // Ballots are vectors, all others of these numbers.
        let count = if matches!(op.kind, SubgroupKind::Arithmetic { .. }) { LARGEST } else { 1 };
        let mut settled = true;
        op.visit_operands(&mut |operand| {
            let is_other = operand != value.value;
            settled &= !is_other || !self.members.iter().any(|member| member.is_shaded(operand, count));
        });
        settled
    }

    fn value_of(&self, member: usize, operand: Operand) -> Scalar {
        let member = self.members.get(member);
        member.map_or(Scalar::default(), |member| member.invocation.operand(self.program, operand))
    }

    fn shade_of(&self, member: usize, operand: Operand) -> Shade {
        self.members.get(member)?.shade(operand)
    }

    /// Whether the other run has a computation of these values, too.
    fn elsewhere(&mut self, width: u8, values: &[Scalar]) -> Elsewhere {
        match self.members.first_mut() {
            Some(Shaded { shades, .. }) => {
                let kind = (self.inst.opcode, width);
                elsewhere(self.following, &mut shades.computations, self.inst, kind, values)
            }
            None => Elsewhere::Never,
        }
    }

    /// Values that move with their intervals.
    fn moved(&self, value: Contribution, sources: &[Option<usize>]) -> Found {
        let part = |source: usize, part| self.shade_of(source, value.value.offset(part));
        let each = sources.iter().map(|source| match source {
            Some(source) => (0..value.count).map(|number| part(*source, number)).collect(),
            None => Vec::new(),
        });
        (value.width, each.collect())
    }

    /// Reductions and scans.
    fn combined(
        &mut self,
        op: SubgroupArithmetic,
        value: Contribution,
        parts: &[Vec<usize>],
        result: &SubgroupResult,
    ) -> Found {
        let is_relaxed = self.inst.relaxed || self.program.modes.floats.unbounded;
        let relaxed = is_relaxed && value.width == 32 && is_of_floats(op);
        // What the other side has, too, has lost as much there.
        let loses = relaxed && !matches!(self.following, Following::SideBySide(_));
        let permitted = Permitted::new(if relaxed { 16 } else { value.width }, true);
        let mut found = vec![Vec::new(); parts.len()];
        for component in 0..value.count {
            let operand = value.value.offset(component);
            for ((part, computed), shades) in parts.iter().zip(&result.values).zip(&mut found) {
                let values: Vec<Scalar> = part.iter().map(|member| self.value_of(*member, operand)).collect();
                let elsewhere = self.elsewhere(value.width, &values);
                let given: Vec<Shade> = part.iter().map(|member| self.shade_of(*member, operand)).collect();
                let opens = part.len() > 1 && result.inexact || loses && !part.is_empty();
                let shade = (opens || given.iter().any(Option::is_some)).then(|| {
                    let bring = given.iter().zip(&values);
                    let intervals = bring.map(|(given, computed)| {
                        let interval = given.unwrap_or_else(|| number(value.width, *computed));
                        if relaxed {
                            interval.relaxed()
                        } else {
                            interval
                        }
                    });
                    together(op, permitted, &intervals.collect::<Vec<Interval>>())
                });
                let computed = computed.get(component as usize).copied().unwrap_or_default();
                shades.push(side_by_side(elsewhere, value.width, computed, shade));
            }
        }
        (value.width, found)
    }

    /// Differences within quads; `None` where somebody is nowhere.
    fn derivative(&mut self, of: Derivative, value: Contribution) -> Option<Found> {
        let place = |member: &Shaded<'_>| self.dispatch.places.get(member.invocation.index as usize);
        let lane = |member: &Shaded<'_>| place(member).map(|place| place.subgroup_lane);
        let lanes = self.members.iter().map(lane).collect::<Option<Vec<u32>>>()?;
        let quad = Quad { program: self.program, members: &*self.members, value };
        let mut found: Vec<Vec<Shade>> = lanes.iter().map(|lane| quad.shades(of, &lanes, *lane)).collect();
        // The same differences, wherever the values come from.
        for component in 0..value.count {
            let operand = value.value.offset(component);
            let members = 0..self.members.len();
            let values: Vec<Scalar> = members.map(|member| self.value_of(member, operand)).collect();
            if self.elsewhere(value.width, &values) == Elsewhere::Equally {
                let shades = found.iter_mut().filter_map(|shades| shades.get_mut(component as usize));
                shades.for_each(|shade| *shade = None);
            }
        }
        Some((value.width, found))
    }

    /// Operations of which nothing is known where they hang on floats that may be others; `None` where that is not followed.
    fn unknown(&self, op: &SubgroupOp, open: bool) -> Option<Found> {
        let is_shaded = |count| {
            let mut shaded = open;
            op.visit_operands(&mut |operand| {
                shaded |= self.members.iter().any(|member| member.is_shaded(operand, count));
            });
            shaded
        };
        let (count, results) = match &op.kind {
            SubgroupKind::Vote { .. } | SubgroupKind::QuadVote { .. } => (1, 1),
            SubgroupKind::AllEqual { value, .. } => (value.count, 1),
            SubgroupKind::InverseBallot { .. } => (LARGEST, 1),
            SubgroupKind::Ballot { .. } => (1, LARGEST),
            SubgroupKind::Partition { value, .. } => (value.count, LARGEST),
            SubgroupKind::Elect
            | SubgroupKind::BallotBitExtract { .. }
            | SubgroupKind::BallotBitCount { .. }
            | SubgroupKind::BallotFind { .. } => return (!is_shaded(LARGEST)).then(|| self.nothing()),
            SubgroupKind::Matrix(_) => return (!is_shaded(LARGEST_PART)).then(|| self.nothing()),
            // Their intervals are known.
            SubgroupKind::Broadcast { .. }
            | SubgroupKind::BroadcastFirst { .. }
            | SubgroupKind::Shuffle { .. }
            | SubgroupKind::QuadBroadcast { .. }
            | SubgroupKind::QuadSwap { .. }
            | SubgroupKind::Arithmetic { .. }
            | SubgroupKind::Derivative { .. } => return None,
        };
        Some(match is_shaded(count) {
            true => (32, vec![vec![Some(Interval::ANY); results as usize]; self.members.len()]),
            false => self.nothing(),
        })
    }

    /// Results that are what they are.
    fn nothing(&self) -> Found {
        (32, vec![Vec::new(); self.members.len()])
    }
}

const fn is_of_floats(op: SubgroupArithmetic) -> bool {
    matches!(
        op,
        SubgroupArithmetic::Binary(BinaryOp::FAdd | BinaryOp::FMul)
            | SubgroupArithmetic::FMin
            | SubgroupArithmetic::FMax
    )
}

/// What some values give together, in any order.
fn together(op: SubgroupArithmetic, permitted: Permitted, intervals: &[Interval]) -> Interval {
    let folded = |combine: &dyn Fn(Interval, Interval) -> Interval| {
        intervals.iter().copied().reduce(combine).unwrap_or(Interval::ANY)
    };
    match op {
        _ if intervals.len() == 1 => folded(&|a, _| a),
        SubgroupArithmetic::Binary(BinaryOp::FAdd) => {
            let terms = intervals.iter().map(|interval| (*interval, Interval::point(1.0)));
            permitted.dot(&terms.collect::<Vec<_>>())
        }
        SubgroupArithmetic::Binary(BinaryOp::FMul) => permitted.product(intervals),
        SubgroupArithmetic::FMin => permitted.settle(folded(&minimum)),
        SubgroupArithmetic::FMax => permitted.settle(folded(&maximum)),
        // Integers and truth values that hang on floats.
        SubgroupArithmetic::Binary(_)
        | SubgroupArithmetic::SMin
        | SubgroupArithmetic::UMin
        | SubgroupArithmetic::SMax
        | SubgroupArithmetic::UMax => Interval::ANY,
    }
}
