//! Turns that only find out that a value is stale.
//!
//! A compare-exchange that fails because of what came after the read before it gives its invocation what that read could
//! have given: `loop { old = load(x); if (compare_exchange(x, old, f(old)) == old) break; }` with the value found taken over,
//! or another round. Where the invocation then is where it would be had that read taken the same write, the executions with
//! both reads have the outcomes of those with the one: without the first, what synchronizes is less or the same, and
//! nothing else can tell. The same holds for one that succeeds, with the value that was read, but from another write. So a
//! compare-exchange does not read such a write, nor does it wait for one: where it waits, its own read before could have
//! waited. Where it stands at the read once more, since the loop loads again instead of taking over what was found, it has
//! been round for nothing, and could do without both. (Kokologiannakis, Ren, Vafeiadis, "Dynamic partial order reductions
//! for spinloops", FMCAD 2021, leaves out such turns where the program shows them; here they are tried.)
//!
//! Which values may come is what the rounds so far saw written; where that was not all, there is another round.

use std::sync::Arc;

use super::found::Found;
use super::resolve::Reader;
use super::search::Search;
use super::spin::own_events;
use super::state::{self, State, Status, UnitSpans};
use crate::event::{Access, Atomicity, Semantics};
use crate::interp::Invocation;
use crate::model::graph::{EventId, Kind, Source, UnitBytes};
use crate::value::Byte;

/// An atomic read that did not write, before it had its value.
#[derive(Clone)]
pub(super) struct Look {
    pub(super) invocation: Arc<Invocation>,
    pub(super) event: EventId,
    access: Arc<Access>,
    atomicity: Atomicity,
    may_write: bool,
    /// How often its invocation had changed memory without an event.
    changes: u64,
}

impl Look {
    /// A read that an invocation stands at.
    pub(super) fn new(state: &State, index: usize, event: EventId) -> Option<Look> {
        let thread = &state.threads[index];
        let Status::Reading { access, atomic: Some(atomicity), may_write } = &thread.status else {
            return None;
        };
        Some(Look {
            invocation: thread.invocation.clone(),
            event,
            access: access.clone(),
            atomicity: *atomicity,
            may_write: *may_write,
            changes: thread.changes,
        })
    }

    /// Its semantics where it does not write.
    fn semantics(&self) -> Semantics {
        if self.may_write {
            self.atomicity.unequal
        } else {
            self.atomicity.semantics
        }
    }
}

/// Whether an atomic with these semantics synchronizes with whatever one with those does.
fn acquires_as_much(semantics: Semantics, other: Semantics) -> bool {
    let acquires = |one: Semantics| one.order.acquires();
    !acquires(other)
        || acquires(semantics)
            && semantics.classes == other.classes
            && (semantics.make_visible || !other.make_visible)
}

impl Search<'_> {
    /// Whether a compare-exchange that reads these bytes from there is one that its invocation could do without the read
    /// before: that could have read the same write.
    pub(super) fn is_stale(
        &self,
        state: &State,
        reader: &Reader,
        spans: &UnitSpans,
        (source, bytes): (Source, &UnitBytes),
    ) -> bool {
        let Some((look, atomicity)) = self.look_before(state, reader, spans) else { return false };
        let read = &state.graph.events[look.event as usize];
        if read.sources.first() == Some(&source) {
            return false;
        }
        let program = self.context.program;
        let invocation = &state.threads[reader.index].invocation;
        if invocation.atomic_ways(program, bytes) != 1 || look.invocation.atomic_ways(program, bytes) != 1 {
            return false;
        }
        let writes = Invocation::clone(invocation).supply_atomic(program, bytes).is_some();
        let semantics = if writes { atomicity.semantics } else { atomicity.unequal };
        if !acquires_as_much(semantics, look.semantics()) {
            return false;
        }
        read.read.first() == Some(bytes)
            || !writes && {
                let here = self.comes_to(state, reader.index, invocation, bytes);
                here.is_some() && self.leads_to(state, reader, look, bytes, here)
            }
    }

    /// Whether whatever else a compare-exchange could wait for would only tell it that what it read before is stale.
    pub(super) fn waits_for_stale(
        &self,
        state: &State,
        reader: &Reader,
        spans: &UnitSpans,
        found: &mut Found,
    ) -> bool {
        // What hidden writers give was not seen.
        if self.knowledge.has_hidden_writers || self.look_before(state, reader, spans).is_none() {
            return false;
        }
        let [(unit, _)] = spans[..] else { return false };
        let is_stale = self
            .knowledge
            .seen(unit)
            .iter()
            .all(|bytes| self.is_stale(state, reader, spans, (Source::Pending, bytes)));
        if is_stale {
            found.discoveries.relied.insert(self.knowledge.key(unit));
        }
        is_stale
    }

    /// Whether an invocation stands at a compare-exchange that is not worth waiting with.
    pub(super) fn is_committed(&self, state: &State, index: usize, found: &mut Found) -> bool {
        let thread = &state.threads[index];
        if thread.look.is_none() || thread.waits_since.is_some() {
            return false;
        }
        let Some(reader) = self.reader(state, index) else { return false };
        let spans = state::units_of(reader.access, reader.memory, self.knowledge, |_| {});
        spans.is_some_and(|spans| self.waits_for_stale(state, &reader, &spans, found))
    }

    /// Whether an invocation stands there if a read takes these bytes, or stands there at the read: it is about to read
    /// once more, and has been round for nothing.
    fn leads_to(
        &self,
        state: &State,
        reader: &Reader,
        look: &Look,
        bytes: &[Byte],
        there: Option<u128>,
    ) -> bool {
        there == self.stands_at(&look.invocation, &look.access, (&look.atomicity, look.may_write))
            || there == self.comes_to(state, reader.index, &look.invocation, bytes)
    }

    /// Whether reads that only find out what is stale may be left out.
    fn finds_stale(&self, state: &State, reader: &Reader, spans: &UnitSpans) -> bool {
        // Every execution is wanted where states are not merged.
        self.merging.is_some()
            && spans.len() == 1
            && state.pending.is_empty()
            && state.closing.is_none()
            && state.segments.is_empty()
            && !reader.access.volatile
            && self.symmetry.as_ref().is_none_or(|symmetry| symmetry.place(reader.index).is_none())
    }

    /// The last event of an invocation that stands at a compare-exchange, if it is a read of the same place.
    fn look_before<'s>(
        &self,
        state: &'s State,
        reader: &'s Reader,
        spans: &UnitSpans,
    ) -> Option<(&'s Look, &'s Atomicity)> {
        let thread = &state.threads[reader.index];
        let applies = reader.may_write && self.finds_stale(state, reader, spans);
        let look = thread.look.as_ref().filter(|_| applies)?;
        let is_last = own_events(state, reader.index, look.event + 1).next().is_none();
        let read = state.graph.events.get(look.event as usize)?;
        let is_same = is_last
            && read.kind == Kind::Read
            && read.agent as usize == reader.index
            && look.changes == thread.changes
            // Its value is in the trace.
            && !look.access.volatile
            && (look.access.object, &look.access.ranges) == (reader.access.object, &reader.access.ranges);
        let atomicity = reader.atomic?;
        (is_same && read.scope == atomicity.scope).then_some((look, atomicity))
    }

    /// Whether an invocation that reads, from there, what some update has read already only finds out later that it is
    /// stale: it comes to a compare-exchange that succeeds with that alone, and would do better to read what that reads.
    pub(super) fn is_dead_end(
        &self,
        state: &State,
        reader: &Reader,
        spans: &UnitSpans,
        (source, bytes): (Source, &UnitBytes),
        found: &mut Found,
    ) -> bool {
        let applies = self.finds_stale(state, reader, spans) && !self.knowledge.has_hidden_writers;
        let ([(unit, _)], true) = (&spans[..], applies) else { return false };
        let Some(look) = Look::new(state, reader.index, 0) else { return false };
        let Some(next) = self.next_atomic(state, reader.index, bytes) else { return false };
        let Some(atomicity) = next.exchanges(reader) else { return false };
        let program = self.context.program;
        let succeeds = |bytes: &[Byte]| next.invocation.always_writes(program, bytes);
        let acquires = |semantics| acquires_as_much(semantics, look.semantics());
        if !succeeds(bytes) || !acquires(atomicity.semantics) || !acquires(atomicity.unequal) {
            return false;
        }
        let fails_for_nothing = |other: &UnitBytes| {
            let mut certain = [&next.invocation, &look.invocation]
                .into_iter()
                .all(|invocation| invocation.atomic_ways(program, other) == 1);
            certain &= other == bytes || !succeeds(other);
            certain
                && (other == bytes || {
                    let here = self.comes_to(&next.state, reader.index, &next.invocation, other);
                    here.is_some() && self.leads_to(state, reader, &look, other, here)
                })
        };
        let len = self.knowledge.unit_len(*unit) as usize;
        let writes = (0..).zip(&state.graph.events).filter(|(_, event)| event.written_to(*unit).is_some());
        let sources = std::iter::once(Source::Initial).chain(writes.map(|(id, _)| Source::Event(id)));
        let mut there = sources
            .filter(|other| *other != source)
            .map(|other| state::source_bytes(state, self.knowledge, *unit, len, other));
        let is_dead = there.all(|other| fails_for_nothing(&other))
            && self.knowledge.seen(*unit).iter().all(fails_for_nothing);
        if is_dead {
            found.discoveries.relied.insert(self.knowledge.key(*unit));
        }
        is_dead
    }
}
