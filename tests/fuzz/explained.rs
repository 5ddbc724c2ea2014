//! What is said of findings, and of runs that the user ends: with executors that are scripts.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::hostile::script;
use crate::run::{fuzz, object, program, ROOT};

/// Two floats and a word: the second float becomes what these lines compute of `%x`, the first one; `%word` leads to the word.
fn module(code: &str) -> String {
    format!(
        "OpCapability Shader
         OpCapability Int64
         OpCapability SignedZeroInfNanPreserve
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main \"main\" %memory
         OpExecutionModeId %main LocalSizeId %uint_1 %uint_1 %uint_1
         OpExecutionMode %main SignedZeroInfNanPreserve 32
         OpDecorate %Memory Block
         OpMemberDecorate %Memory 0 Offset 0
         OpMemberDecorate %Memory 1 Offset 4
         OpMemberDecorate %Memory 2 Offset 8
         OpDecorate %memory DescriptorSet 0
         OpDecorate %memory Binding 0
         %void = OpTypeVoid
         %void_fn = OpTypeFunction %void
         %uint = OpTypeInt 32 0
         %uint_0 = OpConstant %uint 0
         %uint_1 = OpConstant %uint 1
         %uint_2 = OpConstant %uint 2
         %bool = OpTypeBool
         %int = OpTypeInt 32 1
         %long = OpTypeInt 64 1
         %long_0 = OpConstant %long 0
         %long_1 = OpConstant %long 1
         %float = OpTypeFloat 32
         %zero = OpConstant %float 0
         %one = OpConstant %float 1
         %vec2 = OpTypeVector %float 2
         %mat2 = OpTypeMatrix %vec2 2
         %Memory = OpTypeStruct %float %float %uint
         %ptr_Memory = OpTypePointer StorageBuffer %Memory
         %ptr_float = OpTypePointer StorageBuffer %float
         %ptr_uint = OpTypePointer StorageBuffer %uint
         %memory = OpVariable %ptr_Memory StorageBuffer
         %main = OpFunction %void None %void_fn
         %entry = OpLabel
         %from = OpAccessChain %ptr_float %memory %uint_0
         %to = OpAccessChain %ptr_float %memory %uint_1
         %word = OpAccessChain %ptr_uint %memory %uint_2
         %x = OpLoad %float %from
         {code}
         OpStore %to %y
         OpReturn
         OpFunctionEnd\n"
    )
}

/// The buckets of a run of such a module on -0, whose executor does `what`.
fn buckets(code: &str, what: &str, more: &[&str]) -> (Vec<String>, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("module.spvasm");
    std::fs::write(&path, module(code)).unwrap();
    let launch = "[buffer]\n\"0.0\" = \"words:0x80000000,1,0\"\n";
    std::fs::write(folder.path().join("module.toml"), launch).unwrap();
    let command = script(folder.path(), "executor", what);
    let words = [&path.display().to_string(), "--only", "modules", "--executor", &command, "--count", "1"];
    let (object, exit) = object(&[&words[..], more].concat(), &folder.path().join("out"));
    let buckets = object["buckets"].as_array().unwrap().iter();
    (buckets.map(|one| one["bucket"].as_str().unwrap().to_owned()).collect(), exit)
}

/// An executor that ends with these bytes in the second float and in the word.
fn ends_with(float: &str, word: &str) -> String {
    format!(
        "printf '\\0\\0\\0\\x80{float}{word}' > \"$f/o\"; say '\"status\":\"finished\",\"runs\":[{{\"count\":1,\"memory\":[\"o\"]}}]'"
    )
}

fn ends(float: &str) -> String {
    ends_with(float, r"\0\0\0\0")
}

const SUM: &str = "%y = OpFAdd %float %x %zero";

pub fn lost_signs_of_zeros_are_named() {
    let lost = ends(r"\0\0\0\x80");
    let two = "%sum = OpFAdd %float %x %zero\n%y = OpFAdd %float %sum %zero";
    // Nothing with a zero for an operand goes wrong here.
    let negated = "%y = OpFNegate %float %x";
    for code in [SUM, two, negated] {
        let (found, exit) = buckets(code, &lost, &[]);
        assert_eq!((&found[..], exit), (&["device/new-outcome/signed-zero".to_owned()][..], Some(1)));
    }
    // What is in the baseline is known.
    let baseline = format!("{ROOT}/tests/fuzz/lavapipe.csv");
    assert_eq!(buckets(SUM, &lost, &["--baseline", &baseline]).1, Some(0));
    // Something else is not called so.
    let (found, _) = buckets(SUM, &ends(r"\0\0\x28\x42"), &[]);
    assert_eq!(found, ["device/new-outcome/unexplained/module"]);
    // Nor is the greatest bit of an integer.
    let word = format!("{SUM}\n%number = OpIAdd %uint %uint_1 %uint_2\n%none = OpISub %uint %number %number\nOpStore %word %none");
    let (found, _) = buckets(&word, &ends_with(r"\0\0\0\0", r"\0\0\0\x80"), &[]);
    assert_eq!(found, ["device/new-outcome/unexplained/module"]);
    let right = buckets(SUM, &ends(r"\0\0\0\0"), &[]);
    assert_eq!(right, (Vec::new(), Some(0)));
}

/// Two comparisons go wrong: one alone would not show.
pub fn wrong_comparisons_of_widened_numbers_are_named() {
    let code = "%number = OpBitcast %int %x
         %wide = OpSConvert %long %number
         %greater = OpSGreaterThan %bool %wide %long_0
         %also = OpSLessThanEqual %bool %long_1 %wide
         %both = OpLogicalAnd %bool %greater %also
         %y = OpSelect %float %both %one %zero";
    let (found, exit) = buckets(code, &ends(r"\0\0\x80\x3f"), &[]);
    assert_eq!((&found[..], exit), (&["device/new-outcome/widened-comparison".to_owned()][..], Some(1)));
    let baseline = format!("{ROOT}/tests/fuzz/lavapipe.csv");
    assert_eq!(buckets(code, &ends(r"\0\0\x80\x3f"), &["--baseline", &baseline]).1, Some(0));
    assert_eq!(buckets(code, &ends(r"\0\0\0\0"), &[]), (Vec::new(), Some(0)));
}

pub fn what_a_module_is_refused_for_is_named() {
    let code = "%column = OpCompositeConstruct %vec2 %x %zero
         %matrix = OpCompositeConstruct %mat2 %column %column
         %turned = OpTranspose %mat2 %matrix
         %part = OpCompositeExtract %float %turned 1 1
         %y = OpFAdd %float %part %zero";
    // OpTranspose is 84, and has four words.
    let refuse = "say '\"status\":\"failed\",\"message\":\"no pipeline 0x17\"'";
    let what = format!(
        "if LC_ALL=C grep -qaP '\\x54\\x00\\x04\\x00' \"$f/module.spv\"; then {refuse}; else {}; fi",
        ends(r"\0\0\0\0")
    );
    let (found, exit) = buckets(code, &what, &[]);
    assert_eq!((&found[..], exit), (&["device/failed/no-pipeline-N/OpTranspose".to_owned()][..], Some(5)));
    let (found, _) = buckets(code, refuse, &[]);
    assert_eq!(found, ["device/failed/no-pipeline-N"]);
}

pub fn the_user_ends_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let executor =
        script(folder.path(), "executor", "say '\"status\":\"unsupported\",\"missing\":[\"Shader\"]'");
    let out = folder.path().join("out");
    let name = out.display().to_string();
    let words = ["--executor", &executor, "--only", "generated", "--out", &name, "--format", "json"];
    let mut command = Command::new(program());
    command.args(["fuzz", "driver", "--seconds", "120"]).args(words).current_dir(ROOT);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = |out: &Path| {
        let text = std::fs::read_to_string(out.join("results.jsonl")).unwrap_or_default();
        text.lines().count()
    };
    let begun = Instant::now();
    while lines(&out) < 3 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = i32::try_from(child.id()).unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    crate::schema::assert_described(&object);
    assert_eq!(object["interrupted"], true);
    let cases = object["cases"].as_u64().unwrap();
    assert!(cases >= 2, "{object}");
    // The results are whole, and the run goes on.
    let count = (cases + 2).to_string();
    let (text, code) = fuzz(&[&words[..], &["--resume", "--count", &count]].concat());
    assert_eq!(code, Some(3), "{text}");
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&object["interrupted"], object["cases"].as_u64()), (&Value::Bool(false), Some(cases + 2)));
}
