//! Runtime arrays that are shorter than what the module touches, with robust access: else no automatic input would show
//! what is outside.
//!
//! Every other input has one array of half the elements. Arrays that before only reads come first, since with the first
//! version of robust access a write outside makes everything in its buffer undefined.

use std::collections::{BTreeMap, BTreeSet};

use super::Slot;
use crate::ir::{AtomicKind, Effect, MemoryOp, Op, Operand, Program};

/// Elements of runtime arrays by slot; those of the input of this number if one of them is shortened.
pub(super) fn shortened(
    before: &Program,
    elements: &BTreeMap<Slot, u32>,
    number: u32,
) -> Option<BTreeMap<Slot, u32>> {
    if number.is_multiple_of(2) {
        return None;
    }
    let written = written(before);
    let mut slots: Vec<&Slot> =
        elements.iter().filter(|(_, count)| **count > 1).map(|(slot, _)| slot).collect();
    slots.sort_by_key(|slot| (written.contains(slot), **slot));
    let slot = slots.get((number / 2) as usize % slots.len().max(1))?;
    let mut shortened = elements.clone();
    shortened.get_mut(slot).into_iter().for_each(|count| *count /= 2);
    Some(shortened)
}

/// The slots that instructions are seen to write.
fn written(program: &Program) -> BTreeSet<Slot> {
    let mut written = BTreeSet::new();
    for function in &program.functions {
        let mut variables: BTreeMap<u32, u32> = BTreeMap::new();
        for inst in &function.code {
            let of = |pointer: &Operand| variables.get(&pointer.index()).copied();
            match &inst.op {
                Op::Memory(MemoryOp::Variable { dst, variable }) => {
                    variables.insert(*dst, *variable);
                }
                Op::Memory(MemoryOp::Chain(chain)) => {
                    if let Some(variable) = of(&chain.base) {
                        variables.insert(chain.dst, variable);
                    }
                }
                op => {
                    let pointer = match op.effect() {
                        Effect::Memory(
                            MemoryOp::Store { pointer, .. } | MemoryOp::Copy { target: pointer, .. },
                        ) => Some(pointer),
                        Effect::Atomic(op) if op.kind != AtomicKind::Load => Some(&op.pointer),
                        Effect::Memory(
                            MemoryOp::Variable { .. }
                            | MemoryOp::Chain(_)
                            | MemoryOp::Load { .. }
                            | MemoryOp::Uniform { .. }
                            | MemoryOp::ArrayLength { .. }
                            | MemoryOp::Difference { .. },
                        )
                        | Effect::Atomic(_)
                        | Effect::Image(_)
                        | Effect::Cooperative(_)
                        | Effect::Control(_)
                        | Effect::Barrier(_)
                        | Effect::Subgroup(_)
                        | Effect::None => None,
                    };
                    let variable =
                        pointer.and_then(of).and_then(|number| program.variables.get(number as usize));
                    written.extend(variable.into_iter().flat_map(Slot::of));
                }
            }
        }
    }
    written
}
