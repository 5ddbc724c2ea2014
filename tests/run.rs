//! `run`: what executors do, held against the outcomes; executors that misbehave in every way that comes to mind.
//!
//! Tests that need a Vulkan device, or python3, say that they are skipped where there is none.

#[cfg(unix)]
#[path = "run/hostile.rs"]
mod hostile;
#[path = "support/require.rs"]
mod require;
#[path = "run/schema.rs"]
mod schema;

use std::path::Path;
use std::process::{Command, Output};

use require::{skipped, Need};
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A module with two outcomes.
const MODULE: &str = "corpus/pairs/store-sunk-below-release/before.spvasm";

fn spirv_tv(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    command.args(words).env("SPIRV_TV", env!("CARGO_BIN_EXE_spirv-tv")).current_dir(ROOT);
    command.output().unwrap()
}

/// What is printed, and the exit code.
fn printed(words: &[&str]) -> (String, Option<i32>) {
    let output = spirv_tv(words);
    let text = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!text.is_empty() || !said.is_empty(), "{words:?} prints nothing");
    (if text.is_empty() { said.into_owned() } else { text }, output.status.code())
}

/// The object that is printed, which the schema describes.
fn object(words: &[&str]) -> (Value, Option<i32>) {
    let (text, code) = printed(&[words, &["--format", "json"]].concat());
    let object = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    schema::assert_described(&object);
    (object, code)
}

/// Whether there is a device; says so where there is none.
fn has_device() -> bool {
    let output = spirv_tv(&["run", "--features"]);
    if output.status.code() != Some(0) {
        let why = String::from_utf8_lossy(&output.stderr);
        skipped(Need::Device, &format!("there is no Vulkan device ({})", why.trim()));
        return false;
    }
    true
}

/// The example of an executor as a command; `None`, and a line that says so, where there is no python3.
fn example() -> Option<String> {
    match Command::new("python3").arg("--version").output() {
        Ok(output) if output.status.success() => {
            Some(format!("python3 {}", Path::new(ROOT).join("docs/examples/executor.py").display()))
        }
        _ => {
            skipped(Need::Python, "there is no python3");
            None
        }
    }
}

/// The outcomes of a text, one on a line, sorted.
fn outcomes_of(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.find("terminated: ").map(|at| line[at..].to_owned()));
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

#[test]
fn a_device_shows_outcomes_in_the_words_of_outcomes() {
    if !has_device() {
        return;
    }
    let (text, code) = printed(&["run", MODULE, "--times", "20"]);
    assert_eq!(code, Some(0), "{text}");
    let (allowed, _) = printed(&["outcomes", MODULE]);
    assert_eq!(outcomes_of(&text), outcomes_of(&allowed), "{text}");
    let counts = text.lines().filter(|line| line.contains("  allowed  "));
    let total: u32 = counts.filter_map(|line| line.split_whitespace().next()?.parse::<u32>().ok()).sum();
    assert_eq!(total, 20, "{text}");
}

/// Every classic program: what lavapipe does is allowed, unless a loop never ends by itself.
#[test]
fn a_device_does_what_classic_programs_allow() {
    if !has_device() {
        return;
    }
    let mut verdicts = std::collections::BTreeMap::<String, Vec<String>>::new();
    let folder = Path::new(ROOT).join("corpus/classics");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
        let about: toml::Value =
            std::fs::read_to_string(file).unwrap().parse::<toml::Table>().unwrap().into();
        let args = about["args"].as_array().unwrap().iter().filter_map(toml::Value::as_str);
        let module = file.with_extension("spvasm").display().to_string();
        let words: Vec<&str> =
            ["run", &module, "--times", "5", "--run-timeout", "20"].into_iter().chain(args).collect();
        let (object, _) = object(&words);
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        verdicts.entry(object["verdict"].as_str().unwrap().to_owned()).or_default().push(name);
    }
    let count = |verdict: &str| verdicts.get(verdict).map_or(0, Vec::len);
    assert!(count("refines") > 60, "{verdicts:#?}");
    // Lavapipe cuts loops.
    assert_eq!(verdicts.get("violates"), Some(&vec!["spin-counting-in-buffer".to_owned()]), "{verdicts:#?}");
    assert_eq!(count("executor-failed"), 0, "{verdicts:#?}");
}

#[test]
fn a_device_is_chosen_and_described() {
    if !has_device() {
        return;
    }
    let (text, code) = printed(&["run", "--features"]);
    assert!(
        code == Some(0) && text.contains("has: ") && text.contains("invocations of a workgroup"),
        "{text}"
    );
    let (text, code) = printed(&["run", MODULE, "--device", "no such device"]);
    assert_eq!(code, Some(2));
    assert!(text.starts_with("error: nothing can be run: ") && text.contains("there are: "), "{text}");
    assert_eq!(printed(&["run", MODULE, "--device", "0"]).1, Some(0));
    let (object, code) = object(&["run", "corpus/classics/untyped-pointers.spvasm"]);
    if object["verdict"] == "inconclusive" {
        assert_eq!(code, Some(3));
        assert_eq!(object["runs"][0]["failure"]["status"], "unsupported");
        assert!(object["runs"][0]["reasons"][0].as_str().unwrap().contains("UntypedPointersKHR"));
    }
}

/// Members of a block that overlap, which Vulkan's validation layer sees as spirv-val does.
const OVERLAPPING: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%block = OpTypeStruct %uint %uint
%p_block = OpTypePointer Uniform %block
%p_uint = OpTypePointer Uniform %uint
%buffer = OpVariable %p_block Uniform
%main = OpFunction %void None %function
%entry = OpLabel
%second = OpAccessChain %p_uint %buffer %one
OpStore %second %one
OpReturn
OpFunctionEnd
";

#[test]
fn the_validation_layer_objects() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overlapping.spvasm");
    std::fs::write(&path, OVERLAPPING).unwrap();
    let words = ["run", path.to_str().unwrap(), "--lenient"];
    assert_eq!(printed(&words).1, Some(0));
    let (text, code) = printed(&[&words[..], &["--validation"]].concat());
    if text.contains("there is no layer VK_LAYER_KHRONOS_validation") {
        assert_eq!(code, Some(2), "{text}");
        return;
    }
    assert!(text.contains("the validation layer objects: ") && text.contains("overlaps"), "{text}");
    assert!(text.starts_with("executor-failed: "), "{text}");
    // Of what is valid it says nothing.
    let (text, code) = printed(&["run", MODULE, "--validation"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn the_example_shows_outcomes_that_are_allowed() {
    let Some(example) = example() else { return };
    let once = format!("{example} {{folder}}");
    for command in [&example, &once] {
        let (object, code) = object(&["run", MODULE, "--times", "40", "--executor", command]);
        assert_eq!((code, &object["verdict"]), (Some(0), &"refines".into()), "{object}");
        assert_eq!(object["executor"], "spirv-tv's own outcomes");
        let seen = object["runs"][0]["seen"].as_array().unwrap();
        assert_eq!(seen.iter().filter_map(|one| one["count"].as_u64()).sum::<u64>(), 40);
    }
}

#[test]
fn a_set_of_outcomes_serves_in_place_of_a_search() {
    let Some(example) = example() else { return };
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set.json");
    let of = |options: &[&str]| {
        let (text, _) = printed(&[&["outcomes", MODULE, "--format", "json"], options].concat());
        std::fs::write(&set, text).unwrap();
    };
    let set_name = set.display().to_string();
    let run = |options: &[&str]| {
        let words = ["run", MODULE, "--executor", &example, "--allowed", &set_name, "-q"];
        printed(&[&words, options].concat())
    };
    of(&[]);
    assert_eq!(run(&[]).1, Some(0));
    for other in [&["--workgroups", "3"][..], &["--inputs", "2"], &["--buffer", "0.0=words:5,6"]] {
        let (text, code) = run(other);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("it is of another launch: "), "{text}");
    }
    of(&["--inputs", "3"]);
    assert_eq!(run(&["--inputs", "3"]).1, Some(0));
    // A set without the outcomes that the executor shows.
    of(&[]);
    let mut without: Value = serde_json::from_str(&std::fs::read_to_string(&set).unwrap()).unwrap();
    without["outcomes"] = Value::Array(Vec::new());
    std::fs::write(&set, without.to_string()).unwrap();
    let (text, code) = run(&[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("new-outcome"), "{text}");
    for wrong in ["", "{}", "[1]"] {
        std::fs::write(&set, wrong).unwrap();
        assert_eq!(run(&[]).1, Some(2), "{wrong}");
    }
}

#[test]
fn what_cannot_be_judged_is_told() {
    let Some(example) = example() else { return };
    let run = |words: &[&str]| object(&[&["run", "--executor", &example], words].concat());
    let (racy, code) = run(&["corpus/pairs/racy-before/before.spvasm"]);
    assert_eq!((code, &racy["verdict"]), (Some(0), &"vacuous".into()), "{racy}");
    assert_eq!(racy["runs"][0]["times"], 0);
    assert_eq!(run(&["corpus/pairs/racy-before/before.spvasm", "--strict"]).1, Some(4));
    let (image, code) = run(&["tests/cli/image.spvasm"]);
    assert_eq!((code, &image["verdict"]), (Some(3), &"inconclusive".into()), "{image}");
    let (fragment, code) = run(&["tests/cli/fragment.spvasm"]);
    assert_eq!((code, &fragment["verdict"]), (Some(3), &"inconclusive".into()), "{fragment}");
    for wrong in [&["--float", "ulp:2"][..], &["--times", "0"], &["--format", "dot"]] {
        let words = [&["run", MODULE, "--executor", &example], wrong].concat();
        assert_eq!(printed(&words).1, Some(2), "{wrong:?}");
    }
    assert_eq!(printed(&["run", MODULE, "--executor", "'"]).1, Some(2));
    assert_eq!(printed(&["run", MODULE, "--executor", "no-such-program"]).1, Some(2));
    assert_eq!(printed(&["run"]).1, Some(2));
}
