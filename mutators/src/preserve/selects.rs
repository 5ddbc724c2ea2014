use rspirv::dr::{Function, Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::edit::{branch, once, uses, with_ids};
use crate::pure::is_total;
use crate::{Module, Mutant, Mutator};

/// Computes both ways of a selection that only computes, and chooses by OpSelect in place of OpPhi.
pub struct BranchToSelect;

impl Mutator for BranchToSelect {
    fn name(&self) -> &'static str {
        "branch-to-select"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| {
            for function in 0..changed.data.functions.len() {
                while let Some(selection) = Selection::find(changed, &changed.data.functions[function]) {
                    selection.flatten(&mut changed.data.functions[function]);
                }
            }
        })
    }
}

/// A selection both of whose ways do nothing but compute.
struct Selection {
    header: Word,
    merge: Word,
    condition: Word,
    /// Where each way comes to the merge block from: its only block, or the header.
    ways: [Word; 2],
}

impl Selection {
    fn find(module: &Module, function: &Function) -> Option<Self> {
        function.blocks.iter().find_map(|block| {
            let [.., merge, last] = block.instructions.as_slice() else { return None };
            let is_selection =
                merge.class.opcode == Op::SelectionMerge && last.class.opcode == Op::BranchConditional;
            let targets: Vec<Word> = uses(last).collect();
            let (&[condition, yes, no], true) = (&targets[..], is_selection) else { return None };
            let (header, merge) = (block.label_id()?, uses(merge).next()?);
            let from = |target: Word| if target == merge { header } else { target };
            let found = Selection { header, merge, condition, ways: [from(yes), from(no)] };
            (yes != no && found.is_flat(module, function)).then_some(found)
        })
    }

    /// Whether the ways only compute, and only they come to the merge block.
    fn is_flat(&self, module: &Module, function: &Function) -> bool {
        let arms: Vec<Word> = self.ways.into_iter().filter(|way| *way != self.header).collect();
        let block = |label: Word| function.blocks.iter().find(|block| block.label_id() == Some(label));
        let computes = |label: &Word| {
            let Some((last, code)) = block(*label).and_then(|block| block.instructions.split_last()) else {
                return false;
            };
            let leads_on = last.class.opcode == Op::Branch && uses(last).next() == Some(self.merge);
            leads_on && code.iter().all(|inst| is_total(inst.class.opcode))
        };
        let sources_of = |label: Word| {
            let ends = function
                .blocks
                .iter()
                .filter_map(|block| Some((block.label_id()?, block.instructions.last()?)));
            ends.filter(move |(_, end)| uses(end).any(|id| id == label)).map(|(from, _)| from)
        };
        let Some(merge) = block(self.merge) else { return false };
        let mut phis = merge.instructions.iter().filter(|inst| inst.class.opcode == Op::Phi);
        arms.iter().all(computes)
            && arms.iter().all(|label| sources_of(*label).eq([self.header]))
            && sources_of(self.merge).all(|from| self.ways.contains(&from))
            && phis.all(|phi| phi.operands.len() == 4 && is_selectable(module, phi))
    }

    fn flatten(&self, function: &mut Function) {
        let mut code: Vec<Instruction> = Vec::new();
        for way in self.ways.into_iter().filter(|way| *way != self.header) {
            if let Some(index) = function.blocks.iter().position(|block| block.label_id() == Some(way)) {
                let mut arm = function.blocks.remove(index).instructions;
                arm.pop();
                code.extend(arm);
            }
        }
        for block in &mut function.blocks {
            let label = block.label_id();
            if label == Some(self.header) {
                let kept = block.instructions.len().saturating_sub(2);
                block.instructions.truncate(kept);
                block.instructions.append(&mut code);
                block.instructions.push(branch(self.merge));
            } else if label == Some(self.merge) {
                let phis = block.instructions.iter_mut().filter(|inst| inst.class.opcode == Op::Phi);
                phis.for_each(|phi| *phi = self.selected(phi));
            }
        }
    }

    fn selected(&self, phi: &Instruction) -> Instruction {
        let values = self.ways.map(|way| {
            let pair = phi.operands.chunks(2).find(|pair| pair.get(1) == Some(&Operand::IdRef(way)));
            pair.and_then(|pair| pair.first()?.id_ref_any()).unwrap_or_default()
        });
        with_ids(Op::Select, phi.result_type, phi.result_id, &[self.condition, values[0], values[1]])
    }
}

/// Whether OpSelect can have the type of an OpPhi: vectors by one condition only from version 1.4 on.
fn is_selectable(module: &Module, phi: &Instruction) -> bool {
    let opcode = phi.result_type.and_then(|id| module.global(id)).map(|inst| inst.class.opcode);
    let version = module.data.header.as_ref().map_or((1, 0), |header| header.version());
    match opcode {
        Some(Op::TypeBool | Op::TypeInt | Op::TypeFloat) => true,
        Some(Op::TypeVector) => version >= (1, 4),
        _ => false,
    }
}
