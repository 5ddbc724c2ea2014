//! What the memory that the host fills is used as: floats, indices, bounds of loops, words that synchronise.
//!
//! Automatic inputs take values of the right type from it. The analysis is over the whole program, without regard to
//! the order of instructions: values flow from where they are computed or loaded to where they are used ([`flow`]),
//! through registers and memory ([`graph`]); pointers are followed to what they may lead to ([`addresses`]). Data that
//! is only copied has the use of its copy. It decides no verdict: where it knows nothing, inputs are of any type.

mod addresses;
mod flow;
mod graph;
mod ranges;
mod roles;
mod usage;

use std::collections::BTreeMap;

use addresses::{Address, Object};
pub use usage::{Field, Role, Usage};

use super::Slot;
use crate::event::StorageClass;
use crate::ir::{Program, Variable};

/// What the bytes of one memory are used as.
#[derive(Clone, Debug, Default)]
pub struct MemoryUses {
    /// By the offset of the first byte; offsets in a runtime array are those in its first element.
    places: BTreeMap<u32, Usage>,
    /// Size without the runtime array, and its stride.
    size: u32,
    stride: Option<u32>,
}

impl MemoryUses {
    /// The uses of the values in the first `length` bytes, with their offsets, ascending.
    pub fn in_first(&self, length: u32) -> impl Iterator<Item = (u32, &Usage)> + '_ {
        let fixed = self.places.range(..self.size).map(|(offset, usage)| (*offset, usage));
        let stride = self.stride.filter(|stride| *stride != 0);
        let elements = stride.map_or(0, |stride| length.saturating_sub(self.size).div_ceil(stride));
        let repeated = (0..elements).flat_map(move |element| {
            let shift = element.saturating_mul(stride.unwrap_or(0));
            self.places.range(self.size..).map(move |(offset, usage)| (offset.saturating_add(shift), usage))
        });
        let fits = move |&(offset, usage): &(u32, &Usage)| {
            offset.checked_add(u32::from(usage.width)).is_some_and(|end| end <= length)
        };
        fixed.chain(repeated).filter(fits)
    }

    /// Where a byte is, counted in the first element where it is in a runtime array.
    pub fn in_first_element(&self, offset: u32) -> u32 {
        match self.stride {
            Some(stride) if stride != 0 && offset >= self.size => self.size + (offset - self.size) % stride,
            Some(_) | None => offset,
        }
    }

    /// The uses of all values, those of a runtime array once.
    pub fn all(&self) -> impl Iterator<Item = &Usage> {
        self.places.values()
    }

    /// Adds what another program, or another variable of the same memory, uses it as.
    fn add(&mut self, other: &MemoryUses) {
        self.size = self.size.max(other.size);
        self.stride = self.stride.max(other.stride);
        for (offset, usage) in &other.places {
            self.places.entry(*offset).or_default().add(usage);
        }
    }

    /// Any value stays an entry of a table that was one so far: the module before is defined on all of them.
    fn keep_entries(&mut self, so_far: &MemoryUses) {
        for (offset, usage) in &mut self.places {
            let was_free = so_far.places.get(offset).is_some_and(|before| {
                before.is(Role::Entry) && !before.is(Role::Index) && !before.is(Role::PartOfIndex)
            });
            if was_free {
                *usage = usage.clone().without(Role::Index).without(Role::PartOfIndex);
            }
        }
    }
}

/// What all memory that the host fills is used as, by either of two programs.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    slots: BTreeMap<Slot, MemoryUses>,
    push: MemoryUses,
    /// By the names of interface parts.
    interface: BTreeMap<String, MemoryUses>,
    /// By the number of the physical pointee, of the first program.
    pointees: BTreeMap<u32, MemoryUses>,
    tells_nans: bool,
}

impl Uses {
    /// Of these programs: before, and after where there is one.
    pub fn of(before: &Program, after: Option<&Program>) -> Self {
        let mut uses = Uses::default();
        uses.add(before, true);
        if let Some(after) = after {
            let so_far = uses.clone();
            uses.add(after, false);
            uses.push.keep_entries(&so_far.push);
            for (slot, own) in &so_far.slots {
                uses.slots.entry(*slot).or_default().keep_entries(own);
            }
        }
        uses
    }

    /// Whether a program has instructions that tell NaNs or infinities from numbers.
    pub fn tells_nans(&self) -> bool {
        self.tells_nans
    }

    /// Of the buffer of a slot.
    pub fn slot(&self, slot: Slot) -> Option<&MemoryUses> {
        self.slots.get(&slot)
    }

    /// Of the push constants.
    pub fn push(&self) -> &MemoryUses {
        &self.push
    }

    /// Of a part of the interface.
    pub fn interface(&self, name: &str) -> Option<&MemoryUses> {
        self.interface.get(name)
    }

    /// Of what physical pointers lead to.
    pub fn pointee(&self, pointee: u32) -> Option<&MemoryUses> {
        self.pointees.get(&pointee)
    }

    /// Buffers of aliased slots are one memory.
    pub fn unite(&mut self, slots: impl Iterator<Item = (Slot, Slot)>) {
        for (slot, memory) in slots.filter(|(slot, memory)| slot != memory) {
            if let Some(own) = self.slots.get(&slot).cloned() {
                self.slots.entry(memory).or_default().add(&own);
            }
        }
    }

    fn add(&mut self, program: &Program, is_before: bool) {
        let mut found = flow::places(program);
        let mut code = program.functions.iter().flat_map(|function| &function.code);
        self.tells_nans |= code.any(|inst| roles::tells_nans(&inst.op));
        for (number, variable) in (0..).zip(&program.variables) {
            let Some(places) = found.remove(&Object::Variable(number)) else { continue };
            self.add_variable(variable, places);
        }
        if !is_before {
            return;
        }
        for (number, pointee) in (0..).zip(&program.pointees) {
            if let Some(places) = found.remove(&Object::Pointee(number)) {
                // Without a runtime array it may be one of several in a row.
                let (size, stride) = match pointee.runtime_stride {
                    Some(stride) => (pointee.size, stride),
                    None => (0, pointee.size),
                };
                let own = MemoryUses { places, size, stride: Some(stride) };
                self.pointees.insert(number, own);
            }
        }
    }

    fn add_variable(&mut self, variable: &Variable, places: BTreeMap<u32, Usage>) {
        for part in &variable.interface {
            let end = part.offset.saturating_add(part.size);
            let own = places.range(part.offset..end);
            let own = own.map(|(offset, usage)| (offset - part.offset, usage.clone())).collect();
            let own = MemoryUses { places: own, size: part.size, stride: None };
            self.interface.entry(part.name.clone()).or_default().add(&own);
        }
        let own = MemoryUses { places, size: variable.size, stride: variable.runtime_stride };
        if variable.class == StorageClass::PushConstant {
            self.push.add(&own);
        }
        for slot in Slot::of(variable) {
            self.slots.entry(slot).or_default().add(&own);
        }
    }
}

/// Bytes that an access at an address touches: folded into the first element of a runtime array.
fn folded(program: &Program, address: &Address, offset: u32) -> u32 {
    let layout = match address.object {
        Object::Variable(number) => {
            program.variables.get(number as usize).map(|one| (one.size, one.runtime_stride))
        }
        Object::Pointee(number) => {
            program.pointees.get(number as usize).map(|one| (one.size, one.runtime_stride))
        }
        Object::Local(..) => None,
    };
    match layout {
        Some((size, Some(stride))) if offset >= size && stride != 0 => size + (offset - size) % stride,
        // A pointer to what has no runtime array may lead into an array of such.
        Some((size, None)) if matches!(address.object, Object::Pointee(_)) && size != 0 => offset % size,
        Some(_) | None => offset,
    }
}

#[cfg(test)]
mod tests;
