//! Mutants that mean the same as their module, by a solver.
//!
//! Both modules have the same blocks with the same instructions but for what was changed ([`lockstep`]); what is computed
//! becomes terms ([`evaluate`]), of which a solver shows that they cannot differ where they have an effect ([`terms`]).
//! Nothing is claimed for inputs that are only unusual: what is assumed of values are the bounds of
//! [`Bounds`](super::equivalent::Bounds), of built-in variables ([`built_ins`]), and what follows from before's behaviour
//! being defined: no division by zero (SPIR-V, OpUDiv and its like), and no access out of bounds (SPIR-V, OpAccessChain;
//! Vulkan, "Robust buffer access" where it is not enabled).

mod built_ins;
mod evaluate;
mod floats;
mod graph;
mod integers;
mod lockstep;
mod loops;
mod side;
mod terms;
mod value;

use std::process::{Command, Stdio};

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Decoration, Op};

use lockstep::Lockstep;
use terms::Terms;

/// Whether the solver is installed.
pub fn is_installed() -> bool {
    let mut command = Command::new(terms::SOLVER);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Whether a solver finds that `after`, which differs from `before` in few instructions, means the same.
pub fn finds_no_difference(before: &Module, after: &Module) -> bool {
    let functions = |module: &Module| module.functions.iter().map(|one| one.def_id()).collect::<Vec<_>>();
    if !declares_the_same(before, after) || functions(before) != functions(after) {
        return false;
    }
    let Some(mut terms) = Terms::new() else { return false };
    built_ins::state(before, &mut terms);
    Lockstep::of(before, after, &mut terms).holds()
}

/// Whether both modules have the same interface, and what both declare under one id is the same. A variable may be another
/// built-in one: the proof goes by which one it is.
fn declares_the_same(before: &Module, after: &Module) -> bool {
    let is_built_in = |inst: &&Instruction| {
        inst.class.opcode != Op::Decorate
            || inst.operands.get(1) != Some(&Operand::Decoration(Decoration::BuiltIn))
    };
    let decorations = |module: &Module| -> Vec<Instruction> {
        module.annotations.iter().filter(is_built_in).cloned().collect()
    };
    let declared = |inst: &Instruction| inst.class.opcode == Op::Variable;
    let others = |module: &Module, other: &Module| {
        module.types_global_values.iter().all(|inst| {
            let mut opposite = other.types_global_values.iter().filter(|one| one.result_id == inst.result_id);
            opposite.next().map_or(!declared(inst), |one| one == inst)
        })
    };
    before.capabilities == after.capabilities
        && before.memory_model == after.memory_model
        && before.entry_points == after.entry_points
        && before.execution_modes == after.execution_modes
        && decorations(before) == decorations(after)
        && others(before, after)
        && others(after, before)
}
