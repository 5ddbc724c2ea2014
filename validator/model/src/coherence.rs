//! The acyclicity axiom at one location of a graph that grows at its end.
//!
//! Keeps the transitive closure of location-ordered, reads-from, from-reads and what is forced of scoped
//! modification order; [`Judge`](super::consistency::Judge) says the same of a whole graph. A new access has
//! edges to earlier ones only by from-reads and scoped modification order, so each costs a few rows of bits.

use smallvec::SmallVec;

use super::graph::{EventId, Graph, Kind, Source, Unit};
use super::relation::Relation;
use super::vulkan::Revision;

/// The accesses of one unit.
#[derive(Clone, Debug)]
pub(super) struct Coherence {
    pub(super) unit: Unit,
    /// Ascending. Relations are over indices into this list.
    pub(super) events: SmallVec<[EventId; 12]>,
    members: SmallVec<[Member; 12]>,
    pub(super) location_ordered: Relation,
    /// What must be acyclic, transitively.
    union: Relation,
    /// The forced part of scoped modification order.
    order: Relation,
    /// Mutually-ordered writes, both ways.
    mutual: Relation,
    acyclic: bool,
    /// The undecided pairs of scoped modification order have an orientation, too.
    oriented: bool,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    writes: bool,
    source: From,
}

/// Where a member takes the value of the unit from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Nowhere,
    Initial,
    Member(usize),
}

impl Coherence {
    pub(super) fn new(unit: Unit) -> Self {
        Coherence {
            unit,
            events: SmallVec::new(),
            members: SmallVec::new(),
            location_ordered: Relation::default(),
            union: Relation::default(),
            order: Relation::default(),
            mutual: Relation::default(),
            acyclic: true,
            oriented: true,
        }
    }

    /// Whether some scoped modification order satisfies the axioms.
    pub(super) fn is_consistent(&mut self) -> bool {
        if self.acyclic && !self.oriented {
            self.oriented = self.is_orientable();
            self.acyclic = self.oriented;
        }
        self.acyclic
    }

    /// Whether [`Coherence::is_consistent`] has nothing left to find out.
    pub(super) fn is_settled(&self) -> bool {
        self.acyclic && self.oriented
    }

    /// Whether a new access with `own` accesses (by index) location-ordered before it may read from `source`, as
    /// far as these tell.
    pub(super) fn admits(&self, own: &[usize], source: Source, revision: Revision) -> bool {
        let write = match self.index_of(source) {
            From::Nowhere => return true,
            From::Initial => None,
            From::Member(write) => Some(write),
        };
        let follows = |first: usize, second: usize| first == second || self.union.contains(first, second);
        // What the read would be before, and what it would be after.
        let is_later = |z: usize| match write {
            None => self.members[z].writes,
            Some(write) => {
                let later = self.location_ordered.contains(write, z) && self.members[z].writes;
                later && (revision.from_reads_by_location_order() || own.contains(&z))
                    || self.order.contains(write, z)
            }
        };
        let mut later = (0..self.members.len()).filter(|z| is_later(*z));
        !later.any(|z| own.iter().chain(&write).any(|earlier| follows(z, *earlier)))
    }

    /// The accesses that take their value from `source`.
    pub(super) fn readers_of(&self, source: Source) -> impl Iterator<Item = EventId> + '_ {
        let source = self.index_of(source);
        let members = self.members.iter().zip(&self.events);
        let reads = move |member: &Member| source != From::Nowhere && member.source == source;
        members.filter(move |(member, _)| reads(member)).map(|(_, event)| *event)
    }

    fn index_of(&self, source: Source) -> From {
        match source {
            Source::Initial => From::Initial,
            Source::Event(write) => self.events.binary_search(&write).map_or(From::Nowhere, From::Member),
            Source::Pending => From::Nowhere,
        }
    }

    /// Adds the next access, with the indices of those that are location-ordered before it.
    pub(super) fn push(&mut self, graph: &Graph, id: EventId, before: &[usize], revision: Revision) {
        let event = &graph.events[id as usize];
        let new = self.events.len();
        for relation in [&mut self.location_ordered, &mut self.union, &mut self.order, &mut self.mutual] {
            relation.grow(new + 1);
        }
        let source = event.reads().then(|| event.source(self.unit)).flatten();
        let source = source.map_or(From::Nowhere, |source| self.index_of(source));
        self.events.push(id);
        self.members.push(Member { writes: event.writes(), source });
        self.oriented = false;
        let mut edges: SmallVec<[(usize, usize); 16]> = SmallVec::new();
        // The latest first: most of the others are before it.
        for earlier in before.iter().rev() {
            self.location_ordered.insert(*earlier, new);
            edges.push((*earlier, new));
        }
        match source {
            From::Nowhere => {}
            From::Initial => {
                edges.extend(self.writes().filter(|write| *write != new).map(|write| (new, write)))
            }
            From::Member(write) => {
                // Visible-to: nothing is location-ordered in between.
                let shadows = |z: usize| self.members[z].writes && self.location_ordered.contains(z, new);
                self.acyclic &= !self.location_ordered.row(write).any(shadows);
                edges.push((write, new));
                if revision.from_reads_by_location_order() {
                    let later = self.location_ordered.row(write).filter(|z| self.members[*z].writes);
                    edges.extend(later.filter(|z| *z != new).map(|z| (new, z)));
                }
                edges.extend(self.order.row(write).filter(|z| *z != new).map(|z| (new, z)));
            }
        }
        if event.writes() {
            let is_initial = |read: &usize| self.members[*read].source == From::Initial && *read != new;
            edges.extend((0..new).filter(is_initial).map(|read| (read, new)));
            if revision.from_reads_by_location_order() {
                for write in before.iter().filter(|write| self.members[**write].writes) {
                    edges.extend(self.readers(*write).filter(|read| *read != new).map(|read| (read, new)));
                }
            }
            for (index, other) in self.events[..new].iter().enumerate() {
                if self.members[index].writes && graph.mutually_ordered(*other as usize, id as usize) {
                    self.mutual.insert(index, new);
                    self.mutual.insert(new, index);
                }
            }
        }
        self.acyclic = self.acyclic && self.insert_all(&edges);
        if self.acyclic {
            let is_last = edges.iter().all(|(first, _)| *first != new);
            self.acyclic = is_last && self.force_last(new) || self.force();
        }
    }

    /// What must come after an access.
    pub(super) fn after(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        self.union.row(index)
    }

    /// The writes that are ordered after a write.
    pub(super) fn writes_after(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let is_after = move |other: &usize| {
            self.order.contains(index, *other)
                || self.members[*other].writes && self.location_ordered.contains(index, *other)
        };
        self.union.row(index).filter(is_after)
    }

    /// How two accesses are ordered, a bit for each of what must be acyclic, scoped modification order and
    /// location-ordered.
    pub(super) fn how_ordered(&self, a: usize, b: usize) -> u8 {
        let relations = [&self.union, &self.order, &self.location_ordered];
        relations.iter().fold(0, |bits, relation| bits << 1 | u8::from(relation.contains(a, b)))
    }

    /// Whether a read-modify-write that is mutually ordered with a write has read it.
    pub(super) fn is_consumed(&self, graph: &Graph, write: usize) -> bool {
        self.readers(write).any(|read| {
            graph.events[self.events[read] as usize].kind == Kind::Update && self.mutual.contains(write, read)
        })
    }

    /// Number of writes that must come before an access, and of those that must come after it.
    pub(super) fn rank(&self, index: usize) -> (usize, usize) {
        let before = self.writes().filter(|write| self.union.contains(*write, index)).count();
        (before, self.union.row(index).filter(|other| self.members[*other].writes).count())
    }

    /// Whether some access writes.
    pub(super) fn is_written(&self) -> bool {
        self.members.iter().any(|member| member.writes)
    }

    /// Whether any two writes are ordered.
    pub(super) fn writes_are_ordered(&self) -> bool {
        let ordered = |a: usize, b: usize| self.union.contains(a, b) || self.union.contains(b, a);
        self.writes().all(|a| self.writes().take_while(|b| *b < a).all(|b| ordered(a, b)))
    }

    fn writes(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().enumerate().filter(|(_, member)| member.writes).map(|(index, _)| index)
    }

    /// The reads that take their value from a write.
    fn readers(&self, write: usize) -> impl Iterator<Item = usize> + '_ {
        let members = self.members.iter().enumerate();
        members.filter(move |(_, member)| member.source == From::Member(write)).map(|(index, _)| index)
    }

    /// Adds edges to the union; false where one closes a cycle.
    fn insert_all(&mut self, edges: &[(usize, usize)]) -> bool {
        edges.iter().all(|(a, b)| self.insert(*a, *b))
    }

    fn insert(&mut self, a: usize, b: usize) -> bool {
        if a == b || self.union.contains(b, a) {
            return false;
        }
        if self.union.contains(a, b) {
            return true;
        }
        for earlier in 0..self.members.len() {
            if earlier == a || self.union.contains(earlier, a) {
                self.union.unite_row(earlier, b);
                self.union.insert(earlier, b);
            }
        }
        true
    }

    /// Orients a pair, with the from-reads edges that follow; false where that closes a cycle.
    fn orient(&mut self, first: usize, second: usize) -> bool {
        self.order.insert(first, second);
        let readers: SmallVec<[usize; 8]> = self.readers(first).filter(|read| *read != second).collect();
        self.insert(first, second) && readers.iter().all(|read| self.insert(*read, second))
    }

    /// The same as [`Coherence::force`] where only a new access that reaches nothing has come since. False where
    /// there is more to do.
    fn force_last(&mut self, new: usize) -> bool {
        let mut again = true;
        while again {
            again = false;
            for write in 0..new {
                if self.mutual.contains(write, new) && self.union.contains(write, new) {
                    self.order.insert(write, new);
                }
            }
            for read in 0..new {
                let From::Member(write) = self.members[read].source else { continue };
                if self.order.contains(write, new) && !self.union.contains(read, new) {
                    // Closes no cycle, since nothing comes after the new one.
                    self.insert(read, new);
                    again = true;
                }
            }
        }
        let From::Member(source) = self.members[new].source else { return true };
        // What reaches a read is before its source.
        let reaches =
            |write: &usize| self.union.contains(*write, new) && !self.order.contains(*write, source);
        !self.mutual.row(source).filter(|write| *write != new).any(|write| reaches(&write))
    }

    /// Orients the pairs whose other orientation would close a cycle. False where there is a cycle.
    fn force(&mut self) -> bool {
        let mut again = true;
        while again {
            again = false;
            for first in 0..self.members.len() {
                if self.mutual.words(first).iter().all(|word| *word == 0) {
                    continue;
                }
                // Those that it reaches, or a reader of which it reaches.
                let reached = self.union.row(first).filter(|other| *other != first).flat_map(|other| {
                    let read = match self.members[other].source {
                        From::Member(write) => Some(write),
                        From::Initial | From::Nowhere => None,
                    };
                    std::iter::once(other).chain(read)
                });
                let forced: SmallVec<[usize; 16]> = reached
                    .filter(|other| {
                        self.mutual.contains(first, *other) && !self.order.contains(first, *other)
                    })
                    .collect();
                for second in forced {
                    if !self.order.contains(first, second) {
                        again = true;
                        if !self.orient(first, second) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// Whether the pairs that are not forced, and that a read observes, have an orientation.
    fn is_orientable(&self) -> bool {
        let is_read = |write: usize| self.readers(write).next().is_some();
        let is_open = |a: usize, b: usize| !self.order.contains(a, b) && !self.order.contains(b, a);
        // Most pairs are ordered as they came: a word of these at a time.
        let mut pairs = (0..self.members.len())
            .flat_map(|a| self.mutual.later_without(a, &self.order).map(move |b| (a, b)));
        let Some((a, b)) = pairs.find(|(a, b)| is_open(*a, *b) && (is_read(*a) || is_read(*b))) else {
            return true;
        };
        [(a, b), (b, a)].into_iter().any(|(first, second)| {
            let mut attempt = self.clone();
            attempt.orient(first, second) && attempt.force() && attempt.is_orientable()
        })
    }

    /// The writes, by index, that a host read after the dispatch may see.
    pub(super) fn last_writes(&self) -> impl Iterator<Item = usize> + '_ {
        self.writes().filter(|write| self.can_be_last(*write))
    }

    fn can_be_last(&self, last: usize) -> bool {
        let overwritten = self.location_ordered.row(last).any(|later| self.members[later].writes);
        if overwritten || self.mutual.row(last).any(|other| self.order.contains(last, other)) {
            return false;
        }
        let reads_it = |other: usize| {
            let Member { writes, source } = self.members[other];
            !writes && source == From::Member(last)
        };
        if self.is_settled() && self.union.row(last).all(reads_it) {
            // Nothing follows it but what any order has behind it: to put the others before it closes no cycle.
            return true;
        }
        let open: SmallVec<[usize; 16]> =
            self.mutual.row(last).filter(|other| !self.order.contains(*other, last)).collect();
        if open.is_empty() {
            return true;
        }
        let mut attempt = self.clone();
        open.iter().all(|other| attempt.orient(*other, last)) && attempt.force() && attempt.is_orientable()
    }
}
