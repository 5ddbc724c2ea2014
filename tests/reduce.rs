//! `reduce` and `interesting`: what becomes of pairs, of what an optimiser and an executor do wrong, of reductions that end early.
//!
//! Tests that need python3 say that they are skipped where there is none.

#[path = "support/require.rs"]
mod require;
#[path = "reduce/schema.rs"]
mod schema;

use std::path::Path;
use std::process::{Command, Output};

use require::{skipped, Need};
use serde_json::Value;
use spirv_tv_mutators::{Module, Mutator, PRESERVING};
use spirv_tv_toolchain::{assemble, validate, TargetEnv, ValidatorOptions};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A pair that differs in the place of one store.
const PAIR: &str = "corpus/pairs/store-sunk-below-release";

/// A module with a multiplication.
const MULTIPLIES: &str = "tests/reduce/multiplies.spvasm";

/// A multiplication under a branch.
const SMALL: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %buffer
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%signature = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%uint_0 = OpConstant %uint 0
%uint_1 = OpConstant %uint 1
%block = OpTypeStruct %uint %uint
%to_block = OpTypePointer StorageBuffer %block
%to_uint = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %to_block StorageBuffer
%main = OpFunction %void None %signature
%entry = OpLabel
%one = OpAccessChain %to_uint %buffer %uint_0
%other = OpAccessChain %to_uint %buffer %uint_1
%value = OpLoad %uint %one
%is_set = OpINotEqual %bool %value %uint_0
OpSelectionMerge %done None
OpBranchConditional %is_set %then %done
%then = OpLabel
%product = OpIMul %uint %value %value
%less = OpISub %uint %product %uint_1
OpStore %other %less
OpBranch %done
%done = OpLabel
OpReturn
OpFunctionEnd
";

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    command.args(words).current_dir(ROOT);
    command.env("SPIRV_TV", env!("CARGO_BIN_EXE_spirv-tv"));
    command.env("EXAMPLE", format!("{ROOT}/docs/examples/executor.py"));
    command
}

fn spirv_tv(words: &[&str]) -> Output {
    command(words).output().unwrap()
}

/// What is printed, and the exit code.
fn printed(words: &[&str]) -> (String, Option<i32>) {
    let output = spirv_tv(words);
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code())
}

/// The object that a reduction into this folder prints, which the schema describes, and the exit code.
fn reduced(words: &[&str], out: &Path) -> (Value, Option<i32>) {
    let out = out.to_str().unwrap();
    let output = spirv_tv(&[&["reduce"], words, &["-o", out, "--format", "json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let object =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words:?}: {error}: {text}{said}"));
    schema::assert_described(&object);
    (object, output.status.code())
}

/// The sides of a pair.
fn sides(pair: &str) -> [String; 2] {
    ["before", "after"].map(|side| format!("{pair}/{side}.spvasm"))
}

fn read(out: &Path, name: &str) -> String {
    std::fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A reduced module, which is valid for Vulkan.
fn valid(out: &Path, name: &str) -> String {
    let text = read(out, name);
    let words = assemble(&text, None).unwrap();
    validate(&words, &ValidatorOptions::for_env(TargetEnv::Vulkan1_3))
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    text
}

fn has_python() -> bool {
    let has = Command::new("python3").arg("--version").output().is_ok();
    if !has {
        skipped(Need::Python, "there is no python3");
    }
    has
}

#[test]
fn a_pair_becomes_smaller_and_stays_the_same_mistake() {
    let place = tempfile::tempdir().unwrap();
    let [before, after] = sides(PAIR);
    let (object, code) = reduced(&[&before, &after], place.path());
    assert_eq!(code, Some(0));
    assert_eq!(object["stopped"], "minimal");
    let (bucket, _) = printed(&["interesting", &before, &after]);
    assert_eq!(object["bucket"], bucket.trim());
    let [one, other] = ["before", "after"].map(|name| valid(place.path(), &format!("{name}.spvasm")));
    // One store moved, and nothing else: the lines are the same in another order.
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_ne!(one, other);
    assert_eq!(sorted(&one), sorted(&other), "{one}\n{other}");
    for module in object["modules"].as_array().unwrap() {
        let [now, first] =
            ["instructions", "instructions_at_first"].map(|field| module[field].as_u64().unwrap());
        assert!(now * 5 < first * 4, "{object}");
    }
    // The command shows it again in the folder.
    let line = read(place.path(), "command.txt");
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let again =
        Command::new(env!("CARGO_BIN_EXE_spirv-tv")).args(words).current_dir(place.path()).output().unwrap();
    assert_eq!(again.status.code(), Some(1), "{line}");
    assert!(read(place.path(), "report.txt").contains("new-race"));
}

#[test]
fn an_optimiser_that_is_not_there_is_no_failure_that_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let [before, _] = sides(PAIR);
    let out = place.path().join("out");
    for command in ["reduce", "interesting"] {
        let mut words = vec![command, &before, "--optimizer", "/nowhere/optimiser"];
        if command == "reduce" {
            words.extend(["-o", out.to_str().unwrap()]);
        }
        let output = spirv_tv(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("/nowhere/optimiser"), "{output:?}");
    }
}

/// The words of a module of the corpus, with rewrites that do not change its meaning, one upon the other.
fn inflated(path: &str, rewrites: &[&dyn Mutator]) -> Vec<u8> {
    let text = std::fs::read_to_string(format!("{ROOT}/{path}")).unwrap();
    let words = assemble(&text, Some(TargetEnv::Vulkan1_3)).unwrap();
    let mut module = Module::load(&words, TargetEnv::Vulkan1_3).unwrap();
    for mutator in rewrites {
        let next = mutator.mutants(&module, 1).next().map(|mutant| mutant.module);
        module = next.filter(|module| module.validate().is_ok()).unwrap_or(module);
    }
    module.words().iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The instructions of a pair with rewrites before and after it is reduced.
fn with_rewrites(pair: &str, rewrites: &[&dyn Mutator]) -> [u64; 2] {
    let place = tempfile::tempdir().unwrap();
    let files = sides(pair).map(|path| {
        let file = place.path().join(format!("{}.spv", path.replace('/', "-")));
        std::fs::write(&file, inflated(&path, rewrites)).unwrap();
        file.to_str().unwrap().to_owned()
    });
    let (object, code) = reduced(&[&files[0], &files[1]], &place.path().join("out"));
    assert_eq!(code, Some(0), "{pair}: {object}");
    let modules = object["modules"].as_array().unwrap().clone();
    ["instructions_at_first", "instructions"]
        .map(|field| modules.iter().map(|module| module[field].as_u64().unwrap()).sum())
}

#[test]
fn what_each_rewrite_adds_goes_again() {
    let pair = "corpus/pairs/atomic-load-made-plain";
    let [plain, best] = with_rewrites(pair, &[]);
    let mut larger = 0;
    for rewrite in PRESERVING {
        let [first, last] = with_rewrites(pair, &[*rewrite]);
        larger += u64::from(first > plain);
        assert!(last <= best, "{}: {first} become {last}, {best} without it", rewrite.name());
    }
    assert!(larger > 10, "{larger} rewrites make it larger");
}

#[test]
fn what_all_rewrites_add_goes_again() {
    for pair in [PAIR, "corpus/pairs/barrier-removed", "corpus/findings/aliased-loads-merged"] {
        // A barrier that becomes several changes what the pair is about.
        let rewrites: Vec<&dyn Mutator> =
            PRESERVING.iter().copied().filter(|mutator| mutator.name() != "barriers-split").collect();
        let ([_, best], [first, last]) = (with_rewrites(pair, &[]), with_rewrites(pair, &rewrites));
        // A few instructions more or less: what is rewritten may be reduced another way.
        assert!(
            first > 2 * best && last <= best + 4,
            "{pair}: {first} become {last}, {best} without rewrites"
        );
    }
}

#[test]
fn a_reduction_that_ended_goes_on_and_ends_as_one_that_did_not() {
    let place = tempfile::tempdir().unwrap();
    let [before, after] = sides(PAIR);
    let [whole, parts] = ["whole", "parts"].map(|name| place.path().join(name));
    let (object, _) = reduced(&[&before, &after, "--jobs", "1"], &whole);
    let (begun, code) = reduced(&[&before, &after, "--max-checks", "20"], &parts);
    assert_eq!((code, begun["stopped"].as_str()), (Some(3), Some("checks")));
    assert!(
        valid(&parts, "before.spvasm").len()
            < std::fs::read_to_string(format!("{ROOT}/{before}")).unwrap().len() * 2
    );
    let out = parts.to_str().unwrap();
    let (said, code) = printed(&["reduce", &before, &after, "-o", out]);
    assert!(code == Some(2) && said.contains("--resume"), "{said}");
    // Three at once change nothing.
    let (ended, code) = reduced(&[&before, &after, "--resume", "--jobs", "3"], &parts);
    assert_eq!(code, Some(0));
    for field in ["modules", "checks", "invalid", "accepted", "bucket"] {
        assert_eq!(ended[field], object[field], "{field}");
    }
    for name in ["before.spvasm", "after.spvasm", "launch.toml", "before.spv", "after.spv"] {
        assert_eq!(
            std::fs::read(whole.join(name)).unwrap(),
            std::fs::read(parts.join(name)).unwrap(),
            "{name}"
        );
    }
    let (said, code) = printed(&["reduce", &before, &after, "--races", "keep", "--resume", "-o", out]);
    assert!(code == Some(2), "{said}");
}

#[cfg(unix)]
#[test]
fn who_interrupts_has_the_best_so_far() {
    use nix::sys::signal::{kill, Signal};
    use nix::unistd::Pid;
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let [before, after] = sides(PAIR);
    let child =
        command(&["reduce", &before, &after, "--jobs", "1", "-o", out.to_str().unwrap(), "--format", "json"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
    let log = out.join("answers.jsonl");
    let enough = || std::fs::read_to_string(&log).is_ok_and(|text| text.lines().count() > 10);
    for _ in 0..3000 {
        if enough() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    // It may have come to its end in the meantime.
    let expected = if object["stopped"] == "minimal" { Some(0) } else { Some(3) };
    assert_eq!(output.status.code(), expected, "{object}");
    let [one, other] = ["before", "after"].map(|name| out.join(format!("{name}.spvasm")));
    let words = ["check", one.to_str().unwrap(), other.to_str().unwrap(), "--launch"];
    let launch = out.join("launch.toml");
    assert_eq!(spirv_tv(&[&words[..], &[launch.to_str().unwrap()]].concat()).status.code(), Some(1));
}

#[test]
fn what_an_optimiser_breaks_is_reduced_with_it() {
    let place = tempfile::tempdir().unwrap();
    let before = "corpus/crashes/named-counter-fused.spvasm";
    let (object, code) = reduced(&[before, "--pipeline", "--loop-fusion=100"], &place.path().join("crash"));
    assert_eq!(code, Some(0));
    assert!(object["bucket"].as_str().unwrap().starts_with("--loop-fusion=100/OptimizerCrash/"), "{object}");
    let text = valid(&place.path().join("crash"), "before.spvasm");
    // The name is what brings it down.
    assert!(text.contains("OpName") && text.matches("Op").count() < 30, "{text}");
    let finding = "corpus/findings/aliased-loads-merged/before.spvasm";
    let launch = ["--workgroups", "1", "--buffer", "0.0=words:5", "--buffer", "0.1=zeros:2"];
    let words = [&[finding, "--pipeline", "--redundancy-elimination"], &launch[..]].concat();
    let (object, code) = reduced(&words, &place.path().join("finding"));
    assert_eq!(code, Some(0));
    assert_eq!(object["bucket"], "--redundancy-elimination/new-outcome/OpLoad/buffer");
    let text = valid(&place.path().join("finding"), "before.spvasm");
    assert!(text.contains("NonWritable") && text.contains("Aliased"), "{text}");
}

#[test]
fn a_program_that_fails_is_reduced_by_what_it_says() {
    if !has_python() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let program = format!("python3 {ROOT}/tests/reduce/faulty.py optimizer {{in}} {{out}}");
    let (object, code) = reduced(&[MULTIPLIES, "--optimizer", &program], place.path());
    assert_eq!(code, Some(0));
    assert_eq!(object["bucket"], "optimizer/OptimizerCrash/error:-cannot-multiply-id-at-N-in-x.cpp");
    let text = valid(place.path(), "before.spvasm");
    assert!(text.contains("OpIMul") && !text.contains("OpLoopMerge") && !text.contains("SpecId"), "{text}");
    // The command of the result shows it.
    assert!(read(place.path(), "command.txt").contains("--optimizer="));
}

#[test]
fn what_an_executor_does_wrong_is_reduced_with_it() {
    if !has_python() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let program = format!("python3 {ROOT}/tests/reduce/faulty.py executor {{folder}}");
    // Each check starts the executor and a search.
    let small = place.path().join("small.spvasm");
    std::fs::write(&small, SMALL).unwrap();
    let launch = ["--buffer", "0.0=words:3,5", "--workgroups", "1"];
    let words = [&[small.to_str().unwrap(), "--executor", &program], &launch[..]].concat();
    let (object, code) = reduced(&words, place.path());
    assert_eq!(code, Some(0));
    assert_eq!(object["bucket"], "executor/new-outcome/buffer");
    let text = valid(place.path(), "module.spvasm");
    assert!(
        text.contains("OpIMul") && !text.contains("OpSelectionMerge") && !text.contains("OpISub"),
        "{text}"
    );
    // A script for it fails with what the executor shows.
    let launch = place.path().join("launch.toml");
    let module = place.path().join("module.spvasm");
    let (script, code) = printed(&[
        "run",
        module.to_str().unwrap(),
        "--launch",
        launch.to_str().unwrap(),
        "--executor",
        &program,
        "--emit",
        "amber",
    ]);
    assert_eq!(code, Some(1), "{script}");
    assert!(script.starts_with("#!amber\n") && script.contains("\nEXPECT "), "{script}");
}

#[test]
fn interesting_says_which_failure_it_is() {
    let [before, after] = sides(PAIR);
    let (bucket, code) = printed(&["interesting", &before, &after]);
    assert_eq!((bucket.as_str(), code), ("pair/new-race/OpLoad/buffer\n", Some(0)));
    for (wanted, code) in [("new-race", 0), ("pair/new-race/OpLoad", 0), ("--ccp/new-outcome/OpLoad", 1)] {
        let output = spirv_tv(&["interesting", "-q", "--bucket", wanted, &before, &after]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{wanted}");
    }
    let (said, code) = printed(&["interesting", &before, &before]);
    assert!(code == Some(1) && said.contains("no failure"), "{said}");
    for (words, told) in [
        (vec!["interesting", &before], "one module shows nothing by itself"),
        (vec!["interesting", &before, &after, "--pipeline", "-O"], "give one module"),
        (vec!["interesting", &before, &after, "--bucket", "nonsense"], "is no bucket"),
        (vec!["interesting", &before, "--pipeline", "--no-such-pass"], "no-such-pass"),
        (vec!["reduce", &before, &before, "-o", "/nonexistent/out"], "no failure"),
    ] {
        let (said, code) = printed(&words);
        assert!(said.contains(told), "{words:?}: {said}");
        assert!(code == Some(2) || told.starts_with("no-such"), "{words:?}: {code:?}");
    }
}
