//! The text of a module, and the lines that the instructions of a binary have in its disassembly.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use rspirv::spirv::{Decoration, Op};

use super::instruction::{Entry, Instruction};
use crate::ir::Line;

/// The text that lines refer to: the user's own, or a disassembly, which is made once somebody asks for it.
#[derive(Clone, Debug, Default)]
pub struct Text(Arc<Lazy>);

#[derive(Debug, Default)]
struct Lazy {
    /// Of the module; none where the text is there from the beginning.
    words: Vec<u32>,
    text: OnceLock<String>,
}

impl Text {
    /// The disassembly of words that are known to be a module.
    pub(super) fn disassembly(words: &[u32]) -> Self {
        Text(Arc::new(Lazy { words: words.to_vec(), text: OnceLock::new() }))
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        self.0.text.get_or_init(|| spirv_tv_toolchain::disassemble(&self.0.words).unwrap_or_default())
    }

    /// Whether nobody has asked for it yet.
    #[cfg(test)]
    pub(super) fn is_pending(&self) -> bool {
        self.0.text.get().is_none()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(Arc::new(Lazy { words: Vec::new(), text: OnceLock::from(text) }))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

/// Comment lines at the head of a disassembly.
const HEADER: Line = 5;

/// The lines of a module's instructions in its disassembly: one for each. None where a string that goes over several
/// lines is not out of the question.
pub(super) fn lines(words: &[u32], entries: &[Entry]) -> Option<Vec<Line>> {
    let on_one_line = |(index, entry): (usize, &Entry)| {
        let operands = words.get(entry.operands.clone()).unwrap_or(&[]);
        let instruction = Instruction {
            index,
            opcode: entry.opcode,
            result_type: entry.result_type,
            result: entry.result,
            operands,
            line: 0,
        };
        !may_hold_newline(&instruction)
    };
    let count = entries.len() as Line;
    entries.iter().enumerate().all(on_one_line).then(|| (HEADER + 1..=HEADER + count).collect())
}

/// The first opcode of those that extensions reserve.
const FIRST_RESERVED: u16 = 4096;

/// Whether a string of the instruction may hold a newline.
fn may_hold_newline(instruction: &Instruction<'_>) -> bool {
    let in_string = |position| instruction.string(position).is_none_or(|(text, _)| text.contains('\n'));
    let anywhere = || instruction.operands.iter().any(|word| word.to_le_bytes().contains(&b'\n'));
    let decoration_at = |position| {
        let is_core = |word: u32| word < Decoration::LinkageAttributes as u32;
        !instruction.word(position).is_some_and(is_core) && anywhere()
    };
    match instruction.op() {
        Some(
            Op::SourceContinued
            | Op::SourceExtension
            | Op::String
            | Op::Extension
            | Op::ExtInstImport
            | Op::ModuleProcessed,
        ) => in_string(0),
        Some(Op::Name) => in_string(1),
        Some(Op::MemberName | Op::EntryPoint) => in_string(2),
        Some(Op::Source) => instruction.operands.len() > 3 && in_string(3),
        Some(Op::Decorate) => decoration_at(1),
        Some(Op::MemberDecorate) => decoration_at(2),
        _ => instruction.opcode >= FIRST_RESERVED && anywhere(),
    }
}
