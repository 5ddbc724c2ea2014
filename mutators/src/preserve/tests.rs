//! What each preserving rewrite makes of small shaders. That the meaning stays is tested on the
//! corpus, by the validator (`tests/preserving.rs`).

mod flow;
mod values;

use super::PRESERVING;
use crate::module::tests::{module, shader, text, DECLARATIONS};
use crate::{Module, Mutant, Mutants};

const LOOP: &str = "
    OpBranch %header
    %header = OpLabel
    %i = OpPhi %uint %uint_0 %entry %next %continue
    OpLoopMerge %done %continue None
    OpBranch %test
    %test = OpLabel
    %more = OpULessThan %bool %i %uint_3
    OpBranchConditional %more %body %done
    %body = OpLabel
    %x = OpLoad %uint %a
    %sum = OpIAdd %uint %x %i
    OpStore %a %sum
    OpBranch %continue
    %continue = OpLabel
    %next = OpIAdd %uint %i %uint_1
    OpBranch %header
    %done = OpLabel
    OpReturn
    OpFunctionEnd
";

fn with_loop() -> Module {
    module(&format!("{}{LOOP}", DECLARATIONS.replace("%uint =", "%bool = OpTypeBool\n%uint =")))
}

fn mutants(module: &Module, mutator: &str, seed: u64) -> Vec<Mutant> {
    let found = Mutants::of(module, PRESERVING, seed);
    assert!(found.invalid.is_empty(), "{:?}", found.invalid[0].1);
    found.valid.into_iter().filter(|mutant| mutant.mutator == mutator).collect()
}

fn only(module: &Module, mutator: &str, seed: u64) -> Module {
    let mut found = mutants(module, mutator, seed);
    assert_eq!(found.len(), 1);
    found.remove(0).module
}

#[test]
fn the_seed_decides() {
    for mutator in ["renumber", "blocks-split"] {
        let words = |seed| only(&with_loop(), mutator, seed).words();
        assert_eq!(words(1), words(1), "{mutator}");
        assert!((2..6).any(|seed| words(seed) != words(1)), "{mutator}");
    }
}

#[test]
fn renumbering_changes_ids_only() {
    let original = with_loop();
    let renumbered = only(&original, "renumber", 7);
    let opcodes = |module: &Module| -> Vec<u32> {
        let inst = module.data.all_inst_iter();
        inst.map(|inst| inst.class.opcode as u32).collect()
    };
    assert_eq!(opcodes(&renumbered), opcodes(&original));
    assert_ne!(renumbered.words(), original.words());
    assert!(text(&renumbered).contains("OpName %a \"a\""));
    assert!(text(&renumbered).contains("OpLoad %uint %a"));
}

#[test]
fn blocks_stand_behind_those_that_dominate_them() {
    let original = with_loop();
    let labels = |module: &Module| -> Vec<Option<u32>> {
        module.data.functions[0].blocks.iter().map(|block| block.label_id()).collect()
    };
    let orders: std::collections::BTreeSet<_> = (0..20)
        .flat_map(|seed| mutants(&original, "blocks-reordered", seed))
        .map(|mutant| labels(&mutant.module))
        .collect();
    // Entry, header and test come first, the continue target behind the body, and the merge block
    // anywhere behind the test; one of the three orders is the module's own.
    assert_eq!(orders.len(), 2, "{orders:?}");
    assert!(orders.iter().all(|order| order[..3] == labels(&original)[..3]));
}

#[test]
fn split_blocks_keep_loops_and_phis_whole() {
    let split = text(&only(&with_loop(), "blocks-split", 3));
    // Five of the six blocks begin no loop.
    assert_eq!(split.matches("OpLabel").count(), 11);
    assert_eq!(split.matches("OpPhi").count(), 1);
}

#[test]
fn unused_things_are_added_and_names_change() {
    let added = text(&only(&shader(""), "unused-added", 0));
    assert!(added.contains("OpName %a_renamed \"a_renamed\""), "{added}");
    assert!(added.contains("%unused_variable = OpVariable %_ptr_Private_uint Private"), "{added}");
    assert!(added.contains("%unused_constant = OpConstant %uint 57005"), "{added}");
}

#[test]
fn commutative_operands_swap() {
    let commuted = text(&only(&with_loop(), "commute", 0));
    assert!(commuted.contains("OpIAdd %uint %uint_1 %"), "{commuted}");
}

fn with_call(body: &str) -> Module {
    let declarations = DECLARATIONS
        .replace("OpName %b \"b\"", "OpName %b \"b\"\nOpName %answer \"answer\"")
        .replace("%uint =", "%bool = OpTypeBool\n%uint =")
        .replace(
            "%main = ",
            "%function = OpTypeFunction %uint %uint
             %local = OpTypePointer Function %uint
             %main = ",
        );
    module(&format!(
        "{declarations}
         %answer = OpFunctionCall %uint %callee %uint_3
         OpStore %a %answer
         OpReturn
         OpFunctionEnd
         %callee = OpFunction %uint None %function
         %parameter = OpFunctionParameter %uint
         %callee_entry = OpLabel
         {body}
         OpFunctionEnd"
    ))
}

#[test]
fn calls_are_replaced_by_the_body() {
    let original = with_call(
        "%count = OpVariable %local Function
         OpStore %count %parameter
         %is_two = OpIEqual %bool %parameter %uint_2
         OpSelectionMerge %end None
         OpBranchConditional %is_two %then %end
         %then = OpLabel
         OpStore %count %uint_0
         OpBranch %end
         %end = OpLabel
         %result = OpLoad %uint %count
         OpReturnValue %result",
    );
    let inlined = text(&only(&original, "inline", 0));
    assert!(!inlined.contains("OpFunctionCall"), "{inlined}");
    assert!(!inlined.contains("%answer"), "{inlined}");
    // The variable moved to the entry of main, and is undefined where the call was.
    let main = inlined.split("OpFunctionEnd").next().unwrap();
    let entry: Vec<&str> = main.split("OpLabel\n").nth(1).unwrap().lines().collect();
    assert!(entry[0].contains("OpVariable"), "{inlined}");
    assert!(main.contains("OpUndef %uint"), "{inlined}");
    assert!(main.contains("OpIEqual %bool %uint_3 %uint_2"), "{inlined}");
}

#[test]
fn early_returns_are_not_inlined() {
    let original = with_call(
        "%is_two = OpIEqual %bool %parameter %uint_2
         OpSelectionMerge %end None
         OpBranchConditional %is_two %then %end
         %then = OpLabel
         OpReturnValue %uint_0
         %end = OpLabel
         OpReturnValue %uint_1",
    );
    assert_eq!(mutants(&original, "inline", 0).len(), 0);
}
