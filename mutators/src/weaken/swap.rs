use std::collections::BTreeSet;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::each_instruction;
use crate::memory::{accessed_pointers, accesses_shared, is_barrier};
use crate::{Module, Mutant, Mutator};

/// Swaps two memory operations (accesses of memory that invocations share, and barriers) that
/// follow each other in a block: the second one moves directly before the first, along with what it is
/// computed from. A value that the second needs from the first forbids it.
pub struct Swap;

impl Mutator for Swap {
    fn name(&self) -> &'static str {
        "swap"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            if !is_memory_operation(module, inst) {
                return Vec::new();
            }
            let block = module.block(site);
            let behind = block.iter().enumerate().skip(site.index + 1);
            let Some((second, inst)) = { behind }
                .find(|(_, inst)| is_memory_operation(module, inst) || inst.class.opcode == Op::FunctionCall)
            else {
                return Vec::new();
            };
            let Some(moved) = moved_along(block, site.index, second) else { return Vec::new() };
            let mut changed = module.clone();
            if let Some(block) = changed.block_mut(site) {
                for (offset, index) in moved.into_iter().enumerate() {
                    // What is in front of `index` and has moved stays in front of it.
                    let inst = block.remove(index);
                    block.insert(site.index + offset, inst);
                }
            }
            vec![(format!("with Op{:?} behind it", inst.class.opcode), changed)]
        })
    }
}

fn is_memory_operation(module: &Module, inst: &Instruction) -> bool {
    is_barrier(inst.class.opcode) || accesses_shared(module, inst)
}

/// The instructions behind `first` that must move in front of it with `second`, in order, `second` last.
/// None where one of them uses the result of `first`, or is more than a computation.
fn moved_along(block: &[Instruction], first: usize, second: usize) -> Option<Vec<usize>> {
    if block.get(second)?.class.opcode == Op::FunctionCall {
        return None;
    }
    let mut needed: BTreeSet<Word> = BTreeSet::new();
    let mut moved = Vec::new();
    for index in (first..=second).rev() {
        let inst = block.get(index)?;
        let defines_needed = inst.result_id.is_some_and(|id| needed.contains(&id));
        if index != second && !defines_needed {
            continue;
        }
        // Loads of memory that nobody shares may move too; nothing between writes it unless it
        // is a store, and then the order of both would change.
        let loads = index != second && !accessed_pointers(inst).is_empty();
        let writes_between = || block[index..second].iter().any(|inst| inst.class.opcode == Op::Store);
        if index == first || (loads && writes_between()) {
            return None;
        }
        needed.extend(inst.operands.iter().filter_map(Operand::id_ref_any));
        moved.push(index);
    }
    moved.reverse();
    Some(moved)
}
