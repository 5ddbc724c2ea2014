use super::*;
use crate::case::Case;
use crate::module::tests::{is_valid, module, shader, text, DECLARATIONS};

/// The text of the module with the first edit of a family that `wanted` wants; it must be valid.
pub(super) fn edited(module: &Module, family: Family, wanted: impl Fn(&Edit) -> bool) -> String {
    let edits = family.edits(module);
    let edit = edits.iter().find(|edit| wanted(edit)).unwrap_or_else(|| panic!("none in {edits:?}"));
    let case = Case { modules: vec![module.clone()], launch: () };
    let made = case.edited(std::slice::from_ref(edit), &[0], false).unwrap();
    let text = text(&made.modules[0]);
    assert!(is_valid(&made.modules[0]), "{edit:?} makes {text}");
    assert!(made.size().is_less_than(case.size()), "{edit:?} makes no smaller module: {text}");
    text
}

/// A selection in a loop, and a switch behind it.
const LOOP: &str = "
    OpBranch %header
    %header = OpLabel
    %i = OpPhi %uint %uint_0 %entry %next %continue
    %in = OpULessThan %bool %i %uint_100
    OpLoopMerge %out %continue None
    OpBranchConditional %in %body %out
    %body = OpLabel
    %odd = OpBitwiseAnd %uint %i %uint_1
    %is_odd = OpIEqual %bool %odd %uint_1
    OpSelectionMerge %joined None
    OpBranchConditional %is_odd %then %joined
    %then = OpLabel
    OpStore %a %i
    OpBranch %joined
    %joined = OpLabel
    OpBranch %continue
    %continue = OpLabel
    %next = OpIAdd %uint %i %uint_1
    OpBranch %header
    %out = OpLabel
    OpSelectionMerge %done None
    OpSwitch %i %done 1 %one 2 %two
    %one = OpLabel
    OpStore %b %uint_1
    OpBranch %done
    %two = OpLabel
    OpStore %b %uint_2
    OpBranch %done
    %done = OpLabel";

#[test]
fn constructs_are_skipped() {
    let module = shader(LOOP);
    let skipped = |number: usize| {
        let edits = Family::Constructs.edits(&module);
        let all: Vec<&Edit> = edits.iter().filter(|edit| matches!(edit, Edit::SkipConstruct(_))).collect();
        let wanted = all[number].clone();
        edited(&module, Family::Constructs, |edit| *edit == wanted)
    };
    assert!(!skipped(0).contains("OpLoopMerge"), "the loop");
    assert!(skipped(1).contains("OpLoopMerge"), "the selection in it");
    assert!(!skipped(2).contains("OpSwitch"), "the switch");
}

#[test]
fn a_loop_is_gone_through_once() {
    let text = edited(&shader(LOOP), Family::Constructs, |edit| matches!(edit, Edit::Once(_)));
    assert!(!text.contains("OpLoopMerge") && text.contains("OpStore %a"), "{text}");
    // Behind it stands what the turn computed.
    let next =
        text.lines().find(|line| line.contains("OpIAdd")).and_then(|line| line.split(' ').next()).unwrap();
    assert!(text.contains(&format!("OpSwitch {next} ")), "{text}");
}

#[test]
fn branches_are_decided() {
    let module = shader(LOOP);
    let body = module.insts.iter().filter(|inst| inst.op() == Op::Label).nth(2).unwrap().key;
    for (number, has_store) in [(0, true), (1, false)] {
        let text = edited(&module, Family::Blocks, |edit| *edit == Edit::Take(body, number));
        assert_eq!(text.contains("OpStore %a"), has_store, "{text}");
    }
}

#[test]
fn cases_go_and_blocks_are_joined() {
    let module = shader(LOOP);
    let text = edited(&module, Family::Blocks, |edit| matches!(edit, Edit::RemoveCase(..)));
    assert!(!text.contains("OpStore %b %uint_2") && text.contains("OpStore %b %uint_1"), "{text}");
    let joined = shader("OpBranch %next\n%next = OpLabel\nOpStore %a %uint_1");
    let text = edited(&joined, Family::Blocks, |edit| matches!(edit, Edit::MergeBlocks(_)));
    assert_eq!(text.matches("OpLabel").count(), 1, "{text}");
}

#[test]
fn the_end_of_a_body_is_where_its_loop_continues() {
    let code = LOOP.replace("OpSelectionMerge %joined None\n", "");
    let code = code.replace("OpBranchConditional %is_odd %then %joined", "OpBranch %joined");
    let module = shader(&code.replace("%then = OpLabel\n    OpStore %a %i\n    OpBranch %joined\n", ""));
    let mut case = Case { modules: vec![module], launch: () };
    for _ in 0..3 {
        let edits = Family::Blocks.edits(&case.modules[0]);
        let merges: Vec<Edit> =
            edits.into_iter().filter(|edit| matches!(edit, Edit::MergeBlocks(_))).collect();
        case = case.edited(&merges, &[0], false).unwrap_or(case);
    }
    let text = text(&case.modules[0]);
    assert!(is_valid(&case.modules[0]), "{text}");
    let merge = text.lines().find(|line| line.contains("OpLoopMerge")).unwrap();
    let label = merge.split_whitespace().nth(2).unwrap();
    let block = text.split(&format!("{label} = OpLabel\n")).nth(1).unwrap();
    let block = block.split("OpBranch").next().unwrap();
    assert!(block.contains("OpBitwiseAnd") && block.contains("OpIAdd"), "{text}");
}

#[test]
fn what_comes_behind_a_block_goes() {
    let module = shader("OpBranch %next\n%next = OpLabel\nOpStore %a %uint_1");
    let text = edited(&module, Family::Blocks, |edit| matches!(edit, Edit::Return(_)));
    assert!(!text.contains("OpStore"), "{text}");
}

#[test]
fn effects_are_removed_and_values_are_zero() {
    let module = shader("%sum = OpIAdd %uint %uint_1 %uint_2\nOpStore %a %sum");
    let text = edited(&module, Family::Instructions, |edit| matches!(edit, Edit::Remove(_)));
    assert!(!text.contains("OpStore") && !text.contains("OpIAdd"), "{text}");
    let text = edited(&module, Family::Instructions, |edit| matches!(edit, Edit::Zero(_)));
    assert!(text.contains("OpStore %a %uint_0") && !text.contains("OpIAdd"), "{text}");
}

#[test]
fn an_operand_stands_for_its_value() {
    let module = shader("%sum = OpIAdd %uint %uint_1 %uint_2\nOpStore %a %sum");
    let text = edited(&module, Family::Bypasses, |edit| matches!(edit, Edit::Bypass(_, 1)));
    assert!(text.contains("OpStore %a %uint_2"), "{text}");
    let text = edited(&module, Family::Bypasses, |edit| matches!(edit, Edit::Alias(..)));
    assert!(!text.contains("OpIAdd"), "{text}");
}

#[test]
fn operands_are_zero() {
    let module = shader("%x = OpLoad %uint %b\n%sum = OpIAdd %uint %x %x\nOpStore %a %sum");
    let text = edited(&module, Family::Operands, |edit| matches!(edit, Edit::ZeroOperand(_, 1)));
    assert!(text.contains("OpStore %a %uint_0"), "{text}");
}

#[test]
fn constants_stand_for_operands() {
    let module = shader("%x = OpLoad %uint %b\n%sum = OpIAdd %uint %x %x\nOpStore %a %sum");
    let wanted = module.insts.iter().find(|inst| {
        inst.op() == Op::Constant && inst.code.operands[0] == rspirv::dr::Operand::LiteralBit32(2)
    });
    let wanted = wanted.and_then(|inst| inst.code.result_id).unwrap();
    let text = edited(
        &module,
        Family::ConstantOperands,
        |edit| matches!(edit, Edit::SetOperand(_, 1, id) if *id == wanted),
    );
    assert!(text.contains("OpStore %a %uint_2\n"), "{text}");
}

#[test]
fn masks_lose_their_bits_with_what_belongs_to_them() {
    let module = shader("OpStore %a %uint_1 MakePointerAvailable|NonPrivatePointer %uint_1");
    let all = edited(&module, Family::Masks, |edit| matches!(edit, Edit::ClearBits(..)));
    assert!(all.contains("OpStore %a %uint_1\n"), "{all}");
    let bit = edited(&module, Family::Masks, |edit| matches!(edit, Edit::ClearBits(_, _, 0x8)));
    assert!(bit.contains("OpStore %a %uint_1 NonPrivatePointer\n"), "{bit}");
}

#[test]
fn semantics_and_scopes_become_smaller() {
    let module = shader("%old = OpAtomicIAdd %uint %a %uint_1 %acquire_release %uint_1");
    let semantics = edited(&module, Family::Masks, |edit| matches!(edit, Edit::SetScalar(_, 2, 0)));
    assert!(semantics.contains("%uint_1 %uint_0 %uint_1"), "{semantics}");
    let scope = edited(&module, Family::Masks, |edit| matches!(edit, Edit::SetScalar(_, 1, 2)));
    assert!(scope.contains("%uint_2 %uint_24904 %uint_1"), "{scope}");
    let release =
        edited(&module, Family::Masks, |edit| matches!(edit, Edit::SetScalar(_, 2, value) if value & 4 != 0));
    assert!(!release.contains("24904"), "{release}");
}

#[test]
fn atomic_accesses_become_plain() {
    let module = shader("OpAtomicStore %a %uint_1 %uint_0 %uint_2");
    let text = edited(&module, Family::Masks, |edit| matches!(edit, Edit::Plain(_)));
    assert!(text.contains("OpStore %a %uint_2") && !text.contains("Atomic"), "{text}");
}

/// A function with a parameter that it does not take.
pub(super) fn with_function() -> Module {
    let callee = "%scale = OpTypeFunction %uint %uint %uint
        %main = OpFunction %void None %signature";
    let text = DECLARATIONS.replace("%main = OpFunction %void None %signature", callee);
    module(&format!(
        "{text}
        %r = OpFunctionCall %uint %f %uint_1 %uint_2
        OpStore %a %r
        OpReturn
        OpFunctionEnd
        %f = OpFunction %uint None %scale
        %p = OpFunctionParameter %uint
        %q = OpFunctionParameter %uint
        %body = OpLabel
        %double = OpIAdd %uint %q %q
        OpReturnValue %double
        OpFunctionEnd"
    ))
}

#[test]
fn functions_lose_their_code_and_their_parameters() {
    let module = with_function();
    let empty = edited(&module, Family::Functions, |edit| matches!(edit, Edit::EmptyFunction(_)));
    assert!(empty.contains("OpReturnValue %uint_0") && !empty.contains("OpIAdd"), "{empty}");
    let fewer = edited(&module, Family::Parameters, |edit| matches!(edit, Edit::RemoveParameter(_)));
    assert!(fewer.contains("OpTypeFunction %uint %uint\n") && fewer.contains("%uint_2\nOpStore"), "{fewer}");
    let inlined = edited(&module, Family::Functions, |edit| matches!(edit, Edit::Inline(_)));
    assert!(
        inlined.matches("OpFunctionEnd").count() == 1 && inlined.contains("OpIAdd %uint %uint_2 %uint_2"),
        "{inlined}"
    );
    // What is not called goes.
    let unused = edited(
        &module,
        Family::Instructions,
        |edit| matches!(edit, Edit::Zero(key) if module.keyed(*key).unwrap().op() == Op::FunctionCall),
    );
    assert_eq!(unused.matches("OpFunctionEnd").count(), 1, "{unused}");
}

#[test]
fn members_that_nothing_leads_to_go() {
    let module = shader("OpStore %b %uint_1");
    let of_block = |edit: &Edit| matches!(edit, Edit::RemoveMember(_, 0));
    let without_a = Case { modules: vec![module], launch: () }
        .edited(&Family::Instructions.edits(&shader("OpStore %b %uint_1"))[2..], &[0], false)
        .unwrap();
    let module = without_a.modules[0].clone();
    let text = edited(&module, Family::Members, of_block);
    // What was the second member is the first one, where it lay.
    assert!(text.contains(" 0 Offset 4") && !text.contains(" 0 Offset 0"), "{text}");
    assert!(text.lines().any(|line| line.contains("OpAccessChain") && line.ends_with("%uint_0")), "{text}");
}

#[test]
fn sizes_and_constants_become_smaller() {
    let module = shader("OpStore %a %uint_100");
    let sizes = edited(&module, Family::Sizes, |edit| matches!(edit, Edit::SetLiteral(_, _, 4)));
    assert!(sizes.contains("LocalSize 4 1 1"), "{sizes}");
    let constants = edited(&module, Family::Constants, |edit| matches!(edit, Edit::SetLiteral(_, _, 50)));
    assert!(constants.contains("OpStore %a %uint_50"), "{constants}");
}

#[test]
fn specialisation_constants_are_frozen() {
    let text = DECLARATIONS
        .replace("OpDecorate %Block Block", "OpDecorate %Block Block\nOpDecorate %spec SpecId 3")
        .replace("%uint_0 =", "%spec = OpSpecConstant %uint 7\n%uint_0 =");
    let module = module(&format!("{text}OpStore %a %spec\nOpReturn\nOpFunctionEnd\n"));
    let text = edited(&module, Family::Constants, |edit| matches!(edit, Edit::Freeze(_)));
    assert!(!text.contains("SpecId") && text.contains("OpConstant %uint 7"), "{text}");
}

#[test]
fn names_and_interfaces_go() {
    let module = shader("OpStore %a %uint_1");
    let case = Case { modules: vec![module.clone()], launch: () };
    let made = case.edited(&Family::Debug.edits(&module), &[0], false).unwrap();
    assert!(!text(&made.modules[0]).contains("OpName"));
    let unlisted = Family::Declarations.edits(&module);
    let shared = unlisted.iter().filter(|edit| matches!(edit, Edit::Unlist(..))).nth(1).unwrap();
    let made = case.edited(std::slice::from_ref(shared), &[0], false).unwrap();
    let text = text(&made.modules[0]);
    assert!(text.contains("OpEntryPoint GLCompute %1 \"main\" %2\n"), "one is left: {text}");
}

#[test]
fn headers_take_in_what_they_go_to_and_empty_blocks_are_passed_by() {
    let code = "
        OpBranch %header
        %header = OpLabel
        OpLoopMerge %out %continue None
        OpBranch %test
        %test = OpLabel
        OpBranchConditional %true %body %out
        %body = OpLabel
        OpBranch %continue
        %continue = OpLabel
        OpBranch %header
        %out = OpLabel
        OpStore %a %uint_1";
    let module = shader(code);
    let labels: Vec<Key> =
        module.insts.iter().filter(|inst| inst.op() == Op::Label).map(|inst| inst.key).collect();
    let merged = edited(&module, Family::Blocks, |edit| *edit == Edit::MergeBlocks(labels[1]));
    assert!(
        merged.contains("OpLoopMerge") && merged.matches("OpLabel").count() == labels.len() - 1,
        "{merged}"
    );
    let passed = edited(&module, Family::Blocks, |edit| *edit == Edit::Forward(labels[3]));
    assert_eq!(passed.matches("OpLabel").count(), labels.len() - 1, "{passed}");
}

#[test]
fn values_are_undefined_and_declarations_are_shared() {
    let module = shader("%x = OpLoad %uint %b\n%sum = OpIAdd %uint %x %x\nOpStore %a %sum");
    let text = edited(&module, Family::Bypasses, |edit| matches!(edit, Edit::Undefine(_)));
    assert!(text.contains("OpUndef %uint") && !text.contains("OpIAdd"), "{text}");
    let twice = DECLARATIONS.replace("%uint_2 =", "%again = OpConstant %uint 1\n%uint_2 =");
    let module = self::module(&format!("{twice}OpStore %a %again\nOpReturn\nOpFunctionEnd\n"));
    let text = edited(&module, Family::Constants, |edit| matches!(edit, Edit::Share(_)));
    assert!(text.contains("OpStore %a %uint_1\n"), "{text}");
}
