//! What all invocations of a scope do together with cooperative matrices, which are put together from what each
//! of them holds.

use super::super::cooperative::{Held, LOAD_PLACES, STORE_PLACES};
use super::super::encoded::{decode, encode};
use super::super::float::{from_double, to_double};
use super::super::machine::{fault, Components, Machine};
use super::super::{SharedMemory, Stop, Written};
use super::{Invocation, SubgroupResult, Tangle};
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, UndefinedKind};
use crate::ir::{
    Factor, FunctionId, MatrixAction, MatrixStep, MulAdd, Operand, Program, ReduceMode, Reduction, Spread,
    Uniform,
};
use crate::value::{mask, Byte, Scalar};

/// Instructions of a call that combines two components, at most.
const MAX_COMBINING: u32 = 100_000;

impl Tangle<'_> {
    pub(super) fn matrix_step(&self, step: &MatrixStep) -> Result<SubgroupResult, Box<Stop>> {
        let held: Vec<Held> = (0..self.members.len())
            .map(|member| {
                let place = &self.dispatch.places[self.members[member].index as usize];
                Held::by(self.dispatch, place, step.scope)
            })
            .collect();
        if held.first().is_none_or(|held| held.step as usize != self.members.len()) {
            let scope = step.scope.scope().name();
            let detail =
                format!("not every invocation of the {scope} comes to this with its cooperative matrices");
            return Err(fault(UndefinedKind::DivergentBarrier, self.line, detail));
        }
        step.uniform.iter().try_for_each(|uniform| self.require_uniform(uniform))?;
        let matrices = Matrices { tangle: self, held };
        let exact = |values| Ok(SubgroupResult { values, inexact: false });
        match &step.action {
            MatrixAction::Meet => exact(vec![Components::new(); self.members.len()]),
            MatrixAction::TakeLoaded { value, matrix } => exact(matrices.moved(*value, *matrix, LOAD_PLACES)),
            MatrixAction::GiveStored { value, matrix } => {
                // To whom stores: the other way round.
                let back = held_count(self) - STORE_PLACES % held_count(self);
                exact(matrices.moved(*value, *matrix, back))
            }
            MatrixAction::MulAdd(product) => matrices.mul_add(product),
            MatrixAction::Reduce(reduction) => matrices.reduce(reduction),
            MatrixAction::Transpose { value, from, to } => {
                let whole = matrices.whole(*value, *from);
                let component = |at: u32| whole[(at % to.columns * from.columns + at / to.columns) as usize];
                exact(matrices.shared_out(*to, component))
            }
        }
    }

    fn require_uniform(&self, uniform: &Uniform) -> Result<(), Box<Stop>> {
        for i in 0..uniform.count {
            let values =
                || (0..self.members.len()).map(|member| self.scalar(member, uniform.value.offset(i)));
            if values().any(|value| !value.is_defined()) {
                if uniform.lenient {
                    continue;
                }
                let detail = format!("{} of a cooperative matrix is undefined", uniform.name);
                return Err(fault(UndefinedKind::UndefinedOperand, self.line, detail));
            }
            let first = values().next();
            if values().any(|value| Some(value) != first) {
                return Err(self.not_uniform(uniform.name));
            }
        }
        Ok(())
    }
}

fn held_count(tangle: &Tangle<'_>) -> u32 {
    (tangle.members.len() as u32).max(1)
}

/// All invocations of a scope, with what each holds.
struct Matrices<'t, 'm> {
    tangle: &'t Tangle<'m>,
    /// Of each member.
    held: Vec<Held>,
}

impl Matrices<'_, '_> {
    /// A matrix, row after row.
    fn whole(&self, value: Operand, matrix: Spread) -> Components {
        let members = self.held.len() as u32;
        (0..matrix.count())
            .map(|component| {
                self.tangle.scalar((component % members) as usize, value.offset(component / members))
            })
            .collect()
    }

    /// What each holds of a matrix.
    fn shared_out(&self, matrix: Spread, component: impl Fn(u32) -> Scalar) -> Vec<Components> {
        let one = |held: &Held| {
            let mut own: Components = held.components(matrix.count()).map(&component).collect();
            let filling = own.first().copied().unwrap_or_default();
            own.resize(matrix.slots as usize, filling);
            own
        };
        self.held.iter().map(one).collect()
    }

    /// Each has what the one so many places further has.
    fn moved(&self, value: Operand, matrix: Spread, places: u32) -> Vec<Components> {
        let members = self.held.len();
        let from = |member: usize| (member + places as usize) % members;
        let slots = |member: usize| (0..matrix.slots).map(move |slot| (from(member), slot));
        let values = |member: usize| -> Components {
            slots(member).map(|(other, slot)| self.tangle.scalar(other, value.offset(slot))).collect()
        };
        (0..members).map(values).collect()
    }

    fn mul_add(&self, product: &MulAdd) -> Result<SubgroupResult, Box<Stop>> {
        let [a, b, c] = [product.a, product.b, product.c].map(|one| self.whole(one.value, one.matrix));
        let (m, n, k) = (product.a.matrix.rows, product.b.matrix.columns, product.a.matrix.columns);
        let mut result = Components::with_capacity((m * n) as usize);
        let mut inexact = false;
        for row in 0..m {
            for column in 0..n {
                let pairs =
                    (0..k).map(|inner| (a[(row * k + inner) as usize], b[(inner * n + column) as usize]));
                let added = c[(row * n + column) as usize];
                let (value, open) = match product.result.float {
                    true => self.tangle.float_sum(product, pairs, added)?,
                    false => (integer_sum(product, pairs, added), false),
                };
                result.push(value);
                inexact |= open;
            }
        }
        let values = self.shared_out(product.result.matrix, |component| result[component as usize]);
        Ok(SubgroupResult { values, inexact })
    }

    /// Components are combined from left to right. The order is the implementation's: that matters to floats.
    fn reduce(&self, reduction: &Reduction) -> Result<SubgroupResult, Box<Stop>> {
        let Reduction { from, to, .. } = *reduction;
        let whole = self.whole(reduction.value, from);
        let at = |row: u32, column: u32| whole[(row * from.columns + column) as usize];
        let groups: Vec<Components> = match reduction.mode {
            ReduceMode::Row => {
                let row = |row: u32| (0..from.columns).map(|column| at(row, column)).collect();
                (0..from.rows).map(row).collect()
            }
            ReduceMode::Column => {
                let column = |column: u32| (0..from.rows).map(|row| at(row, column)).collect();
                (0..from.columns).map(column).collect()
            }
            ReduceMode::RowAndColumn => vec![whole.clone()],
            ReduceMode::TwoByTwo => (0..to.count())
                .map(|component| {
                    let (row, column) = (component / to.columns * 2, component % to.columns * 2);
                    [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(down, right)| at(row + down, column + right))
                })
                .map(|group| Components::from_slice(&group))
                .collect(),
        };
        let mut combiner = Combiner::new(self.tangle, reduction.function);
        let mut inexact = false;
        let mut combined = Components::with_capacity(groups.len());
        for group in &groups {
            let mut values = group.iter();
            let mut result = values.next().copied().unwrap_or_default();
            for value in values {
                result = combiner.combine(result, *value, &mut inexact)?;
            }
            combined.push(result);
            inexact |= reduction.float && group.len() > 1;
        }
        let value = |component: u32| match reduction.mode {
            ReduceMode::Row => combined[(component / to.columns) as usize],
            ReduceMode::Column => combined[(component % to.columns) as usize],
            ReduceMode::RowAndColumn => combined[0],
            ReduceMode::TwoByTwo => combined[component as usize],
        };
        Ok(SubgroupResult { values: self.shared_out(to, value), inexact })
    }
}

/// Calls a function that combines two components, on a copy of an invocation.
struct Combiner<'t, 'm> {
    tangle: &'t Tangle<'m>,
    function: FunctionId,
    copy: Invocation,
}

impl<'t, 'm> Combiner<'t, 'm> {
    fn new(tangle: &'t Tangle<'m>, function: FunctionId) -> Self {
        let mut copy = tangle.members[0].clone();
        copy.convergence = None;
        copy.inexact.clear();
        Combiner { tangle, function, copy }
    }

    fn combine(&mut self, a: Scalar, b: Scalar, inexact: &mut bool) -> Result<Scalar, Box<Stop>> {
        let Tangle { program, dispatch, line, .. } = *self.tangle;
        let depth = self.copy.callers.len();
        let mut memory = NoMemory { dispatch };
        let mut machine = Machine { state: &mut self.copy, program, dispatch, memory: &mut memory };
        machine.call_with(self.function, Components::from_slice(&[a, b]));
        let unsupported = |what| Err(Box::new(Stop::Unsupported { line, what }));
        let mut left = MAX_COMBINING;
        while machine.state.callers.len() > depth {
            left -= 1;
            match machine.step() {
                Ok(()) if left > 0 => {}
                Ok(()) => return unsupported("a function that combines components for so long"),
                Err(stop) => match *stop {
                    Stop::LoopEntry { .. } | Stop::Iteration { .. } if left > 0 => {}
                    fault @ (Stop::Fault(_) | Stop::Unsupported { .. }) => return Err(Box::new(fault)),
                    _ => {
                        return unsupported("a function that combines components and does more than compute")
                    }
                },
            }
        }
        *inexact |= !machine.state.take_inexact().is_empty();
        let result = result_register(program, machine.state);
        Ok(result.map_or_else(Scalar::default, |register| self.copy.register(register)))
    }
}

/// Where the instruction that an invocation stands at has its result.
fn result_register(program: &Program, invocation: &Invocation) -> Option<u32> {
    invocation.instruction(program).and_then(|inst| inst.op.destination())
}

/// Memory that settles nothing.
struct NoMemory<'d> {
    dispatch: &'d Dispatch,
}

impl SharedMemory for NoMemory<'_> {
    fn size(&self, object: u32) -> u32 {
        self.dispatch.objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, _: &Access, _: Option<&Atomicity>, _: &mut [Byte]) -> bool {
        false
    }

    fn write(&mut self, _: &Access, _: Option<&Atomicity>, _: &[Byte]) -> Written {
        Written::Event
    }
}

impl Tangle<'_> {
    /// A component of a product of floats, and whether another order or precision could give another one.
    fn float_sum(
        &self,
        product: &MulAdd,
        pairs: impl Iterator<Item = (Scalar, Scalar)>,
        added: Scalar,
    ) -> Result<(Scalar, bool), Box<Stop>> {
        let MulAdd { a, b, c, result, .. } = product;
        let undefined = (Scalar::undefined(u32::from(result.width)), false);
        if !added.is_defined() {
            return Ok(undefined);
        }
        let mut sum = self.double(c, added)?;
        let mut magnitude = sum.abs();
        let mut tame = is_round(sum);
        for (left, right) in pairs {
            if !(left.is_defined() && right.is_defined()) {
                return Ok(undefined);
            }
            let (left, right) = (self.double(a, left)?, self.double(b, right)?);
            tame &= is_round(left) && is_round(right);
            sum += left * right;
            magnitude += (left * right).abs();
        }
        // Terms are multiples of 1/64: sums are exact in every order while they fit the result's precision.
        let most = match (result.encoding, result.width) {
            (Some(_), _) => 0.25,
            (None, 16) => 32.0,
            (None, _) => 262_144.0,
        };
        let value = match result.encoding {
            Some(encoding) => Scalar::new(encode(encoding, sum, false)),
            None => self.evaluated(from_double(result.width, sum))?,
        };
        Ok((value, !tame || magnitude > most))
    }

    fn double(&self, factor: &Factor, value: Scalar) -> Result<f64, Box<Stop>> {
        if let Some(encoding) = factor.encoding {
            return Ok(decode(encoding, value.bits));
        }
        to_double(factor.width, value.bits).map_err(|_| {
            let what = "a cooperative matrix of floats of this width";
            Box::new(Stop::Unsupported { line: self.line, what })
        })
    }
}

/// Whether the value is a multiple of 1/8 of moderate size.
fn is_round(value: f64) -> bool {
    value.abs() <= 128.0 && (value * 8.0).fract() == 0.0
}

fn extended(factor: &Factor, value: Scalar) -> i128 {
    let unused = 64 - u32::from(factor.width);
    match factor.signed {
        true => i128::from(((value.bits << unused) as i64) >> unused),
        false => i128::from(value.bits),
    }
}

/// A component of a product of integers: the low bits of the exact sum, or the sum of the product and the
/// matrix to add, which saturates.
fn integer_sum(product: &MulAdd, mut pairs: impl Iterator<Item = (Scalar, Scalar)>, added: Scalar) -> Scalar {
    let MulAdd { a, b, c, result, saturates, .. } = product;
    let width = u32::from(result.width);
    let sum = pairs.try_fold(0_i128, |sum, (left, right)| {
        let defined = left.is_defined() && right.is_defined();
        defined.then(|| sum.wrapping_add(extended(a, left).wrapping_mul(extended(b, right))))
    });
    let (Some(sum), true) = (sum, added.is_defined()) else { return Scalar::undefined(width) };
    let total = sum.wrapping_add(extended(c, added));
    if !saturates {
        return Scalar::new(total as u64 & mask(width));
    }
    let (least, greatest) = match result.signed {
        true => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
        false => (0, i128::from(mask(width))),
    };
    // Where the product alone overflows, the result is undefined.
    if !(least..=greatest).contains(&sum) {
        return Scalar::undefined(width);
    }
    Scalar::new(total.clamp(least, greatest) as u64 & mask(width))
}
