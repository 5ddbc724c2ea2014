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
    // Of the report of the guilty pass the page shows nothing.
    let usage = read("docs/usage.md");
    let (_, shown) = usage.split_once("$ spirv-tv opt ").unwrap();
    let (line, shown) = shown.split_once('\n').unwrap();
    let printed = run("docs/usage.md", &format!("opt {line}"));
    shows(&printed, shown.split("```").next().unwrap());
}

/// A page shows what is printed, but for what stands at `[...]`.
fn shows(printed: &str, shown: &str) {
    let mut rest = printed;
    for part in shown.split("[...]\n") {
        let Some(at) = rest.find(part) else { panic!("what is printed is\n{printed}and not\n{part}") };
        rest = &rest[at + part.len()..];
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
        shows(&printed, shown);
    }
}

/// Where no terminal reads it, what `opt` prints is the same each time, unless times are asked for.
#[test]
fn opt_tells_times_where_they_are_asked_for() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let run = |more: &[&str]| {
        let words = ["opt", "tests/cli/copy.spvasm", "--strip-debug", "--ccp"];
        let output =
            Command::new(env!("CARGO_BIN_EXE_spirv-tv")).args(words).args(more).current_dir(root).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert_eq!(run(&[]), run(&[]));
    assert!(!run(&[]).contains("time"));
    let timed = run(&["--time"]);
    assert!(timed.lines().last().unwrap().starts_with("time: "), "{timed}");
    assert!(timed.lines().nth(1).unwrap().ends_with(" s"), "{timed}");
    assert_eq!(run(&["--time", "-q"]).lines().count(), 2);
}

/// Every page says what its command takes, and `man` writes nothing else.
#[test]
fn manual_pages_are_of_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/man");
    let output =
        Command::new(env!("CARGO_BIN_EXE_spirv-tv")).args(["man", "--out"]).arg(&out).output().unwrap();
    assert!(output.status.success());
    let mut pages: Vec<String> = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let names = [
        "-chain",
        "-check",
        "-completions",
        "-fuzz-driver",
        "-fuzz",
        "-gate-merge",
        "-gate",
        "-interesting",
        "-litmus",
        "-man",
        "-opt-wrapper",
        "-opt",
        "-outcomes",
        "-reduce",
        "-run",
        "",
    ];
    assert_eq!(pages, names.map(|name| format!("spirv-tv{name}.1")));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), names.len());
    let check = std::fs::read_to_string(out.join("spirv-tv-check.1")).unwrap();
    for option in ["buffer", "max\\-id\\-bound", "after\\-out\\-of\\-bounds", "help\\-all"] {
        assert!(check.contains(&format!("\\-\\-{option}")), "{option}");
    }
    // A file stands where the folder should be.
    let error = Command::new(env!("CARGO_BIN_EXE_spirv-tv"))
        .args(["man", "--out"])
        .arg(out.join("spirv-tv.1"))
        .output()
        .unwrap();
    assert_eq!(error.status.code(), Some(2));
    assert!(String::from_utf8(error.stderr).unwrap().starts_with("error: "));
}
