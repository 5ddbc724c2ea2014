//! The version of the SPIRV-Tools that are compiled in.

use std::ffi::{c_char, CStr};

use super::ffi;
use crate::program_error::ProgramError;

pub fn version() -> Result<String, ProgramError> {
    // SAFETY: has no preconditions; the string is static.
    Ok(read(unsafe { ffi::spvSoftwareVersionString() }))
}

pub fn version_details() -> Result<String, ProgramError> {
    // SAFETY: has no preconditions; the string is static.
    Ok(read(unsafe { ffi::spvSoftwareVersionDetailsString() }))
}

fn read(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: both callers pass a static, null-terminated string of the library.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
