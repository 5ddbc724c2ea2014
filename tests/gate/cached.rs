//! A cache gives what would have been computed.

use std::fs;

use serde_json::Value;

use super::workplace::{exchange, files, Workplace};

const PAIRS: [&str; 6] = [
    "aliased-dropped",
    "aliased-kept-on-one",
    "barrier-removed",
    "release-weakened-to-relaxed",
    "constant-branch-removed",
    "atomic-adds-merged",
];

fn pairs() -> Workplace {
    let place = Workplace::new();
    for pair in PAIRS {
        place.pair(pair, pair);
    }
    place
}

/// How many answers came from the cache.
fn cached(place: &Workplace, out: &str) -> usize {
    place.records(out).values().filter(|record| record["cached"] == true).count()
}

/// Everything that a record says of a case but where it comes from.
fn told(place: &Workplace, out: &str) -> Vec<Value> {
    let records = place.records(out).into_values().map(|mut record| {
        let map = record.as_object_mut().expect("a record");
        for key in ["cached", "seconds", "optimizer_seconds"] {
            map.remove(key);
        }
        record
    });
    records.collect()
}

#[test]
fn a_hit_says_what_the_run_said() {
    let place = pairs();
    let gate = |out: &str, more: &[&str]| {
        let all = [&["gate", "pairs", "--cache", "cache", "--quiet", "--out", out], more].concat();
        place.ends(&all, 1)
    };
    let first = gate("first", &[]);
    assert_eq!(cached(&place, "first"), 0);
    let entries = files(&place.path("cache"));
    // By the modules, and by the bytes of the files.
    assert_eq!(entries.len(), 2 * PAIRS.len());
    let second = gate("second", &[]);
    assert_eq!(cached(&place, "second"), PAIRS.len());
    for file in ["results.csv", "failures.csv", "failures.json"] {
        assert_eq!(place.read(&format!("second/{file}")), place.read(&format!("first/{file}")), "{file}");
    }
    assert_eq!(sorted(&second.out), sorted(&first.out));
    let (one, other) = (told(&place, "first"), told(&place, "second"));
    for (one, other) in one.iter().zip(&other) {
        for key in ["case", "status", "bucket", "detail", "inputs", "line", "saved", "modules", "proved"] {
            assert_eq!(one[key], other[key], "{key}: {one} {other}");
        }
        // A failure is run again on the input that showed it, which the report names.
        let verdict = |record: &Value| {
            record["report"].as_str().and_then(|report| report.lines().next()).map(str::to_owned)
        };
        assert_eq!(verdict(one), verdict(other));
    }

    // Other options are other answers, and so is another seed.
    gate("other", &["--inputs", "2"]);
    gate("seed", &["--seed", "5"]);
    assert_eq!((cached(&place, "other"), cached(&place, "seed")), (0, 0));
    // How long a check may take changes no answer.
    gate("longer", &["--timeout", "600"]);
    assert_eq!(cached(&place, "longer"), PAIRS.len());
}

/// Lines that are printed as cases end, in no order.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn damaged_entries_are_computed_anew() {
    let place = pairs();
    let gate = |out: &str, more: &[&str]| {
        place.ends(&[&["gate", "pairs", "--cache", "cache", "--out", out], more].concat(), 1);
        cached(&place, out)
    };
    assert_eq!(gate("first", &[]), 0);
    let entries = files(&place.path("cache"));
    for (number, path) in entries.iter().enumerate() {
        let bytes = fs::read(path).expect("an entry");
        let damaged = match number % 3 {
            0 => bytes[..bytes.len() / 2].to_vec(),
            1 => Vec::new(),
            _ => bytes.iter().map(|byte| if *byte == b'"' { b'\'' } else { *byte }).collect(),
        };
        fs::write(path, damaged).expect("an entry is damaged");
    }
    // Nothing is written where that is not allowed.
    let before: Vec<Vec<u8>> = entries.iter().map(|path| fs::read(path).expect("an entry")).collect();
    assert_eq!(gate("readonly", &["--cache-readonly"]), 0);
    let after: Vec<Vec<u8>> = entries.iter().map(|path| fs::read(path).expect("an entry")).collect();
    assert_eq!((before, &files(&place.path("cache"))), (after, &entries));
    assert_eq!(gate("mended", &[]), 0);
    assert_eq!(gate("again", &["--cache-readonly"]), PAIRS.len());
    for out in ["readonly", "mended", "again"] {
        assert_eq!(place.read(&format!("{out}/results.csv")), place.read("first/results.csv"), "{out}");
    }
}

#[test]
fn a_failure_is_told_with_the_lines_and_names_of_its_own_case() {
    let place = Workplace::new();
    place.pair("aliased-dropped", "first");
    place.ends(&["gate", "pairs", "--cache", "cache", "--out", "one"], 1);
    // The same modules with other names and lines, and inputs that are not tried again.
    for file in ["before.spvasm", "after.spvasm"] {
        let text = place.read(&format!("pairs/first/{file}"));
        place.write(
            &format!("pairs/second/{file}"),
            format!("; one\n; two\n{}", text.replace("%value", "%other_name")),
        );
    }
    place.ends(&["gate", "pairs", "--cache", "cache", "--out", "both"], 1);
    let records = place.records("both");
    let [first, second] = ["first", "second"].map(|name| &records[&format!("pairs/{name}")]);
    assert_eq!((&first["cached"], &second["cached"]), (&true.into(), &true.into()), "{second}");
    assert_eq!(second["line"].as_u64(), first["line"].as_u64().map(|line| line + 2));
    assert_eq!((&second["bucket"], &second["modules"]), (&first["bucket"], &first["modules"]));
    let report = second["report"].as_str().expect("a report");
    assert!(report.contains("pairs/second/after.spvasm") && report.contains("%other_name"), "{report}");
    assert!(!report.contains("pairs/first") && !report.contains("%value"), "{report}");
    let saved = second["saved"].as_str().expect("it is saved");
    assert!(place.read(&format!("both/{saved}/after.spvasm")).starts_with("; one"));
}

/// Code that never runs has other lines in other modules with the same answer.
#[test]
fn what_never_ran_is_told_with_the_lines_of_its_own_case() {
    let place = Workplace::new();
    let module = |constant: &str| HOLLOW.replace("CONSTANT", constant);
    let pair = |name: &str, comments: &str| {
        for (file, constant) in [("before", "%five"), ("after", "%six")] {
            place.write(&format!("pairs/{name}/{file}.spvasm"), format!("{comments}{}", module(constant)));
        }
    };
    let gate = |out: &str| {
        let words = ["gate", "pairs", "--cache", "cache", "--buffer", "0.0=words:0,9", "--out", out];
        place.ends(&words, 0);
        place.records(out)
    };
    let line_of =
        |text: &str| 1 + text.lines().position(|line| line.contains("OpIAdd")).expect("it is there");
    pair("first", "");
    let first = gate("one")["pairs/first"].clone();
    assert_eq!((&first["status"], &first["cached"]), (&"Hollow".into(), &false.into()), "{first}");
    pair("second", "; one\n; two\n");
    let records = gate("two");
    let detail = |case: &str| records[case]["detail"].as_str().unwrap_or_default().to_owned();
    assert_eq!(records["pairs/second"]["cached"], true);
    let line = line_of(&module("%five"));
    for (case, line) in [("pairs/first", line), ("pairs/second", line + 2)] {
        assert!(detail(case).contains(&format!("line {line} of before")), "{case}: {}", detail(case));
        assert!(detail(case).contains(&format!("line {line} of after")), "{case}: {}", detail(case));
    }
    // By the bytes of the files, too.
    assert_eq!(gate("three")["pairs/second"]["detail"], records["pairs/second"]["detail"]);
}

/// The second word is changed where the first is not 0.
const HOLLOW: &str = "\
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %array ArrayStride 4
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%five = OpConstant %uint 5
%six = OpConstant %uint 6
%array = OpTypeArray %uint %two
%block = OpTypeStruct %array
%to_block = OpTypePointer Uniform %block
%to_uint = OpTypePointer Uniform %uint
%buffer = OpVariable %to_block Uniform
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%label = OpLabel
%from = OpAccessChain %to_uint %buffer %zero %zero
%to = OpAccessChain %to_uint %buffer %zero %one
%read = OpLoad %uint %from
%is = OpINotEqual %bool %read %zero
OpStore %to %one
OpSelectionMerge %merge None
OpBranchConditional %is %then %merge
%then = OpLabel
%sum = OpIAdd %uint %read CONSTANT
OpStore %to %sum
OpBranch %merge
%merge = OpLabel
OpReturn
OpFunctionEnd
";

#[test]
fn what_time_cut_is_not_kept() {
    let place = Workplace::new();
    place.pair("aliased-kept-on-one", "pair");
    let gate = |out: &str, seconds: &str| {
        let ran = place.run(&["gate", "pairs", "--cache", "cache", "--timeout", seconds, "--out", out]);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        place.records(out)["pairs/pair"].clone()
    };
    assert_eq!(gate("none", "0.000001")["status"], "Timeout");
    let whole = gate("enough", "60");
    assert_eq!((&whole["status"], &whole["cached"]), (&"Pass".into(), &false.into()));
}

/// An answer that is known is not lost because it cannot be kept.
#[test]
fn a_cache_that_cannot_be_written_costs_nothing_but_the_cache() {
    use std::os::unix::fs::PermissionsExt;
    let place = Workplace::new();
    place.pair("aliased-kept-on-one", "pair");
    fs::create_dir(place.path("cache")).expect("a folder");
    fs::set_permissions(place.path("cache"), fs::Permissions::from_mode(0o555)).expect("it is read-only");
    let is_root = fs::write(place.path("cache/probe"), "").is_ok();
    let ran = place.ends(&["gate", "pairs", "--cache", "cache", "--out", "results"], 0);
    assert_eq!(place.table("results/results.csv")["pairs/pair"], "Pass");
    // Nothing keeps root from writing.
    assert!(is_root || ran.out.contains("cache"), "{}", ran.out);
    place.write("file", "");
    place.ends(&["gate", "pairs", "--cache", "file", "--out", "refused"], 2);
}

#[test]
fn what_is_invalid_is_not_answered_by_what_is_valid() {
    let place = Workplace::new();
    let words = spirv_tv_toolchain::assemble(&exchange(), None).expect("it assembles");
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let gate = |out: &str, code| {
        place.ends(&["gate", "pairs/p", "--cache", "cache", "--workgroups", "1", "--out", out], code);
        place.records(out).into_values().next().expect("a record")
    };
    place.write("pairs/p/before.spv", bytes(&words));
    // The bound of the ids is no part of the text of a module.
    let gate_with_bound = |bound: u32, out: &str, code| {
        let mut after = words.clone();
        after[3] = bound;
        place.write("pairs/p/after.spv", bytes(&after));
        gate(out, code)
    };
    let first = gate_with_bound(words[3] + 1, "first", 0);
    assert_eq!((&first["status"], &first["cached"]), (&"Pass".into(), &false.into()));
    assert_eq!(gate_with_bound(2, "small", 1)["status"], "InvalidAfter");
    let same_module = gate_with_bound(words[3] + 2, "second", 0);
    assert_eq!((&same_module["status"], &same_module["cached"]), (&"Pass".into(), &true.into()));
}
