//! What a host says of a module.

use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, Operand};
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
