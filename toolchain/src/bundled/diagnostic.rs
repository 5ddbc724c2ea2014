//! Diagnostics that the library allocates.

use std::ffi::CStr;

use super::ffi;
use crate::diagnostic::{Diagnostic, Position};

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
        Diagnostic::at(position(raw.position), message)
    }
}

impl Drop for RawDiagnostic {
    fn drop(&mut self) {
        // SAFETY: null (ignored) or an object that the library allocated, destroyed once.
        unsafe { ffi::spvDiagnosticDestroy(self.0) }
    }
}
