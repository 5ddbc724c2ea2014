//! Instructions as the front end hands them on: the opcode and its raw operand words.

use std::ops::Range;
use std::sync::OnceLock;

use rspirv::grammar::{OperandKind, INSTRUCTION_TABLE};
use rspirv::spirv::Op;

use crate::ir::Line;

/// Where an instruction lies in the words of its module.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub opcode: u16,
    pub result_type: Option<u32>,
    pub result: Option<u32>,
    pub operands: Range<usize>,
}

/// One instruction of a module.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'m> {
    /// Its place in module order, from 0.
    pub index: usize,
    /// The number of the opcode.
    pub opcode: u16,
    /// The id of the result type, where there is one.
    pub result_type: Option<u32>,
    /// The id of the result, where there is one.
    pub result: Option<u32>,
    /// The words after result type and result.
    pub operands: &'m [u32],
    /// 1-based; 0 where it is not known.
    pub line: Line,
}

impl<'m> Instruction<'m> {
    /// The opcode, if the grammar knows it.
    pub fn op(&self) -> Option<Op> {
        Op::from_u32(u32::from(self.opcode))
    }

    /// The opcode's name as text has it: `OpIAdd`.
    pub fn name(&self) -> String {
        opcode_name(u32::from(self.opcode))
    }

    /// The operand word at this position, after result type and result.
    pub fn word(&self, position: usize) -> Option<u32> {
        self.operands.get(position).copied()
    }

    /// The operand words from this position on.
    pub fn words_from(&self, position: usize) -> &'m [u32] {
        self.operands.get(position..).unwrap_or(&[])
    }

    /// The literal string that starts at this operand, and the position behind it.
    pub fn string(&self, position: usize) -> Option<(String, usize)> {
        let mut bytes = Vec::new();
        for (offset, word) in self.words_from(position).iter().enumerate() {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    return Some((String::from_utf8_lossy(&bytes).into_owned(), position + offset + 1));
                }
                bytes.push(byte);
            }
        }
        None
    }
}

/// The name of an opcode as text has it: `OpIAdd`, or `opcode 9999` where the grammar lacks it.
pub fn opcode_name(opcode: u32) -> String {
    match Op::from_u32(opcode) {
        Some(op) => format!("Op{op:?}"),
        None => format!("opcode {opcode}"),
    }
}

/// Whether instructions of this opcode have a result type and a result.
pub(super) fn results(opcode: u16) -> (bool, bool) {
    static TABLE: OnceLock<Vec<(bool, bool)>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table = Vec::new();
        for grammar in INSTRUCTION_TABLE.iter() {
            let opcode = grammar.opcode as usize;
            if table.len() <= opcode {
                table.resize(opcode + 1, (false, false));
            }
            let has = |kind| grammar.operands.iter().any(|operand| operand.kind == kind);
            if let Some(slot) = table.get_mut(opcode) {
                *slot = (has(OperandKind::IdResultType), has(OperandKind::IdResult));
            }
        }
        table
    });
    table.get(usize::from(opcode)).copied().unwrap_or((false, false))
}
