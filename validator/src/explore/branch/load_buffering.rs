//! Which cycles of load buffering the axioms certainly forbid.
//!
//! Suppose that all invocations that could release a waiting read wait, too. Then the executions behind this point have
//! a cycle: each of some invocations waits for a write that the one before it performs behind the read at which it
//! waits itself. Let W be such a write, and R the read of it.
//!
//! - If W synchronizes with R, the read at which W's invocation waits happens before R and everything that follows R.
//! - If all other pairs are of one unit, each stretch between two of them leads from a read of that unit to a write of
//!   it that happens after the read and so is location-ordered after it, whatever their references are. Together with
//!   the reads-from edges this is a cycle in the order of one location, which the acyclicity axiom forbids.
//!
//! Writes that were never seen but may occur count like the others ([`may_write`](crate::explore::program::may_write)).
//!
//! So the axioms may allow a cycle only if two units in it are read without synchronizing. All that synchronizes must
//! be about one storage class, because inter-thread-happens-before is. What synchronizes through barriers or release
//! sequences does not count.
//!
//! For example, in `r = x; y = 1` beside `s = y; x = s` two units are read without synchronizing, so the cycle may be
//! allowed. If both threads read and write `x` alone, or if the writes release and the reads acquire, it is forbidden.

use smallvec::{smallvec, SmallVec};

use crate::event::{ClassSet, Semantics, Wait};
use crate::explore::branch::spinning::repeats;
use crate::explore::branch::{outlook, writers};
use crate::explore::events;
use crate::explore::oracle;
use crate::explore::reductions::barrier_epochs::epoch::is_ordering;
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::reader::{self, Reader};
use crate::explore::state::{Found, Round, State, Status};
use crate::explore::step::loops::turns;
use crate::ir::{AtomicKind, AtomicOp, InstId, MemoryOp, Op};
use crate::model::graph::{Event, Graph, Kind, Unit};
use crate::model::relation::Relation;
use crate::value::Byte;

/// How a write to come is ordered with the waiting read that takes its value.
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

/// For each of `members`, whether it is in a cycle that may be allowed. `links` has all ways in which a write of each
/// may release each other one, with the unit.
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

/// For those of `members` that read the storage class which `index` reads, whether they are in a cycle that the axioms
/// may allow. All of `members` wait for each other.
pub(crate) fn all_in_open_cycles(
    round: &Round,
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
    // An invocation that was never seen to release a member may join the cycle.
    let writes_unseen =
        |other: usize, unit: Unit| writers::possible_writers(round, state, other, unit).next().is_some();
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
        reader::reader(round, state, member)
            .map_or(ClassSet::default(), |reader| reader.access.class.semantics_bit())
    };
    let class = class_of(index);
    if class.is_empty() {
        return vec![(index, true)];
    }
    let mut all_links = Vec::new();
    for to in &all {
        let unit = unit_of(*to);
        for from in all.iter().filter(|from| *from != to) {
            let ways = match unit {
                Some(unit) => links(round, state, *from, (*to, unit), class, found),
                None if waiting.directly_released_by.contains(*to, *from) => smallvec![Link::Unknown],
                None => Links::new(),
            };
            all_links.extend(ways.into_iter().map(|link| (*from, *to, unit, link)));
        }
    }
    let open = all.iter().copied().zip(in_open_cycles(&all_links, &all)).take(members.len());
    open.filter(|(member, _)| unit_of(*member).is_some() && class_of(*member) == class).collect()
}

/// Whether `from` stands at a barrier which `to` has not come to yet, and which orders the read of `unit` at which `to`
/// waits before all writes of it that are to come of `from`.
pub(crate) fn is_ordered_by_barrier(
    round: &Round,
    state: &State,
    from: usize,
    (to, unit): (usize, Unit),
    found: &mut Found,
) -> bool {
    let Status::Barrier(arrived) = &state.threads[from].status else { return false };
    let Some(reader) = reader::reader(round, state, to) else { return false };
    let class = reader.access.class.semantics_bit();
    let workgroup = |index: usize| round.context.dispatch.places[index].workgroup;
    arrived.waits == Wait::Everybody
        && workgroup(from) == workgroup(to)
        && !class.is_empty()
        && is_ordering(arrived, class)
        && oracle::model(round).orders_by_barriers()
        && links(round, state, from, (to, unit), class, found).iter().all(|link| match link {
            Link::Ordered | Link::Loose => true,
            Link::Unknown => false,
        })
}

/// The ways in which writes to come of `from` may release `to`, which waits at a read of `unit`.
fn links(
    round: &Round,
    state: &State,
    from: usize,
    (to, unit): (usize, Unit),
    class: ClassSet,
    found: &mut Found,
) -> Links {
    let unknown: Links = smallvec![Link::Unknown];
    if !outlook::is_in_outlook(round, state, from, unit, None) {
        return Links::new();
    }
    let Some(reader) = reader::reader(round, state, to) else { return unknown };
    let Some(spans) = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {}) else {
        return unknown;
    };
    if reader.atomic.is_none() || !writers::has_one_reference(round, reader.memory) {
        return unknown;
    }
    let mut links = Links::new();
    let mut writers = writers::writers_to_come(round, state, from, unit, None, usize::MAX);
    for unseen in writers::possible_writers(round, state, from, unit) {
        match unseen {
            Some(inst) => writers.push(inst),
            None => return unknown,
        }
    }
    for inst in writers {
        let Some((op, write)) = write_to_come(round, &reader, &spans, from, inst) else { return unknown };
        let value = op.and_then(|op| op.constant_value(round.context.program));
        for semantics in semantics_of_read(round, state, &reader, value.as_deref()) {
            let mut read = reader.event(Kind::Read, &spans);
            events::set_semantics(&mut read, semantics);
            let link = link(&state.graph, &write, &read, class);
            let is_futile = |value: &[Byte]| is_futile(round, state, &reader, &spans, value, found);
            if !links.contains(&link) && (link == Link::Ordered || !value.as_deref().is_some_and(is_futile)) {
                links.push(link);
            }
        }
    }
    links
}

/// An atomic or a store that may write what a read reads, and its event. It is `None` for any other instruction, and
/// for an atomic whose size is not that of the read.
fn write_to_come<'a>(
    round: &Round<'a>,
    reader: &Reader,
    spans: &UnitSpans,
    agent: usize,
    inst: InstId,
) -> Option<(Option<&'a AtomicOp>, Event)> {
    let mut write = reader.event(Kind::Write, spans);
    write.agent = agent as u32;
    let function = round.context.program.functions.get(inst.function.0 as usize)?;
    if let Op::Memory(MemoryOp::Store { class, operands, .. }) = &function.code.get(inst.index as usize)?.op {
        write.class = class.semantics_bit();
        write.non_private = operands.non_private;
        write.atomic = false;
        return Some((None, write));
    }
    let op = reader::atomic(round, inst)?;
    let len: u32 = reader.access.ranges.iter().map(|(_, len)| len).sum();
    let [(unit, _)] = spans[..] else { return None };
    if u32::from(op.width) != len * 8 || round.knowledge.unit_len(unit) != len {
        return None;
    }
    write.class = op.class.semantics_bit();
    write.scope = round.context.program.memory_model.memory_scope(op.scope);
    events::set_semantics(&mut write, op.semantics);
    Some((Some(op), write))
}

/// The semantics that a read may have if it reads this value, or any value.
fn semantics_of_read(
    round: &Round,
    state: &State,
    reader: &Reader,
    value: Option<&[Byte]>,
) -> SmallVec<[Semantics; 2]> {
    let Some(atomic) = reader.atomic else { return SmallVec::new() };
    let invocation = &state.threads[reader.index].invocation;
    let program = round.context.program;
    let op = reader::atomic(round, reader.access.inst);
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

/// Whether a spinning read that takes this value makes an idle turn. Executions without the turn stand for those with
/// it, if no write can race with it.
fn is_futile(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    value: &[Byte],
    found: &mut Found,
) -> bool {
    let read = reader.event(Kind::Read, spans);
    let is_mutual = |agent: usize, unit: Unit| {
        round.knowledge.writers(unit, agent as u32).iter().all(|(_, inst)| {
            let write = write_to_come(round, reader, spans, agent, *inst);
            write.is_some_and(|(_, write)| state.graph.order_mutually(&write, &read))
        })
    };
    let unraced = || {
        let agents = 0..state.threads.len();
        spans.iter().all(|(unit, _)| agents.clone().all(|agent| is_mutual(agent, *unit)))
    };
    turns::is_spinning(round, state, reader)
        && writers::is_unraced(round, state, reader, &read)
        && unraced()
        && repeats::repeats_with(round, state, reader.index, value, found)
}

/// The invocations that wait, and what they wait for.
pub(crate) struct Waiting {
    /// For each invocation, the units whose writes to come would release it.
    pub(crate) units: Vec<SmallVec<[Unit; 2]>>,
    /// Whether it waits for a write.
    pub(crate) reads: Vec<bool>,
    /// Whether it can continue without other invocations.
    pub(crate) is_free: Vec<bool>,
    /// Row `a` has the invocations that may release `a`.
    pub(crate) directly_released_by: Relation,
    /// Row `a` has the invocations that may release `a`, directly or through others.
    pub(crate) released_by: Relation,
    /// For each invocation, whether it is in a cycle that the axioms may allow, if that is known.
    pub(crate) in_cycle: Vec<Option<bool>>,
}

#[cfg(test)]
mod tests;
