use rspirv::spirv::{MemoryAccess, MemorySemantics};

use super::each_instruction;
use crate::memory::{access_masks, semantics, with_constants, without_access_bits};
use crate::{Module, Mutant, Mutator};

/// Drops Volatile of an access, or of an atomic's semantics (all of them).
pub struct Volatile;

impl Mutator for Volatile {
    fn name(&self) -> &'static str {
        "volatile"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let mut changes = Vec::new();
            let volatile =
                access_masks(inst).into_iter().filter(|(_, mask)| mask.contains(MemoryAccess::VOLATILE));
            for (number, (index, _)) in volatile.enumerate() {
                let what = if number == 0 { "not volatile" } else { "not volatile second" };
                let changed = without_access_bits(inst, index, MemoryAccess::VOLATILE);
                changes.push((what.to_owned(), module.replacing(site, vec![changed])));
            }
            let masks: Vec<_> = semantics(module, inst)
                .into_iter()
                .filter(|(_, mask)| mask.contains(MemorySemantics::VOLATILE))
                .map(|(index, mask)| (index, (mask - MemorySemantics::VOLATILE).bits()))
                .collect();
            if !masks.is_empty() {
                let changed = with_constants(module, site, inst, &masks);
                changes.extend(changed.map(|changed| ("not volatile".to_owned(), changed)));
            }
            changes
        })
    }
}
