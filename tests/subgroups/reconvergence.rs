//! Who takes part in an operation where control flow diverges (SPIR-V specification 2.2.5;
//! SPV_KHR_maximal_reconvergence), and what operations make invocations wait for.

use std::collections::BTreeSet;

use spirv_tv::behaviour::Undecided;
use spirv_tv::event::UndefinedKind;

use crate::programs::Program;
use crate::{behaviours, behaviours_with, known, result, words};

/// Adds 1 for each invocation that takes part.
const COUNT: &str = "%result = OpGroupNonUniformIAdd %uint %sg Reduce %u1";

/// A selection: `condition` gives the bool `%c_NAME`.
fn selection(name: &str, condition: &str, inside: &str) -> String {
    format!(
        "{condition}
OpSelectionMerge %m_{name} None
OpBranchConditional %c_{name} %t_{name} %m_{name}
%t_{name} = OpLabel
{inside}
OpBranch %m_{name}
%m_{name} = OpLabel
"
    )
}

fn lane_is(name: &str, lane: u32) -> String {
    format!("%c_{name} = OpIEqual %bool %lane %u{lane}")
}

fn lane_below(name: &str, lane: u32) -> String {
    format!("%c_{name} = OpULessThan %bool %lane %u{lane}")
}

/// As [`selection`], where the invocations inside return.
fn early_return(name: &str, condition: &str) -> String {
    format!(
        "{condition}
OpSelectionMerge %m_{name} None
OpBranchConditional %c_{name} %t_{name} %m_{name}
%t_{name} = OpLabel
OpReturn
%m_{name} = OpLabel
"
    )
}

/// A loop in which `%k` counts up to `limit`.
fn counting(limit: &str, inside: &str) -> String {
    format!(
        "OpBranch %head
%head = OpLabel
%k = OpPhi %uint %u0 %entry %next %continue
OpLoopMerge %behind %continue None
OpBranch %test
%test = OpLabel
%more = OpULessThan %bool %k {limit}
OpBranchConditional %more %body %behind
%body = OpLabel
{inside}
OpBranch %continue
%continue = OpLabel
%next = OpIAdd %uint %k %u1
OpBranch %head
%behind = OpLabel"
    )
}

/// A switch over the lanes, with what follows its selector.
fn switched(cases: &str) -> Program {
    storing(&format!(
        "OpStore %slot %u0
OpSelectionMerge %behind None
OpSwitch %lane {cases}
OpBranch %behind
%behind = OpLabel"
    ))
}

/// Stores how many take part.
fn counted(name: &str) -> String {
    format!("%n_{name} = OpGroupNonUniformIAdd %uint %sg Reduce %u1\nOpStore %slot %n_{name}")
}

/// A program that stores where it counts.
fn storing(body: &str) -> Program {
    Program::new(&format!("{body}\n%result = OpLoad %uint %slot"))
}

fn is_open(program: &Program) {
    is_open_with(program, &[]);
}

fn is_open_with(program: &Program, args: &[&str]) {
    let found = behaviours_with(program, args);
    assert!(
        found.undecided.iter().any(|why| matches!(why, Undecided::Reconvergence { .. })),
        "{}",
        program.body
    );
    assert!(found.outcomes.is_empty() && found.undefined.is_empty() && !found.complete);
}

#[test]
fn invocations_are_together_again_at_a_merge_block() {
    let program = Program::new(&format!("{}{COUNT}", selection("a", &lane_is("a", 0), "")));
    assert_eq!(result(&program), known(&[4; 8]));
    // Loops with different numbers of iterations, too.
    let looping = format!("{}\n{COUNT}", counting("%lane", ""));
    assert_eq!(result(&Program::new(&looping)), known(&[4; 8]));
}

#[test]
fn those_who_took_a_branch_are_together_in_it() {
    let program =
        storing(&format!("OpStore %slot %u0\n{}", selection("a", &lane_below("a", 3), &counted("a"))));
    assert_eq!(result(&program), known(&[3, 3, 3, 0, 3, 3, 3, 0]));
}

#[test]
fn what_happened_before_uniform_flow_does_not_part_them() {
    let before = selection("a", &lane_is("a", 1), "");
    let program = storing(&format!(
        "OpStore %slot %u0\n{before}{}",
        selection("b", &lane_below("b", 3), &counted("b"))
    ));
    assert_eq!(result(&program), known(&[3, 3, 3, 0, 3, 3, 3, 0]));
}

/// Within a branch that not all took, lanes 0 and 1, and 2 go different ways, and meet.
fn nested() -> Program {
    let inner = format!("{}{}", selection("b", &lane_is("b", 2), ""), counted("a"));
    storing(&format!("OpStore %slot %u0\n{}", selection("a", &lane_below("a", 3), &inner)))
}

#[test]
fn reconvergence_in_divergent_flow_is_the_implementations() {
    is_open(&nested());
    let structural = words(&behaviours_with(&nested(), &["--reconvergence", "structural"]));
    assert_eq!(structural, [known(&[3, 3, 3, 0, 3, 3, 3, 0])]);
    assert_eq!(result(&nested().maximal()), known(&[3, 3, 3, 0, 3, 3, 3, 0]));
}

#[test]
fn an_operation_that_gives_the_same_whoever_is_together_is_no_question() {
    let with = |line: &str| {
        let inner = format!("{}{line}", selection("b", &lane_is("b", 2), ""));
        storing(&format!("OpStore %slot %u0\n{}", selection("a", &lane_below("a", 3), &inner)))
    };
    let vote =
        "%all = OpGroupNonUniformAll %bool %sg %true\n%n = OpSelect %uint %all %u7 %u9\nOpStore %slot %n";
    assert_eq!(result(&with(vote)), known(&[7, 7, 7, 0, 7, 7, 7, 0]));
    let least = "%n = OpGroupNonUniformUMin %uint %sg Reduce %u5\nOpStore %slot %n";
    assert_eq!(result(&with(least)), known(&[5, 5, 5, 0, 5, 5, 5, 0]));
    is_open(&with("%n = OpGroupNonUniformUMin %uint %sg Reduce %lane\nOpStore %slot %n"));
    is_open(&with("OpControlBarrier %sg %sg %none\nOpStore %slot %u1"));
}

#[test]
fn an_inner_branch_taken_by_all_who_are_there_parts_nobody() {
    let inner = format!("{}{}", selection("b", &lane_below("b", 3), ""), counted("a"));
    let program = storing(&format!("OpStore %slot %u0\n{}", selection("a", &lane_below("a", 3), &inner)));
    assert_eq!(result(&program), known(&[3, 3, 3, 0, 3, 3, 3, 0]));
}

#[test]
fn whoever_returned_takes_no_part() {
    let with = |before: &str| {
        let body = format!("OpStore %slot %u9\n{before}{}{COUNT}", early_return("r", &lane_is("r", 0)));
        result(&Program::new(&body))
    };
    assert_eq!(with(""), known(&[9, 3, 3, 3, 9, 3, 3, 3]));
    assert_eq!(with(&selection("a", &lane_is("a", 1), "")), known(&[9, 3, 3, 3, 9, 3, 3, 3]));
}

#[test]
fn after_an_early_return_divergence_stays() {
    let body = format!(
        "OpStore %slot %u9\n{}{}{COUNT}",
        early_return("r", &lane_is("r", 0)),
        selection("a", &lane_is("a", 1), "")
    );
    is_open(&Program::new(&body));
    assert_eq!(result(&Program::new(&body).maximal()), known(&[9, 3, 3, 3, 9, 3, 3, 3]));
}

/// Two iterations; in the first, lane 0 continues early. Counts behind that, in the second iteration.
fn early_continue() -> Program {
    storing(&counting(
        "%u2",
        "%sum = OpIAdd %uint %k %lane
%skips = OpIEqual %bool %sum %u0
OpSelectionMerge %rest None
OpBranchConditional %skips %skip %rest
%skip = OpLabel
OpBranch %continue
%rest = OpLabel
%n = OpGroupNonUniformIAdd %uint %sg Reduce %u1
OpStore %slot %n",
    ))
}

/// Neither a hang nor undefined behaviour is one where it rests on what the implementation does.
#[test]
fn nothing_is_known_behind_reconvergence_that_is_the_implementations() {
    let parted =
        format!("{}{}{COUNT}", early_return("r", &lane_is("r", 0)), selection("a", &lane_is("a", 1), ""));
    let ever = "OpBranch %ever
%ever = OpLabel
OpLoopMerge %never %again None
OpBranch %again
%again = OpLabel
OpBranch %ever
%never = OpLabel";
    is_open_with(&Program::new(&format!("{parted}\n{ever}")), &["--hang", "strict"]);
    is_open(&Program::new(&format!("{parted}\n%quotient = OpUDiv %uint %result %u0")));
}

#[test]
fn an_early_continue_parts_the_next_iteration() {
    is_open(&early_continue());
    assert_eq!(result(&early_continue().maximal()), known(&[4; 8]));
}

#[test]
fn a_broken_loop_brings_all_together_behind_it() {
    // Each invocation leaves the loop when its number is broadcast first.
    let waterfall = "OpBranch %head
%head = OpLabel
%k = OpPhi %uint %u0 %entry %next %continue
OpLoopMerge %behind %continue None
OpBranch %body
%body = OpLabel
%first = OpGroupNonUniformBroadcastFirst %uint %sg %lane
%mine = OpIEqual %bool %first %lane
OpSelectionMerge %rest None
OpBranchConditional %mine %leave %rest
%leave = OpLabel
%n = OpGroupNonUniformIAdd %uint %sg Reduce %u1
OpBranch %behind
%rest = OpLabel
OpBranch %continue
%continue = OpLabel
%next = OpIAdd %uint %k %u1
OpBranch %head
%behind = OpLabel
%all = OpGroupNonUniformIAdd %uint %sg Reduce %u1
%high = OpIMul %uint %all %u8
%low = OpIAdd %uint %high %k
%result = OpIAdd %uint %low %n";
    let expected = [33, 34, 35, 36, 33, 34, 35, 36];
    assert_eq!(result(&Program::new(waterfall)), known(&expected));
    assert_eq!(result(&Program::new(waterfall).maximal()), known(&expected));
}

/// A switch whose case 0 falls through to case 1.
fn fallthrough() -> Program {
    switched(&format!(
        "%other 0 %zero 1 %one
%other = OpLabel
OpBranch %behind
%zero = OpLabel
OpBranch %one
%one = OpLabel
{}",
        counted("a")
    ))
}

#[test]
fn falling_through_brings_nobody_together_for_certain() {
    is_open(&fallthrough());
    is_open(&fallthrough().maximal());
    // Different selectors for one case: together by the path that they share, but not under maximal
    // reconvergence.
    let two = switched(&format!(
        "%other 0 %zero 1 %zero
%other = OpLabel
OpBranch %behind
%zero = OpLabel
{}",
        counted("a")
    ));
    assert_eq!(result(&two), known(&[2, 2, 0, 0, 2, 2, 0, 0]));
    is_open(&two.maximal());
}

#[test]
fn calls_are_left_together_if_all_return_at_one_place() {
    let with = |body: &str| Program {
        functions: format!(
            "%callee = OpFunction %uint None %fn_uint
%parameter = OpFunctionParameter %uint
%callee_entry = OpLabel
%is_first = OpIEqual %bool %parameter %u0
OpSelectionMerge %callee_behind None
OpBranchConditional %is_first %callee_first %callee_behind
%callee_first = OpLabel
{body}
%callee_behind = OpLabel
OpReturnValue %u1
OpFunctionEnd"
        ),
        ..Program::new(&format!("%called = OpFunctionCall %uint %callee %lane\n{COUNT}"))
    };
    assert_eq!(result(&with("OpBranch %callee_behind")), known(&[4; 8]));
    is_open(&with("OpReturnValue %u2"));
    assert_eq!(result(&with("OpReturnValue %u2").maximal()), known(&[4; 8]));
}

#[test]
fn call_sites_are_told_apart() {
    let program = Program {
        functions: "%callee = OpFunction %uint None %fn_uint
%parameter = OpFunctionParameter %uint
%callee_entry = OpLabel
%n = OpGroupNonUniformIAdd %uint %sg Reduce %u1
OpReturnValue %n
OpFunctionEnd"
            .to_owned(),
        ..Program::new(
            "%c = OpIEqual %bool %lane %u0
OpSelectionMerge %behind None
OpBranchConditional %c %yes %no
%yes = OpLabel
%a = OpFunctionCall %uint %callee %lane
OpBranch %behind
%no = OpLabel
%b = OpFunctionCall %uint %callee %lane
OpBranch %behind
%behind = OpLabel
%result = OpPhi %uint %a %yes %b %no",
        )
    };
    assert_eq!(result(&program), known(&[1, 3, 3, 3, 1, 3, 3, 3]));
}

#[test]
fn a_subgroup_barrier_joins_those_who_are_there() {
    let program = storing(&format!(
        "OpStore %slot %u0\n{}",
        selection("a", &lane_below("a", 3), &format!("OpControlBarrier %sg %sg %none\n{}", counted("a")))
    ));
    assert_eq!(result(&program), known(&[3, 3, 3, 0, 3, 3, 3, 0]));
}

#[test]
fn an_operation_before_a_workgroup_barrier_that_some_never_come_to() {
    let inside = "OpControlBarrier %wg %wg %none";
    let body = format!("{}{COUNT}", selection("a", &lane_is("a", 0), inside));
    let found = behaviours(&Program::new(&body));
    let kinds: Vec<UndefinedKind> = found.undefined.iter().map(|(undefined, _)| undefined.kind).collect();
    assert_eq!(kinds, [UndefinedKind::DivergentBarrier]);
}

#[test]
fn a_spinning_invocation_does_not_hold_up_a_branch_that_it_is_not_in() {
    // Lane 0 waits for what lane 1 stores after an operation that lane 0 never comes to.
    let program = Program::new(
        "%flag = OpAccessChain %ptr_uint %flags %u0
%c = OpIEqual %bool %i %u0
OpSelectionMerge %behind None
OpBranchConditional %c %spin %others
%spin = OpLabel
OpLoopMerge %arrived %again None
OpBranch %look
%look = OpLabel
%seen = OpAtomicLoad %uint %flag %wg %none
%there = OpINotEqual %bool %seen %u0
OpBranchConditional %there %arrived %again
%again = OpLabel
OpBranch %spin
%arrived = OpLabel
OpBranch %behind
%others = OpLabel
%n = OpGroupNonUniformIAdd %uint %sg Reduce %u1
OpAtomicStore %flag %wg %none %n
OpBranch %behind
%behind = OpLabel
%result = OpPhi %uint %seen %arrived %n %others",
    )
    .sized(4, 4);
    assert_eq!(result(&program), known(&[3; 4]));
}

#[test]
fn load_buffering_goes_through_a_subgroup_operation() {
    let program = Program::new(
        "%x = OpAccessChain %ptr_uint %flags %u0
%is_first = OpIEqual %bool %i %u0
OpSelectionMerge %m1 None
OpBranchConditional %is_first %t1 %m1
%t1 = OpLabel
%read = OpAtomicLoad %uint %x %wg %none
OpBranch %m1
%m1 = OpLabel
%seen = OpPhi %uint %read %t1 %u0 %entry
%n = OpGroupNonUniformIAdd %uint %sg Reduce %u1
%is_second = OpIEqual %bool %i %u1
OpSelectionMerge %m2 None
OpBranchConditional %is_second %t2 %m2
%t2 = OpLabel
OpAtomicStore %x %wg %none %n
OpBranch %m2
%m2 = OpLabel
%result = OpCopyObject %uint %seen",
    )
    .sized(2, 2);
    // Lane 0's read, in front of the operation, may see lane 1's store behind it: nothing orders memory there.
    let outcomes: BTreeSet<_> = words(&behaviours(&program)).into_iter().collect();
    assert_eq!(outcomes, BTreeSet::from([known(&[0, 0]), known(&[2, 0])]));
}

#[test]
fn a_large_workgroup_is_cheap() {
    // A reduction by subgroups, whose sums one subgroup adds behind a barrier.
    let program = Program::new(
        "%sum = OpGroupNonUniformIAdd %uint %sg Reduce %i
%number = OpLoad %uint %number_id
%count = OpLoad %uint %count_id
%elected = OpGroupNonUniformElect %bool %sg
OpSelectionMerge %m1 None
OpBranchConditional %elected %t1 %m1
%t1 = OpLabel
%mine = OpAccessChain %ptr_shared %scratch %number
OpStore %mine %sum NonPrivatePointer
OpBranch %m1
%m1 = OpLabel
OpControlBarrier %wg %wg %acq_rel_shared
%is_first = OpIEqual %bool %number %u0
OpSelectionMerge %m2 None
OpBranchConditional %is_first %t2 %m2
%t2 = OpLabel
%in = OpULessThan %bool %lane %count
OpSelectionMerge %m3 None
OpBranchConditional %in %t3 %m3
%t3 = OpLabel
%theirs = OpAccessChain %ptr_shared %scratch %lane
%loaded = OpLoad %uint %theirs NonPrivatePointer
%total = OpGroupNonUniformIAdd %uint %sg Reduce %loaded
OpBranch %m3
%m3 = OpLabel
%found = OpPhi %uint %total %t3 %u0 %t2
OpBranch %m2
%m2 = OpLabel
%result = OpPhi %uint %found %m3 %u0 %m1",
    )
    .sized(256, 32);
    let found = behaviours(&program);
    assert_eq!(found.explored, 1);
    let expected: Vec<u32> = (0..256).map(|index| if index < 8 { 255 * 128 } else { 0 }).collect();
    assert_eq!(words(&found), [known(&expected)]);
}

/// Invocation 0 writes the flag that the others read.
const READ_AND_WRITTEN: &str = "%flag = OpAccessChain %ptr_uint %flags %u0
%c_write = OpIEqual %bool %i %u0
OpSelectionMerge %m_write None
OpBranchConditional %c_write %t_write %m_write
%t_write = OpLabel
OpAtomicStore %flag %wg %none %u1
OpBranch %m_write
%m_write = OpLabel
";

#[test]
fn who_still_reads_in_the_same_block_is_waited_for() {
    let body = format!("{READ_AND_WRITTEN}%seen = OpAtomicLoad %uint %flag %wg %none\n{COUNT}");
    for outcome in words(&behaviours(&Program::new(&body).sized(2, 2))) {
        assert_eq!(outcome, known(&[2, 2]));
    }
}

#[test]
fn who_still_reads_in_a_loop_is_waited_for() {
    let body = format!(
        "{READ_AND_WRITTEN}OpBranch %head
%head = OpLabel
%k = OpPhi %uint %u0 %m_write %next %continue
OpLoopMerge %behind %continue None
OpBranch %test
%test = OpLabel
%more = OpULessThan %bool %k %i
OpBranchConditional %more %body %behind
%body = OpLabel
%seen = OpAtomicLoad %uint %flag %wg %none
OpBranch %continue
%continue = OpLabel
%next = OpIAdd %uint %k %u1
OpBranch %head
%behind = OpLabel
{COUNT}"
    );
    for outcome in words(&behaviours(&Program::new(&body).sized(2, 2))) {
        assert_eq!(outcome, known(&[2, 2]));
    }
}

#[test]
fn three_groups_that_may_be_apart_vote_alike() {
    let inner =
        selection("first", &lane_is("first", 0), "") + &selection("second", &lane_is("second", 1), "");
    let vote = "%all = OpGroupNonUniformAll %bool %sg %true";
    let body = selection("outer", &lane_below("outer", 3), &format!("{inner}{vote}"));
    let program = Program::new(&format!("{body}%result = OpCopyObject %uint %u1"));
    assert_eq!(result(&program), known(&[1; 8]));
}
