use rspirv::spirv::Op;

use crate::{Module, Mutant, Mutator};

/// Swaps the operands of every commutative instruction.
pub struct Commute;

impl Mutator for Commute {
    fn name(&self) -> &'static str {
        "commute"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mutants = std::iter::once_with(move || {
            let mut changed = module.clone();
            let functions = changed.data.functions.iter_mut();
            let blocks = functions.flat_map(|function| &mut function.blocks);
            let code = blocks.flat_map(|block| &mut block.instructions);
            for inst in code.filter(|inst| is_commutative(inst.class.opcode)) {
                inst.operands.reverse();
            }
            Mutant { mutator: self.name(), site: None, what: String::new(), module: changed }
        });
        Box::new(mutants.filter(|mutant| mutant.module.words() != module.words()))
    }
}

/// Whether the instruction has two operands whose order does not matter (NaN payloads don't either).
fn is_commutative(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::IAdd
            | Op::IMul
            | Op::FAdd
            | Op::FMul
            | Op::BitwiseAnd
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::IEqual
            | Op::INotEqual
            | Op::FOrdEqual
            | Op::FOrdNotEqual
            | Op::FUnordEqual
            | Op::FUnordNotEqual
            | Op::Dot
            | Op::IAddCarry
            | Op::UMulExtended
            | Op::SMulExtended
    )
}
