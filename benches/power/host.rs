//! What a host says of a module, and pairs of modules that passes give the same new ids.

use std::collections::HashSet;

use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Decoration, Op, Word};

/// A module with the specialisation constants that its host sets as constants (Vulkan, "Specialization Constants").
/// `args`: options with their values, of which `--spec ID=VALUE` are numbers of 32 bits.
pub fn specialised(words: &[u32], args: &[String]) -> Vec<u32> {
    let mut module = rspirv::dr::load_words(words).unwrap();
    let set = args.chunks_exact(2).filter(|option| option[0] == "--spec");
    for (which, value) in set.filter_map(|option| option[1].split_once('=')) {
        let (which, value): (u32, u32) = (which.parse().unwrap(), value.parse().unwrap());
        let decorated = |inst: &Instruction| match inst.operands[..] {
            [Operand::IdRef(id), Operand::Decoration(Decoration::SpecId), Operand::LiteralBit32(this)] => {
                (this == which).then_some(id)
            }
            _ => None,
        };
        let ids: Vec<Word> = module.annotations.iter().filter_map(decorated).collect();
        module.annotations.retain(|inst| decorated(inst).is_none());
        for inst in &mut module.types_global_values {
            if inst.class.opcode == Op::SpecConstant && inst.result_id.is_some_and(|id| ids.contains(&id)) {
                let operands = vec![Operand::LiteralBit32(value)];
                *inst = Instruction::new(Op::Constant, inst.result_type, inst.result_id, operands);
            }
        }
    }
    module.assemble()
}

/// Both modules with the same bound, and with the constants of either: passes then give new ids the same numbers, and none
/// of them declares a constant that the other module has already.
pub fn alike(before: &[u32], after: &[u32]) -> [Vec<u32>; 2] {
    let mut modules = [before, after].map(|words| rspirv::dr::load_words(words).unwrap());
    let [missing, more] = [lacking(&modules[0], &modules[1]), lacking(&modules[1], &modules[0])];
    let bounds = modules.iter().filter_map(|module| Some(module.header.as_ref()?.bound));
    let bound = bounds.max().unwrap_or_default();
    for (module, constants) in modules.iter_mut().zip([missing, more]) {
        module.types_global_values.extend(constants);
        if let Some(header) = &mut module.header {
            header.bound = bound;
        }
    }
    modules.map(|module| module.assemble())
}

/// The constants of another module under ids that a module has nothing under.
fn lacking(module: &Module, other: &Module) -> Vec<Instruction> {
    let known: HashSet<Word> = module.all_inst_iter().filter_map(|inst| inst.result_id).collect();
    let is_constant = |inst: &&Instruction| {
        matches!(inst.class.opcode, Op::Constant | Op::ConstantTrue | Op::ConstantFalse | Op::ConstantNull)
            && inst.result_id.is_some_and(|id| !known.contains(&id))
            && inst.result_type.is_some_and(|ty| known.contains(&ty))
    };
    other.types_global_values.iter().filter(is_constant).cloned().collect()
}
