use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{MemoryModel, MemorySemantics as Semantics, Op, Scope};

use crate::memory::{is_barrier, is_read_modify_write, scope, semantics, with_constants, ORDERS};
use crate::mutator::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Gives an atomic or barrier the strongest order that it can have: Acquire for loads, Release for stores,
/// AcquireRelease for all others.
pub struct StrongerOrder;

/// Widens the memory scope of an atomic load or a barrier by one step. A write of a wider scope may come between the
/// writes of a release sequence, and break it: those stay.
pub struct WiderScope;

/// Lets the semantics of an atomic or barrier that orders something cover Uniform and Workgroup memory too.
pub struct MoreClasses;

/// Whether the module has Vulkan's memory model.
pub(super) fn is_vulkan(module: &Module) -> bool {
    let model = module.data.memory_model.as_ref().and_then(|inst| inst.operands.get(1));
    model == Some(&Operand::MemoryModel(MemoryModel::Vulkan))
}

/// The strongest order of an instruction with semantics.
fn strongest(opcode: Op) -> Option<Semantics> {
    match opcode {
        Op::AtomicLoad => Some(Semantics::ACQUIRE),
        Op::AtomicStore => Some(Semantics::RELEASE),
        opcode if is_barrier(opcode) || is_read_modify_write(opcode) => Some(Semantics::ACQUIRE_RELEASE),
        _ => None,
    }
}

impl Mutator for StrongerOrder {
    fn name(&self) -> &'static str {
        "stronger-order"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let is_vulkan = is_vulkan(module);
        each_instruction(self.name(), module, move |site, inst| {
            let masks = semantics(module, inst);
            let Some(order) = strongest(inst.class.opcode) else { return Vec::new() };
            // Only the first of a compare-exchange: the second may not exceed it, and may not release.
            let Some((index, mask)) = masks.first() else { return Vec::new() };
            if mask.contains(order) || mask.contains(Semantics::SEQUENTIALLY_CONSISTENT) {
                return Vec::new();
            }
            let mut stronger = (*mask - ORDERS) | order;
            if !stronger.intersects(Semantics::UNIFORM_MEMORY | Semantics::WORKGROUP_MEMORY) {
                stronger |= Semantics::UNIFORM_MEMORY | Semantics::WORKGROUP_MEMORY;
            }
            if is_vulkan {
                let flags = [
                    (Semantics::MAKE_AVAILABLE, order != Semantics::ACQUIRE),
                    (Semantics::MAKE_VISIBLE, order != Semantics::RELEASE),
                ];
                flags.iter().filter(|(_, fits)| *fits).for_each(|(flag, _)| stronger |= *flag);
            }
            let changed = with_constants(module, site, inst, &[(*index, stronger.bits())]);
            changed.map(|changed| (format!("{order:?}"), changed)).into_iter().collect()
        })
    }
}

impl Mutator for MoreClasses {
    fn name(&self) -> &'static str {
        "more-classes"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let both = Semantics::UNIFORM_MEMORY | Semantics::WORKGROUP_MEMORY;
        each_instruction(self.name(), module, move |site, inst| {
            let masks = semantics(module, inst);
            let values: Vec<(usize, u32)> = { masks.iter() }
                .filter(|(_, mask)| mask.intersects(ORDERS))
                .map(|(index, mask)| (*index, (*mask | both).bits()))
                .collect();
            let changes = masks.iter().any(|(_, mask)| mask.intersects(ORDERS) && !mask.contains(both));
            let changed = changes.then(|| with_constants(module, site, inst, &values)).flatten();
            changed.map(|changed| (String::new(), changed)).into_iter().collect()
        })
    }
}

impl Mutator for WiderScope {
    fn name(&self) -> &'static str {
        "wider-scope"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        // Vulkan's model needs a capability for Device; the others know no QueueFamily.
        let widest = if is_vulkan(module) { Scope::QueueFamily } else { Scope::Device };
        each_instruction(self.name(), module, move |site, inst| {
            let Some(index) = memory_scope(inst) else { return Vec::new() };
            let id = inst.operands.get(index).and_then(Operand::id_ref_any);
            let wider = match id.and_then(|id| scope(module, id)) {
                Some(Scope::Invocation) => Scope::Subgroup,
                Some(Scope::Subgroup) => Scope::Workgroup,
                Some(Scope::Workgroup) => widest,
                _ => return Vec::new(),
            };
            let changed = with_constants(module, site, inst, &[(index, wider as u32)]);
            changed.map(|changed| (format!("{wider:?}"), changed)).into_iter().collect()
        })
    }
}

/// Where the memory scope of an atomic load or barrier is among its operands.
fn memory_scope(inst: &Instruction) -> Option<usize> {
    match inst.class.opcode {
        Op::ControlBarrier => Some(1),
        Op::AtomicLoad | Op::MemoryBarrier => {
            inst.operands.iter().position(|operand| matches!(operand, Operand::IdScope(_)))
        }
        _ => None,
    }
}
