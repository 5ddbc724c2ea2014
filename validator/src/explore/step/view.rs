//! Memory as a running invocation sees it. Accesses of words without events are performed at once, and accesses of
//! shared words stop the invocation.

use crate::behaviour::VolatileAccess;
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Fault, Scope};
use crate::explore::facts::discoveries::Discoveries;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::facts::touched::Contact;
use crate::explore::program::units;
use crate::explore::reductions::barrier_epochs::epoch::Epoch;
use crate::explore::reductions::commuting_updates::updates::Update;
use crate::explore::reductions::early_races::notes::PlainAccesses;
use crate::explore::state::memory::{self, Accessor, Contents};
use crate::interp::{Outside, SharedMemory, Written};
use crate::model::graph::Kind;
use crate::value::Byte;

/// The memory of one invocation between two events.
pub(crate) struct View<'a> {
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) knowledge: &'a Knowledge,
    pub(crate) contents: &'a mut Contents,
    pub(crate) found: &'a mut Discoveries,
    /// How often the invocation changed memory without an event.
    pub(crate) changes: &'a mut u64,
    pub(crate) epochs: &'a [Epoch],
    pub(crate) agent: u32,
    /// Whether commuting updates may stay unordered.
    pub(crate) updates_commute: bool,
    /// Whether the invocations are a group that is explored by itself. Then what they touch is noted.
    pub(crate) in_group: bool,
    /// Whether plain reads may speculate like atomic ones.
    pub(crate) plain_speculates: bool,
    pub(crate) notes: Option<PlainAccesses<'a>>,
    /// Undefined behaviour of an access, if there was one.
    pub(crate) fault: Option<Fault>,
}

impl<'a> View<'a> {
    fn accessor(&self, atomicity: Option<&Atomicity>) -> Accessor<'a> {
        let (agent, dispatch, knowledge, epochs) = (self.agent, self.dispatch, self.knowledge, self.epochs);
        let update = |atomicity: &Atomicity| {
            let wide = atomicity.scope >= Scope::Workgroup;
            let kind = atomicity.commutes.filter(|_| wide && self.updates_commute)?;
            Some(Update { kind, scope: atomicity.scope })
        };
        let update = atomicity.and_then(update);
        Accessor { agent, dispatch, knowledge, epochs, atomic: atomicity.is_some(), update }
    }

    /// Makes a volatile access an event, so that all entries of volatile traces are made in one place.
    fn make_volatile_an_event(&mut self, access: &Access, memory: u32) {
        if access.volatile {
            self.found.shared.extend(units::words_of(access).map(|word| (memory, word)));
        }
    }
}

/// The entry of a volatile access in a trace.
pub(crate) fn volatile_access(access: &Access, write: bool, atomic: bool, bytes: &[Byte]) -> VolatileAccess {
    let offset = access.ranges.first().map_or(0, |(offset, _)| *offset);
    VolatileAccess::One { object: access.object, offset, write, atomic, bytes: bytes.to_vec() }
}

impl SharedMemory for View<'_> {
    fn size(&self, object: u32) -> u32 {
        self.dispatch.objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn note_outside(&mut self, outside: Outside) {
        self.found.outside.note(outside);
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        let Some(object) = self.dispatch.objects.get(access.object as usize) else { return false };
        if !memory::is_quiet(access, object.memory, atomicity, self.knowledge) {
            return false;
        }
        self.fault = self.fault.take().or(self.contents.declare(access, object.memory, false));
        let by = self.accessor(atomicity);
        self.contents.read(access, object.memory, by, self.found, out);
        if self.in_group {
            self.found.touched.note(object.memory, access, Contact::Read);
        }
        let speculates = match atomicity {
            Some(atomicity) => atomicity.commutes.is_none(),
            None => self.plain_speculates,
        };
        if speculates && !object.constant {
            let words = units::words_of(access).map(|word| ((object.memory, word), self.agent));
            self.found.read.extend(words);
        }
        if let Some(notes) = &mut self.notes {
            notes.add(self.agent, access, object, Kind::Read, out);
        }
        self.make_volatile_an_event(access, object.memory);
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        let Some(object) = self.dispatch.objects.get(access.object as usize) else { return Written::Event };
        if !memory::is_quiet(access, object.memory, atomicity, self.knowledge) {
            return Written::Event;
        }
        self.fault = self.fault.take().or(self.contents.declare(access, object.memory, true));
        let by = self.accessor(atomicity);
        let changed = self.contents.write(access, object.memory, by, self.found, bytes);
        if self.in_group {
            self.found.touched.note(object.memory, access, Contact::Written);
        }
        if let Some(notes) = &mut self.notes {
            notes.add(self.agent, access, object, Kind::Write, bytes);
        }
        self.make_volatile_an_event(access, object.memory);
        *self.changes += u64::from(changed);
        match changed {
            true => Written::Changed,
            false => Written::Unchanged,
        }
    }
}
