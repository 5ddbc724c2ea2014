use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{MemoryAccess, Op, Scope};

use super::each_instruction;
use crate::memory::{access_masks, access_operand, is_atomic, is_barrier, scope, with_constants};
use crate::{Module, Mutant, Mutator};

/// Narrows one scope by one step: the memory scope of an atomic or barrier, the execution scope of
/// a control barrier, or the scope of a load's visibility or a store's availability operation.
///
/// Device has two next steps, since no QueueFamily need stand between it and Workgroup.
pub struct NarrowerScope;

fn narrower(scope: Scope) -> &'static [Scope] {
    match scope {
        Scope::CrossDevice => &[Scope::Device],
        Scope::Device => &[Scope::QueueFamily, Scope::Workgroup],
        Scope::QueueFamily => &[Scope::Workgroup],
        Scope::Workgroup => &[Scope::Subgroup],
        Scope::Subgroup | Scope::ShaderCallKHR => &[Scope::Invocation],
        Scope::Invocation => &[],
    }
}

/// The scopes of an instruction: the operand's index, and what the scope is for.
fn scopes(inst: &Instruction) -> Vec<(usize, &'static str)> {
    match inst.class.opcode {
        Op::ControlBarrier => vec![(0, "execution"), (1, "memory")],
        opcode if is_barrier(opcode) || is_atomic(opcode) => {
            let position = inst.operands.iter().position(|operand| matches!(operand, Operand::IdScope(_)));
            position.map(|index| (index, "memory")).into_iter().collect()
        }
        _ => access_masks(inst)
            .into_iter()
            .flat_map(|(index, mask)| {
                let operand = move |bit| access_operand(index, mask, bit);
                let available = operand(MemoryAccess::MAKE_POINTER_AVAILABLE);
                let visible = operand(MemoryAccess::MAKE_POINTER_VISIBLE);
                let available = available.map(|index| (index, "availability"));
                available.into_iter().chain(visible.map(|index| (index, "visibility")))
            })
            .collect(),
    }
}

impl Mutator for NarrowerScope {
    fn name(&self) -> &'static str {
        "narrower-scope"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let mut changes = Vec::new();
            for (index, kind) in scopes(inst) {
                let id = inst.operands.get(index).and_then(Operand::id_ref_any);
                let Some(wide) = id.and_then(|id| scope(module, id)) else { continue };
                for narrow in narrower(wide) {
                    let changed = with_constants(module, site, inst, &[(index, *narrow as u32)]);
                    let what = format!("{kind} {wide:?} to {narrow:?}");
                    changes.extend(changed.map(|changed| (what, changed)));
                }
            }
            changes
        })
    }
}
