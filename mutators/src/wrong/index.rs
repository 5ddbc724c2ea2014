use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::each_instruction;
use crate::{Module, Mutant, Mutator};

/// An index of an access chain that is off by one, or zero where it was computed.
pub struct WrongIndex;

impl Mutator for WrongIndex {
    fn name(&self) -> &'static str {
        "wrong-index"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            if !matches!(inst.class.opcode, Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain) {
                return Vec::new();
            }
            let mut changes = Vec::new();
            for (index, operand) in inst.operands.iter().enumerate().skip(1) {
                let Operand::IdRef(id) = operand else { continue };
                let Some(of_type) = word_type(module, *id) else { continue };
                if let Some(value) = module.constant_value(*id) {
                    for other in [value.checked_add(1), value.checked_sub(1)].into_iter().flatten() {
                        let mut changed = module.clone();
                        let other_id = changed.constant(of_type, other);
                        let inst = with_operand(inst, index, other_id);
                        let what = format!("operand {index}: {value} to {other}");
                        changes.push((what, changed.replacing(site, vec![inst])));
                    }
                    continue;
                }
                for (what, opcode) in [("plus 1", Op::IAdd), ("minus 1", Op::ISub)] {
                    let mut changed = module.clone();
                    let (one, sum) = (changed.constant(of_type, 1), changed.fresh_id());
                    let operands = vec![Operand::IdRef(*id), Operand::IdRef(one)];
                    let computed = Instruction::new(opcode, Some(of_type), Some(sum), operands);
                    let both = vec![computed, with_operand(inst, index, sum)];
                    changes.push((format!("operand {index}: {what}"), changed.replacing(site, both)));
                }
                let mut changed = module.clone();
                let zero = changed.constant(of_type, 0);
                let what = format!("operand {index}: 0");
                changes.push((what, changed.replacing(site, vec![with_operand(inst, index, zero)])));
            }
            changes
        })
    }
}

/// The type of a 32-bit integer.
fn word_type(module: &Module, id: Word) -> Option<Word> {
    let of_type = module.type_of(id)?;
    let inst = module.global(of_type)?;
    let is_word =
        inst.class.opcode == Op::TypeInt && inst.operands.first() == Some(&Operand::LiteralBit32(32));
    is_word.then_some(of_type)
}

fn with_operand(inst: &Instruction, index: usize, id: Word) -> Instruction {
    let mut changed = inst.clone();
    if let Some(operand) = changed.operands.get_mut(index) {
        *operand = Operand::IdRef(id);
    }
    changed
}
