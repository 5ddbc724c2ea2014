//! Assembly text to binary and back.

use std::ffi::c_char;

use super::context::{Binary, Context};
use super::diagnostic::RawDiagnostic;
use super::ffi;
use crate::diagnostic::Diagnostic;
use crate::target_env::TargetEnv;
use crate::text::DisassembleOptions;

pub fn assemble(text: &str, env: TargetEnv) -> Result<Vec<u32>, Diagnostic> {
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

pub fn disassemble(words: &[u32], options: DisassembleOptions) -> Result<String, Diagnostic> {
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
            bits(options),
            &mut text.0,
            &mut diagnostic.0,
        )
    };
    match text.to_string() {
        Some(text) if code == ffi::SUCCESS => Ok(text),
        _ => Err(diagnostic.of_binary(code)),
    }
}

fn bits(options: DisassembleOptions) -> u32 {
    let mut bits = 0;
    if options.friendly_names {
        bits |= ffi::BINARY_TO_TEXT_FRIENDLY_NAMES;
    }
    if options.indent {
        bits |= ffi::BINARY_TO_TEXT_INDENT;
    }
    if !options.header {
        bits |= ffi::BINARY_TO_TEXT_NO_HEADER;
    }
    if options.comments {
        bits |= ffi::BINARY_TO_TEXT_COMMENT;
    }
    bits
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
