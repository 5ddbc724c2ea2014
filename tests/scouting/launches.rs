//! Which numbers of workgroups are searched, and which are looked at.

use spirv_tv::compare::Verdict;
use spirv_tv::report::{text, Painter};

use super::{check, computed, module};

#[test]
fn one_workgroup_is_tried_where_several_change_nothing() {
    // Only a single workgroup works.
    let alone = |value: &str| {
        module(value)
            .replace(
                "BuiltIn GlobalInvocationId",
                "BuiltIn GlobalInvocationId\nOpDecorate %groups BuiltIn NumWorkgroups",
            )
            .replace("\"main\" %id", "\"main\" %id %groups")
            .replace("%id = OpVariable", "%groups = OpVariable %p_input Input\n%id = OpVariable")
            .replace(
                "%works = OpULessThan %bool %i %count",
                "%at_groups = OpAccessChain %p_component %groups %zero\n%many = OpLoad %uint %at_groups
%one_group = OpIEqual %bool %many %one\n%is_first = OpIEqual %bool %i %zero
%works = OpLogicalAnd %bool %one_group %is_first",
            )
    };
    let report = check(&[], &alone("%seven"), &alone("%eight"));
    assert_eq!(report.verdict, Verdict::Violates);
    let launches: Vec<[u32; 3]> = report.choices.launch.iter().map(|launch| launch.workgroups).collect();
    assert_eq!(launches, [[2, 1, 1], [1, 1, 1]]);
    let told = text::check(&report, Painter { coloured: false });
    assert!(told.contains("passed over (before changes nothing where it is defined)"), "{told}");
}

#[test]
fn two_workgroups_in_x_are_tried_where_others_are_in_their_way() {
    // Workgroups that differ in y alone store to the same words, and only the second one in x shows the change.
    let module = |value: &str| {
        let body = format!(
            "%at_y = OpAccessChain %p_component %id %c1
%y = OpLoad %uint %at_y
%none = OpIMul %uint %y %c0
%second = OpUGreaterThan %bool %i %c3
%chosen = OpSelect %uint %second {value} %c0
%value = OpIAdd %uint %chosen %none
%at = OpIAdd %uint %i %c0"
        );
        computed(4, 1, &[0, 1, 3, 7, 8], &body)
    };
    let report = check(&[], &module("%c7"), &module("%c8"));
    assert_eq!(report.verdict, Verdict::Violates);
    let launches: Vec<[u32; 3]> = report.choices.launch.iter().map(|launch| launch.workgroups).collect();
    assert_eq!(launches, [[2, 2, 1], [2, 1, 1]]);
    let refines = check(&[], &module("%c7"), &module("%c7"));
    let told = text::check(&refines, Painter { coloured: false });
    assert!(told.contains("; rests on 2 workgroups (2x2x1 workgroups: before is undefined)"), "{told}");
}

#[test]
fn workgroups_in_one_dimension_are_looked_at_where_others_are_in_their_way() {
    // Rows of eight: the second workgroup in x is in the way of the second one in y, so that before is defined for the
    // first row alone, where the change does not show.
    let module = |row: &str| {
        let body = format!(
            "%at_y = OpAccessChain %p_component %id %c1
%y = OpLoad %uint %at_y
%rows = OpIMul %uint %y {row}
%at = OpIAdd %uint %rows %i
%value = OpCopyObject %uint %i
%works = OpULessThan %bool %at %s0
OpSelectionMerge %end None
OpBranchConditional %works %work %end
%work = OpLabel"
        );
        let end = "OpStore %word %value\nOpBranch %end\n%end = OpLabel\nOpReturn";
        computed(8, 1, &[0, 1, 8, 9], &body).replace("OpStore %word %value\nOpReturn", end)
    };
    let report = check(&[], &module("%c8"), &module("%c9"));
    assert_eq!(report.verdict, Verdict::Violates);
    let launches: Vec<[u32; 3]> = report.choices.launch.iter().map(|launch| launch.workgroups).collect();
    assert_eq!(launches, [[2, 2, 1], [1, 2, 1]]);
    assert_eq!(check(&["--workgroups", "2,2"], &module("%c8"), &module("%c9")).verdict, Verdict::Refines);
    // Where nothing differs, they are not mentioned, but what they execute has run.
    let of_second = |value: &str| {
        let second = format!(
            "%work = OpLabel\n%is_second = OpUGreaterThan %bool %y %c0\nOpSelectionMerge %on None
OpBranchConditional %is_second %second %on\n%second = OpLabel\n%same = {value}
%place = OpAccessChain %p_word %buffer %zero %at\nOpStore %place %same\nOpBranch %on\n%on = OpLabel"
        );
        module("%c8").replace("%work = OpLabel", &second)
    };
    let report = check(&[], &of_second("OpIAdd %uint %y %c9"), &of_second("OpISub %uint %y %c9"));
    assert_eq!((report.verdict, report.choices.launch.len()), (Verdict::Refines, 1));
    assert!(!report.exercised.is_hollow(), "{:?}", report.exercised);
}

#[test]
fn what_only_the_fourth_workgroup_does_is_looked_at() {
    let module = |value: &str| {
        let body = format!(
            "OpControlBarrier %c2 %c2 %c264
%is_fourth = OpUGreaterThan %bool %i %c23
%value = OpSelect %uint %is_fourth {value} %c0
%at = OpIAdd %uint %i %c0"
        );
        computed(8, 1, &[0, 2, 7, 23, 24, 264], &body)
    };
    let report = check(&[], &module("%c7"), &module("%c24"));
    assert_eq!(report.verdict, Verdict::Violates);
    let launches: Vec<[u32; 3]> = report.choices.launch.iter().map(|launch| launch.workgroups).collect();
    assert_eq!(launches, [[2, 1, 1], [4, 1, 1]]);
}

#[test]
fn the_last_workgroup_is_looked_at_where_invocations_communicate() {
    // What the second workgroup adds shows with one size alone.
    let module = |workgroup: &str| {
        let body = format!(
            "%base = OpIMul %uint {workgroup} %c512
%is_first = OpIEqual %bool %base %c0
%scaled = OpIMul %uint %s0 %c3
%fits = OpIEqual %bool %scaled %c1000002
%adds = OpLogicalAnd %bool %is_first %fits
%more = OpSelect %uint %adds %c1 %c0
%counter = OpAccessChain %p_word %buffer %c0 %c0
%known = OpAtomicIAdd %uint %counter %c1 %c0 %more
%value = OpIAdd %uint %i %c0
%at = OpIAdd %uint %i %c1"
        );
        computed(1, 1, &[0, 1, 3, 512, 1_000_002], &body)
    };
    let report = check(&[], &module("%i"), &module("%c0"));
    assert_eq!(report.verdict, Verdict::Violates);
    let found = report.runs.last().map(|run| run.input.name.clone()).unwrap_or_default();
    assert!(found.starts_with("solved "), "{found}");
}
