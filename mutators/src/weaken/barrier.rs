use super::each_instruction;
use crate::memory::is_barrier;
use crate::{Module, Mutant, Mutator};

/// Removes a memory or control barrier.
pub struct BarrierRemoved;

impl Mutator for BarrierRemoved {
    fn name(&self) -> &'static str {
        "barrier-removed"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let barrier = is_barrier(inst.class.opcode);
            let removed = barrier.then(|| (String::new(), module.replacing(site, Vec::new())));
            removed.into_iter().collect()
        })
    }
}
