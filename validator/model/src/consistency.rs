//! Which graphs are executions: the acyclicity axiom, the visibility of plain reads, data races,
//! and the final values that a host read may see.
//!
//! Implements "Acyclicity", "Visible-To" and "Data Race" of the Vulkan memory model, per memory
//! unit. Scoped modification order is an orientation of the mutually-ordered pairs of atomic
//! writes; it is not enumerated: a graph is consistent if some orientation makes the union of
//! location-ordered, scoped modification order, reads-from and from-reads acyclic. Only where release
//! sequences depend on it, every orientation has relations of its own ([`executions`]). Edges between
//! mutually-ordered atomics hold for all their units, since atomics do not tear.

use smallvec::SmallVec;

use super::graph::{EventId, Graph, Source, Unit};
use super::relation::Relation;
use super::release_sequence::{self, Sequences};
use super::vulkan::{self, Location, Relations, Variant};

pub use super::memory_model::{DataRace, FinalValues, LastWrites};

/// Judges one graph with its relations.
pub struct Judge<'a> {
    /// The graph that is judged.
    pub graph: &'a Graph,
    /// What the model derives from it ([`vulkan::relations`]).
    pub relations: &'a Relations,
    /// The variant of the model that the relations were derived with.
    pub variant: Variant,
}

/// Orientations that [`executions`] looks at, at most.
const MAX_ORIENTATIONS: usize = 10_000;

/// The relations of a complete graph, one for every orientation that makes it an execution and that
/// they depend on: one where they don't, none where the graph is no execution. `None` where there
/// are too many.
pub fn executions(graph: &Graph, variant: Variant) -> Option<Vec<Relations>> {
    let mut executions = candidates(graph, variant)?;
    executions.retain(|relations| Judge { graph, relations, variant }.is_consistent());
    Some(executions)
}

/// The relations of a complete graph, one for every orientation that they depend on, whether or not it
/// makes the graph an execution. `None` where there are too many.
pub fn candidates(graph: &Graph, variant: Variant) -> Option<Vec<Relations>> {
    if !release_sequence::depend_on_order(graph) {
        return Some(vec![vulkan::relations(graph, variant)]);
    }
    let certain = vulkan::relations_with(graph, variant, Sequences::Certain);
    let orientations = Judge { graph, relations: &certain, variant }.orientations()?;
    let relations = |order| vulkan::relations_with(graph, variant, Sequences::Ordered(order));
    Some(orientations.iter().map(relations).collect())
}

impl Judge<'_> {
    /// Whether some scoped modification order satisfies the axioms.
    pub fn is_consistent(&self) -> bool {
        let all: Vec<&Location> = self.relations.locations.iter().collect();
        all.iter().all(|location| self.reads_are_visible(location))
            && self.is_acyclic(&all, self.given_order())
    }

    /// What is given of scoped modification order.
    fn given_order(&self) -> Relation {
        let given = self.relations.modification_order.clone();
        given.unwrap_or_else(|| Relation::new(self.graph.events.len()))
    }

    /// No read takes its value from a write that is shadowed ("visible-to"): location-ordered before
    /// another write that is location-ordered before the read. (With from-reads of revision 2025
    /// that is a cycle already; and a read of the initial value from-reads every write.)
    fn reads_are_visible(&self, location: &Location) -> bool {
        location.events.iter().enumerate().all(|(j, read)| {
            let read = &self.graph.events[*read as usize];
            if !read.reads() {
                return true;
            }
            let Some(Source::Event(write)) = read.source(location.unit) else { return true };
            let Some(i) = position(location, write) else { return true };
            let order = &location.location_ordered;
            let shadows =
                |z: usize| self.graph.events[location.events[z] as usize].writes() && order.contains(z, j);
            !order.row(i).any(shadows)
        })
    }

    /// Whether the given orientation extends to one that is acyclic in every location.
    fn is_acyclic(&self, locations: &[&Location], mut order: Relation) -> bool {
        let mut bases: Vec<Relation> = locations.iter().map(|location| self.base(location)).collect();
        self.join_whole_atomics(locations, &mut bases);
        let pairs = self.undecided_pairs(locations);
        self.orient(locations, &bases, &pairs, &mut order)
    }

    /// Per location, the union that must be acyclic, with an orientation of mutually-ordered writes.
    pub fn unions(&self, order: &Relation) -> Vec<Relation> {
        let locations: Vec<&Location> = self.relations.locations.iter().collect();
        let mut unions: Vec<Relation> = locations.iter().map(|location| self.base(location)).collect();
        self.join_whole_atomics(&locations, &mut unions);
        for (location, union) in locations.iter().zip(&mut unions) {
            self.add_order(location, order, union);
        }
        unions
    }

    /// Mutually-ordered pairs of atomic writes: what scoped modification order orients.
    pub fn mutually_ordered_writes(&self) -> Vec<(EventId, EventId)> {
        self.undecided_pairs(&self.relations.locations.iter().collect::<Vec<_>>())
    }

    /// The part of the union that needs no scoped modification order.
    fn base(&self, location: &Location) -> Relation {
        let events = &self.graph.events;
        let mut union = location.location_ordered.clone();
        for (j, read) in location.events.iter().enumerate() {
            let event = &events[*read as usize];
            if !event.reads() {
                continue;
            }
            match event.source(location.unit) {
                Some(Source::Event(write)) => {
                    let Some(i) = position(location, write) else { continue };
                    union.insert(i, j);
                    if self.variant.revision.from_reads_by_location_order() {
                        for later in location.location_ordered.row(i) {
                            if later != j && events[location.events[later] as usize].writes() {
                                union.insert(j, later);
                            }
                        }
                    }
                }
                Some(Source::Initial) => {
                    for (other, write) in location.events.iter().enumerate() {
                        if other != j && events[*write as usize].writes() {
                            union.insert(j, other);
                        }
                    }
                }
                Some(Source::Pending) | None => {}
            }
        }
        union
    }

    /// An atomic access does not tear: edges between mutually-ordered atomics of several units hold at
    /// all of these.
    fn join_whole_atomics(&self, locations: &[&Location], bases: &mut [Relation]) {
        let is_wide = |event: EventId| {
            let event = &self.graph.events[event as usize];
            event.atomic && event.units.len() > 1
        };
        let mut whole: Vec<(EventId, EventId)> = Vec::new();
        for (location, base) in locations.iter().zip(bases.iter()) {
            for (i, a) in location.events.iter().enumerate().filter(|(_, event)| is_wide(**event)) {
                let others = base.row(i).map(|j| location.events[j]);
                let joined = |b: &EventId| self.graph.mutually_ordered(*a as usize, *b as usize);
                whole.extend(others.filter(joined).map(|b| (*a, b)));
            }
        }
        for (location, base) in locations.iter().zip(bases) {
            for (a, b) in &whole {
                if let (Some(i), Some(j)) = (position(location, *a), position(location, *b)) {
                    base.insert(i, j);
                }
            }
        }
    }

    /// Mutually-ordered pairs of atomic writes in these locations.
    fn undecided_pairs(&self, locations: &[&Location]) -> Vec<(EventId, EventId)> {
        let mut pairs = Vec::new();
        for location in locations {
            for (i, a) in location.events.iter().enumerate() {
                let x = &self.graph.events[*a as usize];
                if !x.atomic || !x.writes() || x.units.first() != Some(&location.unit) {
                    continue;
                }
                for b in &location.events[i + 1..] {
                    if self.graph.events[*b as usize].writes()
                        && self.graph.mutually_ordered(*a as usize, *b as usize)
                    {
                        pairs.push((*a, *b));
                    }
                }
            }
        }
        pairs
    }

    /// Orients what is forced, then tries both ways for a pair that a read observes.
    fn orient(
        &self,
        locations: &[&Location],
        bases: &[Relation],
        pairs: &[(EventId, EventId)],
        order: &mut Relation,
    ) -> bool {
        if !self.orient_forced(locations, bases, pairs, order) {
            return false;
        }
        let open =
            pairs.iter().find(|(a, b)| !is_decided(order, *a, *b) && (self.is_read(*a) || self.is_read(*b)));
        let Some((a, b)) = open.copied() else { return true };
        for (first, second) in [(a, b), (b, a)] {
            let mut attempt = order.clone();
            attempt.insert(first as usize, second as usize);
            if self.orient(locations, bases, pairs, &mut attempt) {
                *order = attempt;
                return true;
            }
        }
        false
    }

    /// Orients what is forced. False where there is a cycle.
    fn orient_forced(
        &self,
        locations: &[&Location],
        bases: &[Relation],
        pairs: &[(EventId, EventId)],
        order: &mut Relation,
    ) -> bool {
        loop {
            let mut forced = Vec::new();
            for (location, base) in locations.iter().zip(bases) {
                let mut union = base.clone();
                self.add_order(location, order, &mut union);
                union.close();
                if union.is_reflexive_somewhere() {
                    return false;
                }
                self.find_forced(location, &union, pairs, order, &mut forced);
            }
            if forced.is_empty() {
                return true;
            }
            for (a, b) in forced {
                if order.contains(b as usize, a as usize) {
                    return false;
                }
                order.insert(a as usize, b as usize);
            }
        }
    }

    /// All orientations of the pairs that release sequences depend on, as far as they are acyclic with
    /// these relations. `None` where there are too many.
    fn orientations(&self) -> Option<Vec<Relation>> {
        let locations: Vec<&Location> = self.relations.locations.iter().collect();
        let mut bases: Vec<Relation> = locations.iter().map(|location| self.base(location)).collect();
        self.join_whole_atomics(&locations, &mut bases);
        let pairs = release_sequence::pairs(self.graph);
        let mut found = Vec::new();
        let mut open = vec![self.given_order()];
        while let Some(mut order) = open.pop() {
            if !self.orient_forced(&locations, &bases, &pairs, &mut order) {
                continue;
            }
            match pairs.iter().find(|(a, b)| !is_decided(&order, *a, *b)) {
                Some((a, b)) => {
                    let mut other = order.clone();
                    order.insert(*a as usize, *b as usize);
                    other.insert(*b as usize, *a as usize);
                    open.extend([order, other]);
                }
                None => found.push(order),
            }
            if found.len() > MAX_ORIENTATIONS {
                return None;
            }
        }
        Some(found)
    }

    /// Scoped modification order and the from-reads edges that follow from it.
    fn add_order(&self, location: &Location, order: &Relation, union: &mut Relation) {
        for (i, a) in location.events.iter().enumerate() {
            if order.words(*a as usize).iter().all(|word| *word == 0) {
                continue;
            }
            let readers = self.readers(location, *a);
            for (j, b) in location.events.iter().enumerate() {
                if i == j || !order.contains(*a as usize, *b as usize) {
                    continue;
                }
                union.insert(i, j);
                for (r, here) in &readers {
                    let read = location.events[*r];
                    if *r != j && (*here || self.graph.mutually_ordered(read as usize, *b as usize)) {
                        union.insert(*r, j);
                    }
                }
            }
        }
    }

    /// The reads that take a value from a write: at this unit (true), or an atomic read of several
    /// units at another one (false).
    fn readers(&self, location: &Location, write: EventId) -> Vec<(usize, bool)> {
        let reads = location.events.iter().enumerate().filter_map(|(r, read)| {
            let event = &self.graph.events[*read as usize];
            let here = event.source(location.unit) == Some(Source::Event(write));
            (event.sources.contains(&Source::Event(write)) && (here || event.atomic)).then_some((r, here))
        });
        reads.collect()
    }

    /// Pairs whose other orientation would close a cycle.
    fn find_forced(
        &self,
        location: &Location,
        closure: &Relation,
        pairs: &[(EventId, EventId)],
        order: &Relation,
        forced: &mut Vec<(EventId, EventId)>,
    ) {
        for (a, b) in pairs {
            if is_decided(order, *a, *b) {
                continue;
            }
            let (Some(i), Some(j)) = (position(location, *a), position(location, *b)) else { continue };
            if self.must_precede(location, closure, i, j) {
                forced.push((*a, *b));
            } else if self.must_precede(location, closure, j, i) {
                forced.push((*b, *a));
            }
        }
    }

    /// Write `i` reaches `j`, or reaches a reader of `j` (which would from-read `i`).
    fn must_precede(&self, location: &Location, closure: &Relation, i: usize, j: usize) -> bool {
        closure.contains(i, j)
            || closure.row(i).any(|r| {
                let event = &self.graph.events[location.events[r] as usize];
                r != i
                    && event.reads()
                    && event.source(location.unit) == Some(Source::Event(location.events[j]))
            })
    }

    fn is_read(&self, write: EventId) -> bool {
        self.graph.events.iter().any(|event| event.sources.contains(&Source::Event(write)))
    }

    /// All data races, ascending.
    pub fn data_races(&self) -> Vec<DataRace> {
        let mut races = Vec::new();
        for location in &self.relations.locations {
            for (i, a) in location.events.iter().enumerate() {
                for (j, b) in location.events.iter().enumerate().skip(i + 1) {
                    let one_writes =
                        self.graph.events[*a as usize].writes() || self.graph.events[*b as usize].writes();
                    if one_writes
                        && !location.location_ordered.contains(i, j)
                        && !location.location_ordered.contains(j, i)
                        && !self.graph.mutually_ordered(*a as usize, *b as usize)
                    {
                        races.push(DataRace { first: *a, second: *b, unit: location.unit });
                    }
                }
            }
        }
        races.sort_unstable();
        races
    }

    /// What a host read after the dispatch may see: a read that every access of the dispatch is
    /// location-ordered before (device domain), so it reads a write that nothing follows in
    /// location order or scoped modification order. Units that nobody observes are left out, or (with
    /// observed ones in a cluster) not told apart.
    pub fn final_values(&self, observed: &dyn Fn(Unit) -> bool) -> Vec<FinalValues> {
        self.clusters()
            .iter()
            .filter(|cluster| cluster.iter().any(|location| observed(location.unit)))
            .map(|cluster| self.final_values_of(cluster, observed))
            .collect()
    }

    /// Written locations, grouped where an atomic write spans several.
    fn clusters(&self) -> Vec<Vec<&Location>> {
        let mut clusters: Vec<Vec<&Location>> = Vec::new();
        for location in &self.relations.locations {
            let writes =
                || location.events.iter().filter(|event| self.graph.events[**event as usize].writes());
            if writes().next().is_none() {
                continue;
            }
            let joins = clusters.last().is_some_and(|cluster| {
                writes().any(|write| {
                    let event = &self.graph.events[*write as usize];
                    event.atomic && cluster.iter().any(|other| event.units.contains(&other.unit))
                })
            });
            match clusters.last_mut() {
                Some(cluster) if joins => cluster.push(location),
                _ => clusters.push(vec![location]),
            }
        }
        clusters
    }

    fn final_values_of(&self, cluster: &[&Location], observed: &dyn Fn(Unit) -> bool) -> FinalValues {
        let mut found = FinalValues {
            units: cluster.iter().map(|location| location.unit).collect(),
            last_writes: SmallVec::new(),
        };
        let mut values = Vec::new();
        let mut chosen = LastWrites::new();
        self.choose_last_writes(cluster, observed, &mut chosen, &mut values, &mut found);
        found
    }

    fn choose_last_writes(
        &self,
        cluster: &[&Location],
        observed: &dyn Fn(Unit) -> bool,
        chosen: &mut LastWrites,
        values: &mut Vec<Vec<super::graph::UnitBytes>>,
        found: &mut FinalValues,
    ) {
        let Some(location) = cluster.get(chosen.len()) else {
            let left: Vec<_> = chosen
                .iter()
                .zip(cluster)
                .filter(|(_, at)| observed(at.unit))
                .filter_map(|(write, at)| self.graph.events[*write as usize].written_to(at.unit).cloned())
                .collect();
            if !values.contains(&left) && self.can_be_last(cluster, chosen) {
                values.push(left);
                found.last_writes.push(chosen.clone());
            }
            return;
        };
        for (i, write) in location.events.iter().enumerate() {
            let is_write = |event: EventId| self.graph.events[event as usize].writes();
            let overwritten =
                || location.location_ordered.row(i).any(|later| is_write(location.events[later]));
            if is_write(*write) && !overwritten() {
                chosen.push(*write);
                self.choose_last_writes(cluster, observed, chosen, values, found);
                chosen.pop();
            }
        }
    }

    /// Whether these writes can be last in scoped modification order.
    fn can_be_last(&self, cluster: &[&Location], chosen: &[EventId]) -> bool {
        let mut order = self.given_order();
        let mut constrained = false;
        for (location, last) in cluster.iter().zip(chosen) {
            for other in &location.events {
                if self.graph.events[*other as usize].writes()
                    && self.graph.mutually_ordered(*other as usize, *last as usize)
                {
                    if order.contains(*last as usize, *other as usize) {
                        return false;
                    }
                    order.insert(*other as usize, *last as usize);
                    constrained = true;
                }
            }
        }
        !constrained || self.is_acyclic(cluster, order)
    }

    /// Writes to a unit that an invocation that keeps reading will see in the end: those that no
    /// other write follows in location order or, where it is decided by every consistent
    /// orientation, in scoped modification order.
    pub fn latest_writes(&self, unit: Unit) -> Vec<EventId> {
        let Some(location) = self.relations.locations.iter().find(|location| location.unit == unit) else {
            return Vec::new();
        };
        let is_write = |event: EventId| self.graph.events[event as usize].writes();
        let mut latest = Vec::new();
        for (i, write) in location.events.iter().enumerate() {
            let overwritten = location.location_ordered.row(i).any(|later| is_write(location.events[later]));
            if is_write(*write) && !overwritten && self.can_be_last(&[location], &[*write]) {
                latest.push(*write);
            }
        }
        latest
    }
}

fn is_decided(order: &Relation, a: EventId, b: EventId) -> bool {
    order.contains(a as usize, b as usize) || order.contains(b as usize, a as usize)
}

fn position(location: &Location, event: EventId) -> Option<usize> {
    location.events.binary_search(&event).ok()
}
