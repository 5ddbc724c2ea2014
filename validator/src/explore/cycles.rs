//! Which cycles of load buffering the axioms certainly forbid.
//!
//! Where all who could release a waiting read wait, too, the executions behind it have a cycle: each of some
//! invocations waits for a write that the one before comes to behind the read at which it waits itself.
//! Let W be such a write, and R the read of it.
//!
//! - If W synchronizes with R, the read at which W's invocation waits happens before R and what follows it.
//! - Where all the others are of one unit, each stretch between two of them leads from a read of that unit to a
//!   write of it that happens after it, and so is location-ordered after it, whatever their references.
//!   With the reads-from edges that is a cycle in the order of one location, which the acyclicity axiom forbids.
//!
//! Writes that were never seen, but may come, count like the others (`unseen.rs`).
//!
//! So a cycle may be allowed if two units in it are read without synchronizing. All that synchronizes must be
//! about one storage class, as inter-thread-happens-before is. What synchronizes through barriers or release
//! sequences does not count.

use smallvec::{smallvec, SmallVec};

use super::events;
use super::found::Found;
use super::resolve::Reader;
use super::search::Search;
use super::state::{self, State, UnitSpans};
use super::waiting::Waiting;
use crate::event::{ClassSet, Semantics};
use crate::ir::{AtomicKind, AtomicOp, InstId, MemoryOp, Op};
use crate::model::graph::{Event, Graph, Kind, Unit};
use crate::model::relation::Relation;
use crate::value::Byte;

/// How a write to come and the waiting read that takes its value are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// They synchronize.
    Ordered,
    /// A read that happens before the write is location-ordered before it.
    Loose,
    /// Nothing is known.
    Unknown,
}

type Links = SmallVec<[Link; 2]>;

/// How a write and a read of it are ordered by the storage-class semantics `class`.
fn link(graph: &Graph, write: &Event, read: &Event, class: ClassSet) -> Link {
    let releases = write.releases() && write.semantics.contains(class);
    let acquires = read.acquires() && read.semantics.contains(class);
    if releases && acquires && graph.order_mutually(write, read) {
        return Link::Ordered;
    }
    match write.non_private && write.class.contains(class) && read.class.contains(class) {
        true => Link::Loose,
        false => Link::Unknown,
    }
}

/// Which of `members` are in a cycle that may be allowed, where `links` has all ways in which a write of each
/// may release each, with the unit.
fn in_open_cycles(links: &[(usize, usize, Option<Unit>, Link)], members: &[usize]) -> Vec<bool> {
    let mut releases = Relation::new(members.iter().max().map_or(0, |last| last + 1));
    links.iter().for_each(|(from, to, ..)| releases.insert(*from, *to));
    releases.close();
    let is_open = |index: usize| {
        let is_in = |member: usize| releases.contains(index, member) && releases.contains(member, index);
        let in_cycles = links.iter().filter(|(from, to, ..)| is_in(*from) && is_in(*to));
        let mut breaks = in_cycles.filter(|(.., link)| *link != Link::Ordered);
        let first = breaks.clone().next().map(|(_, _, unit, _)| *unit);
        breaks.any(|(_, _, unit, link)| *link == Link::Unknown || Some(*unit) != first)
    };
    members.iter().map(|member| is_open(*member)).collect()
}

impl Search<'_> {
    /// Which of `members`, who all wait for each other, are in a cycle that the axioms may allow: those that
    /// read the storage class that `index` reads.
    pub(super) fn in_open_cycles(
        &self,
        state: &State,
        waiting: &Waiting,
        members: &[usize],
        index: usize,
        found: &mut Found,
    ) -> Vec<(usize, bool)> {
        let unit_of = |member: usize| match waiting.units[member][..] {
            [unit] if waiting.reads[member] => Some(unit),
            _ => None,
        };
        let Some(first) = unit_of(index) else { return vec![(index, true)] };
        // Those who were never seen to release a member may join the cycle.
        let writes_unseen =
            |other: usize, unit: Unit| self.unseen_writers(state, other, unit).next().is_some();
        let units = || members.iter().filter_map(|member| unit_of(*member));
        let others: Vec<usize> = (0..state.threads.len())
            .filter(|other| !members.contains(other) && !waiting.is_free[*other])
            .filter(|other| !state.threads[*other].status.is_over())
            .collect();
        let joins = others.iter().any(|other| units().any(|unit| writes_unseen(*other, unit)));
        if !joins && members.iter().all(|member| unit_of(*member) == Some(first)) {
            return members.iter().map(|member| (*member, false)).collect();
        }
        let all: Vec<usize> = members.iter().copied().chain(others.into_iter().filter(|_| joins)).collect();
        let class_of = |member: usize| {
            self.reader(state, member)
                .map_or(ClassSet::default(), |reader| reader.access.class.semantics_bit())
        };
        let class = class_of(index);
        if class.is_empty() {
            return vec![(index, true)];
        }
        let mut links = Vec::new();
        for to in &all {
            let unit = unit_of(*to);
            for from in all.iter().filter(|from| *from != to) {
                let ways = match unit {
                    Some(unit) => self.links(state, *from, (*to, unit), class, found),
                    None if waiting.directly_released_by.contains(*to, *from) => smallvec![Link::Unknown],
                    None => Links::new(),
                };
                links.extend(ways.into_iter().map(|link| (*from, *to, unit, link)));
            }
        }
        let open = all.iter().copied().zip(in_open_cycles(&links, &all)).take(members.len());
        open.filter(|(member, _)| unit_of(*member).is_some() && class_of(*member) == class).collect()
    }

    /// The ways in which writes to come of `from` may release `to`, which waits at a read of `unit`.
    fn links(
        &self,
        state: &State,
        from: usize,
        (to, unit): (usize, Unit),
        class: ClassSet,
        found: &mut Found,
    ) -> Links {
        let unknown: Links = smallvec![Link::Unknown];
        if !self.is_in_outlook(state, from, unit, None) {
            return Links::new();
        }
        let Some(reader) = self.reader(state, to) else { return unknown };
        let Some(spans) = state::units_of(reader.access, reader.memory, self.knowledge, |_| {}) else {
            return unknown;
        };
        if reader.atomic.is_none() || !self.has_one_reference(reader.memory) {
            return unknown;
        }
        let mut links = Links::new();
        let mut writers = self.writers_to_come(state, from, unit, None, usize::MAX);
        for unseen in self.unseen_writers(state, from, unit) {
            match unseen {
                Some(inst) => writers.push(inst),
                None => return unknown,
            }
        }
        for inst in writers {
            let Some((op, write)) = self.write_to_come(&reader, &spans, from, inst) else { return unknown };
            let value = op.and_then(|op| op.constant_value(self.context.program));
            for semantics in self.semantics_of_read(state, &reader, value.as_deref()) {
                let mut read = reader.event(Kind::Read, &spans);
                events::set_semantics(&mut read, semantics);
                let link = link(&state.graph, &write, &read, class);
                let is_futile = |value: &[Byte]| self.is_futile(state, &reader, &spans, value, found);
                if !links.contains(&link)
                    && (link == Link::Ordered || !value.as_deref().is_some_and(is_futile))
                {
                    links.push(link);
                }
            }
        }
        links
    }

    /// An atomic or a store that may write what a read reads, and its event; `None` where the instruction is another, or an
    /// atomic that is none of the read's size.
    fn write_to_come(
        &self,
        reader: &Reader,
        spans: &UnitSpans,
        agent: usize,
        inst: InstId,
    ) -> Option<(Option<&AtomicOp>, Event)> {
        let mut write = reader.event(Kind::Write, spans);
        write.agent = agent as u32;
        let function = self.context.program.functions.get(inst.function.0 as usize)?;
        if let Op::Memory(MemoryOp::Store { class, operands, .. }) =
            &function.code.get(inst.index as usize)?.op
        {
            write.class = class.semantics_bit();
            write.non_private = operands.non_private;
            write.atomic = false;
            return Some((None, write));
        }
        let op = self.atomic(inst)?;
        let len: u32 = reader.access.ranges.iter().map(|(_, len)| len).sum();
        let [(unit, _)] = spans[..] else { return None };
        if u32::from(op.width) != len * 8 || self.knowledge.unit_len(unit) != len {
            return None;
        }
        write.class = op.class.semantics_bit();
        write.scope = self.context.program.memory_model.memory_scope(op.scope);
        events::set_semantics(&mut write, op.semantics);
        Some((Some(op), write))
    }

    /// The semantics that a read may have: of this value, or of any.
    fn semantics_of_read(
        &self,
        state: &State,
        reader: &Reader,
        value: Option<&[Byte]>,
    ) -> SmallVec<[Semantics; 2]> {
        let Some(atomic) = reader.atomic else { return SmallVec::new() };
        let invocation = &state.threads[reader.index].invocation;
        let program = self.context.program;
        let op = self.atomic(reader.access.inst);
        let compares = op.is_some_and(|op| matches!(op.kind, AtomicKind::CompareExchange { .. }));
        match value {
            _ if !compares => smallvec![atomic.semantics],
            Some(value) if invocation.atomic_ways(program, value) == 1 => {
                smallvec![match invocation.always_writes(program, value) {
                    true => atomic.semantics,
                    false => atomic.unequal,
                }]
            }
            _ => smallvec![atomic.semantics, atomic.unequal],
        }
    }

    /// The atomic instruction there, if it is one.
    pub(super) fn atomic(&self, inst: InstId) -> Option<&AtomicOp> {
        let function = self.context.program.functions.get(inst.function.0 as usize)?;
        match &function.code.get(inst.index as usize)?.op {
            Op::Atomic(op) => Some(op),
            _ => None,
        }
    }

    /// Whether a spinning read that takes this value comes back to where it is: executions without its iteration
    /// stand for those with it, if no write can race with it.
    fn is_futile(
        &self,
        state: &State,
        reader: &Reader,
        spans: &UnitSpans,
        value: &[Byte],
        found: &mut Found,
    ) -> bool {
        let read = reader.event(Kind::Read, spans);
        let is_mutual = |agent: usize, unit: Unit| {
            self.knowledge.writers(unit, agent as u32).iter().all(|(_, inst)| {
                let write = self.write_to_come(reader, spans, agent, *inst);
                write.is_some_and(|(_, write)| state.graph.order_mutually(&write, &read))
            })
        };
        let unraced = || {
            let agents = 0..state.threads.len();
            spans.iter().all(|(unit, _)| agents.clone().all(|agent| is_mutual(agent, *unit)))
        };
        self.is_spinning(state, reader)
            && self.is_unraced(state, reader, &read)
            && unraced()
            && self.repeats_with(state, reader.index, value, found)
    }
}

#[cfg(test)]
mod tests;
