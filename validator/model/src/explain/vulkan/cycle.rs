//! Why the axioms forbid a graph: a shadowed write, or a cycle for every scoped modification order.
//!
//! The cycles are those of the judge's own union ([`Judge::unions`]); only what each edge is called is
//! found out here. Orientations of mutually-ordered writes are assumed and refuted until one cycle remains
//! that needs no assumption, or both ways round of a pair are refuted.

use std::collections::BTreeMap;

use super::derivation::shortest_path;
use crate::consistency::Judge;
use crate::graph::{EventId, Source, Unit};
use crate::relation::Relation;

/// Why there is no execution with this graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// `read` takes its value from `write`, but `later` overwrote that in between.
    Shadowed {
        write: usize,
        later: usize,
        read: usize,
        unit: Unit,
    },
    Cycle(Vec<Edge>),
    /// Neither of two writes can come first in scoped modification order.
    BothWays {
        first: usize,
        second: usize,
        /// With `first` before `second`.
        forward: Box<Proof>,
        backward: Box<Proof>,
    },
}

/// An edge of a cycle, from the end of the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) relation: Named,
}

/// What relates two events of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// At this unit.
    LocationOrdered(Unit),
    ReadsFrom,
    FromReads(Older),
    ScopedModificationOrder(Orientation),
}

/// Why what a read takes its value from is older than a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Older {
    /// It is the initial value.
    Initial,
    /// The source is location-ordered before the write, at this unit (revision 2025).
    LocationOrdered(usize, Unit),
    /// The source comes first in scoped modification order.
    ScopedModificationOrder(usize, Orientation),
}

/// Why one write comes before another in scoped modification order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Orientation {
    /// As one of two ways that are both looked at.
    Assumed,
    /// Because the other way round closes this cycle.
    Forced(Vec<Edge>),
}

/// Orientations that may be tried before giving up.
const MAX_ATTEMPTS: usize = 2_000;

/// A shortest proof that the graph is no execution; `None` if it is one, or where the search is too long.
pub(super) fn refute(judge: &Judge) -> Option<Proof> {
    if judge.is_consistent() {
        return None;
    }
    let given = Oriented::given(judge);
    let mut refuter = Refuter::new(judge);
    match refuter.cycle(&given) {
        Some(cycle) => Some(Proof::Cycle(cycle)),
        None => refuter.shadowed().or_else(|| refuter.refute(given)),
    }
}

/// A proof that `write` is not the last one in its scoped modification order; `None` if it can be.
pub(super) fn refute_last(judge: &Judge, write: usize) -> Option<Proof> {
    let mut given = Oriented::given(judge);
    for other in 0..judge.graph.events.len() {
        if judge.graph.events[other].writes() && judge.graph.mutually_ordered(other, write) {
            given.insert(other, write, Orientation::Assumed);
        }
    }
    Refuter::new(judge).refute(given)
}

struct Refuter<'a> {
    judge: &'a Judge<'a>,
    pairs: Vec<(EventId, EventId)>,
    attempts: usize,
}

/// What is known of scoped modification order.
#[derive(Clone)]
struct Oriented {
    order: Relation,
    reasons: BTreeMap<(usize, usize), Orientation>,
}

impl Oriented {
    /// What the judge's relations rest on.
    fn given(judge: &Judge) -> Oriented {
        let mut given = Oriented { order: Relation::new(judge.graph.events.len()), reasons: BTreeMap::new() };
        if let Some(order) = &judge.relations.modification_order {
            let pairs = (0..order.len()).flat_map(|a| order.row(a).map(move |b| (a, b)));
            pairs.for_each(|(a, b)| given.insert(a, b, Orientation::Assumed));
        }
        given
    }

    fn insert(&mut self, first: usize, second: usize, reason: Orientation) {
        self.order.insert(first, second);
        self.reasons.insert((first, second), reason);
    }

    fn decides(&self, a: usize, b: usize) -> bool {
        self.order.contains(a, b) || self.order.contains(b, a)
    }

    fn with(&self, first: usize, second: usize) -> Oriented {
        let mut more = self.clone();
        more.insert(first, second, Orientation::Assumed);
        more
    }
}

impl<'a> Refuter<'a> {
    fn new(judge: &'a Judge<'a>) -> Self {
        Refuter { judge, pairs: judge.mutually_ordered_writes(), attempts: MAX_ATTEMPTS }
    }

    /// A read from a write that is not visible to it.
    fn shadowed(&self) -> Option<Proof> {
        let events = &self.judge.graph.events;
        self.judge.relations.locations.iter().find_map(|location| {
            let order = &location.location_ordered;
            location.events.iter().enumerate().find_map(|(j, read)| {
                let Some(Source::Event(write)) = events[*read as usize].source(location.unit) else {
                    return None;
                };
                let i = location.index(write as usize)?;
                let later = order
                    .row(i)
                    .find(|z| events[location.events[*z] as usize].writes() && order.contains(*z, j))?;
                Some(Proof::Shadowed {
                    write: write as usize,
                    later: location.events[later] as usize,
                    read: *read as usize,
                    unit: location.unit,
                })
            })
        })
    }

    /// Orients what is forced, until a cycle closes or two ways are left.
    fn refute(&mut self, mut known: Oriented) -> Option<Proof> {
        loop {
            if let Some(cycle) = self.cycle(&known) {
                return Some(Proof::Cycle(cycle));
            }
            if !self.orient_forced(&mut known) {
                break;
            }
        }
        if self.attempts == 0 {
            return None;
        }
        // Where the graph is no execution, both ways of any pair fail; one that is read is short.
        let is_read = |write: usize| {
            let source = Source::Event(write as EventId);
            self.judge.graph.events.iter().any(|event| event.sources.contains(&source))
        };
        let undecided = self.undecided(&known);
        let (first, second) = undecided.into_iter().find(|(a, b)| is_read(*a) || is_read(*b))?;
        let forward = Box::new(self.refute(known.with(first, second))?);
        let backward = Box::new(self.refute(known.with(second, first))?);
        Some(Proof::BothWays { first, second, forward, backward })
    }

    fn undecided(&self, known: &Oriented) -> Vec<(usize, usize)> {
        let pairs = self.pairs.iter().map(|(a, b)| (*a as usize, *b as usize));
        pairs.filter(|(a, b)| !known.decides(*a, *b)).collect()
    }

    /// Whether a pair was oriented because the other way round closes a cycle.
    fn orient_forced(&mut self, known: &mut Oriented) -> bool {
        let mut found = false;
        for (a, b) in self.undecided(known) {
            for (first, second) in [(a, b), (b, a)] {
                if self.attempts == 0 {
                    return false;
                }
                self.attempts -= 1;
                if let Some(cycle) = self.cycle(&known.with(second, first)) {
                    known.insert(first, second, Orientation::Forced(cycle));
                    found = true;
                    break;
                }
            }
        }
        found
    }

    /// A shortest cycle of the union.
    fn cycle(&self, known: &Oriented) -> Option<Vec<Edge>> {
        let unions = self.judge.unions(&known.order);
        let locations = &self.judge.relations.locations;
        let (events, at) = unions
            .iter()
            .enumerate()
            .flat_map(|(at, union)| {
                (0..union.len()).filter_map(move |start| Some((shortest_path(union, start, start)?, at)))
            })
            .min_by_key(|(cycle, _)| cycle.len())?;
        let location = locations.get(at)?;
        let mut from = location.events[*events.last()?] as usize;
        let mut edges = Vec::new();
        for to in events {
            let to = location.events[to] as usize;
            edges.push(Edge { from, to, relation: self.name(from, to, location.unit, known)? });
            from = to;
        }
        Some(edges)
    }

    /// What relates two events of the union at a unit. An edge between whole atomics may come from
    /// another unit.
    fn name(&self, a: usize, b: usize, unit: Unit, known: &Oriented) -> Option<Named> {
        let here = self.judge.relations.locations.iter().filter(|location| location.unit == unit);
        let elsewhere = self.judge.relations.locations.iter().filter(|location| location.unit != unit);
        here.chain(elsewhere).find_map(|location| {
            let (i, j) = (location.index(a)?, location.index(b)?);
            let (x, y) = (&self.judge.graph.events[a], &self.judge.graph.events[b]);
            if y.source(location.unit) == Some(Source::Event(a as EventId)) {
                return Some(Named::ReadsFrom);
            }
            if location.location_ordered.contains(i, j) {
                return Some(Named::LocationOrdered(location.unit));
            }
            if let Some(reason) = known.reasons.get(&(a, b)) {
                return Some(Named::ScopedModificationOrder(reason.clone()));
            }
            if !y.writes() {
                return None;
            }
            let sources = std::iter::once(x.source(location.unit)?).chain(x.sources.iter().copied());
            sources.into_iter().find_map(|source| self.older(source, b, location.unit, known))
        })
    }

    fn older(&self, source: Source, later: usize, unit: Unit, known: &Oriented) -> Option<Named> {
        match source {
            Source::Initial => Some(Named::FromReads(Older::Initial)),
            Source::Pending => None,
            Source::Event(write) => {
                let write = write as usize;
                if let Some(reason) = known.reasons.get(&(write, later)) {
                    let older = Older::ScopedModificationOrder(write, reason.clone());
                    return Some(Named::FromReads(older));
                }
                let location =
                    self.judge.relations.locations.iter().find(|location| location.unit == unit)?;
                let (i, j) = (location.index(write)?, location.index(later)?);
                let ordered = location.location_ordered.contains(i, j);
                ordered.then_some(Named::FromReads(Older::LocationOrdered(write, unit)))
            }
        }
    }
}
