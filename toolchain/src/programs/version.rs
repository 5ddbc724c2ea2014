//! The version of spirv-opt.

use crate::process;
use crate::program_error::ProgramError;

const SPIRV_OPT: &str = "spirv-opt";

pub fn version() -> Result<String, ProgramError> {
    let details = version_details()?;
    let version = details.split_whitespace().find(|word| word.starts_with("v20"));
    version.map(str::to_owned).ok_or(ProgramError::Output { program: SPIRV_OPT, expected: "version" })
}

pub fn version_details() -> Result<String, ProgramError> {
    let ended = process::run(SPIRV_OPT, &["--version".to_owned()], &[])?;
    // Some versions write it to standard error.
    let text = format!("{}\n{}", String::from_utf8_lossy(&ended.output), ended.messages);
    let line = text.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned());
    line.ok_or(ProgramError::Output { program: SPIRV_OPT, expected: "version" })
}
