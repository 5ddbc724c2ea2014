//! Slots that are given out, where the result of the first update decides nothing but the slot, and where it decides more.

use spirv_tv::explore::Races;

use super::{compare_ready, ready_text};

/// `append` with its last lines, from the number of the invocation (`%29`) on, replaced; the slot is `%23`.
fn append(rest: &str) -> String {
    let text = include_str!("../../benches/modules/idioms/append.spvasm");
    let begin = text.find("         %31 = OpIMul").expect("what is stored");
    let constants =
        "     %uint_3 = OpConstant %uint 3\n       %bool = OpTypeBool\n     %uint_8 = OpConstant %uint 8\n";
    let text = format!("{}{rest}\nOpReturn\nOpFunctionEnd\n", &text[..begin]);
    let locals = "OpLabel\n       %slot = ";
    let variables = "OpLabel\n       %kept = OpVariable %_ptr_Function_uint Function\n       %slot = ";
    text.replacen("     %uint_3 = OpConstant %uint 3\n", constants, 1).replacen(locals, variables, 1)
}

/// A store to an element of the slots.
fn store(name: &str, index: &str, value: &str) -> String {
    format!("%{name} = OpAccessChain %_ptr_StorageBuffer_uint %__0 %int_0 {index}\nOpStore %{name} {value}\n")
}

/// The answers are those of a search without symmetry.
fn assert_same(rest: &str) {
    for races in [Races::Undefined, Races::Keep] {
        let ready = ready_text(append(rest), 4);
        match compare_ready(&ready, races) {
            Ok(explored) => assert!(explored.is_some(), "{rest}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn contents_of_whoever_has_the_slot() {
    assert_same(&format!("%31 = OpIMul %uint %29 %uint_3\n{}", store("to", "%23", "%31")));
    // Two words of a slot, one of them with the same for all; then a word of each one's own.
    let two = "%first = OpIMul %uint %23 %uint_3\n%second = OpIAdd %uint %first %uint_1\n";
    let own = "%own = OpIAdd %uint %29 %uint_8\n";
    let stores = [store("a", "%first", "%29"), store("b", "%second", "%uint_3")].concat();
    assert_same(&format!("{two}{stores}"));
    assert_same(&format!("{own}{}{}", store("a", "%own", "%29"), store("b", "%23", "%29")));
    // The last one counts.
    assert_same(&[store("a", "%23", "%29"), store("b", "%23", "%uint_3")].concat());
}

#[test]
fn contents_that_hang_on_the_slot() {
    assert_same(&format!("%sum = OpIAdd %uint %29 %23\n{}", store("to", "%23", "%sum")));
    assert_same(&store("to", "%23", "%23"));
    assert_same(&format!("OpStore %kept %23\n%sum = OpLoad %uint %kept\n{}", store("to", "%23", "%sum")));
    // Of two, by way of a branch.
    let branch = "%early = OpULessThan %bool %23 %uint_3\nOpSelectionMerge %merge None\n\
                  OpBranchConditional %early %yes %no\n%yes = OpLabel\nOpBranch %merge\n%no = OpLabel\nOpBranch %merge\n\
                  %merge = OpLabel\n%which = OpPhi %uint %uint_3 %yes %29 %no\n";
    assert_same(&format!("{branch}{}", store("to", "%23", "%which")));
    let branch = "%early = OpULessThan %bool %23 %uint_3\nOpSelectionMerge %merge None\n\
                  OpBranchConditional %early %yes %merge\n%yes = OpLabel\n";
    assert_same(&format!("{branch}{}OpBranch %merge\n%merge = OpLabel", store("to", "%23", "%29")));
}

#[test]
fn slots_that_hang_on_the_invocation() {
    let index = "%row = OpIMul %uint %23 %uint_3\n%index = OpIAdd %uint %row %29\n";
    assert_same(&format!("{index}{}", store("to", "%index", "%uint_3")));
    // Its own word gets the number of the slot.
    assert_same(&store("to", "%29", "%23"));
    // What is at the slot is read: by everybody their own, or what others write.
    let load = "%at = OpAccessChain %_ptr_StorageBuffer_uint %__0 %int_0 %23\n%there = OpLoad %uint %at\n";
    let index = "%index = OpIAdd %uint %29 %uint_8\n";
    assert_same(&format!("{}{load}{index}{}", store("to", "%23", "%29"), store("back", "%index", "%there")));
    assert_same(&[store("to", "%23", "%29"), store("over", "%29", "%uint_3")].concat());
}
