use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{MemoryAccess, MemoryModel, MemorySemantics, Op};

use super::each_instruction;
use crate::memory::semantics;
use crate::{Module, Mutant, Mutator};

/// Makes a plain access of an atomic load or store: non-private, available or visible at the
/// atomic's scope, and without its semantics.
pub struct AtomicToPlain;

impl Mutator for AtomicToPlain {
    fn name(&self) -> &'static str {
        "atomic-to-plain"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let plain = plain(module, inst);
            let changed = plain.map(|plain| (String::new(), module.replacing(site, vec![plain])));
            changed.into_iter().collect()
        })
    }
}

fn plain(module: &Module, inst: &Instruction) -> Option<Instruction> {
    let (opcode, domain_operation) = match inst.class.opcode {
        Op::AtomicLoad => (Op::Load, MemoryAccess::MAKE_POINTER_VISIBLE),
        Op::AtomicStore => (Op::Store, MemoryAccess::MAKE_POINTER_AVAILABLE),
        _ => return None,
    };
    let mut mask = MemoryAccess::NONE;
    if semantics(module, inst).iter().any(|(_, mask)| mask.contains(MemorySemantics::VOLATILE)) {
        mask |= MemoryAccess::VOLATILE;
    }
    let mut operands: Vec<Operand> = inst.operands.first().into_iter().cloned().collect();
    operands.extend(inst.operands.get(3).cloned());
    if is_vulkan_model(module) {
        mask |= MemoryAccess::NON_PRIVATE_POINTER | domain_operation;
        operands.push(Operand::MemoryAccess(mask));
        operands.extend(inst.operands.get(1).cloned());
    } else if !mask.is_empty() {
        operands.push(Operand::MemoryAccess(mask));
    }
    Some(Instruction::new(opcode, inst.result_type, inst.result_id, operands))
}

fn is_vulkan_model(module: &Module) -> bool {
    let model = module.data.memory_model.as_ref().and_then(|inst| inst.operands.get(1));
    model == Some(&Operand::MemoryModel(MemoryModel::Vulkan))
}
