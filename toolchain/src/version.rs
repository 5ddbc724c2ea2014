//! The version of SPIRV-Tools.

use crate::backend;
use crate::program_error::ProgramError;

/// The version of the optimiser, e.g. `v2025.3`.
///
/// # Errors
/// The program spirv-opt cannot be asked. This does not occur with the feature `bundled`.
pub fn spirv_opt_version() -> Result<String, ProgramError> {
    backend::version()
}

/// The version with the commit and the date, as `spirv-opt --version` prints it.
///
/// # Errors
/// See [`spirv_opt_version`].
pub fn spirv_opt_version_details() -> Result<String, ProgramError> {
    backend::version_details()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_details_contain_the_version() {
        let version = super::spirv_opt_version().unwrap();
        assert!(version.starts_with("v20"), "{version}");
        assert!(super::spirv_opt_version_details().unwrap().contains(&version));
    }
}
