//! Specialisation constants as inputs: varied by SpecId in both modules, compared at the default where after has frozen
//! them (docs/semantics.md, section 3.7).

use std::path::Path;
use std::process::Command;

use spirv_tv::check::CheckReport;
use spirv_tv::compare::Verdict;
use spirv_tv::module::Module;
use spirv_tv::report::{json, text, Painter};

use crate::texts::{checker, with};

/// A module with two SpecIds: `size`, which gives the workgroup its size in x, and `count`. Each invocation runs `code`
/// and stores `%value` to its word.
fn module(declarations: &str, code: &str) -> String {
    format!(
        "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
OpDecorate %extent BuiltIn WorkgroupSize
OpDecorate %size SpecId 7
OpDecorate %count SpecId 3
%void = OpTypeVoid
%bool = OpTypeBool
%nothing = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint3 = OpTypeVector %uint 3
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%four = OpConstant %uint 4
%seven = OpConstant %uint 7
%eight = OpConstant %uint 8
%no = OpConstantFalse %bool
%yes = OpConstantTrue %bool
%barrier = OpConstant %uint 0x108
%size = OpSpecConstant %uint 2
%count = OpSpecConstant %uint 3
%extent = OpSpecConstantComposite %uint3 %size %one %one
{declarations}
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%pair = OpTypeArray %uint %eight
%p_block = OpTypePointer Uniform %block
%p_word = OpTypePointer Uniform %uint
%p_input = OpTypePointer Input %uint
%p_pair = OpTypePointer Workgroup %pair
%p_shared = OpTypePointer Workgroup %uint
%id = OpVariable %p_input Input
%buffer = OpVariable %p_block Uniform
%main = OpFunction %void None %nothing
%entry = OpLabel
%i = OpLoad %uint %id
%word = OpAccessChain %p_word %buffer %zero %i
{code}
OpStore %word %value
OpReturn
OpFunctionEnd
"
    )
}

const SELECT: &str = "%below = OpULessThan %bool %count %four\n%value = OpSelect %uint %below %seven %eight";

fn check(args: &[&str], before: &str, after: &str) -> CheckReport {
    let checker = checker(args);
    let [before, after] = [before, after].map(|text| Module::from_text(text, "test", &checker.read).unwrap());
    checker.check(&before, &after)
}

fn line(report: &CheckReport) -> String {
    text::check_line(report, Painter { coloured: false })
}

#[test]
fn a_comparison_folded_at_the_default_is_a_violation_where_the_spec_id_is_kept() {
    let before = module("", SELECT);
    let after = with(&before, "OpULessThan %bool %count %four", "OpLogicalOr %bool %yes %no");
    let report = check(&[], &before, &after);
    assert_eq!(report.verdict, Verdict::Violates);
    assert!(line(&report).ends_with("--spec 3=4, --spec 7=4)"), "{}", line(&report));
    assert_eq!(report.exit_code(false), 1);
    let object = json::check_value(&report);
    let run = object["runs"].as_array().and_then(|runs| runs.last()).unwrap();
    assert_eq!(run["spec"], serde_json::json!(["3=4", "7=4"]));
    // What the user gives is not varied, and what is seen there is said without options.
    let fixed = check(&["--spec", "3=2"], &before, &after);
    assert_eq!(fixed.verdict, Verdict::Refines);
    assert!(fixed.choices.launch.iter().all(|launch| !launch.varied.contains_key(&3)));
    assert!(fixed.choices.launch.iter().any(|launch| launch.varied.contains_key(&7)));
    assert_eq!(check(&["--spec", "3=4"], &before, &after).verdict, Verdict::Violates);
}

#[test]
fn a_constant_operation_folded_at_the_default_is_a_violation() {
    let before = module(
        "%below = OpSpecConstantOp %bool ULessThan %count %four",
        "%value = OpSelect %uint %below %seven %eight",
    );
    let after = with(&before, "OpSpecConstantOp %bool ULessThan %count %four", "OpConstantTrue %bool");
    let report = check(&[], &before, &after);
    assert_eq!(report.verdict, Verdict::Violates);
    assert!(line(&report).contains("--spec 3=4"), "{}", line(&report));
}

#[test]
fn a_module_refines_itself_at_a_few_other_specialisations_the_same_each_time() {
    let before = module("", SELECT);
    let after = with(&before, "OpULessThan %bool %count %four", "OpUGreaterThan %bool %four %count");
    let report = check(&[], &before, &after);
    assert_eq!((report.verdict, report.specialisations()), (Verdict::Refines, 4));
    assert!(line(&report).ends_with(" inputs; also at 4 other specialisations"), "{}", line(&report));
    assert_eq!(json::check(&report), json::check(&check(&[], &before, &after)));
    let values = |report: &CheckReport| -> Vec<Vec<String>> {
        report.choices.launch.iter().map(|launch| launch.varied_specs()).collect()
    };
    assert_eq!(
        values(&report)[..3],
        [vec![], vec!["3=4".to_owned(), "7=4".into()], vec!["3=5".into(), "7=1".into()]]
    );
    assert_ne!(values(&report), values(&check(&["--seed", "1"], &before, &after)));
    // The size is followed.
    assert_eq!(report.choices.launch[1].local_size, [4, 1, 1]);
    assert_eq!(report.exit_code(true), 0);
}

#[test]
fn a_frozen_spec_id_is_compared_at_its_default_alone() {
    let before = module("", SELECT);
    let frozen = with(&before, "OpDecorate %count SpecId 3\n", "");
    let frozen = with(&frozen, "%count = OpSpecConstant", "%count = OpConstant");
    let report = check(&[], &before, &frozen);
    assert_eq!((report.verdict, report.exit_code(false), report.exit_code(true)), (Verdict::Refines, 0, 4));
    assert!(
        line(&report).ends_with("; at the default of SpecId 3 alone, which after has frozen"),
        "{}",
        line(&report)
    );
    assert!(report.choices.launch.iter().all(|launch| !launch.varied.contains_key(&3)));
    assert_eq!(json::check_value(&report)["frozen"], serde_json::json!([{"spec_id": 3, "default": 3}]));
    let strict = check(&["--spec-may-freeze", "no"], &before, &frozen);
    assert_eq!((strict.verdict, strict.exit_code(false)), (Verdict::Violates, 1));
    assert!(
        line(&strict).starts_with("violates: after has frozen SpecId 3, which matters to before"),
        "{}",
        line(&strict)
    );
    // The default may be given; with another value there is nothing to compare.
    assert_eq!(check(&["--spec", "3=3"], &before, &frozen).verdict, Verdict::Refines);
    let other = check(&["--spec", "3=5"], &before, &frozen);
    assert_eq!((other.verdict, other.exit_code(false)), (Verdict::Inconclusive, 3));
    assert!(line(&other).contains("after has frozen SpecId 3"), "{}", line(&other));
    // Another value than the default is a change.
    let wrong = with(&frozen, "%count = OpConstant %uint 3", "%count = OpConstant %uint 5");
    assert_eq!(check(&[], &before, &wrong).verdict, Verdict::Violates);
}

#[test]
fn a_spec_id_that_reaches_nothing_is_neither_varied_nor_missed() {
    let before = module("", "%unused = OpIAdd %uint %count %four\n%value = OpIAdd %uint %i %seven");
    let after = with(&before, "%unused = OpIAdd %uint %count %four\n", "");
    let after = with(&after, "OpDecorate %count SpecId 3\n", "");
    let after = with(&after, "%count = OpSpecConstant %uint 3\n", "");
    let report = check(&["--spec-may-freeze", "no"], &before, &after);
    assert_eq!((report.verdict, &report.frozen[..]), (Verdict::Refines, &[][..]));
    assert!(report.choices.launch.iter().all(|launch| !launch.varied.contains_key(&3)));
}

#[test]
fn a_violation_that_only_another_workgroup_size_shows_is_found() {
    // One invocation needs no barrier; several race without.
    let code = "%mine = OpAccessChain %p_shared %tile %i
OpStore %mine %seven
OpControlBarrier %two %two %barrier
%first = OpAccessChain %p_shared %tile %zero
%value = OpLoad %uint %first";
    let before = module("", code).replace("%size = OpSpecConstant %uint 2", "%size = OpSpecConstant %uint 1");
    let before = with(&before, "%id = OpVariable", "%tile = OpVariable %p_pair Workgroup\n%id = OpVariable");
    let after = with(&before, "OpControlBarrier %two %two %barrier\n", "");
    let report = check(&[], &before, &after);
    assert_eq!(report.verdict, Verdict::Violates);
    assert!(line(&report).starts_with("violates: new-race, "), "{}", line(&report));
    assert!(line(&report).ends_with("--spec 7=2)"), "{}", line(&report));
    let told = text::check(&report, Painter { coloured: false });
    assert!(told.contains("workgroups 1 of 2, subgroups of 2, spec 7=2 (varied)"), "{told}");
    // Sizes beyond the array are undefined in before: passed over, and said so.
    let same = check(&["--seed", "2"], &before, &before.replace("%p_shared %tile %i", "%p_shared  %tile %i"));
    assert_eq!(same.verdict, Verdict::Refines);
}

#[test]
fn a_saved_violation_is_replayed_at_its_specialisation() {
    let before = module("%flag = OpSpecConstantTrue %bool", "%value = OpSelect %uint %flag %seven %eight");
    let before =
        with(&before, "OpDecorate %size SpecId 7", "OpDecorate %size SpecId 7\nOpDecorate %flag SpecId 5");
    let after = with(&before, "OpSelect %uint %flag %seven %eight", "OpCopyObject %uint %seven");
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("before.spvasm", &before);
    write("after.spvasm", &after);
    let run = |folder: &Path, words: &[&str]| {
        let spirv_tv = Command::new(env!("CARGO_BIN_EXE_spirv-tv")).args(words).current_dir(folder).output();
        spirv_tv.unwrap().status.code()
    };
    let saving = ["check", "before.spvasm", "after.spvasm", "--save-failing", "saved"];
    assert_eq!(run(folder.path(), &saving), Some(1));
    let place = folder.path().join("saved/1");
    let launch = std::fs::read_to_string(place.join("launch.toml")).unwrap();
    assert!(launch.contains("\"5=0x0\""), "{launch}");
    let command = std::fs::read_to_string(place.join("command.txt")).unwrap();
    assert_eq!(run(&place, &command.split_whitespace().skip(1).collect::<Vec<_>>()), Some(1));
}

#[test]
fn what_cannot_be_specialised_is_passed_over_and_named() {
    // Beyond 4 the array would have no elements, which is invalid.
    let before = module(
        "%below = OpSpecConstantOp %bool ULessThan %count %four
%length = OpSpecConstantOp %uint Select %below %four %zero
%list = OpTypeArray %uint %length
%p_list = OpTypePointer Private %list
%p_item = OpTypePointer Private %uint",
        "%item = OpAccessChain %p_item %items %zero\nOpStore %item %seven\n%value = OpLoad %uint %item",
    );
    let before = with(&before, "%id = OpVariable", "%items = OpVariable %p_list Private\n%id = OpVariable");
    let after = with(&before, "%value = OpLoad %uint %item", "%value = OpCopyObject %uint %seven");
    let report = check(&[], &before, &after);
    assert_eq!(report.verdict, Verdict::Refines);
    let passed_over = report.warnings.iter().filter(|warning| warning.starts_with("passed over: --spec 3=4"));
    assert!(passed_over.count() > 0, "{:?}", report.warnings);
}
