//! Reports of violations: what they show of many invocations, and of modules whose ids shift.

use std::path::{Path, PathBuf};
use std::time::Duration;

use spirv_tv::check::CheckReport;
use spirv_tv::compare::{Subject, Verdict};
use spirv_tv::explain::{self, why, New, Side};
use spirv_tv::explore::Settings;
use spirv_tv::launch::{build_dispatch, Launch};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::report::{text, Painter};
use spirv_tv_toolchain::{assemble, disassemble_with, DisassembleOptions};

use crate::support::Checker;

const PLAIN: Painter = Painter { coloured: false };

/// A sum of 64 invocations, with a barrier after each step.
fn reduction() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/modules/reduction.spvasm")
}

/// The text with every id shifted and without names.
fn shifted(text: &str) -> String {
    let is_name = |line: &&str| line.contains("OpName") || line.contains("OpMemberName");
    let word = |word: &str| match word.strip_prefix('%').and_then(|id| id.parse::<u32>().ok()) {
        Some(id) => format!("%{}", id + 7),
        None => word.to_owned(),
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ") + "\n";
    text.lines().filter(|line| !is_name(line)).map(line).collect()
}

/// The reduction, and the same in other ids without its last barrier.
fn without_last_barrier() -> (CheckReport, String) {
    let checker = Checker::new(&["--inputs".to_owned(), "1".to_owned()]);
    let words = assemble(&std::fs::read_to_string(reduction()).unwrap(), None).unwrap();
    let before = disassemble_with(&words, DisassembleOptions::RAW).unwrap();
    let barrier = before.lines().rfind(|line| line.contains("OpControlBarrier")).unwrap();
    let at = before.rfind(barrier).unwrap();
    let after = shifted(&format!("{}{}", &before[..at], &before[at + barrier.len()..]));
    let modules = [words, assemble(&after, None).unwrap()];
    let [before, after] = ["before", "after"].map(|name| {
        let side = usize::from(name == "after");
        checker.made(modules[side].clone(), name)
    });
    (checker.check(&before, &after), barrier.trim().to_owned())
}

#[test]
fn many_invocations_are_as_short_as_two_and_a_dropped_barrier_is_one_line() {
    let (report, _) = without_last_barrier();
    assert_eq!(report.verdict, Verdict::Violates);
    let told = text::check(&report, PLAIN);
    assert!(told.lines().count() <= 60, "{told}");
    let changed = |sign: char, head: &str| {
        let lines = told.lines().filter(move |line| line.starts_with(sign));
        lines.filter(|line| !line.starts_with(head)).collect::<Vec<_>>()
    };
    let (gone, added) = (changed('-', "---"), changed('+', "+++"));
    assert!(gone.len() == 1 && gone[0].starts_with("-OpControlBarrier"), "{gone:?}");
    assert_eq!(added, [""; 0]);
    assert!(told.contains("  after lacks the control barrier on line"), "{told}");
    // What nobody shows is counted.
    assert!(told.contains("  invocations 2 to 31: 2 events each"), "{told}");
    assert!(told.contains("but after has no control barrier there"), "{told}");
    let full = text::check_in_full(&report, PLAIN);
    assert!(full.lines().count() > 300, "{}", full.lines().count());
}

/// The names of Workgroup variables say nothing: an execution is replayed on before without them, too. Where time is
/// over, the report says so.
#[test]
fn an_explanation_that_takes_too_long_says_so() {
    let (report, _) = without_last_barrier();
    let run = report.decisive().unwrap();
    let after = run.after.as_ref().unwrap();
    let Some(Subject::Undefined(index)) = run.comparison.violation.as_ref().map(|found| found.subject) else {
        panic!("no race")
    };
    let (undefined, witness) = &after.behaviours.undefined[index];
    let checker = Checker::new(&[]);
    let module = checker.module(&reduction());
    let program = lower(&module, &LowerOptions::default()).unwrap();
    let launch = Launch::resolve(&checker.options.launch, &program, None).unwrap();
    let dispatch = build_dispatch(&program, &launch, &run.input).unwrap();
    let side = Side { program: &program, dispatch: &dispatch };
    let told = |timeout: Option<Duration>| {
        let settings = Settings { timeout, ..Settings::default() };
        let pair = explain::Pair { before: side, after: side, watched: [&[], &[]] };
        why(pair, witness, New::Race(&undefined.lines), &settings).text.unwrap()
    };
    assert_eq!(told(Some(Duration::ZERO)), "the explanation was not finished in time (--timeout)");
    assert!(told(None).starts_with("before orders the store"), "{}", told(None));
}

/// A module of `tests/reports/`.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reports").join(name)
}

/// The report of a pair of `tests/reports/`.
fn report_of(before: &str, after: &str) -> String {
    let checker = Checker::new(&["--inputs".to_owned(), "2".to_owned()]);
    let [before, after] = [before, after].map(|name| checker.module(&example(name)));
    text::check(&checker.check(&before, &after), PLAIN)
}

/// glslang's debug information: lines of sources beside those of the module.
#[test]
fn lines_of_sources_stand_beside_those_of_the_module() {
    let told = report_of("lines-before.spvasm", "lines-after.spvasm");
    for line in [
        "  line 116 is %25 = OpFAdd %float %23 %24 instead of %25 = OpFMul %float %23 %24",
        "    changed.comp:7 in scaled: return w + f;",
    ] {
        assert!(told.lines().any(|other| other == line), "{line}\n{told}");
    }
    // A source in the module is no part of what is compared.
    assert!(!told.contains("-return w"), "{told}");
}

/// A function that was inlined, with its variables gone: the operation that is wrong is found by values alone.
#[test]
fn the_operation_from_which_on_values_differ_is_found_in_other_code() {
    let told = report_of("functions.spvasm", "inlined.spvasm");
    for line in [
        "  the values differ from here on (invocation 1):",
        "= OpFMul %float ",
        "in scaled: return w * f;",
        "= OpFAdd %float ",
        "changed.comp:7 in scaled, inlined at changed.comp:11 in main: return w + f;",
        "  line 141 is %159 = OpFAdd %float %112 %156 instead of %61 = OpFMul %float %59 %60",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    assert!(told.lines().count() <= 60, "{told}");
}

/// The text of a module of `tests/reports/` with one line changed, compared with it.
fn report_of_change(name: &str, from: &str, to: &str) -> String {
    report_of_change_by(&["--inputs", "2"], name, from, to)
}

/// The same with other options.
fn report_of_change_by(options: &[&str], name: &str, from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(example(name)).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let changed = text
        .replace(from, to)
        .replace("%bool = OpTypeBool", "%bool = OpTypeBool\n%yes = OpConstantTrue %bool");
    let checker = Checker::new(&options.iter().map(|&option| option.to_owned()).collect::<Vec<_>>());
    let before = checker.made(assemble(&text, None).unwrap(), "before");
    let after = checker.made(assemble(&changed, None).unwrap(), "after");
    text::check(&checker.check(&before, &after), PLAIN)
}

/// Who has undefined behaviour came there past a guard.
#[test]
fn the_branch_is_named_at_which_after_goes_another_way() {
    let guard = "OpBranchConditional %17 ";
    let told = report_of_change("guarded.spvasm", guard, "OpBranchConditional %yes ");
    for line in [
        "out-of-bounds, line",
        ": an index of the pointer's access chain is out of bounds: the index %26 is 5 (line 65), the length 5 (line ",
        "  by invocation 5 (",
        "(the index %26 is 5 (line 65), the length 5)",
        "  because the branch on line 81 (before: line 80) goes to the block on line 82, in before to the one on line 86",
        "  before goes another way from here on (invocation 5):",
        " is false)",
        "  in entry",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
}

/// An operation behind another one of its kind is what is wrong, and not what it takes.
#[test]
fn an_inserted_operation_is_the_first_difference() {
    let told = report_of_change(
        "lines-before.spvasm",
        "OpStore %f %22",
        "%extra = OpFMul %float %22 %float_0_5\nOpStore %f %extra",
    );
    let lines: Vec<&str> =
        told.lines().skip_while(|line| !line.contains("the values differ from here on")).take(3).collect();
    assert!(
        lines.len() == 3 && lines[1].contains("= OpFMul %float ") && lines[1].contains(" = 0.5"),
        "{told}"
    );
    assert!(lines[2].contains("= OpFMul %float ") && lines[2].contains(" = 0.25"), "{told}");
}

/// What an execution does behind a bound of its replay is not known, and said not to be.
#[test]
fn what_a_bound_keeps_from_being_told_is_named() {
    let waits = report_of_change("long.spvasm", "OpIEqual %bool %56 %uint_7", "OpIEqual %bool %56 %uint_0");
    let (guard, unguarded) = ("OpBranchConditional %43 %44", "OpBranchConditional %yes %44");
    let unguarded = report_of_change_by(&["--inputs", "8"], "long.spvasm", guard, unguarded);
    let wrong = report_of_change("long.spvasm", "OpIAdd %uint %23 %uint_1", "OpIAdd %uint %23 %uint_2");
    let followed = "followed for 1000000 instructions of one invocation";
    for (told, line) in [
        (&waits, format!("  invocation 0: whether it waits is not known: {followed}, up to line ")),
        (&unguarded, format!("  how it comes to that is not known: after was {followed}")),
        (&wrong, format!("  where the values begin to differ is not known: before was {followed}")),
    ] {
        assert!(told.lines().any(|other| other.starts_with(&line)), "{line}\n{told}");
    }
    assert!(!waits.contains("for ever, where"), "{waits}");
    // What is known of the first turns is told.
    assert!(wrong.contains("    after, invocation 0: gives 2 from %23 = 0"), "{wrong}");
}

/// A value that is computed from itself twice, again and again, is followed once each time: 2^40 ways lead back from the
/// last one.
#[test]
fn what_is_computed_from_itself_is_followed_once() {
    let change = |from: &str, to: &str| {
        report_of_change_by(&["--inputs", "2", "--float", "exact"], "squared.spvasm", from, to)
    };
    let told =
        change("%54 = OpConstantComposite %v4float %float_5", "%54 = OpConstantComposite %v4float %float_1");
    let line = "= OpMatrixTimesVector %v4float %52 %54 = (1.0, 5.0, 5.0, 5.0)";
    assert!(told.contains("  the values differ from here on") && told.contains(line), "{told}");
    let told = change("OpFAdd %float %29 %float_1", "OpFAdd %float %29 %float_0");
    let line = "= OpFAdd %float %29 %float_0 = 0.0";
    assert!(told.contains("  the values differ from here on") && told.contains(line), "{told}");
}

/// The report of `ways.spvasm` and the same with another text in one place, where buffer 0.0 holds these words.
fn report_of_way(text: &str, other: &str, words: &str) -> String {
    let args = ["--workgroups", "1", "--buffer"].map(str::to_owned).into_iter();
    let checker = Checker::new(&args.chain([format!("0.0=words:{words}")]).collect::<Vec<String>>());
    let before = std::fs::read_to_string(example("ways.spvasm")).unwrap();
    assert_eq!(before.matches(text).count(), 1, "{text}");
    let after = before.replace(text, other);
    let [before, after] = [before, after].map(|text| checker.made(assemble(&text, None).unwrap(), "module"));
    text::check(&checker.check(&before, &after), PLAIN)
}

/// The places of texts in a report, which come in this order.
fn assert_in_order(told: &str, texts: &[&str]) {
    let mut rest = told;
    for text in texts {
        let at = rest.find(text).unwrap_or_else(|| panic!("{text}\n{told}"));
        rest = &rest[at + text.len()..];
    }
}

/// A guard that lets one invocation more pass: what it computes behind it says nothing.
#[test]
fn a_fault_behind_a_branch_that_goes_another_way_begins_with_the_branch() {
    let told = report_of_way("%38 = OpUGreaterThanEqual", "%38 = OpUGreaterThan", "3,0,0,0");
    let branch =
        "  because the branch on line 71 goes to the block on line 74, in before to the one on line 72 \
                  (its condition %38, computed on line 69, is false in after, true in before)";
    let texts = [
        "What was changed\n  line 69 is %38 = OpUGreaterThan ",
        "  the values differ from here on (invocation 3):\n",
        "What is new\n  out-of-bounds, line 104: ",
        "the index %63 is 3 (line 64), the length 3 (line 103)",
        branch,
        "    line 104: OpStore",
        "    line 103: %65 = OpAccessChain",
        "    … 2 more instructions",
        "Input 'given'\n  b (0.0): n = 3, … (of 16 bytes)",
    ];
    assert_in_order(&told, &texts);
    // Nothing else of it: neither what others do, nor what the index comes from.
    for text in ["How after gets there", "has no counterpart", "    line 64: "] {
        assert!(!told.contains(text), "{text}\n{told}");
    }
}

/// Each way calls functions, as often as it likes: their results are no pairs.
#[test]
fn results_of_two_ways_are_not_compared() {
    let swapped = ["OpBranchConditional %46 %47 %53", "OpBranchConditional %46 %53 %47"];
    let told = report_of_way(swapped[0], swapped[1], "3,0,0,0,0");
    let texts = [
        "What was changed\n  the conditional branch on line 81 has its targets swapped: ",
        "  before goes another way from here on (invocation 1):\n",
        "    before, line 81: OpBranchConditional %46 %47 %53 (%46 is true)\n",
        "    after, line 81: OpBranchConditional %46 %53 %47 (%46 is true)\n",
    ];
    assert_in_order(&told, &texts);
    assert!(!told.contains("the values differ"), "{told}");
}

/// An access that before does not come to races.
#[test]
fn a_race_of_an_access_behind_a_branch_names_the_branch() {
    let [own, other] = ["%67 = OpIEqual", "%67 = OpINotEqual"];
    let told = report_of_way(own, other, "4,0,0,0,0");
    let texts = [
        "What was changed\n  line 106 is %67 = OpINotEqual",
        "What is new\n  data-race, lines 104 and 111: ",
        "  invocation 1 comes there because the branch on line 108 goes to the block on line 109, in before to the one \
         on line 113 (its condition %67, computed on line 106, is true in after, false in before)",
        "  before has no counterpart of the store on line 111 (invocation 1)",
    ];
    assert_in_order(&told, &texts);
}

/// What decides a way is an earlier value: both are told.
#[test]
fn a_value_that_sends_an_invocation_another_way_is_told_with_the_branch() {
    let [own, other] = ["%45 = OpBitwiseAnd", "%45 = OpShiftRightLogical"];
    let told = report_of_way(own, other, "2,0,0,0,0");
    let texts = [
        "What was changed\n  line 78 is %45 = OpShiftRightLogical",
        "    before, line 78: %45 = OpBitwiseAnd %uint %44 %uint_1 = 0 (%44 is 2)",
        "    after, line 78: %45 = OpShiftRightLogical %uint %44 %uint_1 = 1 (%44 is 2)",
        "  invocation 1 goes another way than in before: the branch on line 81 ",
    ];
    assert_in_order(&told, &texts);
}

/// What was swapped is named, and not what the operands come from.
#[test]
fn swapped_operands_are_where_the_values_begin_to_differ() {
    let told = report_of_way("%61 = OpISub %uint %58 %60", "%61 = OpISub %uint %60 %58", "2,0,0,0,0");
    let texts = [
        "What was changed\n  the OpISub on line 97 has its operands swapped: before %61 = OpISub %uint %58 %60, after \
         %61 = OpISub %uint %60 %58\n",
        "  the values differ from here on (invocation 1):\n",
        "    before, line 97: %61 = OpISub %uint %58 %60 = 2 (%58 is 4, %60 is 2)\n",
        "    after, line 97: %61 = OpISub %uint %60 %58 = 4294967294 (%60 is 2, %58 is 4)\n",
    ];
    assert_in_order(&told, &texts);
}

/// The report of `turns.spvasm` and the same with another text in one place, with two turns of both loops of `total`.
fn report_of_turns(text: &str, other: &str) -> String {
    report_by(&["--workgroups", "1", "--buffer", "0.0=words:2,2,0,0,0,0"], "turns.spvasm", text, other)
}

/// The report of a module of `tests/reports/` and the same with another text in one place.
fn report_by(options: &[&str], name: &str, text: &str, other: &str) -> String {
    let checker = Checker::new(&options.iter().map(|&option| option.to_owned()).collect::<Vec<_>>());
    let before = std::fs::read_to_string(example(name)).unwrap();
    assert_eq!(before.matches(text).count(), 1, "{text}");
    let after = before.replace(text, other);
    let [before, after] = [before, after].map(|text| checker.made(assemble(&text, None).unwrap(), "module"));
    text::check(&checker.check(&before, &after), PLAIN)
}

/// What is computed in one turn of a loop is compared with the same turn, and the turn in which the ways part is told.
#[test]
fn turns_of_loops_are_compared_with_themselves() {
    for (own, other, loops) in [
        (
            "%44 = OpULessThan ",
            "%44 = OpULessThanEqual ",
            "turn 3 of the loop on line 147, in turn 1 of the loop",
        ),
        ("%33 = OpULessThan ", "%33 = OpULessThanEqual ", "turn 3 of the loop on line 135 ("),
    ] {
        let told = report_of_turns(own, other);
        let texts = [
            "  the values differ from here on (invocation 0):\n    before, line ",
            "= false (",
            "\n    after, line ",
            "= true (",
            "  invocation 0 goes another way than in before: the branch on line ",
            loops,
            "is true in after, false in before",
        ];
        assert_in_order(&told, &texts);
    }
    let wider = report_of_turns("%58 = OpIAdd %uint %57 %int_1", "%58 = OpIAdd %uint %57 %uint_2");
    let texts =
        ["%58 = OpIAdd %uint %57 %int_1 = 1 (%57 is 0", "%58 = OpIAdd %uint %57 %uint_2 = 2 (%57 is 0"];
    assert_in_order(&wider, &texts);
}

/// Both accesses of a race are told with their turns, and a barrier that both invocations come to with the invocations.
#[test]
fn a_race_in_a_loop_names_the_turns() {
    let barrier = "               OpControlBarrier %uint_2 %uint_2 %uint_264\n        %105 = ";
    let last = report_of_turns(barrier, "        %105 = ");
    let texts = [
        "What is new\n  data-race, lines 106 and 118: ",
        "  invocation 0 is on line 106 in turn 2 of the loop on line 81\n",
        "    the control barrier on line 89 of invocation 0 synchronizes with that of invocation 1, but the store on \
         line 106 comes after that",
    ];
    assert_in_order(&last, &texts);
}

/// The outputs of a fragment that is discarded follow from that.
#[test]
fn a_fragment_that_is_discarded_in_after_alone_is_told_as_that() {
    let told = report_by(&["--inputs", "1"], "discarded.spvasm", "OpFOrdGreaterThan", "OpFOrdLessThan");
    let texts = [
        "    before, line 53: %24 = OpFOrdGreaterThan ",
        "  invocation 0 goes another way than in before: the branch on line 55 ",
        "What is new\n  discarded: before false, after true; its outputs are undefined then\n\n",
    ];
    assert_in_order(&told, &texts);
    assert!(!told.contains("after undefined"), "{told}");
    let kept = report_by(&["--inputs", "2"], "discarded.spvasm", "OpFMul", "OpFSub");
    assert!(kept.contains("  output color at location 0, component w (float): before "), "{kept}");
    assert!(!kept.contains("discarded:"), "{kept}");
}

/// Of many members that were read those are told that the wrong value comes from.
#[test]
fn what_the_wrong_value_comes_from_is_told_of_the_input() {
    let words = format!("0.0=words:{}", (1..=13).map(|word| word.to_string()).collect::<Vec<_>>().join(","));
    let told = report_by(&["--buffer", &words], "members.spvasm", "OpIMul", "OpISub");
    assert!(told.contains("  p (0.0): first = 1, others[5] = 7, "), "{told}");
    assert!(told.contains(", … (of 52 bytes)\n"), "{told}");
}
