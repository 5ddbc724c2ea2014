//! Optimisers that misbehave: each shows as what it is, in every report.

use serde_json::Value;

use super::workplace::{exchange, held, runs_with, without_barriers, Workplace};

/// What each kind of optimiser comes to. `once` fails the first time only.
const KINDS: [(&str, &str); 10] = [
    ("good", "Pass"),
    ("drop", "Fail"),
    ("hang", "Timeout"),
    ("rubbish", "InvalidAfter"),
    ("invalid", "InvalidAfter"),
    ("crash", "OptimizerCrash"),
    ("fail", "OptimizerCrash"),
    ("nothing", "OptimizerCrash"),
    ("daemon", "Pass"),
    ("once", "Flake"),
];

/// A script that is each kind of optimiser, by its third argument. `nap` is a number of seconds that tells its processes
/// from others.
fn script(place: &Workplace, nap: &str) -> String {
    place.write("dropped.spvasm", without_barriers(&exchange()));
    let dropped = place.path("dropped.spvasm").display().to_string();
    let once = place.path("once").display().to_string();
    let body = format!(
        r#"case "$3" in
    good) cp "$1" "$2" ;;
    drop) cp '{dropped}' "$2" ;;
    hang) sleep {nap} ;;
    rubbish) echo 'this is no module' > "$2" ;;
    invalid) printf 'OpCapability Shader\nOpMemoryModel Logical GLSL450\n%%1 = OpTypeVoid\n%%2 = OpTypeVoid\n' > "$2" ;;
    crash) echo 'Assertion failed: types differ' >&2; kill -SEGV $$ ;;
    fail) echo 'error: cannot unroll' >&2; exit 3 ;;
    nothing) exit 0 ;;
    daemon) (setsid sleep {nap} &); cp "$1" "$2" ;;
    once) if [ -e '{once}' ]; then cp "$1" "$2"; else : > '{once}'; exit 9; fi ;;
esac"#
    );
    place.script("opt", &body)
}

#[test]
fn each_shows_as_what_it_is_in_every_report() {
    let place = Workplace::new();
    let nap = format!("{}", 2_000_000 + std::process::id());
    let command = format!("{} {{in}} {{out}}", script(&place, &nap));
    let mut arguments = vec!["gate", "modules", "--optimizer", &command, "--optimizer-timeout", "2"];
    arguments.extend(KINDS.iter().flat_map(|(kind, _)| ["--pipeline", kind]));
    arguments.extend(["--out", "results", "--junit", "reports/junit.xml", "--summary", "reports/summary.md"]);
    arguments.extend(["--sarif", "reports/gate.sarif", "--html", "reports/html"]);
    let ran = place.ends(&arguments, 1);

    let case = |kind: &str| format!("modules/exchange.spvasm@{kind}");
    let table = place.table("results/results.csv");
    let failures = place.table("results/failures.csv");
    let records = place.records("results");
    let (junit, summary) = (place.read("reports/junit.xml"), place.read("reports/summary.md"));
    let index = place.read("reports/html/index.html");
    assert_eq!(table.len(), KINDS.len());
    for (kind, status) in KINDS {
        let case = case(kind);
        assert_eq!(table[&case], status, "{:?}", records[&case]);
        let fails = !["Pass", "Flake"].contains(&status);
        assert_eq!(failures.get(&case).map(String::as_str), fails.then_some(status), "{case}");
        let told = ran.out.lines().any(|line| line.starts_with(&format!("{status} {case} [")));
        assert_eq!(told, fails, "{case}: {}", ran.out);
        let bucket = records[&case].get("bucket").and_then(Value::as_str).unwrap_or_default();
        assert_eq!(bucket.starts_with(&format!("{kind}/")), fails, "{case}: {bucket}");
        let in_junit = junit.contains(&format!("type=\"{status}\""));
        assert!(in_junit || !fails, "{case} is not in {junit}");
        assert!(junit.contains(&format!("name=\"{case}\"")), "{case} is not in {junit}");
        assert!(summary.contains(bucket) && index.contains(&case) && index.contains(status), "{case}");
    }
    let detail = |kind: &str| records[&case(kind)]["detail"].as_str().unwrap_or_default().to_owned();
    assert!(detail("crash").contains("signal 11") && detail("crash").contains("types differ"));
    assert!(detail("fail").contains("exit code 3") && detail("fail").contains("cannot unroll"));
    assert!(detail("nothing").contains("wrote no file"), "{}", detail("nothing"));
    assert!(detail("hang").contains("2 s"), "{}", detail("hang"));
    assert_eq!(records[&case("hang")]["earlier"], serde_json::json!(["Timeout"]));
    assert_eq!(records[&case("once")]["earlier"], serde_json::json!(["OptimizerCrash"]));

    // What violates says how, and is saved with what replays it.
    let drop = &records[&case("drop")];
    let report = drop["report"].as_str().expect("a report");
    assert!(report.contains("new-race") && junit.contains("data-race") && ran.out.contains("data-race"));
    let saved = format!("results/{}", drop["saved"].as_str().expect("it is saved"));
    let line = place.read(&format!("{saved}/command.txt"));
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let again = place.command(&words).current_dir(place.path(&saved)).output().expect("it runs again");
    assert_eq!(again.status.code(), Some(1), "{line}");
    let pages = std::fs::read_dir(place.path("reports/html")).expect("there are pages");
    let cases = pages.filter(|page| {
        page.as_ref().is_ok_and(|page| page.file_name().to_string_lossy().starts_with("case-"))
    });
    assert_eq!(cases.count(), failures.len());

    let sarif: Value = serde_json::from_str(&place.read("reports/gate.sarif")).expect("SARIF is JSON");
    let results = sarif.pointer("/runs/0/results").and_then(Value::as_array).expect("it has results");
    assert_eq!(results.len(), failures.len());
    let uris = results.iter().filter_map(|result| {
        result.pointer("/locations/0/physicalLocation/artifactLocation/uri").and_then(Value::as_str)
    });
    assert!(
        uris.clone().count() == results.len() && uris.clone().all(|uri| uri == "modules/exchange.spvasm")
    );

    assert!(!runs_with(&format!("sleep {nap}")), "a process of an optimiser is left");
    assert!(!place.path("results/scratch").exists(), "temporary files are left");
}

#[test]
fn only_what_the_reference_does_not_do_fails() {
    let place = Workplace::new();
    let opt = script(&place, "1");
    let (drop, good) = (format!("{opt} {{in}} {{out}} drop"), format!("{opt} {{in}} {{out}} good"));
    let gate = |out: &str, reference: &str, code| {
        place.ends(&["gate", "modules", "--optimizer", &drop, "--reference", reference, "--out", out], code);
        place.table(&format!("{out}/results.csv"))["modules/exchange.spvasm"].clone()
    };
    assert_eq!(gate("same", &drop, 0), "ExpectedFail");
    assert_eq!(gate("better", &good, 1), "Fail");
    assert_eq!(gate("crashing", &format!("{opt} {{in}} {{out}} crash"), 1), "Fail");
}

#[test]
fn lines_of_json_are_what_the_schema_says() {
    let place = Workplace::new();
    let command = format!("{} {{in}} {{out}}", script(&place, "1"));
    let pipelines = ["--pipeline", "good", "--pipeline", "drop", "--pipeline", "fail"];
    let arguments = ["gate", "modules", "--optimizer", &command, "--format", "jsonl", "--out", "results"];
    let ran = place.ends(&[&arguments[..], &pipelines].concat(), 1);
    let lines: Vec<Value> = ran.out.lines().map(held).collect();
    let unexpected = lines.iter().filter(|line| line.get("case").is_some() && line["unexpected"] == true);
    assert_eq!(unexpected.count(), 2, "{}", ran.out);
    assert_eq!(lines.iter().filter(|line| line.get("judged").is_some()).count(), 3, "{}", ran.out);
}
