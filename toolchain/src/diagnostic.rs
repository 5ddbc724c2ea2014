//! What the assembler, the disassembler and the validator say about a module.

use std::ffi::CStr;
use std::fmt;

use crate::ffi;

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
}

impl Diagnostic {
    /// A diagnostic without a position.
    pub fn message(message: impl Into<String>) -> Self {
        Diagnostic { position: Position::Unknown, message: message.into() }
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

/// A diagnostic that the library allocated. May be null.
pub struct RawDiagnostic(pub *mut ffi::Diagnostic);

impl RawDiagnostic {
    pub fn null() -> Self {
        RawDiagnostic(std::ptr::null_mut())
    }

    /// The diagnostic of a call on text that failed with `code`.
    pub fn of_text(&self, code: i32) -> Diagnostic {
        // The library counts both from 0.
        self.read(code, |at| Position::Text { line: at.line + 1, column: at.column + 1 })
    }

    /// The diagnostic of a call on a binary that failed with `code`.
    pub fn of_binary(&self, code: i32) -> Diagnostic {
        self.read(code, |at| match at.index {
            0 => Position::Unknown,
            number => Position::Instruction(number),
        })
    }

    fn read(&self, code: i32, position: impl Fn(ffi::Position) -> Position) -> Diagnostic {
        // SAFETY: null, or an object of the library that lives until `self` is dropped.
        let Some(raw) = (unsafe { self.0.as_ref() }) else {
            return Diagnostic::message(format!("SPIRV-Tools failed with code {code} and no message"));
        };
        let message = if raw.error.is_null() {
            String::new()
        } else {
            // SAFETY: a null-terminated string owned by `raw`.
            unsafe { CStr::from_ptr(raw.error) }.to_string_lossy().trim_end().to_owned()
        };
        Diagnostic { position: position(raw.position), message }
    }
}

impl Drop for RawDiagnostic {
    fn drop(&mut self) {
        // SAFETY: null (ignored) or an object that the library allocated, destroyed once.
        unsafe { ffi::spvDiagnosticDestroy(self.0) }
    }
}
