//! Memory that has no events in an execution.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Order};
use crate::interp::{SharedMemory, Written};
use crate::value::Byte;

/// Memory without the events of the witness. Who writes it and who reads it are separated by barriers.
pub(super) struct Quiet<'a> {
    before: &'a Dispatch,
    /// Keys and first bytes of the witness's units.
    shared: BTreeSet<(u32, u32)>,
    /// What was written, by memory and byte.
    written: FxHashMap<(u32, u32), Byte>,
    target: Option<Target>,
    /// Who runs.
    pub(super) agent: u32,
    /// Writes that changed something.
    pub(super) changes: u64,
}

/// A byte whose writers are wanted.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// The memory and the byte.
    place: (u32, u32),
    /// Who wrote it last.
    writer: Option<u32>,
    /// The last write was not told yet.
    is_new: bool,
}

impl<'a> Quiet<'a> {
    /// The initial contents.
    pub(super) fn of(dispatch: &'a Dispatch) -> Self {
        let written = FxHashMap::default();
        Quiet { before: dispatch, shared: BTreeSet::new(), written, target: None, agent: 0, changes: 0 }
    }

    /// Notes who writes this byte of an object.
    pub(super) fn watch(&mut self, (object, byte): (u32, u32)) {
        let object = self.before.objects.get(object as usize);
        self.target =
            object.map(|object| Target { place: (object.memory, byte), writer: None, is_new: false });
    }

    /// Who wrote that byte last, and what.
    pub(super) fn writer(&self) -> Option<(u32, Byte)> {
        let Target { place, writer, .. } = self.target?;
        Some((writer?, self.written.get(&place).copied()?))
    }

    /// Whether an invocation wrote that byte since it was last asked for.
    pub(super) fn take_write_of(&mut self, agent: u32) -> bool {
        let target = self.target.as_mut().filter(|target| target.writer == Some(agent));
        target.is_some_and(|target| std::mem::take(&mut target.is_new))
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
            if let Some(target) = self.target.as_mut().filter(|target| target.place == (object.memory, byte))
            {
                target.writer = Some(self.agent);
                target.is_new = true;
            }
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
        let same = bytes_of(access).zip(bytes).all(|(byte, value)| self.byte(access.object, byte) == *value);
        self.set(access, bytes);
        // Of a loop that writes the same again and again the interpreter knows that it never ends.
        match same {
            true => Written::Unchanged,
            false => {
                self.changes += 1;
                Written::Changed
            }
        }
    }
}
