//! Whether the result of an atomic decides nothing but where the invocation stores.
//!
//! A value is *given* if it depends on the result, and *own* if it depends on anything else that may tell invocations apart.
//! Where no value is both, no branch behind the atomic is on a given one, and given values go into the addresses of stores
//! alone, then what an invocation does is the same whatever the result but for these addresses; and they are the same
//! whoever it is.

use super::liveness::{escaping, is_inert, Set};
use super::{
    AtomicKind, BarrierOp, CompositeOp, ControlOp, Function, InstId, Local, MemoryOp, Op, Operand, Program,
};
use crate::event::StorageClass;

/// What a value depends on, as bits.
type Taint = u8;

const GIVEN: Taint = 1;
const OWN: Taint = 2;

/// The stores at addresses that the result of an atomic decides, where it decides nothing else; `None` where it may. The
/// atomic is executed once, in the entry point's function.
pub fn placed_stores(program: &Program, atomic: InstId) -> Option<Vec<InstId>> {
    if atomic.function != program.entry.function {
        return None;
    }
    let function = program.functions.get(atomic.function.0 as usize)?;
    let behind = behind(function, atomic.index)?;
    let mut taints = Taints::of(function, atomic.index);
    while taints.spread() {}
    let mut stores = Vec::new();
    for index in behind {
        if taints.check(index as usize)? {
            stores.push(InstId { function: atomic.function, index });
        }
    }
    let Op::Atomic(op) = &function.code.get(atomic.index as usize)?.op else { return None };
    let mut fixed = !matches!(op.kind, AtomicKind::CompareExchange { .. });
    function.code[atomic.index as usize]
        .op
        .visit_operands(&mut |operand| fixed &= taints.of_value(operand) == 0);
    fixed.then_some(stores)
}

/// The instructions that may be executed behind one; `None` if it is one of them.
fn behind(function: &Function, index: u32) -> Option<Vec<u32>> {
    let block_of = |index: u32| function.blocks.partition_point(|block| block.start <= index).checked_sub(1);
    let end =
        |block: usize| function.blocks.get(block + 1).map_or(function.code.len() as u32, |next| next.start);
    let own = block_of(index)?;
    let mut behind: Vec<u32> = (index + 1..end(own)).collect();
    let mut seen = vec![false; function.blocks.len()];
    let mut next = 0;
    while next < behind.len() {
        for edge in function.code.get(behind[next] as usize)?.op.edges() {
            let target = edge.target as usize;
            if target == own {
                return None;
            }
            if !std::mem::replace(seen.get_mut(target)?, true) {
                behind.extend(function.blocks[target].start..end(target));
            }
        }
        next += 1;
    }
    Some(behind)
}

/// What the values of a function depend on, wherever they are.
struct Taints<'a> {
    function: &'a Function,
    atomic: usize,
    escaping: Set,
    /// Of each run of registers; of the address of a variable that does not escape, that of its contents.
    runs: Vec<Taint>,
    /// What is in other variables of the invocation.
    variables: Taint,
    changed: bool,
}

impl<'a> Taints<'a> {
    fn of(function: &'a Function, atomic: u32) -> Self {
        let mut taints = Taints {
            function,
            atomic: atomic as usize,
            escaping: escaping(&function.code, &function.runs),
            runs: vec![0; function.runs.count()],
            variables: OWN,
            changed: false,
        };
        function.parameters.iter().for_each(|parameter| taints.add(parameter.register, OWN));
        taints
    }

    fn of_value(&self, operand: Operand) -> Taint {
        match operand.is_constant() {
            true => 0,
            false => self.function.runs.of(operand.index()).map_or(GIVEN | OWN, |run| self.runs[run]),
        }
    }

    fn add(&mut self, register: u32, taint: Taint) {
        let Some(run) = self.function.runs.of(register) else { return };
        self.changed |= self.runs[run] | taint != self.runs[run];
        self.runs[run] |= taint;
    }

    /// The local that a pointer is the address of, if nothing else gets at it.
    fn local(&self, pointer: Operand) -> Option<&'a Local> {
        let local = self.function.locals.iter().find(|local| Operand::register(local.register) == pointer)?;
        let run = self.function.runs.of(local.register)?;
        (!self.escaping.contains(run)).then_some(local)
    }

    /// Spreads over each instruction once. Whether something changed.
    fn spread(&mut self) -> bool {
        self.changed = false;
        for (index, inst) in self.function.code.iter().enumerate() {
            for (register, operand, _) in inst.op.edges().into_iter().flat_map(|edge| &edge.moves) {
                self.add(*register, self.of_value(*operand));
            }
            let mut operands = 0;
            inst.op.visit_operands(&mut |operand| operands |= self.of_value(operand));
            match &inst.op {
                Op::Memory(MemoryOp::Store { pointer, object, class, .. }) => {
                    let taint = self.of_value(*object);
                    match self.local(*pointer) {
                        Some(local) => self.add(local.register, taint),
                        None if matches!(class, StorageClass::Function | StorageClass::Private) => {
                            self.changed |= self.variables | operands != self.variables;
                            self.variables |= operands;
                        }
                        None => {}
                    }
                }
                Op::Memory(MemoryOp::Load { dst, pointer, class, .. }) => {
                    let contents = match (self.local(*pointer), class) {
                        (Some(_), _) => 0,
                        (None, StorageClass::Function | StorageClass::Private) => self.variables,
                        (None, StorageClass::PushConstant) => 0,
                        (None, _) => OWN,
                    };
                    self.add(*dst, operands | contents);
                }
                Op::Memory(MemoryOp::Variable { .. }) => {}
                Op::Atomic(op) if index == self.atomic => self.add(op.dst, GIVEN),
                op => {
                    let others = if depends_on_operands_alone(op) { 0 } else { OWN };
                    if let Some(register) = op.destination() {
                        self.add(register, operands | others);
                    }
                }
            }
        }
        self.changed
    }

    /// Whether an instruction behind the atomic stores at a given address; `None` where given values decide more, or it does
    /// more than set registers and access memory.
    fn check(&self, index: usize) -> Option<bool> {
        let op = &self.function.code.get(index)?.op;
        let is_given = |operand: Operand| self.of_value(operand) & GIVEN != 0;
        let mut any_given = false;
        let mut any_mixed = false;
        op.visit_operands(&mut |operand| {
            any_given |= is_given(operand);
            any_mixed |= self.of_value(operand) == GIVEN | OWN;
        });
        let moved = op.edges().into_iter().flat_map(|edge| &edge.moves);
        let result = op.destination().map_or(0, |register| self.of_value(Operand::register(register)));
        let mut moved = moved.map(|(register, ..)| self.of_value(Operand::register(*register)));
        if any_mixed || result == GIVEN | OWN || moved.any(|taint| taint == GIVEN | OWN) {
            return None;
        }
        match op {
            Op::Memory(MemoryOp::Store { pointer, object, class, .. }) => match class {
                _ if self.local(*pointer).is_some() => Some(false),
                StorageClass::Function | StorageClass::Private => (!any_given).then_some(false),
                _ => (!is_given(*object)).then_some(is_given(*pointer)),
            },
            Op::Memory(MemoryOp::Load { pointer, .. }) => {
                (self.local(*pointer).is_some() || !is_given(*pointer)).then_some(false)
            }
            Op::Memory(MemoryOp::Chain(chain)) if !chain.physical => Some(false),
            Op::Memory(MemoryOp::Variable { .. } | MemoryOp::ArrayLength { .. }) => {
                (!any_given).then_some(false)
            }
            Op::Control(
                ControlOp::Branch(_)
                | ControlOp::BranchConditional { .. }
                | ControlOp::Switch { .. }
                | ControlOp::Return,
            )
            | Op::Barrier(BarrierOp::Memory { .. }) => (!any_given).then_some(false),
            Op::Nop => Some(false),
            op => depends_on_operands_alone(op).then_some(false),
        }
    }
}

/// Whether the operation does nothing but set registers to what its operands say, or fail where they say that.
fn depends_on_operands_alone(op: &Op) -> bool {
    let other = matches!(
        op,
        Op::Binary { .. }
            | Op::Select { .. }
            | Op::Unary { .. }
            | Op::Convert { .. }
            | Op::Composite(CompositeOp::ExtractDynamic { .. } | CompositeOp::InsertDynamic { .. })
            | Op::Memory(MemoryOp::Chain(_) | MemoryOp::ArrayLength { .. })
    );
    other || is_inert(op, &[])
}
