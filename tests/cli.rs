//! Command-line tests as data: `tests/cli/*.trycmd` are sessions, with what they must print.
//! `TRYCMD=overwrite cargo test --test cli` writes what they do print.

#[allow(dead_code, reason = "most of it is for tests/schema.rs")]
#[path = "support/schema.rs"]
mod schema;

use std::process::Command;

#[test]
fn sessions() {
    // They run in the folder of the library; modules lie in `../corpus` and `../tests/cli`.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the folder is there");
    trycmd::TestCases::new().case("../tests/cli/*.trycmd");
}

#[test]
fn a_saved_pair_violates_again() {
    let spirv_tv = env!("CARGO_BIN_EXE_spirv-tv");
    let folder = tempfile::tempdir().unwrap();
    let pair = |name: &str| format!("{}/../../tests/cli/{name}.spvasm", env!("CARGO_MANIFEST_DIR"));
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

/// With all of them away from their defaults.
#[test]
fn a_saved_pair_is_replayed_with_every_choice() {
    let spirv_tv = env!("CARGO_BIN_EXE_spirv-tv");
    let folder = tempfile::tempdir().unwrap();
    let pair = |name: &str| format!("{}/../../tests/cli/{name}.spvasm", env!("CARGO_MANIFEST_DIR"));
    let options = "--revision 2024 --no-chains --races keep --hang strict --legacy coherent --float ulp:3 \
        --reconvergence structural --spin-bound 17 --max-instructions 123456 --max-executions 54321 \
        --max-memory 900M --timeout 500 --ignore new-race,new-hang --self-check --both-ways --all --verify-engine \
        --all-executions --without symmetry --spec-may-freeze no --out-of-bounds robust2 --after-out-of-bounds robust \
        --relax-block-layout --target-env spv1.5 --max-struct-members 99 \
        --entry second --workgroups 2 --local-size 2 --subgroup-size 4 --seed 7";
    let saved = Command::new(spirv_tv)
        .args(["check", &pair("two-entries"), &pair("two-entries-wrong")])
        .args(options.split_whitespace())
        .arg("--save-failing")
        .arg(folder.path())
        .status()
        .unwrap();
    assert_eq!(saved.code(), Some(1));
    let place = folder.path().join("1");
    let line = std::fs::read_to_string(place.join("command.txt")).unwrap();
    let words = line.split_whitespace().skip(1).chain(["--format", "json"]);
    let replayed = Command::new(spirv_tv).args(words).current_dir(&place).output().unwrap();
    assert_eq!(replayed.status.code(), Some(1), "{line}{}", String::from_utf8_lossy(&replayed.stderr));
    let read = |bytes: &[u8]| {
        let mut report = schema::parsed(std::str::from_utf8(bytes).unwrap()).unwrap();
        // The only input is the one that violates.
        report["choices"]["inputs"]["count"] = 1.into();
        (report["choices"].take(), report["runs"][0]["violation"]["kind"].take())
    };
    assert_eq!(read(&replayed.stdout), read(&std::fs::read(place.join("report.json")).unwrap()), "{line}");
    // Flags that are no choices.
    for flag in [
        "--self-check",
        "--both-ways",
        "--all",
        "--verify-engine",
        "--relax-block-layout",
        "=99",
        "--all-executions",
        "--without symmetry",
    ] {
        assert!(line.contains(flag), "{flag} is lost: {line}");
    }
}

#[test]
fn the_documents_show_what_is_printed() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let read = |page: &str| std::fs::read_to_string(format!("{root}/{page}")).unwrap();
    let run = |page: &str, line: &str| {
        assert!(read(page).contains(line), "{page} has no `{line}`");
        let words = line.split_whitespace();
        let output = Command::new(env!("CARGO_BIN_EXE_spirv-tv")).args(words).current_dir(root).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    for (page, line) in [
        (
            "README.md",
            "check corpus/pairs/store-sunk-below-release/before.spvasm corpus/pairs/store-sunk-below-release/after.spvasm",
        ),
        ("docs/usage.md", "outcomes corpus/pairs/store-sunk-below-release/before.spvasm"),
        ("docs/litmus.md", "litmus corpus/litmus/thin-air-allowed.litmus --outcomes"),
    ] {
        let printed = run(page, line);
        assert!(!printed.is_empty() && read(page).contains(&printed), "{line} prints\n{printed}");
    }
    let usage = read("docs/usage.md");
    let printed = run(
        "docs/usage.md",
        "opt corpus/findings/aliased-loads-merged/before.spvasm --ccp --redundancy-elimination --simplify-instructions",
    );
    for row in printed.lines().take_while(|row| !row.is_empty()) {
        // Times differ from run to run, and the width of their column with them.
        let timed = row.ends_with(" ms") || row.ends_with("  time");
        let untimed = if timed { row.rsplit_once("  ").map_or(row, |(row, _)| row.trim_end()) } else { row };
        assert!(usage.contains(untimed), "{row}");
    }
}

#[test]
fn explanations_are_what_is_printed() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let page = std::fs::read_to_string(format!("{root}/docs/explanations.md")).unwrap();
    let blocks: Vec<&str> = page
        .split("```console\n$ spirv-tv ")
        .skip(1)
        .map(|block| block.split("```").next().unwrap_or_default())
        .collect();
    assert_eq!(blocks.len(), 6);
    for block in blocks {
        let (line, shown) = block.split_once('\n').unwrap();
        let words = line.split_whitespace();
        let output = Command::new(env!("CARGO_BIN_EXE_spirv-tv")).args(words).current_dir(root).output();
        let printed = String::from_utf8(output.unwrap().stdout).unwrap();
        let mut rest = printed.as_str();
        for part in shown.split("[...]\n") {
            let Some(at) = rest.find(part) else { panic!("{line} prints\n{printed}and not\n{part}") };
            rest = &rest[at + part.len()..];
        }
    }
}
