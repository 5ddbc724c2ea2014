//! Binaries: byte order, header, and the split into instructions (SPIR-V specification 2.3,
//! "Physical Layout of a SPIR-V Module and Instruction").

use rspirv::spirv::MAGIC_NUMBER;

use super::error::ReadError;
use super::instruction::{results, Entry};

const HEADER_WORDS: usize = 5;

/// The words of a binary in the machine's byte order; `None` if the bytes do not start with the
/// magic number in either byte order.
pub(super) fn words_of(bytes: &[u8], file: &str) -> Result<Option<Vec<u32>>, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::NotSpirv { file: file.to_owned(), why: "it is empty".to_owned() });
    }
    let mut chunks = bytes.chunks_exact(4).filter_map(|chunk| <[u8; 4]>::try_from(chunk).ok());
    let read: fn([u8; 4]) -> u32 = match chunks.next() {
        Some(first) if u32::from_le_bytes(first) == MAGIC_NUMBER => u32::from_le_bytes,
        Some(first) if u32::from_be_bytes(first) == MAGIC_NUMBER => u32::from_be_bytes,
        Some(_) | None => return Ok(None),
    };
    if !bytes.len().is_multiple_of(4) {
        return Err(malformed(
            file,
            format!("its size of {} bytes is no multiple of 4; it may be truncated", bytes.len()),
        ));
    }
    Ok(Some(std::iter::once(MAGIC_NUMBER).chain(chunks.map(read)).collect()))
}

/// Splits a binary into instructions.
pub(super) fn decode(words: &[u32], file: &str) -> Result<Vec<Entry>, ReadError> {
    if words.len() < HEADER_WORDS {
        return Err(malformed(
            file,
            format!("its header of {HEADER_WORDS} words is cut off after {}", words.len()),
        ));
    }
    let mut entries = Vec::new();
    let mut at = HEADER_WORDS;
    while let Some(&first) = words.get(at) {
        let opcode = (first & 0xffff) as u16;
        let count = (first >> 16) as usize;
        let end = at + count;
        if count == 0 || end > words.len() {
            let why = if count == 0 { "has no words" } else { "runs past the end of the file" };
            return Err(malformed(file, format!("instruction {} at word {at} {why}", entries.len() + 1)));
        }
        let (has_type, has_result) = results(opcode);
        let mut next = at + 1;
        let mut take = |wanted: bool| -> Result<Option<u32>, ReadError> {
            if !wanted {
                return Ok(None);
            }
            let word = words.get(next..end).and_then(|rest| rest.first()).copied();
            next += 1;
            word.map(Some).ok_or_else(|| {
                malformed(file, format!("instruction {} at word {at} is too short", entries.len() + 1))
            })
        };
        let result_type = take(has_type)?;
        let result = take(has_result)?;
        entries.push(Entry { opcode, result_type, result, operands: next..end });
        at = end;
    }
    Ok(entries)
}

fn malformed(file: &str, message: String) -> ReadError {
    ReadError::Malformed { file: file.to_owned(), message }
}
