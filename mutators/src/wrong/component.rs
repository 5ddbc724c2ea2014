use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Takes, sets or puts a component of a vector, matrix, array or struct where another one was meant: an index of
/// OpCompositeExtract or OpCompositeInsert is off by one, two components of OpVectorShuffle or two parts of
/// OpCompositeConstruct that stand side by side are swapped.
pub struct WrongComponent;

impl Mutator for WrongComponent {
    fn name(&self) -> &'static str {
        "wrong-component"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let changes = match inst.class.opcode {
                Op::CompositeExtract | Op::CompositeInsert => off_by_one(inst),
                Op::VectorShuffle => swapped(inst, 2),
                Op::CompositeConstruct => swapped(inst, 0),
                _ => Vec::new(),
            };
            { changes.into_iter() }
                .map(|(what, changed)| (what, module.replacing(site, vec![changed])))
                .collect()
        })
    }
}

fn off_by_one(inst: &Instruction) -> Vec<(String, Instruction)> {
    let mut changes = Vec::new();
    for (index, operand) in inst.operands.iter().enumerate() {
        let Operand::LiteralBit32(value) = *operand else { continue };
        for other in [value.checked_add(1), value.checked_sub(1)].into_iter().flatten() {
            let mut changed = inst.clone();
            changed.operands[index] = Operand::LiteralBit32(other);
            changes.push((format!("operand {index}: {value} to {other}"), changed));
        }
    }
    changes
}

/// Operands from `first` on that stand side by side and differ are swapped.
fn swapped(inst: &Instruction, first: usize) -> Vec<(String, Instruction)> {
    let mut changes = Vec::new();
    for (index, pair) in inst.operands.windows(2).enumerate().skip(first) {
        if pair.first() != pair.last() {
            let mut changed = inst.clone();
            changed.operands.swap(index, index + 1);
            changes.push((format!("operands {index} and {} swapped", index + 1), changed));
        }
    }
    changes
}
