use super::*;
const MODULE: &str = "OpEntryPoint GLCompute %main \"main\"
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%pointer = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %pointer StorageBuffer
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%entry = OpLabel
%a = OpLoad %uint %buffer
%b = OpISub %uint %a %one
%c = OpISub %uint %b %a
OpStore %buffer %c
OpReturn
OpFunctionEnd
";

const NONE: [Vec<Line>; 2] = [Vec::new(), Vec::new()];

fn told_of(before: &str, after: &str, everything: bool) -> Told {
    Texts::of(before, after).matched().in_names_of_before(everything)
}

fn lines(after: &str) -> [Vec<Line>; 2] {
    changed(MODULE, after).map(|lines| lines.into_iter().collect())
}

#[test]
fn ids_and_the_order_of_globals_do_not_matter() {
    let renamed = MODULE.replace("%a", "%7").replace("%one", "%9").replace("%main", "%3");
    assert_eq!(lines(&renamed), NONE);
    let line = "%two = OpConstant %uint 2\n";
    let moved = MODULE.replace(line, "").replace("%one = ", &format!("{line}%one = "));
    assert_eq!(lines(&moved), NONE);
    assert_eq!(lines(&format!("; a comment\n\n{MODULE}")), NONE);
}

#[test]
fn an_instruction_is_changed_by_its_opcode_a_constant_or_an_operand() {
    assert_eq!(lines(&MODULE.replace("OpISub %uint %a %one", "OpIAdd %uint %a %one")), [vec![13], vec![13]]);
    assert_eq!(lines(&MODULE.replace("OpISub %uint %a %one", "OpISub %uint %a %two")), [vec![13], vec![13]]);
    assert_eq!(lines(&MODULE.replace("%uint %b %a", "%uint %a %b")), [vec![14], vec![14]]);
    // Its users are where a constant is another one.
    assert_eq!(lines(&MODULE.replace("OpConstant %uint 1", "OpConstant %uint 5")), [vec![13], vec![13]]);
    assert_eq!(lines(&MODULE.replace("Binding 0", "Binding 1")), [vec![12, 15], vec![12, 15]]);
}

#[test]
fn what_is_dropped_or_inserted_is_changed_alone() {
    assert_eq!(lines(&MODULE.replace("OpStore %buffer %c\n", "")), [vec![15], vec![]]);
    let inserted = MODULE.replace("OpReturn", "OpStore %buffer %two\nOpReturn");
    assert_eq!(lines(&inserted), [vec![], vec![16]]);
}

#[test]
fn a_function_that_only_one_module_has_is_changed() {
    let other = "%other = OpFunction %void None %type\n%start = OpLabel\nOpReturn\nOpFunctionEnd\n";
    assert_eq!(lines(&format!("{MODULE}{other}")), [vec![], vec![18, 19, 20]]);
}

/// What differs, each line behind the sign of its module.
fn differing(before: &str, after: &str) -> Vec<String> {
    let told = told_of(before, after, false);
    let [old, new] = told.lines.map(|lines| lines.into_iter().map(|line| line.text).collect::<Vec<_>>());
    let ops = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
    let changes = ops.into_iter().filter(|op| op.tag() != similar::DiffTag::Equal);
    changes
        .flat_map(|op| {
            let gone = old[op.old_range()].iter().map(|line| format!("-{line}"));
            gone.chain(new[op.new_range()].iter().map(|line| format!("+{line}"))).collect::<Vec<_>>()
        })
        .collect()
}

/// Every id by a number, from `first` on.
fn numbered(text: &str, first: u32) -> String {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let word = |word: &str, numbers: &mut HashMap<String, u32>| match word.strip_prefix('%') {
        Some(_) => {
            let next = first + numbers.len() as u32;
            format!("%{}", numbers.entry(word.to_owned()).or_insert(next))
        }
        None => word.to_owned(),
    };
    let line = |line: &str, numbers: &mut HashMap<String, u32>| {
        line.split(' ').map(|part| word(part, numbers)).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|text| line(text, &mut numbers) + "\n").collect()
}

#[test]
fn a_module_differs_from_itself_in_nothing() {
    let (own, other) = (numbered(MODULE, 1), numbered(MODULE, 7));
    assert_eq!(differing(&own, &own), [""; 0]);
    assert_eq!(differing(&own, &other), [""; 0]);
    let line = "%two = OpConstant %uint 2\n";
    let moved = MODULE.replace(line, "").replace("%one = ", &format!("{line}%one = "));
    assert_eq!(differing(&own, &numbered(&moved, 3)), [""; 0]);
}

#[test]
fn a_dropped_instruction_is_one_line_however_ids_shift() {
    let before = MODULE.replace("%b = ", "%z = OpIMul %uint %a %a\n%b = ");
    assert_eq!(differing(&numbered(&before, 1), &numbered(MODULE, 1)), ["-%11 = OpIMul %4 %10 %10"]);
    assert_eq!(differing(&numbered(MODULE, 1), &numbered(&before, 1)), ["+%after_11 = OpIMul %4 %10 %10"]);
}

#[test]
fn a_changed_instruction_keeps_its_name() {
    let other = MODULE.replace("OpISub %uint %a %one", "OpUDiv %uint %a %one");
    let (before, after) = (numbered(MODULE, 1), numbered(&other, 5));
    assert_eq!(differing(&before, &after), ["-%11 = OpISub %4 %10 %5", "+%11 = OpUDiv %4 %10 %5"]);
    // Another constant is another one, and is shown where it is used.
    let other = MODULE.replace("%uint %a %one", "%uint %a %three");
    let other = other.replace("%two = ", "%three = OpConstant %uint 3\n%two = ");
    assert_eq!(
        differing(&numbered(MODULE, 1), &numbered(&other, 1)),
        ["+%after_6 = OpConstant %4 3", "-%11 = OpISub %4 %10 %5", "+%11 = OpISub %4 %10 %after_6"]
    );
}

#[test]
fn a_moved_instruction_keeps_its_name() {
    let line = "%b = OpISub %uint %a %one\n";
    let before = MODULE.replace("%c =", "%d = OpIMul %uint %a %two\n%e = OpIMul %uint %d %two\n%c =");
    let after = before.replace(line, "").replace("%c =", &format!("{line}%c ="));
    assert_eq!(
        differing(&numbered(&before, 1), &numbered(&after, 1)),
        ["-%11 = OpISub %4 %10 %5", "+%11 = OpISub %4 %10 %5"]
    );
}

#[test]
fn a_changed_decoration_is_one_line() {
    let before = numbered(MODULE, 1);
    let other = numbered(&MODULE.replace("Binding 0", "Binding 1"), 3);
    assert_eq!(differing(&before, &other), ["-OpDecorate %2 Binding 0", "+OpDecorate %2 Binding 1"]);
}

#[test]
fn what_does_nothing_is_counted() {
    let after = format!("; a comment\nOpName %a \"a\"\n{MODULE}");
    let after = after.replace("%two = ", "%float = OpTypeFloat 32\n%two = ");
    let told = told_of(MODULE, &after, false);
    assert_eq!((told.remarks, told.declarations, told.too_long), (2, 1, 0));
    assert_eq!(told.lines[0].len(), told.lines[1].len());
    let told = told_of(MODULE, &after, true);
    assert_eq!((told.remarks, told.declarations), (0, 0));
    assert_eq!(told.lines[0].len() + 3, told.lines[1].len());
}

#[test]
fn functions_too_long_are_told() {
    let long = |operand: &str| {
        let code = format!("OpStore %buffer {operand}\n").repeat(matching::MOST_LINES + 1);
        MODULE.replace("OpStore %buffer %c\n", &code)
    };
    assert_eq!(told_of(&long("%c"), &long("%two"), false).too_long, 1);
    assert_eq!(told_of(&long("%c"), &long("%c"), false).too_long, 0);
}

#[test]
fn strings_are_words() {
    let inst = Inst::parse(1, "OpEntryPoint GLCompute %main \"a ; \\\" b\" %c ; \"d\"").unwrap();
    assert_eq!(inst.operands, ["GLCompute", "%main", "\"a ; \\\" b\"", "%c"]);
}

/// What a person writes, and what the disassembler makes of it.
#[test]
fn literals_that_are_written_in_another_way_are_no_change() {
    let module = |word: &str, all: &str, one: &str, offset: &str, operands: &str| {
        format!(
            "OpMemberDecorate %s 0 Offset {offset}\n%u = OpTypeInt 32 0\n%i = OpTypeInt 32 1\n\
             %h = OpTypeFloat 32\n%s = OpTypeStruct %u\n%a = OpConstant %u {word}\n\
             %b = OpConstant %i {all}\n%c = OpConstant %h {one}\n%f = OpFunction %u None %t\n\
             %l = OpLabel\n%x = OpLoad %u %p {operands}\n%y = OpIAdd %u %x %a\n%z = OpIMul %i %y %b\n\
             %w = OpFMul %h %y %c\nOpReturn\nOpFunctionEnd\n"
        )
    };
    let by_hand = module("0x10", "0xffffffff", "1.0", "0x10", "NonPrivatePointer|Aligned 0x4");
    let disassembled = module("16", "-1", "1", "16", "Aligned|NonPrivatePointer 4");
    assert_eq!(changed(&by_hand, &disassembled), [BTreeSet::new(), BTreeSet::new()]);
    for (literal, line) in [("17", 12), ("-2", 13), ("1.5", 14)] {
        let other = match line {
            12 => module(literal, "-1", "1", "16", "Aligned|NonPrivatePointer 4"),
            13 => module("16", literal, "1", "16", "Aligned|NonPrivatePointer 4"),
            _ => module("16", "-1", literal, "16", "Aligned|NonPrivatePointer 4"),
        };
        assert!(changed(&by_hand, &other)[1].contains(&line), "{literal}");
    }
}

/// An instruction of another kind, which takes other values and is used in another way, has a name of its own.
#[test]
fn what_is_nothing_of_before_keeps_its_name() {
    let before = MODULE.replace(
        "%c = OpISub %uint %b %a\nOpStore %buffer %c",
        "%c = OpIMul %uint %b %a\nOpStore %buffer %c",
    );
    let after = before.replace(
        "%c = OpIMul %uint %b %a\nOpStore %buffer %c",
        "%k = OpNot %uint %two\nOpAtomicStore %buffer %one %two %k",
    );
    assert_ne!(before, after);
    let told = told_of(&before, &after, false);
    assert!(told.lines[1].iter().any(|line| line.text == "%k = OpNot %uint %two"), "{:?}", told.lines[1]);
    // What computes the same from the same in another way has before's name.
    let after = before.replace(
        "%c = OpIMul %uint %b %a\nOpStore %buffer %c",
        "%k = OpIAdd %uint %b %a\nOpAtomicStore %buffer %one %two %k",
    );
    let told = told_of(&before, &after, false);
    assert!(told.lines[1].iter().any(|line| line.text == "%c = OpIAdd %uint %b %a"), "{:?}", told.lines[1]);
}
