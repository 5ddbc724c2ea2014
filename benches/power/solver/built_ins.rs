//! What built-in variables may be, and have to do with each other (Vulkan, "Built-In Variables").

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op, Word};

use super::terms::{Term, Terms};

/// The least float of 32 bits that no pixel lies at: 2^16, four times the greatest framebuffer of any device.
const BEYOND: u64 = 0x4780_0000;

/// States it for a module with one entry point.
pub fn state(module: &Module, terms: &mut Terms) {
    let [_] = module.entry_points[..] else { return };
    state_pixels(terms);
    state_invocations(module, terms);
}

/// A fragment lies within the framebuffer (Vulkan, "FragCoord" and "Required Limits", maxFramebufferWidth).
fn state_pixels(terms: &mut Terms) {
    for at in 0..2 {
        let of = terms.symbol(&format!("constant {:?} [{at}]", BuiltIn::FragCoord), 32);
        let (zero, beyond) = (terms.number(32, 0), terms.number(32, BEYOND));
        for (comparison, bound) in [("fp.geq", zero), ("fp.lt", beyond)] {
            let fact = terms.floats(comparison, &[of, bound]);
            fact.into_iter().for_each(|fact| terms.fact(fact));
        }
    }
}

/// How many invocations a workgroup has in each dimension, where nobody can set it. The size of a constant goes before that
/// of the execution mode (Vulkan, "WorkgroupSize").
fn size(module: &Module) -> Option<[u32; 3]> {
    let constant = module.annotations.iter().find_map(|inst| match inst.operands[..] {
        [Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(BuiltIn::WorkgroupSize)] => {
            Some(id)
        }
        _ => None,
    });
    let Some(constant) = constant else {
        return module.execution_modes.iter().find_map(|inst| match inst.operands[..] {
            [_, Operand::ExecutionMode(ExecutionMode::LocalSize), Operand::LiteralBit32(x), Operand::LiteralBit32(y), Operand::LiteralBit32(z)] => {
                Some([x, y, z])
            }
            _ => None,
        });
    };
    let of = |id: Word, opcode: Op| -> Option<&Instruction> {
        let mut all = module.types_global_values.iter();
        all.find(|inst| inst.result_id == Some(id) && inst.class.opcode == opcode)
    };
    let parts = of(constant, Op::ConstantComposite)?.operands.iter().map(|part| match part {
        Operand::IdRef(id) => match of(*id, Op::Constant)?.operands[..] {
            [Operand::LiteralBit32(size)] => Some(size),
            _ => None,
        },
        _ => None,
    });
    parts.collect::<Option<Vec<u32>>>()?.try_into().ok()
}

/// Where workgroups have a size that is known.
fn state_invocations(module: &Module, terms: &mut Terms) {
    let Some(size) = size(module) else { return };
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
