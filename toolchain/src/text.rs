//! Assembly text to binary and back.

use std::ffi::c_char;

use crate::context::{Binary, Context};
use crate::diagnostic::{Diagnostic, RawDiagnostic};
use crate::ffi;
use crate::target_env::TargetEnv;

/// Assembles `text` into the words of a module, like `spirv-as --preserve-numeric-ids`: `%12` gets the
/// id 12, names get the free ids from 1 up.
///
/// The module's SPIR-V version is the highest one of `env`; without one, that which the comments at the
/// head of the text name, else that of the default environment.
///
/// # Errors
/// The assembler's message with line and column. It stops at the first error.
pub fn assemble(text: &str, env: Option<TargetEnv>) -> Result<Vec<u32>, Diagnostic> {
    let env = env.or_else(|| TargetEnv::from_text_header(text)).unwrap_or_default();
    let context = Context::new(env)?;
    let mut binary = Binary::null();
    let mut diagnostic = RawDiagnostic::null();
    // SAFETY: `text` is valid for its length (the assembler takes no terminator), and both results are
    // written to places that own what they receive.
    let code = unsafe {
        ffi::spvTextToBinaryWithOptions(
            context.as_ptr(),
            text.as_ptr().cast::<c_char>(),
            text.len(),
            ffi::TEXT_TO_BINARY_PRESERVE_NUMERIC_IDS,
            &mut binary.0,
            &mut diagnostic.0,
        )
    };
    match binary.to_words() {
        Some(words) if code == ffi::SUCCESS => Ok(words),
        _ => Err(diagnostic.of_text(code)),
    }
}

/// How [`disassemble_with`] writes a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisassembleOptions {
    /// Names from OpName and the common names of scalar types in place of numbers (`%uint`, `%main`);
    /// without it the text, assembled again, has the same ids.
    pub friendly_names: bool,
    /// Result ids are aligned into a column.
    pub indent: bool,
    /// Four or five comment lines with version, generator and bound come first.
    pub header: bool,
    /// Comments explain decorations and sections.
    pub comments: bool,
}

impl Default for DisassembleOptions {
    /// As spirv-dis writes: friendly names, indented, with the header.
    fn default() -> Self {
        DisassembleOptions { friendly_names: true, indent: true, header: true, comments: false }
    }
}

impl DisassembleOptions {
    /// Numeric ids, with the header: [`assemble`] gives the same words back (but for the generator's
    /// number in the header, which becomes the assembler's).
    pub const RAW: DisassembleOptions =
        DisassembleOptions { friendly_names: false, indent: true, header: true, comments: false };

    fn bits(self) -> u32 {
        let mut bits = 0;
        if self.friendly_names {
            bits |= ffi::BINARY_TO_TEXT_FRIENDLY_NAMES;
        }
        if self.indent {
            bits |= ffi::BINARY_TO_TEXT_INDENT;
        }
        if !self.header {
            bits |= ffi::BINARY_TO_TEXT_NO_HEADER;
        }
        if self.comments {
            bits |= ffi::BINARY_TO_TEXT_COMMENT;
        }
        bits
    }
}

/// The text that spirv-dis prints for a module by default. One line an instruction, in module order.
///
/// # Errors
/// See [`disassemble_with`].
pub fn disassemble(words: &[u32]) -> Result<String, Diagnostic> {
    disassemble_with(words, DisassembleOptions::default())
}

/// Disassembles a module (of either endianness).
///
/// # Errors
/// The message and the number of the first instruction that cannot be decoded.
pub fn disassemble_with(words: &[u32], options: DisassembleOptions) -> Result<String, Diagnostic> {
    let context = Context::new(TargetEnv::default())?;
    let mut text = OwnedText(std::ptr::null_mut());
    let mut diagnostic = RawDiagnostic::null();
    // SAFETY: `words` is valid for its length, and both results are written to places that own what
    // they receive.
    let code = unsafe {
        ffi::spvBinaryToText(
            context.as_ptr(),
            words.as_ptr(),
            words.len(),
            options.bits(),
            &mut text.0,
            &mut diagnostic.0,
        )
    };
    match text.to_string() {
        Some(text) if code == ffi::SUCCESS => Ok(text),
        _ => Err(diagnostic.of_binary(code)),
    }
}

/// A text that the library allocated. May be null.
struct OwnedText(*mut ffi::Text);

impl OwnedText {
    fn to_string(&self) -> Option<String> {
        // SAFETY: null, or an object of the library that lives until `self` is dropped.
        let text = unsafe { self.0.as_ref() }?;
        if text.data.is_null() {
            return None;
        }
        // SAFETY: `data` points to `length` bytes owned by `text`.
        let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

impl Drop for OwnedText {
    fn drop(&mut self) {
        // SAFETY: null (ignored) or an object that the library allocated, destroyed once.
        unsafe { ffi::spvTextDestroy(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Position;

    const MODULE: &str = "OpCapability Shader\n\
                          OpMemoryModel Logical GLSL450\n\
                          OpName %7 \"answer\"\n\
                          %type = OpTypeInt 32 0\n\
                          %7 = OpConstant %type 42\n";

    #[test]
    fn numeric_ids_are_kept_and_survive_a_round_trip() {
        let words = assemble(MODULE, None).unwrap();
        let raw = disassemble_with(&words, DisassembleOptions::RAW).unwrap();
        assert!(raw.contains("%7 = OpConstant %1 42"), "{raw}");
        assert_eq!(assemble(&raw, None).unwrap(), words);
    }

    #[test]
    fn default_text_has_friendly_names() {
        let text = disassemble(&assemble(MODULE, None).unwrap()).unwrap();
        assert!(text.contains("%answer = OpConstant %uint 42"), "{text}");
        assert!(text.starts_with("; SPIR-V"), "{text}");
    }

    #[test]
    fn version_follows_the_environment_then_the_header() {
        let version = |text: &str, env| assemble(text, env).unwrap()[1];
        assert_eq!(version(MODULE, None), 0x0001_0600);
        assert_eq!(version(MODULE, Some(TargetEnv::Vulkan1_1)), 0x0001_0300);
        let with_header = format!("; Version: 1.4\n{MODULE}");
        assert_eq!(version(&with_header, None), 0x0001_0400);
        assert_eq!(version(&with_header, Some(TargetEnv::Universal1_5)), 0x0001_0500);
    }

    #[test]
    fn errors_point_at_line_and_column_from_one() {
        let error = assemble("OpCapability Shader\n  OpNonsense\n", None).unwrap_err();
        assert_eq!(error.position, Position::Text { line: 2, column: 3 });
        assert!(error.message.contains("OpNonsense"), "{error}");
    }

    #[test]
    fn malformed_binaries_are_errors() {
        assert!(disassemble(&[]).is_err());
        let mut words = assemble(MODULE, None).unwrap();
        words.pop();
        let error = disassemble(&words).unwrap_err();
        assert!(matches!(error.position, Position::Instruction(_)), "{error:?}");
        assert!(!error.message.is_empty());
    }
}
