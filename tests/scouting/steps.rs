//! What the steps of a pipeline look at.

use spirv_tv::check::{check_in_series, CheckReport, Searches, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::module::Module;

use crate::texts::checker;

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

/// The checks of each of these modules against the next.
fn steps(modules: &[(usize, usize)], shares_looks: bool) -> Vec<CheckReport> {
    let checker = checker(&[]);
    let read = |(always, never): &(usize, usize)| {
        Module::from_text(&module(*always, *never), "test", &checker.read).unwrap()
    };
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
