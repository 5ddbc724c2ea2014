//! Binary relations over a small universe, as sets of pairs with the usual algebra.

use std::fmt;

/// Most elements of a universe: a row is one machine word.
pub const MAX_ELEMENTS: usize = 128;

/// A set of ordered pairs over `0..size`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Relation {
    rows: Vec<u128>,
}

impl Relation {
    /// No pairs.
    pub fn empty(size: usize) -> Self {
        assert!(size <= MAX_ELEMENTS, "{size} elements");
        Relation { rows: vec![0; size] }
    }

    /// The pairs for which `holds`.
    pub fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut relation = Relation::empty(size);
        for a in 0..size {
            for b in 0..size {
                if holds(a, b) {
                    relation.insert(a, b);
                }
            }
        }
        relation
    }

    pub fn insert(&mut self, a: usize, b: usize) {
        self.rows[a] |= 1 << b;
    }

    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.rows[a] >> b & 1 == 1
    }

    pub fn union(&self, other: &Relation) -> Relation {
        Relation { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a | b).collect() }
    }

    /// The least transitive relation that includes this one.
    pub fn transitive_closure(mut self) -> Relation {
        for middle in 0..self.rows.len() {
            let onwards = self.rows[middle];
            for row in &mut self.rows {
                if *row >> middle & 1 == 1 {
                    *row |= onwards;
                }
            }
        }
        self
    }

    pub fn is_acyclic(&self) -> bool {
        let closure = self.clone().transitive_closure();
        (0..closure.rows.len()).all(|a| !closure.contains(a, a))
    }

    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let size = self.rows.len();
        (0..size).flat_map(move |a| (0..size).filter(move |&b| self.contains(a, b)).map(move |b| (a, b)))
    }
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.pairs()).finish()
    }
}
