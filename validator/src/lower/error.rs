//! What lowering reports: constructs that the tool does not execute, and modules that make no sense.

use crate::ir::Line;

/// A construct that the tool does not execute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unsupported {
    pub line: Line,
    /// Its name as text has it, `OpImageRead` or `OpTypeFloat 16`.
    pub what: String,
}

/// Why a module cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// Everything unsupported that the entry point reaches, by line.
    #[error("{}", list_unsupported(.0))]
    Unsupported(Vec<Unsupported>),
    #[error("the module has no entry point")]
    NoEntryPoint,
    #[error("the module has several entry points: choose with --entry one of {}", .0.join(", "))]
    SeveralEntryPoints(Vec<String>),
    #[error("there is no entry point `{name}`; there are: {}", .known.join(", "))]
    UnknownEntryPoint { name: String, known: Vec<String> },
    /// A specialisation that the module does not allow.
    #[error("--spec {target}: {message}")]
    Specialisation { target: String, message: String },
    /// The module contradicts the specification.
    #[error("line {line}: {message}")]
    Invalid { line: Line, message: String },
}

fn list_unsupported(list: &[Unsupported]) -> String {
    let items: Vec<String> = list.iter().map(|item| format!("{} (line {})", item.what, item.line)).collect();
    format!("not supported: {}", items.join(", "))
}

/// Why a part of a module cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Not supported; empty where that was told before.
    Unsupported(Vec<Unsupported>),
    Invalid {
        line: Line,
        message: String,
    },
}

impl Problem {
    pub fn unsupported(what: impl Into<String>, line: Line) -> Self {
        Problem::Unsupported(vec![Unsupported { line, what: what.into() }])
    }

    pub fn invalid(line: Line, message: impl Into<String>) -> Self {
        Problem::Invalid { line, message: message.into() }
    }

    /// Memory of a type that nothing is said of: pointers may lead to any type.
    pub fn sizeless(line: Line) -> Self {
        Problem::unsupported("memory of OpTypeVoid or of a function type", line)
    }

    /// The problem of something that uses what was reported before.
    pub const fn reported() -> Self {
        Problem::Unsupported(Vec::new())
    }
}

/// Collects problems, so that everything unsupported is named at once.
#[derive(Debug, Default)]
pub(super) struct Problems {
    unsupported: Vec<Unsupported>,
    /// The first contradiction.
    invalid: Option<(Line, String)>,
}

impl Problems {
    pub fn add(&mut self, problem: Problem) {
        match problem {
            Problem::Unsupported(list) => self.unsupported.extend(list),
            Problem::Invalid { line, message } => {
                self.invalid.get_or_insert((line, message));
            }
        }
    }

    /// Keeps the value, or the problem.
    pub fn keep<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(problem)).ok()
    }

    /// What is unsupported comes first: it may be why the rest makes no sense.
    pub fn finish(mut self) -> Result<(), LowerError> {
        if !self.unsupported.is_empty() {
            self.unsupported.sort();
            self.unsupported.dedup();
            return Err(LowerError::Unsupported(self.unsupported));
        }
        match self.invalid {
            Some((line, message)) => Err(LowerError::Invalid { line, message }),
            None => Ok(()),
        }
    }
}
