//! Release sequences ("Release Sequence" of the Vulkan memory model).
//!
//! The sequence headed by X goes as far in X's scoped modification order as there are only
//! read-modify-writes. Where all writes that are mutually ordered with a read-modify-write are so
//! with each other, and it reads from one of them, then that one comes right before it (anything in
//! between would be a from-reads cycle): sequences can be followed through reads-from, whatever the
//! order is. Elsewhere ([`depend_on_order`]) they must be looked up in a given order.

use std::sync::Arc;

use smallvec::SmallVec;

use super::graph::{Event, EventId, Graph, Kind, Source};
use super::relation::Relation;

/// How release sequences are told.
#[derive(Clone, Copy, Debug)]
pub enum Sequences<'a> {
    /// Through the reads-from edges of their members.
    ReadsFrom,
    /// Only as far as no write that the graph does not hold yet can break them.
    Certain,
    /// As an orientation of all pairs of mutually-ordered writes gives them.
    Ordered(&'a Relation),
}

impl<'a> Sequences<'a> {
    /// Those that relations rest on.
    pub fn of(modification_order: Option<&'a Relation>) -> Self {
        modification_order.map_or(Sequences::ReadsFrom, Sequences::Ordered)
    }
}

/// The atomic writes that head a release sequence (a hypothetical one where the head is not a
/// release) with `member` in it, `member` itself first.
pub(super) fn heads(graph: &Graph, member: EventId, sequences: Sequences) -> SmallVec<[EventId; 4]> {
    let mut heads = SmallVec::new();
    let event = &graph.events[member as usize];
    if !event.atomic {
        return heads;
    }
    heads.push(member);
    if event.kind != Kind::Update {
        return heads;
    }
    match sequences {
        Sequences::ReadsFrom => follow_reads(graph, usize::MAX, &mut heads),
        // Between a write and the read-modify-write that reads it, there is never another.
        Sequences::Certain => follow_reads(graph, 1, &mut heads),
        Sequences::Ordered(order) => heads.extend(heads_in_order(graph, member, order)),
    }
    heads
}

/// Adds the heads that reads-from leads to in so many steps.
fn follow_reads(graph: &Graph, steps: usize, heads: &mut SmallVec<[EventId; 4]>) {
    let Some(member) = heads.last().copied() else { return };
    let mut current = member;
    for _ in 0..steps {
        let event = &graph.events[current as usize];
        let Some(Source::Event(previous)) = event.sources.first().copied() else { break };
        let mutually_ordered = graph.mutually_ordered(previous as usize, current as usize);
        // A speculated read may close the chain into a circle.
        if event.kind != Kind::Update || !mutually_ordered || heads.contains(&previous) {
            break;
        }
        heads.push(previous);
        current = previous;
    }
    heads.retain(|head| *head == member || graph.mutually_ordered(*head as usize, member as usize));
}

/// The writes whose scoped modification order has `member` after them, and nothing but
/// read-modify-writes in between.
fn heads_in_order(graph: &Graph, member: EventId, order: &Relation) -> SmallVec<[EventId; 4]> {
    let is_head = |head: &usize| {
        if !order.contains(*head, member as usize) {
            return false;
        }
        // What follows the head without a gap: a write breaks it, and so does what comes after a break.
        let mut breaks: SmallVec<[usize; 8]> =
            order.row(*head).filter(|later| graph.events[*later].kind != Kind::Update).collect();
        let mut next = 0;
        while let Some(cut) = breaks.get(next).copied() {
            next += 1;
            for later in order.row(cut).filter(|later| order.contains(*head, *later)) {
                if !breaks.contains(&later) {
                    breaks.push(later);
                }
            }
        }
        !breaks.contains(&(member as usize))
    };
    (0..graph.events.len()).filter(is_head).map(|head| head as EventId).collect()
}

/// Whether release sequences, and so all that is derived from them, depend on scoped modification
/// order: a read-modify-write reads a write that is not mutually ordered with it, or is mutually
/// ordered with two writes that are not so with each other.
pub fn depend_on_order(graph: &Graph) -> bool {
    let updates = || (0..graph.events.len()).filter(|id| graph.events[*id].kind == Kind::Update);
    if updates().next().is_none() {
        return false;
    }
    let reads_others = updates().any(|update| reads_others(graph, update));
    // Among operations of one scope, being mutually ordered is transitive.
    reads_others || scopes_differ(graph) && updates().any(|update| has_odd_pair(graph, update))
}

/// Whether a read-modify-write reads a write that is not mutually ordered with it.
fn reads_others(graph: &Graph, update: usize) -> bool {
    graph.events[update].sources.iter().any(|source| match source {
        Source::Event(write) => !graph.mutually_ordered(*write as usize, update),
        Source::Initial | Source::Pending => false,
    })
}

/// Whether release sequences depend on scoped modification order only in this: read-modify-writes, of which none is read
/// yet, read writes that are not atomic. These are in no release sequence, so that nothing synchronizes with such a read,
/// and a read-modify-write breaks the sequences of others in no order.
pub fn depend_on_plain_sources(graph: &Graph) -> bool {
    let is_odd = |update: &usize| graph.events[*update].kind == Kind::Update && reads_others(graph, *update);
    let mut odd = (0..graph.events.len()).filter(is_odd).peekable();
    odd.peek().is_some()
        && !scopes_differ(graph)
        && odd.all(|update| {
            let is_read =
                graph.events.iter().any(|event| event.sources.contains(&Source::Event(update as EventId)));
            let is_plain = |source: &Source| match source {
                Source::Event(write) => !graph.events[*write as usize].atomic,
                Source::Initial | Source::Pending => true,
            };
            !is_read && graph.events[update].sources.iter().all(is_plain)
        })
}

fn atomic_writes(graph: &Graph) -> impl Iterator<Item = (usize, &Event)> {
    let events = graph.events.iter().map(Arc::as_ref).enumerate();
    events.filter(|(_, event)| event.atomic && event.writes())
}

fn scopes_differ(graph: &Graph) -> bool {
    let mut scopes = atomic_writes(graph).map(|(_, event)| event.scope);
    let first = scopes.next();
    scopes.any(|scope| Some(scope) != first)
}

/// Whether two writes that are mutually ordered with `update` are not so with each other.
fn has_odd_pair(graph: &Graph, update: usize) -> bool {
    let others: SmallVec<[usize; 16]> =
        atomic_writes(graph).map(|(id, _)| id).filter(|id| graph.mutually_ordered(*id, update)).collect();
    others
        .iter()
        .enumerate()
        .any(|(index, a)| others[index + 1..].iter().any(|b| !graph.mutually_ordered(*a, *b)))
}

/// The pairs of mutually-ordered writes that release sequences depend on: those of locations with a
/// read-modify-write.
pub(super) fn pairs(graph: &Graph) -> Vec<(EventId, EventId)> {
    let mut pairs = Vec::new();
    for (a, x) in atomic_writes(graph) {
        let is_updated = atomic_writes(graph).any(|(_, other)| {
            other.kind == Kind::Update && other.units == x.units && other.reference == x.reference
        });
        if !is_updated {
            continue;
        }
        let later = atomic_writes(graph).map(|(b, _)| b).filter(|b| *b > a && graph.mutually_ordered(a, *b));
        pairs.extend(later.map(|b| (a as EventId, b as EventId)));
    }
    pairs
}

/// Number of pairs of a release operation and a member of the release sequence that it heads, itself
/// included.
pub fn count_members(graph: &Graph, sequences: Sequences) -> usize {
    let is_release = |head: &EventId| graph.events[*head as usize].releases();
    let writes = (0..graph.events.len() as EventId).filter(|id| graph.events[*id as usize].writes());
    writes.map(|member| heads(graph, member, sequences).iter().filter(|head| is_release(head)).count()).sum()
}
