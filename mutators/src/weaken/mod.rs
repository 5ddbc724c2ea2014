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

use crate::mutator::each_instruction;
use crate::Mutator;

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

#[cfg(test)]
mod tests;
