//! Functions and blocks of a module.

use std::ops::Range;

use rspirv::dr::Operand;
use rspirv::grammar::reflect::is_block_terminator;
use rspirv::spirv::{Op, Word};

use crate::module::{Inst, Module};

/// A block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Its label.
    pub(crate) label: Word,
    /// Its instructions, from the label to the terminator.
    pub(crate) range: Range<usize>,
}

impl Module {
    /// The functions, from OpFunction to OpFunctionEnd.
    pub(crate) fn functions(&self) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        let mut begun = 0;
        for (index, inst) in self.insts.iter().enumerate() {
            match inst.op() {
                Op::Function => begun = index,
                Op::FunctionEnd => all.push(begun..index + 1),
                _ => {}
            }
        }
        all
    }

    /// The blocks of a function, in order.
    pub(crate) fn blocks(&self, function: &Range<usize>) -> Vec<Block> {
        let mut all = Vec::new();
        let mut begun = None;
        for index in function.clone() {
            let Some(inst) = self.insts.get(index) else { break };
            if let (Op::Label, Some(label)) = (inst.op(), inst.code.result_id) {
                begun = Some((label, index));
            } else if is_terminator(inst.op()) {
                if let Some((label, begun)) = begun.take() {
                    all.push(Block { label, range: begun..index + 1 });
                }
            }
        }
        all
    }

    /// The function around an instruction, and the block, where it is in one.
    pub(crate) fn block_of(&self, index: usize) -> Option<(Range<usize>, Block)> {
        let function = self.functions().into_iter().find(|function| function.contains(&index))?;
        let block = self.blocks(&function).into_iter().find(|block| block.range.contains(&index))?;
        Some((function, block))
    }

    /// The block with this label, with its function.
    pub(crate) fn labelled(&self, label: Word) -> Option<(Range<usize>, Block)> {
        let index = self
            .insts
            .iter()
            .position(|inst| inst.op() == Op::Label && inst.code.result_id == Some(label))?;
        self.block_of(index)
    }

    /// The last instruction of a block.
    pub(crate) fn terminator(&self, block: &Block) -> Option<&Inst> {
        self.insts.get(block.range.end.checked_sub(1)?)
    }

    /// The index of the merge instruction of a block, if it has one.
    pub(crate) fn merge_at(&self, block: &Block) -> Option<usize> {
        let before = block.range.end.checked_sub(2).filter(|index| *index > block.range.start)?;
        matches!(self.insts.get(before)?.op(), Op::SelectionMerge | Op::LoopMerge).then_some(before)
    }
}

/// Whether an instruction ends a block.
pub(crate) fn is_terminator(op: Op) -> bool {
    // That of cooperative ray tracing and meshes among them.
    is_block_terminator(op)
}

/// The labels that a terminator goes to, in the order of its operands.
pub(crate) fn targets(terminator: &Inst) -> Vec<Word> {
    let skipped = match terminator.op() {
        Op::Branch => 0,
        // The condition, or the selector.
        Op::BranchConditional | Op::Switch => 1,
        _ => return Vec::new(),
    };
    terminator.code.operands.iter().skip(skipped).filter_map(Operand::id_ref_any).collect()
}
