//! What the assembler, the disassembler and the validator say about a module.

use std::fmt;

use crate::ProgramError;

/// Where a diagnostic points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Nowhere in particular.
    Unknown,
    /// A place in text; both are counted from 1.
    Text {
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
    },
    /// An instruction of a binary, counted from 1 in module order (the header is none). It is the line
    /// of the instruction in [`disassemble`](crate::disassemble)'s text where the header is left out.
    Instruction(usize),
}

/// An error message of SPIRV-Tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where the error is; [`Position::Unknown`] where the library names no place.
    pub position: Position,
    /// The library's own words, without a trailing line break.
    pub message: String,
    /// The module was not judged, because a program of SPIRV-Tools is missing or did not run to its end.
    /// This is always `None` with the feature `bundled`.
    pub program: Option<ProgramError>,
}

impl From<ProgramError> for Diagnostic {
    fn from(error: ProgramError) -> Self {
        Diagnostic { position: Position::Unknown, message: error.to_string(), program: Some(error) }
    }
}

impl Diagnostic {
    /// A diagnostic without a position.
    pub fn message(message: impl Into<String>) -> Self {
        Diagnostic::at(Position::Unknown, message)
    }

    pub(crate) fn at(position: Position, message: impl Into<String>) -> Self {
        Diagnostic { position, message: message.into(), program: None }
    }

    /// The line in text, from 1.
    pub fn line(&self) -> Option<usize> {
        match self.position {
            Position::Text { line, .. } => Some(line),
            Position::Unknown | Position::Instruction(_) => None,
        }
    }

    /// The number of the instruction in a binary, from 1.
    pub fn instruction(&self) -> Option<usize> {
        match self.position {
            Position::Instruction(number) => Some(number),
            Position::Unknown | Position::Text { .. } => None,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Position::Unknown => f.write_str(&self.message),
            Position::Text { line, column } => write!(f, "{line}:{column}: {}", self.message),
            Position::Instruction(number) => write!(f, "instruction {number}: {}", self.message),
        }
    }
}

impl std::error::Error for Diagnostic {}
