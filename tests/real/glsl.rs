//! GLSL, compiled by glslang as Debian has it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::catalogue::Entry;

const COMPILER: &str = "glslangValidator";

pub fn is_installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        let mut command = Command::new(COMPILER);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok()
    })
}

/// The words of the module.
pub fn compile(source: &Path, entry: &Entry, scratch: &Path) -> Result<Vec<u32>, String> {
    let text = std::fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))?;
    let stem = entry.name.replace('/', "-");
    let (input, output) = (scratch.join(format!("{stem}.comp")), scratch.join(format!("{stem}.glslang.spv")));
    std::fs::write(&input, with_includes(&text)).map_err(|error| error.to_string())?;
    let mut command = Command::new(COMPILER);
    command.args(["-V", "--target-env", "vulkan1.2"]);
    if let Some(folder) = source.parent() {
        command.arg(format!("-I{}", folder.display()));
    }
    command.args(entry.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
    let result = command
        .arg("-o")
        .arg(&output)
        .arg(&input)
        .output()
        .map_err(|error| format!("{COMPILER}: {error}"))?;
    if !result.status.success() {
        return Err(String::from_utf8_lossy(&result.stdout).trim().to_owned());
    }
    let bytes = std::fs::read(&output).map_err(|error| error.to_string())?;
    Ok(bytes.chunks_exact(4).map(|word| word.iter().rev().fold(0, |a, b| a << 8 | u32::from(*b))).collect())
}

/// The source with includes allowed, as glslc has it by default.
fn with_includes(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let version = lines.iter().position(|line| line.starts_with("#version"));
    lines.insert(version.map_or(0, |line| line + 1), "#extension GL_GOOGLE_include_directive : require");
    lines.join("\n")
}
