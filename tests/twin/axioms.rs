//! From-reads, acyclicity, visible-to, data races, and what a host sees in the end.

use super::model::{Derived, Execution, ReadsFrom, Source};
use super::relation::Relation;
use super::rule::Rule;

impl Execution {
    /// From-reads at one location.
    pub fn derive_from_reads(
        &self,
        location: usize,
        reads_from: &ReadsFrom,
        order: &Relation,
        location_ordered: &Relation,
    ) -> Relation {
        let by_location = self.variant.from_reads_by_location_order;
        let mut from_reads = Relation::empty(self.size());
        for (&(read, at), source) in reads_from {
            if at != location {
                continue;
            }
            for write in self.writes_of(location).into_iter().filter(|&write| write != read) {
                let later = match *source {
                    Source::Initial => self.either(Rule::FromReadsInitial, true),
                    Source::Write(earlier) => {
                        self.relates(Rule::FromReadsModificationOrder, earlier, write, |a, b| {
                            order.contains(a, b)
                        }) || by_location
                            && self.relates(Rule::FromReadsLocationOrder, earlier, write, |a, b| {
                                location_ordered.contains(a, b)
                            })
                    }
                };
                if later {
                    from_reads.insert(read, write);
                }
            }
        }
        from_reads
    }

    /// The union whose cycles are forbidden, without scoped modification order, at one location.
    fn causality(
        &self,
        location: usize,
        reads_from: &ReadsFrom,
        order: &Relation,
        location_ordered: &Relation,
    ) -> Relation {
        let from_reads = self.derive_from_reads(location, reads_from, order, location_ordered);
        let reads = |a: usize, b: usize| reads_from.get(&(b, location)) == Some(&Source::Write(a));
        self.relation(|i, _, j, _| {
            self.relates(Rule::AcyclicLocationOrder, i, j, |a, b| location_ordered.contains(a, b))
                || self.relates(Rule::AcyclicReadsFrom, i, j, reads)
                || self.relates(Rule::AcyclicFromReads, i, j, |a, b| from_reads.contains(a, b))
        })
    }

    /// Acyclicity, at each location; and no read of a write that is overwritten in location order before
    /// the read ("visible-to"; with the from-reads of 2025 that is a cycle already).
    pub fn is_consistent(&self, reads_from: &ReadsFrom, order: &Relation, derived: &Derived) -> bool {
        let mutual = self.mutually_ordered();
        let locations = derived.location_ordered.iter().enumerate();
        let unions: Vec<Relation> = locations
            .map(|(location, ordered)| self.causality(location, reads_from, order, ordered))
            .collect();
        // Atomics that are mutually ordered do not tear.
        let whole: Vec<(usize, usize)> = unions
            .iter()
            .flat_map(Relation::pairs)
            .filter(|&(a, b)| mutual.contains(a, b) && self.either(Rule::AtomicsAreWhole, true))
            .collect();
        let complete = |(location, union): (usize, &Relation)| {
            let is_here = |id: usize| self.operations[id].accesses(location);
            let order_here = |a: usize, b: usize| order.contains(a, b) && is_here(a) && is_here(b);
            let mut union = union.union(
                &self.relation(|i, _, j, _| self.relates(Rule::AcyclicModificationOrder, i, j, order_here)),
            );
            for &(a, b) in whole.iter().filter(|&&(a, _)| is_here(a)) {
                union.insert(a, b);
            }
            union
        };
        let unions = unions.iter().enumerate().map(complete);
        let is_acyclic = match self.is_dropped(Rule::AcyclicPerLocation) {
            true => unions.fold(Relation::empty(self.size()), |a, b| a.union(&b)).is_acyclic(),
            false => unions.into_iter().all(|union| union.is_acyclic()),
        };
        is_acyclic && (!self.either(Rule::VisibleTo, true) || self.reads_are_visible(reads_from, derived))
    }

    /// No read of a write that is shadowed.
    fn reads_are_visible(&self, reads_from: &ReadsFrom, derived: &Derived) -> bool {
        !reads_from.iter().any(|(&(read, location), source)| {
            let ordered = &derived.location_ordered[location];
            (0..self.size()).any(|between| {
                let Source::Write(write) = *source else { return false };
                let after_source = ordered.contains(write, between);
                self.when(Rule::VisibleToWrite, self.operations[between].writes())
                    && self.when(Rule::VisibleToFirst, after_source)
                    && self.when(Rule::VisibleToSecond, ordered.contains(between, read))
            })
        })
    }

    /// Data races: pairs of operations and a location at which they are not ordered.
    pub fn data_races(&self, derived: &Derived) -> Vec<(usize, usize, usize)> {
        let mutual = self.mutually_ordered();
        let mut races = Vec::new();
        for (location, ordered) in derived.location_ordered.iter().enumerate() {
            for i in 0..self.size() {
                for j in i..self.size() {
                    let (a, b) = (&self.operations[i], &self.operations[j]);
                    let overlap = a.accesses(location) && b.accesses(location);
                    let same_kind = a.access().is_some() && b.access().is_some();
                    let first = self.either(Rule::DataRaceFirstOrdered, ordered.contains(i, j));
                    let second = self.either(Rule::DataRaceSecondOrdered, ordered.contains(j, i));
                    if same_kind
                        && self.when(Rule::DataRaceOverlap, overlap)
                        && self.when(Rule::DataRaceDistinct, i != j)
                        && self.when(Rule::DataRaceWrites, a.writes() || b.writes())
                        && self.when(Rule::DataRaceMutuallyOrdered, !mutual.contains(i, j))
                        && !first
                        && !second
                    {
                        races.push((i, j, location));
                    }
                }
            }
        }
        races
    }

    /// The writes of a location that a host read after the whole dispatch can see: nothing overwrites
    /// them in scoped modification order or location order.
    pub fn final_sources(&self, location: usize, order: &Relation, derived: &Derived) -> Vec<Source> {
        let writes = self.writes_of(location);
        if writes.is_empty() {
            return vec![Source::Initial];
        }
        let overwritten = |write: usize| {
            writes.iter().any(|&later| {
                order.contains(write, later) || derived.location_ordered[location].contains(write, later)
            })
        };
        writes.iter().copied().filter(|&write| !overwritten(write)).map(Source::Write).collect()
    }
}
