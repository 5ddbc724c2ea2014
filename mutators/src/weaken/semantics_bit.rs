use rspirv::spirv::MemorySemantics;

use super::each_instruction;
use crate::memory::{semantics, with_constants};
use crate::{Module, Mutant, Mutator};

/// Drops one storage class, MakeAvailable or MakeVisible of an atomic's or barrier's semantics. With
/// the last storage class both flags go too, since they would be about nothing.
pub struct SemanticsBit;

const BITS: [(MemorySemantics, &str); 8] = [
    (MemorySemantics::UNIFORM_MEMORY, "UniformMemory"),
    (MemorySemantics::SUBGROUP_MEMORY, "SubgroupMemory"),
    (MemorySemantics::WORKGROUP_MEMORY, "WorkgroupMemory"),
    (MemorySemantics::CROSS_WORKGROUP_MEMORY, "CrossWorkgroupMemory"),
    (MemorySemantics::IMAGE_MEMORY, "ImageMemory"),
    (MemorySemantics::OUTPUT_MEMORY, "OutputMemory"),
    (MemorySemantics::MAKE_AVAILABLE, "MakeAvailable"),
    (MemorySemantics::MAKE_VISIBLE, "MakeVisible"),
];

const FLAGS: MemorySemantics = MemorySemantics::MAKE_AVAILABLE.union(MemorySemantics::MAKE_VISIBLE);

fn without(mask: MemorySemantics, bit: MemorySemantics) -> MemorySemantics {
    let left = mask - bit;
    let has_class = BITS.iter().any(|(bit, _)| !FLAGS.contains(*bit) && left.contains(*bit));
    if has_class {
        left
    } else {
        left - FLAGS
    }
}

impl Mutator for SemanticsBit {
    fn name(&self) -> &'static str {
        "semantics-bit"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let masks = semantics(module, inst);
            let several = masks.len() > 1;
            let mut changes = Vec::new();
            for (number, (index, mask)) in masks.into_iter().enumerate() {
                let operand = if several && number == 1 { " where unequal" } else { "" };
                for (bit, name) in BITS.into_iter().filter(|(bit, _)| mask.contains(*bit)) {
                    let changed = with_constants(module, site, inst, &[(index, without(mask, bit).bits())]);
                    changes.extend(changed.map(|changed| (format!("no {name}{operand}"), changed)));
                }
            }
            changes
        })
    }
}
