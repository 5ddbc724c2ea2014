use rspirv::spirv::MemoryAccess;

use super::each_instruction;
use crate::memory::{access_masks, without_access_bits};
use crate::{Module, Mutant, Mutator};

/// Makes a non-private access private: it loses NonPrivatePointer, and with it MakePointerAvailable and
/// MakePointerVisible, which only non-private accesses have.
pub struct NonPrivate;

impl Mutator for NonPrivate {
    fn name(&self) -> &'static str {
        "non-private"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let bits = MemoryAccess::NON_PRIVATE_POINTER
                | MemoryAccess::MAKE_POINTER_AVAILABLE
                | MemoryAccess::MAKE_POINTER_VISIBLE;
            let masks = access_masks(inst);
            let several = masks.len() > 1;
            let non_private =
                masks.into_iter().filter(|(_, mask)| mask.contains(MemoryAccess::NON_PRIVATE_POINTER));
            non_private
                .enumerate()
                .map(|(number, (index, _))| {
                    let operand = match (several, number) {
                        (false, _) => "",
                        (true, 0) => " first",
                        (true, _) => " second",
                    };
                    let changed = without_access_bits(inst, index, bits);
                    (format!("private{operand}"), module.replacing(site, vec![changed]))
                })
                .collect()
        })
    }
}
