use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use rspirv::dr::Instruction;
use rspirv::spirv::{Op, StorageClass, Word};

use super::edit::{once, uses};
use crate::flow::{head, tail};
use crate::{Module, Mutant, Mutator};

/// Puts the instructions of every block in another order: what only computes goes anywhere between what it needs and
/// what needs it, accesses to one's own variables keep their order among each other, everything else keeps its order.
pub struct Moves;

/// What must keep its order with its like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Computes only.
    Free,
    /// Accesses memory that only its invocation sees.
    Own,
    /// Anything else.
    Fixed,
}

impl Mutator for Moves {
    fn name(&self) -> &'static str {
        "moves"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mut random = Rng::with_seed(seed);
        once(self.name(), module, move |changed| {
            for function in &mut changed.data.functions {
                for block in &mut function.blocks {
                    let (head, tail) = (head(block), tail(block));
                    if head < tail {
                        let middle: Vec<Instruction> = block.instructions.drain(head..tail).collect();
                        let middle = reordered(module, middle, &mut random);
                        block.instructions.splice(head..head, middle);
                    }
                }
            }
        })
    }
}

fn order(module: &Module, inst: &Instruction) -> Order {
    let opcode = inst.class.opcode;
    let is_chain = matches!(opcode, Op::AccessChain | Op::InBoundsAccessChain);
    // A division may be undefined: it does not move to where it runs though the invocation had ended before.
    if crate::pure::is_total(opcode) || is_chain {
        return Order::Free;
    }
    let is_access = matches!(opcode, Op::Load | Op::Store);
    let class = inst.operands.first().and_then(|operand| module.pointer(operand.id_ref_any()?));
    match class {
        Some((StorageClass::Function | StorageClass::Private, _)) if is_access => Order::Own,
        _ => Order::Fixed,
    }
}

/// The instructions in a random order that keeps what depends on what.
fn reordered(module: &Module, code: Vec<Instruction>, random: &mut Rng) -> Vec<Instruction> {
    let mut defined = BTreeMap::<Word, usize>::new();
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    let mut last: [Option<usize>; 2] = [None, None];
    for (index, inst) in code.iter().enumerate() {
        let mut needs: BTreeSet<usize> = uses(inst).filter_map(|id| defined.get(&id).copied()).collect();
        let order = order(module, inst);
        // A call may access variables that are passed to it, and those of the whole module.
        let kinds: &[usize] = match (order, inst.class.opcode) {
            (Order::Free, _) => &[],
            (Order::Own, _) => &[0],
            (Order::Fixed, _) => &[0, 1],
        };
        for kind in kinds {
            needs.extend(last[*kind].replace(index));
        }
        before.push(needs);
        defined.extend(inst.result_id.map(|id| (id, index)));
    }
    let mut left: Vec<usize> = (0..code.len()).collect();
    let mut placed = BTreeSet::new();
    let mut result = Vec::with_capacity(code.len());
    while !left.is_empty() {
        let ready: Vec<usize> =
            (0..left.len()).filter(|index| before[left[*index]].is_subset(&placed)).collect();
        let chosen = left.remove(random.choice(ready).unwrap_or(0));
        placed.insert(chosen);
        result.push(code[chosen].clone());
    }
    result
}
