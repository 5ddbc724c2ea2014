use rspirv::spirv::MemoryAccess;

use super::each_instruction;
use crate::memory::{access_masks, without_access_bits};
use crate::{Module, Mutant, Mutator};

/// Drops MakePointerAvailable or MakePointerVisible of an access; it stays non-private.
pub struct PerInstruction;

const BITS: [(MemoryAccess, &str); 2] = [
    (MemoryAccess::MAKE_POINTER_AVAILABLE, "MakePointerAvailable"),
    (MemoryAccess::MAKE_POINTER_VISIBLE, "MakePointerVisible"),
];

impl Mutator for PerInstruction {
    fn name(&self) -> &'static str {
        "per-instruction"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let mut changes = Vec::new();
            for (index, mask) in access_masks(inst) {
                for (bit, name) in BITS.into_iter().filter(|(bit, _)| mask.contains(*bit)) {
                    let changed = without_access_bits(inst, index, bit);
                    changes.push((format!("no {name}"), module.replacing(site, vec![changed])));
                }
            }
            changes
        })
    }
}
