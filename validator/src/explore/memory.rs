//! Memory that is no event: contents of words that one invocation owns or nobody writes, with the
//! detection that this was wrong.

use std::sync::Arc;

use super::knowledge::{Discoveries, Knowledge, Word};
use crate::behaviour::VolatileAccess;
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Order};
use crate::interp::SharedMemory;
use crate::value::Byte;

/// Contents and use of all memories, copied on write.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    memories: Vec<Memory>,
}

#[derive(Clone, Debug)]
struct Memory {
    bytes: Arc<Vec<Byte>>,
    users: Arc<Vec<User>>,
}

/// Who touched a word so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    Nobody,
    Reader(u32),
    Readers,
    Writer(u32),
}

impl Contents {
    pub(super) fn new(dispatch: &Dispatch) -> Self {
        let count = dispatch.objects.iter().map(|object| object.memory + 1).max().unwrap_or(0);
        let mut bytes: Vec<Vec<Byte>> = vec![Vec::new(); count as usize];
        for object in &dispatch.objects {
            let slot = &mut bytes[object.memory as usize];
            if slot.len() < object.initial.len() {
                slot.extend_from_slice(&object.initial[slot.len()..]);
            }
        }
        let memories = bytes
            .into_iter()
            .map(|bytes| Memory {
                users: Arc::new(vec![User::Nobody; bytes.len().div_ceil(4)]),
                bytes: Arc::new(bytes),
            })
            .collect();
        Contents { memories }
    }

    /// The bytes of a memory; of shared words, the initial ones.
    pub(super) fn bytes(&self, memory: u32) -> &[Byte] {
        self.memories.get(memory as usize).map_or(&[], |memory| &memory.bytes)
    }

    /// One byte of a memory.
    pub(super) fn byte(&self, memory: u32, offset: u32) -> Byte {
        self.bytes(memory).get(offset as usize).copied().unwrap_or(Byte::Undef)
    }

    /// Reads the unshared bytes of an access into `out`; others are left as they are.
    pub(super) fn read(
        &mut self,
        access: &Access,
        memory: u32,
        agent: u32,
        knowledge: &Knowledge,
        found: &mut Discoveries,
        out: &mut [Byte],
    ) {
        let Some(slot) = self.memories.get_mut(memory as usize) else { return };
        let mut next = 0;
        for (offset, len) in &access.ranges {
            for byte in *offset..offset + len {
                if knowledge.word(memory, byte) == Word::Unshared {
                    if let (Some(out), Some(value)) = (out.get_mut(next), slot.bytes.get(byte as usize)) {
                        *out = *value;
                    }
                    slot.touch(memory, byte, agent, false, found);
                }
                next += 1;
            }
        }
    }

    /// Writes the unshared bytes of an access.
    pub(super) fn write(
        &mut self,
        access: &Access,
        memory: u32,
        agent: u32,
        knowledge: &Knowledge,
        found: &mut Discoveries,
        bytes: &[Byte],
    ) {
        let Some(slot) = self.memories.get_mut(memory as usize) else { return };
        let mut next = 0;
        for (offset, len) in &access.ranges {
            for byte in *offset..offset + len {
                if knowledge.word(memory, byte) == Word::Unshared {
                    slot.touch(memory, byte, agent, true, found);
                    let value = bytes.get(next).copied().unwrap_or(Byte::Undef);
                    if let Some(slot) = Arc::make_mut(&mut slot.bytes).get_mut(byte as usize) {
                        *slot = value;
                    }
                }
                next += 1;
            }
        }
    }
}

impl Memory {
    fn touch(&mut self, memory: u32, byte: u32, agent: u32, write: bool, found: &mut Discoveries) {
        let Some(user) = self.users.get(byte as usize / 4).copied() else { return };
        let next = match (user, write) {
            (User::Nobody, false) => User::Reader(agent),
            (User::Nobody, true) => User::Writer(agent),
            (User::Reader(other), false) if other != agent => User::Readers,
            (User::Reader(other), true) if other == agent => User::Writer(agent),
            (User::Reader(_) | User::Readers, false) => user,
            (User::Writer(other), _) if other == agent => user,
            (User::Reader(_) | User::Readers, true) | (User::Writer(_), _) => {
                found.shared.insert((memory, byte / 4 * 4));
                user
            }
        };
        if next != user {
            if let Some(slot) = Arc::make_mut(&mut self.users).get_mut(byte as usize / 4) {
                *slot = next;
            }
        }
    }
}

/// Whether some byte of the access lies in a word that invocations share.
pub(super) fn is_shared(access: &Access, memory: u32, knowledge: &Knowledge) -> bool {
    access.ranges.iter().any(|(offset, len)| {
        let mut byte = offset / 4 * 4;
        while byte < offset + len {
            if knowledge.word(memory, byte) != Word::Unshared {
                return true;
            }
            byte += 4;
        }
        false
    })
}

/// The memory as one invocation sees it between two events.
pub(super) struct View<'a> {
    pub(super) dispatch: &'a Dispatch,
    pub(super) knowledge: &'a Knowledge,
    pub(super) contents: &'a mut Contents,
    pub(super) found: &'a mut Discoveries,
    pub(super) trace: &'a mut Arc<Vec<VolatileAccess>>,
    pub(super) agent: u32,
}

impl View<'_> {
    /// An access that communicates with nobody: unshared, and without an effect on the order of others.
    fn is_quiet(&self, access: &Access, memory: u32, atomicity: Option<&Atomicity>) -> bool {
        let orders = atomicity.is_some_and(|atomicity| atomicity.semantics.order != Order::Relaxed);
        !orders && !is_shared(access, memory, self.knowledge)
    }

    fn trace(&mut self, access: &Access, write: bool, atomic: bool, bytes: &[Byte]) {
        if access.volatile {
            Arc::make_mut(self.trace).push(volatile_access(access, write, atomic, bytes));
        }
    }
}

/// The trace entry of a volatile access.
pub(super) fn volatile_access(access: &Access, write: bool, atomic: bool, bytes: &[Byte]) -> VolatileAccess {
    let offset = access.ranges.first().map_or(0, |(offset, _)| *offset);
    VolatileAccess::One { object: access.object, offset, write, atomic, bytes: bytes.to_vec() }
}

impl SharedMemory for View<'_> {
    fn size(&self, object: u32) -> u32 {
        self.dispatch.objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        let Some(object) = self.dispatch.objects.get(access.object as usize) else { return false };
        if !self.is_quiet(access, object.memory, atomicity) {
            return false;
        }
        self.contents.read(access, object.memory, self.agent, self.knowledge, self.found, out);
        self.trace(access, false, atomicity.is_some(), out);
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> bool {
        let Some(object) = self.dispatch.objects.get(access.object as usize) else { return false };
        if !self.is_quiet(access, object.memory, atomicity) {
            return false;
        }
        self.contents.write(access, object.memory, self.agent, self.knowledge, self.found, bytes);
        self.trace(access, true, atomicity.is_some(), bytes);
        true
    }
}
