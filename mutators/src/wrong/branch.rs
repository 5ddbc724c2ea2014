use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use super::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Drops a guard: a conditional branch always goes one way. Its structure stays, its condition is a constant.
pub struct GuardDropped;

/// Swaps the targets of a conditional branch.
pub struct BranchNegated;

/// Swaps the targets of two cases of OpSwitch that follow each other, or of the default and the first case.
pub struct CasesSwapped;

impl Mutator for GuardDropped {
    fn name(&self) -> &'static str {
        "guard-dropped"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            if inst.class.opcode != Op::BranchConditional {
                return Vec::new();
            }
            let mut changes = Vec::new();
            for (what, opcode) in [("always", Op::ConstantTrue), ("never", Op::ConstantFalse)] {
                let mut changed = module.clone();
                let constant = truth(&mut changed, opcode);
                let mut inst = inst.clone();
                if let Some(condition) = inst.operands.first_mut() {
                    *condition = Operand::IdRef(constant);
                }
                changes.push((what.to_owned(), changed.replacing(site, vec![inst])));
            }
            changes
        })
    }
}

/// OpConstantTrue or OpConstantFalse: an existing one, or a new one.
fn truth(module: &mut Module, opcode: Op) -> Word {
    let of_type = module.type_id(Op::TypeBool, Vec::new());
    let mut globals = module.data.types_global_values.iter();
    let existing = globals.find(|inst| inst.class.opcode == opcode && inst.result_type == Some(of_type));
    match existing.and_then(|inst| inst.result_id) {
        Some(id) => id,
        None => module.declare(opcode, Some(of_type), Vec::new()),
    }
}

impl Mutator for BranchNegated {
    fn name(&self) -> &'static str {
        "branch-negated"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let targets = (inst.operands.get(1), inst.operands.get(2));
            if inst.class.opcode != Op::BranchConditional || targets.0 == targets.1 {
                return Vec::new();
            }
            let mut changed = inst.clone();
            changed.operands.swap(1, 2);
            vec![(String::new(), module.replacing(site, vec![changed]))]
        })
    }
}

impl Mutator for CasesSwapped {
    fn name(&self) -> &'static str {
        "cases-swapped"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            if inst.class.opcode != Op::Switch {
                return Vec::new();
            }
            // The selector, the default, then literals and targets in turns.
            let targets: Vec<usize> = (1..inst.operands.len()).step_by(2).collect();
            let mut changes = Vec::new();
            for (case, pair) in targets.windows(2).enumerate() {
                let [first, second] = *pair else { continue };
                if inst.operands.get(first) != inst.operands.get(second) {
                    let mut changed = inst.clone();
                    changed.operands.swap(first, second);
                    let what = format!("cases {case} and {}", case + 1);
                    changes.push((what, module.replacing(site, vec![changed])));
                }
            }
            changes
        })
    }
}
