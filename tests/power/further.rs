//! Proofs about more than one instruction: turns of loops that come to nothing, stores that are overwritten, what comes later.

use rspirv::binary::Assemble;
use rspirv::dr::{load_words, Instruction, Module};
use rspirv::spirv::Op;
use spirv_tv_toolchain::assemble;

use super::{expect, host, solver, text};
use crate::require::{skipped, Need};

/// Types and variables in shared memory and in a buffer that is not read.
const MORE: &str = "%to_shared = OpTypePointer Workgroup %uint\n %c6 = OpConstant %uint 6\n %c5 = OpConstant %uint 5\n %c7 = OpConstant %uint 7
     %c264 = OpConstant %uint 264\n %array = OpTypeArray %uint %c64\n %to_array = OpTypePointer Workgroup %array
     %shared = OpVariable %to_array Workgroup\n %to_late_buffer = OpTypePointer StorageBuffer %late_buffer
     %to_late = OpTypePointer StorageBuffer %uint\n %late = OpVariable %to_late_buffer StorageBuffer\n %function =";

fn module(body: &str, decorated: &str) -> Module {
    let text = text(body).replace("%function =", MORE);
    let text = text
        .replace("%buffer = OpTypeStruct", "%late_buffer = OpTypeStruct %numbers\n %buffer = OpTypeStruct");
    let decorations = format!(
        "OpDecorate %late_buffer Block\n OpMemberDecorate %late_buffer 0 Offset 0\n OpDecorate %late DescriptorSet 0
         OpDecorate %late Binding 3\n {decorated}\n OpDecorate %numbers "
    );
    let text = text.replace("OpDecorate %numbers ", &decorations);
    load_words(assemble(&text, None).unwrap_or_else(|error| panic!("{error}: {body}"))).unwrap()
}

fn is_proved(before: &str, after: &str) -> bool {
    solver::finds_no_difference(&module(before, ""), &module(after, ""))
}

/// A reduction with a turn for each power of two that is less than the bound's.
fn reduction(first: &str, stays: &str, stored: &str, read: &str) -> String {
    format!(
        "%own = OpAccessChain %to_shared %shared %lid\n OpStore %own %x
         %half = OpULessThan %bool %lid %c32\n %most = OpSelect %uint %half %c6 %c6
         %some = OpSelect %uint %half %c5 %c6\n %longer = OpSelect %uint %half %c7 %c6\n OpBranch %head
         %head = OpLabel\n %i = OpPhi %uint {first} %entry %next %again\n %sum = OpPhi %uint %x %entry %more %again
         OpLoopMerge %end %again None\n OpBranch %test
         %test = OpLabel\n %t = {stays}\n OpBranchConditional %t %turn %end
         %turn = OpLabel\n OpControlBarrier %c2 %c2 %c264\n %far = OpShiftLeftLogical %uint %c1 %i
         %at = OpIAdd %uint %lid %far\n %in_group = OpULessThan %bool %at %c64
         OpSelectionMerge %on None\n OpBranchConditional %in_group %adds %on
         %adds = OpLabel\n %other = OpAccessChain %to_shared %shared %at\n %l = OpLoad %uint %other
         %added = OpIAdd %uint %sum %l\n OpBranch %on
         %on = OpLabel\n %more = OpPhi %uint %sum %turn %added %adds\n OpControlBarrier %c2 %c2 %c264
         %shown = OpIAdd %uint %more {stored}\n OpStore %own %shown\n OpBranch %again
         %again = OpLabel\n %next = OpIAdd %uint %i %c1\n OpBranch %head
         %end = OpLabel\n OpControlBarrier %c2 %c2 %c264\n %to_first = OpAccessChain %to_shared %shared %c0
         %all = OpLoad %uint %to_first\n %r = OpIAdd %uint %all {read}"
    )
}

#[test]
fn a_further_turn_may_repeat_what_was_stored_last() {
    if !solver::is_installed() {
        return skipped(Need::Solver, "z3 is not installed");
    }
    let proved = |first: &str, bound: &str, stored: &str, read: &str| {
        let of = |test: &str| reduction(first, &format!("{test} %bool %i {bound}"), stored, read);
        is_proved(&of("OpULessThan"), &of("OpULessThanEqual"))
    };
    // What is stored is what is carried on, but for nothing.
    let plain = |text: String| {
        text.replace("%shown = OpIAdd %uint %more %c0\n OpStore %own %shown", "OpStore %own %more")
    };
    let of = |first: &str, test: &str, bound: &str, read: &str| {
        plain(reduction(first, &format!("{test} %bool %i {bound}"), "%c0", read))
    };
    let same = |first: &str, bound: &str, read: &str| {
        is_proved(&of(first, "OpULessThan", bound, read), &of(first, "OpULessThanEqual", bound, read))
    };
    assert!(same("%c0", "%c6", "%sum"));
    // It adds something, the turn is the first one, or how many turns there were is seen.
    assert!(!same("%c0", "%c5", "%sum"));
    assert!(!same("%c6", "%c6", "%sum"));
    assert!(!same("%c0", "%c6", "%i"));
    // Not all invocations take it.
    assert!(!same("%c0", "%some", "%sum"));
    assert!(!same("%c0", "%y", "%sum"));
    let bounded = |bound: &str| of("%c0", "OpULessThan", bound, "%sum");
    assert!(!is_proved(&bounded("%c6"), &bounded("%longer")));
    // It stores something else than the turn before, also where what is stored is carried on.
    assert!(!proved("%c0", "%c6", "%i", "%sum"));
    let counts = |test: &str| {
        let text = of("%c0", test, "%c6", "%sum")
            .replace("OpStore %own %more", "%k2 = OpIAdd %uint %k %c1\n OpStore %own %k2");
        text.replace("%sum = OpPhi", "%k = OpPhi %uint %c0 %entry %k2 %again\n %sum = OpPhi")
    };
    assert!(!is_proved(&counts("OpULessThan"), &counts("OpULessThanEqual")));
    // Some wait, and others do not.
    let some_wait = |test: &str| {
        let waits = "%u = OpULessThan %bool %x %y\n OpSelectionMerge %calm None
             OpBranchConditional %u %waits %calm\n %waits = OpLabel\n OpControlBarrier %c2 %c2 %c264\n OpBranch %calm
             %calm = OpLabel\n %far =";
        let text =
            of("%c0", test, "%c6", "%sum").replacen("OpControlBarrier %c2 %c2 %c264\n %far =", waits, 1);
        text.replace("%sum %turn %added", "%sum %calm %added")
    };
    assert!(!is_proved(&some_wait("OpULessThan"), &some_wait("OpULessThanEqual")));
    // Before takes it, and after does not.
    assert!(!is_proved(
        &of("%c0", "OpULessThanEqual", "%c5", "%sum"),
        &of("%c0", "OpULessThan", "%c5", "%sum")
    ));
}

#[test]
fn a_store_may_be_missing_that_is_overwritten() {
    if !solver::is_installed() {
        return skipped(Need::Solver, "z3 is not installed");
    }
    let body = |store: &str, between: &str, way: &str, last: &str| {
        format!(
            "%sum = OpIAdd %uint %lid %y\n %again_sum = OpIAdd %uint %y %lid
             %early = OpAccessChain %to_late %late %c0 %sum\n {store}\n {between}\n OpBranch %mid
             %mid = OpLabel\n {way}
             %last = OpLabel\n %again = OpAccessChain %to_late %late %c0 {last}\n OpStore %again %x\n OpBranch %end
             %end = OpLabel\n %r = OpCopyObject %uint %x"
        )
    };
    let proved = |between: &str, way: &str, last: &str, decorated: &str| {
        let of = |store: &str| module(&body(store, between, way, last), decorated);
        solver::finds_no_difference(&of("OpStore %early %c1"), &of(""))
    };
    let on = "OpBranch %last";
    assert!(proved("", on, "%again_sum", ""));
    // Another element, or only in some runs.
    assert!(!proved("", on, "%lid", ""));
    let some =
        "%t = OpULessThan %bool %x %y\n OpSelectionMerge %end None\n OpBranchConditional %t %last %end";
    assert!(!proved("", some, "%again_sum", ""));
    let farther = some.replace("%t %last %end", "%t %before %end\n %before = OpLabel\n OpBranch %last");
    assert!(!proved("", &farther, "%again_sum", ""));
    // Something reads it, or may do so by another name.
    assert!(!proved("%seen = OpLoad %uint %early\n OpStore %to_x %seen", on, "%again_sum", ""));
    assert!(!proved("", on, "%again_sum", "OpDecorate %late Aliased"));
    let none = body("", "", on, "%again_sum");
    assert!(!is_proved(&none, &body("OpStore %early %c1", "", on, "%again_sum")));
}

#[test]
fn an_element_that_is_lost_in_a_loop_is_the_one_that_is_stored_after_it() {
    if !solver::is_installed() {
        return skipped(Need::Solver, "z3 is not installed");
    }
    let body = |store: &str, index: &str| {
        format!(
            "OpBranch %head
             %head = OpLabel\n %i = OpPhi %uint %c0 %entry %next %again\n %t = OpULessThan %bool %i %c3
             OpLoopMerge %end %again None\n OpBranchConditional %t %again %end
             %again = OpLabel\n %early = OpAccessChain %to_late %late %c0 {index}\n {store}
             %next = OpIAdd %uint %i %c1\n OpBranch %head
             %end = OpLabel\n OpBranch %mid\n %mid = OpLabel\n OpBranch %last
             %last = OpLabel\n %then = OpAccessChain %to_late %late %c0 {index}\n OpStore %then %x
             %r = OpCopyObject %uint %x"
        )
    };
    let proved = |index: &str| is_proved(&body("OpStore %early %c1", index), &body("", index));
    assert!(proved("%lid"));
    // The last one is another one.
    assert!(!proved("%i"));
}

#[test]
fn a_branch_that_leads_out_of_bounds_may_go_the_other_way() {
    let body = |divide: &str, between: &str, index: &str| {
        format!(
            "%half = {divide} %uint %y %c2\n %t = OpUGreaterThanEqual %bool %lid %half
             OpSelectionMerge %on None\n OpBranchConditional %t %out_of %on
             %out_of = OpLabel\n OpReturn
             %on = OpLabel\n {between}\n %one = OpAccessChain %to_uint %out %c0 %x\n OpStore %one %c1
             %n = OpIAdd %uint %x {index}\n %p = OpAccessChain %to_uint %out %c0 %n\n OpStore %p %c1
             %r = OpCopyObject %uint %c1"
        )
    };
    let alike = |proved: bool, between: &str, index: &str| {
        expect(proved, &body("OpUDiv", between, index), &body("OpSDiv", between, index));
    };
    alike(true, "", "%half");
    // It stays within the bounds, or another invocation may end everything before.
    alike(false, "", "%lid");
    alike(false, "OpControlBarrier %c2 %c2 %c0", "%half");
}

#[test]
fn what_is_computed_of_equal_values_is_compared_again() {
    let body = |by: &str, one: &str, other: &str| {
        format!(
            "%false = OpULessThan %bool %x %c0\n %product = OpIAdd %uint %y {by}
             %s = OpULessThan %bool %x %product\n %same = OpULessThanEqual %bool %x %product
             OpSelectionMerge %met None\n OpBranchConditional {one} %small %great
             %small = OpLabel\n OpBranch %met\n %great = OpLabel\n %q = OpUDiv %uint %x %product\n OpBranch %met
             %met = OpLabel\n %v = OpPhi %uint %c0 %small %q %great\n %taken = OpIMul %uint %v %product
             %left = OpISub %uint %x %taken\n %twice = OpCopyObject %uint %c3
             %s2 = OpULessThan %bool %left %twice\n %same2 = OpULessThanEqual %bool %left %twice
             OpSelectionMerge %end None\n OpBranchConditional {other} %small2 %great2
             %small2 = OpLabel\n OpBranch %end
             %great2 = OpLabel\n %q2 = OpUDiv %uint %left %twice\n OpBranch %end
             %end = OpLabel\n %v2 = OpPhi %uint %c0 %small2 %q2 %great2\n %r = OpIAdd %uint %v2 %v"
        )
    };
    let before = |by: &str| body(by, "%s", "%s2");
    expect(true, &before("%y"), &body("%y", "%false", "%false"));
    expect(false, &before("%y"), &body("%y", "%s", "%same2"));
    expect(false, &before("%y"), &body("%y", "%same", "%s2"));
}

#[test]
fn passes_give_pairs_the_same_new_ids() {
    let before = assemble(&text("%r = OpCopyObject %uint %x"), None).unwrap();
    let mut module = load_words(&before).unwrap();
    let is_constant = |inst: &&Instruction| inst.class.opcode == Op::Constant;
    let mut more = module.types_global_values.iter().find(is_constant).unwrap().clone();
    let header = module.header.as_mut().unwrap();
    more.result_id = Some(header.bound);
    header.bound += 1;
    module.types_global_values.push(more.clone());
    let after = module.assemble();
    for pair in [[&before, &after], [&after, &before]] {
        let alike = host::alike(pair[0], pair[1]).map(|words| load_words(words).unwrap());
        for one in &alike {
            assert!(one.types_global_values.contains(&more));
            assert_eq!(one.header.as_ref().unwrap().bound, module.header.as_ref().unwrap().bound);
        }
    }
}
