//! Accesses of several words, copies, what is not bounds-checked, and what is too much to be told value by value.

use spirv_tv::compare::Verdict;

use super::{check, module, verdict, NEW_OUTCOME, NEW_UNDEFINED, REFINES, ROBUST, ROBUST2, VACUOUS, WORDS};
use crate::texts::with;

/// Vectors of four words in a storage buffer, from `in` on: their block begins at byte `at`, so that the last one may
/// be inside in part.
fn with_vectors(body: &str) -> String {
    let text = module(body);
    let text = with(&text, "%zero = OpConstant %uint 0", "%vectors = OpTypeRuntimeArray %uint4\n%packed = OpTypeStruct %vectors\n%p_packed = OpTypePointer StorageBuffer %packed\n%p_vector = OpTypePointer StorageBuffer %uint4\n%zero = OpConstant %uint 0\n%none = OpConstantNull %uint4");
    let text = with(&text, "OpDecorate %words ArrayStride 4", "OpDecorate %words ArrayStride 4\nOpDecorate %vectors ArrayStride 16\nOpDecorate %packed Block\nOpMemberDecorate %packed 0 Offset 0\nOpDecorate %seen DescriptorSet 0\nOpDecorate %seen Binding 4");
    let text = with(&text, "%other %four\n", "%other %four %seen\n");
    with(&text, "%four = OpVariable", "%seen = OpVariable %p_packed StorageBuffer\n%four = OpVariable")
}

/// Six words: the second vector has two of its words inside.
const SIX: [&str; 2] = ["--buffer", "0.4=words:1,2,3,4,5,6"];

/// `out[i]` is the sum of what is read.
const READ_VECTOR: &str = "%place = OpAccessChain %p_vector %seen %zero %one
    %vector = OpLoad %uint4 %place
    %a = OpCompositeExtract %uint %vector 0
    %b = OpCompositeExtract %uint %vector 2
    OpStore %to %a
    %also = OpAccessChain %p_word %other %zero %zero
    %is_first = OpIEqual %bool %i %zero
    OpSelectionMerge %end None
    OpBranchConditional %is_first %first %end
    %first = OpLabel
    OpStore %also %b
    OpBranch %end
    %end = OpLabel";

fn vectors(robust: &[&str], before: &str, after: &str) -> Verdict {
    let args = [robust, &WORDS, &SIX].concat();
    check(&args, &with_vectors(before), &with_vectors(after)).verdict
}

#[test]
fn a_vector_that_is_outside_in_part_is_zero_or_has_the_words_inside() {
    // Its first word is 5, or 0; its third one is 0.
    let constant = |first: &str| with(READ_VECTOR, "OpStore %to %a", &format!("OpStore %to {first}"));
    assert_eq!(vectors(&ROBUST2, READ_VECTOR, &constant("%zero")), Verdict::Refines);
    let five = constant("%five").replace("%also =", "%five = OpIAdd %uint %three %two\n%also =");
    let five = five.replacen("OpStore %to %five", "", 1).replace("%also =", "OpStore %to %five\n%also =");
    assert_eq!(vectors(&ROBUST2, READ_VECTOR, &five), Verdict::Refines);
    assert_eq!(vectors(&ROBUST2, READ_VECTOR, &constant("%seven")), Verdict::Violates);
    let third = with(READ_VECTOR, "OpStore %also %b", "OpStore %also %one");
    assert_eq!(vectors(&ROBUST2, READ_VECTOR, &third), Verdict::Violates);
    assert_eq!(vectors(&ROBUST, READ_VECTOR, &third), Verdict::Refines);
    // Word by word it is no more than that.
    let words = with(READ_VECTOR, "%vector = OpLoad %uint4 %place", "%word = OpAccessChain %p_word %place %zero\n%inside_one = OpLoad %uint %word\n%vector = OpCompositeInsert %uint4 %inside_one %none 0");
    assert_eq!(vectors(&ROBUST2, READ_VECTOR, &words), Verdict::Refines);
    assert_eq!(vectors(&ROBUST2, &words, READ_VECTOR), Verdict::Violates);
}

#[test]
fn of_a_vector_that_is_written_outside_in_part_the_words_inside_may_be_written() {
    let write = "%is_first = OpIEqual %bool %i %zero
        OpSelectionMerge %end None
        OpBranchConditional %is_first %first %end
        %first = OpLabel
        %place = OpAccessChain %p_vector %seen %zero %one
        %vector = OpCompositeConstruct %uint4 %seven %seven %seven %seven
        OpStore %place %vector
        OpBranch %end
        %end = OpLabel";
    let words = |count: usize| {
        let word = |at: usize| {
            let at = ["zero", "one", "two"][at];
            format!("%word_{at} = OpAccessChain %p_word %place %{at}\nOpStore %word_{at} %seven\n")
        };
        with(write, "OpStore %place %vector", &(0..count).map(word).collect::<String>())
    };
    assert_eq!(vectors(&ROBUST2, write, &words(2)), Verdict::Refines);
    assert_eq!(vectors(&ROBUST2, write, &words(0)), Verdict::Refines);
    assert_eq!(vectors(&ROBUST2, write, &words(1)), Verdict::Violates);
    assert_eq!(vectors(&ROBUST2, &words(2), write), Verdict::Violates);
}

#[test]
fn the_last_of_four_components_may_be_one_in_before() {
    let read = |robust: &[&str], last: &str, second: &str| {
        let read = "%place = OpAccessChain %p_vector %seen %zero %three
            %vector = OpLoad %uint4 %place
            %a = OpCompositeExtract %uint %vector 3
            %b = OpCompositeExtract %uint %vector 1
            %sum = OpIMul %uint %a %two
            %all = OpIAdd %uint %sum %b
            OpStore %to %all";
        let constant = with(
            read,
            "OpStore %to %all",
            &format!("%c = OpIMul %uint %{last} %two\n%d = OpIAdd %uint %c %{second}\nOpStore %to %d"),
        );
        let zeros = ["--buffer", "0.4=zeros:4"];
        let args = [robust, &WORDS, &zeros].concat();
        check(&args, &with_vectors(read), &with_vectors(&constant)).verdict
    };
    assert_eq!(read(&ROBUST, "one", "zero"), Verdict::Refines);
    assert_eq!(read(&ROBUST, "zero", "one"), Verdict::Violates);
    assert_eq!(read(&ROBUST2, "one", "zero"), Verdict::Violates);
}

#[test]
fn a_copy_reads_and_writes_outside_like_loads_and_stores() {
    let copy = "%from = OpAccessChain %p_word %in %zero %i
        OpCopyMemory %to %from";
    let load = "%from = OpAccessChain %p_word %in %zero %i
        %value = OpLoad %uint %from
        OpStore %to %value";
    let back = "%from = OpAccessChain %p_word %in %zero %i
        OpStore %to %one
        OpCopyMemory %from %to";
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, copy, load), REFINES);
        assert_eq!(verdict(&robust, load, copy), REFINES);
        assert_eq!(
            verdict(&robust, back, &back.replace("OpCopyMemory %from %to", "OpStore %from %one")),
            REFINES
        );
    }
}

#[test]
fn memory_that_no_descriptor_binds_is_not_bounds_checked() {
    // An array of two in a variable of the invocation, and in one of the workgroup.
    for class in ["Private", "Workgroup"] {
        let own = |body: &str| {
            let text = with(&module(body), "%main = OpFunction", &format!("%pair = OpTypeArray %uint %two\n%p_pair = OpTypePointer {class} %pair\n%p_own = OpTypePointer {class} %uint\n%own = OpVariable %p_pair {class}\n%main = OpFunction"));
            with(&text, "%other %four\n", "%other %four %own\n")
        };
        let read = "%at = OpAccessChain %p_own %own %i
            %value = OpLoad %uint %at
            OpStore %to %zero";
        for robust in [ROBUST, ROBUST2] {
            let args = [&robust[..], &WORDS].concat();
            let report = check(&args, &own(read), &own("OpStore %to %zero"));
            assert_eq!(report.verdict, Verdict::Vacuous, "{class} {robust:?}");
        }
    }
}

#[test]
fn an_undefined_index_is_undefined_behaviour() {
    let read = "%any = OpUndef %uint
        %from = OpAccessChain %p_word %in %zero %any
        %value = OpLoad %uint %from
        OpStore %to %value";
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, read, "OpStore %to %zero"), VACUOUS);
        assert_eq!(verdict(&robust, "OpStore %to %zero", read), NEW_UNDEFINED);
    }
}

#[test]
fn what_is_too_much_to_be_told_is_undefined_in_before_and_left_out_in_after() {
    // `in` is written, too, so that nobody knows what a read finds there.
    let read = "%own = OpAccessChain %p_word %in %zero %zero
        %far = OpAccessChain %p_word %in %zero %seven
        %is_first = OpIEqual %bool %i %zero
        OpSelectionMerge %end None
        OpBranchConditional %is_first %first %end
        %first = OpLabel
        OpStore %own %three
        OpBranch %end
        %end = OpLabel
        %value = OpLoad %uint %far
        OpStore %to %value";
    let many = with(read, "OpStore %to %value", "OpStore %to %many");
    let args = [&ROBUST[..], &WORDS].concat();
    let report = check(&args, &module(read), &module(&many));
    assert_eq!(report.verdict, Verdict::Refines);
    let notes: Vec<String> =
        report.runs.iter().flat_map(|run| &run.comparison.notes).map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("taken for undefined")), "{notes:?}");
    let zero = with(read, "OpStore %to %value", "OpStore %to %zero");
    let report = check(&args, &module(&zero), &module(read));
    assert_eq!((report.verdict, report.bounded()), (Verdict::Refines, true));
    // What after does without it violates all the same.
    assert_eq!(verdict(&ROBUST, &many, read), NEW_OUTCOME);
}

#[test]
fn reads_that_go_in_too_many_ways_are_undefined() {
    // Sixteen reads, one after the other, of four values each.
    let read = |number: usize| {
        format!("%from{number} = OpAccessChain %p_word %in %zero %seven\n%value{number} = OpLoad %uint %from{number}\nOpStore %to %value{number}\n")
    };
    let body: String = (0..16).map(read).collect();
    let args = [&ROBUST[..], &["--buffer", "0.0=words:5,6,7"], &WORDS[2..]].concat();
    let after = with(&body, "OpStore %to %value15", "OpStore %to %many");
    assert_eq!(check(&args, &module(&body), &module(&after)).verdict, Verdict::Refines);
    let same = body.replace("%value", "%word");
    let report = check(&args, &module(&body), &module(&same));
    assert_eq!(report.verdict, Verdict::Refines);
}

/// With and without events for what only one invocation accesses.
fn checks_itself(args: &[&str], text: &str) {
    let renamed = with(text, "%many = OpConstant %uint 12345\n", "");
    let report = check(&[args, &["--self-check"]].concat(), text, &renamed);
    let unfinished = report.warnings.iter().any(|warning| warning.contains("self-check of before"));
    assert_eq!((report.verdict, unfinished), (Verdict::Refines, false), "{text}");
}

#[test]
fn what_goes_in_several_ways_is_the_same_with_events() {
    // A copy of a vector to where two words are inside: its read is an event, then its write goes in two ways.
    let copy = "%is_first = OpIEqual %bool %i %zero
        OpSelectionMerge %end None
        OpBranchConditional %is_first %first %end
        %first = OpLabel
        %source = OpAccessChain %p_vector %seen %zero %zero
        %place = OpAccessChain %p_vector %seen %zero %one
        OpCopyMemory %place %source
        OpBranch %end
        %end = OpLabel";
    checks_itself(&[&ROBUST2[..], &WORDS, &SIX].concat(), &with_vectors(copy));
    // A read near one outside, of what is written.
    let near = "%own = OpAccessChain %p_word %other %zero %one
        %far = OpAccessChain %p_word %other %zero %three
        %is_first = OpIEqual %bool %i %zero
        OpSelectionMerge %end None
        OpBranchConditional %is_first %first %end
        %first = OpLabel
        OpStore %own %three
        %value = OpLoad %uint %own
        %outside = OpLoad %uint %far
        OpStore %to %value
        OpBranch %end
        %end = OpLabel";
    checks_itself(&[&ROBUST[..], &WORDS].concat(), &module(near));
}

#[test]
fn atomics_of_a_buffer_that_is_written_outside_may_be_overwritten_or_lost() {
    let exchange = "%word = OpAccessChain %p_word %in %zero %one
        %from = OpAccessChain %p_word %in %zero %seven
        %old = OpAtomicExchange %uint %word %one %zero %i
        OpStore %from %seven
        OpStore %to %one";
    let other = with(exchange, "%zero %i\n", "%zero %many\n").replace("OpStore %from %seven", "");
    assert_eq!(verdict(&ROBUST, exchange, &other), REFINES);
    assert_eq!(verdict(&ROBUST2, exchange, &other), NEW_OUTCOME);
    // An atomic read outside, near an atomic that may count as outside then.
    let read = with(exchange, "OpStore %from %seven", "%far = OpAtomicLoad %uint %from %one %zero")
        .replace("%in %zero %seven", "%in %zero %three");
    let lost = with(&read, "%old = OpAtomicExchange %uint %word %one %zero %i", "");
    assert_eq!(verdict(&ROBUST, &read, &lost), REFINES);
    assert_eq!(verdict(&ROBUST2, &read, &lost), NEW_OUTCOME);
}
