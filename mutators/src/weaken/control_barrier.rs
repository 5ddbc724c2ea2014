use rspirv::dr::Instruction;
use rspirv::spirv::Op;

use super::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Makes a memory barrier of a control barrier: it orders as before, but nobody waits.
pub struct ControlBarrierToFence;

impl Mutator for ControlBarrierToFence {
    fn name(&self) -> &'static str {
        "control-barrier-to-fence"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| match inst.operands.split_first() {
            Some((_, operands)) if inst.class.opcode == Op::ControlBarrier => {
                let fence = Instruction::new(Op::MemoryBarrier, None, None, operands.to_vec());
                vec![(String::new(), module.replacing(site, vec![fence]))]
            }
            _ => Vec::new(),
        })
    }
}
