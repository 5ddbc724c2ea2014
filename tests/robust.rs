//! Accesses outside of buffers and images with robust access (docs/semantics.md, section 3.5).

#[path = "robust/images.rs"]
mod images;
#[path = "robust/parts.rs"]
mod parts;

use spirv_tv::check::CheckReport;
use spirv_tv::compare::{Verdict, ViolationKind};
use spirv_tv::module::Module;

use crate::support::schema::series;
use crate::texts::{checker, with};

/// `in`, `out` and `other` are runtime arrays of words, `four` is an array of four in a uniform buffer. `%i` is the
/// number of one of four invocations, `%last` that of the last word of `in`, `%inside` whether `%i` is one of its words.
fn module(body: &str) -> String {
    let body: String = body.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    format!(
        "OpCapability Shader
OpExtension \"SPV_KHR_storage_buffer_storage_class\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id %in %out %other %four
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %quads ArrayStride 16
OpDecorate %wide Block
OpMemberDecorate %wide 0 Offset 0
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1
OpDecorate %other DescriptorSet 0
OpDecorate %other Binding 2
OpDecorate %four DescriptorSet 0
OpDecorate %four Binding 3
%void = OpTypeVoid
%bool = OpTypeBool
%nothing = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint4 = OpTypeVector %uint 4
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%three = OpConstant %uint 3
%seven = OpConstant %uint 7
%many = OpConstant %uint 12345
%length = OpConstant %uint 4
%quads = OpTypeArray %uint4 %length
%wide = OpTypeStruct %quads
%p_block = OpTypePointer StorageBuffer %block
%p_word = OpTypePointer StorageBuffer %uint
%p_wide = OpTypePointer Uniform %wide
%p_quad = OpTypePointer Uniform %uint4
%p_uniform = OpTypePointer Uniform %uint
%p_input = OpTypePointer Input %uint
%id = OpVariable %p_input Input
%in = OpVariable %p_block StorageBuffer
%out = OpVariable %p_block StorageBuffer
%other = OpVariable %p_block StorageBuffer
%four = OpVariable %p_wide Uniform
%main = OpFunction %void None %nothing
%entry = OpLabel
%i = OpLoad %uint %id
%count = OpArrayLength %uint %in 0
%last = OpISub %uint %count %one
%inside = OpULessThan %bool %i %count
%to = OpAccessChain %p_word %out %zero %i
{body}
OpReturn
OpFunctionEnd
"
    )
}

/// Two words of `in`, the others large enough for everybody.
const WORDS: [&str; 8] = [
    "--buffer",
    "0.0=words:5,6",
    "--buffer",
    "0.1=zeros:4",
    "--buffer",
    "0.2=words:8,9",
    "--buffer",
    "0.3=zeros:16",
];

fn check(args: &[&str], before: &str, after: &str) -> CheckReport {
    let checker = checker(args);
    let [before, after] = [before, after].map(|text| Module::from_text(text, "test", &checker.read).unwrap());
    checker.check(&before, &after)
}

/// The verdict with the buffers above, and what kind of violation there is.
fn verdict(args: &[&str], before: &str, after: &str) -> (Verdict, Option<ViolationKind>) {
    let report = check(&[args, &WORDS].concat(), &module(before), &module(after));
    let violation = report.runs.iter().find_map(|run| run.comparison.violation.as_ref());
    (report.verdict, violation.map(|violation| violation.kind))
}

const REFINES: (Verdict, Option<ViolationKind>) = (Verdict::Refines, None);
const NEW_OUTCOME: (Verdict, Option<ViolationKind>) = (Verdict::Violates, Some(ViolationKind::NewOutcome));
const NEW_UNDEFINED: (Verdict, Option<ViolationKind>) =
    (Verdict::Violates, Some(ViolationKind::NewUndefined));
const VACUOUS: (Verdict, Option<ViolationKind>) = (Verdict::Vacuous, None);

const ROBUST: [&str; 2] = ["--out-of-bounds", "robust"];
const ROBUST2: [&str; 2] = ["--out-of-bounds", "robust2"];

/// `out[i] = in[i]`.
const READ: &str = "%from = OpAccessChain %p_word %in %zero %i
    %value = OpLoad %uint %from
    OpStore %to %value";

/// `out[i] = in[min(i, last)]`.
const CLAMPED: &str = "%at = OpSelect %uint %inside %i %last
    %from = OpAccessChain %p_word %in %zero %at
    %value = OpLoad %uint %from
    OpStore %to %value";

/// `out[i] = i < count ? in[i] : otherwise`.
fn guarded(otherwise: &str) -> String {
    format!(
        "OpSelectionMerge %end None
        OpBranchConditional %inside %work %end
        %work = OpLabel
        %from = OpAccessChain %p_word %in %zero %i
        %read = OpLoad %uint %from
        OpBranch %end
        %end = OpLabel
        %value = OpPhi %uint %{otherwise} %entry %read %work
        OpStore %to %value"
    )
}

/// `in[i] = 7`, and what else invocations do.
const WRITE: &str = "%from = OpAccessChain %p_word %in %zero %i
    OpStore %from %seven
    OpStore %to %one";

/// `if (i < count) in[i] = 7`.
const GUARDED_WRITE: &str = "OpSelectionMerge %end None
    OpBranchConditional %inside %work %end
    %work = OpLabel
    %from = OpAccessChain %p_word %in %zero %i
    OpStore %from %seven
    OpBranch %end
    %end = OpLabel
    OpStore %to %one";

#[test]
fn without_robust_access_a_read_outside_is_undefined() {
    assert_eq!(verdict(&[], READ, CLAMPED), VACUOUS);
    assert_eq!(verdict(&[], CLAMPED, READ), NEW_UNDEFINED);
}

#[test]
fn a_read_outside_may_be_clamped_with_the_first_version_only() {
    assert_eq!(verdict(&ROBUST, READ, CLAMPED), REFINES);
    assert_eq!(verdict(&ROBUST2, READ, CLAMPED), NEW_OUTCOME);
    // But for what the last word holds.
    let zeros = [&ROBUST2[..], &["--buffer", "0.0=words:5,0"], &WORDS[2..]].concat();
    assert_eq!(check(&zeros, &module(READ), &module(CLAMPED)).verdict, Verdict::Refines);
}

#[test]
fn a_read_outside_may_be_zero_and_nothing_that_the_buffer_does_not_hold() {
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, READ, &guarded("zero")), REFINES);
        assert_eq!(verdict(&robust, READ, &guarded("many")), NEW_OUTCOME);
    }
}

#[test]
fn a_guard_may_be_dropped_only_if_zero_stands_behind_it() {
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, &guarded("seven"), READ), NEW_OUTCOME);
    }
    assert_eq!(verdict(&ROBUST2, &guarded("zero"), READ), REFINES);
    assert_eq!(verdict(&ROBUST, &guarded("zero"), READ), NEW_OUTCOME);
    let zeros = [&ROBUST[..], &["--buffer", "0.0=zeros:2"], &WORDS[2..]].concat();
    assert_eq!(check(&zeros, &module(&guarded("zero")), &module(READ)).verdict, Verdict::Refines);
}

#[test]
fn a_write_outside_may_be_lost() {
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, WRITE, GUARDED_WRITE), REFINES);
    }
    assert_eq!(verdict(&ROBUST2, GUARDED_WRITE, WRITE), REFINES);
}

#[test]
fn a_write_outside_may_change_any_word_of_its_buffer_with_the_first_version() {
    assert_eq!(verdict(&ROBUST, GUARDED_WRITE, WRITE), NEW_OUTCOME);
    // What is written to the first word, in bounds, may be overwritten.
    let first = "%first = OpAccessChain %p_word %in %zero %zero";
    let last = with(GUARDED_WRITE, "OpStore %to %one", &format!("{first}\nOpStore %to %one"));
    let and_first = format!(
        "{last}
        %is_first = OpIEqual %bool %i %zero
        OpSelectionMerge %done None
        OpBranchConditional %is_first %write %done
        %write = OpLabel
        OpStore %first %many
        OpBranch %done
        %done = OpLabel"
    );
    assert_eq!(verdict(&ROBUST, WRITE, &and_first), REFINES);
    assert_eq!(verdict(&ROBUST2, WRITE, &and_first), NEW_OUTCOME);
}

#[test]
fn a_write_outside_reaches_no_other_buffer() {
    let elsewhere = with(
        GUARDED_WRITE,
        "OpStore %from %seven",
        "OpStore %from %seven\n%else = OpAccessChain %p_word %other %zero %i\nOpStore %else %seven",
    );
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, WRITE, &elsewhere), NEW_OUTCOME);
    }
}

#[test]
fn an_atomic_outside_is_lost_and_reads_anything() {
    let atomic = "%from = OpAccessChain %p_word %in %zero %i
        %value = OpAtomicIAdd %uint %from %one %zero %one
        OpStore %to %one";
    let read = with(atomic, "OpStore %to %one", "OpStore %to %value");
    let anything = guarded("many").replace("OpLoad %uint %from", "OpAtomicIAdd %uint %from %one %zero %one");
    let lost =
        with(GUARDED_WRITE, "OpStore %from %seven", "%value = OpAtomicIAdd %uint %from %one %zero %one");
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, atomic, &lost), REFINES);
        assert_eq!(verdict(&robust, &read, &anything), REFINES);
        assert_eq!(verdict(&robust, &anything, &read), NEW_OUTCOME);
    }
    assert_eq!(verdict(&ROBUST2, &lost, atomic), REFINES);
    assert_eq!(verdict(&ROBUST, &lost, atomic), NEW_OUTCOME);
}

#[test]
fn a_read_may_see_what_the_invocation_wrote_outside_before() {
    let and_read =
        format!("{}\n%value = OpLoad %uint %from\nOpStore %to %value", with(WRITE, "OpStore %to %one", ""));
    let forwarded = with(&and_read, "OpStore %to %value", "OpStore %to %seven");
    for robust in [ROBUST, ROBUST2] {
        assert_eq!(verdict(&robust, &and_read, &forwarded), REFINES);
    }
    assert_eq!(
        verdict(&ROBUST2, &and_read, &with(&forwarded, "OpStore %to %seven", "OpStore %to %many")),
        NEW_OUTCOME
    );
    // A volatile read does not.
    let volatile = with(&and_read, "OpLoad %uint %from", "OpLoad %uint %from Volatile");
    let seven = with(
        &volatile,
        "OpStore %to %value",
        "%is_seven = OpSelect %uint %inside %value %seven\nOpStore %to %is_seven",
    );
    let zero = with(&seven, "%inside %value %seven", "%inside %value %zero");
    assert_eq!(verdict(&ROBUST2, &volatile, &zero), REFINES);
    assert_eq!(verdict(&ROBUST2, &volatile, &seven), NEW_OUTCOME);
}

#[test]
fn the_address_decides_and_no_array_on_the_way() {
    // Invocation 3 reads component 3 of element 1, as component 7 of element 0.
    let read = |element: &str, component: &str| {
        format!(
            "%from = OpAccessChain %p_uniform %four %zero %{element} %{component}
            %value = OpLoad %uint %from
            OpStore %to %value"
        )
    };
    let words: Vec<String> = (0..16).map(|word| word.to_string()).collect();
    let four = format!("0.3=words:{}", words.join(","));
    let args = [&ROBUST2[..], &WORDS[..6], &["--buffer", &four]].concat();
    let check = |before: &str, after: &str| check(&args, &module(before), &module(after)).verdict;
    assert_eq!(check(&read("zero", "seven"), &read("one", "three")), Verdict::Refines);
    assert_eq!(check(&read("zero", "seven"), &read("one", "two")), Verdict::Violates);
    // Signed: -1 leads in front of the buffer, and back.
    let minus = "%minus = OpISub %uint %zero %one\n";
    let back = format!("{minus}{}", with(&read("one", "three"), "%one %three", "%two %minus"));
    assert_eq!(check(&back, &read("one", "three")), Verdict::Refines);
    let element =
        "%row = OpAccessChain %p_quad %four %zero %minus\n%from = OpAccessChain %p_uniform %row %seven";
    let chained = with(&back, "%from = OpAccessChain %p_uniform %four %zero %two %minus", element);
    assert_eq!(check(&chained, &read("zero", "three")), Verdict::Refines);
    assert_eq!(check(&chained, &read("zero", "two")), Verdict::Violates);
    let front = format!("{minus}{}", with(&read("one", "three"), "%one %three", "%zero %minus"));
    assert_eq!(
        check(&front, &with(&read("one", "three"), "OpStore %to %value", "OpStore %to %zero")),
        Verdict::Refines
    );
}

#[test]
fn after_may_be_judged_for_devices_without_robust_access() {
    let read = "%from = OpAccessChain %p_uniform %four %zero %i %zero
        %value = OpLoad %uint %from
        OpStore %to %value";
    // Elements 0, 2, 4, 6 of four.
    let twice = with(read, "%from = ", "%at = OpIMul %uint %i %two\n%from = ")
        .replace("%zero %i %zero", "%zero %at %zero");
    let clamped = |most: &str| {
        let within = format!(
            "%fits = OpULessThan %bool %at %{most}\n%clamped = OpSelect %uint %fits %at %{most}\n%from = "
        );
        with(&twice, "%from = ", &within).replace("%zero %at %zero", "%zero %clamped %zero")
    };
    let args = [ROBUST, ["--after-out-of-bounds", "undefined"]].concat();
    assert_eq!(verdict(&args, &twice, &clamped("three")), REFINES);
    assert_eq!(verdict(&args, &twice, &clamped("seven")), NEW_UNDEFINED);
    assert_eq!(verdict(&ROBUST, &twice, &clamped("seven")), REFINES);
}

#[test]
fn a_clamped_write_may_conflict_with_others() {
    // Invocations 2 and 3 write what invocation 1 writes, too.
    let clamped = with(
        WRITE,
        "%from = OpAccessChain %p_word %in %zero %i",
        "%at = OpSelect %uint %inside %i %last\n%from = OpAccessChain %p_word %in %zero %at",
    );
    let numbered = |body: &str| with(body, "OpStore %from %seven", "OpStore %from %i");
    for after in [["--after-out-of-bounds", "undefined"], ["--after-out-of-bounds", "robust"]] {
        let args = [ROBUST, after].concat();
        assert_eq!(verdict(&args, &numbered(WRITE), &numbered(&clamped)), REFINES);
    }
    // What nobody writes outside of is no other buffer's business.
    let race = with(
        &clamped,
        "OpStore %to %one",
        "OpStore %to %one\n%same = OpAccessChain %p_word %other %zero %zero\nOpStore %same %i",
    );
    let new_race = (Verdict::Violates, Some(ViolationKind::NewRace));
    assert_eq!(verdict(&ROBUST, WRITE, &race), new_race);
    assert_eq!(verdict(&ROBUST2, &numbered(WRITE), &numbered(&clamped)), new_race);
}

#[test]
fn whether_a_clamped_read_may_race_is_left_open() {
    // Each invocation writes its own word of `in`, and reads the next one.
    let shifted = |next: &str| {
        format!(
            "%own = OpAccessChain %p_word %in %zero %i
            %plus = OpIAdd %uint %i %two
            %fits = OpULessThan %bool %plus %count
            %within = OpSelect %uint %fits %plus %last
            %from = OpAccessChain %p_word %in %zero %{next}
            %is_first = OpIEqual %bool %i %zero
            OpSelectionMerge %done None
            OpBranchConditional %is_first %write %read
            %write = OpLabel
            %end = OpAccessChain %p_word %in %zero %last
            OpStore %end %seven
            OpBranch %done
            %read = OpLabel
            %value = OpLoad %uint %from
            OpStore %to %value
            OpBranch %done
            %done = OpLabel"
        )
    };
    let args = [&ROBUST[..], &WORDS].concat();
    let report = check(&args, &module(&shifted("plus")), &module(&shifted("within")));
    let reasons: Vec<&str> =
        report.runs.iter().flat_map(|run| &run.comparison.reasons).map(|reason| reason.name()).collect();
    assert_eq!((report.verdict, &reasons[..]), (Verdict::Inconclusive, &["reads-outside"][..]));
}

#[test]
fn a_read_near_one_outside_may_count_as_outside_in_before() {
    // Word 1 of `in`, beside a read of word 3, which is outside.
    let near = "%at = OpAccessChain %p_word %in %zero %one
        %far = OpAccessChain %p_word %in %zero %three
        %value = OpLoad %uint %at
        %outside = OpLoad %uint %far
        OpStore %to %value";
    let zero = with(near, "OpStore %to %value", "OpStore %to %zero");
    assert_eq!(verdict(&ROBUST, near, &zero), REFINES);
    assert_eq!(verdict(&ROBUST2, near, &zero), NEW_OUTCOME);
    let alone = with(near, "%outside = OpLoad %uint %far", "");
    assert_eq!(verdict(&ROBUST, &alone, &with(&zero, "%outside = OpLoad %uint %far", "")), NEW_OUTCOME);
    // After is not blamed for it.
    assert_eq!(verdict(&ROBUST, &alone, near), REFINES);
}

#[test]
fn a_module_refines_itself_whatever_is_outside() {
    let atomic = "%from = OpAccessChain %p_word %in %zero %i
        %value = OpAtomicIAdd %uint %from %one %zero %one
        OpStore %to %value";
    for body in [READ, WRITE, CLAMPED, GUARDED_WRITE, atomic] {
        let renamed =
            module(body).replace("%from", "%pointer").replace("%many = OpConstant %uint 12345\n", "");
        for robust in [ROBUST, ROBUST2] {
            for inputs in [&WORDS[..], &[]] {
                let args = [&robust[..], inputs, &["--self-check"]].concat();
                assert_eq!(
                    check(&args, &module(body), &renamed).verdict,
                    Verdict::Refines,
                    "{robust:?} {body}"
                );
            }
        }
    }
}

#[test]
fn a_pass_that_clamps_is_judged_without_robust_access() {
    let told = |args: &[&str]| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/outside.spvasm");
        let spirv_tv = std::process::Command::new(env!("CARGO_BIN_EXE_spirv-tv"))
            .args(["opt", folder, "--graphics-robust-access", "--out-of-bounds", "robust"])
            .args(args)
            .output()
            .unwrap();
        (String::from_utf8(spirv_tv.stdout).unwrap(), spirv_tv.status.code())
    };
    let (text, code) = told(&[]);
    assert!(text.contains("out-of-bounds robust, floats spec, after-out-of-bounds undefined"), "{text}");
    assert!(
        text.contains("warning: on step 1 --graphics-robust-access: after is judged without robust access"),
        "{text}"
    );
    assert_eq!(code, Some(0), "{text}");
    // Unless the user says otherwise.
    let (text, _) = told(&["--after-out-of-bounds", "robust", "--format", "json"]);
    for step in series(&text).unwrap() {
        let choices = &step["choices"];
        assert_eq!(
            (choices["out_of_bounds"].as_str(), choices.get("after_out_of_bounds")),
            (Some("robust"), None)
        );
    }
}

#[test]
fn automatic_inputs_have_buffers_that_are_too_short() {
    for (robust, before, after) in [
        (ROBUST, READ.to_owned(), guarded("many")),
        (ROBUST2, READ.to_owned(), CLAMPED.to_owned()),
        (ROBUST, guarded("zero"), READ.to_owned()),
        (ROBUST2, guarded("seven"), READ.to_owned()),
        (ROBUST, GUARDED_WRITE.to_owned(), WRITE.to_owned()),
    ] {
        let report = check(&robust, &module(&before), &module(&after));
        assert_eq!(report.verdict, Verdict::Violates, "{robust:?}\n{before}\n{after}");
    }
}
