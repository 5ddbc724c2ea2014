//! Which operand words of an instruction are ids, by the grammar of the SPIR-V specification (section 3, "Binary Form").

use std::collections::HashMap;
use std::sync::OnceLock;

use rspirv::grammar::{LogicalOperand, OperandKind, OperandQuantifier, INSTRUCTION_TABLE};
use rspirv::spirv::MemoryAccess;

use super::Instruction;

impl Instruction<'_> {
    /// The ids among its operands, but for the labels of OpSwitch.
    pub fn ids(&self) -> Vec<u32> {
        let mut ids = Vec::new();
        collect(u32::from(self.opcode), self.operands, &mut ids);
        ids
    }
}

/// The operands of every opcode.
fn grammar(opcode: u32) -> &'static [LogicalOperand] {
    static TABLE: OnceLock<HashMap<u32, &'static [LogicalOperand]>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        INSTRUCTION_TABLE.iter().map(|known| (known.opcode as u32, known.operands)).collect()
    });
    table.get(&opcode).copied().unwrap_or(&[])
}

fn collect(opcode: u32, words: &[u32], ids: &mut Vec<u32>) {
    let mut rest = words;
    for LogicalOperand { kind, quantifier } in grammar(opcode) {
        if matches!(kind, OperandKind::IdResultType | OperandKind::IdResult) {
            continue;
        }
        loop {
            let Some((&first, behind)) = rest.split_first() else { return };
            rest = behind;
            match kind {
                OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => ids.push(first),
                OperandKind::PairIdRefIdRef => {
                    ids.push(first);
                    ids.extend(take(&mut rest));
                }
                OperandKind::PairIdRefLiteralInteger => {
                    ids.push(first);
                    take(&mut rest);
                }
                // How long a case is depends on the selector.
                OperandKind::PairLiteralIntegerIdRef => return,
                OperandKind::LiteralSpecConstantOpInteger => return collect(first, rest, ids),
                OperandKind::LiteralString => {
                    let mut word = first;
                    while word.to_le_bytes().iter().all(|byte| *byte != 0) {
                        let Some(next) = take(&mut rest) else { return };
                        word = next;
                    }
                }
                OperandKind::MemoryAccess => {
                    let has = |bit: MemoryAccess| first & bit.bits() != 0;
                    if has(MemoryAccess::ALIGNED) {
                        take(&mut rest);
                    }
                    let scopes = [MemoryAccess::MAKE_POINTER_AVAILABLE, MemoryAccess::MAKE_POINTER_VISIBLE];
                    for _ in scopes.into_iter().filter(|bit| has(*bit)) {
                        ids.extend(take(&mut rest));
                    }
                }
                // Bits whose parameters are all that is left.
                OperandKind::ImageOperands | OperandKind::TensorAddressingOperands => {
                    ids.extend(rest);
                    return;
                }
                // One word that is no id: a number, a name of the grammar, or bits of it.
                _ => {}
            }
            if *quantifier != OperandQuantifier::ZeroOrMore {
                break;
            }
        }
    }
}

fn take(rest: &mut &[u32]) -> Option<u32> {
    let (&first, behind) = rest.split_first()?;
    *rest = behind;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(op: rspirv::spirv::Op, words: &[u32]) -> Vec<u32> {
        let mut ids = Vec::new();
        collect(op as u32, words, &mut ids);
        ids
    }

    #[test]
    fn numbers_are_no_ids() {
        use rspirv::spirv::Op;
        assert_eq!(ids(Op::CompositeExtract, &[7, 1, 2]), [7]);
        assert_eq!(ids(Op::VectorShuffle, &[7, 8, 0, 5]), [7, 8]);
        // Aligned 16, available at scope 9; then only visible, at scope 3.
        assert_eq!(ids(Op::CopyMemory, &[7, 8, 0x2a, 16, 9, 0x30, 3]), [7, 8, 9, 3]);
        assert_eq!(ids(Op::ImageRead, &[7, 8, 2, 5]), [7, 8, 5]);
        assert_eq!(ids(Op::Phi, &[7, 1, 8, 2]), [7, 1, 8, 2]);
        assert_eq!(ids(Op::ExtInst, &[1, 40, 7, 8]), [1, 7, 8]);
        assert_eq!(ids(Op::SpecConstantOp, &[Op::CompositeInsert as u32, 7, 8, 1]), [7, 8]);
        assert_eq!(ids(Op::Switch, &[7, 5, 3, 6]), [7, 5]);
        // A name of one word and its end, then ids.
        assert_eq!(ids(Op::EntryPoint, &[5, 4, 0x6e_69_61_6d, 0, 7, 8]), [4, 7, 8]);
    }
}
