//! Operations on the invocations of a subgroup that execute the same dynamic instance, a *tangle*
//! (SPIR-V 3.3.24). An invocation stops at one ([`Stop::Subgroup`](super::Stop::Subgroup)); when the whole
//! tangle is there, the results are computed from what all bring ([`evaluate`]) and handed to each
//! ([`Invocation::supply_subgroup`]).

mod arithmetic;
mod ballot;
mod cooperative;
pub(super) mod derivative;
mod shuffle;

use shuffle::Sources;

use super::machine::{fault, Components, Machine, Step};
use super::{compare, evaluate as scalar, Invocation, Stop};
use crate::dispatch::Dispatch;
use crate::event::UndefinedKind;
use crate::ir::{
    Contribution, Inexact, Inst, Line, MatrixAction, Op, Operand, Program, SubgroupArithmetic, SubgroupKind,
    SubgroupOp,
};
use crate::value::Scalar;

/// What a tangle's operation gives.
pub struct SubgroupResult {
    /// The components of each invocation's result, in the order of the tangle.
    pub values: Vec<Components>,
    /// The environment leaves the results open, to some degree.
    pub inexact: bool,
}

/// A tangle at its operation: invocations of one subgroup, by ascending number.
struct Tangle<'t> {
    members: &'t [&'t Invocation],
    program: &'t Program,
    dispatch: &'t Dispatch,
    line: Line,
}

impl Machine<'_> {
    /// Stops for the tangle, unless the result depends on the invocation alone.
    pub(super) fn subgroup(&mut self, op: &SubgroupOp, line: Line) -> Step {
        self.state.effects += u64::from(!op.is_derivative());
        let local = match op.kind {
            SubgroupKind::BallotBitExtract { value, index } => {
                ballot::bit_extract(self.words(value), self.value(index), self.dispatch.subgroup_size)
            }
            SubgroupKind::BallotBitCount { operation, width, value } => {
                let (lane, size) = (self.lane(), self.dispatch.subgroup_size);
                ballot::bit_count(self.words(value), operation, width, lane, size)
            }
            SubgroupKind::BallotFind { most, width, value } => {
                ballot::find(self.words(value), most, width, self.dispatch.subgroup_size)
            }
            SubgroupKind::Elect
            | SubgroupKind::Vote { .. }
            | SubgroupKind::AllEqual { .. }
            | SubgroupKind::Broadcast { .. }
            | SubgroupKind::BroadcastFirst { .. }
            | SubgroupKind::Ballot { .. }
            | SubgroupKind::InverseBallot { .. }
            | SubgroupKind::Shuffle { .. }
            | SubgroupKind::Arithmetic { .. }
            | SubgroupKind::Partition { .. }
            | SubgroupKind::QuadBroadcast { .. }
            | SubgroupKind::QuadSwap { .. }
            | SubgroupKind::QuadVote { .. }
            | SubgroupKind::Derivative { .. } => return self.meet(op, line),
            SubgroupKind::Matrix(ref step) => match step.action {
                // Who loads and stores what an invocation holds is that invocation.
                MatrixAction::TakeLoaded { value, matrix } | MatrixAction::GiveStored { value, matrix }
                    if !self.dispatch.displaced =>
                {
                    let components = self.values(value, matrix.slots);
                    self.set_all(op.dst, &components);
                    self.state.advance();
                    return Ok(());
                }
                MatrixAction::TakeLoaded { .. }
                | MatrixAction::GiveStored { .. }
                | MatrixAction::Meet
                | MatrixAction::MulAdd(_)
                | MatrixAction::Reduce(_)
                | MatrixAction::Transpose { .. } => return self.meet(op, line),
            },
        };
        self.state.set(op.dst, local);
        self.state.advance();
        Ok(())
    }

    fn meet(&mut self, op: &SubgroupOp, line: Line) -> Step {
        let name = self.state.instance_name(self.program);
        Err(Box::new(Stop::Subgroup { name, scope: op.scope(), line }))
    }

    fn words(&self, ballot: Operand) -> [Scalar; 4] {
        [0, 1, 2, 3].map(|word| self.value(ballot.offset(word)))
    }

    fn lane(&self) -> u32 {
        self.dispatch.places[self.state.index as usize].subgroup_lane
    }
}

impl Invocation {
    /// Answers [`Stop::Subgroup`].
    pub fn supply_subgroup(&mut self, program: &Program, values: &[Scalar], inexact: bool) {
        let Some(inst) = self.instruction(program) else { return };
        let Op::Subgroup(op) = &inst.op else { return };
        if inexact {
            self.inexact.insert(Inexact { line: inst.line, opcode: inst.opcode, extended: 0 });
        }
        for (register, value) in (op.dst..).zip(values) {
            self.set(register, *value);
        }
        self.advance();
    }

    /// Answers [`Stop::Subgroup`] with undefined values.
    pub fn supply_undefined(&mut self, program: &Program) {
        let Some(Inst { op: Op::Subgroup(op), .. }) = self.instruction(program) else { return };
        let values = match op.kind {
            SubgroupKind::Elect
            | SubgroupKind::Vote { .. }
            | SubgroupKind::QuadVote { .. }
            | SubgroupKind::AllEqual { .. }
            | SubgroupKind::InverseBallot { .. } => one(Scalar::undefined(1)),
            SubgroupKind::Broadcast { value, .. }
            | SubgroupKind::BroadcastFirst { value }
            | SubgroupKind::Shuffle { value, .. }
            | SubgroupKind::QuadBroadcast { value, .. }
            | SubgroupKind::QuadSwap { value, .. }
            | SubgroupKind::Arithmetic { value, .. } => undefined(value),
            SubgroupKind::Derivative { of, value } => derivative::undefined(of, value),
            SubgroupKind::Ballot { .. } | SubgroupKind::Partition { .. } => {
                Components::from_elem(Scalar::undefined(32), 4)
            }
            SubgroupKind::Matrix(ref step) => {
                let mut uniform = step.uniform.iter().flat_map(|uniform| {
                    (0..uniform.count).map(|number| self.operand(program, uniform.value.offset(number)))
                });
                let is_lost = uniform.any(|value| !value.is_defined());
                let values = undefined_matrix(&step.action);
                self.lost |= is_lost;
                values
            }
            // These stop for nobody.
            SubgroupKind::BallotBitExtract { .. }
            | SubgroupKind::BallotBitCount { .. }
            | SubgroupKind::BallotFind { .. } => return,
        };
        self.supply_subgroup(program, &values, false);
    }
}

/// Lets invocations go on that stand at one operation, where nothing depends on who is certainly together
/// with whom: invocations of one subgroup at one name are. False where they cannot go on.
pub fn go_on_together(program: &Program, dispatch: &Dispatch, members: &mut [&mut Invocation]) -> bool {
    let result = {
        let members: Vec<&Invocation> = members.iter().map(|member| &**member).collect();
        evaluate(program, dispatch, &members)
    };
    let Ok(result) = result else { return false };
    for (member, values) in members.iter_mut().zip(&result.values) {
        member.supply_subgroup(program, values, result.inexact);
    }
    true
}

/// The results of the operation that all of a tangle's invocations stand at.
///
/// # Errors
/// The stop of each of them where the behaviour, not just a value, is undefined.
pub fn evaluate(
    program: &Program,
    dispatch: &Dispatch,
    members: &[&Invocation],
) -> Result<SubgroupResult, Box<Stop>> {
    let inst = members.first().and_then(|first| first.instruction(program));
    let Some(Inst { op: Op::Subgroup(op), line, .. }) = inst else {
        return Ok(SubgroupResult { values: Vec::new(), inexact: false });
    };
    let tangle = Tangle { members, program, dispatch, line: *line };
    let exact = |values| Ok(SubgroupResult { values, inexact: false });
    if let Some((value, sources)) = tangle.movement(&op.kind)? {
        return exact(tangle.moved(value, sources));
    }
    match &op.kind {
        SubgroupKind::Elect => {
            exact((0..members.len()).map(|index| one(Scalar::new(u64::from(index == 0)))).collect())
        }
        SubgroupKind::Vote { all, value } => exact(tangle.alike(one(tangle.vote(*all, *value, |_| true)))),
        SubgroupKind::QuadVote { all, value } => {
            exact(tangle.each(|lane| one(tangle.vote(*all, *value, |other| other / 4 == lane / 4))))
        }
        SubgroupKind::AllEqual { value, float } => Ok(tangle.all_equal(*value, *float)?)
            .map(|equal| SubgroupResult { values: tangle.alike(one(equal)), inexact: false }),
        SubgroupKind::Ballot { value } => exact(tangle.alike(tangle.ballot(*value))),
        SubgroupKind::InverseBallot { value } => exact(tangle.inverse_ballot(*value)?),
        SubgroupKind::Arithmetic { op, operation, value } => tangle.arithmetic(*op, *operation, *value),
        SubgroupKind::Matrix(step) => tangle.matrix_step(step),
        SubgroupKind::Partition { value, float } => exact(tangle.partition(*value, *float)?),
        SubgroupKind::Derivative { of, value } => tangle.derivative(*of, *value),
        // These move values, as above.
        SubgroupKind::Broadcast { .. }
        | SubgroupKind::BroadcastFirst { .. }
        | SubgroupKind::Shuffle { .. }
        | SubgroupKind::QuadBroadcast { .. }
        | SubgroupKind::QuadSwap { .. }
        // And these stop for nobody.
        | SubgroupKind::BallotBitExtract { .. }
        | SubgroupKind::BallotBitCount { .. }
        | SubgroupKind::BallotFind { .. } => exact(Vec::new()),
    }
}

/// How the operation that all of a tangle's invocations stand at moves or combines what they bring, where it does one of
/// these and is defined.
pub(super) fn flow(program: &Program, dispatch: &Dispatch, members: &[&Invocation]) -> Option<Flow> {
    let Inst { op: Op::Subgroup(op), line, .. } = members.first()?.instruction(program)? else { return None };
    let tangle = Tangle { members, program, dispatch, line: *line };
    if let Some((value, sources)) = tangle.movement(&op.kind).ok()? {
        return Some(Flow::Moves(value, sources));
    }
    let SubgroupKind::Arithmetic { op, operation, value } = op.kind else { return None };
    Some(Flow::Combines(op, value, tangle.combined(operation).ok()?))
}

/// See [`flow`].
pub(super) enum Flow {
    /// Each gets the value of one.
    Moves(Contribution, Sources),
    /// Each gets what the values of these give together, in any order.
    Combines(SubgroupArithmetic, Contribution, Vec<Vec<usize>>),
}

fn one(value: Scalar) -> Components {
    Components::from_slice(&[value])
}

impl Tangle<'_> {
    /// What an operation moves between the invocations, and whose each gets; `None` for one that does something else.
    fn movement(&self, kind: &SubgroupKind) -> Result<Option<(Contribution, Sources)>, Box<Stop>> {
        Ok(Some(match kind {
            SubgroupKind::Broadcast { value, id, strict } => (*value, self.broadcast(*id, *strict)?),
            SubgroupKind::BroadcastFirst { value } => (*value, self.broadcast_first()),
            SubgroupKind::Shuffle { way, value, operand } => (*value, self.shuffle(*way, *operand)?),
            SubgroupKind::QuadBroadcast { value, index } => (*value, self.quad_broadcast(*index)?),
            SubgroupKind::QuadSwap { value, flip } => (*value, self.quad_swap(*flip)),
            SubgroupKind::Elect
            | SubgroupKind::Vote { .. }
            | SubgroupKind::AllEqual { .. }
            | SubgroupKind::Ballot { .. }
            | SubgroupKind::InverseBallot { .. }
            | SubgroupKind::BallotBitExtract { .. }
            | SubgroupKind::BallotBitCount { .. }
            | SubgroupKind::BallotFind { .. }
            | SubgroupKind::Arithmetic { .. }
            | SubgroupKind::Partition { .. }
            | SubgroupKind::QuadVote { .. }
            | SubgroupKind::Matrix(_)
            | SubgroupKind::Derivative { .. } => return Ok(None),
        }))
    }

    /// The subgroup's size, present or not.
    fn size(&self) -> u32 {
        self.dispatch.subgroup_size
    }

    /// The number of a member within the subgroup.
    fn lane(&self, member: usize) -> u32 {
        self.dispatch.places[self.members[member].index as usize].subgroup_lane
    }

    fn lanes(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.members.len()).map(|member| self.lane(member))
    }

    /// A component that a member brings.
    fn scalar(&self, member: usize, operand: Operand) -> Scalar {
        self.members[member].operand(self.program, operand)
    }

    /// What a member brings.
    fn of(&self, member: usize, value: Contribution) -> Components {
        (0..value.count).map(|i| self.scalar(member, value.value.offset(i))).collect()
    }

    /// The same result for all.
    fn alike(&self, result: Components) -> Vec<Components> {
        vec![result; self.members.len()]
    }

    /// A result for each, by its number.
    fn each(&self, result: impl Fn(u32) -> Components) -> Vec<Components> {
        self.lanes().map(result).collect()
    }

    /// The operand that all must bring alike; `None` where they don't.
    fn uniform(&self, operand: Operand) -> Option<Scalar> {
        let first = self.scalar(0, operand);
        let same = (0..self.members.len()).all(|member| self.scalar(member, operand) == first);
        (same && first.is_defined()).then_some(first)
    }

    fn not_uniform(&self, what: &str) -> Box<Stop> {
        let detail = format!("{what} is not dynamically uniform");
        fault(UndefinedKind::UndefinedOperand, self.line, detail)
    }

    /// Of the members that `counts` picks by their numbers.
    fn vote(&self, all: bool, value: Operand, counts: impl Fn(u32) -> bool) -> Scalar {
        let votes = (0..self.members.len())
            .filter(|member| counts(self.lane(*member)))
            .map(|member| self.scalar(member, value));
        match all {
            true => votes.fold(Scalar::new(1), super::bits::and),
            false => votes.fold(Scalar::new(0), super::bits::or),
        }
    }

    fn equal(&self, a: &[Scalar], b: &[Scalar], width: u8, float: bool) -> Result<Scalar, Box<Stop>> {
        let mut equal = Scalar::new(1);
        for (a, b) in a.iter().zip(b) {
            let same = match float {
                true => self.evaluated(scalar::binary(crate::ir::BinaryOp::FOrdEqual, width, *a, *b))?,
                false => compare::equal(*a, *b),
            };
            equal = super::bits::and(equal, same);
        }
        Ok(equal)
    }

    fn all_equal(&self, value: Contribution, float: bool) -> Result<Scalar, Box<Stop>> {
        let first = self.of(0, value);
        let mut equal = self.equal(&first, &first, value.width, float)?;
        if self.members.len() == 1 {
            // Whether a NaN alone equals itself is not said.
            return Ok(if equal == Scalar::new(1) { equal } else { Scalar::undefined(1) });
        }
        for member in 1..self.members.len() {
            let same = self.equal(&first, &self.of(member, value), value.width, float)?;
            equal = super::bits::and(equal, same);
        }
        Ok(equal)
    }

    fn evaluated(&self, value: scalar::Evaluated) -> Result<Scalar, Box<Stop>> {
        value.map_err(|error| match error {
            scalar::EvaluationError::Undefined { kind, detail } => fault(kind, self.line, detail),
            scalar::EvaluationError::Unsupported(what) => {
                Box::new(Stop::Unsupported { line: self.line, what })
            }
        })
    }
}

/// What one holds after a step if nothing is known of the others.
fn undefined_matrix(action: &MatrixAction) -> Components {
    let (matrix, width) = match action {
        MatrixAction::Meet => return Components::new(),
        MatrixAction::MulAdd(product) => (product.result.matrix, u32::from(product.result.width)),
        // Of any width.
        MatrixAction::TakeLoaded { matrix, .. } | MatrixAction::GiveStored { matrix, .. } => (*matrix, 64),
        MatrixAction::Reduce(reduction) => (reduction.to, 64),
        MatrixAction::Transpose { to, .. } => (*to, 64),
    };
    Components::from_elem(Scalar::undefined(width), matrix.slots as usize)
}

fn undefined(value: Contribution) -> Components {
    Components::from_elem(Scalar::undefined(u32::from(value.width)), value.count as usize)
}
