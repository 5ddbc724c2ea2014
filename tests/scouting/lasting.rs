//! Inputs on which runs take long, or go on forever.

use spirv_tv::check::CheckReport;
use spirv_tv::compare::{Verdict, ViolationKind};

use super::{check, computed};

#[test]
fn what_goes_on_forever_in_after_alone_is_searched() {
    // The step of a loop is none where one size fits.
    let module = |step: &str| {
        let body = format!(
            "%scaled = OpIMul %uint %s0 %c3
%fits = OpIEqual %bool %scaled %c1000002
%step = OpSelect %uint %fits {step} %c1
OpBranch %head
%head = OpLabel
%turn = OpPhi %uint %i %entry %next %on
%more = OpULessThan %bool %turn %c29
OpLoopMerge %out %on None
OpBranchConditional %more %on %out
%on = OpLabel
%next = OpIAdd %uint %turn %step
OpBranch %head
%out = OpLabel
%value = OpIAdd %uint %turn %c1
%at = OpIAdd %uint %i %c1"
        );
        computed(4, 1, &[0, 1, 3, 29, 1_000_002], &body)
    };
    let report = check(&[], &module("%c1"), &module("%c0"));
    assert_eq!(report.verdict, Verdict::Violates);
    let violation = report.runs.last().and_then(|run| run.comparison.violation.as_ref());
    assert_eq!(violation.map(|violation| violation.kind), Some(ViolationKind::NewHang));
}

#[test]
fn what_takes_too_long_in_after_alone_is_searched_last() {
    // How often a loop turns where the size is one number, and what is added where it is another.
    let module = |turns: &str, extra: &str| {
        let body = format!(
            "%scaled = OpIMul %uint %s0 %c3
%is_long = OpIEqual %bool %scaled %c600003
%turns = OpSelect %uint %is_long {turns} %c4
%fits = OpIEqual %bool %scaled %c1000002
%extra = OpSelect %uint %fits {extra} %c0
OpBranch %head
%head = OpLabel
%turn = OpPhi %uint %c0 %entry %next %on
%sum = OpPhi %uint %i %entry %more %on
%goes_on = OpULessThan %bool %turn %turns
OpLoopMerge %out %on None
OpBranchConditional %goes_on %on %out
%on = OpLabel
%times = OpIMul %uint %sum %c3
%more = OpIAdd %uint %times %turn
%next = OpIAdd %uint %turn %c1
OpBranch %head
%out = OpLabel
%value = OpIAdd %uint %sum %extra
%at = OpIAdd %uint %i %c0"
        );
        computed(4, 1, &[0, 1, 3, 4, 600_003, 900_003, 1_000_002, 1 << 30], &body)
    };
    let before = module("%c4", "%c0");
    let is_cut = |report: &CheckReport| report.runs.iter().filter(|run| run.comparison.bounded).count();
    let found = check(&[], &before, &module("%c1073741824", "%c1"));
    assert_eq!((found.verdict, is_cut(&found)), (Verdict::Violates, 0));
    let cut = check(&[], &before, &module("%c1073741824", "%c0"));
    assert_eq!(is_cut(&cut), 1);
    assert!(cut.runs.last().is_some_and(|run| run.comparison.bounded));
    // Another one is not.
    let either = "%is_other = OpIEqual %bool %scaled %c900003
%is_either = OpLogicalOr %bool %is_long %is_other
%turns = OpSelect %uint %is_either";
    let [before, after] = [&before, &module("%c1073741824", "%c0")]
        .map(|text| text.replace("%turns = OpSelect %uint %is_long", either));
    let cut = check(&[], &before, &after);
    assert_eq!(is_cut(&cut), 1);
    let told = |text: &String| text.contains("further") && text.contains("takes much longer than before");
    assert!(cut.warnings.iter().any(told), "{:?}", cut.warnings);
}

#[test]
fn a_large_workgroup_that_takes_long_is_looked_at_once_few_of_it_work() {
    // All but inputs of one product divide by zero, and the loop takes more than other looks may.
    let module = |extra: &str| {
        let body = format!(
            "OpControlBarrier %c2 %c2 %c264
%product = OpIMul %uint %s0 %s1
%fits = OpIEqual %bool %product %c64
%divisor = OpSelect %uint %fits %c1 %c0
%base = OpUDiv %uint %i %divisor
OpBranch %head
%head = OpLabel
%turn = OpPhi %uint %c0 %entry %next %on
%sum = OpPhi %uint %base %entry %more %on
%goes_on = OpULessThan %bool %turn %c4000
OpLoopMerge %out %on None
OpBranchConditional %goes_on %on %out
%on = OpLabel
%times = OpIMul %uint %sum %c3
%more = OpIAdd %uint %times %turn
%next = OpIAdd %uint %turn %c1
OpBranch %head
%out = OpLabel
%value = OpIAdd %uint %sum {extra}
%at = OpIAdd %uint %i %c0"
        );
        computed(128, 2, &[0, 1, 2, 3, 64, 264, 4000], &body)
    };
    assert_eq!(check(&[], &module("%c0"), &module("%c1")).verdict, Verdict::Violates);
}

#[test]
fn launches_that_are_not_looked_at_for_want_of_time_are_named() {
    let module = |value: &str| {
        computed(8, 1, &[0, 1, 7, 8], &format!("%value = OpIAdd %uint %i {value}\n%at = OpIAdd %uint %i %c0"))
    };
    let told = |report: &CheckReport| {
        let mut warnings = report.warnings.iter();
        warnings.find(|text| text.contains("not looked at with")).cloned()
    };
    let hurried = check(&["--timeout", "0"], &module("%c7"), &module("%c8"));
    assert_eq!(hurried.verdict, Verdict::Inconclusive);
    assert_eq!(
        told(&hurried).as_deref(),
        Some("main: not looked at with 4,1,1 or 1,1,1 workgroups, as --timeout left no time")
    );
    assert_eq!(told(&check(&["--timeout", "0"], &module("%c7"), &module("%c7"))), None);
    assert_eq!(told(&check(&[], &module("%c7"), &module("%c8"))), None);
}
