//! What can go wrong while reading a module.

use spirv_tv_toolchain::ProgramError;

use crate::ir::Line;

/// Why a module could not be read. All of these end the program with exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read, or is too long.
    #[error("{file}: {source}")]
    Io {
        /// Its path; `-` for standard input.
        file: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// Neither a binary nor text.
    #[error("{file}: not a SPIR-V module: {why}")]
    NotSpirv {
        /// What the user calls the module.
        file: String,
        /// Why it is neither.
        why: String,
    },
    /// A binary whose instructions cannot be told apart, or that does not disassemble.
    #[error("{file}: malformed SPIR-V binary: {message}")]
    Malformed {
        /// What the user calls the module.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// Text that does not assemble.
    #[error("{file}:{line}:{column}: {message}")]
    Assemble {
        /// What the user calls the module.
        file: String,
        /// The line of the mistake, 1-based.
        line: Line,
        /// The column of the mistake, 1-based.
        column: u32,
        /// What is wrong there.
        message: String,
    },
    /// The validator objects.
    #[error("{file}:{objection} ({}--lenient goes on in spite of the validator)", allowed_by(.flag))]
    Invalid {
        /// What the user calls the module.
        file: String,
        /// What it objects to.
        objection: ValidationMessage,
        /// The flag of spirv-val's that permits it.
        flag: Option<&'static str>,
    },
    /// A program of SPIRV-Tools gave no answer: this says nothing of the module.
    #[error("{file}: {source}")]
    Program {
        /// What the user calls the module.
        file: String,
        /// Which program, and what became of it.
        #[source]
        source: ProgramError,
    },
}

fn allowed_by(flag: &Option<&'static str>) -> String {
    flag.map_or_else(String::new, |flag| format!("{flag} permits it, "))
}

impl ReadError {
    /// Says more about a binary that does not disassemble.
    pub(super) fn with(self, more: Option<String>) -> Self {
        match (self, more) {
            (ReadError::Malformed { file, message }, Some(more)) => {
                ReadError::Malformed { file, message: format!("{message}; {more}") }
            }
            (error, _) => error,
        }
    }
}

/// What the validator objects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationMessage {
    /// The line of the instruction, or 0.
    pub line: Line,
    /// spirv-val's own words.
    pub message: String,
}

impl std::fmt::Display for ValidationMessage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line != 0 {
            write!(formatter, "{}: ", self.line)?;
        } else {
            write!(formatter, " ")?;
        }
        write!(formatter, "spirv-val: {}", self.message)
    }
}
