//! `gate --executor`: what executors do with cases, well and badly, in every file that tells of it.

use std::process::Command;

use serde_json::Value;

use super::require::{skipped, Need};
use super::workplace::{Workplace, ROOT};

/// A module that writes 7, by the name of its entry point.
fn module(entry: &str) -> String {
    format!(
        "OpCapability Shader
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main \"{entry}\" %results
         OpExecutionMode %main LocalSize 1 1 1
         OpDecorate %Results Block
         OpMemberDecorate %Results 0 Offset 0
         OpDecorate %results DescriptorSet 0
         OpDecorate %results Binding 0
         %void = OpTypeVoid
         %void_fn = OpTypeFunction %void
         %uint = OpTypeInt 32 0
         %uint_0 = OpConstant %uint 0
         %uint_7 = OpConstant %uint 7
         %Results = OpTypeStruct %uint
         %ptr_Results = OpTypePointer StorageBuffer %Results
         %ptr_uint = OpTypePointer StorageBuffer %uint
         %results = OpVariable %ptr_Results StorageBuffer
         %main = OpFunction %void None %void_fn
         %entry = OpLabel
         %result = OpAccessChain %ptr_uint %results %uint_0
         OpStore %result %uint_7
         OpReturn
         OpFunctionEnd\n"
    )
}

/// What each kind of executor comes to, and the end of its bucket. `once` fails the first time only.
const KINDS: [(&str, &str, &str); 9] = [
    ("good", "Pass", ""),
    ("wrong", "Fail", "new-outcome/buffer"),
    ("crash", "ExecutorCrash", "crashed/signal-N"),
    ("lost", "ExecutorCrash", "device-lost/the-device-is-gone"),
    ("rubbish", "ExecutorCrash", "invalid-answer/"),
    ("hang", "Timeout", "timed-out"),
    ("lacks", "Unsupported", ""),
    ("daemon", "Pass", ""),
    ("once", "Flake", ""),
];

/// An executor that does by the entry point what its name says.
fn executor(place: &Workplace) -> String {
    let once = place.path("once").display().to_string();
    let body = format!(
        r#"answer() {{ echo '{{"protocol":"spirv-tv.executor/1",'"$1"'}}' > "$f/answer.json"; }}
shows() {{ printf "$1" > "$f/out.bin"; answer '"status":"finished","runs":[{{"count":1,"memory":["out.bin"]}}]'; }}
good='\7\0\0\0'
while read -r f; do
    case "$(tr -d ' ' < "$f/request.json")" in
    *'"describe"'*) answer '"status":"described","device":{{"name":"scripted"}}' ;;
    *'"good"'*) shows "$good" ;;
    *'"wrong"'*) shows '\10\0\0\0' ;;
    *'"crash"'*) kill -SEGV $$ ;;
    *'"lost"'*) answer '"status":"device-lost","message":"the device is gone"' ;;
    *'"rubbish"'*) echo rubbish > "$f/answer.json" ;;
    *'"hang"'*) sleep 60 ;;
    *'"lacks"'*) answer '"status":"unsupported","missing":["Int64"]' ;;
    *'"daemon"'*) (setsid sleep 60 > /dev/null 2>&1 &); shows "$good" ;;
    *'"once"'*) if [ -e '{once}' ]; then shows "$good"; else : > '{once}'; kill -9 $$; fi ;;
    esac
    echo 'spirv-tv.executor done'
done"#
    );
    place.script("board", &body)
}

/// A folder with a module for each kind.
fn place() -> (Workplace, String) {
    let place = Workplace::new();
    for (kind, _, _) in KINDS {
        place.write(&format!("cases/{kind}.spvasm"), module(kind));
    }
    let executor = executor(&place);
    (place, executor)
}

const LIMITS: [&str; 4] = ["--run-timeout", "1", "--start-timeout", "20"];

#[test]
fn each_executor_shows_as_what_it_is_in_every_report() {
    let (place, executor) = place();
    let reports =
        ["--junit", "junit.xml", "--summary", "summary.md", "--html", "html", "--sarif", "gate.sarif"];
    let words = ["gate", "cases", "--executor", &executor, "--out", "results"];
    let ran = place.ends(&[&words[..], &LIMITS, &reports].concat(), 1);
    let (table, records) = (place.table("results/results.csv"), place.records("results"));
    let failures = place.table("results/failures.csv");
    let (junit, index) = (place.read("junit.xml"), place.read("html/index.html"));
    assert_eq!(table.len(), KINDS.len());
    for (kind, status, bucket) in KINDS {
        let case = format!("cases/{kind}.spvasm");
        let record = &records[&case];
        assert_eq!(table[&case], status, "{record}");
        assert_eq!(failures.contains_key(&case), !bucket.is_empty(), "{case}");
        let told = record.get("bucket").and_then(Value::as_str).unwrap_or_default();
        match bucket {
            "" => assert_eq!(told, "", "{case}"),
            bucket => assert!(told.starts_with(&format!("executor/{bucket}")), "{case}: {told}"),
        }
        assert!(junit.contains(&format!("name=\"{case}\"")) && index.contains(&case), "{case}");
    }
    assert!(ran.out.contains("% have an answer\n"), "{}", ran.out);
    // Nothing was compared.
    let summary = place.read("summary.md");
    for (name, report) in [("summary", &summary), ("page", &index), ("junit", &junit)] {
        assert!(!report.contains("changed code") && !report.contains("refines"), "{name}: {report}");
    }
    assert!(summary.contains("run on ") && index.contains("run on "), "{summary}");
    // What failed can be shown again: here only what is allowed.
    let saved = records["cases/wrong.spvasm"]["saved"].as_str().expect("it is saved");
    let told = place.read(&format!("results/{saved}/run.txt"));
    assert!(told.contains("NOT ALLOWED") && told.contains("0x00000008"), "{told}");
    let commands = place.read(&format!("results/{saved}/command.txt"));
    assert!(commands.lines().count() == 2 && commands.contains("--allowed outcomes.json"), "{commands}");

    // With it as baseline nothing is unexpected, but another failure of the same case is.
    let again = ["gate", "cases", "--executor", &executor, "--baseline", "results/failures.csv"];
    place.ends(&[&again[..], &LIMITS, &["--out", "again"]].concat(), 0);
    let text = place.read("board").replace("the device is gone", "the device melted");
    place.script("board", text.trim_start_matches("#!/bin/sh\n"));
    let other = place.ends(&[&again[..], &LIMITS, &["--out", "other"]].concat(), 1);
    assert!(other.out.contains("cases/lost.spvasm"), "{}", other.out);
    assert!(other.out.ends_with("1 unexpected\n"), "{}", other.out);
}

#[test]
fn what_an_optimiser_makes_is_run_and_held_against_what_was_before() {
    let (place, executor) = place();
    let copies = place.script("copy", "cp \"$1\" \"$2\"");
    let copies = format!("{copies} {{in}} {{out}}");
    let words = ["gate", "cases/good.spvasm", "cases/wrong.spvasm", "--executor", &executor];
    let ran = place.ends(&[&words[..], &LIMITS, &["--optimizer", &copies, "--out", "copied"]].concat(), 1);
    assert!(ran.out.contains("Fail cases/wrong.spvasm [executor/new-outcome/buffer]"), "{}", ran.out);
    // Where before and after already differ, and the executor shows what after does, it is not the executor's.
    let after = module("wrong").replace("%uint_7 = OpConstant %uint 7", "%uint_7 = OpConstant %uint 8");
    place.write("pairs/eight/before.spvasm", module("wrong"));
    place.write("pairs/eight/after.spvasm", &after);
    let words = ["gate", "pairs", "--executor", &executor, "--out", "pair"];
    let ran = place.ends(&[&words[..], &LIMITS].concat(), 1);
    assert!(ran.out.contains("Fail pairs/eight [pair/new-outcome/buffer]"), "{}", ran.out);
    // A binding of after alone has no contents.
    let new = after.replace("Binding 0", "Binding 1");
    place.write("pairs/eight/after.spvasm", &new);
    let words = ["gate", "pairs", "--executor", &executor, "--out", "new", "--fail-on", "Unsupported"];
    let ran = place.ends(&[&words[..], &LIMITS].concat(), 1);
    assert!(ran.out.contains("after uses 0.1, which before lacks"), "{}", ran.out);
}

#[test]
fn what_modules_allow_is_kept_and_runs_go_on() {
    let (place, executor) = place();
    let words =
        ["gate", "cases/good.spvasm", "cases/wrong.spvasm", "--executor", &executor, "--cache", "kept"];
    let run = |out: &str| {
        place.ends(&[&words[..], &LIMITS, &["--out", out]].concat(), 1);
        let mut records = place.records(out);
        for record in records.values_mut() {
            record["seconds"] = Value::Null;
            record["optimizer_seconds"] = Value::Null;
        }
        records
    };
    let first = run("first");
    let kept = super::workplace::files(&place.path("kept")).len();
    assert_eq!(kept, 2);
    assert_eq!(first, run("second"));
    assert_eq!(super::workplace::files(&place.path("kept")).len(), kept);
    // A run that was ended in its middle.
    let log = place.read("first/results.jsonl");
    let whole: Vec<&str> = log.lines().collect();
    place.write("first/results.jsonl", format!("{}\n{}\n{{\"case\":", whole[0], whole[1]));
    place.ends(&[&words[..], &LIMITS, &["--out", "first", "--resume"]].concat(), 1);
    assert_eq!(place.records("first").len(), 2);
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let (place, executor) = place();
    let wrong: [(&[&str], &str); 7] = [
        (&["--executor", "false"], "nothing can be run"),
        (&["--executor", "sleep 60", "--start-timeout", "1"], "--start-timeout"),
        (&["--executor", &executor, "--device", "0"], "cannot be used with"),
        (&["--executor", &executor, "--both-ways"], "--both-ways is about comparing"),
        (&["--executor", &executor, "--min-exercised", "5"], "--min-exercised is about comparing"),
        (&["--executor", &executor, "--reference", "cp {in} {out}"], "--reference is about comparing"),
        (&["--executor", &executor, "--run-timeout", "0"], "more than 0 seconds"),
    ];
    for (words, why) in wrong {
        let ran = place.ends(&[&["gate", "cases", "--out", "none"], words].concat(), 2);
        assert!(ran.error.contains(why), "{words:?}: {}", ran.error);
        assert!(!place.path("none").exists(), "{words:?}");
    }
}

/// On a device that is there.
#[test]
fn a_device_and_an_optimiser_are_told_apart() {
    let place = Workplace::new();
    let features = Command::new(env!("CARGO_BIN_EXE_spirv-tv")).args(["run", "--features"]).output();
    if !features.expect("the program runs").status.success() {
        return skipped(Need::Device, "there is no Vulkan device");
    }
    let finding = format!("{ROOT}/corpus/findings/narrow-constant-converted-without-sign/before.spvasm");
    place.write("cases/narrow.spvasm", std::fs::read(finding).expect("it is there"));
    let words = ["gate", "cases", "--device", "0", "--pipeline", "", "--pipeline", "--strip-debug --ccp"];
    let ran = place.ends(&[&words[..], &["--out", "results"]].concat(), 1);
    let table = place.table("results/results.csv");
    assert_eq!(table["cases/narrow.spvasm"], "Pass", "{}", ran.out);
    let records = place.records("results");
    let record = &records["cases/narrow.spvasm@--strip-debug --ccp"];
    assert_eq!(record["bucket"], "--ccp/new-outcome/buffer", "{record}");
    assert_eq!(record["pass"], "--ccp");
}

#[test]
fn a_graphics_stage_is_unsupported() {
    let (place, executor) = place();
    let fragment = std::fs::read_to_string(format!("{ROOT}/tests/cli/fragment.spvasm")).expect("it is there");
    place.write("graphics/fragment.spvasm", &fragment);
    let words = ["gate", "graphics", "--executor", &executor, "--out", "results"];
    let ran = place.ends(&[&words[..], &LIMITS].concat(), 0);
    assert!(ran.out.contains("1 Unsupported") && ran.out.contains("compute entry points"), "{}", ran.out);
}
