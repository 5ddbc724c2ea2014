use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{MemorySemantics as Semantics, Op};

use super::edit::{once, replace_each};
use crate::memory::{at_order, semantics};
use crate::{Module, Mutant, Mutator};

/// Splits control barriers that order memory: a release barrier, a control barrier without semantics, an acquire
/// barrier.
pub struct BarriersSplit;

impl Mutator for BarriersSplit {
    fn name(&self) -> &'static str {
        "barriers-split"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| replace_each(changed, split))
    }
}

fn split(module: &mut Module, inst: &Instruction) -> Option<Vec<Instruction>> {
    if inst.class.opcode != Op::ControlBarrier {
        return None;
    }
    let (index, mask) = semantics(module, inst).into_iter().next()?;
    if !mask.intersects(Semantics::ACQUIRE_RELEASE | Semantics::SEQUENTIALLY_CONSISTENT) {
        return None;
    }
    let of_type = module.type_of(inst.operands.get(index)?.id_ref_any()?)?;
    let scope = inst.operands.get(1)?.clone();
    let mut fence = |order: Semantics| {
        let mask = module.constant(of_type, at_order(mask, order).bits());
        let operands = vec![scope.clone(), Operand::IdMemorySemantics(mask)];
        Instruction::new(Op::MemoryBarrier, None, None, operands)
    };
    let (release, acquire) = (fence(Semantics::RELEASE), fence(Semantics::ACQUIRE));
    let mut barrier = inst.clone();
    barrier.operands[index] = Operand::IdMemorySemantics(module.constant(of_type, 0));
    Some(vec![release, barrier, acquire])
}
