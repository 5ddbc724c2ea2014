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
        // What a crash is told apart by may have letters that Markdown takes for its own.
        let plain: Vec<&str> = bucket.split('/').take(2).collect();
        assert!(summary.contains(&plain.join("/")), "{case}: {summary}");
        assert!(index.contains(&case) && index.contains(status), "{case}");
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

/// A stand-in for spirv-opt with two passes. What it does with both at once stands in `BOTH`, with the second alone in
/// `SECOND`; the first alone, and anything else, copies.
fn two_passes(place: &Workplace, both: &str, second: &str) -> String {
    place.write("dropped.spvasm", without_barriers(&exchange()));
    let dropped = place.path("dropped.spvasm").display().to_string();
    let body = r#"
first= second= input= output=
while [ $# -gt 0 ]; do
    case "$1" in
        -o) output=$2; shift ;;
        --ccp) first=1 ;;
        --merge-blocks) second=1 ;;
        --print-all) ;;
        *) input=$1 ;;
    esac
    shift
done
if [ -n "$first$second" ] && [ "$first" = "$second" ]; then BOTH; elif [ -n "$second" ]; then SECOND; fi
[ -e "$output" ] || cp "$input" "$output""#;
    let body = body.replace("BOTH", both).replace("SECOND", second);
    place.script("two-passes", &body.replace("DROP", &format!("cp '{dropped}' \"$output\"")))
}

/// What goes wrong only where all passes run at once is the fault of the whole run, unless a pass by itself was not cleared.
#[test]
fn a_whole_run_is_blamed_only_where_its_passes_are_cleared() {
    let nap = format!("{}", 3_000_000 + std::process::id());
    let sleeps = format!("sleep {nap}");
    for (second, bucket) in [
        ("true", "--ccp --merge-blocks (only in a whole run)/new-race"),
        ("exit 3", "--ccp --merge-blocks/new-race"),
        (sleeps.as_str(), "--ccp --merge-blocks/new-race"),
        ("DROP", "--merge-blocks/new-race"),
    ] {
        let place = Workplace::new();
        let opt = two_passes(&place, "DROP", second);
        let words = ["gate", "modules", "--spirv-opt", &opt, "--pipeline", "--ccp --merge-blocks"];
        place.ends(&[&words[..], &["--optimizer-timeout", "2", "--out", "results"]].concat(), 1);
        let record = place.records("results").into_values().next().expect("a record");
        let found = record["bucket"].as_str().unwrap_or_default();
        assert!(found.starts_with(bucket), "{second}: {record}");
    }
}

/// `opt` runs all passes at once, too.
#[test]
fn a_whole_run_is_checked_beside_the_passes_one_by_one() {
    let place = Workplace::new();
    let opt = two_passes(&place, "DROP", "true");
    let words = ["opt", "modules/exchange.spvasm", "--ccp", "--merge-blocks", "--spirv-opt", &opt];
    for more in [&[][..], &["--ends"]] {
        let ran = place.ends(&[&words[..], more].concat(), 1);
        assert!(ran.out.contains("guilty: all passes in one run; no pass by itself"), "{}", ran.out);
        assert!(ran.out.contains("data-race"), "{}", ran.out);
    }
    let objects = place.ends(&[&words[..], &["--format", "json"]].concat(), 1);
    let passes: Vec<Value> = objects
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["pass"].clone())
        .collect();
    assert_eq!(passes, ["--ccp", "--merge-blocks", "all passes in one run"]);
    // A crash of the whole is one of the optimiser.
    let opt = two_passes(&place, "echo 'error: no memory' >&2; exit 1", "true");
    let ran = place.ends(&[&words[..5], &[opt.as_str()]].concat(), 5);
    assert!(ran.out.contains("all passes in one run: the optimiser failed"), "{}", ran.out);
    // One that is guilty by itself is guilty in the whole.
    let opt = two_passes(&place, "DROP", "DROP");
    let ran = place.ends(&[&words[..5], &[opt.as_str()]].concat(), 1);
    assert!(ran.out.contains("guilty pass: --merge-blocks") && !ran.out.contains("one run"), "{}", ran.out);
}

/// Two crashes of one optimiser have buckets of their own; the same crash has the same one in every module and run.
#[test]
fn crashes_are_told_apart_by_what_failed() {
    let place = Workplace::new();
    place.write("modules/other.spvasm", format!("; another\n{}", exchange()));
    let body = r#"
case "$3" in
    one) echo "opt: /build/$$/src/pass.cpp:12: void Run(): Assertion \`id != 0' failed." >&2; kill -ABRT $$ ;;
    two) echo "opt: /build/$$/src/pass.cpp:99: void Run(): Assertion \`type' failed." >&2; kill -ABRT $$ ;;
    signal) kill -SEGV $$ ;;
    code) exit 9 ;;
esac"#;
    let opt = format!("{} {{in}} {{out}}", place.script("opt", body));
    let pipelines = ["one", "two", "signal", "code"];
    let words = ["gate", "modules", "--optimizer", &opt, "--out", "results"];
    let flags: Vec<&str> = pipelines.iter().flat_map(|kind| ["--pipeline", *kind]).collect();
    place.ends(&[&words[..], &flags[..]].concat(), 1);
    let records = place.records("results");
    let buckets = ["exchange", "other"].map(|module| {
        pipelines.map(|kind| {
            records[&format!("modules/{module}.spvasm@{kind}")]["bucket"].as_str().map(str::to_owned)
        })
    });
    let expected = [
        "one/OptimizerCrash/assertion-id-!=-N",
        "two/OptimizerCrash/assertion-type",
        "signal/OptimizerCrash/signal-11",
        "code/OptimizerCrash/exit-code-9",
    ];
    for found in buckets {
        assert_eq!(found.each_ref().map(Option::as_deref), expected.map(Some));
    }

    // Of several passes the one that crashes is named.
    let opt = two_passes(&place, "kill -SEGV $$", "kill -SEGV $$");
    let words =
        ["gate", "modules", "--spirv-opt", &opt, "--pipeline", "--ccp --merge-blocks", "--out", "passes"];
    place.ends(&words, 1);
    for record in place.records("passes").values() {
        assert_eq!(record["bucket"], "--merge-blocks/OptimizerCrash/signal-11", "{record}");
        assert_eq!(record["pass"], "--merge-blocks");
    }
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
