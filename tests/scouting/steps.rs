//! What the steps of a pipeline look at.

use std::process::Command;

use spirv_tv::check::{check_in_series, CheckReport, Searches, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::module::Module;

use crate::texts::{checker, with};

/// Stores a word in the next one, and where its square is 3, which that of none is, 3 more. Each place has so many dead
/// instructions.
fn module(always: usize, never: usize) -> String {
    let dead = |count: usize, place: &str| {
        (0..count)
            .map(|number| format!("%{place}_{number} = OpIAdd %uint %word %three\n"))
            .collect::<String>()
    };
    format!(
        "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%block = OpTypeStruct %uint %uint
%p_block = OpTypePointer Uniform %block
%p_uint = OpTypePointer Uniform %uint
%x = OpVariable %p_block Uniform
%main = OpFunction %void None %function
%entry = OpLabel
%from = OpAccessChain %p_uint %x %zero
%to = OpAccessChain %p_uint %x %one
%word = OpLoad %uint %from
{}%square = OpIMul %uint %word %word
OpStore %to %word
%is_three = OpIEqual %bool %square %three
OpSelectionMerge %end None
OpBranchConditional %is_three %then %end
%then = OpLabel
{}%sum = OpIAdd %uint %word %three
OpStore %to %sum
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
",
        dead(always, "always"),
        dead(never, "never")
    )
}

/// Three invocations exchange a word, unless it is zero, and store what they get: in one of six orders. There are so many dead
/// instructions.
fn exchange(dead: usize) -> String {
    let dead = (0..dead).map(|number| format!("%dead_{number} = OpIAdd %uint %word %one\n"));
    format!(
        "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %index
OpExecutionMode %main LocalSize 3 1 1
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %runs ArrayStride 4
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
OpMemberDecorate %block 2 Offset 8
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%three = OpConstant %uint 3
%runs = OpTypeArray %uint %three
%block = OpTypeStruct %uint %uint %runs
%p_block = OpTypePointer Uniform %block
%p_uint = OpTypePointer Uniform %uint
%p_in = OpTypePointer Input %uint
%index = OpVariable %p_in Input
%x = OpVariable %p_block Uniform
%main = OpFunction %void None %function
%entry = OpLabel
%from = OpAccessChain %p_uint %x %zero
%word = OpLoad %uint %from
{}%is_zero = OpIEqual %bool %word %zero
OpSelectionMerge %end None
OpBranchConditional %is_zero %end %then
%then = OpLabel
%who = OpLoad %uint %index
%next = OpIAdd %uint %who %one
%shared = OpAccessChain %p_uint %x %one
%own = OpAccessChain %p_uint %x %two %who
%other = OpAtomicExchange %uint %shared %one %zero %next
OpStore %own %other
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
",
        dead.collect::<String>()
    )
}

/// The checks of each of these modules against the next.
fn steps(modules: &[(usize, usize)], shares_looks: bool) -> Vec<CheckReport> {
    let texts: Vec<String> = modules.iter().map(|(always, never)| module(*always, *never)).collect();
    steps_of(&texts, &[], shares_looks)
}

fn steps_of(modules: &[String], args: &[&str], shares_looks: bool) -> Vec<CheckReport> {
    let checker = checker(args);
    let read = |text: &String| Module::from_text(text, "test", &checker.read).unwrap();
    let modules: Vec<Module> = modules.iter().map(read).collect();
    let mut searches = Searches::default();
    if shares_looks {
        searches.share_looks();
    }
    let mut check = |pair: &[Module]| {
        check_in_series(&pair[0], &pair[1], &checker.options, &Watch::default(), &mut searches).unwrap()
    };
    modules.windows(2).map(&mut check).collect()
}

fn looked_at(reports: &[CheckReport]) -> Vec<usize> {
    assert!(reports.iter().all(|report| report.verdict == Verdict::Refines));
    reports.iter().map(|report| report.choices.inputs.looked_at).collect()
}

#[test]
fn steps_look_at_few_inputs_where_what_was_changed_runs() {
    let ran = looked_at(&steps(&[(0, 0), (1, 0), (2, 0)], true));
    assert!(ran.iter().all(|count| (1..20).contains(count)), "{ran:?}");
    // Where it does not, they share more.
    let never = looked_at(&steps(&[(0, 0), (0, 1), (0, 2), (0, 3), (1, 3)], true));
    assert!(never[0] > 20 && never[0] > never[1] && never[1] > never[2] && never[3] < 20, "{never:?}");
    let alone = looked_at(&steps(&[(0, 0), (1, 0), (2, 0)], false));
    assert!(alone.iter().all(|count| *count > 2 * never[0]), "{alone:?} {never:?}");
}

#[test]
fn steps_have_the_same_inputs() {
    let reports = steps(&[(0, 0), (1, 0), (2, 0)], true);
    let of = |report: &CheckReport| {
        let runs = report.runs.iter().map(|run| (run.input.name.clone(), run.input.buffers.clone()));
        runs.collect::<std::collections::BTreeMap<_, _>>()
    };
    let [first, second] = [of(&reports[0]), of(&reports[1])];
    let same = first.iter().filter(|(name, buffers)| second.get(*name) == Some(buffers)).count();
    assert!(first.len() > 8 && (same, second.len()) == (8, 8), "{:?} {:?}", first.keys(), second.keys());
    assert!(reports[1].runs.iter().filter(|run| run.before.reused).count() >= same);
}

#[test]
fn a_step_decides_nothing_where_most_inputs_of_the_step_before_were_not_finished() {
    let modules = [0, 1, 2].map(exchange);
    let reports = steps_of(&modules, &["--max-executions", "2", "--workgroups", "1,1,1"], true);
    for report in &reports {
        assert_eq!(report.verdict, Verdict::Inconclusive);
        assert!(
            report.tried().unfinished().unwrap().ends_with("not finished (executions)"),
            "{:?}",
            report.tried()
        );
    }
    let [finished, unfinished] = [true, false].map(|finished| {
        let runs = reports[0].runs.iter();
        runs.filter(|run| run.comparison.unfinished.is_none() == finished).count()
    });
    assert!(0 < finished && finished < unfinished, "{finished} {unfinished}");
    let reasons: Vec<String> = reports[1].reasons.iter().map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        [format!(
            "{unfinished} inputs of entry point 'main' were not tried again, as the step before has not finished them"
        )]
    );
}

#[test]
fn launches_that_steps_have_nothing_left_for_are_named() {
    let of_groups = |never| {
        let text = with(&module(0, never), "%main \"main\"", "%main \"main\" %group");
        let text = with(&text, "%block = OpTypeStruct %uint %uint", "%block = OpTypeStruct %uint %runs");
        let text =
            with(&text, "%to = OpAccessChain %p_uint %x %one", "%to = OpAccessChain %p_uint %x %one %number");
        let declared = "%runs = OpTypeRuntimeArray %uint\n%vector = OpTypeVector %uint 3\n\
                        %p_vector = OpTypePointer Input %vector\n%group = OpVariable %p_vector Input\n%block =";
        let text = with(&text, "%block =", declared);
        let read = "%groups = OpLoad %vector %group\n%number = OpCompositeExtract %uint %groups 0\n%from =";
        let decorated =
            "OpDecorate %runs ArrayStride 4\nOpDecorate %group BuiltIn WorkgroupId\nOpDecorate %block Buf";
        with(&with(&text, "%from =", read), "OpDecorate %block Buf", decorated)
    };
    let reports = steps_of(&[0, 1, 2, 3, 4, 5].map(of_groups), &[], true);
    let spent = |report: &CheckReport| {
        let named = "main: not looked at with 4,1,1 or 1,1,1 workgroups, as the steps before have used what all share for that";
        report.warnings.iter().any(|warning| warning == named)
    };
    let spent: Vec<bool> = reports.iter().map(spent).collect();
    assert!(!spent[0] && spent[4], "{spent:?} {:?}", reports[4].warnings);
}

#[test]
fn steps_look_at_no_other_specialisations_where_what_was_changed_runs() {
    let specialised = |always| {
        let text = with(&module(always, 0), "%three = OpConstant", "%three = OpSpecConstant");
        with(&text, "OpDecorate %block Buf", "OpDecorate %three SpecId 0\nOpDecorate %block Buf")
    };
    let texts = [0, 1, 2].map(specialised);
    let reports = steps_of(&texts, &[], true);
    assert!(reports.iter().all(|report| report.choices.launch.len() > 1));
    assert!(looked_at(&reports).iter().all(|count| (1..20).contains(count)), "{:?}", looked_at(&reports));
}

/// How many inputs `opt` looks at with these arguments where it says most.
fn looked_at_by_opt(args: &[&str]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("module.spvasm");
    std::fs::write(&path, module(2, 0)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    let output = command.arg("opt").arg(&path).args(args).args(["--format", "json"]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let reports = told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    reports.filter_map(|report| report["choices"]["inputs"]["looked_at"].as_u64()).max().unwrap()
}

#[test]
fn one_pass_and_the_ends_of_a_pipeline_are_looked_at_like_any_pair() {
    let dead = "--eliminate-dead-code-aggressive";
    let several = looked_at_by_opt(&["--ccp", dead]);
    assert!((1..20).contains(&several), "{several}");
    for alone in [looked_at_by_opt(&[dead]), looked_at_by_opt(&["--ccp", dead, "--ends"])] {
        assert!(alone > 20 * several, "{alone} {several}");
    }
}
