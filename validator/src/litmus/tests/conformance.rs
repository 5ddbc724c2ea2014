//! The litmus tests of other projects are read without an error.

#[path = "../../../../tests/support/require.rs"]
mod require;

use std::path::{Path, PathBuf};

use crate::litmus::parse;
use require::{skipped, Need};

/// The files with the extension of a folder of other people's litmus tests, which lie beside the checkout; `None` where
/// they do not.
fn files(folder: &str, extension: &str) -> Option<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance").join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        skipped(Need::Shared, &format!("{} is not there", folder.display()));
        return None;
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    Some(paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect())
}

fn all_parse(folder: &str, extension: &str, least: usize) {
    let Some(files) = files(folder, extension) else { return };
    assert!(files.len() >= least, "{} files", files.len());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let test = parse(name, &text).unwrap_or_else(|error| panic!("{name}:{error}"));
        assert!(!test.expectations.is_empty(), "{name}");
        assert!(test.threads.iter().any(|thread| !thread.code.is_empty()), "{name}");
    }
}

#[test]
fn every_khronos_file_parses() {
    all_parse("khronos", "test", 89);
}

#[test]
fn every_herd_file_parses() {
    all_parse("herd", "litmus", 86);
}
