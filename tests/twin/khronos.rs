//! The twin's model on the litmus tests of the Khronos Alloy model, where they lie beside the checkout.

use std::path::Path;

use super::litmus;
use super::model::{ReadsFrom, Variant};
use super::require::{skipped, Need};

/// The empty choice where nothing reads, so that the product of sources is never empty by mistake.
#[test]
fn no_reads_give_one_choice() {
    assert_eq!(super::enumerate::reads_from(&[]), vec![ReadsFrom::new()]);
}

#[test]
fn the_twin_meets_the_khronos_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/khronos");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        skipped(Need::Shared, &format!("{} is not there", folder.display()));
        return;
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "test"));
    paths.sort();
    let mut surprises = Vec::new();
    let mut checked = 0;
    for path in &paths {
        let test = litmus::parse(&std::fs::read_to_string(path).unwrap());
        checked += test.expectations.len();
        let name = path.file_name().unwrap().to_string_lossy();
        surprises.extend(test.surprises(Variant::NEWEST).iter().map(|text| format!("{name}: {text}")));
    }
    assert!(paths.len() >= 80 && checked >= 100, "{} files, {checked} expectations", paths.len());
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}
