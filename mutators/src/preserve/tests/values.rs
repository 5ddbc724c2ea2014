//! Rewrites of values.

use super::{mutants, only, with_call, with_loop};
use crate::module::tests::{module, shader, text, DECLARATIONS};

/// A shader with vectors and a select.
fn with_vectors(code: &str) -> crate::Module {
    let declarations = DECLARATIONS
        .replace("%uint =", "%bool = OpTypeBool\n%uint =")
        .replace(
            "%main = ",
            "%pair = OpTypeVector %uint 2
             %triple = OpTypeVector %uint 3
             %local = OpTypePointer Function %pair
             %ones = OpConstantComposite %pair %uint_1 %uint_1
             %main = ",
        )
        .replace("%entry = OpLabel", "%entry = OpLabel\n%variable = OpVariable %local Function");
    module(&format!("{declarations}{code}\nOpReturn\nOpFunctionEnd\n"))
}

#[test]
fn results_take_a_detour() {
    let original = shader("%x = OpLoad %uint %a\n%y = OpIAdd %uint %x %uint_1\nOpStore %a %y");
    for seed in 0..8 {
        let made = text(&only(&original, "identities", seed));
        let detours = ["OpNot", "OpSNegate", "OpBitwiseXor", "OpConstantNull"];
        assert!(detours.iter().any(|detour| made.contains(detour)), "{made}");
    }
}

#[test]
fn copies_are_used() {
    let original = shader("%x = OpLoad %uint %a\n%y = OpIAdd %uint %x %uint_1\nOpStore %a %y");
    let made: Vec<String> = (0..8)
        .flat_map(|seed| mutants(&original, "copies", seed))
        .map(|mutant| text(&mutant.module))
        .collect();
    assert!(!made.is_empty());
    assert!(made.iter().all(|text| text.matches("OpCopyObject %uint").count() == 1), "{}", made[0]);
}

#[test]
fn constants_are_sums() {
    let made =
        text(&only(&shader("%y = OpIMul %uint %uint_3 %uint_2\nOpStore %a %y"), "constants-summed", 1));
    assert_eq!(made.matches("OpIAdd").count(), 2, "{made}");
    assert!(!made.contains("OpIMul %uint %uint_3"), "{made}");
}

#[test]
fn vectors_are_computed_by_component() {
    let made = text(&only(&with_vectors("%y = OpIAdd %pair %ones %ones"), "vectors-scalarised", 0));
    assert_eq!(made.matches("OpIAdd %uint").count(), 2, "{made}");
    assert_eq!(made.matches("OpCompositeConstruct %v2uint").count(), 1, "{made}");
}

#[test]
fn shuffles_and_constructions_are_chains() {
    let code = "%y = OpVectorShuffle %triple %ones %ones 3 0xFFFFFFFF 0
                %z = OpCompositeConstruct %pair %uint_2 %uint_3";
    let made = text(&only(&with_vectors(code), "composites-split", 0));
    assert!(!made.contains("OpVectorShuffle"), "{made}");
    assert_eq!(made.matches("OpCompositeInsert").count(), 2, "{made}");
    assert_eq!(made.matches("OpCompositeExtract").count(), 2, "{made}");
    assert_eq!(made.matches("OpUndef %uint").count(), 1, "{made}");
}

#[test]
fn own_variables_are_accessed_by_member() {
    let code = "OpStore %variable %ones\n%y = OpLoad %pair %variable";
    let made = text(&only(&with_vectors(code), "accesses-split", 0));
    assert_eq!(made.matches("OpStore").count(), 2, "{made}");
    assert_eq!(made.matches("OpLoad %uint").count(), 2, "{made}");
    // What others see stays whole.
    assert_eq!(mutants(&shader("OpStore %a %uint_1"), "accesses-split", 0).len(), 0);
}

#[test]
fn values_are_carried_in_variables() {
    let made = text(&only(&with_loop(), "phi-to-variable", 0));
    assert!(!made.contains("OpPhi"), "{made}");
    assert_eq!(made.matches("OpVariable %_ptr_Function_uint Function").count(), 1, "{made}");
    // One for each way into the loop, and the loop's own.
    assert_eq!(made.matches("OpStore").count(), 3, "{made}");
}

#[test]
fn parameters_become_pointers() {
    let made = text(&only(&with_call("OpReturnValue %parameter"), "parameters-by-pointer", 0));
    assert!(made.contains("OpFunctionParameter %_ptr_Function_uint"), "{made}");
    assert!(made.contains("OpTypeFunction %uint %_ptr_Function_uint"), "{made}");
    assert!(!made.contains("OpFunctionCall %uint %20 %uint_3"), "{made}");
}

#[test]
fn what_computes_is_outlined() {
    let original =
        shader("%x = OpLoad %uint %a\n%y = OpIAdd %uint %x %uint_1\n%z = OpIMul %uint %y %y\nOpStore %a %z");
    let made: Vec<String> = (0..6).map(|seed| text(&only(&original, "outline", seed))).collect();
    assert!(made.iter().all(|text| text.matches("OpFunctionCall %uint").count() == 1), "{}", made[0]);
    // The sum goes with the product that only uses it, or by itself.
    assert!(made.iter().any(|text| text.split("OpFunctionEnd").nth(1).unwrap().contains("OpIMul")));
    assert!(made.iter().any(|text| !text.split("OpFunctionEnd").nth(1).unwrap().contains("OpIMul")));
}

#[test]
fn moves_keep_what_depends() {
    let original = shader(
        "%x = OpLoad %uint %a
         %y = OpIAdd %uint %uint_1 %uint_2
         OpStore %b %x
         %z = OpIAdd %uint %y %x",
    );
    let orders: std::collections::BTreeSet<String> = (0..40)
        .flat_map(|seed| mutants(&original, "moves", seed))
        .map(|mutant| text(&mutant.module))
        .collect();
    assert!(orders.len() > 5, "{}", orders.len());
    for order in orders {
        let at = |what: &str| order.find(what).unwrap_or_else(|| panic!("{what}: {order}"));
        assert!(at("OpLoad %uint") < at("OpStore"), "{order}");
    }
}
