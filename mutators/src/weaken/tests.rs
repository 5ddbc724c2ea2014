//! What each weakening makes of small shaders.

use super::WEAKENINGS;
use crate::module::tests::{module, shader, text};
use crate::Mutants;

/// Names of the mutants of one kind, and the instructions that the module did not have.
fn mutants(mutator: &str, code: &str) -> Vec<(String, Vec<String>)> {
    let module = shader(code);
    let original = text(&module);
    let mutants = Mutants::of(&module, WEAKENINGS, 0).valid.into_iter();
    mutants
        .filter(|mutant| mutant.mutator == mutator)
        .map(|mutant| {
            let changed = text(&mutant.module);
            let new = changed.lines().filter(|line| !original.lines().any(|old| old == *line));
            (mutant.name(), new.map(str::to_owned).collect())
        })
        .collect()
}

fn names(mutator: &str, code: &str) -> Vec<String> {
    mutants(mutator, code).into_iter().map(|(name, _)| name).collect()
}

fn owned(expected: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    expected.iter().map(|(name, new)| ((*name).to_owned(), lines(new))).collect()
}

#[test]
fn each_bit_of_the_semantics_is_dropped() {
    let expected: &[(&str, &[&str])] = &[
        (
            "semantics-bit OpMemoryBarrier#1: no UniformMemory",
            &["%uint_24840 = OpConstant %uint 24840", "OpMemoryBarrier %uint_1 %uint_24840"],
        ),
        (
            "semantics-bit OpMemoryBarrier#1: no WorkgroupMemory",
            &["%uint_24648 = OpConstant %uint 24648", "OpMemoryBarrier %uint_1 %uint_24648"],
        ),
        (
            "semantics-bit OpMemoryBarrier#1: no MakeAvailable",
            &["%uint_16712 = OpConstant %uint 16712", "OpMemoryBarrier %uint_1 %uint_16712"],
        ),
        (
            "semantics-bit OpMemoryBarrier#1: no MakeVisible",
            &["%uint_8520 = OpConstant %uint 8520", "OpMemoryBarrier %uint_1 %uint_8520"],
        ),
    ];
    let found = mutants("semantics-bit", "OpMemoryBarrier %uint_1 %acquire_release");
    assert_eq!(found, owned(expected));
}

#[test]
fn the_last_storage_class_takes_the_flags_with_it() {
    let found = mutants("semantics-bit", "OpAtomicStore %a %uint_1 %release %uint_1");
    let (name, new) = &found[0];
    assert_eq!(name, "semantics-bit OpAtomicStore#1: no UniformMemory");
    assert_eq!(new, &["%uint_4 = OpConstant %uint 4", "OpAtomicStore %a %uint_1 %uint_4 %uint_1"]);
}

#[test]
fn orders_get_weaker_and_existing_constants_are_used() {
    let expected: &[(&str, &[&str])] =
        &[("weaker-order OpAtomicStore#1: Relaxed", &["OpAtomicStore %a %uint_1 %uint_0 %uint_1"])];
    let found = mutants("weaker-order", "OpAtomicStore %a %uint_1 %release %uint_1");
    assert_eq!(found, owned(expected));
    let found = names("weaker-order", "OpControlBarrier %uint_2 %uint_2 %acquire_release");
    assert_eq!(
        found,
        [
            "weaker-order OpControlBarrier#1: Acquire",
            "weaker-order OpControlBarrier#1: Release",
            "weaker-order OpControlBarrier#1: Relaxed",
        ]
    );
}

#[test]
fn a_compare_exchange_is_never_weaker_where_equal() {
    let code = "%x = OpAtomicCompareExchange %uint %a %uint_1 %acquire %acquire %uint_1 %uint_0";
    let expected: &[(&str, &[&str])] = &[
        (
            "weaker-order OpAtomicCompareExchange#1: Relaxed",
            &["%33 = OpAtomicCompareExchange %uint %a %uint_1 %uint_0 %uint_0 %uint_1 %uint_0"],
        ),
        (
            "weaker-order OpAtomicCompareExchange#1: Relaxed where unequal",
            &["%33 = OpAtomicCompareExchange %uint %a %uint_1 %uint_16450 %uint_0 %uint_1 %uint_0"],
        ),
    ];
    let found = mutants("weaker-order", code);
    let without_id = |found: Vec<(String, Vec<String>)>| {
        found.into_iter().map(|(name, new)| (name, new[0].split_once(" = ").unwrap().1.to_owned()))
    };
    assert!(without_id(found).eq(without_id(owned(expected))));
}

#[test]
fn scopes_are_narrowed_one_by_one() {
    let found = names(
        "narrower-scope",
        "OpStore %a %uint_1 MakePointerAvailable|NonPrivatePointer %uint_1
         OpControlBarrier %uint_2 %uint_2 %acquire_release
         %x = OpLoad %uint %a MakePointerVisible|NonPrivatePointer %uint_2",
    );
    assert_eq!(
        found,
        [
            "narrower-scope OpStore#1: availability Device to QueueFamily",
            "narrower-scope OpStore#1: availability Device to Workgroup",
            "narrower-scope OpControlBarrier#1: execution Workgroup to Subgroup",
            "narrower-scope OpControlBarrier#1: memory Workgroup to Subgroup",
            "narrower-scope OpLoad#1: visibility Workgroup to Subgroup",
        ]
    );
}

#[test]
fn accesses_lose_their_operations_and_privacy() {
    let code = "OpStore %a %uint_1 Volatile|MakePointerAvailable|NonPrivatePointer %uint_1";
    let expected: &[(&str, &[&str])] = &[(
        "per-instruction OpStore#1: no MakePointerAvailable",
        &["OpStore %a %uint_1 Volatile|NonPrivatePointer"],
    )];
    assert_eq!(mutants("per-instruction", code), owned(expected));
    let expected: &[(&str, &[&str])] =
        &[("non-private OpStore#1: private", &["OpStore %a %uint_1 Volatile"])];
    assert_eq!(mutants("non-private", code), owned(expected));
    let expected: &[(&str, &[&str])] = &[(
        "volatile OpStore#1: not volatile",
        &["OpStore %a %uint_1 MakePointerAvailable|NonPrivatePointer %uint_1"],
    )];
    assert_eq!(mutants("volatile", code), owned(expected));
}

#[test]
fn decorations_of_the_older_models_are_dropped() {
    let legacy = "OpCapability Shader
                OpMemoryModel Logical GLSL450
                OpEntryPoint GLCompute %main \"main\" %buffer
                OpExecutionMode %main LocalSize 1 1 1
                OpName %buffer \"buffer\"
                OpName %Block \"Block\"
                OpDecorate %buffer Coherent
                OpDecorate %buffer DescriptorSet 0
                OpDecorate %buffer Binding 0
                OpDecorate %Block Block
                OpMemberDecorate %Block 0 Offset 0
                OpMemberDecorate %Block 0 Volatile
                %void = OpTypeVoid
                %signature = OpTypeFunction %void
                %uint = OpTypeInt 32 0
                %Block = OpTypeStruct %uint
                %block = OpTypePointer StorageBuffer %Block
                %buffer = OpVariable %block StorageBuffer
                %main = OpFunction %void None %signature
                %entry = OpLabel
                OpReturn
                OpFunctionEnd";
    let found = Mutants::of(&module(legacy), WEAKENINGS, 0).valid;
    let names: Vec<String> = found.iter().map(|mutant| mutant.name()).collect();
    assert_eq!(names, ["decoration: no Coherent on buffer", "decoration: no Volatile on member 0 of Block"]);
    assert!(!text(&found[0].module).contains("Coherent"));
    assert!(text(&found[0].module).contains("Volatile"));
}

#[test]
fn barriers_go_or_stop_waiting() {
    let code = "OpControlBarrier %uint_2 %uint_2 %acquire_release";
    assert_eq!(names("barrier-removed", code), ["barrier-removed OpControlBarrier#1"]);
    let expected: &[(&str, &[&str])] =
        &[("control-barrier-to-fence OpControlBarrier#1", &["OpMemoryBarrier %uint_2 %uint_24904"])];
    assert_eq!(mutants("control-barrier-to-fence", code), owned(expected));
}

#[test]
fn atomics_become_plain() {
    let expected: &[(&str, &[&str])] = &[(
        "atomic-to-plain OpAtomicStore#1",
        &["OpStore %a %uint_3 MakePointerAvailable|NonPrivatePointer %uint_1"],
    )];
    let found = mutants("atomic-to-plain", "OpAtomicStore %a %uint_1 %release %uint_3");
    assert_eq!(found, owned(expected));
}

#[test]
fn updates_are_split() {
    let sum = "%sum = OpAtomicIAdd %uint %a %uint_1 %acquire_release %uint_3
               OpStore %b %sum";
    let (_, new) = &mutants("update-split", sum)[0];
    assert!(new[2].contains("OpAtomicLoad %uint %a %uint_1 %uint_16706"), "{new:#?}");
    assert!(new[3].contains("OpIAdd %uint %"), "{new:#?}");
    assert!(new[4].starts_with("OpAtomicStore %a %uint_1 %uint_8516 %"), "{new:#?}");

    let exchange = "%x = OpAtomicCompareExchange %uint %a %uint_1 %acquire %uint_0 %uint_1 %uint_0";
    let (_, new) = &mutants("update-split", exchange)[0];
    assert!(new.iter().any(|line| line.contains("OpSelect %uint %")), "{new:#?}");

    for opcode in ["ISub", "SMin", "UMin", "SMax", "UMax", "And", "Or", "Xor", "Exchange"] {
        let code = format!("%x = OpAtomic{opcode} %uint %a %uint_1 %release %uint_3");
        assert_eq!(names("update-split", &code), [format!("update-split OpAtomic{opcode}#1")]);
    }
    for opcode in ["IIncrement", "IDecrement"] {
        let code = format!("%x = OpAtomic{opcode} %uint %a %uint_1 %release");
        assert_eq!(names("update-split", &code), [format!("update-split OpAtomic{opcode}#1")]);
    }
}

/// The opcodes of the memory operations in their order, behind a swap of the first one.
fn swapped(code: &str) -> Option<Vec<String>> {
    let found = Mutants::of(&shader(code), WEAKENINGS, 0).valid;
    let swap = found.iter().find(|mutant| mutant.mutator == "swap")?;
    let text = text(&swap.module);
    let operations = ["OpStore", "OpLoad", "OpMemoryBarrier", "OpAtomicStore"];
    let opcodes = text.lines().filter_map(|line| {
        let opcode = line.split_whitespace().find(|word| word.starts_with("Op"))?;
        operations.contains(&opcode).then(|| opcode.to_owned())
    });
    Some(opcodes.collect())
}

#[test]
fn neighbours_swap_along_with_what_they_need() {
    let code = "OpStore %a %uint_1
                %c = OpAccessChain %element %buffer %uint_1
                %x = OpLoad %uint %c";
    assert_eq!(swapped(code), Some(vec!["OpLoad".to_owned(), "OpStore".to_owned()]));
    let code = "OpStore %a %uint_1\nOpMemoryBarrier %uint_1 %release";
    assert_eq!(swapped(code), Some(vec!["OpMemoryBarrier".to_owned(), "OpStore".to_owned()]));
}

#[test]
fn dependent_neighbours_do_not_swap() {
    let code = "%x = OpLoad %uint %a
                %y = OpIAdd %uint %x %uint_1
                OpStore %b %y";
    assert_eq!(swapped(code), None);
    assert_eq!(swapped("OpStore %a %uint_1"), None);
}
