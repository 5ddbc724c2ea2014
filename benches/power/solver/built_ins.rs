//! What built-in variables of compute shaders have to do with each other (Vulkan, "Built-In Variables").

use rspirv::dr::{Module, Operand};
use rspirv::spirv::{BuiltIn, ExecutionMode};

use super::terms::{Term, Terms};

/// States it for a module with one entry point, whose workgroups have a size that is a literal.
pub fn state(module: &Module, terms: &mut Terms) {
    let [_] = module.entry_points[..] else { return };
    let size = module.execution_modes.iter().find_map(|inst| match inst.operands[..] {
        [_, Operand::ExecutionMode(ExecutionMode::LocalSize), Operand::LiteralBit32(x), Operand::LiteralBit32(y), Operand::LiteralBit32(z)] => {
            Some([x, y, z])
        }
        _ => None,
    });
    // The size may also be that of a constant, or of specialisation constants.
    let is_overridden = module
        .annotations
        .iter()
        .any(|inst| inst.operands.contains(&Operand::BuiltIn(BuiltIn::WorkgroupSize)));
    let Some(size) = size.filter(|_| !is_overridden) else { return };
    let mut index: Vec<Term> = Vec::new();
    let mut stride = 1;
    for (at, size) in size.into_iter().enumerate() {
        let of = |which: BuiltIn, terms: &mut Terms| terms.symbol(&format!("constant {which:?} [{at}]"), 32);
        let global = of(BuiltIn::GlobalInvocationId, terms);
        let group = of(BuiltIn::WorkgroupId, terms);
        let local = of(BuiltIn::LocalInvocationId, terms);
        let size = terms.number(32, u64::from(size));
        let within = terms.apply("bvult", &[local, size], 0);
        terms.fact(within);
        let first = terms.apply("bvmul", &[group, size], 32);
        let sum = terms.apply("bvadd", &[first, local], 32);
        let is_sum = terms.apply("=", &[global, sum], 0);
        terms.fact(is_sum);
        let by = terms.number(32, stride);
        index.push(terms.apply("bvmul", &[local, by], 32));
        stride *= terms.literal(size).unwrap_or(1);
    }
    let sum = terms.apply("bvadd", &index, 32);
    let local = terms.symbol(&format!("constant {:?} []", BuiltIn::LocalInvocationIndex), 32);
    let is_sum = terms.apply("=", &[local, sum], 0);
    terms.fact(is_sum);
}
