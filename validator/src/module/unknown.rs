//! The text of modules that have instructions or capabilities which the disassembler does not know: those of newer
//! versions, which another validator accepts.

use rspirv::spirv::{Capability, Op};

use super::instruction::Entry;
use super::{tools, ReadError};

/// Words of a module header.
const HEADER: usize = 5;

/// A capability of the same length as every other.
const STAND_IN: Capability = Capability::Shader;

/// The text, in which the line of an unknown instruction is `OpNop` with its number in a comment, and that of an unknown
/// capability has its number.
pub(super) fn disassemble(words: &[u32], entries: &[Entry], name: &str) -> Result<String, ReadError> {
    let mut known = words.get(..HEADER).unwrap_or_default().to_vec();
    let mut marks = Vec::new();
    let mut rest = words.get(HEADER..).unwrap_or_default();
    for number in 0..entries.len() {
        let Some(first) = rest.first().copied() else { break };
        let length = usize::try_from(first >> 16).unwrap_or(1).max(1);
        let Some((instruction, behind)) = rest.split_at_checked(length) else { break };
        rest = behind;
        let opcode = first & 0xffff;
        let capability = instruction.get(1).copied().filter(|_| opcode == Op::Capability as u32);
        if Op::from_u32(opcode).is_none() {
            known.push(1 << 16 | Op::Nop as u32);
            marks.push((number, format!("OpNop ; opcode {opcode}")));
        } else if let Some(unknown) = capability.filter(|number| Capability::from_u32(*number).is_none()) {
            known.extend([first, STAND_IN as u32]);
            marks.push((number, format!("OpCapability {unknown}")));
        } else {
            known.extend(instruction);
        }
    }
    let text = tools::disassemble(&known, name)?;
    // Disassemblies have one instruction on each line that is no comment.
    let mut number = 0;
    let mut marks = marks.into_iter().peekable();
    let mut marked = String::with_capacity(text.len());
    for line in text.lines() {
        let is_comment = line.trim_start().starts_with(';') || line.trim().is_empty();
        match marks.next_if(|(at, _)| *at == number && !is_comment) {
            Some((_, mark)) => {
                let indent = line.len() - line.trim_start().len();
                marked.extend(std::iter::repeat_n(' ', indent));
                marked.push_str(&mark);
            }
            None => marked.push_str(line),
        }
        marked.push('\n');
        number += usize::from(!is_comment);
    }
    Ok(marked)
}
