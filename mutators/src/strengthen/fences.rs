use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{MemorySemantics as Semantics, Op, Scope};

use super::semantics::is_vulkan;
use crate::memory::accesses_shared;
use crate::mutator::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Adds a memory barrier before an access to memory that invocations share.
pub struct FencesAdded;

impl Mutator for FencesAdded {
    fn name(&self) -> &'static str {
        "fences-added"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let is_vulkan = is_vulkan(module);
        each_instruction(self.name(), module, move |site, inst| {
            if !accesses_shared(module, inst) {
                return Vec::new();
            }
            let mut semantics =
                Semantics::ACQUIRE_RELEASE | Semantics::UNIFORM_MEMORY | Semantics::WORKGROUP_MEMORY;
            if is_vulkan {
                semantics |= Semantics::MAKE_AVAILABLE | Semantics::MAKE_VISIBLE;
            }
            let wide = if is_vulkan { Scope::QueueFamily } else { Scope::Device };
            let mut made = Vec::new();
            for scope in [Scope::Workgroup, wide] {
                let mut changed = module.clone();
                let uint = changed.type_id(Op::TypeInt, [32, 0].map(Operand::LiteralBit32).to_vec());
                let operands = vec![
                    Operand::IdScope(changed.constant(uint, scope as u32)),
                    Operand::IdMemorySemantics(changed.constant(uint, semantics.bits())),
                ];
                let fence = Instruction::new(Op::MemoryBarrier, None, None, operands);
                made.push((format!("{scope:?}"), changed.replacing(site, vec![fence, inst.clone()])));
            }
            made
        })
    }
}
