//! The version of the SPIRV-Tools that are compiled in.

use std::ffi::{c_char, CStr};

use crate::ffi;

/// The version, e.g. `v2025.3`.
pub fn spirv_opt_version() -> String {
    // SAFETY: has no preconditions; the string is static.
    read(unsafe { ffi::spvSoftwareVersionString() })
}

/// The version with the commit, as `spirv-opt --version` prints it.
pub fn spirv_opt_version_details() -> String {
    // SAFETY: has no preconditions; the string is static.
    read(unsafe { ffi::spvSoftwareVersionDetailsString() })
}

fn read(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: both callers pass a static, null-terminated string of the library.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn version_is_that_of_the_crate() {
        assert!(super::spirv_opt_version().starts_with("v20"));
        assert!(super::spirv_opt_version_details().contains(&super::spirv_opt_version()));
    }
}
