//! The front end: reads a module from `.spv` binary or `.spvasm` text, has it validated, and keeps
//! it as a flat list of instructions that each know their line.
//!
//! Binary and text are told apart by content. Text keeps its numeric ids, and its other ids stay
//! known by their name ([`Module::id_named`]). Lines are those of the text that the user gave; a
//! binary gets the lines of its disassembly, which [`Module::text`] holds.

mod binary;
mod canonical;
mod disassembly;
mod error;
mod instruction;
mod local_size;
mod mapping;
mod operands;
mod places;
mod text;
mod tools;
mod unknown;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

pub use canonical::{canonical, canonical_lines};
pub use disassembly::Text;
pub use error::{ReadError, ValidationMessage};
pub use instruction::{opcode_name, Instruction};
pub use mapping::{mapped, Mapping, MappingError};
pub use places::{Call, Place, Places};
pub use tools::ReadOptions;

use rspirv::spirv::Op;
use spirv_tv_toolchain::{TargetEnv, Validator};

use crate::files::{self, MAX_LENGTH};
use crate::ir::Line;
use instruction::Entry;

/// Versions that a text may be for, at whose end rules changed.
const OLDER_VERSIONS: [TargetEnv; 2] = [TargetEnv::Universal1_3, TargetEnv::Universal1_0];

/// A module as it was read: words, text, and the instructions in order.
#[derive(Clone, Debug)]
pub struct Module {
    /// What the user calls it: a path, or `-` for standard input.
    pub name: String,
    /// The binary, in the machine's byte order.
    pub words: Vec<u32>,
    /// The text that lines refer to.
    pub text: Text,
    /// Whether `text` is the user's own (otherwise it is the disassembly).
    pub from_text: bool,
    /// The validator's objection, where `lenient` made the reader go on in spite of it.
    pub objection: Option<ValidationMessage>,
    entries: Vec<Entry>,
    lines: Vec<Line>,
    /// Read off the text once somebody asks.
    id_names: OnceLock<BTreeMap<String, u32>>,
}

impl Module {
    /// Reads a file, or standard input for `-`.
    ///
    /// # Errors
    /// [`ReadError`] says what is wrong, where, and what to do about it.
    pub fn load(path: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        let fail = |source| ReadError::Io { file: path.to_owned(), source };
        let bytes = match path {
            "-" => files::read_from(std::io::stdin().lock(), MAX_LENGTH),
            path => files::read(Path::new(path), MAX_LENGTH),
        };
        Self::from_bytes(&bytes.map_err(fail)?, path, options)
    }

    /// Reads a module from bytes: a binary of either endianness, or text.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn from_bytes(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        match binary::words_of(bytes, name)? {
            Some(words) => Self::from_words(words, name, options),
            None => match std::str::from_utf8(bytes) {
                Ok(text) => Self::from_text(text, name, options),
                Err(_) => Err(ReadError::NotSpirv {
                    file: name.to_owned(),
                    why: "it starts with no SPIR-V magic number and is not UTF-8 text".to_owned(),
                }),
            },
        }
    }

    /// Reads a module from SPIR-V words.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn from_words(words: Vec<u32>, name: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        let entries = binary::decode(&words, name)?;
        let known = if options.is_valid { disassembly::lines(&words, &entries) } else { None };
        let (text, lines) = match known {
            Some(lines) => (Text::disassembly(&words), lines),
            None => {
                let text = match tools::disassemble(&words, name) {
                    // What another validator accepts may be newer than this disassembler.
                    Err(ReadError::Malformed { .. }) if options.validate_with != Validator::Own => {
                        unknown::disassemble(&words, &entries, name)
                    }
                    other => other,
                };
                let text: Text = text.map_err(|error| error.with(unknown_opcodes(&entries)))?.into();
                let lines = lines_in(&text, &entries);
                (text, lines)
            }
        };
        Self::finish(words, text, false, entries, lines, name, options)
    }

    /// Reads a module from assembly text. A text that does not say for which version of SPIR-V it
    /// is (header comment, [`ReadOptions::assemble_env`]) is for the newest in which it is valid:
    /// rules changed, such as what an entry point's interface lists.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn from_text(text: &str, name: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        let newest = Self::from_text_for(text, name, options);
        let is_said = options.assemble_env.is_some() || TargetEnv::from_text_header(text).is_some();
        let is_valid = newest.as_ref().is_ok_and(|module| module.objection.is_none());
        if is_said || is_valid {
            return newest;
        }
        let older = OLDER_VERSIONS.iter().find_map(|env| {
            let options = ReadOptions { assemble_env: Some(*env), lenient: false, ..options.clone() };
            Self::from_text_for(text, name, &options).ok()
        });
        older.map_or(newest, Ok)
    }

    fn from_text_for(text: &str, name: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        let words = tools::assemble(text, name, options)?;
        let entries = binary::decode(&words, name)?;
        let lines = lines_in(text, &entries);
        Self::finish(words, text.to_owned().into(), true, entries, lines, name, options)
    }

    fn finish(
        words: Vec<u32>,
        text: Text,
        from_text: bool,
        entries: Vec<Entry>,
        lines: Vec<Line>,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let name = name.to_owned();
        let id_names = OnceLock::new();
        let mut module = Module { name, words, text, from_text, objection: None, entries, lines, id_names };
        let objection = tools::validate(&module, options)
            .map_err(|source| ReadError::Program { file: module.name.clone(), source })?;
        if let Some(objection) = objection {
            if !options.lenient {
                let flag = tools::permitting_flag(&module, options, &objection);
                return Err(ReadError::Invalid { file: module.name, objection, flag });
            }
            module.objection = Some(objection);
        }
        Ok(module)
    }

    /// What the disassembler makes of it, whatever text it was read from.
    pub fn disassembly(&self) -> Option<String> {
        spirv_tv_toolchain::disassemble(&self.words).ok()
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no instruction at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The instruction at this index, in module order.
    pub fn instruction(&self, index: usize) -> Option<Instruction<'_>> {
        let entry = self.entries.get(index)?;
        Some(Instruction {
            index,
            opcode: entry.opcode,
            result_type: entry.result_type,
            result: entry.result,
            operands: self.words.get(entry.operands.clone()).unwrap_or(&[]),
            line: self.line(index),
        })
    }

    /// All instructions in module order.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'_>> {
        (0..self.len()).filter_map(|index| self.instruction(index))
    }

    /// The line of the instruction at this index; 0 where it is not known.
    pub fn line(&self, index: usize) -> Line {
        self.lines.get(index).copied().unwrap_or(0)
    }

    /// The names that the user's text has for ids, without the `%`; numbers are left out.
    pub fn id_names(&self) -> impl Iterator<Item = (&str, u32)> {
        let is_name = |name: &str| !name.chars().all(|character| character.is_ascii_digit());
        let names = self.from_text.then(|| self.known_names()).into_iter().flatten();
        let names = names.filter(move |(name, _)| is_name(name));
        names.map(|(name, &id)| (name.as_str(), id))
    }

    /// The id that the text calls `%name`, given with or without the `%`.
    pub fn id_named(&self, name: &str) -> Option<u32> {
        self.known_names().get(name.strip_prefix('%').unwrap_or(name)).copied()
    }

    fn known_names(&self) -> &BTreeMap<String, u32> {
        self.id_names.get_or_init(|| {
            let statements = text::scan(&self.text);
            if statements.len() != self.entries.len() {
                return BTreeMap::new();
            }
            let both = statements.iter().zip(&self.entries);
            both.filter_map(|(statement, entry)| Some((statement.result?.to_owned(), entry.result?)))
                .collect()
        })
    }
}

/// The lines of the instructions in a text.
fn lines_in(text: &str, entries: &[Entry]) -> Vec<Line> {
    let statements = text::scan(text);
    // Raw `!` words can hide instructions from the scan: then no line is better than a wrong one.
    if statements.len() != entries.len() {
        return Vec::new();
    }
    statements.iter().map(|statement| statement.line).collect()
}

/// The opcodes that the grammar lacks, with the first instruction of each; `None` if there are none.
fn unknown_opcodes(entries: &[Entry]) -> Option<String> {
    let mut unknown: BTreeMap<u16, usize> = BTreeMap::new();
    for (number, entry) in (1..).zip(entries) {
        if Op::from_u32(u32::from(entry.opcode)).is_none() {
            unknown.entry(entry.opcode).or_insert(number);
        }
    }
    let named = unknown.iter().map(|(opcode, number)| format!("{opcode} (first: instruction {number})"));
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| format!("opcodes that are not known here: {}", named.join(", ")))
}

#[cfg(test)]
mod tests;
