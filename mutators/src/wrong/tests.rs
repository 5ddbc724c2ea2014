//! What each wrong change makes of small shaders.

use std::collections::BTreeSet;

use super::WRONG;
use crate::module::tests::{module, shader, text, DECLARATIONS};
use crate::{Module, Mutants};

/// Names of the valid mutants of one kind, without the mutator's own, and what is new in them.
fn mutants_of(mutator: &str, module: &Module) -> Vec<(String, Vec<String>)> {
    let original = text(module);
    let mutants = Mutants::of(module, WRONG, 0).valid.into_iter();
    mutants
        .filter(|mutant| mutant.mutator == mutator)
        .map(|mutant| {
            let changed = text(&mutant.module);
            let new = changed.lines().filter(|line| !original.lines().any(|old| old == *line));
            let name = mutant.name()[mutator.len()..].trim_start().to_owned();
            (name, new.map(str::to_owned).collect())
        })
        .collect()
}

fn mutants(mutator: &str, code: &str) -> Vec<(String, Vec<String>)> {
    mutants_of(mutator, &shader(code))
}

fn names(mutator: &str, code: &str) -> Vec<String> {
    mutants(mutator, code).into_iter().map(|(name, _)| name).collect()
}

/// A compute shader with more types, constants and built-ins.
fn rich(code: &str) -> Module {
    let declarations = DECLARATIONS
        .replace("%main \"main\" %buffer %s", "%main \"main\" %buffer %s %id")
        .replace("OpMemoryModel", "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel")
        .replace(
            "OpDecorate %Block Block",
            "OpDecorate %Block Block\nOpDecorate %id BuiltIn GlobalInvocationId",
        )
        .replace(
            "%main = OpFunction ",
            "%bool = OpTypeBool
             %float = OpTypeFloat 32
             %float_2 = OpConstant %float 2
             %float_3 = OpConstant %float 3
             %uvec3 = OpTypeVector %uint 3
             %pair = OpConstantComposite %uvec3 %uint_1 %uint_2 %uint_2
             %in_uint = OpTypePointer Input %uint
             %in_uvec3 = OpTypePointer Input %uvec3
             %id = OpVariable %in_uvec3 Input
             %main = OpFunction ",
        );
    module(&format!("{declarations}{code}\nOpReturn\nOpFunctionEnd\n"))
}

fn rich_names(mutator: &str, code: &str) -> Vec<String> {
    mutants_of(mutator, &rich(code)).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn operators_become_their_neighbours() {
    let found = mutants("wrong-operator", "%x = OpIAdd %uint %uint_1 %uint_2");
    let new: Vec<&str> = found.iter().flat_map(|(_, new)| new).map(|line| &line[6..]).collect();
    assert_eq!(new, ["OpISub %uint %uint_1 %uint_2", "OpIMul %uint %uint_1 %uint_2"]);
    let found = names("wrong-operator", "%x = OpShiftRightLogical %uint %uint_1 %uint_2");
    assert_eq!(found, ["OpShiftRightLogical#1: ShiftLeftLogical"]);
}

#[test]
fn signedness_comparisons_and_bounds_are_wrong() {
    let code = "%x = OpULessThan %bool %uint_1 %uint_2";
    assert_eq!(rich_names("wrong-signedness", code), ["OpULessThan#1: SLessThan"]);
    assert_eq!(rich_names("wrong-bound", code), ["OpULessThan#1: ULessThanEqual"]);
    let other_way = ["OpULessThan#1: UGreaterThan", "OpULessThan#1: UGreaterThanEqual"];
    assert_eq!(rich_names("wrong-comparison", code), other_way);
    let code = "%x = OpFOrdEqual %bool %float_2 %float_3";
    assert_eq!(rich_names("wrong-nan", code), ["OpFOrdEqual#1: FUnordEqual"]);
}

#[test]
fn atomics_become_their_neighbours() {
    let found = names("wrong-atomic", "%x = OpAtomicIAdd %uint %a %uint_1 %uint_0 %uint_1");
    assert_eq!(found, ["OpAtomicIAdd#1: AtomicISub", "OpAtomicIAdd#1: AtomicExchange"]);
}

#[test]
fn functions_become_their_neighbours() {
    let found = rich_names("wrong-function", "%x = OpExtInst %float %glsl FMin %float_2 %float_3");
    assert_eq!(found, ["OpExtInst#1: FMin to FMax"]);
}

#[test]
fn constants_are_off_by_one_or_negated() {
    let expected = [
        ("OpStore#1: operand 1, component 0: 1 plus 1".to_owned(), vec!["OpStore %a %uint_2".to_owned()]),
        ("OpStore#1: operand 1, component 0: 1 minus 1".to_owned(), vec!["OpStore %a %uint_0".to_owned()]),
    ];
    assert_eq!(mutants("wrong-constant", "OpStore %a %uint_1"), expected);
    let found = rich_names("wrong-constant", "%x = OpFNegate %float %float_2");
    assert_eq!(
        found,
        ["OpFNegate#1: operand 0, component 0: 2 twice", "OpFNegate#1: operand 0, component 0: 2 negated"]
    );
    let found = rich_names("wrong-constant", "%x = OpNot %uvec3 %pair");
    assert_eq!(found.len(), 6);
    assert_eq!(found[4], "OpNot#1: operand 0, component 1: 2 minus 1");
}

#[test]
fn indices_are_off_by_one_where_there_is_another_member() {
    let found = names("wrong-index", "");
    assert_eq!(found, ["OpAccessChain#1: operand 1: 0 to 1", "OpAccessChain#2: operand 1: 1 to 0"]);
}

#[test]
fn computed_indices_are_off_by_one_or_zero() {
    let found = rich_names("wrong-index", "%x = OpLoad %uint %a\n%p = OpAccessChain %in_uint %id %x");
    let computed = ["plus 1", "minus 1", "0"].map(|what| format!("OpAccessChain#3: operand 1: {what}"));
    assert_eq!(found[2..], computed);
}

#[test]
fn components_are_taken_for_others() {
    let found = rich_names("wrong-component", "%x = OpCompositeExtract %uint %pair 2");
    assert_eq!(found, ["OpCompositeExtract#1: operand 1: 2 to 1"]);
    let found = rich_names("wrong-component", "%x = OpVectorShuffle %uvec3 %pair %pair 0 1 1");
    assert_eq!(found, ["OpVectorShuffle#1: operands 2 and 3 swapped"]);
    let found = rich_names("wrong-component", "%x = OpCompositeConstruct %uvec3 %uint_1 %uint_1 %uint_2");
    assert_eq!(found, ["OpCompositeConstruct#1: operands 1 and 2 swapped"]);
}

#[test]
fn operands_are_swapped_where_their_order_matters() {
    let found =
        names("operands-swapped", "%x = OpISub %uint %uint_1 %uint_2\n%y = OpIAdd %uint %uint_1 %uint_2");
    assert_eq!(found, ["OpISub#1: operands 0 and 1"]);
    let found = rich_names("operands-swapped", "%x = OpExtInst %float %glsl Pow %float_2 %float_3");
    assert_eq!(found, ["OpExtInst#1: operands 2 and 3"]);
    assert!(names("operands-swapped", "%x = OpISub %uint %uint_1 %uint_1").is_empty());
}

#[test]
fn operations_are_skipped() {
    let found = rich_names("operation-skipped", "%x = OpExtInst %float %glsl FMin %float_2 %float_3");
    assert_eq!(found, ["OpExtInst#1: FMin"]);
    let found = mutants("operation-skipped", "%x = OpNot %uint %uint_1");
    assert!(found[0].1[0].ends_with("OpCopyObject %uint %uint_1"), "{found:?}");
}

#[test]
fn stores_and_barriers_are_dropped() {
    let code = "OpStore %a %uint_1\nOpControlBarrier %uint_2 %uint_2 %acquire_release";
    assert_eq!(names("store-dropped", code), ["OpStore#1"]);
    assert_eq!(names("barrier-dropped", code), ["OpControlBarrier#1"]);
}

#[test]
fn branches_go_another_way() {
    let code = "%x = OpULessThan %bool %uint_1 %uint_2
        OpSelectionMerge %end None
        OpBranchConditional %x %then %end
        %then = OpLabel
        OpBranch %end
        %end = OpLabel";
    assert_eq!(
        rich_names("guard-dropped", code),
        ["OpBranchConditional#1: always", "OpBranchConditional#1: never"]
    );
    assert_eq!(rich_names("branch-negated", code), ["OpBranchConditional#1"]);
}

#[test]
fn cases_change_places() {
    let code = "OpSelectionMerge %end None
        OpSwitch %uint_1 %end 0 %zero 1 %one
        %zero = OpLabel
        OpBranch %end
        %one = OpLabel
        OpBranch %end
        %end = OpLabel";
    assert_eq!(names("cases-swapped", code), ["OpSwitch#1: cases 0 and 1", "OpSwitch#1: cases 1 and 2"]);
}

#[test]
fn built_ins_are_zero_or_others() {
    let code = "%x = OpLoad %uvec3 %id";
    assert_eq!(rich_names("built-in-zero", code), ["OpLoad#1: GlobalInvocationId"]);
    let others = ["LocalInvocationId", "WorkgroupId", "NumWorkgroups"];
    let expected = others.map(|other| format!(": GlobalInvocationId to {other} in 0"));
    assert_eq!(rich_names("wrong-built-in", code), expected);
}

#[test]
fn names_are_unique() {
    let code = "%x = OpISub %uvec3 %pair %pair\n%y = OpISub %uint %uint_1 %uint_2\nOpStore %a %y";
    let mutants = Mutants::of(&rich(code), WRONG, 0).valid;
    let names: BTreeSet<String> = mutants.iter().map(|mutant| mutant.name()).collect();
    assert_eq!(names.len(), mutants.len());
    let mutators: BTreeSet<&str> = WRONG.iter().map(|mutator| mutator.name()).collect();
    assert_eq!(mutators.len(), WRONG.len());
}

#[test]
fn zeros_lose_their_signs() {
    let module = rich("%x = OpFAdd %float %float_2 %float_3\n%y = OpFMul %float %float_2 %x");
    let mutants: Vec<_> = super::SIGNED_ZERO.mutants(&module, 0).collect();
    let names: Vec<String> = mutants.iter().map(crate::Mutant::name).collect();
    let expected = [
        "signed-zero OpFAdd#1: first",
        "signed-zero OpFAdd#1: second",
        "signed-zero OpFMul#1: first",
        "signed-zero OpFMul#1: second",
    ];
    assert_eq!(names, expected);
    let original = text(&module);
    let new = |number: usize| {
        let changed = text(&mutants[number].module);
        let new = changed.lines().filter(|line| !original.lines().any(|old| old == *line));
        new.map(|line| line.split(" = ").last().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    for mutant in &mutants {
        mutant.module.validate().unwrap_or_else(|message| panic!("{mutant}: {message}"));
    }
    let first = new(0);
    assert!(first.iter().any(|line| line.starts_with("OpConstant %float -0")), "{first:?}");
    assert!(first.iter().any(|line| line.starts_with("OpFOrdEqual %bool %float_2")), "{first:?}");
    let product = new(3);
    assert_eq!(product.iter().filter(|line| line.starts_with("OpSelect %float")).count(), 2, "{product:?}");
}

#[test]
fn one_side_of_a_widened_comparison_is_the_greatest() {
    let long = "OpCapability Int64";
    let module = |code: &str| {
        let text = format!(
            "OpCapability Shader
             {long}
             OpMemoryModel Logical GLSL450
             OpEntryPoint GLCompute %main \"main\"
             OpExecutionMode %main LocalSize 1 1 1
             %void = OpTypeVoid
             %void_fn = OpTypeFunction %void
             %bool = OpTypeBool
             %int = OpTypeInt 32 1
             %long = OpTypeInt 64 1
             %int_1 = OpConstant %int 1
             %long_1 = OpConstant %long 1
             %main = OpFunction %void None %void_fn
             %entry = OpLabel
             {code}
             OpReturn
             OpFunctionEnd"
        );
        crate::module::tests::module(&text)
    };
    let compared = "%x = OpSGreaterThan %bool %wide %long_1\n%y = OpSLessThan %bool %long_1 %wide
         %z = OpSGreaterThan %bool %long_1 %long_1\n%v = OpSGreaterThan %bool %int_1 %int_1";
    let widening = module(&format!("%wide = OpSConvert %long %int_1\n{compared}"));
    let mutants: Vec<_> = super::WIDENED_COMPARISON.mutants(&widening, 0).collect();
    let names: Vec<String> = mutants.iter().map(crate::Mutant::name).collect();
    let expected =
        ["SGreaterThan#1: first", "SLessThan#1: second"].map(|what| format!("widened-comparison Op{what}"));
    assert_eq!(names, expected);
    for mutant in &mutants {
        mutant.module.validate().unwrap_or_else(|message| panic!("{mutant}: {message}"));
        assert!(text(&mutant.module).contains("OpConstant %long 9223372036854775807"));
    }
    // Nothing is widened.
    let copied = module(&format!("%wide = OpCopyObject %long %long_1\n{compared}"));
    assert_eq!(super::WIDENED_COMPARISON.mutants(&copied, 0).count(), 0);
}

#[test]
fn zeros_that_are_written_have_one_sign() {
    let module = rich("%x = OpFAdd %float %float_2 %float_3\n%y = OpBitcast %uint %x\nOpStore %a %y");
    for (are_negative, zeros) in [(false, 0), (true, 1)] {
        let made = super::with_zeros(&module, are_negative);
        made.validate().unwrap();
        let text = text(&made);
        assert_eq!(text.matches("OpSelect %float").count(), 1, "{text}");
        assert_eq!(text.matches("OpConstant %float -0").count(), zeros, "{text}");
    }
}

#[test]
fn all_instructions_of_an_opcode_give_zeros() {
    let module =
        rich("%x = OpIAdd %uint %uint_1 %uint_2\n%y = OpIAdd %uint %x %uint_2\n%z = OpBitReverse %uint %y");
    let mutants: Vec<_> = super::CLEARED.mutants(&module, 0).collect();
    let names: Vec<String> = mutants.iter().map(crate::Mutant::name).collect();
    assert_eq!(names, ["cleared: OpIAdd", "cleared: OpBitReverse"]);
    for (mutant, copies) in mutants.iter().zip([2, 1]) {
        mutant.module.validate().unwrap_or_else(|message| panic!("{mutant}: {message}"));
        assert_eq!(text(&mutant.module).matches("OpCopyObject").count(), copies, "{mutant}");
    }
}
