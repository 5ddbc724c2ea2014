//! The table of passes. Flags are in the order of the alphabet, presets first.

use super::Assumption::{self, FloatFreedom, RemovableLoops, UnusedInterface};
use super::{Argument, Class, Pass};

/// Every flag that the bundled spirv-opt takes as a pass.
pub const PASSES: &[Pass] = &[
    refining("-O", NONE, &[UnusedInterface, RemovableLoops, FloatFreedom], "A list of passes for speed; as strong as the weakest of them"),
    refining("-Os", NONE, &[UnusedInterface, RemovableLoops, FloatFreedom], "A list of passes for size; as strong as the weakest of them"),
    refining("--legalize-hlsl", NONE, &[UnusedInterface, RemovableLoops, FloatFreedom], "A list of passes that makes HLSL front ends' output valid; as strong as the weakest of them"),
    preserving("--amd-ext-to-khr", NONE, "AMD's ballot, trinary and time instructions become core and KHR ones with the same result"),
    preserving("--canonicalize-ids", NONE, "Only renumbers ids"),
    refining("--ccp", NONE, &[FloatFreedom], "Folds values that are constant on every path that can be taken; float folding rounds as the host does"),
    preserving("--cfg-cleanup", NONE, "Removes blocks that cannot be reached"),
    preserving("--code-sink", NONE, "Moves a load of memory that no invocation writes, or an access chain, to the only branch that uses it"),
    preserving("--combine-access-chains", NONE, "An access chain on an access chain becomes one with the indices added"),
    preserving("--compact-ids", NONE, "Only renumbers ids"),
    preserving("--convert-local-access-chains", NONE, "Partial accesses to a Function variable become whole ones with inserts and extracts"),
    changing("--convert-relaxed-to-half", NONE, "Computes RelaxedPrecision floats in 16 bits, so results lose precision where the decoration allows it"),
    changing("--convert-to-sampled-image", required("SET:BINDING …", "0:0"), "Merges an image and a sampler into a combined descriptor"),
    preserving("--copy-propagate-arrays", NONE, "Reads a copied object in the original's place where neither changes after the copy"),
    changing("--descriptor-array-scalar-replacement", NONE, "Each element of a descriptor array becomes a binding of its own"),
    changing("--descriptor-composite-scalar-replacement", NONE, "Each member of a struct of descriptors becomes a binding of its own"),
    changing("--descriptor-scalar-replacement", NONE, "Each element or member of a descriptor composite becomes a binding of its own"),
    preserving("--eliminate-dead-branches", NONE, "A branch on a constant becomes a jump, and blocks that can no longer be reached are removed"),
    refining("--eliminate-dead-code-aggressive", NONE, &[UnusedInterface, RemovableLoops], "Removes everything on which no effect depends: resources, loops without effects, unused functions"),
    refining("--eliminate-dead-const", NONE, &[UnusedInterface], "Removes unused constants, specialisation constants too"),
    preserving("--eliminate-dead-functions", NONE, "Removes functions that no entry point calls and that are not exported"),
    refining("--eliminate-dead-input-components", NONE, &[UnusedInterface], "Shortens vertex inputs by trailing elements and members that are not used"),
    preserving("--eliminate-dead-inserts", NONE, "Removes inserts into composites whose component is never extracted"),
    refining("--eliminate-dead-members", NONE, &[UnusedInterface], "Removes unused struct members; the others keep their offsets"),
    refining("--eliminate-dead-variables", NONE, &[UnusedInterface], "Removes module-scope variables without a use"),
    preserving("--eliminate-insert-extract", NONE, "An extract takes the value that was inserted instead of going through the composite"),
    preserving("--eliminate-local-multi-store", NONE, "Function variables become ids with phis (the same pass as --ssa-rewrite)"),
    preserving("--eliminate-local-single-block", NONE, "Within a block a load of a Function variable takes the value stored or loaded before"),
    preserving("--eliminate-local-single-store", NONE, "Loads of a Function variable that is stored once take the stored value"),
    changing("--fix-func-call-param", NONE, "A pointer into a composite passed to a function becomes a copy, written back afterwards: other invocations see no access during the call"),
    preserving("--fix-opextinst-opcodes", NONE, "Chooses between two encodings of debug instructions"),
    preserving("--fix-storage-class", NONE, "Repairs storage classes and types of pointers that do not match their variable; a valid module has none"),
    preserving("--flatten-decorations", NONE, "Decoration groups become single decorations"),
    preserving("--fold-spec-const-op-composite", NONE, "Specialisation-constant operations whose operands cannot be specialised become constants"),
    changing("--freeze-spec-const", NONE, "Specialisation constants keep their default values for good"),
    changing("--graphics-robust-access", NONE, "Clamps indices, so accesses out of bounds go elsewhere; within bounds nothing changes"),
    preserving("--if-conversion", NONE, "A phi of two values that both may be computed becomes a select"),
    preserving("--inline-entry-points-exhaustive", NONE, "Calls become copies of the callee's body"),
    preserving("--inline-entry-points-opaque", NONE, "Calls with image or sampler parameters become copies of the callee's body"),
    preserving("--interpolate-fixup", NONE, "InterpolateAt… on a loaded value takes the pointer instead; a valid module has no such value"),
    preserving("--local-redundancy-elimination", NONE, "Within a block a value that was already computed is not computed again"),
    preserving("--loop-fission", separate("REGISTERS", "4"), "Splits a loop in two where no dependence runs from the second half to the first"),
    preserving("--loop-fusion", separate("REGISTERS", "32"), "Joins two neighbouring loops where no dependence forbids it"),
    preserving("--loop-invariant-code-motion", NONE, "Moves computations with the same result in each iteration before the loop"),
    preserving("--loop-peeling", NONE, "Takes the first or last iterations out of a loop where that decides a condition"),
    preserving("--loop-peeling-threshold", separate("INSTRUCTIONS", "100"), "Runs nothing; sets how much --loop-peeling may grow the code"),
    preserving("--loop-unroll", NONE, "Loops with the Unroll hint and a constant number of iterations are written out"),
    preserving("--loop-unroll-partial", separate("FACTOR", "2"), "The same for FACTOR iterations at a time"),
    preserving("--loop-unswitch", NONE, "A condition that does not change in a loop is tested before it, with a loop for each outcome"),
    preserving("--merge-blocks", NONE, "A block and its only successor become one where no other block branches there"),
    preserving("--merge-return", NONE, "A function with several returns gets one at its end"),
    changing("--modify-maximal-reconvergence", required("add|remove", "add"), "Adds or removes the promise of maximal reconvergence, on which subgroup operations depend"),
    preserving("--private-to-local", NONE, "A Private variable that only one function uses, once an invocation, becomes a Function variable"),
    preserving("--reduce-load-size", optional("FRACTION", "0.5"), "A load of a composite of which little is used becomes loads of the members that are"),
    preserving("--redundancy-elimination", NONE, "A value that a dominating block computed is not computed again"),
    changing("--relax-float-ops", NONE, "Decorates every 32-bit float operation with RelaxedPrecision"),
    preserving("--remove-dont-inline", NONE, "Removes a hint to the inliner"),
    preserving("--remove-duplicates", NONE, "Capabilities, imports, types and decorations that occur twice are kept once"),
    refining("--remove-unused-interface-variables", NONE, &[UnusedInterface], "Entry points no longer list variables that they do not use"),
    preserving("--replace-desc-array-access-using-var-index", NONE, "An index into an array of descriptors becomes a switch over its values"),
    changing("--replace-invalid-opcode", NONE, "Replaces instructions that the stage does not have with constants and drops barriers"),
    changing("--resolve-binding-conflicts", NONE, "Renumbers bindings that two variables share"),
    preserving("--scalar-replacement", optional("MEMBERS", "100"), "A composite Function variable becomes one variable for each member"),
    changing("--set-spec-const-default-value", separate("ID:VALUE …", "0:1"), "Specialisation constants get other default values"),
    refining("--simplify-instructions", NONE, &[FloatFreedom], "Peephole rules; those for floats reassociate, contract and fold as a module without NoContraction permits"),
    changing("--split-combined-image-sampler", NONE, "A combined descriptor becomes an image and a sampler"),
    changing("--spread-volatile-semantics", NONE, "Loads of built-ins that may change while a ray-tracing shader runs become volatile"),
    preserving("--ssa-rewrite", NONE, "Function variables become ids with phis"),
    preserving("--strength-reduction", NONE, "A multiplication by a power of two becomes a shift"),
    preserving("--strip-debug", NONE, "Removes names, lines and debug instructions"),
    preserving("--strip-nonsemantic", NONE, "Removes reflection and instructions of non-semantic sets"),
    preserving("--strip-reflect", NONE, "Another name of --strip-nonsemantic"),
    changing("--struct-packing", required("NAME:RULE", "Block:std430"), "Gives a struct's members other offsets"),
    changing("--switch-descriptorset", required("FROM:TO", "0:1"), "Moves bindings to another descriptor set"),
    preserving("--trim-capabilities", NONE, "Removes capabilities and extensions that nothing needs"),
    preserving("--unify-const", NONE, "Equal constants become one"),
    changing("--upgrade-memory-model", NONE, "The module is read under the Vulkan model from then on; coherent accesses carry their semantics explicitly"),
    preserving("--vector-dce", NONE, "Components of vectors that are not used become undefined"),
    preserving("--workaround-1209", NONE, "OpUnreachable in a loop becomes a jump out of it; reaching it was undefined before"),
    preserving("--wrap-opkill", NONE, "OpKill moves into a function of its own, so that its callers can be inlined"),
];

const NONE: Argument = Argument::None;

const fn optional(placeholder: &'static str, example: &'static str) -> Argument {
    Argument::Optional { placeholder, example }
}

const fn required(placeholder: &'static str, example: &'static str) -> Argument {
    Argument::Required { placeholder, example, separate: false }
}

const fn separate(placeholder: &'static str, example: &'static str) -> Argument {
    Argument::Required { placeholder, example, separate: true }
}

const fn preserving(flag: &'static str, argument: Argument, reason: &'static str) -> Pass {
    Pass { flag, argument, class: Class::Preserving, reason }
}

const fn refining(
    flag: &'static str,
    argument: Argument,
    assumptions: &'static [Assumption],
    reason: &'static str,
) -> Pass {
    Pass { flag, argument, class: Class::Refining(assumptions), reason }
}

const fn changing(flag: &'static str, argument: Argument, reason: &'static str) -> Pass {
    Pass { flag, argument, class: Class::Changing, reason }
}
