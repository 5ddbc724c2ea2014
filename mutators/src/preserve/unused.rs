use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, StorageClass};

use crate::{Module, Mutant, Mutator};

/// Adds what nobody uses: a constant, a Private variable, and names; every other name changes.
pub struct UnusedAdded;

impl Mutator for UnusedAdded {
    fn name(&self) -> &'static str {
        "unused-added"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        Box::new(std::iter::once_with(move || {
            let mut changed = module.clone();
            rename(&mut changed);
            let integer = vec![Operand::LiteralBit32(32), Operand::LiteralBit32(0)];
            let integer = changed.type_id(Op::TypeInt, integer);
            let constant = changed.declare(Op::Constant, Some(integer), vec![Operand::LiteralBit32(0xDEAD)]);
            let private = Operand::StorageClass(StorageClass::Private);
            let pointer = changed.type_id(Op::TypePointer, vec![private.clone(), Operand::IdRef(integer)]);
            let variable = changed.declare(Op::Variable, Some(pointer), vec![private]);
            for (id, name) in [(constant, "unused_constant"), (variable, "unused_variable")] {
                let operands = vec![Operand::IdRef(id), Operand::LiteralString(name.to_owned())];
                changed.data.debug_names.push(Instruction::new(Op::Name, None, None, operands));
            }
            Mutant { mutator: self.name(), site: None, what: String::new(), module: changed }
        }))
    }
}

fn rename(module: &mut Module) {
    for inst in &mut module.data.debug_names {
        if let Some(Operand::LiteralString(name)) = inst.operands.last_mut() {
            name.push_str("_renamed");
        }
    }
}
