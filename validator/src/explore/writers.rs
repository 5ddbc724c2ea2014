//! Who may write where, and what of that races.

use smallvec::SmallVec;

use super::found::Found;
use super::knowledge::Manner;
use super::resolve::Reader;
use super::search::Search;
use super::state::{State, UnitSpans};
use crate::ir::{AtomicKind, InstId};
use crate::model::graph::{Event, EventId, Unit};

impl Search<'_> {
    /// Whether a read is of one unit as a whole, and no access of it in the graph races with it: then an
    /// iteration that it repeats need not be seen.
    pub(super) fn is_unraced(&self, state: &State, reader: &Reader, event: &Event) -> bool {
        let [unit] = event.units[..] else { return false };
        let len: u32 = reader.access.ranges.iter().map(|(_, len)| len).sum();
        let is_whole = self.knowledge.unit_len(unit) == len;
        let reads = |other: &Event| reader.may_write && other.reads() && other.agent as usize != reader.index;
        let mut others = state
            .graph
            .events
            .iter()
            .filter(|other| other.writes() || reads(other))
            .filter(|other| other.units.contains(&unit));
        is_whole
            && reader.atomic.is_some()
            && !reader.access.volatile
            && state.pending.is_empty()
            && others.all(|other| state.graph.order_mutually(other, event))
            && (!reader.may_write || self.is_ordered_among_writes(state, event))
    }

    /// Whether another unfinished invocation was ever seen to write one of the units at an
    /// instruction that it may still come to; or the same one, where memory has several references
    /// and so program order does not order its accesses, or where no axiom counts.
    pub(super) fn others_may_write(
        &self,
        state: &State,
        reader: &Reader,
        spans: &UnitSpans,
        found: &mut Found,
    ) -> bool {
        let one_reference = self.context.settings.axioms && self.has_one_reference(reader.memory);
        spans.iter().any(|(unit, _)| {
            found.discoveries.wanted_writers.insert(self.knowledge.key(*unit));
            let may_write = |other: usize| {
                let own = other == reader.index;
                let comes_later = own && one_reference || self.follows(state, other, reader.index);
                let except = own.then_some(reader.access.inst);
                !comes_later
                    && self.may_write(state, other, *unit, except)
                    && (own
                        || !self.only_exchanges(state, other, *unit)
                        || self.may_exchange(state, other, *unit))
            };
            (0..state.threads.len()).any(may_write)
        })
    }

    /// Whether the instructions at which an invocation may still write a unit are all compare-exchanges.
    fn only_exchanges(&self, state: &State, index: usize, unit: Unit) -> bool {
        let writers = self.writers_to_come(state, index, unit, None, usize::MAX);
        let exchanges =
            |inst| self.atomic(inst).is_some_and(|op| matches!(op.kind, AtomicKind::CompareExchange { .. }));
        self.context.has_compare_exchanges && writers.into_iter().all(exchanges)
    }

    /// Whether memory is reached through one reference only.
    pub(super) fn has_one_reference(&self, memory: u32) -> bool {
        let mut objects = self.context.dispatch.objects.iter().filter(|object| object.memory == memory);
        let first = objects.next().map(|object| object.reference);
        objects.all(|object| Some(object.reference) == first)
    }

    /// Whether an unfinished invocation was ever seen to write a unit at an instruction, other than
    /// `except`, that it may still come to.
    pub(super) fn may_write(&self, state: &State, index: usize, unit: Unit, except: Option<InstId>) -> bool {
        !self.writers_to_come(state, index, unit, except, 1).is_empty()
    }

    /// At most `count` of the instructions, other than `except`, at which an unfinished invocation was
    /// ever seen to write a unit and that it may still come to.
    pub(super) fn writers_to_come(
        &self,
        state: &State,
        index: usize,
        unit: Unit,
        except: Option<InstId>,
        count: usize,
    ) -> SmallVec<[InstId; 4]> {
        let thread = &state.threads[index];
        let writers = self.knowledge.writers(unit, index as u32).iter();
        let mut own = writers.filter(|(_, inst)| Some(*inst) != except).peekable();
        if thread.status.is_over() || own.peek().is_none() {
            return SmallVec::new();
        }
        let position = thread.invocation.position();
        own.map(|(_, inst)| *inst)
            .filter(|inst| self.context.reach.may_reach(&position, *inst))
            .take(count)
            .collect()
    }

    /// Remembers who may write where.
    pub(super) fn note_possible_writer(&self, reader: &Reader, spans: &UnitSpans, found: &mut Found) {
        let writer = (reader.index as u32, reader.access.inst);
        spans.iter().for_each(|(unit, _)| self.note_writer_of(*unit, writer, found));
        let class = reader.access.class.semantics_bit();
        let manner = Manner { reference: reader.reference, class, non_private: reader.access.non_private };
        self.note_manner(writer, manner, found);
    }

    /// Remembers who wrote where.
    pub(super) fn note_writer(&self, state: &State, id: EventId, found: &mut Found) {
        self.check_first_order(state, id, found);
        let event = &state.graph.events[id as usize];
        let writer = (event.agent, event.inst);
        event.units.iter().for_each(|unit| self.note_writer_of(*unit, writer, found));
        if self.context.has_compare_exchanges {
            for (unit, bytes) in event.units.iter().zip(&event.written) {
                if !self.knowledge.seen(*unit).contains(bytes) {
                    let key = self.knowledge.key(*unit);
                    found.discoveries.seen.entry(key).or_default().insert(bytes.clone());
                }
            }
        }
        let Event { reference, class, non_private, .. } = **event;
        let manner = Manner { reference, class, non_private };
        self.note_manner(writer, manner, found);
    }

    fn note_writer_of(&self, unit: Unit, writer: (u32, InstId), found: &mut Found) {
        if !self.knowledge.writers(unit, writer.0).contains(&writer) {
            found.discoveries.writers.entry(self.knowledge.key(unit)).or_default().insert(writer);
        }
    }

    fn note_manner(&self, writer: (u32, InstId), manner: Manner, found: &mut Found) {
        if !self.knowledge.manners.get(&writer).is_some_and(|manners| manners.contains(&manner)) {
            found.discoveries.manners.entry(writer).or_default().insert(manner);
        }
    }
}
