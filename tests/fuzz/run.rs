//! Runs the command.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::require::{skipped, Need};
use crate::schema;

pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The program: that of this build, or the one that the variable names.
pub fn program() -> OsString {
    std::env::var_os("SPIRV_TV_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_spirv-tv").into())
}

/// What `fuzz driver` prints with these words, and its exit code.
pub fn fuzz(words: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(program());
    command.args(["fuzz", "driver"]).args(words).current_dir(ROOT).env("SPIRV_TV", program());
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
    schema::assert_described(&object);
    (object, code)
}

/// Whether there is a device; says so where there is none.
pub fn has_device() -> bool {
    let mut command = Command::new(program());
    let output = command.args(["run", "--features"]).output().unwrap();
    if output.status.code() != Some(0) {
        let why = String::from_utf8_lossy(&output.stderr);
        skipped(Need::Device, &format!("there is no Vulkan device ({})", why.trim()));
        return false;
    }
    true
}
