//! Weakenings: each takes away some synchronisation of one instruction, or breaks an order.
//!
//! From a module whose synchronisation is just enough, nearly every mutant has more behaviours than
//! the module; where it does not, something in the module was redundant or cannot be observed.

mod barrier;
mod control_barrier;
mod decoration;
mod non_private;
mod order;
mod per_instruction;
mod plain;
mod scope;
mod semantics_bit;
mod split;
mod swap;
mod volatile;

use rspirv::dr::Instruction;

use crate::{Module, Mutant, Mutator, Site};

/// Every weakening.
pub const WEAKENINGS: &[&dyn Mutator] = &[
    &semantics_bit::SemanticsBit,
    &order::WeakerOrder,
    &scope::NarrowerScope,
    &per_instruction::PerInstruction,
    &non_private::NonPrivate,
    &volatile::Volatile,
    &decoration::DecorationDropped,
    &barrier::BarrierRemoved,
    &control_barrier::ControlBarrierToFence,
    &plain::AtomicToPlain,
    &split::UpdateSplit,
    &swap::Swap,
];

/// Mutants one instruction at a time: `change` gives the ways to change it.
fn each_instruction<'m, C>(
    mutator: &'static str,
    module: &'m Module,
    change: C,
) -> Box<dyn Iterator<Item = Mutant> + 'm>
where
    C: Fn(Site, &Instruction) -> Vec<(String, Module)> + 'm,
{
    let mutants = module.sites().into_iter().flat_map(move |(site, inst)| {
        let changes = change(site, inst).into_iter();
        changes.map(move |(what, module)| Mutant { mutator, site: Some(site), what, module })
    });
    Box::new(mutants)
}

#[cfg(test)]
mod tests;
