//! Control flow: jumps with φ moves, calls and returns (SPIR-V 3.3.17).

use smallvec::SmallVec;

use super::machine::{fault, Components, Machine, Step};
use super::names::Argument;
use super::{Invocation, PhysicalPointer, Pointer, Stop};
use crate::event::UndefinedKind;
use crate::ir::{ControlOp, CooperativeOp, Decorations, Edge, FunctionId, Line, Op, Operand, Program};
use crate::value::Scalar;

impl Machine<'_> {
    pub(super) fn control(&mut self, op: &ControlOp, line: Line) -> Step {
        match op {
            ControlOp::Branch(edge) => self.take(edge, 0, line),
            ControlOp::BranchConditional { condition, yes, no } => {
                let condition = self.value(*condition);
                let same = yes.target == no.target && yes.moves == no.moves;
                let condition = if same { condition } else { self.choose_bits(condition, line)? };
                match condition.bits {
                    0 => self.take(no, 1, line),
                    _ => self.take(yes, 0, line),
                }
            }
            ControlOp::Switch { selector, width: _, default, cases } => {
                let selector = self.value(*selector);
                if let Some(convergence) = &mut self.state.convergence {
                    convergence.select(selector.bits);
                }
                if let Some(descriptors) = &mut self.state.descriptors {
                    descriptors.select(selector.bits);
                }
                let case = match selector.is_defined() {
                    true => cases.iter().position(|(case, _)| *case == selector.bits),
                    false => {
                        let edge = self.choose_case(selector, default, cases, line)?;
                        cases.iter().position(|(_, case)| std::ptr::eq(case, edge))
                    }
                };
                let edge = case.and_then(|case| cases.get(case)).map_or(default, |(_, edge)| edge);
                self.take(edge, case.map_or(0, |case| case as u32 + 1), line)
            }
            ControlOp::Call { function, dst: _, arguments } => {
                self.call(*function, arguments);
                Ok(())
            }
            ControlOp::Return => self.give_back(&[]),
            ControlOp::ReturnValue { value, count } => {
                let values = self.values(*value, *count);
                self.give_back(&values)
            }
            ControlOp::Unreachable => {
                Err(fault(UndefinedKind::Unreachable, line, "OpUnreachable is reached"))
            }
            ControlOp::Kill => Err(Box::new(Stop::Finished)),
            ControlOp::Demote => {
                self.state.helper = true;
                self.state.effects += 1;
                self.state.advance();
                Ok(())
            }
            ControlOp::IsHelper { dst } => {
                self.state.set(*dst, Scalar::new(u64::from(self.state.helper)));
                self.state.advance();
                Ok(())
            }
        }
    }

    /// A way of an OpSwitch whose selector is undefined: one for each target that some value reaches.
    fn choose_case<'e>(
        &mut self,
        selector: Scalar,
        default: &'e Edge,
        cases: &'e [(u64, Edge)],
        line: Line,
    ) -> Result<&'e Edge, Box<Stop>> {
        let possible = cases.iter().filter(|(case, _)| super::arithmetic::may_be(selector, *case));
        let mut targets: SmallVec<[&Edge; 8]> = SmallVec::new();
        let values = 1_u128 << selector.undef.count_ones();
        if (possible.clone().count() as u128) < values {
            targets.push(default);
        }
        for (_, edge) in possible {
            if !targets.iter().any(|known| known.target == edge.target && known.moves == edge.moves) {
                targets.push(edge);
            }
        }
        let way = self.choose(targets.len() as u32, line)?;
        Ok(targets.get(way as usize).copied().unwrap_or(default))
    }

    /// Follows an edge, the side of this number: φ moves in parallel, then the iteration numbers of loops.
    #[inline]
    fn take(&mut self, edge: &Edge, side: u32, line: Line) -> Step {
        self.dispatch.coverage.take(self.state.frame.instruction(), side);
        self.state.forget_choices();
        self.move_phis(&edge.moves);
        self.state.arrive(self.program, edge, line)
    }

    #[inline]
    fn move_phis(&mut self, moves: &[(u32, Operand, u32)]) {
        match moves {
            [] => {}
            [(dst, source, 1)] => self.state.set(*dst, self.value(*source)),
            _ => {
                let mut values = Components::new();
                for (_, source, count) in moves {
                    values.extend_from_slice(self.components(*source, *count));
                }
                let mut rest = values.as_slice();
                for (dst, _, count) in moves {
                    let (values, behind) = rest.split_at(*count as usize);
                    self.set_all(*dst, values);
                    rest = behind;
                }
            }
        }
    }

    fn call(&mut self, function: FunctionId, arguments: &[Operand]) {
        let callee = &self.program.functions[function.0 as usize];
        let mut values = Components::new();
        for (parameter, argument) in callee.parameters.iter().zip(arguments) {
            values.extend_from_slice(self.components(*argument, parameter.count));
        }
        self.call_with(function, values);
    }

    /// Calls a function with the components of its arguments, one after the other.
    pub(super) fn call_with(&mut self, function: FunctionId, mut values: Components) {
        let callee = &self.program.functions[function.0 as usize];
        let mut rest = values.as_mut_slice();
        let mut named: SmallVec<[Argument; 2]> = SmallVec::new();
        for parameter in &callee.parameters {
            let count = (parameter.count as usize).min(rest.len());
            let (components, behind) = std::mem::take(&mut rest).split_at_mut(count);
            if let Some(declaration) = parameter.declaration {
                let pointer = declare(components, declaration, parameter.decorations);
                let aliased = parameter.decorations.aliased;
                named.extend(pointer.map(|pointer| Argument { declaration, pointer, aliased }));
            } else if parameter.decorations != Decorations::default() {
                decorate_physical(components, parameter.decorations);
            }
            rest = behind;
        }
        if let Some(convergence) = &mut self.state.convergence {
            let construct = callee.blocks.first().and_then(|block| block.construct);
            convergence.call(self.state.callers.len() as u32 + 1, self.state.frame.pc, construct);
        }
        if let Some(descriptors) = &mut self.state.descriptors {
            descriptors.call(self.state.frame.pc);
        }
        self.state.callers.push(self.state.frame);
        if !named.is_empty() {
            let variables = self.program.variables.len() as u32;
            self.state.names.call(&named, self.state.callers.len(), variables);
        }
        self.state.enter(self.program, function);
        self.dispatch.coverage.enter(function);
        let mut rest = values.as_slice();
        for parameter in &callee.parameters {
            let (values, behind) = rest.split_at((parameter.count as usize).min(rest.len()));
            self.set_all(parameter.register, values);
            rest = behind;
        }
    }

    /// Returns to the caller; from the entry point, the invocation is finished.
    fn give_back(&mut self, values: &[Scalar]) -> Step {
        if !self.state.drop_frame() {
            return Err(Box::new(Stop::Finished));
        }
        let program = self.program;
        let call = &self.state.function(program).code[self.state.frame.pc as usize];
        match &call.op {
            Op::Control(ControlOp::Call { dst, .. }) => self.set_all(*dst, values),
            // These have more to do.
            Op::Cooperative(CooperativeOp::Each(each)) => {
                self.set_all(each.dst + self.state.frame.element, values);
                self.state.frame.element += 1;
                self.state.forget_choices();
                return Ok(());
            }
            Op::Subgroup(op) => {
                self.set_all(op.dst, values);
                return Ok(());
            }
            _ => {}
        }
        self.state.advance();
        Ok(())
    }
}

impl Invocation {
    /// Arrives at the end of an edge, its φ moves done.
    #[inline]
    pub(super) fn arrive(&mut self, program: &Program, edge: &Edge, line: Line) -> Step {
        let block = &self.function(program).blocks[edge.target as usize];
        self.frame.pc = block.start;
        if let Some(convergence) = &mut self.convergence {
            convergence.arrive(self.callers.len() as u32, edge.target, block.construct);
        }
        if let Some(descriptors) = &mut self.descriptors {
            descriptors.arrive(edge.target);
        }
        // An edge enters one loop at most, by its header, or repeats one.
        if let Some(entered) = edge.enters.first() {
            return self.enter_loop(program, *entered);
        }
        match edge.repeats {
            Some(repeated) => self.repeat_loop(program, repeated, line),
            None => Ok(()),
        }
    }

    /// Goes back to the caller, at its call. False where there is none.
    pub(super) fn drop_frame(&mut self) -> bool {
        let Some(caller) = self.callers.pop() else { return false };
        if let Some(convergence) = &mut self.convergence {
            convergence.give_back(self.callers.len() as u32 + 1);
        }
        if let Some(descriptors) = &mut self.descriptors {
            descriptors.give_back();
        }
        if !self.names.is_empty() {
            self.names.give_back(self.callers.len() + 1);
        }
        self.leave_loops();
        self.own.release(self.frame.objects);
        self.registers.truncate(self.frame.registers as usize);
        self.frame = caller;
        true
    }
}

/// Unites the parameter's decorations onto a physical pointer.
fn decorate_physical(components: &mut [Scalar], decorations: Decorations) {
    if let [address, flags] = components {
        if let Some(pointer) = PhysicalPointer::decode([*address, *flags]) {
            let decorations = pointer.decorations.union(decorations);
            [*address, *flags] = PhysicalPointer { decorations, ..pointer }.encode();
        }
    }
}

/// Lets a pointer argument come through the parameter's memory object declaration; the pointer as it was.
fn declare(components: &mut [Scalar], declaration: u32, decorations: Decorations) -> Option<Pointer> {
    let [address, flags] = components else { return None };
    let pointer = Pointer::decode([*address, *flags])?;
    let decorations = pointer.decorations.union(decorations);
    [*address, *flags] = Pointer { declaration, decorations, ..pointer }.encode();
    Some(pointer)
}
