use super::Splice;
use crate::generate::generator;
use crate::module::tests::{module, shader, text, DECLARATIONS};
use crate::{Module, Mutant, Mutants};
use spirv_tv_toolchain::TargetEnv;

/// A donor with a function of this body, which returns `%result`.
fn donor(body: &str) -> Module {
    let declarations = DECLARATIONS.replace(
        "%main = ",
        "%function = OpTypeFunction %uint %uint
         %main = ",
    );
    module(&format!(
        "{declarations} OpReturn
         OpFunctionEnd
         %callee = OpFunction %uint None %function
         %parameter = OpFunctionParameter %uint
         %callee_entry = OpLabel
         {body}
         OpReturnValue %result
         OpFunctionEnd"
    ))
}

fn spliced(donor: Module, recipient: &Module) -> Vec<Mutant> {
    let found = Mutants::of(recipient, &[&Splice::new(vec![donor])], 5);
    assert!(found.invalid.is_empty(), "{}", found.invalid[0].1);
    found.valid
}

fn whats(mutants: &[Mutant]) -> Vec<&str> {
    mutants.iter().map(|mutant| mutant.what.as_str()).collect()
}

#[test]
fn what_can_do_no_harm_is_called() {
    let found = spliced(donor("%result = OpIAdd %uint %parameter %uint_3"), &shader(""));
    assert_eq!(whats(&found), ["function 1 of donor 0, never called", "function 1 of donor 0, called"]);
    let called = text(&found[1].module);
    assert!(called.contains("OpFunctionCall %uint"), "{called}");
    assert_eq!(called.matches("OpTypeInt 32 0").count(), 1, "{called}");
    assert!(!called.contains("OpSelectionMerge"), "{called}");
    assert!(text(&found[0].module).contains("OpBranchConditional"));
}

#[test]
fn what_may_divide_by_zero_is_not_run() {
    let found = spliced(donor("%result = OpUDiv %uint %uint_3 %parameter"), &shader(""));
    assert_eq!(whats(&found), ["function 1 of donor 0, never called"]);
}

#[test]
fn what_uses_buffers_is_left() {
    let body = "%place = OpAccessChain %element %buffer %uint_0
                %result = OpLoad %uint %place";
    assert_eq!(spliced(donor(body), &shader("")).len(), 0);
}

#[test]
fn generated_functions_are_spliced_into_generated_programs() {
    let load = |name: &str, seed| {
        let program = generator(name).unwrap().generate(seed);
        Module::load(&program.words, TargetEnv::Vulkan1_3).unwrap()
    };
    let ready = include_str!("tests/floats.spvasm");
    let found = spliced(module(ready), &load("control-flow", 1));
    assert_eq!(found.len(), 6, "{:?}", whats(&found));
    let again = spliced(module(ready), &found[5].module);
    assert_eq!(again.len(), 6);
}
