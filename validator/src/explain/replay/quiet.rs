//! Memory that has no events in an execution.

use std::collections::{BTreeMap, BTreeSet};

use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Order};
use crate::interp::{SharedMemory, Written};
use crate::value::Byte;

/// Memory without the events of the witness. Who writes it and who reads it are separated by barriers.
pub(super) struct Quiet<'a> {
    before: &'a Dispatch,
    /// Keys and first bytes of the witness's units.
    shared: BTreeSet<(u32, u32)>,
    written: BTreeMap<(u32, u32), Byte>,
}

impl<'a> Quiet<'a> {
    /// The initial contents.
    pub(super) fn of(dispatch: &'a Dispatch) -> Self {
        Quiet { before: dispatch, shared: BTreeSet::new(), written: BTreeMap::new() }
    }

    /// Has events for these units: keys and first bytes.
    pub(super) fn share(&mut self, units: impl Iterator<Item = (u32, u32)>) {
        self.shared = units.map(|(memory, offset)| (memory, offset / 4 * 4)).collect();
    }

    fn is_quiet(&self, access: &Access, atomicity: Option<&Atomicity>) -> bool {
        let Some(object) = self.before.objects.get(access.object as usize) else { return true };
        let orders = atomicity.is_some_and(|atomicity| atomicity.semantics.order != Order::Relaxed);
        !orders && !bytes_of(access).any(|byte| self.shared.contains(&(object.memory, byte / 4 * 4)))
    }

    pub(super) fn byte(&self, object: u32, byte: u32) -> Byte {
        let Some(object) = self.before.objects.get(object as usize) else { return Byte::Undef };
        let written = self.written.get(&(object.memory, byte)).copied();
        written.or_else(|| object.initial.get(byte as usize).copied()).unwrap_or(Byte::Undef)
    }

    pub(super) fn set(&mut self, access: &Access, bytes: &[Byte]) {
        let Some(object) = self.before.objects.get(access.object as usize) else { return };
        for (value, byte) in bytes.iter().zip(bytes_of(access)) {
            self.written.insert((object.memory, byte), *value);
        }
    }
}

pub(super) fn bytes_of(access: &Access) -> impl Iterator<Item = u32> + '_ {
    access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len)
}

impl SharedMemory for Quiet<'_> {
    fn size(&self, object: u32) -> u32 {
        self.before.objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        if !self.is_quiet(access, atomicity) {
            return false;
        }
        for (slot, byte) in out.iter_mut().zip(bytes_of(access)) {
            *slot = self.byte(access.object, byte);
        }
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        if !self.is_quiet(access, atomicity) {
            return Written::Event;
        }
        self.set(access, bytes);
        Written::Changed
    }
}
