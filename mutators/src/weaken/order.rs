use rspirv::spirv::MemorySemantics;

use super::each_instruction;
use crate::memory::{at_order, semantics, with_constants, ORDERS};
use crate::{Module, Mutant, Mutator};

/// Weakens the order of an atomic's or barrier's semantics: AcquireRelease to Acquire, Release
/// and Relaxed, these two to Relaxed. What the weaker order cannot have goes with it: MakeAvailable,
/// MakeVisible and, at Relaxed, the storage classes. A compare-exchange's order where unequal
/// never exceeds that where equal.
pub struct WeakerOrder;

const ACQUIRE: (MemorySemantics, &str) = (MemorySemantics::ACQUIRE, "Acquire");
const RELEASE: (MemorySemantics, &str) = (MemorySemantics::RELEASE, "Release");
const ACQUIRE_RELEASE: (MemorySemantics, &str) = (MemorySemantics::ACQUIRE_RELEASE, "AcquireRelease");
const RELAXED: (MemorySemantics, &str) = (MemorySemantics::RELAXED, "Relaxed");

fn weaker(mask: MemorySemantics) -> &'static [(MemorySemantics, &'static str)] {
    if mask.contains(MemorySemantics::SEQUENTIALLY_CONSISTENT) {
        &[ACQUIRE_RELEASE, ACQUIRE, RELEASE, RELAXED]
    } else if mask.contains(MemorySemantics::ACQUIRE_RELEASE) {
        &[ACQUIRE, RELEASE, RELAXED]
    } else if mask.intersects(ORDERS) {
        &[RELAXED]
    } else {
        &[]
    }
}

impl Mutator for WeakerOrder {
    fn name(&self) -> &'static str {
        "weaker-order"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let masks = semantics(module, inst);
            let mut changes = Vec::new();
            for (number, (index, mask)) in masks.iter().enumerate() {
                let operand = if number == 1 { " where unequal" } else { "" };
                for (order, name) in weaker(*mask) {
                    let mut values = vec![(*index, at_order(*mask, *order).bits())];
                    // The second mask follows where it would be the stronger one.
                    if let (0, Some((second, unequal))) = (number, masks.get(1)) {
                        if !order.intersects(MemorySemantics::ACQUIRE | MemorySemantics::ACQUIRE_RELEASE) {
                            values.push((*second, at_order(*unequal, MemorySemantics::RELAXED).bits()));
                        }
                    }
                    let changed = with_constants(module, site, inst, &values);
                    changes.extend(changed.map(|changed| (format!("{name}{operand}"), changed)));
                }
            }
            changes
        })
    }
}
