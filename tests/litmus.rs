//! Litmus tests, each by the explorer: other people's, where they lie beside the checkout, and our own
//! (`corpus/litmus`).

#[path = "support/require.rs"]
mod require;

use std::path::{Path, PathBuf};

use require::{skipped, Need};
use spirv_tv::explore::Settings;
use spirv_tv::litmus::{self, Answer, RacingPair, Wanted};
use spirv_tv::model::vulkan::{Revision, Variant};

fn shared(folder: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance").join(folder);
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(Need::Shared, &format!("{} is not there", folder.display()));
    None
}

fn answer(path: &Path, variant: Variant, shortcuts: bool) -> Answer {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy();
    let test = litmus::parse(&name, &text).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
    let settings =
        Settings { model: variant.into(), shortcuts, jobs: 1, verify_engine: true, ..Settings::default() };
    let answer = litmus::run(&test, &settings, Wanted::default()).unwrap();
    assert!(answer.incomplete.is_empty(), "{}: {:?}", path.display(), answer.incomplete);
    answer
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

/// Every expectation of these files, those that are not met.
fn surprises(files: &[PathBuf], revision: Revision, checked: &mut usize) -> Vec<String> {
    let mut surprises = Vec::new();
    for path in files {
        // With shortcuts, and with every access an event.
        let variant = Variant { revision, chains: true };
        let answers = [true, false].map(|shortcuts| answer(path, variant, shortcuts).expectations);
        *checked += answers[0].len();
        for expectation in answers.iter().flatten().filter(|expectation| !expectation.is_met()) {
            surprises.push(format!("{}: {expectation:?}", path.display()));
        }
    }
    surprises
}

#[test]
fn the_khronos_litmus_tests_are_met() {
    let Some(folder) = shared("khronos") else { return };
    let (files, mut checked) = (files(&folder, "test"), 0);
    let surprises = surprises(&files, Revision::R2025, &mut checked);
    assert_eq!((files.len(), checked), (89, 172));
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn the_herd_style_litmus_tests_are_met() {
    let Some(folder) = shared("herd") else { return };
    let expected = std::fs::read_to_string(folder.join("expected.csv")).unwrap();
    let (mut rows, mut surprises) = (0, Vec::new());
    for row in expected.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [file, holds, chains] = fields[..] else { panic!("{row}") };
        let chains = match chains {
            "chains" => true,
            "nochains" => false,
            other => panic!("{other}"),
        };
        let answer = answer(&folder.join(file), Variant { revision: Revision::R2025, chains }, true);
        rows += 1;
        if answer.expectations[0].is_met() != (holds == "1") {
            surprises.push(format!("{row}: {:?}", answer.expectations[0]));
        }
    }
    assert_eq!(rows, 92);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn our_own_litmus_tests_are_met() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus");
    let mut checked = 0;
    let mut found = Vec::new();
    for (folder, revision) in [(corpus.clone(), Revision::R2025), (corpus.join("2024"), Revision::R2024)] {
        for extension in ["test", "litmus"] {
            found.extend(surprises(&files(&folder, extension), revision, &mut checked));
        }
    }
    assert!(checked > 250, "{checked} expectations");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_final_state_has_its_races() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus/condition-race-free.litmus");
    let test = litmus::parse("race-free.litmus", &std::fs::read_to_string(path).unwrap()).unwrap();
    let answer =
        litmus::run(&test, &Settings::default(), Wanted { states: true, ..Wanted::default() }).unwrap();
    let race = RacingPair { threads: [0, 1], lines: [5, 6] };
    let (mut racy, mut others) = (0, 0);
    for found in &answer.states {
        let sees_flag = found.state.contains(&("P1:r0".to_owned(), "1".to_owned()));
        let races: Vec<(RacingPair, u64)> = found.races.iter().map(|(pair, count)| (*pair, *count)).collect();
        if sees_flag {
            assert_eq!((found.racy, races), (0, Vec::new()));
            others += 1;
        } else {
            assert_eq!((found.racy, races), (found.executions, vec![(race, found.executions)]));
            racy += 1;
        }
    }
    assert_eq!((racy, others), (2, 1));
}
