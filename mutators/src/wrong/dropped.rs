use rspirv::spirv::Op;

use super::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Drops an instruction that has no result.
pub struct Dropped {
    name: &'static str,
    opcodes: &'static [Op],
}

/// Something is not written.
pub const STORE: Dropped = Dropped {
    name: "store-dropped",
    opcodes: &[
        Op::Store,
        Op::CopyMemory,
        Op::CopyMemorySized,
        Op::AtomicStore,
        Op::AtomicFlagClear,
        Op::ImageWrite,
        Op::CooperativeMatrixStoreKHR,
    ],
};

/// Nobody waits, and nothing is made available or visible.
pub const CONTROL_BARRIER: Dropped = Dropped { name: "barrier-dropped", opcodes: &[Op::ControlBarrier] };

impl Mutator for Dropped {
    fn name(&self) -> &'static str {
        self.name
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name, module, |site, inst| {
            let dropped = self.opcodes.contains(&inst.class.opcode);
            let dropped = dropped.then(|| (String::new(), module.replacing(site, Vec::new())));
            dropped.into_iter().collect()
        })
    }
}
