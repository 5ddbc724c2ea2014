//! Replay of one invocation: what it does by itself, given what it reads from others. It runs outside of the search.
//! Memory that it does not share has its initial contents.
//!
//! For example, when member 0 of a class reads 0 from a counter and then stores to it, member 1 is run with the same
//! answer and must store in the same way.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, DeviceOperation, Fence};
use crate::explore::facts::discoveries::Word;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::program::units;
use crate::explore::state::memory;
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{Invocation, SharedMemory, Stop, Written};
use crate::ir::{InstId, LoopId, Program};
use crate::value::Byte;

/// The number of words that a run may touch. Copies of them are kept.
const MAX_TOUCHED: usize = 4096;

/// What other invocations may notice of an invocation between two of its reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Write(Access, Option<Atomicity>, Vec<Byte>),
    /// What a read that may write has written.
    Updated(InstId, Option<Vec<Byte>>),
    Fence(Fence),
    Device(DeviceOperation, Fence),
}

impl Deed {
    /// The instruction of a write, and what it writes.
    pub(crate) fn write(&self) -> Option<(InstId, &[Byte])> {
        match self {
            Deed::Write(access, _, bytes) => Some((access.inst, bytes)),
            Deed::Updated(inst, written) => Some((*inst, written.as_deref()?)),
            Deed::Fence(_) | Deed::Device(..) => None,
        }
    }

    /// Whether two deeds differ only in the values that they write.
    fn has_shape_of(&self, other: &Deed) -> bool {
        match (self, other) {
            (Deed::Write(a, atomic_a, _), Deed::Write(b, atomic_b, _)) => (a, atomic_a) == (b, atomic_b),
            (Deed::Updated(a, written_a), Deed::Updated(b, written_b)) => {
                a == b && written_a.is_some() == written_b.is_some()
            }
            _ => self == other,
        }
    }
}

/// Whether two runs differ only in the values that they write.
pub(crate) fn have_same_shape((a, end_a): &(Vec<Deed>, End), (b, end_b): &(Vec<Deed>, End)) -> bool {
    end_a == end_b && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.has_shape_of(b))
}

/// Where a run stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The run stands at a read. An atomic one may write, too.
    Reading {
        access: Access,
        atomic: Option<Atomicity>,
        may_write: bool,
    },
    Finished,
    /// The turn of a loop changed nothing and returned to the same state.
    Spins,
}

/// An invocation that runs by itself.
#[derive(Clone)]
pub(crate) struct Run {
    invocation: Invocation,
    memory: OwnView,
    arrivals: Vec<Arrival>,
    /// The number of deeds so far, without fences. A turn that adds none of them changes nothing.
    deeds: u64,
}

/// The memory that an invocation shares with no other one, as far as the invocation wrote or touched it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnView {
    pub(crate) written: BTreeMap<(u32, u32), Byte>,
    /// The words that it touched, by memory and first byte, and whether it wrote them.
    pub(crate) touched: BTreeMap<(u32, u32), bool>,
    /// What it wrote to places that the result of its first read alone decides: memory, offset and byte, in order.
    pub(crate) placed: Vec<((u32, u32), Byte)>,
    changes: u64,
    /// Whether it did something without an event that other invocations might notice.
    is_open: bool,
}

/// The last arrival at a loop header.
#[derive(Clone)]
struct Arrival {
    depth: u32,
    loop_id: LoopId,
    invocation: Arc<Invocation>,
    changes: u64,
    deeds: u64,
}

/// What stays the same for all runs.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) program: &'a Program,
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) knowledge: &'a Knowledge,
    /// The initial contents of each memory.
    pub(crate) initial: &'a [Vec<Byte>],
    pub(crate) max_instructions: u64,
    /// The stores that are kept separately because the result of the first read decides their places.
    pub(crate) placing: &'a [InstId],
}

impl Run {
    /// The invocation `index` of the dispatch, before its first instruction.
    pub(crate) fn new(ground: &Ground, index: u32) -> Self {
        let invocation = Invocation::new(ground.program, ground.dispatch, index);
        Run { invocation, memory: OwnView::default(), arrivals: Vec::new(), deeds: 0 }
    }

    /// Its own memory so far.
    pub(crate) fn memory(&self) -> &OwnView {
        &self.memory
    }

    /// Gives bytes to the read at which it stands, and continues as [`Run::go`] does.
    pub(crate) fn answer(&mut self, ground: &Ground, end: &End, bytes: &[Byte]) -> Option<(Vec<Deed>, End)> {
        let End::Reading { access, atomic, may_write } = end else { return None };
        let bytes = bytes.to_vec();
        if atomic.is_none() {
            return self.drive(ground, None, Decision::Read(bytes));
        }
        if self.invocation.atomic_ways(ground.program, &bytes) > 1 {
            return None;
        }
        let updates = may_write.then_some(access.inst);
        self.drive(ground, updates, Decision::AtomicRead { bytes, way: None })
    }

    /// Runs to the next read of what others may write, or to the end. It returns `None` if the invocation does
    /// something that its reads alone do not decide, or that concerns other invocations in another way than by an event
    /// of its own, or that is reported with its location (a volatile access).
    pub(crate) fn go(&mut self, ground: &Ground) -> Option<(Vec<Deed>, End)> {
        self.drive(ground, None, Decision::GoOn)
    }

    /// The same from an answer on. `updates` is the instruction of the answered read, if it may write.
    fn drive(
        &mut self,
        ground: &Ground,
        updates: Option<InstId>,
        first: Decision<Option<End>>,
    ) -> Option<(Vec<Deed>, End)> {
        let deeds = updates.map(|inst| Deed::Updated(inst, None)).into_iter().collect();
        let mut running = Running { run: self, ground, fuel: ground.max_instructions, deeds };
        let end = runner::drive(ground.program, &mut running, first)?;
        Some((running.deeds, end))
    }

    /// Whether the turn that ends changed nothing and returned to the state at the last arrival.
    fn comes_back(&self, program: &Program, depth: u32, loop_id: LoopId) -> bool {
        let last = self.arrivals.iter().find(|last| last.depth == depth && last.loop_id == loop_id);
        last.is_some_and(|last| {
            (last.changes, last.deeds) == (self.memory.changes, self.deeds)
                && self.invocation.same_state(&last.invocation, program)
        })
    }

    fn arrive(&mut self, depth: u32, loop_id: LoopId) {
        self.arrivals.retain(|last| last.depth < depth || last.depth == depth && last.loop_id < loop_id);
        let (changes, deeds) = (self.memory.changes, self.deeds);
        let invocation = Arc::new(self.invocation.clone());
        self.arrivals.push(Arrival { depth, loop_id, invocation, changes, deeds });
    }
}

/// A run from one read to the next one.
struct Running<'r, 'g> {
    run: &'r mut Run,
    ground: &'r Ground<'g>,
    fuel: u64,
    deeds: Vec<Deed>,
}

impl Running<'_, '_> {
    /// Adds something that other invocations may notice.
    fn deed(&mut self, deed: Deed) -> Decision<Option<End>> {
        self.run.deeds += u64::from(!matches!(deed, Deed::Fence(_)));
        self.deeds.push(deed);
        Decision::GoOn
    }
}

impl Driver for Running<'_, '_> {
    type End = Option<End>;

    fn run(&mut self) -> Stop {
        let Ground { program, dispatch, .. } = *self.ground;
        let mut view = View { ground: self.ground, own: &mut self.run.memory };
        self.run.invocation.run(program, dispatch, &mut view, &mut self.fuel)
    }

    fn invocation(&mut self) -> &mut Invocation {
        &mut self.run.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<Option<End>> {
        let Running { run, ground, .. } = self;
        let is_open =
            run.memory.is_open || run.memory.touched.len().max(run.memory.placed.len()) > MAX_TOUCHED;
        if is_open || !run.invocation.take_inexact().is_empty() {
            return Decision::End(None);
        }
        match stop {
            Stop::Read(access) if is_event(ground, &access) => {
                Decision::End(Some(End::Reading { access, atomic: None, may_write: false }))
            }
            Stop::AtomicRead { access, atomicity, may_write } if is_event(ground, &access) => {
                Decision::End(Some(End::Reading { access, atomic: Some(atomicity), may_write }))
            }
            Stop::Write(access, bytes) if is_event(ground, &access) => {
                self.deed(Deed::Write(access, None, bytes))
            }
            Stop::AtomicWrite { access, atomicity, bytes } if is_event(ground, &access) => {
                self.deed(Deed::Write(access, Some(atomicity), bytes))
            }
            Stop::Fence(fence) => self.deed(Deed::Fence(fence)),
            Stop::Device(operation, fence) => self.deed(Deed::Device(operation, fence)),
            Stop::LoopEntry { function_depth, loop_id } => {
                run.arrive(function_depth, loop_id);
                Decision::GoOn
            }
            Stop::Iteration { function_depth, loop_id, chosen: false, .. } => {
                if run.comes_back(ground.program, function_depth, loop_id) {
                    return Decision::End(Some(End::Spins));
                }
                run.arrive(function_depth, loop_id);
                Decision::GoOn
            }
            Stop::Finished => Decision::End(Some(End::Finished)),
            // More than its reads decides what it does.
            _ => Decision::End(None),
        }
    }

    fn updated(&mut self, read: &[Byte], written: Vec<Byte>) -> Option<Option<End>> {
        self.run.deeds += u64::from(written != read);
        if let Some(Deed::Updated(_, wrote)) = self.deeds.last_mut() {
            *wrote = Some(written);
        }
        None
    }
}

/// Whether all of an access is an event, and the access is not volatile.
fn is_event(ground: &Ground, access: &Access) -> bool {
    let Some(object) = ground.dispatch.objects.get(access.object as usize) else { return false };
    let is_shared = |word| ground.knowledge.word(object.memory, word) != Word::Unshared;
    !access.volatile && units::words_of(access).all(is_shared)
}

struct View<'a> {
    ground: &'a Ground<'a>,
    own: &'a mut OwnView,
}

impl View<'_> {
    /// The memory of an access that is no event.
    fn quiet(&mut self, access: &Access, atomicity: Option<&Atomicity>, wrote: bool) -> Option<u32> {
        let memory = self.ground.dispatch.objects.get(access.object as usize)?.memory;
        if !memory::is_quiet(access, memory, atomicity, self.ground.knowledge) {
            return None;
        }
        self.own.is_open |= access.volatile;
        for word in units::words_of(access) {
            *self.own.touched.entry((memory, word)).or_default() |= wrote;
        }
        Some(memory)
    }

    /// A store whose location is kept separately. A later read of the run need not see it: it would be a read of a word
    /// that another member has in another place, and no two members may touch the same word.
    fn place(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        let Some(object) = self.ground.dispatch.objects.get(access.object as usize) else {
            return Written::Event;
        };
        if !memory::is_quiet(access, object.memory, atomicity, self.ground.knowledge) {
            return Written::Event;
        }
        self.own.is_open |= access.volatile;
        let places = bytes_of(access).map(|offset| (object.memory, offset));
        self.own.placed.extend(places.zip(bytes.iter().copied()));
        self.own.changes += 1;
        Written::Changed
    }

    fn byte(&self, memory: u32, offset: u32) -> Byte {
        let initial = || self.ground.initial.get(memory as usize)?.get(offset as usize).copied();
        let written = self.own.written.get(&(memory, offset)).copied();
        written.or_else(initial).unwrap_or(Byte::Undef)
    }
}

fn bytes_of(access: &Access) -> impl Iterator<Item = u32> + '_ {
    access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len)
}

impl SharedMemory for View<'_> {
    fn size(&self, object: u32) -> u32 {
        self.ground.dispatch.objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        let Some(memory) = self.quiet(access, atomicity, false) else { return false };
        for (slot, offset) in out.iter_mut().zip(bytes_of(access)) {
            *slot = self.byte(memory, offset);
        }
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        if self.ground.placing.contains(&access.inst) {
            return self.place(access, atomicity, bytes);
        }
        let Some(memory) = self.quiet(access, atomicity, true) else { return Written::Event };
        let mut changed = false;
        for (value, offset) in bytes.iter().zip(bytes_of(access)) {
            changed |= self.byte(memory, offset) != *value;
            self.own.written.insert((memory, offset), *value);
        }
        self.own.changes += u64::from(changed);
        match changed {
            true => Written::Changed,
            false => Written::Unchanged,
        }
    }
}
