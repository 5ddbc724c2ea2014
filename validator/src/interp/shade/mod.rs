//! A second run beside the first: for every float that an implementation may compute otherwise, the
//! interval of what it may be.
//!
//! The interpreter runs as ever; after each instruction its result is given its interval, from those
//! of the operands. What is not a float any more, or has no bound, is [`Interval::ANY`]. Where a
//! branch, an address, a conversion or another invocation's view hangs on such a value, the run says
//! so, and nothing follows from it.

mod computations;
mod decisions;
mod float;
mod glsl;
mod image;
mod interval;
mod matrix;
mod memory;
mod movement;
mod quad;
mod sampling;
mod tangle;

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::machine::Machine;
use super::{Invocation, SharedMemory, Stop};
use crate::dispatch::Dispatch;
use crate::ir::{AtomicOp, BitFieldOp, ControlOp, Edge, Inexact, Inst, Op, Operand, Program};
use crate::value::Scalar;

pub use computations::{Common, Computations, Following};
pub use decisions::Decisions;
pub use interval::{ulp, Interval};
pub use memory::ShadedMemory;
pub use tangle::{go_on_shaded, Shaded};

/// The interval of a component; `None` where it is what it is.
pub type Shade = Option<Interval>;

/// The space of an invocation's own memory.
const OWN: u32 = u32::MAX;

/// The intervals of one invocation.
#[derive(Clone, Debug, Default)]
pub struct Shades {
    /// Of all frames, like the invocation's registers.
    registers: Vec<Shade>,
    own: ShadedMemory,
    /// What was computed, where that is counted.
    pub computations: Computations,
    /// The first instruction where more than a float's value hangs on one.
    pub depends: Option<Inexact>,
    /// Which way the run takes at branches that may go otherwise.
    pub decisions: Decisions,
}

impl Invocation {
    /// As [`Invocation::run`], with the intervals of floats, on a memory that settles everything.
    /// `shared` has a space for each of the dispatch's memories.
    #[allow(clippy::too_many_arguments, reason = "two memories, each with its intervals")]
    pub fn run_shaded(
        &mut self,
        program: &Program,
        dispatch: &Dispatch,
        memory: &mut dyn SharedMemory,
        shades: &mut Shades,
        shared: &mut ShadedMemory,
        following: Following<'_>,
        fuel: &mut u64,
    ) -> Stop {
        if self.finished {
            return Stop::Finished;
        }
        loop {
            if *fuel == 0 {
                return Stop::OutOfFuel;
            }
            *fuel -= 1;
            shades.registers.resize(self.registers.len(), None);
            let inst = &self.function(program).code[self.frame.pc as usize];
            if let Op::Control(ControlOp::BranchConditional { condition, .. }) = &inst.op {
                self.decide(inst, *condition, shades);
            }
            if inst.op.edges().iter().any(|edge| self.may_count_on(program, edge)) {
                self.shading = shades.state(shared);
            }
            let mut machine = Machine { state: self, program, dispatch, memory };
            let moved =
                Observer { machine: &machine, relaxed: false, following, shades, shared }.control(inst);
            let before = machine.state.frame;
            let result = machine.step();
            let open = self.take_open(before.instruction());
            let complete = match &result {
                Ok(()) => true,
                Err(stop) => matches!(
                    **stop,
                    Stop::LoopEntry { .. } | Stop::Iteration { .. } | Stop::Barrier { .. } | Stop::Fence(_)
                ),
            };
            if complete {
                match moved {
                    Some(moves) => shades.follow(self, program, moves),
                    None => {
                        let after = std::mem::replace(&mut self.frame, before);
                        let machine = Machine { state: self, program, dispatch, memory };
                        let relaxed = inst.relaxed || program.modes.floats.unbounded;
                        let mut observer = Observer { machine: &machine, relaxed, following, shades, shared };
                        observer.observe(inst, open || relaxed);
                        if relaxed {
                            observer.relax(inst);
                        }
                        self.frame = after;
                    }
                }
            }
            if let Err(stop) = result {
                if let Stop::Finished = *stop {
                    self.finished = true;
                }
                return *stop;
            }
        }
    }
}

impl Shades {
    /// What tells this state, with that of shared memory, from others.
    fn state(&self, shared: &ShadedMemory) -> u64 {
        let mut hasher = FxHasher::default();
        for (register, shade) in self.registers.iter().enumerate() {
            if let Some(Interval { low, high }) = shade {
                (register, low.to_bits(), high.to_bits()).hash(&mut hasher);
            }
        }
        self.own.feed(&mut hasher);
        shared.feed(&mut hasher);
        hasher.finish()
    }
}

impl Invocation {
    /// Settles a condition that hangs on floats, if the run may be split there.
    fn decide(&mut self, inst: &Inst, condition: Operand, shades: &mut Shades) {
        let at = (self.frame.registers + condition.index()) as usize;
        let is_open = |shade: &Shade| !condition.is_constant() && shade.is_some();
        let value = self.registers.get_mut(at).filter(|value| value.is_defined());
        let (Some(shade), Some(value)) = (shades.registers.get_mut(at).filter(|shade| is_open(shade)), value)
        else {
            return;
        };
        if let Some(flip) = shades.decisions.flip(inst.named()) {
            *shade = None;
            *value = Scalar::new(value.bits ^ u64::from(flip));
        }
    }
}

/// What becomes of the intervals of registers at a jump, a call or a return.
enum Moves {
    /// Of registers of the frame.
    Phis(Vec<(u32, Shade)>),
    /// To the registers of parameters, one after the other.
    Arguments(Vec<Shade>),
    /// To the result of the call.
    Results(Vec<Shade>),
}

impl Shades {
    fn follow(&mut self, state: &Invocation, program: &Program, moves: Moves) {
        self.registers.resize(state.registers.len(), None);
        let base = state.frame.registers;
        let mut set = |register: u32, shade: Shade| {
            if let Some(slot) = self.registers.get_mut((base + register) as usize) {
                *slot = shade;
            }
        };
        match moves {
            Moves::Phis(moves) => moves.into_iter().for_each(|(register, shade)| set(register, shade)),
            Moves::Arguments(shades) => {
                let function = state.function(program);
                let registers = function
                    .parameters
                    .iter()
                    .flat_map(|parameter| parameter.register..parameter.register + parameter.count);
                registers.zip(shades).for_each(|(register, shade)| set(register, shade));
            }
            Moves::Results(shades) => {
                // The position is behind the call.
                let call = state.frame.pc.checked_sub(1);
                let call = call.and_then(|call| state.function(program).code.get(call as usize));
                if let Some(Op::Control(ControlOp::Call { dst, .. })) = call.map(|inst| &inst.op) {
                    (*dst..).zip(shades).for_each(|(register, shade)| set(register, shade));
                }
                self.own.release(OWN, state.own.end());
            }
        }
    }
}

/// An instruction's operands, and where its result's intervals go.
struct Observer<'a, 'm> {
    machine: &'a Machine<'m>,
    /// The instruction is decorated RelaxedPrecision, or anything may be.
    relaxed: bool,
    following: Following<'a>,
    shades: &'a mut Shades,
    shared: &'a mut ShadedMemory,
}

impl Observer<'_, '_> {
    fn base(&self) -> u32 {
        self.machine.state.frame.registers
    }

    fn value(&self, operand: Operand) -> Scalar {
        self.machine.value(operand)
    }

    fn shade(&self, operand: Operand) -> Shade {
        if operand.is_constant() {
            return None;
        }
        self.shades.registers.get((self.base() + operand.index()) as usize).copied().flatten()
    }

    fn shades_of(&self, operand: Operand, count: u32) -> Vec<Shade> {
        (0..count).map(|i| self.shade(operand.offset(i))).collect()
    }

    fn is_shaded(&self, operand: Operand, count: u32) -> bool {
        (0..count).any(|i| self.shade(operand.offset(i)).is_some())
    }

    fn set(&mut self, register: u32, shade: Shade) {
        let at = (self.base() + register) as usize;
        if let Some(slot) = self.shades.registers.get_mut(at) {
            *slot = shade;
        }
    }

    fn set_all(&mut self, register: u32, shades: impl IntoIterator<Item = Shade>) {
        for (register, shade) in (register..).zip(shades) {
            self.set(register, shade);
        }
    }

    /// Notes that more than a float's value hangs on one.
    fn depend(&mut self, inst: &Inst) {
        self.shades.depends.get_or_insert_with(|| inst.named());
    }

    /// The intervals that an instruction of control moves; `None` for any other instruction.
    fn control(&mut self, inst: &Inst) -> Option<Moves> {
        let Op::Control(op) = &inst.op else { return None };
        Some(match op {
            ControlOp::Branch(edge) => self.edge(edge),
            ControlOp::BranchConditional { condition, yes, no } => {
                if self.shade(*condition).is_some() {
                    self.depend(inst);
                }
                let taken = if self.value(*condition).bits != 0 { yes } else { no };
                self.edge(taken)
            }
            ControlOp::Switch { selector, default, cases, .. } => {
                if self.shade(*selector).is_some() {
                    self.depend(inst);
                }
                let selector = self.value(*selector).bits;
                let case = cases.iter().find(|(case, _)| *case == selector);
                self.edge(case.map_or(default, |(_, edge)| edge))
            }
            ControlOp::Call { function, arguments, .. } => {
                let callee = &self.machine.program.functions[function.0 as usize];
                let parameters = callee.parameters.iter().zip(arguments);
                Moves::Arguments(
                    parameters
                        .flat_map(|(parameter, argument)| self.shades_of(*argument, parameter.count))
                        .collect(),
                )
            }
            ControlOp::ReturnValue { value, count } => Moves::Results(self.shades_of(*value, *count)),
            ControlOp::Return | ControlOp::Unreachable | ControlOp::Kill => Moves::Results(Vec::new()),
            // What helpers write is lost, which is not followed.
            ControlOp::Demote | ControlOp::IsHelper { .. } => {
                self.depend(inst);
                Moves::Phis(Vec::new())
            }
        })
    }

    fn edge(&self, edge: &Edge) -> Moves {
        let moves = edge
            .moves
            .iter()
            .flat_map(|(register, source, count)| (*register..).zip(self.shades_of(*source, *count)));
        Moves::Phis(moves.collect())
    }

    /// Gives the result of an instruction that has run its intervals. `open`: it is one whose result
    /// the environment leaves open.
    fn observe(&mut self, inst: &Inst, open: bool) {
        match &inst.op {
            Op::Unary { op, width, count, dst, a } => {
                for i in 0..*count {
                    let shade = self.unary(inst, *op, *width, a.offset(i), dst + i, open);
                    self.set(dst + i, shade);
                }
            }
            Op::Binary { op, width, count, dst, a, b } => {
                for i in 0..*count {
                    let operands = [a.offset(i), b.offset(i)];
                    let shade = self.binary(inst, *op, *width, operands, dst + i, open);
                    self.set(dst + i, shade);
                }
            }
            Op::Convert { op, from, to, count, dst, a } => {
                self.convert(inst, *op, [*from, *to], *count, *dst, *a, open)
            }
            Op::Extended { count, dst, a, b, .. } => {
                for i in 0..*count {
                    let shaded = self.is_shaded(a.offset(i), 1) || self.is_shaded(b.offset(i), 1);
                    let shade = shaded.then_some(Interval::ANY);
                    self.set(dst + i, shade);
                    self.set(dst + count + i, shade);
                }
            }
            Op::BitField(BitFieldOp::Insert { dst, count, base, insert, offset, bits, .. }) => {
                for i in 0..*count {
                    let operands = [base.offset(i), insert.offset(i), *offset, *bits];
                    self.unknown_if_shaded(dst + i, &operands);
                }
            }
            Op::BitField(BitFieldOp::Extract { dst, count, base, offset, bits, .. }) => {
                for i in 0..*count {
                    self.unknown_if_shaded(dst + i, &[base.offset(i), *offset, *bits]);
                }
            }
            Op::Matrix(op) => self.matrix(inst, op, open),
            Op::Glsl(op) => self.glsl(inst, op, open),
            Op::Composite(op) => self.composite(op, inst),
            Op::Select { dst, condition, scalar_condition, count, a, b } => {
                for i in 0..*count {
                    let condition = if *scalar_condition { *condition } else { condition.offset(i) };
                    let (a, b) = (a.offset(i), b.offset(i));
                    let shade = if self.shade(condition).is_some() {
                        Some(Interval::ANY)
                    } else if self.value(condition).bits != 0 {
                        self.shade(a)
                    } else {
                        self.shade(b)
                    };
                    self.set(dst + i, shade);
                }
            }
            Op::Copy { dst, a, count } => {
                let shades = self.shades_of(*a, *count);
                self.set_all(*dst, shades);
            }
            Op::Undef { dst, widths } => self.set_all(*dst, widths.iter().map(|_| None)),
            Op::Any { dst, a, count } | Op::All { dst, a, count } => {
                let shade = self.is_shaded(*a, *count).then_some(Interval::ANY);
                self.set(*dst, shade);
            }
            Op::Memory(op) => self.memory(op, inst),
            Op::Atomic(op) => self.atomic(inst, op, open),
            Op::Image(op) => self.image(inst, op, open),
            Op::Nop => {}
            // What these do with a float that may be another one is not followed.
            Op::IntegerDot(_)
            | Op::Encoded(_)
            | Op::Ray(_)
            | Op::Subgroup(_)
            | Op::Cooperative(_)
            | Op::Tensor(_)
            | Op::Barrier(_)
            | Op::Assume { .. }
            | Op::Require { .. }
            | Op::Control(_) => self.opaque(inst, open),
        }
    }

    /// Operands are looked at as far as the largest vector or matrix goes, or the largest part of a cooperative matrix.
    fn opaque(&mut self, inst: &Inst, open: bool) {
        const LARGEST: u32 = 16;
        const LARGEST_PART: u32 = 256;
        let in_parts = matches!(inst.op, Op::Cooperative(_) | Op::Tensor(_));
        let largest = if in_parts { LARGEST_PART } else { LARGEST };
        let mut shaded = open;
        inst.op.visit_operands(&mut |operand| shaded |= self.is_shaded(operand, largest));
        if shaded {
            self.depend(inst);
        }
    }

    /// Others see what an atomic does.
    fn atomic(&mut self, inst: &Inst, op: &AtomicOp, open: bool) {
        self.opaque(inst, open);
        let Ok(pointer) = self.machine.resolve_in(op.class, op.pointer, inst.line) else { return };
        let object = self.machine.dispatch.objects.get(pointer.object as usize);
        let bytes = u32::from(op.width) / 8;
        let shaded = match object {
            Some(object) => self.shared.load(object.memory, pointer.offset, bytes).is_some(),
            None => true,
        };
        if shaded {
            self.depend(inst);
        }
    }

    fn unknown_if_shaded(&mut self, register: u32, operands: &[Operand]) {
        let shaded = operands.iter().any(|operand| self.shade(*operand).is_some());
        self.set(register, shaded.then_some(Interval::ANY));
    }
}
