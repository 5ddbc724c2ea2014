//! Runs the command.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::require::{skipped, Need};

pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What `fuzz driver` prints with these words, and its exit code.
pub fn fuzz(words: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    command.args(["fuzz", "driver"]).args(words).current_dir(ROOT);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    (if text.is_empty() { said.into_owned() } else { text }, output.status.code())
}

/// The same as an object, with results in a folder.
pub fn object(words: &[&str], out: &Path) -> (Value, Option<i32>) {
    let out = out.display().to_string();
    let (text, code) = fuzz(&[words, &["--format", "json", "--out", &out]].concat());
    let object: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(object["schema"], "spirv-tv.fuzz/1");
    (object, code)
}

/// Whether there is a device; says so where there is none.
pub fn has_device() -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    let output = command.args(["run", "--features"]).output().unwrap();
    if output.status.code() != Some(0) {
        let why = String::from_utf8_lossy(&output.stderr);
        skipped(Need::Device, &format!("there is no Vulkan device ({})", why.trim()));
        return false;
    }
    true
}
