//! Values that are needed for what they take alone.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::values::is_fixed;
use super::{is_used, Edit};
use crate::module::{is_type, Key, Module};

/// Values that nobody takes, each as a copy of one of its operands.
pub(super) fn copies(module: &Module) -> Vec<Edit> {
    let definitions = module.definitions();
    let mut edits = Vec::new();
    for inst in module.insts.iter().skip(module.code_begins()).rev() {
        let is_needless = inst.code.result_id.is_some_and(|id| !is_used(module, id));
        if is_fixed(inst.op()) || matches!(inst.op(), Op::CopyObject | Op::Variable) || !is_needless {
            continue;
        }
        let values = inst.code.operands.iter().enumerate().filter(|(_, operand)| {
            let definition = operand.id_ref_any().and_then(|id| definitions.get(&id));
            definition.is_some_and(|inst| inst.code.result_type.is_some() && !is_type(inst.op()))
        });
        edits.extend(values.map(|(number, _)| Edit::Copy(inst.key, number)));
    }
    edits
}

/// Makes a value that nobody takes a copy of an operand.
pub(super) fn copy(module: &mut Module, key: Key, number: usize) -> Option<()> {
    let at = module.index(key)?;
    let inst = module.insts.get(at).filter(|inst| !is_fixed(inst.op()) && inst.op() != Op::CopyObject)?;
    let (result, operand) = (inst.code.result_id?, inst.id(number)?);
    if is_used(module, result) {
        return None;
    }
    let ty = module.definition(operand)?.code.result_type?;
    let code = Instruction::new(Op::CopyObject, Some(ty), Some(result), vec![Operand::IdRef(operand)]);
    module.insts.get_mut(at)?.code = code;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::edited;
    use super::super::Family;
    use super::*;
    use crate::module::tests::shader;

    #[test]
    fn what_is_needed_for_an_operand_is_a_copy_of_it() {
        let module = shader("%x = OpLoad %uint %b\n%is = OpULessThan %bool %x %uint_1");
        let text = edited(&module, Family::Copies, |edit| matches!(edit, Edit::Copy(_, 0)));
        assert!(text.contains("OpCopyObject %uint %") && !text.contains("OpULessThan"), "{text}");
    }
}
