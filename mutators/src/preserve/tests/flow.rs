//! Rewrites of control flow.

use super::{mutants, only, with_loop};
use crate::module::tests::{module, shader, text, DECLARATIONS};

fn with_branch() -> crate::Module {
    let declarations = DECLARATIONS.replace("%uint =", "%bool = OpTypeBool\n%uint =");
    module(&format!(
        "{declarations}
         %x = OpLoad %uint %a
         %is_two = OpIEqual %bool %x %uint_2
         %chosen = OpSelect %uint %is_two %uint_1 %uint_3
         OpSelectionMerge %end None
         OpBranchConditional %is_two %then %else
         %then = OpLabel
         OpStore %a %chosen
         OpBranch %end
         %else = OpLabel
         OpStore %b %chosen
         OpBranch %end
         %end = OpLabel
         OpReturn
         OpFunctionEnd"
    ))
}

#[test]
fn branches_are_negated() {
    let made = text(&only(&with_branch(), "branches-swapped", 0));
    assert_eq!(made.matches("OpLogicalNot %bool").count(), 1, "{made}");
}

#[test]
fn branches_become_switches() {
    let made = text(&only(&with_branch(), "branch-to-switch", 0));
    assert!(made.contains("OpSwitch"), "{made}");
    assert!(!made.contains("OpBranchConditional"), "{made}");
    // The loop's own test leaves the loop, which no case does.
    assert_eq!(mutants(&with_loop(), "branch-to-switch", 0).len(), 0);
}

#[test]
fn selects_become_branches() {
    let made: Vec<String> =
        (0..6).map(|seed| text(&only(&with_branch(), "select-to-branch", seed))).collect();
    assert!(made.iter().all(|text| !text.contains("OpSelect ") && text.contains("OpPhi %uint %uint_1")));
    let labels = |text: &String| text.matches("OpLabel").count();
    assert!(made.iter().any(|text| labels(text) == 6) && made.iter().any(|text| labels(text) == 7));
}

#[test]
fn selections_that_compute_become_selects() {
    let declarations = DECLARATIONS.replace("%uint =", "%bool = OpTypeBool\n%uint =");
    let selection = |arm: &str| {
        module(&format!(
            "{declarations}
             %x = OpLoad %uint %a
             %is_two = OpIEqual %bool %x %uint_2
             OpSelectionMerge %end None
             OpBranchConditional %is_two %then %end
             %then = OpLabel
             %y = OpIAdd %uint %x %uint_1
             {arm}
             OpBranch %end
             %end = OpLabel
             %z = OpPhi %uint %y %then %x %entry
             OpStore %a %z
             OpReturn
             OpFunctionEnd"
        ))
    };
    let made = text(&only(&selection(""), "branch-to-select", 0));
    assert!(!made.contains("OpPhi") && !made.contains("OpSelectionMerge"), "{made}");
    assert_eq!(made.matches("OpSelect %uint").count(), 1, "{made}");
    assert_eq!(mutants(&selection("OpStore %b %y"), "branch-to-select", 0).len(), 0);
}

#[test]
fn control_barriers_are_split() {
    let made = text(&only(&shader("OpControlBarrier %uint_2 %uint_2 %acquire_release"), "barriers-split", 0));
    assert_eq!(made.matches("OpMemoryBarrier").count(), 2, "{made}");
    assert!(made.contains("OpControlBarrier %uint_2 %uint_2 %uint_0"), "{made}");
    assert_eq!(mutants(&shader("OpControlBarrier %uint_2 %uint_2 %uint_0"), "barriers-split", 0).len(), 0);
}

#[test]
fn hints_change() {
    assert!(text(&only(&with_branch(), "selection-hints", 0)).contains("latten"));
    assert_eq!(mutants(&shader(""), "selection-hints", 0).len(), 0);
}

#[test]
fn dead_code_has_effects_that_never_happen() {
    let made: Vec<String> = (0..30)
        .flat_map(|seed| mutants(&shader("OpStore %a %uint_1"), "dead-code", seed))
        .map(|mutant| text(&mutant.module))
        .collect();
    assert!(made.iter().all(|text| text.contains("BuiltIn LocalInvocationIndex")));
    assert!(made.iter().any(|text| text.matches("OpStore").count() == 2), "{}", made[0]);
    assert!(made.iter().any(|text| text.contains("OpUnreachable")));
    assert!(made.iter().any(|text| text.matches("OpReturn\n").count() == 2));
}

#[test]
fn loops_turn_once() {
    let made =
        (0..6).flat_map(|seed| mutants(&shader("OpStore %a %uint_1"), "loop-once", seed)).next().unwrap();
    let made = text(&made.module);
    assert_eq!(made.matches("OpLoopMerge").count(), 1, "{made}");
    assert_eq!(made.matches("OpStore").count(), 1, "{made}");
}

#[test]
fn the_other_way_is_unreachable() {
    let made =
        (0..6).flat_map(|seed| mutants(&shader("OpStore %a %uint_1"), "unreachable-else", seed)).next();
    let made = text(&made.unwrap().module);
    assert_eq!(made.matches("OpUnreachable").count(), 1, "{made}");
}

#[test]
fn continue_constructs_are_not_left() {
    for seed in 0..20 {
        for mutator in ["dead-code", "unreachable-else", "loop-once"] {
            // The helper fails where a mutant is invalid.
            mutants(&with_loop(), mutator, seed);
        }
    }
}
