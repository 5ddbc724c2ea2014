//! Command-line tests as data: `tests/cli/*.trycmd` are sessions, with what they must print.
//! `TRYCMD=overwrite cargo test --test cli` writes what they do print.

use std::process::Command;

#[test]
fn sessions() {
    // They run in the folder of this package; modules lie in `../corpus` and `../tests/cli`.
    trycmd::TestCases::new().case("../tests/cli/*.trycmd");
}

#[test]
fn a_saved_pair_violates_again() {
    let spirv_tv = env!("CARGO_BIN_EXE_spirv-tv");
    let folder = tempfile::tempdir().unwrap();
    let pair = |name: &str| format!("{}/../tests/cli/{name}.spvasm", env!("CARGO_MANIFEST_DIR"));
    let saved = Command::new(spirv_tv)
        .args(["check", &pair("two-entries"), &pair("two-entries-wrong"), "--scalar-block-layout"])
        .arg("--save-failing")
        .arg(folder.path())
        .status()
        .unwrap();
    assert_eq!(saved.code(), Some(1));
    let place = folder.path().join("1");
    let line = std::fs::read_to_string(place.join("command.txt")).unwrap();
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("spirv-tv"));
    let replayed = Command::new(spirv_tv).args(words).current_dir(&place).output().unwrap();
    assert_eq!(replayed.status.code(), Some(1), "{line}{}", String::from_utf8_lossy(&replayed.stderr));
    assert!(line.contains("--scalar-block-layout"));
}
