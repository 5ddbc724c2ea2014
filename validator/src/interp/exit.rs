//! Leaving loops that never end: an invocation goes on at the merge block of a loop that has no effects, as if the
//! loop had ended, with the values that the loop made undefined.

use super::barrier::loops_around;
use super::{Invocation, Pointer, Stop};
use crate::event::StorageClass;
use crate::ir::{CooperativeOp, Line, LoopId, Op, Operand, Program, Stored};
use crate::value::Scalar;

/// A loop that an invocation is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveLoop {
    /// Number of callers of the function that the loop is in.
    pub function_depth: u32,
    pub loop_id: LoopId,
    /// Something with effects was done since the loop was entered; see [`Invocation::effects`].
    pub has_effects: bool,
}

/// Where an invocation is that left a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftLoop {
    /// At the merge block: just run on.
    WentOn,
    /// At the merge block, which is the header of a loop that may communicate: what
    /// [`Stop::LoopEntry`] tells. Just run on.
    Entered { function_depth: u32, loop_id: LoopId },
    /// There is none to go on at: it has finished.
    Ended,
}

impl Invocation {
    /// How often something was done that a loop must not be removed for: stores to memory other than Function and
    /// Private, volatile and atomic accesses, barriers, group operations.
    pub fn effects(&self) -> u64 {
        self.effects
    }

    /// The loops that the invocation is in, those of its callers included, innermost first.
    pub fn active_loops(&self, program: &Program) -> Vec<ActiveLoop> {
        let frames = (0..).zip(self.callers.iter().chain([&self.frame]));
        let mut active: Vec<ActiveLoop> = frames
            .flat_map(|(function_depth, frame)| {
                loops_around(program, frame.instruction()).iter().map(move |&loop_id| ActiveLoop {
                    function_depth,
                    loop_id,
                    has_effects: self.has_effects_in(frame.loops + loop_id.0),
                })
            })
            .collect();
        active.reverse();
        active
    }

    /// Leaves a loop that the invocation is in, itself or in a function called from there, at its merge block.
    /// None, and nothing is done, where it is not in that loop.
    pub fn leave_loop(
        &mut self,
        program: &Program,
        function_depth: u32,
        loop_id: LoopId,
    ) -> Option<LeftLoop> {
        let is_it = |one: &ActiveLoop| (one.function_depth, one.loop_id) == (function_depth, loop_id);
        if !self.active_loops(program).iter().any(is_it) {
            return None;
        }
        self.copied = None;
        self.forget_choices();
        self.return_to(program, function_depth);
        // What comes of it is a matter of choice, as the loops around must know.
        self.activity.choices += 1;
        let exit = &self.function(program).loops.get(loop_id.0 as usize)?.exit;
        let Some(edge) = &exit.edge else {
            self.finished = true;
            return Some(LeftLoop::Ended);
        };
        let value = |operand: Operand| match operand.is_constant() {
            true => program.constants[operand.index() as usize],
            false => self.register(operand.index()),
        };
        let moves = edge.moves.iter().flat_map(|&(register, operand, count)| {
            (0..count).map(move |component| (register + component, value(operand.offset(component))))
        });
        let moved: Vec<(u32, Scalar)> = moves.collect();
        for stored in &exit.stored {
            self.forget_stored(program, *stored);
        }
        for &(register, width) in &exit.undefined {
            self.set(register, Scalar::undefined(u32::from(width)));
        }
        for (register, value) in moved {
            self.set(register, value);
        }
        match self.arrive(program, edge, self.line(program)).map_err(|stop| *stop) {
            Err(Stop::LoopEntry { function_depth, loop_id }) => {
                Some(LeftLoop::Entered { function_depth, loop_id })
            }
            Ok(()) | Err(_) => Some(LeftLoop::WentOn),
        }
    }

    /// Whether an invocation that leaves a loop of an active function goes on behind it.
    pub fn goes_on_behind(&self, program: &Program, function_depth: u32, loop_id: LoopId) -> bool {
        let frame = self.callers.iter().chain([&self.frame]).nth(function_depth as usize);
        let function = frame.and_then(|frame| program.functions.get(frame.function.0 as usize));
        let left = function.and_then(|function| function.loops.get(loop_id.0 as usize));
        left.is_some_and(|left| left.exit.edge.is_some())
    }

    /// Returns from functions up to the one at this depth, without results.
    fn return_to(&mut self, program: &Program, function_depth: u32) {
        while self.callers.len() as u32 > function_depth && self.drop_frame() {
            let call = self.function(program).code.get(self.frame.pc as usize).map(|inst| &inst.op);
            if let Some(Op::Cooperative(CooperativeOp::Each(_))) = call {
                self.frame.element = 0;
                if let Some(convergence) = &mut self.convergence {
                    convergence.go_on();
                }
            }
        }
    }

    fn line(&self, program: &Program) -> Line {
        self.function(program).code.get(self.frame.pc as usize).map_or(0, |inst| inst.line)
    }

    /// Makes the variables undefined that a loop of the innermost frame stores to.
    fn forget_stored(&mut self, program: &Program, stored: Stored) {
        match stored {
            Stored::Variable(number) => self.own.forget(number),
            Stored::Local(number) => self.own.forget(self.frame.objects + number),
            Stored::Through(register) => {
                let pointer = Pointer::decode([self.register(register), self.register(register + 1)]);
                if let Some(object) = pointer.and_then(Pointer::own_object) {
                    self.own.forget(object);
                }
            }
            Stored::Anything => {
                for object in 0..self.own.count() {
                    let class = program.variables.get(object as usize).map(|variable| variable.class);
                    if matches!(class, None | Some(StorageClass::Function | StorageClass::Private)) {
                        self.own.forget(object);
                    }
                }
            }
        }
    }
}
