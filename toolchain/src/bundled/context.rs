//! Owners of the objects that the C interface hands out.

use std::ptr::NonNull;

use super::ffi;
use crate::diagnostic::Diagnostic;
use crate::target_env::TargetEnv;

/// A tool context for one target environment.
pub struct Context(NonNull<ffi::Context>);

impl Context {
    pub fn new(env: TargetEnv) -> Result<Self, Diagnostic> {
        // SAFETY: takes any environment number; `TargetEnv` only holds those of the bundled version.
        let raw = unsafe { ffi::spvContextCreate(env.raw()) };
        NonNull::new(raw)
            .map(Context)
            .ok_or_else(|| Diagnostic::message(format!("SPIRV-Tools has no target environment {env}")))
    }

    pub fn as_ptr(&self) -> *const ffi::Context {
        self.0.as_ptr()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `spvContextCreate` and is destroyed once.
        unsafe { ffi::spvContextDestroy(self.0.as_ptr()) }
    }
}

/// A module that the library allocated. May be null.
pub struct Binary(pub *mut ffi::Binary);

impl Binary {
    pub fn null() -> Self {
        Binary(std::ptr::null_mut())
    }

    /// The words, copied; `None` where the library handed none out.
    pub fn to_words(&self) -> Option<Vec<u32>> {
        // SAFETY: null, or an object of the library that lives until `self` is dropped.
        let binary = unsafe { self.0.as_ref() }?;
        if binary.code.is_null() {
            return None;
        }
        // SAFETY: `code` points to `word_count` initialised words owned by `binary`.
        Some(unsafe { std::slice::from_raw_parts(binary.code, binary.word_count) }.to_vec())
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        // SAFETY: null (ignored) or an object that the library allocated, destroyed once.
        unsafe { ffi::spvBinaryDestroy(self.0) }
    }
}
