//! How many workgroups run where the user does not say, and which launch a verdict rests on (docs/semantics.md,
//! section 1.7).

use spirv_tv::check::{CheckReport, PassedOver};
use spirv_tv::compare::{Verdict, ViolationKind};
use spirv_tv::module::Module;
use spirv_tv::report::{json, text, Painter};

use crate::texts::{checker, with};

/// A module with a buffer of words, a built-in vector `%id`, and `body`; `%local` invocations in a workgroup.
fn module(local_size: &str, built_in: &str, body: &str) -> String {
    format!(
        "OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpExtension \"SPV_KHR_vulkan_memory_model\"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize {local_size}
OpDecorate %id BuiltIn {built_in}
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%nothing = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint3 = OpTypeVector %uint 3
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%p_block = OpTypePointer StorageBuffer %block
%p_word = OpTypePointer StorageBuffer %uint
%p_input = OpTypePointer Input %uint3
%p_component = OpTypePointer Input %uint
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%seven = OpConstant %uint 7
%device = OpConstant %uint 1
%relaxed = OpConstant %uint 0
%id = OpVariable %p_input Input
%buffer = OpVariable %p_block StorageBuffer
%main = OpFunction %void None %nothing
%entry = OpLabel
{body}
OpReturn
OpFunctionEnd
"
    )
}

/// Stores 7 at the component of the built-in.
fn store_at(component: &str) -> String {
    format!(
        "%c = OpAccessChain %p_component %id {component}
%i = OpLoad %uint %c
%word = OpAccessChain %p_word %buffer %zero %i
OpStore %word %seven"
    )
}

const PLAIN: Painter = Painter { coloured: false };

const STORE_FIRST: &str = "%word = OpAccessChain %p_word %buffer %zero %zero\nOpStore %word %seven";

fn check(args: &[&str], before: &str, after: &str) -> CheckReport {
    let checker = checker(args);
    let read = |text: &str, name| {
        Module::from_text(text, name, &checker.read).unwrap_or_else(|error| panic!("{error}"))
    };
    checker.check(&read(before, "before"), &read(after, "after"))
}

/// Numbers of workgroups, and why the verdict does not rest on them.
fn launches(report: &CheckReport) -> Vec<([u32; 3], Option<PassedOver>)> {
    report.choices.launch.iter().map(|launch| (launch.workgroups, launch.passed_over)).collect()
}

fn kind(report: &CheckReport) -> Option<ViolationKind> {
    Some(report.decisive()?.comparison.violation.as_ref()?.kind)
}

/// Where each workgroup stores at its own place, one place for all is another outcome.
#[test]
fn a_lost_workgroup_index_is_noticed() {
    for (component, workgroups) in [("%zero", [2, 1, 1]), ("%one", [1, 2, 1]), ("%two", [1, 1, 2])] {
        for built_in in ["WorkgroupId", "GlobalInvocationId"] {
            let [own, first] =
                [&store_at(component), STORE_FIRST].map(|body| module("1 1 1", built_in, body));
            let report = check(&["--buffer", "0.0=zeros:4"], &own, &first);
            assert_eq!(launches(&report), [(workgroups, None)], "{built_in} {component}");
            let found = (report.verdict, kind(&report));
            assert_eq!(found, (Verdict::Violates, Some(ViolationKind::NewRace)), "{built_in} {component}");
            // What after alone reads counts as well; before has a race then.
            let report = check(&["--buffer", "0.0=zeros:4"], &first, &own);
            let expected = [(workgroups, Some(PassedOver::Vacuous)), ([1, 1, 1], None)];
            assert_eq!(launches(&report), expected, "{built_in} {component}");
        }
    }
}

/// A loop over tiles runs twice, so that what the second turn needs is missed: the barrier behind the first one, and
/// whole tiles.
#[test]
fn mistakes_in_a_tiled_product_are_noticed() {
    let product = include_str!("launches/tiled-product.spvasm");
    let barrier = "OpControlBarrier %uint_2 %uint_2 %uint_264\n";
    let (head, tail) = product.rsplit_once(barrier).unwrap_or_default();
    let report = check(&[], product, &format!("{head}{tail}"));
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violates, Some(ViolationKind::NewRace)));
    let shorter = product.replace(
        "%uint_4 = OpConstant %uint 4\n",
        "%uint_4 = OpConstant %uint 4\n%uint_3 = OpConstant %uint 3\n",
    );
    let shorter =
        shorter.replace("%104 = OpULessThan %bool %103 %uint_4", "%104 = OpULessThan %bool %103 %uint_3");
    let report = check(&[], product, &shorter);
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violates, Some(ViolationKind::NewOutcome)));
    assert_eq!(check(&[], product, product).verdict, Verdict::Refines);
}

#[test]
fn what_nobody_reads_makes_no_second_workgroup() {
    let first = module("4 4 1", "LocalInvocationId", &store_at("%one"));
    let whole = module("1 1 1", "WorkgroupId", &format!("%whole = OpLoad %uint3 %id\n{STORE_FIRST}"));
    for text in [&first, &whole] {
        let report = check(&["--races", "keep"], text, text);
        assert_eq!(launches(&report), [([1, 1, 1], None)]);
        assert_eq!(report.verdict, Verdict::Refines);
    }
}

#[test]
fn what_the_user_says_stays() {
    let own = module("1 1 1", "WorkgroupId", &store_at("%zero"));
    let first = module("1 1 1", "WorkgroupId", STORE_FIRST);
    let report = check(&["--workgroups", "1"], &own, &first);
    assert_eq!((report.verdict, launches(&report)), (Verdict::Refines, vec![([1, 1, 1], None)]));
    // All workgroups store to one word; nothing else is tried.
    let report = check(&["--workgroups", "2"], &first, &first);
    assert_eq!((report.verdict, launches(&report)), (Verdict::Vacuous, vec![([2, 1, 1], None)]));
}

/// All workgroups store to one word: two of them race.
fn racy(value: &str) -> String {
    let body = format!(
        "%c = OpAccessChain %p_component %id %zero
%i = OpLoad %uint %c
%word = OpAccessChain %p_word %buffer %zero %zero
OpStore %word {value}"
    );
    module("1 1 1", "WorkgroupId", &body)
}

#[test]
fn where_several_workgroups_are_vacuous_one_decides() {
    let report = check(&[], &racy("%seven"), &racy("%seven"));
    let expected = vec![([2, 1, 1], Some(PassedOver::Vacuous)), ([1, 1, 1], None)];
    assert_eq!((report.verdict, launches(&report)), (Verdict::Refines, expected.clone()));
    let line = text::check_line(&report, PLAIN);
    assert!(line.ends_with("; rests on one workgroup (2 workgroups: before is undefined)"), "{line}");
    let value = json::check_value(&report);
    assert_eq!(value["choices"]["launch"][0]["passed_over"], "vacuous");
    assert_eq!(value["choices"]["launch"][1]["passed_over"], serde_json::Value::Null);
    assert_eq!(value["runs"][0]["workgroups"], serde_json::json!([2, 1, 1]));
    // A violation on one workgroup is one.
    let report = check(&[], &racy("%seven"), &racy("%two"));
    assert_eq!((report.verdict, launches(&report)), (Verdict::Violates, expected));
    assert_eq!(kind(&report), Some(ViolationKind::NewOutcome));
    assert_eq!(report.decisive().map(|run| run.workgroups()), Some([1, 1, 1]));
}

/// Every invocation adds, and keeps what it read: the order of the invocations shows.
fn counter(value: &str) -> String {
    let body = format!(
        "%c = OpAccessChain %p_component %id %zero
%i = OpLoad %uint %c
%counter = OpAccessChain %p_word %buffer %zero %zero
%seen = OpAtomicIAdd %uint %counter %device %relaxed %one
%place = OpIAdd %uint %i %one
%own = OpAccessChain %p_word %buffer %zero %place
%kept = OpIAdd %uint %seen {value}
OpStore %own %kept"
    );
    module("3 1 1", "GlobalInvocationId", &body)
}

/// A search that visits them one by one.
const EVERY_ORDER: &[&str] = &[
    "--all-executions",
    "--without",
    "symmetry",
    "--without",
    "commuting-updates",
    "--buffer",
    "0.0=zeros:8",
];

#[test]
fn where_several_workgroups_are_not_finished_one_decides() {
    // 720 orders of six invocations, six of three.
    let args = [&["--max-executions", "100"], EVERY_ORDER].concat();
    let expected = vec![([2, 1, 1], Some(PassedOver::Unfinished)), ([1, 1, 1], None)];
    // Two programs that do the same.
    let swapped = with(&counter("%zero"), "OpIAdd %uint %seen %zero", "OpIAdd %uint %zero %seen");
    let report = check(&args, &counter("%zero"), &swapped);
    assert_eq!((report.verdict, launches(&report)), (Verdict::Refines, expected));
    let line = text::check_line(&report, PLAIN);
    assert!(line.ends_with("; rests on one workgroup (2 workgroups: not finished)"), "{line}");
    assert!(!report.bounded(), "the launch that decides was finished");
}

/// Where one workgroup decides nothing either, the verdict is that of the first launch, and both are in the report.
#[test]
fn two_launches_that_decide_nothing_are_both_told() {
    let args = [&["--max-executions", "2"], EVERY_ORDER].concat();
    let swapped = with(&counter("%zero"), "OpIAdd %uint %seen %zero", "OpIAdd %uint %zero %seen");
    let report = check(&args, &counter("%zero"), &swapped);
    let expected = vec![([2, 1, 1], None), ([1, 1, 1], Some(PassedOver::Unfinished))];
    assert_eq!((report.verdict, launches(&report)), (Verdict::Inconclusive, expected));
    let told = text::check(&report, PLAIN);
    assert!(told.contains("passed over (not finished)"), "{told}");
}

/// A launch that nobody asked for has only so many invocations, and the report says which workgroups it lacks.
#[test]
fn too_many_workgroups_are_left_out_by_name() {
    let body = "%whole = OpLoad %uint3 %id
%x = OpCompositeExtract %uint %whole 0
%y = OpCompositeExtract %uint %whole 1";
    let text = module("32 16 1", "GlobalInvocationId", body);
    let report = check(&["--inputs", "1"], &text, &text);
    assert_eq!(launches(&report), [([2, 1, 1], None)]);
    assert!(
        report.warnings.iter().any(|warning| warning.starts_with("one workgroup in y, ")),
        "{:?}",
        report.warnings
    );
}
