//! What is expected: baselines, their buckets, flakes, skips, and what fails besides.

use serde_json::Value;

use super::workplace::{held, Workplace};

/// A pair that is right, two that are wrong in different ways, and one whose before is undefined.
const GOOD: &str = "aliased-kept-on-one";
const BAD: &str = "aliased-dropped";
const WORSE: &str = "barrier-removed";
const VACUOUS: &str = "divergent-barrier-before";

fn place(pairs: &[(&str, &str)]) -> Workplace {
    let place = Workplace::new();
    for (of_corpus, name) in pairs {
        place.pair(of_corpus, name);
    }
    place
}

/// Runs the pairs into a folder that nothing else uses.
fn gate(place: &Workplace, out: &str, more: &[&str], code: i32) -> String {
    place.ends(&[&["gate", "pairs", "--out", out], more].concat(), code).out
}

fn judged(place: &Workplace, out: &str, pair: &str) -> String {
    place.table(&format!("{out}/results.csv"))[&format!("pairs/{pair}")].clone()
}

#[test]
fn a_blessed_baseline_is_met_until_something_changes() {
    let place = place(&[(GOOD, "good"), (BAD, "bad"), (WORSE, "worse")]);
    gate(&place, "none", &[], 1);
    let known = ["--baseline", "gate/known.csv"];
    gate(&place, "blessed", &[&known[..], &["--bless"]].concat(), 0);
    assert_eq!(place.read("gate/known.csv"), "pairs/bad,Fail\npairs/worse,Fail\n");
    let side = held(&place.read("gate/known.json").replace('\n', " "));
    assert_eq!(side["buckets"]["pairs/bad"], place.records("none")["pairs/bad"]["bucket"]);
    gate(&place, "met", &known, 0);
    assert_eq!(judged(&place, "met", "bad"), "ExpectedFail");
    // What failed is a baseline, too, with the same buckets.
    gate(&place, "failures", &["--baseline", "none/failures.csv"], 0);

    // Another bug in a case that is known to fail.
    place.pair(WORSE, "bad");
    let told = gate(&place, "other", &known, 1);
    assert_eq!(judged(&place, "other", "bad"), "Fail");
    assert_eq!(judged(&place, "other", "worse"), "ExpectedFail");
    let (is, was) = (place.records("other")["pairs/bad"]["bucket"].clone(), &side["buckets"]["pairs/bad"]);
    let line = told.lines().find(|line| line.starts_with("Fail pairs/bad")).expect("it is told");
    for bucket in [&is, was] {
        assert!(line.contains(bucket.as_str().expect("a bucket")), "{line}");
    }
    assert_ne!(&is, was);
    gate(&place, "failures-other", &["--baseline", "none/failures.csv"], 1);

    // It is mended, and gone.
    place.pair(GOOD, "bad");
    gate(&place, "mended", &known, 1);
    assert_eq!(judged(&place, "mended", "bad"), "UnexpectedImprovement(Pass)");
    std::fs::remove_dir_all(place.path("pairs/worse")).expect("it is removed");
    gate(&place, "gone", &known, 1);
    assert_eq!(judged(&place, "gone", "worse"), "Missing");
    gate(&place, "blessed-again", &[&known[..], &["--bless"]].concat(), 0);
    assert_eq!(place.read("gate/known.csv"), "");
    gate(&place, "last", &known, 0);
}

#[test]
fn what_did_not_run_stays_in_the_baseline() {
    let place = place(&[(BAD, "bad"), (WORSE, "worse"), (WORSE, "worst")]);
    let bless = ["--baseline", "known.csv", "--bless"];
    gate(&place, "all", &bless, 0);
    let all = place.read("known.csv");
    assert_eq!(all.lines().count(), 3);
    let side = place.read("known.json");
    place.write("skips", "pairs/wors.*\n");
    let parts: [&[&str]; 4] = [
        &["--partition", "hash:1/3"],
        &["--fraction", "2"],
        &["--skips", "skips"],
        &["--max-fails", "1", "--jobs", "1"],
    ];
    for (number, part) in parts.into_iter().enumerate() {
        gate(&place, &format!("part-{number}"), &[&bless[..], part].concat(), 0);
        assert_eq!(
            (place.read("known.csv"), place.read("known.json").len()),
            (all.clone(), side.len()),
            "{part:?}"
        );
    }
}

#[test]
fn skips_and_flakes_name_cases() {
    let place = place(&[(GOOD, "good"), (BAD, "bad"), (WORSE, "worse")]);
    place.write("skips", "# known to hang\npairs/wor.*\n");
    place.write("flakes", "pairs/bad\nbad\n");
    gate(&place, "results", &["--skips", "skips", "--flakes", "flakes"], 0);
    let words = ["good", "bad", "worse"].map(|pair| judged(&place, "results", pair));
    assert_eq!(words, ["Pass", "KnownFlake", "Skip"]);
    assert_eq!(place.read("results/failures.csv"), "");
    // Expressions match whole names.
    place.write("part", "bad\n");
    gate(&place, "part-of-a-name", &["--flakes", "part", "--skips", "skips"], 1);
    // One that is known to fail, and to do so at times.
    place.write("known.csv", "pairs/good,Fail\n");
    place.write("all", "pairs/.*\n");
    gate(&place, "both", &["--flakes", "all", "--baseline", "known.csv"], 0);
    assert_eq!(judged(&place, "both", "good"), "KnownFlake");
}

#[test]
fn what_is_not_decided_fails_where_that_is_asked_for() {
    let place = place(&[(GOOD, "good"), (VACUOUS, "vacuous")]);
    gate(&place, "plain", &[], 0);
    assert_eq!(judged(&place, "plain", "vacuous"), "Vacuous");
    gate(&place, "fails", &["--fail-on", "Hollow,Vacuous"], 1);
    gate(&place, "half", &["--min-decided", "50", "--min-exercised", "50"], 0);
    let told = gate(&place, "more", &["--min-decided", "50.1"], 1);
    assert!(told.contains("--min-decided"), "{told}");
    gate(&place, "exercised", &["--min-exercised", "51", "--summary", "summary.md"], 1);
    assert!(place.read("summary.md").contains("--min-exercised"));
    place.write("known.csv", "pairs/vacuous,Warn\n");
    gate(&place, "warned", &["--fail-on", "Vacuous", "--baseline", "known.csv"], 0);
    assert_eq!(judged(&place, "warned", "vacuous"), "ExpectedFail");
}

#[test]
fn a_run_ends_where_enough_failed() {
    let place = place(&[(BAD, "a"), (BAD, "b"), (BAD, "c"), (BAD, "d"), (BAD, "e"), (BAD, "f")]);
    let told = gate(&place, "results", &["--max-fails", "2", "--jobs", "1"], 1);
    // One more may have begun.
    let ran = place.records("results").len();
    assert!((2..=3).contains(&ran), "{told}");
    assert!(told.contains(&format!("{} cases were not run", 6 - ran)), "{told}");
    gate(&place, "results", &["--jobs", "1", "--resume"], 1);
    assert_eq!(place.records("results").len(), 6);
}

#[test]
fn bisecting_speaks_the_language_of_git() {
    let place = place(&[(GOOD, "pair"), (VACUOUS, "vacuous")]);
    let bucket = "pair/new-undefined-aliasing/OpLoad";
    let step = |code| {
        place.ends(&["gate", "pairs", "--quiet", "--bisect", bucket, "--out", "step"], code);
    };
    step(0);
    place.pair(BAD, "pair");
    step(1);
    place.pair(WORSE, "pair");
    step(125);
    // Where nothing could be looked at nothing is known.
    place.write("pairs/pair/before.spvasm", "no module");
    place.write("pairs/vacuous/before.spvasm", "no module");
    step(125);
    std::fs::remove_dir_all(place.path("pairs")).expect("it is removed");
    step(125);
}

#[test]
fn manifests_give_options_launches_and_what_is_expected() {
    let place = place(&[(BAD, "bad")]);
    place.write("modules/exchange.toml", "workgroups = [1, 1, 1]\n");
    place.write("modules/other.toml", "workgroups = [2, 1, 1]\n");
    place.write(
        "gate.toml",
        r#"
        pipelines = { strip = "--strip-debug", two = "--ccp --strip-debug" }
        options = "--inputs 2"
        [[cases]]
        modules = "modules/*.spvasm"
        launch = ["{stem}.toml", "modules/other.toml"]
        options = "--seed 3"
        [[cases]]
        pairs = "pairs/*"
        expect = "Fail"
        note = "issue 7"
        "#,
    );
    place.ends(&["gate", "gate.toml", "--out", "results", "--junit", "junit.xml"], 0);
    let table = place.table("results/results.csv");
    let names: Vec<&str> = table.keys().map(String::as_str).collect();
    let expected = [
        "modules/exchange.spvasm@strip@exchange",
        "modules/exchange.spvasm@strip@other",
        "modules/exchange.spvasm@two@exchange",
        "modules/exchange.spvasm@two@other",
        "pairs/bad",
    ];
    assert_eq!(names, expected);
    assert_eq!(table["pairs/bad"], "ExpectedFail");
    assert!(place.read("junit.xml").contains("issue 7"));
    let records = place.records("results");
    assert!(records.values().all(|record| record["inputs"].as_u64().is_some_and(|inputs| inputs <= 16)));
    // Names do not depend on where the manifest is read from.
    let elsewhere = place.command(&["gate", "../gate.toml", "--out", "elsewhere"]);
    let mut elsewhere = elsewhere;
    let output = elsewhere.current_dir(place.path("modules")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(place.read("modules/elsewhere/results.csv"), place.read("results/results.csv"));
}

/// Two runs are told apart: what the compiler changed, and what spirv-tv did.
#[test]
fn drift_is_explained() {
    let place = place(&[(GOOD, "changed"), (VACUOUS, "same")]);
    gate(&place, "old", &[], 0);
    place.pair(BAD, "changed");
    let text = place.read("old/results.jsonl");
    // As if the earlier version had decided it.
    let older: Vec<String> = text
        .lines()
        .map(|line| {
            let mut value: Value = serde_json::from_str(line).expect("JSON");
            if value["case"] == "pairs/same" {
                value["status"] = "Pass".into();
            }
            value.to_string()
        })
        .collect();
    place.write("old/results.jsonl", older.join("\n") + "\n");
    let told = gate(&place, "new", &["--explain-drift", "old"], 1);
    let part = |from: &str| told.split(from).nth(1).unwrap_or_else(|| panic!("{from}: {told}")).to_owned();
    assert!(part("with the same modules").contains("pairs/same: Pass -> Vacuous"), "{told}");
    assert!(part("with other modules").contains("pairs/changed: Pass -> Fail"), "{told}");
}
