use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, MemoryAccess, Op, Scope, StorageClass, Word};

use super::semantics::is_vulkan;
use crate::memory::access_masks;
use crate::mutator::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Makes a plain load or store of an integer of 32 bits a relaxed atomic.
pub struct PlainToAtomic;

/// Makes a plain access to shared memory one that other invocations may see: NonPrivatePointer in Vulkan's memory model.
pub struct PrivateToNonPrivate;

impl Mutator for PlainToAtomic {
    fn name(&self) -> &'static str {
        "plain-to-atomic"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let scope = if is_vulkan(module) { Scope::QueueFamily } else { Scope::Device };
        each_instruction(self.name(), module, move |site, inst| {
            let changed = atomic(module, site, inst, scope);
            changed.map(|changed| (String::new(), changed)).into_iter().collect()
        })
    }
}

fn atomic(module: &Module, site: crate::Site, inst: &Instruction, scope: Scope) -> Option<Module> {
    let pointer = inst.operands.first()?.id_ref_any()?;
    let (class, of_type) = module.pointer(pointer)?;
    let is_shared = matches!(class, StorageClass::StorageBuffer | StorageClass::Workgroup);
    let is_volatile = access_masks(inst).iter().any(|(_, mask)| mask.contains(MemoryAccess::VOLATILE));
    // Memory that is read only takes no atomics, and an atomic is not as volatile as what is decorated so.
    let is_excluded = |inst: &Instruction| {
        [Decoration::NonWritable, Decoration::Volatile]
            .into_iter()
            .any(|decoration| inst.operands.contains(&Operand::Decoration(decoration)))
    };
    let is_excluded = module.data.annotations.iter().any(is_excluded);
    if !is_shared || is_volatile || is_excluded || !is_word(module, of_type) {
        return None;
    }
    let mut changed = module.clone();
    let uint = changed.type_id(Op::TypeInt, [32, 0].map(Operand::LiteralBit32).to_vec());
    let (scope, relaxed) = (changed.constant(uint, scope as u32), changed.constant(uint, 0));
    let mut operands =
        vec![Operand::IdRef(pointer), Operand::IdScope(scope), Operand::IdMemorySemantics(relaxed)];
    let made = match inst.class.opcode {
        Op::Load => Instruction::new(Op::AtomicLoad, inst.result_type, inst.result_id, operands),
        Op::Store => {
            operands.push(inst.operands.get(1)?.clone());
            Instruction::new(Op::AtomicStore, None, None, operands)
        }
        _ => return None,
    };
    Some(changed.replacing(site, vec![made]))
}

fn is_word(module: &Module, of_type: Word) -> bool {
    let inst = module.global(of_type);
    inst.is_some_and(|inst| {
        inst.class.opcode == Op::TypeInt && inst.operands.first() == Some(&Operand::LiteralBit32(32))
    })
}

impl Mutator for PrivateToNonPrivate {
    fn name(&self) -> &'static str {
        "private-to-non-private"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let is_vulkan = is_vulkan(module);
        each_instruction(self.name(), module, move |site, inst| {
            let is_access = matches!(inst.class.opcode, Op::Load | Op::Store);
            let pointer = inst.operands.first().and_then(Operand::id_ref_any);
            let class = pointer.and_then(|pointer| module.pointer(pointer)).map(|(class, _)| class);
            let has_others = matches!(
                class,
                Some(StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::Workgroup)
            );
            if !is_vulkan || !is_access || !has_others {
                return Vec::new();
            }
            let mut changed = inst.clone();
            match access_masks(inst).first() {
                Some((_, mask)) if mask.contains(MemoryAccess::NON_PRIVATE_POINTER) => return Vec::new(),
                Some((index, mask)) => {
                    let mask = *mask | MemoryAccess::NON_PRIVATE_POINTER;
                    changed.operands[*index] = Operand::MemoryAccess(mask);
                }
                None => changed.operands.push(Operand::MemoryAccess(MemoryAccess::NON_PRIVATE_POINTER)),
            }
            vec![(String::new(), module.replacing(site, vec![changed]))]
        })
    }
}
